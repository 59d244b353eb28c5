import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { createSubOrganization, createUser } from '../packages/server/test/harness/client.ts';
import { startPostgres } from '../scripts/lib/postgres.mjs';
import { type Comparison, compare } from './compare.ts';
import { MANY } from './figures.ts';
import type { Load } from './load/load.ts';
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
  const loads = new Map<Service, Record<Name, Workload>>();
  for (const [service, workers] of [[one, '1'] as const, [two, '2'] as const]) {
    await service.start({ env: { CUSTOS_WORKERS: workers, CUSTOS_PORT: String(await findFreePort()) } });
    loads.set(service, await workloadsOf(service));
  }
  const figures: WorkerFigure[] = [];
  for (const name of NAMES.filter((each) => titles.includes(titleOf(each)))) {
    const run = (service: Service) => (seconds: number) =>
      load.run(service.target, (loads.get(service) as Record<Name, Workload>)[name], MANY, seconds);
    const figure = { title: titleOf(name), beside: 'one worker', ...(await compare(run(one), run(two), options)) };
    figures.push(figure);
    tell(figure);
  }
  return figures;
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

async function workloadsOf({ root }: Service): Promise<Record<Name, Workload>> {
  const client = await createSubOrganization(root, 'Many users');
  const users: unknown[] = [];
  for (let count = 0; count < USERS; count += 1) {
    const { userId } = await createUser(client, `User ${count}`);
    users.push({ userId, userName: `Renamed ${COUNT}` });
  }
  return { whoami: queryLoad('whoami', client), update_user_name: submitLoad('update_user_name', client, users) };
}
