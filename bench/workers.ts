import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { createSubOrganization, createUser } from '../packages/server/test/harness/client.ts';
import { startPostgres } from '../scripts/lib/postgres.mjs';
import { type Comparison, compare } from './compare.ts';
import { MANY } from './figures.ts';
import { pg } from './floors/drivers.ts';
import type { Load, Measured } from './load/load.ts';
import { COUNT, type Workload } from './load/requests.ts';
import type { Options } from './options.ts';
import { Service } from './service.ts';
import { createDatabase, queryLoad, submitLoad } from './stage.ts';

/** The same request to two workers and to one, each on a database of its own on one PostgreSQL. */
export interface WorkerFigure extends Comparison {
  readonly title: string;
  readonly beside: string;
}

const NAMES = ['whoami', 'update_user_name'] as const;
type Name = (typeof NAMES)[number];
const USERS = 64;
/** Each process compiles by what it has served itself, so two of them need twice as many until they run as one does. */
const WARM_UP_REQUESTS = 6000;
/** Where the machine is slow, so many seconds are enough. */
const WARM_UP_SECONDS_MAX = 15;

const titleOf = (name: Name): string => `postgres workers ${name}`;
export const WORKER_TITLES = NAMES.map(titleOf);

export async function measureWorkers(
  titles: readonly string[],
  load: Load,
  options: Options,
  tell: (figure: WorkerFigure) => void,
): Promise<WorkerFigure[]> {
  await using postgres = await startPostgres();
  await using one = new Service(await createDatabase(postgres, 'one'));
  await using two = new Service(await createDatabase(postgres, 'two'));
  const services = [
    { service: one, workers: 1 },
    { service: two, workers: 2 },
  ] as const;
  const loads = new Map<Service, Record<Name, Workload>>();
  for (const { service, workers } of services) {
    await service.start({ env: { CUSTOS_WORKERS: String(workers), CUSTOS_PORT: String(await findFreePort()) } });
    loads.set(service, await workloadsOf(service));
  }
  const figures: WorkerFigure[] = [];
  for (const name of NAMES.filter((each) => titles.includes(titleOf(each)))) {
    const run = (service: Service) => (seconds: number) =>
      load.run(service.target, (loads.get(service) as Record<Name, Workload>)[name], MANY, seconds);
    for (const { service, workers } of services) {
      await warmUp(run(service), workers);
      await vacuum(service);
    }
    const figure = { title: titleOf(name), beside: 'one worker', ...(await compare(run(one), run(two), options)) };
    figures.push(figure);
    tell(figure);
  }
  return figures;
}

async function warmUp(run: (seconds: number) => Promise<Measured>, workers: number): Promise<void> {
  let requests = 0;
  for (let second = 0; second < WARM_UP_SECONDS_MAX * workers; second += 1) {
    requests += (await run(1)).rate;
    if (requests >= WARM_UP_REQUESTS * workers) return;
  }
}

/** The one that was warmed up for longer has more dead rows, which the other would not pass over. */
async function vacuum({ databaseUrl }: Service): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('VACUUM ANALYZE');
  } finally {
    await client.end();
  }
}

/** Workers share a port that is known before they start. */
async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** An organization of many users, who are renamed in turn. */
export async function workloadsOf({ root }: Service): Promise<Record<Name, Workload>> {
  const client = await createSubOrganization(root, 'Many users');
  const users: unknown[] = [];
  for (let count = 0; count < USERS; count += 1) {
    const { userId } = await createUser(client, `User ${count}`);
    users.push({ userId, userName: `Renamed ${COUNT}` });
  }
  return { whoami: queryLoad('whoami', client), update_user_name: submitLoad('update_user_name', client, users) };
}
