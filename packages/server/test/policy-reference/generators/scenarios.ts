// Whole decisions: a small organization, policies, a request and the votes on it, in the shape of the decision cases.
import fc from 'fast-check';
import type { ActivityRequest, DecisionInput, Organization, OrganizationUser, Vote } from '../reference/decision.ts';
import type { PolicyText } from '../reference/outcome.ts';
import type { JsonObject } from '../reference/values.ts';
import { consensusExpressions } from './consensus-expressions.ts';
import { oneOf } from './pools.ts';

export interface ScenarioOptions {
  /** Only consensus expressions that stay true when more users approve. */
  readonly monotone: boolean;
}

const USER_IDS = ['alice', 'bob', 'carol', 'dave', 'r1', 'r2'];
const TAGS = ['ops', 'sec'];
const CREDENTIAL_TYPES = [
  'CREDENTIAL_TYPE_API_KEY_P256',
  'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR',
  'CREDENTIAL_TYPE_RECOVER_USER_KEY_P256',
];
const NOW = '2025-01-06T15:00:00Z';

/**
 * Against the requests below these are true, false, or end in every kind of error that protocol/policies 8.1 tells
 * apart.
 */
const CONDITIONS = [
  'true',
  "activity.resource == 'CREDENTIAL'",
  "activity.action == 'SIGN'",
  "activity.kind == 'SIGN_TRANSACTION' && wallet.id == 'w1'",
  'eth.tx.value > 1',
  'eth.tx.value <= 5',
  'eth.tx.chain_id == 1',
  "eth.tx.to == '0xAA00000000000000000000000000000000000001'",
  "eth.tx.data[0..10] == '0xa9059cbb'",
  "eth.tx.contract_call_args['wad'] < 5",
  "'zz'.hex_to_uint() == 0",
  "wallet.id == 'w1' || private_key.id == 'k1'",
  'solana.tx.transfers.count() > 0',
  "activity.params.user_id == 'dave'",
  'false',
];

const TIMES = [
  "CronSpan('0 9 * * 1-5', '8h', 'America/New_York')",
  "CronSpan('0 9 * * 0', '8h', 'America/New_York')",
  "time.now < Timestamp('2025-01-01T00:00:00Z')",
  "time.now >= Timestamp('2025-01-06T15:00:00Z')",
];

export function decisionScenarios(options: ScenarioOptions): fc.Arbitrary<DecisionInput> {
  return fc
    .tuple(organizations(), activities(), fc.array(policyTexts(options), { maxLength: 4 }))
    .chain(([org, activity, policies]) =>
      fc.array(votes(org), { minLength: 1, maxLength: 4 }).map((cast) => ({
        org,
        activity,
        policies: policies.map((policy, index) => ({ ...policy, id: `p${index}` })),
        now: NOW,
        votes: cast,
      })),
    );
}

function organizations(): fc.Arbitrary<Organization> {
  const userIds = fc.uniqueArray(oneOf(USER_IDS), { minLength: 2, maxLength: USER_IDS.length });
  return userIds.chain((ids) =>
    fc.tuple(...ids.map(organizationUsers), rootUsers(ids)).map((parts) => ({
      users: parts.slice(0, -1) as OrganizationUser[],
      root: parts.at(-1) as Organization['root'],
    })),
  );
}

function organizationUsers(id: string): fc.Arbitrary<OrganizationUser> {
  return fc
    .tuple(fc.subarray(TAGS), fc.subarray(CREDENTIAL_TYPES, { minLength: 1, maxLength: 2 }))
    .map(([tags, types]) => ({
      id,
      tags,
      email: '',
      alias: id,
      credentials: types.map((type) => ({ id: `c-${id}-${CREDENTIAL_TYPES.indexOf(type)}`, type })),
    }));
}

function rootUsers(ids: readonly string[]): fc.Arbitrary<Organization['root']> {
  return fc
    .subarray(ids.slice(0, 3), { minLength: 1 })
    .chain((userIds) => fc.integer({ min: 1, max: userIds.length }).map((threshold) => ({ threshold, userIds })));
}

