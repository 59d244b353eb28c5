// The generators keep their promises: well typed is accepted, one fault gives its code, and everything is reached.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { faultyExpressions } from './generators/faults.ts';
import {
  conditionCases,
  consensusCases,
  damagedCases,
  type LanguageCase,
  languageCases,
  mutatedCases,
  overBudgetCases,
  timeCases,
} from './generators/language-cases.ts';
import type { RuntimeCode, StaticCode } from './reference/codes.ts';
import { check, verdict } from './reference/language.ts';

const RUNTIME_CODES: readonly RuntimeCode[] = [
  'R_MISSING_FIELD',
  'R_MISSING_KEY',
  'R_INDEX',
  'R_TYPE',
  'R_INT_RANGE',
  'R_HEX',
];

const STATIC_CODES: readonly StaticCode[] = [
  'E_SYNTAX',
  'E_UNKNOWN_KEYWORD',
  'E_UNKNOWN_FIELD',
  'E_UNKNOWN_FUNCTION',
  'E_ARITY',
  'E_TYPE',
  'E_NOT_BOOL',
  'E_INT_RANGE',
  'E_TIMESTAMP',
  'E_CRON',
  'E_DURATION',
  'E_TIMEZONE',
  'E_LIMIT',
];

const verdictOf = ({ expression, field, context }: LanguageCase): string => verdict(expression, field, context);

/** How often each verdict comes up; the seed makes the answer the same every time. */
function tally(cases: fc.Arbitrary<LanguageCase>, numRuns = 2000): Map<string, number> {
  const counts = new Map<string, number>();
  for (const one of fc.sample(cases, { numRuns, seed: 11 })) {
    const word = verdictOf(one);
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts;
}

test('what is generated as well typed is accepted', () => {
  fc.assert(
    fc.property(languageCases(), ({ expression, field }) => {
      expect(check(expression, field)).toMatchObject({ ok: true });
    }),
    { numRuns: 500 },
  );
});

test('a condition is true, false and every run-time error often enough', () => {
  const counts = tally(conditionCases());
  expect([...counts.keys()].toSorted()).toEqual(['true', 'false', ...RUNTIME_CODES].toSorted());
  expect(Math.min(counts.get('true')!, counts.get('false')!)).toBeGreaterThan(200);
});

test('a consensus is true and false often enough', () => {
  const counts = tally(consensusCases());
  expect(Math.min(counts.get('true')!, counts.get('false')!)).toBeGreaterThan(200);
});

test('a time expression is true or false and never fails', () => {
  const counts = tally(timeCases(), 500);
  expect([...counts.keys()].toSorted()).toEqual(['false', 'true']);
  expect(Math.min(...counts.values())).toBeGreaterThan(100);
});

test('an expression with one fault is refused with the code of that fault', () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(faultyExpressions(), ({ expression, field, code }) => {
      seen.add(code);
      const result = check(expression, field);
      expect(result.ok ? [] : [...new Set(result.codes)]).toEqual([code]);
    }),
    { numRuns: 2000, seed: 13 },
  );
  expect([...seen].toSorted()).toEqual(STATIC_CODES.toSorted());
});

test('damaged text is refused or still gives a verdict', () => {
  const counts = tally(damagedCases());
  expect(counts.get('E_SYNTAX')).toBeGreaterThan(1000);
  expect(counts.get('true')).toBeGreaterThan(20);
});

test('mutated text is ill typed in many ways or still gives a verdict', () => {
  const counts = tally(mutatedCases());
  for (const word of ['true', 'false', 'E_TYPE', 'E_UNKNOWN_KEYWORD', 'E_UNKNOWN_FIELD', 'E_NOT_BOOL']) {
    expect(counts.get(word), word).toBeGreaterThan(20);
  }
});

test('an expression over budget is accepted and ends in R_LIMIT', () => {
  expect(new Set(fc.sample(overBudgetCases(), { numRuns: 4, seed: 17 }).map(verdictOf))).toEqual(new Set(['R_LIMIT']));
});

test('cases are plain JSON', () => {
  fc.assert(
    fc.property(languageCases(), (one) => {
      expect(JSON.parse(JSON.stringify(one))).toStrictEqual(one);
    }),
    { numRuns: 200 },
  );
});
