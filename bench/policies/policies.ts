import {
  createSubOrganization,
  createUser,
  newKeyPair,
  type TestClient,
} from '../../packages/server/test/harness/client.ts';
import { startPostgres } from '../../scripts/lib/postgres.mjs';
import { type Comparison, compare } from '../compare.ts';
import type { Load } from '../load/load.ts';
import { COUNT, type Workload } from '../load/requests.ts';
import type { Options } from '../options.ts';
import { Service } from '../service.ts';
import { createDatabase, type DatabaseKind, ethereum, stampedBy, submitLoad } from '../stage.ts';

/** A request that policies decide, beside the same request where none is asked. */
export interface PolicyFigure extends Comparison {
  readonly title: string;
  readonly beside: string;
}

interface Scene {
  readonly name: string;
  /** How many policies, and how many of each hundred are about transactions too. */
  readonly policies: number;
  readonly concernedPercent: number;
}

const SCENES: readonly Scene[] = [
  { name: '1 policy', policies: 1, concernedPercent: 100 },
  { name: '100 policies', policies: 100, concernedPercent: 10 },
  { name: '10,000 policies', policies: 10_000, concernedPercent: 1 },
  { name: '10,000 policies, all about transactions', policies: 10_000, concernedPercent: 100 },
];
/** Both of users whom one policy lets sign. */
const AGAINST = { name: '10,000 policies against 1', few: '1 policy', many: '10,000 policies, all about transactions' };
const CONSENSUS = 'a consensus of two among 10,000 users';
const POLICIES_PER_CALL = 500;
const USERS_PER_CALL = 100;
const MANY_USERS = 10_000;
const FEW_USERS = 10;
const CONTRACT = '0x742d35cc6634c0532925a3b844bc454e4438f44e';

const POLICY_NAMES = [...SCENES.map(({ name }) => name), AGAINST.name, CONSENSUS];
/** What differs by what decides and not by the database is measured on one. */
export const policyNamesOn = (kind: DatabaseKind): readonly string[] =>
  kind === 'sqlite' ? POLICY_NAMES : [AGAINST.name];
export const isAgainstOne = ({ title }: PolicyFigure): boolean => title.endsWith(AGAINST.name);

export const policyTitle = (kind: DatabaseKind, name: string): string => `${kind} policies ${name}`;

export async function measurePolicies(
  kind: DatabaseKind,
  names: readonly string[],
  load: Load,
  options: Options,
  tell: (figure: PolicyFigure) => void,
): Promise<PolicyFigure[]> {
  await using postgres = kind === 'postgres' ? await startPostgres() : undefined;
  await using service = new Service(postgres && (await createDatabase(postgres, 'policies')));
  await service.start();
  const figures: PolicyFigure[] = [];
  const run = (workload: Workload) => (seconds: number) => load.run(service.target, workload, 1, seconds);
  const measure = async (name: string, beside: string, base: Workload, other: Workload): Promise<void> => {
    const figure = { title: policyTitle(kind, name), beside, ...(await compare(run(base), run(other), options)) };
    figures.push(figure);
    tell(figure);
  };
  const bare = await signing(await createSubOrganization(service.root, 'No policies'));
  const made = new Map<string, Workload>();
  const governed = async (name: string): Promise<Workload> => {
    const scene = SCENES.find((each) => each.name === name) as Scene;
    const workload = made.get(name) ?? (await governedSigning(await createSubOrganization(service.root, name), scene));
    made.set(name, workload);
    return workload;
  };
  for (const { name } of SCENES.filter((scene) => names.includes(scene.name))) {
    await measure(name, 'no policies, by the root user', bare.workload, await governed(name));
  }
  if (names.includes(AGAINST.name)) {
    await measure(AGAINST.name, AGAINST.few, await governed(AGAINST.few), await governed(AGAINST.many));
  }
  if (names.includes(CONSENSUS)) {
    const few = await awaitingConsensus(await createSubOrganization(service.root, 'Few users'), FEW_USERS);
    const many = await awaitingConsensus(await createSubOrganization(service.root, 'Many users'), MANY_USERS);
    await measure(CONSENSUS, `among ${FEW_USERS} users`, few, many);
  }
  return figures;
}

