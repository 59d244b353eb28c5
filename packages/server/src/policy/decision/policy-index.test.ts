import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { typeSetOf } from '../catalog/type-set.ts';
import {
  type Approval,
  createExpressionCache,
  type DecisionInput,
  decide,
  directoryNeeds,
  type Member,
  type Policy,
  type PolicyCredential,
  type PolicyReason,
  preparePolicies,
  voteStanding,
} from '../index.ts';
import type { ConditionFacts, Namespaces } from '../language/structs.ts';
import type { GovernedActivity } from './decision.ts';
import { indexPolicies } from './policy-index.ts';
import { presentNamespaces } from './policy-set.ts';

const cache = createExpressionCache();
const NOW_MS = Date.parse('2025-01-06T15:00:00Z');
const KEY_X = 'ab'.repeat(32);
const COMPRESSED = `02${KEY_X}`;
const UNCOMPRESSED = `04${KEY_X}${'00'.repeat(31)}02`;
const TO = '0xAa00000000000000000000000000000000000001';

const credentialOf = (userId: string): PolicyCredential => ({
  id: `key of ${userId}`,
  user_id: userId,
  type: 'CREDENTIAL_TYPE_API_KEY_P256',
  credential_id: '',
  public_key: '',
});
const member = (id: string, ...tags: readonly string[]): Member => ({
  id,
  tags,
  email: `${id}@example.com`,
  alias: id,
  credentials: [credentialOf(id)],
});
const approval = (userId: string): Approval => ({ userId, credential: credentialOf(userId) });
const members = [member('dave', 'ops'), member('carol', 'sec'), member('eve'), member('root')];

const transaction = (changes: object = {}): Namespaces => ({
  eth: {
    tx: {
      from: '0x00',
      to: TO.toLowerCase(),
      data: '0xa9059cbb0000',
      value: 5n,
      gas: 21_000n,
      gas_price: 1n,
      chain_id: 1n,
      nonce: 0n,
      max_fee_per_gas: 1n,
      max_priority_fee_per_gas: 1n,
      max_fee_per_blob_gas: 0n,
      type: 'TYPE_2',
      function_name: '',
      function_signature: '0xa9059cbb',
      ...changes,
    },
  },
  wallet: { id: 'w1', imported: false, exported: false, label: 'Main' },
});
const withCall = (args: ReadonlyMap<string, unknown>): Namespaces => transaction({ contract_call_args: args });
const withKey = (...tags: readonly string[]): Namespaces => ({
  private_key: { id: 'k1', tags, imported: false, exported: false, label: '' },
});

const signing = (...elements: readonly Namespaces[]): GovernedActivity => ({
  governedBy: 'policy',
  type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
  kind: 'SIGN_TRANSACTION',
  resource: 'PRIVATE_KEY',
  action: 'SIGN',
  params: { type: 'TRANSACTION_TYPE_ETHEREUM' },
  elements,
});
const exporting: GovernedActivity = {
  governedBy: 'policy',
  type: 'ACTIVITY_TYPE_EXPORT_WALLET',
  kind: 'EXPORT_WALLET',
  resource: 'WALLET',
  action: 'EXPORT',
  params: { target_public_key: UNCOMPRESSED },
  elements: [{ wallet: { id: 'w1', imported: false, exported: false, label: 'Main' } }],
};

const input = (policies: readonly Policy[], changes: Partial<DecisionInput> = {}): DecisionInput => ({
  organization: { id: 'org', rootThreshold: 2, rootUserIds: ['root', 'r2'] },
  activity: signing(transaction()),
  policies: preparePolicies(policies, cache),
  members,
  approvals: [approval('dave')],
  phase: 'SUBMISSION',
  nowMs: NOW_MS,
  ...changes,
});

const some = (texts: Omit<Policy, 'id' | 'effect'>, effect: Policy['effect'] = 'EFFECT_ALLOW'): Policy => ({
  id: effect,
  effect,
  ...texts,
});

