// Events and their deliveries, written into the tables of a service that is stopped: those that wait, and those of the
// past. The same statement on both databases, which do all of the work but the marks of what waits.
import type { WebhookDeliveryTable, WebhookEventTable } from '../../packages/server/src/domains/webhooks/tables.ts';
import { type MarkedPlace, remark } from '../../packages/server/test/harness/remark.ts';
import { type FloorDatabase, openSqlite, pg } from '../floors/drivers.ts';

/** An organization with one endpoint. */
export interface Recipient {
  readonly organizationId: string;
  readonly endpointId: string;
}

export interface Deliveries {
  readonly recipients: readonly Recipient[];
  /** Whether they take turns, or get each of the events; then they are of one organization. */
  readonly each: 'in turn' | 'to all';
  readonly events: number;
  /** To the same recipient, where they take turns. */
  readonly copies?: number;
  readonly body: string;
  readonly state: 'pending' | 'delivered';
  readonly firstMs: number;
  readonly stepMs: number;
}

/** The tables of one database. */
export interface Queue {
  /** The end of the queue: what is put in from now on comes behind it. */
  mark(): Promise<number>;
  put(deliveries: Deliveries): Promise<void>;
  /** Removes what was put in behind the mark, and whatever endpoints have suffered. */
  clear(mark: number): Promise<void>;
  close(): Promise<void>;
}

/** Many at once fill the memory of a database that sorts them. */
const EVENTS_PER_STATEMENT = 50_000;
const MARKED = ['webhook_event', 'webhook_delivery'] as const;
/** As long as a mark. Nobody verifies what was delivered. */
const PAST_MARK = `'1.${'x'.repeat(22)}'`;
const TABLES = ['webhook_event', 'webhook_delivery', 'webhook_lane'] as const;