/** The root user signs a transfer of its wallet. */
async function signing(client: TestClient): Promise<{ readonly walletId: string; readonly workload: Workload }> {
  const { walletId, addresses } = await client.run('create_wallet', {
    walletName: 'Signing',
    accounts: [ethereum(0)],
  });
  return { walletId, workload: submitLoad('sign_transaction', client, [transfer(addresses[0])]) };
}

/** An EIP-1559 transfer of 0.001 ether; its nonce is five bytes, the digits of the count after a 1, so that each differs. */
const transfer = (signWith: string) => ({
  signWith,
  type: 'TRANSACTION_TYPE_ETHEREUM',
  unsignedTransaction: `02f301851${COUNT}843b9aca00847735940082520894${CONTRACT.slice(2)}87038d7ea4c6800080c0`,
});

/** A user who is not of the quorum signs the same, as the last of many policies lets it. */
async function governedSigning(client: TestClient, { policies, concernedPercent }: Scene): Promise<Workload> {
  const { walletId, workload } = await signing(client);
  const agent = await createUser(client, 'Agent');
  const others = Array.from({ length: policies - 1 }, (_, index) =>
    index % 100 < concernedPercent ? aboutTransactions(index) : aboutExports(index),
  );
  const allowing = {
    policyName: 'Agent',
    effect: 'EFFECT_ALLOW',
    condition: `activity.kind == 'SIGN_TRANSACTION' && wallet.id == '${walletId}' && eth.tx.to == '${CONTRACT}' && eth.tx.value <= 1000000000000000`,
    consensus: `approvers.any(user, user.id == '${agent.userId}')`,
    notes: '',
  };
  const all = [...others, allowing];
  for (let from = 0; from < all.length; from += POLICIES_PER_CALL) {
    await client.run('create_policies', { policies: all.slice(from, from + POLICIES_PER_CALL) });
  }
  return stampedBy(agent, workload);
}

const policy = (index: number, effect: string, condition: string) => ({
  policyName: `Policy ${index}`,
  effect,
  condition,
  consensus: '',
  notes: '',
});

/** Of another wallet and another contract each. */
const aboutTransactions = (index: number) => {
  const id = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
  const to = `0x${String(index).padStart(40, '0')}`;
  const condition = `activity.kind == 'SIGN_TRANSACTION' && wallet.id == '${id}' && eth.tx.to == '${to}'`;
  return policy(index, index % 2 === 0 ? 'EFFECT_ALLOW' : 'EFFECT_DENY', condition);
};

const aboutExports = (index: number) => {
  const id = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
  return policy(index, 'EFFECT_ALLOW', `activity.kind == 'EXPORT_WALLET' && wallet.id == '${id}'`);
};

/** One of two approvals that a policy asks of anybody: who could give the other one has to be looked for. */
async function awaitingConsensus(client: TestClient, users: number): Promise<Workload> {
  const { workload } = await signing(client);
  const agent = await createUser(client, 'Agent');
  for (let from = 0; from < users; from += USERS_PER_CALL) {
    const named = Array.from({ length: Math.min(USERS_PER_CALL, users - from) }, (_, index) => ({
      userName: `User ${from + index}`,
      apiKeys: [{ apiKeyName: 'Key', publicKey: newKeyPair().publicKey, curveType: 'API_KEY_CURVE_P256' }],
      authenticators: [],
      oauthProviders: [],
      userTags: [],
    }));
    await client.run('create_users', { users: named });
  }
  await client.run('create_policy', {
    policyName: 'Two of us',
    effect: 'EFFECT_ALLOW',
    condition: "activity.kind == 'SIGN_TRANSACTION'",
    consensus: 'approvers.count() >= 2',
    notes: '',
  });
  return stampedBy(agent, workload);
}
