import { describe, expect, it } from 'vitest';
import { draftOf, isSame, lineAndColumn, NEW, toCreate, toUpdate } from './draft.ts';

const AT = { seconds: '0', nanos: '0' };
const stored = {
  policyId: 'p1',
  policyName: 'Pay',
  effect: 'EFFECT_ALLOW' as const,
  condition: `activity.kind == 'SIGN_TRANSACTION' && wallet.id == 'a && b' && eth.tx.value <= 5`,
  consensus: 'approvers.count() >= 1',
  notes: '',
  createdAt: AT,
  updatedAt: AT,
};

describe('the draft of a policy', () => {
  it('shows a long condition with a line for each part, and changes nothing by that', () => {
    const draft = draftOf(stored);
    expect(draft.condition).toBe("activity.kind == 'SIGN_TRANSACTION'\n&& wallet.id == 'a && b'\n&& eth.tx.value <= 5");
    expect(isSame(draft, draftOf(stored))).toBe(true);
    expect(toUpdate('p1', draft, draftOf(stored))).toEqual({ policyId: 'p1' });
  });

  it('sends only what differs, and a cleared expression as empty', () => {
    const before = draftOf({ ...stored, time: "CronSpan('0 9 * * 1-5', '8h')" });
    expect(toUpdate('p1', { ...before, effect: 'EFFECT_DENY', time: ' ' }, before)).toEqual({
      policyId: 'p1',
      policyEffect: 'EFFECT_DENY',
      time: '',
    });
  });

  it('creates without what is empty', () => {
    expect(toCreate({ ...NEW, policyName: ' Pay ', condition: 'true' })).toEqual({
      policyName: 'Pay',
      effect: 'EFFECT_ALLOW',
      condition: 'true',
      notes: '',
    });
  });

  it('counts lines and columns from 1', () => {
    expect(lineAndColumn('a\nbc', 3)).toEqual({ line: 2, column: 2 });
    expect(lineAndColumn('', 0)).toEqual({ line: 1, column: 1 });
  });
});
