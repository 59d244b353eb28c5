import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { UserId } from '../lib/ids.ts';
import { type DecisionFacts, decide, explainDenial, mayVote } from './decide.ts';

const [a, b, c, plain] = ['a', 'b', 'c', 'plain'] as UserId[] as [UserId, UserId, UserId, UserId];
const ROOTS = [a, b, c];

const facts = (extra: Partial<DecisionFacts>): DecisionFacts => ({
  governedBy: 'policy',
  rootThreshold: 2,
  rootUserIds: ROOTS,
  approvers: [a],
  managesCredentialsOf: undefined,
  ...extra,
});
const QUORUM = { outcome: 'ALLOW', reason: 'ROOT_QUORUM' };
const OWN = { outcome: 'ALLOW', reason: 'OWN_CREDENTIALS' };
const waits = (required: number, given: number) => ({ outcome: 'NEEDS_APPROVAL', required, given });
const denied = (reason: string) => ({ outcome: 'DENY', reason });

describe('the decision procedure', () => {
  test.each<[string, Partial<DecisionFacts>, object]>([
    ['a root alone at a threshold of one', { rootThreshold: 1 }, QUORUM],
    ['a root alone at a threshold of two', {}, waits(2, 1)],
    ['two roots at a threshold of two', { approvers: [a, b] }, QUORUM],
    ['more roots than needed', { approvers: [a, b, c] }, QUORUM],
    ['two roots at a threshold of three', { rootThreshold: 3, approvers: [a, b] }, waits(3, 2)],
    ['a user outside the quorum', { approvers: [plain] }, denied('NO_POLICY_ALLOWS')],
    ['one root and one outsider', { approvers: [a, plain] }, denied('NO_POLICY_ALLOWS')],
    ['an outsider does not spoil a met quorum', { approvers: [plain, a, b] }, QUORUM],
    ['nobody', { approvers: [] }, denied('NO_POLICY_ALLOWS')],
    ['a root for itself', { managesCredentialsOf: a }, OWN],
    ['a user for itself', { approvers: [plain], managesCredentialsOf: plain }, OWN],
    ['a user for somebody else', { approvers: [plain], managesCredentialsOf: a }, denied('NO_POLICY_ALLOWS')],
    ['a root for somebody else', { managesCredentialsOf: plain }, waits(2, 1)],
    [
      'the owner approves what another root proposed',
      { rootThreshold: 3, approvers: [a, b], managesCredentialsOf: b },
      OWN,
    ],
    ['a met quorum comes before own credentials', { rootThreshold: 1, managesCredentialsOf: a }, QUORUM],
    ['root-quorum only, a root', { governedBy: 'root-quorum' }, waits(2, 1)],
    ['root-quorum only, enough roots', { governedBy: 'root-quorum', approvers: [a, b] }, QUORUM],
    ['root-quorum only, an outsider', { governedBy: 'root-quorum', approvers: [plain] }, denied('ROOT_QUORUM_ONLY')],
    [
      'root-quorum only, with an outsider',
      { governedBy: 'root-quorum', approvers: [a, plain] },
      denied('ROOT_QUORUM_ONLY'),
    ],
    ['root-quorum only, nobody', { governedBy: 'root-quorum', approvers: [] }, denied('ROOT_QUORUM_ONLY')],
    [
      'root-quorum only is not own credentials',
      { governedBy: 'root-quorum', approvers: [plain], managesCredentialsOf: plain },
      denied('ROOT_QUORUM_ONLY'),
    ],
    ['somebody who has left the quorum', { rootUserIds: [b, c], approvers: [a, b] }, denied('NO_POLICY_ALLOWS')],
  ])('%s', (_what, extra, expected) => expect(decide(facts(extra))).toEqual(expected));

  const members = fc.uniqueArray(fc.constantFrom(...ROOTS, plain), { maxLength: 4 });

  test('the order of approvals does not matter', () => {
    fc.assert(
      fc.property(members, fc.integer({ min: 1, max: 3 }), fc.boolean(), (approvers, rootThreshold, quorumOnly) => {
        const governedBy = quorumOnly ? 'root-quorum' : 'policy';
        const one = decide(facts({ approvers, rootThreshold, governedBy }));
        expect(decide(facts({ approvers: [...approvers].reverse(), rootThreshold, governedBy }))).toEqual(one);
      }),
    );
  });

  test('without own credentials nothing is allowed below the threshold', () => {
    fc.assert(
      fc.property(members, fc.integer({ min: 1, max: 3 }), (approvers, rootThreshold) => {
        const roots = approvers.filter((userId) => ROOTS.includes(userId)).length;
        const { outcome } = decide(facts({ approvers, rootThreshold }));
        expect(outcome === 'ALLOW').toBe(roots >= rootThreshold);
      }),
    );
  });

  test('another root’s approval never takes an allowance away', () => {
    fc.assert(
      fc.property(
        members,
        fc.integer({ min: 1, max: 3 }),
        fc.constantFrom(...ROOTS),
        (approvers, rootThreshold, more) => {
          const before = decide(facts({ approvers, rootThreshold })).outcome;
          const after = decide(facts({ approvers: [...new Set([...approvers, more])], rootThreshold })).outcome;
          if (before === 'ALLOW') expect(after).toBe('ALLOW');
        },
      ),
    );
  });
});

test('only members of the quorum may vote', () => {
  expect(mayVote(ROOTS, a)).toBe(true);
  expect(mayVote(ROOTS, plain)).toBe(false);
  expect(mayVote([], a)).toBe(false);
});

test('a denial is explained in the documented words', () => {
  expect(explainDenial('NO_POLICY_ALLOWS')).toBe('No policies evaluated to outcome: Allow');
  expect(explainDenial('ROOT_QUORUM_ONLY')).toBe('Only the root quorum can take this action');
});
