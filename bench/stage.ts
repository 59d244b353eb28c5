import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Answer,
  createSubOrganization,
  createUser,
  currentType,
  newKeyPair,
  type TestClient,
} from '../packages/server/test/harness/client.ts';
import { startPostgres, type TestPostgres } from '../scripts/lib/postgres.mjs';
import { Child } from './child.ts';
import { CryptoFloor } from './floors/crypto.ts';
import type { FloorDatabase } from './floors/drivers.ts';
import { pg } from './floors/drivers.ts';
import type { FloorSetup } from './floors/server.ts';
import type { CommitKind } from './floors/storage.ts';
import { findUnit, snapshot, type Unit } from './floors/unit.ts';
import type { Target } from './load/load.ts';
import { COUNT, COUNT_DIGITS, COUNT_FIRST, type Workload } from './load/requests.ts';
import { Service, type StartOptions } from './service.ts';

export type DatabaseKind = 'sqlite' | 'postgres';
/** Figures of requests that need a key. */
export type KeyFigureName =
  | 'create_wallet'
  | 'create_wallet_accounts'
  | 'sign_raw_payload secp256k1'
  | 'sign_raw_payload ed25519'
  | 'sign_raw_payloads 100'
  | 'export_wallet';
export type FigureName = 'whoami' | 'list_users' | 'update_user_name' | KeyFigureName;
export type ServerFloorName = 'http' | CommitKind;

const LISTED_USERS = 10;
/** More than connections, so that renames at once are renames of different users. */
const RENAMED_USERS = 64;
export const BATCH = 100;

/** The service on one database with its data in place, and the floors on copies of the same data. */
export interface Stage extends AsyncDisposable {
  readonly service: Service;
  readonly workloads: Readonly<Record<FigureName, Workload>>;
  readonly floors: Readonly<Record<ServerFloorName, Target>>;
  readonly crypto: CryptoFloor;
  readonly components: FloorDatabase;
  readonly unit: Unit;
}

export async function openStage(kind: DatabaseKind, startOptions: StartOptions = {}): Promise<Stage> {
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
      update_user_name: submitLoad(
        'update_user_name',
        renaming,
        userIds.map((userId) => ({ userId, userName: `Renamed ${COUNT}` })),
      ),
      ...(await keyLoads(renaming)),
    };
    const answers: Record<string, string> = {
      [workloads.whoami.path]: JSON.stringify((await listed.query('whoami')).body),
      [workloads.list_users.path]: JSON.stringify((await listed.query('list_users')).body),
      [workloads.update_user_name.path]: JSON.stringify((await rename(renaming, userIds[0])).body),
      ...(await keyAnswers(renaming, workloads)),
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
    await service.start(startOptions);

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
      crypto: keep(new CryptoFloor()),
      components: copies.components,
      unit,
      [Symbol.asyncDispose]: closeAll,
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

export const queryLoad = (
  operation: string,
  { organizationId, key }: TestClient,
  parameters: Readonly<Record<string, unknown>> = {},
): Workload => ({
  kind: 'query',
  path: `/public/v1/query/${operation}`,
  key,
  body: JSON.stringify({ organizationId, ...parameters }),
});

export const submitLoad = (operation: string, client: TestClient, parameters: readonly unknown[]): Workload => ({
  kind: 'submit',
  path: `/public/v1/submit/${operation}`,
  key: client.key,
  organizationId: client.organizationId,
  type: currentType(operation),
  parameters: parameters.map((each) => JSON.stringify(each)),
});

const account = (curve: string, path: string, addressFormat: string) => ({
  curve,
  pathFormat: 'PATH_FORMAT_BIP32',
  path,
  addressFormat,
});
export const ethereum = (index: number | string) =>
  account('CURVE_SECP256K1', `m/44'/60'/0'/0/${index}`, 'ADDRESS_FORMAT_ETHEREUM');

/** A wallet that signs and is derived from, and one that is exported; new ones are created beside them. */
async function keyLoads(client: TestClient): Promise<Record<KeyFigureName, Workload>> {
  const solana = account('CURVE_ED25519', "m/44'/501'/0'/0'", 'ADDRESS_FORMAT_SOLANA');
  const { walletId, addresses } = await client.run('create_wallet', {
    walletName: 'Signing',
    accounts: [ethereum(0), solana],
  });
  const exported = await client.run('create_wallet', { walletName: 'Exported', accounts: [ethereum(0)] });
  const hex = { encoding: 'PAYLOAD_ENCODING_HEXADECIMAL', hashFunction: 'HASH_FUNCTION_NO_OP' };
  const digest = (position: number): string => String(position).padEnd(64 - COUNT_DIGITS, '0') + COUNT;
  const payloads = Array.from({ length: BATCH }, (_, position) => digest(position));
  const ed25519 = { ...hex, hashFunction: 'HASH_FUNCTION_NOT_APPLICABLE' };
  const { publicKey: targetPublicKey } = newKeyPair();
  return {
    create_wallet: submitLoad('create_wallet', client, [{ walletName: `Wallet ${COUNT}`, accounts: [ethereum(0)] }]),
    create_wallet_accounts: submitLoad('create_wallet_accounts', client, [{ walletId, accounts: [ethereum(COUNT)] }]),
    'sign_raw_payload secp256k1': submitLoad('sign_raw_payload', client, [
      { signWith: addresses[0], payload: digest(0), ...hex },
    ]),
    'sign_raw_payload ed25519': submitLoad('sign_raw_payload', client, [
      { signWith: addresses[1], payload: digest(0), ...ed25519 },
    ]),
    'sign_raw_payloads 100': submitLoad('sign_raw_payloads', client, [{ signWith: addresses[0], payloads, ...hex }]),
    export_wallet: submitLoad('export_wallet', client, [{ walletId: exported.walletId, targetPublicKey }]),
  };
}

const FLOORED = ['create_wallet', 'create_wallet_accounts', 'export_wallet'] as const satisfies KeyFigureName[];

/** The service's answers where a floor server is to send one of the same size. */
async function keyAnswers(client: TestClient, workloads: Stage['workloads']): Promise<Record<string, string>> {
  const answers: Record<string, string> = {};
  for (const name of FLOORED) {
    const workload = workloads[name] as Extract<Workload, { kind: 'submit' }>;
    const [template = ''] = workload.parameters;
    const parameters = JSON.parse(template.replaceAll(COUNT, String(COUNT_FIRST)));
    answers[workload.path] = JSON.stringify(completed(await client.submit(name, parameters)).body);
  }
  return answers;
}

async function rename(client: TestClient, userId: string | undefined) {
  return completed(await client.submit('update_user_name', { userId, userName: 'Renamed 000000000' }));
}

function completed(answer: Answer): Answer {
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

export async function createDatabase(postgres: TestPostgres, name: string, template = 'template1'): Promise<string> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  await client.end();
  const url = new URL(postgres.url);
  url.pathname = `/${name}`;
  return url.toString();
}
