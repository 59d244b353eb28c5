import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Approval,
  checkPolicy,
  compileExpression,
  createCoverage,
  createExpressionCache,
  type DecisionInput,
  decide,
  directoryNeeds,
  explainDenial,
  type Member,
  mfaApplies,
  type Policy,
  type PolicyCredential,
  preparePolicies,
  scopeCovers,
  voteStanding,
} from '../index.ts';
import type { Namespaces } from '../language/structs.ts';

const cache = createExpressionCache();
const NOW_MS = Date.parse('2025-01-06T15:00:00Z');

const keyOf = (userId: string, type = 'CREDENTIAL_TYPE_API_KEY_P256'): PolicyCredential => ({
  id: `${type} of ${userId}`,
  user_id: userId,
  type,
  credential_id: '',
  public_key: '',
});
const member = (id: string, ...tags: readonly string[]): Member => ({
  id,
  tags,
  email: '',
  alias: id,
  credentials: [keyOf(id)],
});
const approval = (userId: string, type?: string): Approval => ({ userId, credential: keyOf(userId, type) });

const allow = (id: string, texts: Omit<Policy, 'id' | 'effect'> = {}): Policy => ({
  id,
  effect: 'EFFECT_ALLOW',
  ...texts,
});
const deny = (id: string, texts: Omit<Policy, 'id' | 'effect'> = {}): Policy => ({
  id,
  effect: 'EFFECT_DENY',
  ...texts,
});

const transaction = (value: bigint): Namespaces => ({
  eth: {
    tx: {
      from: '0x00',
      to: '0xaa00000000000000000000000000000000000001',
      data: '0x',
      value,
      gas: 21_000n,
      gas_price: 1n,
      chain_id: 1n,
      nonce: 0n,
      max_fee_per_gas: 1n,
      max_priority_fee_per_gas: 1n,
      max_fee_per_blob_gas: 0n,
      type: 'TYPE_2',
      function_name: '',
      function_signature: '',
    },
  },
  wallet: { id: 'w1', imported: false, exported: false, label: 'main' },
});

const signing = (...values: readonly bigint[]): DecisionInput['activity'] => ({
  governedBy: 'policy',
  type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
  kind: 'SIGN_TRANSACTION',
  resource: 'PRIVATE_KEY',
  action: 'SIGN',
  params: { type: 'TRANSACTION_TYPE_ETHEREUM' },
  elements: values.map(transaction),
});

const longData = {
  ...signing(5n),
  elements: [{ eth: { tx: { ...transaction(5n).eth?.tx, data: `0x${'00'.repeat(400_000)}` } } }],
} as DecisionInput['activity'];

const ofCredentials = (kind: string, subjectUserId: string): DecisionInput['activity'] => ({
  governedBy: 'policy',
  type: `ACTIVITY_TYPE_${kind}`,
  kind,
  resource: 'CREDENTIAL',
  action: 'CREATE',
  params: {},
  elements: [{}],
  subjectUserId,
});

const everyone = [
  member('alice', 'ops'),
  member('bob', 'ops'),
  member('carol', 'sec'),
  member('dave'),
  member('r1'),
  member('r2'),
];

const input = (policies: readonly Policy[], changes: Partial<DecisionInput> = {}): DecisionInput => ({
  organization: { id: 'org', rootThreshold: 2, rootUserIds: ['r1', 'r2'] },
  activity: signing(5n),
  policies: preparePolicies(policies, cache),
  members: everyone,
  approvals: [approval('dave')],
  phase: 'SUBMISSION',
  nowMs: NOW_MS,
  ...changes,
});

const summary = (decision: ReturnType<typeof decide>) => ({
  outcome: decision.outcome,
  reason: decision.reason,
  policies: Object.fromEntries(
    decision.evaluations.map(({ policyId, outcome, reason }) => [policyId, `${outcome} ${reason}`]),
  ),
});

