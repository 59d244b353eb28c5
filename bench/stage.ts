import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSubOrganization, createUser, type TestClient } from '../packages/server/test/harness/client.ts';
import { startPostgres, type TestPostgres } from '../scripts/lib/postgres.mjs';
import { Child } from './child.ts';
import type { FloorDatabase } from './floors/drivers.ts';
import { pg } from './floors/drivers.ts';
import type { FloorSetup } from './floors/server.ts';
import type { CommitKind } from './floors/storage.ts';
import { findUnit, snapshot, type Unit } from './floors/unit.ts';
import type { Target } from './load/load.ts';
import type { Workload } from './load/requests.ts';
import { Service } from './service.ts';

export type DatabaseKind = 'sqlite' | 'postgres';
export type FigureName = 'whoami' | 'list_users' | 'update_user_name';
export type FloorName = 'http' | CommitKind;

const LISTED_USERS = 10;
/** More than connections, so that renames at once are renames of different users. */
const RENAMED_USERS = 64;

/** The service on one database with its data in place, and the floors on copies of the same data. */
export interface Stage extends AsyncDisposable {
  readonly service: Service;
  readonly workloads: Readonly<Record<FigureName, Workload>>;
  readonly floors: Readonly<Record<FloorName, Target>>;
  readonly components: FloorDatabase;
  readonly unit: Unit;
}

export async function openStage(kind: DatabaseKind, nodeOptions: readonly string[] = []): Promise<Stage> {
  const opened: AsyncDisposable[] = [];
  const keep = <T extends AsyncDisposable>(resource: T): T => {
    opened.push(resource);
    return resource;
  };
  const closeAll = async (): Promise<void> => {
    for (const resource of opened.reverse()) await resource[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  };
  const directory = mkdtempSync(join(tmpdir(), 'custos-floors-'));
  try {
    const postgres = kind === 'postgres' ? keep(await startPostgres()) : undefined;
    const service = keep(new Service(postgres && (await createDatabase(postgres, 'service'))));
    await service.start();
    const listed = await createSubOrganization(service.root, 'Ten users');
    for (let count = 1; count < LISTED_USERS; count += 1) await createUser(listed, `User ${count}`);
    const renaming = await createSubOrganization(service.root, 'Many users');
    const userIds: string[] = [];
    for (let count = 0; count < RENAMED_USERS; count += 1) {
      userIds.push((await createUser(renaming, `User ${count}`)).userId);
    }
    const workloads: Stage['workloads'] = {
      whoami: queryLoad('whoami', listed),
      list_users: queryLoad('list_users', listed),
      update_user_name: {
        kind: 'rename',
        path: '/public/v1/submit/update_user_name',
        key: renaming.key,
        organizationId: renaming.organizationId,
        userIds,
      },
    };
    const answers = {
      [workloads.whoami.path]: JSON.stringify((await listed.query('whoami')).body),
      [workloads.list_users.path]: JSON.stringify((await listed.query('list_users')).body),
      [workloads.update_user_name.path]: JSON.stringify((await rename(renaming, userIds[0])).body),
    };

    const database: FloorDatabase =
      service.databaseUrl === undefined
        ? { kind: 'sqlite', file: join(service.dataDir, 'custos.db') }
        : { kind: 'postgres', url: service.databaseUrl };
    const before = await snapshot(database);
    await rename(renaming, userIds[1]);
    const users = userIds.map((userId) => ({ organizationId: renaming.organizationId, userId }));
    const unit = findUnit(before, await snapshot(database), users);

    // Stopped, so that the files are whole and the database may be a template.
    await service.stop();
    const copies = {
      row: await copyOf(database, postgres, directory, 'row'),
      unit: await copyOf(database, postgres, directory, 'unit'),
      components: await copyOf(database, postgres, directory, 'components'),
    };
    await service.start(nodeOptions);

    const publicKeys = [listed.key.publicKey, renaming.key.publicKey];
    const open = async (setup: FloorSetup): Promise<Target> => {
      const child = keep(new Child<FloorSetup, { port: number }>(new URL('./floors/server.ts', import.meta.url)));
      const { port } = await child.ask(setup);
      return { port, pid: child.pid };
    };
    const floors = {
      http: await open({ publicKeys, answers: {} }),
      row: await open({ publicKeys, answers, storage: { database: copies.row, commit: 'row', unit } }),
      unit: await open({ publicKeys, answers, storage: { database: copies.unit, commit: 'unit', unit } }),
    };
    return {
      service,
      workloads,
      floors,
      components: copies.components,
      unit,
      [Symbol.asyncDispose]: closeAll,
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

const queryLoad = (operation: string, { organizationId, key }: TestClient): Workload => ({
  kind: 'query',
  path: `/public/v1/query/${operation}`,
  key,
  body: JSON.stringify({ organizationId }),
});

async function rename(client: TestClient, userId: string | undefined) {
  const answer = await client.submit('update_user_name', { userId, userName: 'Renamed 000000000' });
  if (answer.body.activity?.status !== 'ACTIVITY_STATUS_COMPLETED') throw new Error(JSON.stringify(answer.body));
  return answer;
}

async function copyOf(
  database: FloorDatabase,
  postgres: TestPostgres | undefined,
  directory: string,
  name: string,
): Promise<FloorDatabase> {
  if (postgres !== undefined) {
    return { kind: 'postgres', url: await createDatabase(postgres, `floor_${name}`, 'service') };
  }
  const file = join(directory, `${name}.db`);
  if (database.kind === 'sqlite') copyFileSync(database.file, file);
  return { kind: 'sqlite', file };
}

async function createDatabase(postgres: TestPostgres, name: string, template = 'template1'): Promise<string> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  await client.end();
  const url = new URL(postgres.url);
  url.pathname = `/${name}`;
  return url.toString();
}