/** Whether a policy is looked at for a request. */
function isFound(policy: Policy, changes: Partial<DecisionInput> = {}): boolean {
  const { policies, activity, approvals } = input([policy], changes);
  const { type, kind, resource, action, params, elements } = activity as GovernedActivity;
  const conditions = elements.map(
    (namespaces): ConditionFacts => ({ ...namespaces, activity: { type, kind, resource, action, params } }),
  );
  const approvers = members.filter(({ id }) => approvals.some(({ userId }) => userId === id));
  const index = indexPolicies(policies.policies);
  return index.others.length > 0 || index.find(index.groups, { conditions, approvers }).length > 0;
}

/** These change no decision, and are no error. */
const IDLE: ReadonlySet<PolicyReason> = new Set<PolicyReason>([
  'CONDITION_FALSE',
  'TIME_INACTIVE',
  'APPROVER_NOT_INCLUDED',
  'CONSENSUS_NOT_MET',
]);

/** A decision by the index is the one by all policies, and leaves out only those that cannot concern it or are idle. */
function expectSame(rows: readonly Policy[], changes: Partial<DecisionInput>): void {
  const asked = input(rows, changes);
  const all = decide(asked, { listAll: true });
  const found = decide(asked, { listAll: false });
  const { evaluations: told, unconcernedCount: none, ...whole } = all;
  const { evaluations, unconcernedCount, ...part } = found;
  expect(part).toEqual(whole);
  const listed = new Set(evaluations.map(({ policyId }) => policyId));
  expect(evaluations).toEqual(told.filter(({ policyId }) => listed.has(policyId)));
  expect(none).toBe(0);
  expect(unconcernedCount).toBe(told.length - evaluations.length);
  if (told.length === 0) return;
  const activity = asked.activity as GovernedActivity;
  const concerned = asked.policies.concerned(typeSetOf(activity), presentNamespaces(activity.elements));
  for (const { policy } of concerned) {
    if (listed.has(policy.id)) continue;
    expect(IDLE).toContain(told.find(({ policyId }) => policyId === policy.id)?.reason);
  }
  // Where nothing allows it, everything that concerns it is told.
  if (found.reason === 'NO_POLICY_ALLOWS') expect(listed.size).toBe(concerned.length);
  expect(directoryNeeds(asked, { listAll: false })).toEqual(directoryNeeds(asked, { listAll: true }));
}

describe('a policy is left out', () => {
  test.each([
    ["wallet.id == 'w2'"],
    ["'w2' == wallet.id"],
    ["activity.kind == 'SIGN_TRANSACTION' && wallet.id == 'w2' && eth.tx.value <= 7"],
    ["wallet.id in ['w2', 'w3']"],
    ["['w2', 'w3'].contains(wallet.id)"],
    ["!(wallet.id != 'w2')"],
    ["wallet.id == 'w2' || wallet.id == 'w3'"],
    ["wallet.id == 'w2' || eth.tx.to == '0xbb'"],
    ["!(wallet.id != 'w2' || eth.tx.value > 3)"],
    ["eth.tx.to == '0xbb00000000000000000000000000000000000001' && wallet.imported"],
    ['eth.tx.chain_id == 5'],
    ['eth.tx.chain_id in [5, 6]'],
    ["eth.tx.data[0..10] == '0x095ea7b3'"],
    // What is not hex compares exactly, but may be looked at in any case.
    ["wallet.label == 'Other'"],
    ['false'],
  ])('%s', (condition) => {
    expect(isFound(some({ condition }))).toBe(false);
    expectSame([some({ condition }), some({ condition }, 'EFFECT_DENY')], {});
  });

  test.each([
    ["approvers.any(u, u.id == 'carol')"],
    ["approvers.any(u, u.id in ['carol', 'eve'])"],
    ["approvers.any(u, u.tags.contains('sec'))"],
    ["approvers.any(u, u.id == 'carol') && approvers.any(u, u.id == 'eve')"],
    ["approvers.any(u, u.id == 'carol') || approvers.filter(u, 'sec' in u.tags).count() >= 1"],
    ["2 <= approvers.filter(u, u.tags.contains('sec')).count()"],
    ["approvers.any(u, u.email == 'carol@example.com' && u.id != 'x')"],
  ])('by its consensus %s', (consensus) => {
    expect(isFound(some({ consensus }))).toBe(false);
    expect(isFound(some({ consensus }), { approvals: [approval('carol')] })).toBe(true);
    expectSame([some({ consensus }), some({ consensus }, 'EFFECT_DENY')], {});
  });
});