describe('errors of policies', () => {
  const huge = { activity: signing(2n ** 127n) };

  test('a number out of range makes a denial deny and an allowance fail', () => {
    const policies = [
      deny('d', { condition: 'eth.tx.value > 100' }),
      allow('a', { condition: 'eth.tx.value < 100' }),
      allow('any'),
    ];
    expect(decide(input(policies)).outcome).toBe('OUTCOME_ALLOW');
    const decision = decide(input(policies, huge));
    expect(summary(decision)).toEqual({
      outcome: 'OUTCOME_DENY_EXPLICIT',
      reason: 'POLICY_DENIED',
      policies: {
        d: 'OUTCOME_DENY_EXPLICIT ERROR_DENIES',
        a: 'OUTCOME_ERROR EVALUATION_ERROR',
        any: 'OUTCOME_ALLOW APPLIES',
      },
    });
    expect(decision.decidingPolicyIds).toEqual(['d']);
    expect(decision.evaluations[0]?.error).toMatchObject({
      expression: 'condition',
      code: 'R_INT_RANGE',
      start: 0,
      end: 12,
    });
  });

  test('too many steps make a denial deny', () => {
    const loop = `[${Array.from({ length: 1_000 }, (_, index) => index).join(',')}]`;
    const policies = [deny('d', { condition: `${loop}.any(x, ${loop}.any(y, x == y && false))` }), allow('any')];
    expect(summary(decide(input(policies)))).toMatchObject({
      outcome: 'OUTCOME_DENY_EXPLICIT',
      policies: { d: 'OUTCOME_DENY_EXPLICIT ERROR_DENIES' },
    });
  });

  test.each([
    'solana.tx.transfers.count() > 0',
    "eth.tx.data[0..10] == '0xa9059cbb'",
    'eth.tx.data.hex_to_uint() == 0',
    "eth.tx.contract_call_args['a'] == 1",
  ])('a denial that fails otherwise does not deny: %s', (condition) => {
    expect(summary(decide(input([deny('d', { condition }), allow('any')])))).toMatchObject({
      outcome: 'OUTCOME_ALLOW',
      policies: { d: 'OUTCOME_ERROR EVALUATION_ERROR' },
    });
  });

  test('it also denies when the type of activity would have made it false: nothing short-circuits', () => {
    const policies = [deny('d', { condition: "activity.kind == 'CREATE_WALLET' && eth.tx.value > 100" }), allow('any')];
    expect(decide(input(policies)).outcome).toBe('OUTCOME_ALLOW');
    expect(decide(input(policies, huge)).outcome).toBe('OUTCOME_DENY_EXPLICIT');
    expect(decide(input(policies, huge), { listAll: false }).outcome).toBe('OUTCOME_DENY_EXPLICIT');
  });

  describe('and is not left out where such an error is possible', () => {
    const loop = `[${Array.from({ length: 1_000 }, (_, index) => index).join(',')}]`;
    const loops = `${loop}.any(x, ${loop}.any(y, x == y && false))`;
    const deposit: DecisionInput['activity'] = {
      governedBy: 'policy',
      type: 'ACTIVITY_TYPE_EARN_DEPOSIT',
      kind: 'EARN_DEPOSIT',
      resource: 'PRIVATE_KEY',
      action: 'SIGN',
      params: { assets: 2n ** 256n },
      elements: [{}],
    };
    test.each<[string, Policy, DecisionInput['activity']]>([
      ['a loop', deny('d', { condition: `activity.kind == 'CREATE_WALLET' && ${loops}` }), signing(5n)],
      ['a loop in the time', deny('d', { condition: "activity.kind == 'CREATE_WALLET'", time: loops }), signing(5n)],
      [
        'a parameter',
        deny('d', { condition: "activity.kind == 'CREATE_WALLET' && activity.params.assets > 5" }),
        deposit,
      ],
      [
        'a long text',
        deny('d', {
          condition: `activity.kind == 'CREATE_WALLET' && ${Array.from({ length: 10 }, () => 'eth.tx.data == eth.tx.data').join(' && ')}`,
        }),
        longData,
      ],
    ])('%s', (_name, policy, activity) => {
      for (const listAll of [true, false]) {
        const decision = decide(input([policy, allow('any')], { activity }), { listAll });
        expect(decision).toMatchObject({ outcome: 'OUTCOME_DENY_EXPLICIT', decidingPolicyIds: ['d'] });
      }
    });
  });

  test('errors in consensus and time count as those in conditions', () => {
    const failing = "approvers.any(u, u.tags[9] == 'x')";
    expect(summary(decide(input([deny('d', { consensus: failing }), allow('a', { consensus: failing })])))).toEqual({
      outcome: 'OUTCOME_DENY_IMPLICIT',
      reason: 'NO_POLICY_ALLOWS',
      policies: { d: 'OUTCOME_ERROR EVALUATION_ERROR', a: 'OUTCOME_ERROR EVALUATION_ERROR' },
    });
    expect(summary(decide(input([allow('a', { time: "'a'[1] == ''" })])))).toMatchObject({
      policies: { a: 'OUTCOME_ERROR EVALUATION_ERROR' },
    });
  });

  test('many policies share one budget, and a denial beyond it denies', () => {
    const loop = `[${Array.from({ length: 300 }, (_, index) => index).join(',')}]`;
    const heavy = Array.from({ length: 60 }, (_, index) =>
      allow(`a${index}`, { condition: `${loop}.all(x, ${loop}.any(y, false)) && ${index} == ${index}` }),
    );
    const decision = decide(input([...heavy, allow('ok'), deny('d', { condition: 'eth.tx.value > 100' })]));
    expect(decision.outcome).toBe('OUTCOME_DENY_EXPLICIT');
    expect(decision.evaluations.at(-1)).toMatchObject({ reason: 'ERROR_DENIES', error: { code: 'R_LIMIT' } });
  });
});

test('many elements under many policies end in a denial, not in a long wait', () => {
  const policies = Array.from({ length: 2_000 }, (_, index) =>
    allow(`a${index}`, { condition: `eth.tx.value == ${1_000_000 + index}` }),
  );
  const activity = signing(...Array.from({ length: 1_000 }, (_, index) => BigInt(index)));
  expect(decide(input(policies, { activity })).outcome).toBe('OUTCOME_DENY_IMPLICIT');
  const decision = decide(
    input([...policies, allow('any'), deny('d', { condition: 'eth.tx.value > 10000' })], { activity }),
  );
  expect(decision).toMatchObject({ outcome: 'OUTCOME_DENY_EXPLICIT', decidingPolicyIds: ['d'] });
  expect(decision.evaluations.at(-1)?.error).toMatchObject({ code: 'R_LIMIT' });
});

