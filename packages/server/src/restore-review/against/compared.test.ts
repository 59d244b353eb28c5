import { expect, test } from 'vitest';
import { dataModel } from '../../domains.ts';
import { COMPARED, type ComparedColumn, NOT_COMPARED, shownValue } from './compared.ts';

test('every table of authority is compared, or says why it is not', () => {
  const known = new Set([...COMPARED.map(({ table }) => table as string), ...Object.keys(NOT_COMPARED)]);
  const authority = dataModel.tables.filter(({ integrity }) => integrity.kind === 'authority').map(({ name }) => name);
  expect(authority.filter((name) => !known.has(name))).toEqual([]);
});

test('a value that is no time is shown as it is stored', () => {
  const time: ComparedColumn = { column: 'expires_at_ms', called: 'expiry', shown: 'time' };
  expect(shownValue(time, 1_800_000_000_000)).toBe('2027-01-15T08:00:00.000Z');
  expect(shownValue(time, Number.MAX_SAFE_INTEGER)).toBe('9007199254740991');
  expect(shownValue(time, 'soon')).toBe('soon');
});