describe('a policy is looked at', () => {
  test.each([
    // Its comparison holds, in whatever spelling.
    ["wallet.id == 'w1'"],
    [`eth.tx.to == '${TO}'`],
    [`eth.tx.to == '${TO.toUpperCase().replace('0X', '0x')}'`],
    [`eth.tx.to in ['0xbb', '${TO}']`],
    ['eth.tx.chain_id == 1'],
    ["eth.tx.data[0..10] == '0xA9059CBB'"],
    // It requires no comparison.
    ["wallet.id != 'w2'"],
    ["!(wallet.id == 'w2')"],
    ["wallet.id == 'w2' || eth.tx.value > 3"],
    ["!(wallet.id == 'w2' && eth.tx.value > 3)"],
    ["(wallet.id == 'w2') == false"],
    ['eth.tx.value > 100'],
    // It may fail, which has to be told, or to count.
    ["wallet.id == 'w2' && private_key.id == 'k'"],
    ["wallet.id == 'w2' && activity.params.wallet_id == 'w'"],
    ["wallet.id == 'w2' && eth.tx.data[0..100] == '0x'"],
    ["wallet.id == 'w2' && eth.tx.contract_call_args['to'] == '0xbb'"],
    ["wallet.id == 'w2' && [1].all(x, x > 0)"],
    ["wallet.id == 'w2' && eth.tx.to == eth.tx.from"],
    ["wallet.id == 'w2' && eth.tx.data.count() > 3"],
  ])('%s', (condition) => {
    expect(isFound(some({ condition }))).toBe(true);
    expectSame([some({ condition }), some({ condition }, 'EFFECT_DENY')], {});
  });

  test.each([
    // Everybody counts, or whoever is not named.
    ['approvers.count() >= 2'],
    ["approvers.all(u, u.id == 'carol')"],
    ["!approvers.any(u, u.id == 'carol')"],
    ["approvers.any(u, u.id != 'carol')"],
    ["approvers.any(u, u.id == 'carol') || approvers.count() > 1"],
    ["approvers.filter(u, u.id == 'carol').count() >= 0"],
    ["approvers.filter(u, u.id == 'carol').count() > -1"],
    ["approvers.filter(u, u.id == 'carol').count() == 0"],
    ["approvers.filter(u, u.id == 'carol').count() <= 1"],
    ["approvers.any(u, u.id == 'carol') && approvers.any(u, u.id == 'dave')"],
    ['approvers.any(u, credentials.any(c, c.user_id == u.id))'],
    ["approvers.any(u, approvers.any(v, v.id == 'carol'))"],
    ["credentials.any(c, c.user_id == 'carol')"],
    ["approvers.any(u, u.tags[3] == 'sec')"],
  ])('by its consensus %s', (consensus) => {
    expect(isFound(some({ consensus }))).toBe(true);
    expectSame([some({ consensus }), some({ consensus }, 'EFFECT_DENY')], {});
  });

  test('when its time may fail, or its text is no longer valid', () => {
    const condition = "wallet.id == 'w2'";
    expect(isFound(some({ condition, time: "time.now > Timestamp('2025-01-01T00:00:00Z')" }))).toBe(false);
    expect(isFound(some({ condition, time: "'a'[1] == ''" }))).toBe(true);
    expect(isFound(some({ condition, consensus: 'x.y' }))).toBe(true);
  });

  test('when one of several elements matches, or lacks what it reads', () => {
    const condition = "wallet.id == 'w2' && eth.tx.value < 9";
    const other: Namespaces = { ...transaction(), wallet: { ...transaction().wallet, id: 'w2' } as never };
    expect(isFound(some({ condition }), { activity: signing(transaction(), transaction()) })).toBe(false);
    expect(isFound(some({ condition }), { activity: signing(transaction(), other) })).toBe(true);
    expect(isFound(some({ condition }), { activity: signing(transaction(), withKey()) })).toBe(true);
  });

  test('when a number that it reads is out of range, so that a denial denies', () => {
    const policy = some({ condition: "wallet.id == 'w2' && eth.tx.value < 9" }, 'EFFECT_DENY');
    const activity = signing(transaction({ value: 2n ** 127n }));
    expect(isFound(policy, { activity })).toBe(true);
    expect(decide(input([policy, { ...some({}), id: 'any' }], { activity }), { listAll: false }).outcome).toBe(
      'OUTCOME_DENY_EXPLICIT',
    );
  });

  test('when a decoded argument turns out to be no text', () => {
    const policy = some({ condition: "eth.tx.contract_call_args['to'] == '0xbb'" });
    const found = (value: unknown) => isFound(policy, { activity: signing(withCall(new Map([['to', value]]))) });
    expect(found({ kind: 'hex', text: '0xcc' })).toBe(false);
    expect(found({ kind: 'hex', text: '0xBB' })).toBe(true);
    expect(found({ kind: 'uint', value: 187n })).toBe(true);
    expect(found([])).toBe(true);
  });

  test('by the tags that a key or an approver has at that moment', () => {
    const byKey = some({ condition: "private_key.tags.contains('cold')" });
    expect(isFound(byKey, { activity: signing(withKey('hot')) })).toBe(false);
    expect(isFound(byKey, { activity: signing(withKey('hot', 'cold')) })).toBe(true);
    // So many that a comparison with each might take too many steps.
    expect(isFound(byKey, { activity: signing(withKey(...new Array<string>(65).fill('hot'))) })).toBe(true);
    const policies = preparePolicies([some({ consensus: "approvers.any(u, u.tags.contains('sec'))" })], cache);
    const outcome = (...tags: readonly string[]) =>
      decide({ ...input([]), policies, members: [member('dave', ...tags)] }, { listAll: false }).outcome;
    expect([outcome('ops'), outcome('sec'), outcome()]).toEqual([
      'OUTCOME_DENY_IMPLICIT',
      'OUTCOME_ALLOW',
      'OUTCOME_DENY_IMPLICIT',
    ]);
  });

  test('by a public key in any of its spellings', () => {
    const found = (key: string) =>
      isFound(some({ condition: `activity.params.target_public_key == '${key}'` }), { activity: exporting });
    expect([COMPRESSED, COMPRESSED.toUpperCase(), UNCOMPRESSED].map(found)).toEqual([true, true, true]);
    expect(found(`03${KEY_X}`)).toBe(false);
  });
});