function votes({ users }: Organization): fc.Arbitrary<Vote> {
  return oneOf(users).chain(({ id, credentials }) =>
    oneOf(credentials!).map((credential) => ({ user: id, credType: credential.type })),
  );
}

function policyTexts({ monotone }: ScenarioOptions): fc.Arbitrary<Omit<PolicyText, 'id'>> {
  const consensus = consensusExpressions({
    userIds: USER_IDS,
    tags: TAGS,
    credentialTypes: CREDENTIAL_TYPES,
    monotone,
  });
  return fc
    .tuple(
      oneOf(['EFFECT_ALLOW', 'EFFECT_ALLOW', 'EFFECT_DENY'] as const),
      fc.option(oneOf(CONDITIONS), { nil: undefined, freq: 6 }),
      fc.option(consensus, { nil: undefined, freq: 3 }),
      fc.option(oneOf(TIMES), { nil: undefined, freq: 2 }),
    )
    .map(([effect, condition, consensusText, time]) => ({
      effect,
      ...(condition === undefined ? {} : { condition }),
      ...(consensusText === undefined ? {} : { consensus: consensusText }),
      ...(time === undefined ? {} : { time }),
    }));
}

function activities(): fc.Arbitrary<ActivityRequest> {
  return fc.oneof(
    { weight: 5, arbitrary: signatures() },
    { weight: 3, arbitrary: credentialChanges() },
    { weight: 1, arbitrary: rootQuorumRequests() },
  );
}

function signatures(): fc.Arbitrary<ActivityRequest> {
  const facts = {
    type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
    kind: 'SIGN_TRANSACTION',
    resource: 'PRIVATE_KEY',
    action: 'SIGN',
    params: { type: 'TRANSACTION_TYPE_ETHEREUM' },
    context: { wallet: { id: 'w1' }, wallet_account: { address: '0xab' } },
  };
  return fc
    .array(ethereumElements(), { minLength: 1, maxLength: 2 })
    .map(([first, ...others]) =>
      others.length === 0
        ? { ...facts, context: { ...facts.context, ...first } }
        : { ...facts, elements: [first!, ...others] },
    );
}

function ethereumElements(): fc.Arbitrary<JsonObject> {
  const value = oneOf(['0', '5', '5', String(2n ** 127n)]);
  return fc.tuple(value, oneOf(['0x', '0xa9059cbb00']), oneOf([1, 10])).map(([amount, data, chainId]) => ({
    eth: { tx: { to: '0xaa00000000000000000000000000000000000001', value: amount, data, chain_id: chainId } },
  }));
}

function credentialChanges(): fc.Arbitrary<ActivityRequest> {
  const own = oneOf(['CREATE_API_KEYS', 'DELETE_API_KEYS']).map((kind) => ({
    kind,
    resource: 'CREDENTIAL',
    exposesUserId: true,
  }));
  const other = oneOf([
    { kind: 'CREATE_AUTHENTICATORS', resource: 'CREDENTIAL', exposesUserId: false },
    { kind: 'DELETE_OAUTH_PROVIDERS', resource: 'CREDENTIAL', exposesUserId: false },
    { kind: 'STAMP_LOGIN', resource: 'AUTH', exposesUserId: false },
    { kind: 'RECOVER_USER', resource: 'RECOVERY', exposesUserId: false },
    { kind: 'CREATE_WALLET', resource: 'WALLET', exposesUserId: false },
  ]);
  return fc.tuple(fc.oneof(own, other), oneOf(USER_IDS)).map(([{ kind, resource, exposesUserId }, userId]) => ({
    type: `ACTIVITY_TYPE_${kind}`,
    kind,
    resource,
    action: kind.startsWith('DELETE') ? 'DELETE' : kind === 'RECOVER_USER' ? 'UPDATE' : 'CREATE',
    params: exposesUserId ? { user_id: userId } : {},
    ...(kind === 'STAMP_LOGIN' || kind === 'CREATE_WALLET' ? {} : { targetUserId: userId }),
  }));
}

function rootQuorumRequests(): fc.Arbitrary<ActivityRequest> {
  return oneOf(['UPDATE_ROOT_QUORUM', 'SET_ORGANIZATION_FEATURE']).map((name) => ({ type: `ACTIVITY_TYPE_${name}` }));
}
