import { describe, expect, it } from 'vitest';
import { changedMeanwhile, draftValue, rebased, withChange } from './draft.ts';

const BEFORE = { name: 'Pay', limit: '1000', notes: '' };

describe('a draft', () => {
  it('keeps only what was changed, so that a change of somebody else shows through', () => {
    const draft = withChange(undefined, BEFORE, { notes: 'mine' });
    expect(draft?.changes).toEqual({ notes: 'mine' });
    expect(draftValue(draft, { ...BEFORE, limit: '5' })).toEqual({ name: 'Pay', limit: '5', notes: 'mine' });
  });

  it('is gone once nothing differs', () => {
    const draft = withChange(undefined, BEFORE, { notes: 'mine' });
    expect(withChange(draft, BEFORE, { notes: '' })).toBeUndefined();
    const listed = { rules: [{ cidr: '::1' }] };
    expect(withChange(undefined, listed, { rules: [{ cidr: '::1' }] })).toBeUndefined();
  });

  it('knows what somebody else changed since it began', () => {
    const draft = withChange(undefined, BEFORE, { limit: '2000' });
    expect(changedMeanwhile(draft, BEFORE)).toEqual([]);
    expect(changedMeanwhile(draft, { ...BEFORE, limit: '5', notes: 'theirs' })).toEqual(['limit', 'notes']);
    expect(changedMeanwhile(undefined, BEFORE)).toEqual([]);
  });

  it('goes on from what is stored, with the one change or the other', () => {
    const draft = withChange(withChange(undefined, BEFORE, { limit: '2000' }), BEFORE, { name: 'Pay more' });
    const now = { ...BEFORE, limit: '5' };
    const mine = rebased(draft, now, 'mine');
    expect(draftValue(mine, now)).toEqual({ name: 'Pay more', limit: '2000', notes: '' });
    expect(changedMeanwhile(mine, now)).toEqual([]);
    const theirs = rebased(draft, now, 'theirs');
    expect(draftValue(theirs, now)).toEqual({ name: 'Pay more', limit: '5', notes: '' });
    expect(changedMeanwhile(theirs, now)).toEqual([]);
    expect(rebased(withChange(undefined, BEFORE, { limit: '2000' }), now, 'theirs')).toBeUndefined();
  });
});
