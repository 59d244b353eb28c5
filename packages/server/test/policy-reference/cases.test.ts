import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { activities } from '../../src/registry.ts';
import { ACTIVITY_FACTS } from './reference/activity-table.ts';
import { type ActivityRequest, decide, mayVote, type Organization, type Vote } from './reference/decision.ts';
import type { ExpressionField } from './reference/keywords.ts';
import { verdict } from './reference/language.ts';
import type { PolicyText } from './reference/outcome.ts';
import type { JsonObject } from './reference/values.ts';

interface Cases {
  expressionCases: {
    id: string;
    field: ExpressionField;
    expr: string;
    context: JsonObject;
    expect: { value?: boolean; static?: string; error?: string };
  }[];
  decisionCases: {
    id: string;
    org: Organization;
    policies: PolicyText[];
    activity: ActivityRequest;
    now: string;
    steps: { vote: Vote; final: string; perPolicy: Record<string, string> }[];
  }[];
  activityTypes: { type: string; governedBy: string; kind?: string; resource?: string; action?: string }[];
}

const cases = JSON.parse(readFileSync(new URL('../fixtures/policy-cases.json', import.meta.url), 'utf8')) as Cases;

test.each(cases.expressionCases.map((one) => [one.id, one.expr, one] as const))('%s %s', (_id, _expr, one) => {
  const expected = one.expect.static ?? one.expect.error ?? String(one.expect.value);
  expect(verdict(one.expr, one.field, one.context)).toBe(expected);
});

test.each(cases.decisionCases.map((one) => [one.id, one] as const))('%s', (_id, { steps, ...request }) => {
  const votes: Vote[] = [];
  for (const { vote, final, perPolicy } of steps) {
    if (votes.length > 0) expect(mayVote({ ...request, votes }, vote)).toBe(true);
    votes.push(vote);
    expect(decide({ ...request, votes })).toEqual({ final, perPolicy });
  }
});

const documented = new Set(cases.activityTypes.map(({ type }) => type));
/** Activities of this service that no document has. */
const OURS = activities
  .filter(({ ours }) => ours)
  .flatMap(({ versions }) => versions.map(({ type }) => type))
  .filter((type) => !documented.has(type));

test('the table of activities agrees with the data', () => {
  const rows = cases.activityTypes.map(({ type, governedBy, kind, resource, action }) => [
    type,
    kind === undefined ? { governedBy } : { governedBy, kind, resource, action },
  ]);
  const published = new Map(ACTIVITY_FACTS);
  expect(OURS.filter((type) => published.delete(type))).toEqual(OURS);
  expect(Object.fromEntries(published)).toEqual(Object.fromEntries(rows));
});
