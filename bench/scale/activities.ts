import { createSubOrganization } from '../../packages/server/test/harness/client.ts';
import { type Comparison, compare } from '../compare.ts';
import { SINGLE } from '../figures.ts';
import { openSqlite } from '../floors/drivers.ts';
import type { Load } from '../load/load.ts';
import type { Workload } from '../load/requests.ts';
import type { Options } from '../options.ts';
import { Service } from '../service.ts';
import { databaseOf, ethereum, queryLoad } from '../stage.ts';
import { fill } from './fill.ts';

/** A request in an organization with very many rows beside one with a thousand, each in a database of its own. */
export interface AmongFigure extends Comparison {
  readonly title: string;
  readonly beside: string;
}

const NAMES = ['list_activities', 'get_activity', 'list_wallets'] as const;
type Name = (typeof NAMES)[number];
const FEW = 1000;
/** Wallets among the activities of the other side. */
const WALLETS_SHARE = 0.1;
const PAGE = '10';
/** More at once would not fit in memory. */
const ROWS_PER_COMMIT = 100_000;
/** An activity every 200 ms: ten million take 23 days. */
const STEP_MS = 200;

const titleOf = (name: Name): string => `sqlite activities ${name}`;
export const AMONG_TITLES = NAMES.map(titleOf);

interface Side extends AsyncDisposable {
  readonly service: Service;
  readonly workloads: Readonly<Record<Name, Workload>>;
}

export async function measureAmong(
  titles: readonly string[],
  load: Load,
  options: Options,
  tell: (figure: AmongFigure) => void,
): Promise<AmongFigure[]> {
  await using few = await openSide(FEW, FEW);
  await using many = await openSide(options.among, Math.max(FEW, options.among * WALLETS_SHARE));
  const figures: AmongFigure[] = [];
  const run = (side: Side, name: Name) => (seconds: number) =>
    load.run(side.service.target, side.workloads[name], SINGLE, seconds);
  for (const name of NAMES.filter((each) => titles.includes(titleOf(each)))) {
    const comparison = await compare(run(few, name), run(many, name), options);
    const figure = { title: titleOf(name), beside: `among ${FEW.toLocaleString('en')}`, ...comparison };
    figures.push(figure);
    tell(figure);
  }
  return figures;
}

async function openSide(activities: number, wallets: number): Promise<Side> {
  const service = new Service();
  try {
    await service.start();
    const client = await createSubOrganization(service.root, 'Activities');
    const { walletId } = await client.run('create_wallet', { walletName: 'First', accounts: [ethereum(0)] });
    await service.stop();
    const database = databaseOf(service);
    await fill(database, client.organizationId, walletId, wallets);
    const activityId = fillActivities(
      database.kind === 'sqlite' ? database.file : '',
      client.organizationId,
      activities,
    );
    await service.start();
    const page = { paginationOptions: { limit: PAGE } };
    const workloads = {
      list_activities: queryLoad('list_activities', client, page),
      get_activity: queryLoad('get_activity', client, { activityId }),
      list_wallets: queryLoad('list_wallets', client, page),
    };
    return { service, workloads, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() };
  } catch (error) {
    await service[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * Copies of the organization's newest activity and of its votes, older than it, by the database itself; answers with the id of
 * one in the middle. Ids and digests rise, so that every index grows at its end.
 */
function fillActivities(file: string, organizationId: string, count: number): string {
  const db = openSqlite(file);
  db.exec('PRAGMA cache_size = -2000000; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY');
  // What triggers would number is numbered here.
  const triggers = db.prepare("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").all() as {
    name: string;
    sql: string;
  }[];
  for (const { name } of triggers) db.exec(`DROP TRIGGER "${name}"`);
  const template = db
    .prepare('SELECT id FROM activity WHERE organization_id = ? ORDER BY id DESC LIMIT 1')
    .get(organizationId) as { id: string };
  const firstMs = Date.now() - (count + 1) * STEP_MS;
  const time = `(${firstMs} + n * ${STEP_MS})`;
  const hex = `printf('%012x', ${time})`;
  const id = `substr(${hex}, 1, 8) || '-' || substr(${hex}, 9) || '-7000-8000-000000000000'`;
  const expressions: Readonly<Record<string, string>> = {
    fingerprint: "'sha256:' || printf('%064x', n)",
    message_digest: "'sha256:' || printf('%064x', n)",
    created_at_ms: time,
    updated_at_ms: time,
    round_started_at_ms: time,
    changed_in: 'n',
  };
  const inserts = FILLED.flatMap(({ table, key }) => {
    const columns = (db.prepare('SELECT name FROM pragma_table_info(?)').all(table) as { name: string }[]).map(
      ({ name }) => name,
    );
    // A table that is no more has no columns.
    if (columns.length === 0) return [];
    // Apart: what is read from the table that grows would be copied whole before the first row is written.
    db.prepare(`CREATE TEMP TABLE of_${table} AS SELECT * FROM ${table} WHERE organization_id = ? AND ${key} = ?`).run(
      organizationId,
      template.id,
    );
    const values = columns.map((column) => (column === key ? id : (expressions[column] ?? `t."${column}"`)));
    return db.prepare(
      `WITH RECURSIVE counted(n) AS (SELECT ? UNION ALL SELECT n + 1 FROM counted WHERE n < ?)
       INSERT INTO ${table} (${columns.map((column) => `"${column}"`)}) SELECT ${values} FROM counted CROSS JOIN of_${table} t`,
    );
  });
  for (let first = 1; first <= count; first += ROWS_PER_COMMIT) {
    db.exec('BEGIN');
    for (const insert of inserts) insert.run(first, Math.min(count, first + ROWS_PER_COMMIT - 1));
    db.exec('COMMIT');
  }
  db.exec(`UPDATE deployment SET value = '${count + FEW}' WHERE name = 'change_number'`);
  for (const { sql } of triggers) db.exec(sql);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const middle = (firstMs + Math.floor(count / 2) * STEP_MS).toString(16).padStart(12, '0');
  db.close();
  return `${middle.slice(0, 8)}-${middle.slice(8)}-7000-8000-000000000000`;
}

const FILLED = [
  { table: 'activity', key: 'id' },
  { table: 'vote', key: 'activity_id' },
] as const;