test('policies beyond what the index holds are looked at', () => {
  const rows = ['w2', 'w3', 'w4'].map((id) => ({ ...some({ condition: `wallet.id == '${id}'` }), id }));
  const { policies } = preparePolicies(rows, cache);
  expect(indexPolicies(policies).others).toEqual([]);
  expect(indexPolicies(policies, 2).others).toEqual([2]);
  // Long lists of short texts do not crowd out what compiled policies may take.
  const list = Array.from({ length: 60 }, (_, index) => `'${index}'`).join(',');
  const many = Array.from({ length: 100 }, (_, index) => ({
    ...some({ condition: `wallet.label == '${index}' && wallet.id in [${list}]` }),
    id: String(index),
  }));
  expect(indexPolicies(preparePolicies(many, cache).policies).others.length).toBeGreaterThan(50);
});

test('many policies about other wallets are counted, and told only where nothing allows the request', () => {
  const others = Array.from({ length: 200 }, (_, index) => ({
    ...some({ condition: `wallet.id == 'other${index}'` }, index % 2 === 0 ? 'EFFECT_ALLOW' : 'EFFECT_DENY'),
    id: `other${index}`,
  }));
  const mine = { ...some({ condition: "wallet.id == 'w1'" }), id: 'mine' };
  const allowed = decide(input([...others, mine]));
  expect(allowed).toMatchObject({ outcome: 'OUTCOME_ALLOW', decidingPolicyIds: ['mine'], unconcernedCount: 200 });
  expect(allowed.evaluations.map(({ policyId }) => policyId)).toEqual(['mine']);
  const denied = decide(input(others));
  expect(denied).toMatchObject({ outcome: 'OUTCOME_DENY_IMPLICIT', unconcernedCount: 0 });
  expect(denied.evaluations).toHaveLength(200);
});

