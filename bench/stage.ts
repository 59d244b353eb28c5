import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
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
import { createRecorded, RECORDED_UNIT } from './floors/recorded.ts';
import type { FloorSetup } from './floors/server.ts';
import type { CommitKind } from './floors/storage.ts';
import type { CryptoWork } from './floors/works.ts';
import { findWritten, type Peers, snapshot, type Written } from './floors/written.ts';
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
const BATCH = 100;
/** Numbers that no request of the load gets to. */
const RECORDED_FIRST = 9 * COUNT_FIRST;

/** What each request asks of the libraries. */
export const WORK: Readonly<Record<KeyFigureName, CryptoWork>> = {
  create_wallet: { work: 'wallet', times: 1 },
  create_wallet_accounts: { work: 'account', times: 1 },
  'sign_raw_payload secp256k1': { work: 'secp256k1', times: 1 },
  'sign_raw_payload ed25519': { work: 'ed25519', times: 1 },
  'sign_raw_payloads 100': { work: 'secp256k1', times: BATCH },
  export_wallet: { work: 'export', times: 1 },
};
const KEY_FIGURES = Object.keys(WORK) as KeyFigureName[];
const SUBMITS = ['update_user_name', ...KEY_FIGURES] as const;

export const isKeyFigure = (name: FigureName): name is KeyFigureName => Object.hasOwn(WORK, name);

/** The same requests at a path of their own, by which a floor tells figures of one operation apart. */
export const atFloor = (workloads: Stage['workloads'], name: FigureName): Workload => ({
  ...workloads[name],
  path: `${workloads[name].path}?${encodeURIComponent(name)}`,
});

/** The service on one database with its data in place, and the floors on copies of the same data. */
export interface Stage extends AsyncDisposable {
  readonly service: Service;
  readonly workloads: Readonly<Record<FigureName, Workload>>;
  readonly floors: Readonly<Record<ServerFloorName, Target>>;
  readonly crypto: CryptoFloor;
  readonly components: FloorDatabase;
  /** What each request writes. */
  readonly written: Readonly<Record<string, string>>;
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
    };
    const written: Record<string, Written> = {};
    const database = databaseOf(service);
    for (const name of SUBMITS) {
      const peers = name === 'update_user_name' ? 'organization' : 'none';
      const recorded = await recordSubmit(database, renaming, workloads[name], peers);
      for (const { path } of [workloads[name], atFloor(workloads, name)]) {
        answers[path] = recorded.answer;
        written[path] = recorded.written;
      }
    }

    // Stopped, so that the files are whole and the database may be a template.
    await service.stop();
    const copy = (name: string): Promise<FloorDatabase> => copyOf(database, postgres, directory, name);
    const copies = { row: await copy('row'), written: await copy('written') };
    const recorded = await emptyDatabase(postgres, directory, 'recorded');
    await createRecorded(recorded);
    const components = await emptyDatabase(postgres, directory, 'components');
    await createRecorded(components);
    await service.start(startOptions);

    const publicKeys = [listed.key.publicKey, renaming.key.publicKey];
    const open = async (setup: FloorSetup): Promise<Target> => {
      const floor = await openFloorServer(setup);
      keep(floor);
      return floor.target;
    };
    const user = { organizationId: renaming.organizationId, userId: userIds[0] as string };
    const [recordedUser] = RECORDED_UNIT.users as [typeof user];
    const works = Object.fromEntries(KEY_FIGURES.map((name) => [atFloor(workloads, name).path, WORK[name]]));
    const floors = {
      http: await open({ publicKeys, answers: {} }),
      row: await open({ publicKeys, answers, storage: { database: copies.row, commits: { kind: 'row' }, user } }),
      unit: await open({
        publicKeys,
        answers,
        storage: { database: recorded, commits: { kind: 'unit', unit: RECORDED_UNIT }, user: recordedUser },
      }),
      written: await open({
        publicKeys,
        answers,
        works,
        storage: { database: copies.written, commits: { kind: 'written', written }, user },
      }),
    };
    return {
      service,
      workloads,
      floors,
      crypto: keep(new CryptoFloor()),
      components,
      written: Object.fromEntries(
        SUBMITS.map((name) => [name, written[atFloor(workloads, name).path]?.description ?? '']),
      ),
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

export const submitLoad = (operation: string, client: TestClient, parameters: readonly unknown[]): Workload =>
  submitLoadOf(operation, [client], parameters);

/** The same requests of somebody else of the organization. */
export const stampedBy = (client: TestClient, workload: Workload): Workload =>
  workload.kind === 'query' ? { ...workload, key: client.key } : { ...workload, keys: [client.key] };

/** By several users of an organization in turn. */
export const submitLoadOf = (
  operation: string,
  clients: readonly [TestClient, ...TestClient[]],
  parameters: readonly unknown[],
): Workload => ({
  kind: 'submit',
  path: `/public/v1/submit/${operation}`,
  keys: clients.map(({ key }) => key),
  organizationId: clients[0].organizationId,
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

/** Runs the request until all that repeats in it was there before, then once more: its answer and what it writes. */
export async function recordSubmit(
  database: FloorDatabase,
  client: TestClient,
  workload: Workload,
  peers: Peers = 'none',
): Promise<{ readonly answer: string; readonly written: Written }> {
  if (workload.kind !== 'submit') throw new Error('a query writes nothing');
  const run = async (count: number): Promise<string> => {
    const parameters = JSON.parse((workload.parameters[0] as string).replaceAll(COUNT, String(RECORDED_FIRST + count)));
    return JSON.stringify(completed(await client.submit(basename(workload.path), parameters)).body);
  };
  await run(1);
  await run(2);
  const before = await snapshot(database);
  const answer = await run(3);
  return { answer, written: findWritten(before, await snapshot(database), client.organizationId, peers) };
}

function completed(answer: Answer): Answer {
  if (answer.body.activity?.status !== 'ACTIVITY_STATUS_COMPLETED') throw new Error(JSON.stringify(answer.body));
  return answer;
}

export const databaseOf = ({ databaseUrl, dataDir }: Service): FloorDatabase =>
  databaseUrl === undefined
    ? { kind: 'sqlite', file: join(dataDir, 'custos.db') }
    : { kind: 'postgres', url: databaseUrl };

/** A floor in a process of its own. */
export async function openFloorServer(setup: FloorSetup): Promise<AsyncDisposable & { readonly target: Target }> {
  const child = new Child<FloorSetup, { port: number }>(new URL('./floors/server.ts', import.meta.url));
  try {
    const { port } = await child.ask(setup);
    return { target: { port, pid: child.pid }, [Symbol.asyncDispose]: () => child[Symbol.asyncDispose]() };
  } catch (error) {
    await child[Symbol.asyncDispose]();
    throw error;
  }
}

async function emptyDatabase(
  postgres: TestPostgres | undefined,
  directory: string,
  name: string,
): Promise<FloorDatabase> {
  if (postgres !== undefined) return { kind: 'postgres', url: await createDatabase(postgres, `floor_${name}`) };
  return { kind: 'sqlite', file: join(directory, `${name}.db`) };
}

export async function copyOf(
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