describe('searches for approvals that could still come', () => {
  const tags = Array.from({ length: 40 }, (_, index) => `t${index}`);
  const hopeless = (index: number) =>
    `${tags.map((tag) => `approvers.filter(u, u.tags.contains('${tag}')).count() == 1`).join(' && ')} && approvers.count() == ${index + 3}`;
  const members = [...everyone, ...tags.map((tag) => member(tag, tag))];

  test('do not use up what other policies need, and leave open what they cannot find out', () => {
    const policies = [
      ...Array.from({ length: 60 }, (_, index) => allow(`a${index}`, { consensus: hopeless(index) })),
      deny('d', { condition: 'eth.tx.value > 100' }),
    ];
    const decision = decide(input(policies, { members }));
    expect(decision.outcome).toBe('OUTCOME_REQUIRES_CONSENSUS');
    expect(decision.evaluations.at(-1)).toMatchObject({ policyId: 'd', reason: 'CONDITION_FALSE' });
    // Nothing was left for looking up who could approve.
    expect(decision.openTo.policies.every(({ userIds }) => userIds.length === 0)).toBe(true);
    expect(new Set(decision.evaluations.slice(0, -1).map(({ reason }) => reason))).toEqual(
      new Set(['CONSENSUS_UNDECIDED']),
    );
  });
});

describe('stored texts that are no longer valid', () => {
  test('an allowance does not allow, a denial denies', () => {
    expect(summary(decide(input([allow('a', { condition: 'eth.tx.gone == 1' })])))).toEqual({
      outcome: 'OUTCOME_DENY_IMPLICIT',
      reason: 'NO_POLICY_ALLOWS',
      policies: { a: 'OUTCOME_ERROR EXPRESSION_INVALID' },
    });
    for (const field of ['condition', 'consensus', 'time'] as const) {
      const policies = [deny('d', { condition: "activity.kind == 'CREATE_WALLET'", [field]: 'x.y.z' }), allow('any')];
      for (const listAll of [true, false]) {
        const decision = decide(input(policies), { listAll });
        expect(decision.outcome).toBe('OUTCOME_DENY_EXPLICIT');
        expect(decision.evaluations[0]?.error).toMatchObject({ expression: field, code: 'E_UNKNOWN_KEYWORD' });
      }
    }
  });

  test('null and empty expressions count as true', () => {
    expect(decide(input([allow('a', { condition: null, consensus: '', time: undefined })])).outcome).toBe(
      'OUTCOME_ALLOW',
    );
  });
});

describe('requests with several elements', () => {
  const upTo100 = allow('small', { condition: 'eth.tx.value <= 100' });
  const above = allow('large', { condition: 'eth.tx.value > 100' });

  test('every element must be allowed', () => {
    expect(decide(input([upTo100], { activity: signing(1n, 2n) })).outcome).toBe('OUTCOME_ALLOW');
    const decision = decide(input([upTo100], { activity: signing(1n, 200n) }));
    expect(decision.outcome).toBe('OUTCOME_DENY_IMPLICIT');
    expect(decision.evaluations[0]).toMatchObject({
      outcome: 'OUTCOME_DENY_IMPLICIT',
      reason: 'CONDITION_FALSE',
      element: 1,
    });
  });

  test('different policies may allow different elements; the record shows the worst of each', () => {
    const decision = decide(input([upTo100, above], { activity: signing(1n, 200n) }));
    expect(summary(decision)).toEqual({
      outcome: 'OUTCOME_ALLOW',
      reason: 'POLICY_ALLOWED',
      policies: { small: 'OUTCOME_DENY_IMPLICIT CONDITION_FALSE', large: 'OUTCOME_DENY_IMPLICIT CONDITION_FALSE' },
    });
  });

  test('one denial denies all, and one that waits makes all wait', () => {
    const activity = signing(1n, 200n, 3n);
    expect(decide(input([allow('any'), deny('d', { condition: 'eth.tx.value == 200' })], { activity })).outcome).toBe(
      'OUTCOME_DENY_EXPLICIT',
    );
    const two = allow('two', { condition: 'eth.tx.value > 100', consensus: 'approvers.count() >= 2' });
    const waiting = decide(input([upTo100, two], { activity }));
    expect(waiting).toMatchObject({ outcome: 'OUTCOME_REQUIRES_CONSENSUS', decidingPolicyIds: ['two'] });
    expect(decide(input([upTo100, two, deny('d', { condition: 'eth.tx.value == 3' })], { activity })).outcome).toBe(
      'OUTCOME_DENY_EXPLICIT',
    );
  });

  test('a request without elements would be allowed by nothing at all, and is refused', () => {
    expect(() => decide(input([], { activity: signing() }))).toThrow(/at least one element/);
  });
});