interface Driver {
  readonly kind: FloorDatabase['kind'];
  run(statement: string, values?: readonly unknown[]): Promise<void>;
  number(statement: string): Promise<number>;
  /** After a change of many rows. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

export async function openQueue(database: FloorDatabase, place: MarkedPlace): Promise<Queue> {
  const driver = database.kind === 'sqlite' ? sqlite(database.file) : await postgres(database.url);
  return {
    mark: () => driver.number('SELECT coalesce(max(seq), 0) AS found FROM webhook_delivery'),
    async put(deliveries) {
      for (let from = 0; from < deliveries.events; from += EVENTS_PER_STATEMENT) {
        const to = Math.min(from + EVENTS_PER_STATEMENT, deliveries.events);
        await driver.run(eventsOf(driver.kind, deliveries, from, to), [deliveries.body]);
        await driver.run(deliveriesOf(driver.kind, deliveries, from, to));
        if (deliveries.state === 'pending')
          for (const table of MARKED) await remark(place, table, `${table}_mac IS NULL`);
      }
      await driver.settle();
    },
    async clear(mark) {
      await driver.run(`DELETE FROM webhook_event WHERE (organization_id, id) IN
        (SELECT organization_id, event_id FROM webhook_delivery WHERE seq > ${mark})`);
      await driver.run(`DELETE FROM webhook_delivery WHERE seq > ${mark}`);
      await driver.run("UPDATE webhook_lane SET owner = '', claimed_until_ms = 0, resting_until_ms = 0, failures = 0");
      await driver.settle();
    },
    close: () => driver.close(),
  };
}

/** The events by their number `n`, with the time and the recipient of each. */
const numbered = ({ recipients, firstMs, stepMs }: Deliveries, from: number, to: number): string => `
  WITH RECURSIVE numbers (n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ${to}),
  recipient (position, organization_id, endpoint_id) AS (VALUES
    ${recipients.map(({ organizationId, endpointId }, at) => `(${at}, '${organizationId}', '${endpointId}')`).join(', ')}),
  event AS (SELECT n, CAST(${firstMs} AS bigint) + n * ${stepMs} AS ms, organization_id, endpoint_id
    FROM numbers JOIN recipient ON position = n % ${recipients.length})`;

/** All columns, so that the compiler tells when there are others. */
type Columns<Table> = Readonly<Record<Exclude<keyof Table, 'seq'>, string>>;

const markOf = ({ state }: Deliveries): string => (state === 'pending' ? 'NULL' : PAST_MARK);

function eventsOf(kind: FloorDatabase['kind'], deliveries: Deliveries, from: number, to: number): string {
  const columns: Columns<WebhookEventTable> & { readonly webhook_event_mac: string } = {
    organization_id: 'organization_id',
    id: idOf(kind, 'n'),
    event_type: "'ACTIVITY_UPDATES'",
    about_id: 'organization_id',
    activity_id: idOf(kind, 'n'),
    body: 'CAST($1 AS text)',
    body_length: String(deliveries.body.length),
    description: 'NULL',
    kept_since_ms: 'ms',
    created_at_ms: 'ms',
    webhook_event_mac: markOf(deliveries),
  };
  return `${insert('webhook_event', columns)} ${numbered(deliveries, from, to)}
    SELECT ${Object.values(columns)} FROM event ORDER BY n`;
}

function deliveriesOf(kind: FloorDatabase['kind'], deliveries: Deliveries, from: number, to: number): string {
  const { state, recipients } = deliveries;
  const isToAll = deliveries.each === 'to all';
  const copies = isToAll ? recipients.length : (deliveries.copies ?? 1);
  const columns: Columns<WebhookDeliveryTable> & { readonly webhook_delivery_mac: string } = {
    organization_id: 'event.organization_id',
    id: idOf(kind, `n * ${copies} + copy`),
    endpoint_id: isToAll ? 'recipient.endpoint_id' : 'event.endpoint_id',
    event_id: idOf(kind, 'n'),
    includes_description: '0',
    state: `'${state}'`,
    failures: '0',
    attempts: state === 'pending' ? "'[]'" : `'[{"atMs":' || ms || ',"latencyMs":5,"status":200}]'`,
    next_attempt_at_ms: '0',
    round_started_at_ms: 'ms',
    created_at_ms: 'ms',
    updated_at_ms: 'ms',
    webhook_delivery_mac: markOf(deliveries),
  };
  return `${insert('webhook_delivery', columns)} ${numbered(deliveries, from, to)},
    copies (copy) AS (SELECT 0 UNION ALL SELECT copy + 1 FROM copies WHERE copy + 1 < ${copies})
    SELECT ${Object.values(columns)} FROM event CROSS JOIN copies
    ${isToAll ? 'JOIN recipient ON position = copy' : ''} ORDER BY n, copy`;
}

const insert = (table: string, columns: object): string => `INSERT INTO ${table} (${Object.keys(columns)})`;

/** A UUID of version 7 of the row's time. */
function idOf(kind: FloorDatabase['kind'], number: string): string {
  const hex = (value: string, digits: number): string =>
    kind === 'sqlite' ? `printf('%0${digits}x', ${value})` : `lpad(to_hex(CAST(${value} AS bigint)), ${digits}, '0')`;
  return `${hex('ms >> 16', 8)} || '-' || ${hex('ms & 65535', 4)} || '-7000-8000-' || ${hex(number, 12)}`;
}

function sqlite(file: string): Driver {
  const db = openSqlite(file);
  // Only while filling: what the service commits is as durable as ever.
  db.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000');
  return {
    kind: 'sqlite',
    run: async (statement, values = []) => void db.prepare(statement.replaceAll('$1', '?')).run(...values),
    number: async (statement) => db.prepare(statement).get()?.found as number,
    settle: async () => void db.exec('PRAGMA wal_checkpoint(TRUNCATE)'),
    close: async () => void db.close(),
  };
}

async function postgres(url: string): Promise<Driver> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('SET synchronous_commit = off');
  return {
    kind: 'postgres',
    run: async (statement, values = []) => void (await client.query(statement, [...values])),
    number: async (statement) => Number((await client.query<{ found: string }>(statement)).rows[0]?.found),
    settle: async () => {
      for (const table of TABLES) await client.query(`VACUUM ANALYZE ${table}`);
      await client.query('CHECKPOINT');
    },
    close: () => client.end(),
  };
}
