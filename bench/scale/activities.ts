import { join } from 'node:path';
import { createSubOrganization } from '../../packages/server/test/harness/client.ts';
import { type MarkedPlace, markerOf } from '../../packages/server/test/harness/remark.ts';
import { type Comparison, compare } from '../compare.ts';
import { SINGLE } from '../figures.ts';
import { openSqlite } from '../floors/drivers.ts';
import type { Load } from '../load/load.ts';
import type { Workload } from '../load/requests.ts';
import type { Options } from '../options.ts';
import { Service } from '../service.ts';
import { ethereum, queryLoad } from '../stage.ts';
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
    await fill(service, client.organizationId, walletId, wallets);
    const activityId = await fillActivities(service, client.organizationId, activities);
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

type Row = Record<string, unknown>;

/**
 * Copies of the organization's newest activity and of its votes, older than it, each with its mark; answers with the id of
 * one in the middle. Ids and digests rise, so that every index grows at its end.
 */
export async function fillActivities(place: MarkedPlace, organizationId: string, count: number): Promise<string> {
  const marked = await markerOf(place);
  const db = openSqlite(join(place.dataDir, 'custos.db'));
  db.exec('PRAGMA cache_size = -2000000; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY');
  // What triggers would number is numbered here.
  const triggers = db.prepare("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").all() as {
    name: string;
    sql: string;
  }[];
  for (const { name } of triggers) db.exec(`DROP TRIGGER "${name}"`);
  const activity = db
    .prepare('SELECT * FROM activity WHERE organization_id = ? ORDER BY id DESC LIMIT 1')
    .get(organizationId) as Row;
  const votes = db
    .prepare('SELECT * FROM vote WHERE organization_id = ? AND activity_id = ?')
    .all(organizationId, activity.id);
  const firstMs = Date.now() - (count + 1) * STEP_MS;
  const idOf = (n: number): string => {
    const time = (firstMs + n * STEP_MS).toString(16).padStart(12, '0');
    return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
  };
  const insert = (table: string, template: Row) => {
    const columns = Object.keys(marked(table, template));
    const statement = db.prepare(
      `INSERT INTO ${table} (${columns.map((column) => `"${column}"`)}) VALUES (${columns.map(() => '?')})`,
    );
    return (changes: Row): void => {
      const row = marked(table, { ...template, ...changes });
      statement.run(...columns.map((column) => row[column]));
    };
  };
  const insertActivity = insert('activity', activity);
  const insertVotes = votes.map((vote) => insert('vote', vote));
  db.exec('BEGIN');
  for (let n = 1; n <= count; n += 1) {
    const [id, time] = [idOf(n), firstMs + n * STEP_MS];
    const digest = `sha256:${n.toString(16).padStart(64, '0')}`;
    insertActivity({
      id,
      fingerprint: digest,
      created_at_ms: time,
      updated_at_ms: time,
      round_started_at_ms: time,
      changed_in: n,
    });
    const vote = { activity_id: id, message_digest: digest, created_at_ms: time, round_started_at_ms: time };
    for (const insertVote of insertVotes) insertVote(vote);
    if (n % ROWS_PER_COMMIT === 0) db.exec('COMMIT; BEGIN');
  }
  db.exec(`UPDATE deployment SET value = '${count + FEW}' WHERE name = 'change_number'`);
  db.exec('COMMIT');
  for (const { sql } of triggers) db.exec(sql);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
  return idOf(Math.floor(count / 2));
}
