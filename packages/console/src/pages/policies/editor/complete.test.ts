import { describe, expect, it } from 'vitest';
import { suggest } from './complete.ts';

const labels = (before: string, kind: 'condition' | 'consensus' | 'time' = 'condition'): readonly string[] =>
  suggest(before, kind)?.suggestions.map(({ label }) => label) ?? [];

describe('suggestions in a policy', () => {
  it('offers fields by their whole path, from where it begins', () => {
    const found = suggest('wallet.id == 1 && eth.tx.valu', 'condition');
    expect(found?.from).toBe('wallet.id == 1 && '.length);
    expect(found?.suggestions).toContainEqual(
      expect.objectContaining({ label: 'eth.tx.value', detail: 'number', kind: 'field' }),
    );
    expect(found?.suggestions.some(({ label }) => label.startsWith('solana'))).toBe(false);
  });

  it('offers only what an expression can read', () => {
    expect(labels('', 'consensus')).toContain('approvers');
    expect(labels('', 'consensus')).not.toContain('eth.tx');
    expect(labels('Cron', 'time')).toContain('CronSpan');
    expect(labels('Cron', 'condition')).not.toContain('CronSpan');
  });

  it('knows the elements of a list by the name that a function gives them', () => {
    expect(labels('approvers.any(user, user.', 'consensus')).toContain('user.tags');
    expect(labels('approvers.any(us', 'consensus')).not.toContain('user');
    expect(labels('approvers.any(user, us', 'consensus')).toContain('user');
  });

  it('offers functions of a list after its dot', () => {
    expect(labels('approvers.', 'consensus')).toEqual(expect.arrayContaining(['any', 'filter']));
    expect(labels('approvers.any(user, user.tags.', 'consensus')).toContain('contains');
    expect(labels('eth.tx.value.')).not.toContain('any');
  });

  it('offers the values that a field can have, and nothing in other text', () => {
    expect(labels("activity.kind == 'SIGN_TR")).toContain('SIGN_TRANSACTION');
    expect(labels("activity.resource in ['WALLET', 'PRI")).toContain('PRIVATE_KEY');
    expect(labels("wallet.id == 'eth.")).toEqual([]);
  });
});
