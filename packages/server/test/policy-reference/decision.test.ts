// Points of the decision procedure that the conformance cases leave out, and properties that every decision has.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decisionScenarios } from './generators/scenarios.ts';
import { type DecisionInput, decide, mayVote } from './reference/decision.ts';

const base: DecisionInput = {
  org: {
    users: ['alice', 'bob', 'carol', 'r1', 'r2'].map((id) => ({ id, tags: id === 'carol' ? [] : ['ops'] })),
    root: { threshold: 2, userIds: ['r1', 'r2'] },
  },
  policies: [],
  activity: { type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2', kind: 'SIGN_TRANSACTION', context: { wallet: { id: 'w1' } } },
  now: '2025-01-06T15:00:00Z',
  votes: [{ user: 'alice' }],
};

const transaction = (value: string): { eth: { tx: { value: string } } } => ({ eth: { tx: { value } } });
const TOO_LARGE = String(2n ** 127n);
const LONG_LIST = `[${Array(400).fill('1').join()}]`;

test.each([
  ['R_INT_RANGE', 'EFFECT_DENY', 'OUTCOME_DENY_EXPLICIT', 'eth.tx.value > 1'],
  ['R_INT_RANGE', 'EFFECT_ALLOW', 'OUTCOME_ERROR', 'eth.tx.value > 1'],
  ['R_LIMIT', 'EFFECT_DENY', 'OUTCOME_DENY_EXPLICIT', `${LONG_LIST}.any(x, ${LONG_LIST}.any(y, x == y))`],
  ['R_MISSING_FIELD', 'EFFECT_DENY', 'OUTCOME_ERROR', "private_key.id == 'k1'"],
  ['R_INDEX', 'EFFECT_DENY', 'OUTCOME_ERROR', "'abc'[3] == ''"],
  ['R_HEX', 'EFFECT_DENY', 'OUTCOME_ERROR', "''.hex_to_uint() == 0"],
] as const)('%s makes a policy of %s end in %s', (_code, effect, expected, condition) => {
  const context = transaction(TOO_LARGE);
  const policies = [{ id: 'p', effect, condition }];
  expect(decide({ ...base, policies, activity: { ...base.activity, context } }).perPolicy).toEqual({ p: expected });
});

test('each element may be allowed by another policy, and the worst outcome of each policy is kept', () => {
  const activity = { ...base.activity, elements: [transaction('5'), transaction('9')] };
  const five = { id: 'five', effect: 'EFFECT_ALLOW', condition: 'eth.tx.value == 5' } as const;
  const nine = { id: 'nine', effect: 'EFFECT_ALLOW', condition: 'eth.tx.value == 9' } as const;
  const deny = { id: 'deny', effect: 'EFFECT_DENY', condition: 'eth.tx.value == 9' } as const;
  const perPolicy = { five: 'OUTCOME_DENY_IMPLICIT', nine: 'OUTCOME_DENY_IMPLICIT' };
  expect(decide({ ...base, activity, policies: [five, nine] })).toEqual({ final: 'OUTCOME_ALLOW', perPolicy });
  expect(decide({ ...base, activity, policies: [five] }).final).toBe('OUTCOME_DENY_IMPLICIT');
  expect(decide({ ...base, activity, policies: [five, nine, deny] }).final).toBe('OUTCOME_DENY_EXPLICIT');
});

test('a later vote never denies implicitly', () => {
  expect(decide(base).final).toBe('OUTCOME_DENY_IMPLICIT');
  const votes = [{ user: 'alice' }, { user: 'bob' }];
  expect(decide({ ...base, votes }).final).toBe('OUTCOME_REQUIRES_CONSENSUS');
});

test('an unmet MFA policy is asked for only when the request would go on', () => {
  const policies = [{ id: 'p', effect: 'EFFECT_ALLOW' }] as const;
  expect(decide({ ...base, policies, mfaSatisfied: false }).final).toBe('OUTCOME_REQUIRES_AUTHENTICATORS');
  expect(decide({ ...base, mfaSatisfied: false }).final).toBe('OUTCOME_DENY_IMPLICIT');
});

test('a vote is accepted from those whom a pending consensus includes, and from root members', () => {
  const consensus = "approvers.filter(u, u.tags.contains('ops')).count() >= 2";
  const input: DecisionInput = { ...base, policies: [{ id: 'p', effect: 'EFFECT_ALLOW', consensus }] };
  expect(decide(input).final).toBe('OUTCOME_REQUIRES_CONSENSUS');
  expect(['bob', 'carol', 'r1'].map((user) => mayVote(input, { user }))).toEqual([true, false, true]);
  const rootOnly = { ...input, activity: { type: 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM' }, votes: [{ user: 'r1' }] };
  expect(['bob', 'r2'].map((user) => mayVote(rootOnly, { user }))).toEqual([false, true]);
});

test('scenarios reach every final outcome and every outcome of a policy', () => {
  const decisions = fc.sample(decisionScenarios({ monotone: false }), { numRuns: 700, seed: 7 }).map(decide);
  expect(new Set(decisions.map(({ final }) => final)).size).toBe(4);
  expect(new Set(decisions.flatMap(({ perPolicy }) => Object.values(perPolicy))).size).toBe(6);
});

const scenarios = fc.boolean().chain((monotone) => decisionScenarios({ monotone }));

test('a policy that does not apply changes no decision', () => {
  fc.assert(
    fc.property(scenarios, fc.constantFrom('EFFECT_ALLOW' as const, 'EFFECT_DENY' as const), (input, effect) => {
      const policies = [...input.policies, { id: 'extra', effect, condition: 'false' }];
      expect(decide({ ...input, policies }).final).toBe(decide(input).final);
    }),
    { numRuns: 300 },
  );
});

test('a further DENY never turns a denial into anything but a denial', () => {
  fc.assert(
    fc.property(scenarios, (input) => {
      const { final } = decide(input);
      const policies = [...input.policies, { id: 'extra', effect: 'EFFECT_DENY' as const }];
      const after = decide({ ...input, policies }).final;
      if (final.startsWith('OUTCOME_DENY')) expect(after).toMatch(/^OUTCOME_DENY/);
      expect([final, 'OUTCOME_DENY_EXPLICIT', 'OUTCOME_REQUIRES_CONSENSUS']).toContain(after);
    }),
    { numRuns: 300 },
  );
});
