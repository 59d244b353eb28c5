import { createSubOrganization, type TestClient } from '../../packages/server/test/harness/client.ts';
import { startPostgres, type TestPostgres } from '../../scripts/lib/postgres.mjs';
import { compare } from '../compare.ts';
import type { Summary } from '../figures.ts';
import type { FloorDatabase } from '../floors/drivers.ts';
import type { Load, Measured } from '../load/load.ts';
import { COUNT, COUNT_DIGITS, type Workload } from '../load/requests.ts';
import type { Options } from '../options.ts';
import { Service } from '../service.ts';
import { createDatabase, type DatabaseKind, databaseOf, ethereum, queryLoad, submitLoad } from '../stage.ts';
import { type Filled, fill } from './fill.ts';
import { explain, type Plan, recordingIn } from './plans.ts';

/** One request in an organization with a few wallets and in one with many, each in a database of its own. */
export interface ScaleFigure {
  readonly title: string;
  readonly few: Summary;
  readonly many: Summary;
  /** How many times the time it takes among many: the median of the rounds' own ratios. */
  readonly ratio: number;
}

export interface Scale {
  readonly figures: readonly ScaleFigure[];
  /** How the database runs each statement among many. */
  readonly plans: readonly Plan[];
}

const FEW = 10;
export const MANY_WALLETS = 1_000_000;
const PAGE = '5';
const RECORD_SECONDS = 0.2;

/** Those that create come last, since after them ten are no longer ten. */
export const SCALE_NAMES = [
  'list_wallets',
  'list_wallet_accounts',
  'list_wallet_accounts of one',
  'get_wallet_account',
  'list_suborgs',
  'sign_raw_payload',
  'create_wallet_accounts',
  'create_wallet',
] as const;
type ScaleName = (typeof SCALE_NAMES)[number];

export const scaleTitle = (kind: DatabaseKind, name: ScaleName): string => `${kind} scale ${name}`;

interface Side extends AsyncDisposable {
  readonly service: Service;
  readonly database: FloorDatabase;
  readonly workloads: Readonly<Record<ScaleName, Workload>>;
}

export async function measureScale(
  kind: DatabaseKind,
  names: readonly ScaleName[],
  load: Load,
  options: Options,
  tell: (figure: ScaleFigure) => void,
): Promise<Scale> {
  await using postgres = kind === 'postgres' ? await startPostgres() : undefined;
  await using few = await openSide(postgres, FEW);
  await using many = await openSide(postgres, MANY_WALLETS);
  const figures: ScaleFigure[] = [];
  const run = (side: Side, name: ScaleName, length: number): Promise<Measured> =>
    load.run(side.service.target, side.workloads[name], 1, length);
  for (const name of names) {
    const { base, other, ratio } = await compare(
      (length) => run(few, name, length),
      (length) => run(many, name, length),
      options,
    );
    const figure = { title: scaleTitle(kind, name), few: base, many: other, ratio };
    figures.push(figure);
    tell(figure);
  }
  return { figures, plans: await plansOf(many, run) };
}

/** What the database does for each request, seen by a service that was not measured. */
async function plansOf(
  side: Side,
  run: (side: Side, name: ScaleName, seconds: number) => Promise<unknown>,
): Promise<Plan[]> {
  const { service, database } = side;
  await service.stop();
  await service.start(recordingIn(service.dataDir));
  for (const name of SCALE_NAMES) await run(side, name, RECORD_SECONDS);
  await service.stop();
  return await explain(database, service.dataDir);
}

async function openSide(postgres: TestPostgres | undefined, count: number): Promise<Side> {
  const service = new Service(postgres && (await createDatabase(postgres, `scale_${count}`)));
  try {
    await service.start();
    const client = await createSubOrganization(service.root, 'Scale');
    const wallet = { walletName: 'Signing', accounts: [ethereum(0)] };
    const { walletId, addresses } = await client.run('create_wallet', wallet);
    await service.stop();
    const database = databaseOf(service);
    const filled = await fill(service, client.organizationId, walletId, count);
    await service.start();
    const workloads = workloadsOf(service, client, walletId, addresses[0], filled);
    return { service, database, workloads, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() };
  } catch (error) {
    await service[Symbol.asyncDispose]();
    throw error;
  }
}

function workloadsOf(
  { root }: Service,
  client: TestClient,
  walletId: string,
  address: string,
  { middleWalletId, middleAccountId }: Filled,
): Record<ScaleName, Workload> {
  const after = (cursor: string) => ({ paginationOptions: { limit: PAGE, after: cursor } });
  const pageOfAccounts = { ...after(middleAccountId), includeWalletDetails: true };
  const signing = {
    signWith: address,
    payload: '0'.repeat(64 - COUNT_DIGITS) + COUNT,
    encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
    hashFunction: 'HASH_FUNCTION_NO_OP',
  };
  const wallet = { walletName: `Wallet ${COUNT}`, accounts: [ethereum(0)] };
  const holder = { filterType: 'WALLET_ACCOUNT_ADDRESS', filterValue: address };
  return {
    list_wallets: queryLoad('list_wallets', client, after(middleWalletId)),
    list_wallet_accounts: queryLoad('list_wallet_accounts', client, pageOfAccounts),
    'list_wallet_accounts of one': queryLoad('list_wallet_accounts', client, { walletId }),
    get_wallet_account: queryLoad('get_wallet_account', client, { walletId, address }),
    list_suborgs: queryLoad('list_suborgs', root, holder),
    sign_raw_payload: submitLoad('sign_raw_payload', client, [signing]),
    create_wallet_accounts: submitLoad('create_wallet_accounts', client, [{ walletId, accounts: [ethereum(COUNT)] }]),
    create_wallet: submitLoad('create_wallet', client, [wallet]),
  };
}