describe('the root quorum', () => {
  const byRoots = (...users: string[]) => ({ approvals: users.map((user) => approval(user)) });

  test('decides without policies, and a user counts once', () => {
    expect(decide(input([deny('d')], byRoots('r1', 'r1')))).toMatchObject({
      outcome: 'OUTCOME_REQUIRES_CONSENSUS',
      reason: 'ROOT_QUORUM_PENDING',
      rootQuorum: { required: 2, given: 1, isReachable: true },
      openTo: { rootUserIds: ['r2'], policies: [] },
    });
    const waiting = allow('two', { consensus: 'approvers.count() >= 2' });
    expect(decide(input([deny('d'), waiting], byRoots('r1'))).openTo).toEqual({ rootUserIds: ['r2'], policies: [] });
    expect(decide(input([deny('d')], byRoots('r1', 'r2')))).toMatchObject({
      outcome: 'OUTCOME_ALLOW',
      reason: 'ROOT_QUORUM',
      evaluations: [],
    });
  });

  test('does not gather over a denial once somebody else has approved', () => {
    const decision = decide(input([deny('d')], { ...byRoots('r1', 'dave'), phase: 'VOTE' }));
    expect(decision).toMatchObject({ outcome: 'OUTCOME_DENY_EXPLICIT', decidingPolicyIds: ['d'] });
  });

  test('does not gather when it could never be met', () => {
    const organization = { id: 'org', rootThreshold: 3, rootUserIds: ['r1', 'r2', 'r2'] };
    expect(decide(input([deny('d')], { organization, ...byRoots('r1') })).outcome).toBe('OUTCOME_DENY_EXPLICIT');
    expect(decide(input([], { organization, ...byRoots('r1') })).outcome).toBe('OUTCOME_DENY_IMPLICIT');
  });

  test('approvals of users who are gone count for nothing', () => {
    const decision = decide(input([deny('d')], { ...byRoots('gone', 'r1'), phase: 'VOTE' }));
    expect(decision).toMatchObject({ outcome: 'OUTCOME_REQUIRES_CONSENSUS', rootQuorum: { given: 1 } });
    const two = allow('two', { consensus: 'approvers.count() >= 2' });
    expect(decide(input([two], { ...byRoots('gone', 'dave'), phase: 'VOTE' })).outcome).toBe(
      'OUTCOME_REQUIRES_CONSENSUS',
    );
  });

  test('owns some activities alone', () => {
    const activity = { governedBy: 'rootQuorum', type: 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM' } as const;
    expect(decide(input([allow('a')], { activity }))).toMatchObject({
      outcome: 'OUTCOME_DENY_IMPLICIT',
      reason: 'ROOT_QUORUM_ONLY',
    });
    expect(decide(input([], { activity, ...byRoots('r1') })).openTo.rootUserIds).toEqual(['r2']);
    expect(decide(input([], { activity, ...byRoots('r1', 'r2') })).outcome).toBe('OUTCOME_ALLOW');
    // A quorum that changed meanwhile leaves the activity open rather than denying it by a vote.
    expect(decide(input([], { activity, phase: 'VOTE' })).outcome).toBe('OUTCOME_REQUIRES_CONSENSUS');
  });

  test('cannot be taken from it by calling such an activity something else', () => {
    const activity = { ...signing(1n), type: 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM' } as DecisionInput['activity'];
    expect(() => decide(input([allow('a')], { activity }))).toThrow(/governed as its type says/);
  });

  test.each([0, -1, 1.5, Number.NaN])('a threshold of %d is our mistake', (rootThreshold) => {
    const organization = { id: 'org', rootThreshold, rootUserIds: ['r1'] };
    expect(() => decide(input([], { organization }))).toThrow(/assertion failed/);
  });
});

describe('votes', () => {
  const two = allow('two', { consensus: "approvers.filter(u, u.tags.contains('ops')).count() >= 2" });

  test('a vote never denies implicitly', () => {
    expect(decide(input([], { approvals: [approval('dave')] })).outcome).toBe('OUTCOME_DENY_IMPLICIT');
    expect(decide(input([], { approvals: [approval('dave')], phase: 'VOTE' }))).toMatchObject({
      outcome: 'OUTCOME_REQUIRES_CONSENSUS',
      reason: 'STILL_PENDING',
    });
  });

  test('the decision says who could still approve', () => {
    const decision = decide(input([two], { approvals: [approval('alice')] }));
    expect(decision.openTo).toEqual({
      rootUserIds: ['r1', 'r2'],
      policies: [{ policyId: 'two', userIds: ['bob'], anyone: false }],
    });
  });

  test.each([
    ['approvers.count() >= 2', true],
    ['approvers.count >= 2', true],
    ['credentials.count() >= 2', true],
    ["approvers.any(u, u.id == 'bob') && approvers.count() >= 2", true],
    ["approvers.any(u, u.id == 'bob') && approvers.any(u, u.id == 'dave')", false],
    ["credentials.filter(c, c.user_id in ['bob', 'dave']).count() >= 2", false],
  ])('and whether anybody could: %s', (consensus, anyone) => {
    const decision = decide(input([allow('p', { consensus })]));
    expect(decision.openTo.policies).toMatchObject([{ policyId: 'p', anyone }]);
  });

  test.each([
    ['bob', { counts: true, forRootQuorum: false, policyIds: ['two'] }],
    ['alice', { counts: true, forRootQuorum: false, policyIds: ['two'] }],
    ['r1', { counts: true, forRootQuorum: true, policyIds: [] }],
    ['carol', { counts: false, forRootQuorum: false, policyIds: [] }],
    ['stranger', { counts: false, forRootQuorum: false, policyIds: [] }],
  ])('a vote of %s', (voter, expected) => {
    const { phase: _phase, ...before } = input([two], { approvals: [approval('alice')] });
    expect(voteStanding(before, approval(voter))).toEqual(expected);
  });

  test('when all approvals have lapsed, a vote begins as a submission would', () => {
    const { phase: _phase, ...before } = input([two], { approvals: [] });
    expect(voteStanding(before, approval('bob')).counts).toBe(true);
    expect(voteStanding(before, approval('dave')).counts).toBe(false);
    expect(voteStanding(before, approval('r1')).counts).toBe(true);
  });

  test('the credential of a vote counts, not the user alone', () => {
    const passkey = 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR';
    const policy = allow('p', {
      consensus: `approvers.any(u, u.id == 'alice') && credentials.any(c, c.type == '${passkey}')`,
    });
    const members = [...everyone, { ...member('eve'), credentials: [keyOf('eve', passkey)] }];
    const { phase: _phase, ...before } = input([policy], { approvals: [approval('alice')], members });
    expect(voteStanding(before, approval('bob')).counts).toBe(false);
    expect(voteStanding(before, approval('bob', passkey)).counts).toBe(true);
    expect(voteStanding(before, approval('eve', passkey)).counts).toBe(true);
  });

  test('nobody but the quorum votes while it gathers over a denial', () => {
    const policies = [deny('d'), allow('any'), two];
    const { phase: _phase, ...before } = input(policies, { approvals: [approval('r1')] });
    expect(voteStanding(before, approval('bob')).counts).toBe(false);
    expect(voteStanding(before, approval('r2')).counts).toBe(true);
    // Once somebody else takes part, a denial that came later ends the activity at the next vote.
    const { phase: _other, ...mixed } = input(policies, { approvals: [approval('alice')] });
    expect(voteStanding(mixed, approval('bob')).policyIds).toEqual(['any', 'two']);
  });

  test('root activities take votes of the quorum only', () => {
    const activity = { governedBy: 'rootQuorum', type: 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM' } as const;
    const { phase: _phase, ...before } = input([two], { activity, approvals: [approval('r1')] });
    expect(voteStanding(before, approval('bob')).counts).toBe(false);
    expect(voteStanding(before, approval('r2')).counts).toBe(true);
  });

  test('whoever acts must be handed in', () => {
    expect(() => decide(input([two], { approvals: [approval('stranger')] }))).toThrow(/among the members/);
  });

  test('an approval with a credential of somebody else is our mistake', () => {
    const approvals = [{ userId: 'alice', credential: keyOf('bob') }];
    expect(() => decide(input([two], { approvals }))).toThrow(/credential of the approver/);
  });
});

test('a denial with a consensus of its own never waits for it', () => {
  const two = 'approvers.count() >= 2';
  expect(summary(decide(input([deny('d', { consensus: two })])))).toEqual({
    outcome: 'OUTCOME_DENY_IMPLICIT',
    reason: 'NO_POLICY_ALLOWS',
    policies: { d: 'OUTCOME_DENY_IMPLICIT CONSENSUS_NOT_MET' },
  });
  // It bites once it is met, although another policy would allow by then.
  const approvals = [approval('dave'), approval('alice')];
  const decision = decide(
    input([deny('d', { consensus: two }), allow('a', { consensus: two })], { approvals, phase: 'VOTE' }),
  );
  expect(decision).toMatchObject({ outcome: 'OUTCOME_DENY_EXPLICIT', decidingPolicyIds: ['d'] });
});

describe('own accounts', () => {
  test.each([
    'CREATE_API_KEYS',
    'DELETE_AUTHENTICATORS',
    'CREATE_OAUTH_PROVIDERS',
    'STAMP_LOGIN',
    'CREATE_READ_WRITE_SESSION',
  ])('%s is allowed for oneself and nobody else', (kind) => {
    expect(decide(input([], { activity: ofCredentials(kind, 'dave') }))).toMatchObject({
      outcome: 'OUTCOME_ALLOW',
      reason: 'OWN_ACCOUNT',
      ownAccountRule: 'APPLIED',
    });
    expect(decide(input([], { activity: ofCredentials(kind, 'alice') }))).toMatchObject({
      outcome: 'OUTCOME_DENY_IMPLICIT',
      ownAccountRule: 'NOT_APPLICABLE',
    });
  });

  test('a policy that applies takes its place', () => {
    const activity = ofCredentials('CREATE_API_KEYS', 'dave');
    expect(decide(input([deny('d')], { activity }))).toMatchObject({
      outcome: 'OUTCOME_DENY_EXPLICIT',
      ownAccountRule: 'REPLACED_BY_POLICY',
    });
    expect(decide(input([allow('a', { consensus: 'approvers.count() > 1' })], { activity }))).toMatchObject({
      outcome: 'OUTCOME_REQUIRES_CONSENSUS',
      ownAccountRule: 'REPLACED_BY_POLICY',
    });
    expect(decide(input([deny('d', { condition: "wallet.id == 'w'" })], { activity })).reason).toBe('OWN_ACCOUNT');
  });

  test('other kinds have no such rule, whoever they are about', () => {
    const activity = { ...ofCredentials('UPDATE_USER_NAME', 'dave'), resource: 'USER', action: 'UPDATE' };
    expect(decide(input([], { activity })).outcome).toBe('OUTCOME_DENY_IMPLICIT');
  });

  test('recovery needs the credential made for it', () => {
    const activity = { ...ofCredentials('RECOVER_USER', 'dave'), resource: 'RECOVERY', action: 'UPDATE' };
    expect(decide(input([], { activity })).outcome).toBe('OUTCOME_DENY_IMPLICIT');
    const approvals = [approval('dave', 'CREDENTIAL_TYPE_RECOVER_USER_KEY_P256')];
    expect(decide(input([], { activity, approvals })).outcome).toBe('OUTCOME_ALLOW');
    const another = [approval('alice', 'CREDENTIAL_TYPE_RECOVER_USER_KEY_P256')];
    expect(decide(input([], { activity, approvals: another })).outcome).toBe('OUTCOME_DENY_IMPLICIT');
    const both = [approval('dave'), ...another];
    expect(decide(input([], { activity, approvals: both })).outcome).toBe('OUTCOME_DENY_IMPLICIT');
  });
});

test('what the service itself grants yields only to an explicit denial', () => {
  expect(decide(input([], { grantedByService: true }))).toMatchObject({
    outcome: 'OUTCOME_ALLOW',
    reason: 'GRANTED_BY_SERVICE',
  });
  expect(decide(input([deny('d')], { grantedByService: true })).outcome).toBe('OUTCOME_DENY_EXPLICIT');
});

test('all expressions of a policy are checked before it is stored', () => {
  expect(checkPolicy({ condition: 'true', consensus: '', time: null }, cache)).toEqual([]);
  const problems = checkPolicy({ condition: 'x', consensus: 'approvers.count()', time: 'time.now' }, cache);
  expect(problems.map(({ expression, error, message }) => [expression, error.code, message.slice(0, 24)])).toEqual([
    ['condition', 'E_UNKNOWN_KEYWORD', 'invalid policy condition'],
    ['consensus', 'E_NOT_BOOL', 'invalid policy consensus'],
    ['time', 'E_NOT_BOOL', 'invalid policy time: exp'],
  ]);
});

test('a denial is explained as clients expect it', () => {
  expect(explainDenial(decide(input([])))).toBe('No policies evaluated to outcome: Allow');
  expect(explainDenial(decide(input([deny('d1'), deny('d2')])))).toBe(
    'The following policies denied this action: d1, d2',
  );
  const activity = { governedBy: 'rootQuorum', type: 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM' } as const;
  expect(explainDenial(decide(input([], { activity })))).toBe('Only the root quorum can take this action');
});

test('a decision is plain data, also with its reasons', () => {
  const policies = [
    allow('a', {
      name: 'A',
      condition: 'eth.tx.value < 10',
      consensus: 'approvers.count() >= 2',
      time: 'time.now == time.now',
    }),
  ];
  const decision = decide(input(policies), { trace: true });
  expect(JSON.parse(JSON.stringify(decision))).toEqual(decision);
  expect(decision.evaluations[0]).toMatchObject({
    policyName: 'A',
    trace: {
      time: { value: 'true' },
      conditions: [{ value: 'true' }],
      consensus: { value: 'false', text: 'approvers.count() >= 2' },
    },
  });
  // What was not evaluated has no tree.
  const [skipped] = decide(input([allow('a', { condition: 'false', consensus: 'true' })]), { trace: true }).evaluations;
  expect(skipped?.trace).not.toHaveProperty('consensus');
});

test('an explanation of very much stays within bounds, unless bounds are set', () => {
  const condition = Array.from({ length: 300 }, (_, index) => `eth.tx.value != ${index + 100}`).join(' && ');
  const policies = Array.from({ length: 100 }, (_, index) => allow(`a${index}`, { condition }));
  const shown = (options: object) =>
    decide(input(policies), { trace: true, ...options }).evaluations.filter(
      ({ trace }) => trace?.conditions.length === 1,
    ).length;
  expect(shown({})).toBe(50);
  expect(shown({ traceNodesMax: Number.POSITIVE_INFINITY })).toBe(100);
});

describe('many policies', () => {
  const others = Array.from({ length: 150 }, (_, index) =>
    allow(`other${index}`, { condition: `activity.kind == 'CREATE_WALLET' && wallet.id == 'w${index}'` }),
  );

  test('those that cannot concern the activity are neither evaluated nor listed', () => {
    const decision = decide(input([...others, allow('mine', { condition: "activity.action == 'SIGN'" })]));
    expect(summary(decision)).toMatchObject({ outcome: 'OUTCOME_ALLOW', policies: { mine: 'OUTCOME_ALLOW APPLIES' } });
    expect(decision).toMatchObject({ unconcernedCount: 150, evaluations: { length: 1 } });
  });

  test('up to 100 all are listed', () => {
    expect(decide(input(others.slice(0, 100))).evaluations).toHaveLength(100);
  });

  test('types that no table knows concern every policy', () => {
    const activity = { ...signing(1n), type: 'ACTIVITY_TYPE_NEW', kind: 'NEW' } as DecisionInput['activity'];
    expect(
      decide(input([...others, allow('mine', { condition: "activity.kind == 'NEW'" })], { activity })).outcome,
    ).toBe('OUTCOME_ALLOW');
    const lying = { ...signing(1n), resource: 'WALLET' } as DecisionInput['activity'];
    expect(
      decide(input([...others, allow('mine', { condition: "activity.resource == 'WALLET'" })], { activity: lying }))
        .outcome,
    ).toBe('OUTCOME_ALLOW');
  });
});

describe('whom a decision wants to know', () => {
  test('nobody, when nothing waits', () => {
    expect(directoryNeeds(input([allow('a')]))).toBeUndefined();
    expect(
      directoryNeeds(input([allow('a', { condition: 'false', consensus: 'approvers.count() > 1' })])),
    ).toBeUndefined();
    expect(directoryNeeds(input([allow('a', { consensus: "approvers.any(u, u.id == 'x')" })]))).toBeUndefined();
    expect(
      directoryNeeds(
        input([allow('a', { consensus: 'approvers.count() > 1' })], { approvals: [approval('r1'), approval('r2')] }),
      ),
    ).toBeUndefined();
  });

  test('those that pending policies name, and as many others as their largest number', () => {
    const policies = [
      allow('a', { consensus: "approvers.count() >= 3 && approvers.any(u, u.id == 'u9')" }),
      allow('b', { consensus: "approvers.count() >= 2 || approvers.filter(u, u.tags.contains('t')).count() > 4" }),
      allow('c', { condition: 'false', consensus: "approvers.count() > 50 && approvers.any(u, u.id == 'never')" }),
    ];
    expect(directoryNeeds(input(policies, { members: [member('dave')] }))).toEqual({
      userIds: ['u9'],
      tagIds: ['t'],
      emails: [],
      aliases: [],
      credentialIds: [],
      passkeyIds: [],
      publicKeys: [],
      credentialTypes: [],
      others: 4,
    });
  });

  test('more of them, when a policy looks into texts that no lookup can find', () => {
    const policy = allow('a', { consensus: "approvers.count() >= 2 && approvers.any(u, u.alias[0..1] == 'x')" });
    expect(directoryNeeds(input([policy]))?.others).toBe(1_000);
  });

  test('with them the decision is that of the whole organization', () => {
    const policy = allow('a', { consensus: "approvers.count() >= 3 && approvers.any(u, u.id == 'alice')" });
    const whole = decide(input([policy]));
    const few = decide(input([policy], { members: everyone.filter(({ id }) => ['dave', 'alice', 'r2'].includes(id)) }));
    expect(few.outcome).toBe(whole.outcome);
  });
});

describe('guards', () => {
  const condition = (text: string) => {
    const compiled = compileExpression('condition', text);
    if (!compiled.ok) throw new Error(compiled.error.message);
    return compiled.expression;
  };
  const activity = {
    type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
    kind: 'SIGN_TRANSACTION',
    resource: 'PRIVATE_KEY',
    action: 'SIGN',
    params: {},
  };
  const plain = { activity };
  const signed = { activity, ...transaction(5n) };

  test.each([
    ['true', true],
    ['false', false],
    // What the request does not have at all does not concern it.
    ["activity.action == 'SIGN' && solana.tx.transfers.count() > 0", false],
    ["activity.resource == 'AUTH' && activity.params.session_profile_id == 'p'", false],
    // Anything else that goes wrong asks for the factors.
    ["eth.tx.data[0..10] == '0xa9059cbb'", true],
    ["eth.tx.contract_call_args['x'] == 1", true],
  ])('an MFA condition %s: %s', (text, expected) => {
    expect(mfaApplies(condition(text), [signed]).holds).toBe(expected);
  });

  test('an MFA policy applies when one element asks for it', () => {
    expect(mfaApplies(condition('eth.tx.value > 3'), [plain, signed]).holds).toBe(true);
    expect(mfaApplies(condition('eth.tx.value > 3'), [plain]).error?.code).toBe('R_MISSING_FIELD');
  });

  test('a scope must cover every element, and any error is a no', () => {
    expect(scopeCovers(condition("activity.action == 'SIGN'"), [signed, plain])).toEqual({ holds: true });
    expect(scopeCovers(condition("activity.action == 'EXPORT'"), [signed]).holds).toBe(false);
    expect(scopeCovers(condition('eth.tx.value > 3'), [signed, plain]).error?.code).toBe('R_MISSING_FIELD');
    expect(scopeCovers(condition('true'), []).holds).toBe(false);
  });
});

test('coverage tells what no case made true and false', () => {
  const policies = [
    allow('a', { condition: 'eth.tx.value < 100 && eth.tx.chain_id == 1', consensus: 'approvers.count() >= 1' }),
    deny('never', { condition: "private_key.id == 'k'" }),
  ];
  const { policies: prepared } = preparePolicies(policies, cache);
  const coverage = createCoverage(prepared);
  for (const value of [1n, 500n])
    coverage.add(decide(input(policies, { activity: signing(value) }), { trace: true }).evaluations);
  const [first, second] = coverage.report();
  expect(first).toMatchObject({
    policyId: 'a',
    outcomes: { OUTCOME_ALLOW: 1, OUTCOME_DENY_IMPLICIT: 1 },
    parts: 4,
    coveredParts: 2,
    uncovered: [
      { expression: 'condition', text: 'eth.tx.chain_id == 1', wasTrue: true, wasFalse: false },
      { expression: 'consensus', text: 'approvers.count() >= 1', wasTrue: true, wasFalse: false },
    ],
  });
  expect(second).toMatchObject({ outcomes: { OUTCOME_ERROR: 2 }, uncovered: [{ wasTrue: false, wasFalse: false }] });
});

describe('properties', () => {
  const conditions = fc.constantFrom(
    'true',
    'false',
    "activity.kind == 'SIGN_TRANSACTION'",
    "activity.kind == 'CREATE_WALLET'",
    "activity.type in ['ACTIVITY_TYPE_CREATE_WALLET', 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD']",
    "!(activity.resource == 'WALLET')",
    "activity.action != 'SIGN' && eth.tx.value > 3",
    "activity.resource == 'WALLET' || eth.tx.value > 3",
    "activity.kind == 'CREATE_WALLET' && eth.tx.data[0..10] == '0xa9059cbb'",
    "['SIGN'].contains(activity.action) && solana.tx.transfers.count() > 0",
    "activity.kind == 'CREATE_WALLET' && [1, 2].all(x, x > 0)",
    'eth.tx.value > 100',
    "wallet.id == 'w1'",
    "activity.kind == 'CREATE_WALLET' && wallet_account.address == 'x'",
  );
  const consensuses = fc.constantFrom(
    undefined,
    'true',
    'approvers.count() >= 2',
    "approvers.any(u, u.id == 'dave')",
    "approvers.any(u, u.tags.contains('sec'))",
  );
  const times = fc.constantFrom(
    undefined,
    "time.now > Timestamp('2025-01-01T00:00:00Z')",
    "time.now < Timestamp('2025-01-01T00:00:00Z')",
  );
  const policies = fc
    .array(
      fc.record({
        effect: fc.constantFrom('EFFECT_ALLOW', 'EFFECT_DENY'),
        condition: conditions,
        consensus: consensuses,
        time: times,
      }),
      { maxLength: 6 },
    )
    .map((rows) => rows.map((row, index) => ({ id: `p${index}`, ...row }) as Policy));
  const circumstances = fc.record({
    activity: fc.constantFrom(
      signing(5n),
      signing(2n ** 127n),
      signing(5n, 500n),
      ofCredentials('CREATE_API_KEYS', 'dave'),
    ),
    approvals: fc
      .subarray(['dave', 'carol', 'r1'], { minLength: 1 })
      .map((users) => users.map((user) => approval(user))),
    phase: fc.constantFrom('SUBMISSION' as const, 'VOTE' as const),
  });

  test('leaving out policies that cannot concern the activity changes no decision', () => {
    fc.assert(
      fc.property(policies, circumstances, (rows, changes) => {
        const all = decide(input(rows, changes), { listAll: true });
        const some = decide(input(rows, changes), { listAll: false });
        const { evaluations: _all, unconcernedCount: _none, ...whole } = all;
        const { evaluations, unconcernedCount, ...part } = some;
        expect(part).toEqual(whole);
        expect(
          all.evaluations.filter(({ policyId }) => evaluations.some((kept) => kept.policyId === policyId)),
        ).toEqual(evaluations);
        expect(evaluations.length + unconcernedCount).toBe(all.reason === 'ROOT_QUORUM' ? 0 : rows.length);
      }),
      { numRuns: 1_500 },
    );
  });

  test('watching a decision does not change it', () => {
    fc.assert(
      fc.property(policies, circumstances, (rows, changes) => {
        const traced = decide(input(rows, changes), { trace: true });
        const evaluations = traced.evaluations.map(({ trace: _trace, ...evaluation }) => evaluation);
        expect({ ...traced, evaluations }).toEqual(decide(input(rows, changes)));
      }),
      { numRuns: 500 },
    );
  });

  test('one more denial never turns a denial into an allowance', () => {
    fc.assert(
      fc.property(policies, circumstances, conditions, (rows, changes, condition) => {
        const before = decide(input(rows, changes)).outcome;
        const after = decide(input([...rows, deny('more', { condition })], changes)).outcome;
        if (before !== 'OUTCOME_ALLOW') expect(after).not.toBe('OUTCOME_ALLOW');
      }),
      { numRuns: 500 },
    );
  });

  test('a policy that does not apply changes nothing', () => {
    fc.assert(
      fc.property(
        policies,
        circumstances,
        fc.constantFrom('EFFECT_ALLOW' as const, 'EFFECT_DENY' as const),
        (rows, changes, effect) => {
          const before = decide(input(rows, changes));
          const after = decide(input([...rows, { id: 'idle', effect, condition: 'false' }], changes));
          expect([after.outcome, after.reason, after.decidingPolicyIds]).toEqual([
            before.outcome,
            before.reason,
            before.decidingPolicyIds,
          ]);
        },
      ),
      { numRuns: 500 },
    );
  });
});