test('nothing is looked up where what is left out could cost too much', () => {
  let reads = 0;
  // Every policy reads its own piece of a text, in a hundred elements.
  const policies = Array.from({ length: 200 }, (_, index) => ({
    ...some({
      condition: `eth.tx.data[${index}..${index + 900}] == 'x'`,
      consensus: "approvers.any(user, user.id == 'dave')",
    }),
    id: `p${index}`,
  }));
  const element = transaction();
  const counted = {
    ...element,
    eth: {
      tx: new Proxy((element.eth as { tx: object }).tx, {
        get: (target, key) => {
          if (key === 'data') reads += 1;
          return key === 'data' ? 'y'.repeat(2000) : Reflect.get(target, key);
        },
      }),
    },
  } as Namespaces;
  const elements = Array.from({ length: 100 }, () => counted);
  const { policies: set, activity } = input(policies, { activity: signing(...elements) });
  const { type, kind, resource, action, params } = activity as GovernedActivity;
  const conditions = elements.map(
    (one): ConditionFacts => ({ ...one, activity: { type, kind, resource, action, params } }),
  );
  const types = typeSetOf(activity as GovernedActivity);
  const present = presentNamespaces(elements);
  const sought = { conditions, approvers: [] };
  expect(set.matching(types, present, sought, () => false)).toBeUndefined();
  expect(reads).toBe(0);
  expect(set.matching(types, present, sought, () => true)).toBeDefined();
  expect(reads).toBeGreaterThan(0);
});

