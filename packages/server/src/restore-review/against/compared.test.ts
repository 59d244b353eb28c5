import { expect, test } from 'vitest';
import { dataModel } from '../../domains.ts';
import { COMPARED, NOT_COMPARED } from './compared.ts';

test('every table of authority is compared, or says why it is not', () => {
  const known = new Set([...COMPARED.map(({ table }) => table as string), ...Object.keys(NOT_COMPARED)]);
  const authority = dataModel.tables.filter(({ integrity }) => integrity.kind === 'authority').map(({ name }) => name);
  expect(authority.filter((name) => !known.has(name))).toEqual([]);
});
