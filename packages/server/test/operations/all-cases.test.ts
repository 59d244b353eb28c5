import { expect, test } from 'vitest';
import { domains } from '../../src/domains.ts';
import type { Operation } from '../../src/engine/define.ts';
import { casesByDomain } from './all-cases.ts';

const partsOf = ({ kind }: Operation): string[] => (kind === 'vote' ? ['hostile'] : [kind, 'hostile']);

test.each(domains.map((domain) => [domain.name, domain] as const))(
  '%s has cases of each of its operations and of no others',
  (name, { operations }) => {
    const told = Object.entries(casesByDomain.get(name) ?? {}).map(([operation, cases]) => [
      operation,
      ['activity', 'query', 'hostile'].filter((part) => part in cases),
    ]);
    const wanted = operations.map((operation) => [operation.name, partsOf(operation)]);
    expect(Object.fromEntries(told)).toEqual(Object.fromEntries(wanted));
  },
);

test('an operation has its cases in one domain', () => {
  const names = [...casesByDomain.values()].flatMap((cases) => Object.keys(cases));
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});
