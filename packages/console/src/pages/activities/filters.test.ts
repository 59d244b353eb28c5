import { describe, expect, test } from 'vitest';
import { parametersOf, readActivitySearch } from './filters.ts';

describe('filters in the address', () => {
  test('what fits is taken', () => {
    const search = {
      type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
      status: 'ACTIVITY_STATUS_REJECTED',
      user: '01a1dee7-bfcf-7059-b6fa-0a075f99508c',
      from: '2026-11-16',
      to: '2026-11-17',
    };
    expect(readActivitySearch(search)).toEqual(search);
  });

  test.each([
    ['a type', { type: '<script>' }],
    ['a state', { status: 'ANY' }],
    ['a user', { user: 'me' }],
    ['a day', { from: 'yesterday' }],
    ['a list', { type: ['ACTIVITY_TYPE_X'] }],
  ])('%s that does not fit is left out', (_, search) => {
    expect(readActivitySearch(search)).toEqual({});
  });

  test('both days are included', () => {
    const { createdAfterMs, createdBeforeMs } = parametersOf({ from: '2026-11-16', to: '2026-11-16' });
    expect(Number(createdBeforeMs) - Number(createdAfterMs)).toBe(24 * 3_600_000);
    expect(new Date(Number(createdAfterMs)).getHours()).toBe(0);
  });
});