describe('properties', () => {
  const atoms = fc.constantFrom(
    'true',
    'false',
    "wallet.id == 'w1'",
    "wallet.id == 'w2'",
    "wallet.id != 'w1'",
    "'W1' == wallet.id",
    "wallet.id in ['w2', 'w1']",
    "['w2', 'w3'].contains(wallet.id)",
    'wallet.imported',
    "wallet.label == 'main'",
    `eth.tx.to == '${TO}'`,
    `eth.tx.to != '${TO}'`,
    "eth.tx.to in ['0xbb', '0xcc']",
    'eth.tx.value < 9',
    'eth.tx.value == 5',
    'eth.tx.chain_id in [5, 6]',
    'eth.tx.value > eth.tx.gas',
    "eth.tx.data[0..10] == '0xA9059CBB'",
    "eth.tx.data[0..10] != '0x095ea7b3'",
    "eth.tx.contract_call_args['to'] == '0xBB'",
    "eth.tx.contract_call_args['to'] in ['0xbb', '1']",
    "private_key.id == 'k1'",
    "private_key.tags.contains('cold')",
    "activity.kind == 'EXPORT_WALLET'",
    "activity.action in ['SIGN']",
    `activity.params.target_public_key == '${COMPRESSED}'`,
    "activity.params.type == 'TRANSACTION_TYPE_ETHEREUM'",
    '[1, 2].all(x, x > 0)',
    "eth.tx.data[0..9] == '0x'",
  );
  const { expression: conditions } = fc.letrec<{ expression: string; deeper: string }>((tie) => ({
    expression: fc.oneof({ depthSize: 'small', withCrossShrink: true }, atoms, tie('deeper')),
    deeper: fc.oneof(
      tie('expression').map((inner) => `!(${inner})`),
      fc.array(tie('expression'), { minLength: 2, maxLength: 3 }).map((parts) => `(${parts.join(' && ')})`),
      fc.array(tie('expression'), { minLength: 2, maxLength: 3 }).map((parts) => `(${parts.join(' || ')})`),
      fc.tuple(tie('expression'), tie('expression')).map(([left, right]) => `((${left}) == (${right}))`),
    ),
  }));
  const clauses = fc.constantFrom(
    "approvers.any(u, u.id == 'dave')",
    "approvers.any(u, u.id == 'carol' && u.tags.contains('sec'))",
    "approvers.any(u, u.id in ['eve', 'Dave'])",
    "approvers.any(u, u.id != 'eve')",
    "approvers.filter(u, u.tags.contains('sec')).count() >= 1",
    "approvers.filter(u, u.tags.contains('sec')).count() < 1",
    "approvers.all(u, 'ops' in u.tags)",
    'approvers.count() >= 2',
    "credentials.any(c, c.user_id == 'carol')",
    "approvers.any(u, u.tags[1] == 'x')",
  );
  const consensuses = fc.oneof(
    fc.constant(undefined),
    clauses,
    fc.tuple(clauses, fc.constantFrom('&&', '||'), clauses).map((parts) => parts.join(' ')),
    clauses.map((clause) => `!(${clause})`),
  );
  const times = fc.constantFrom(
    undefined,
    undefined,
    "time.now > Timestamp('2025-01-01T00:00:00Z')",
    "time.now < Timestamp('2025-01-01T00:00:00Z')",
    "'a'[1] == ''",
  );
  const rows = fc
    .array(
      fc.record({
        effect: fc.constantFrom('EFFECT_ALLOW' as const, 'EFFECT_DENY' as const),
        condition: fc.option(conditions, { nil: undefined, freq: 8 }),
        consensus: consensuses,
        time: times,
      }),
      { minLength: 1, maxLength: 8 },
    )
    .map((list) => list.map((row, index): Policy => ({ id: `p${index}`, ...row })));
  const elements = fc.constantFrom(
    transaction(),
    transaction({ value: 2n ** 127n }),
    transaction({ to: '0xBB', data: '0x' }),
    withCall(new Map<string, unknown>([['to', { kind: 'hex', text: '0xbb' }]])),
    withCall(new Map<string, unknown>([['to', { kind: 'uint', value: 1n }]])),
    withKey('cold'),
    withKey(...new Array<string>(70).fill('hot')),
    { ...transaction(), ...withKey() },
    {},
  );
  const circumstances = fc.record({
    activity: fc.oneof(
      { weight: 4, arbitrary: fc.array(elements, { minLength: 1, maxLength: 3 }).map((list) => signing(...list)) },
      { weight: 1, arbitrary: fc.constant(exporting) },
    ),
    approvals: fc
      .subarray(['dave', 'carol', 'eve', 'root'], { minLength: 1, maxLength: 3 })
      .map((users) => users.map(approval)),
    phase: fc.constantFrom('SUBMISSION' as const, 'VOTE' as const),
  });

  test('decisions by the index are those by all policies', () => {
    fc.assert(fc.property(rows, circumstances, expectSame), { numRuns: 600 });
  });

  test('so is what a vote counts for', () => {
    // Idle policies bring the rows beyond the number up to which all are evaluated.
    const idle = Array.from({ length: 101 }, (_, index) => ({ ...some({ condition: 'false' }), id: `idle${index}` }));
    fc.assert(
      fc.property(rows, circumstances, (policies, { phase: _phase, ...changes }) => {
        const vote = approval('eve');
        const few = voteStanding(input(policies, changes), vote);
        expect(voteStanding(input([...idle, ...policies], changes), vote)).toEqual(few);
      }),
      { numRuns: 200 },
    );
  });
});
