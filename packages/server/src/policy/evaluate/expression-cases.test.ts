import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { compileExpression, type ExpressionField, evaluate, explain, kindOfField } from './expression.ts';
import { factsFromJson } from './facts-json.ts';

interface ExpressionCase {
  readonly id: string;
  readonly field: string;
  readonly expr: string;
  readonly context: unknown;
  readonly expect: { readonly value?: boolean; readonly static?: string; readonly error?: string };
}

const { expressionCases } = JSON.parse(
  readFileSync(new URL('../../../test/fixtures/policy-cases.json', import.meta.url), 'utf8'),
) as { expressionCases: ExpressionCase[] };

test.each(expressionCases)('$id: $expr', (row) => {
  const kind = kindOfField(row.field as ExpressionField);
  // The case of an absent expression: it counts as true and the evaluator is not called.
  if (row.expr === '') return expect(row.expect).toEqual({ value: true });
  const compiled = compileExpression(kind, row.expr);
  if (!compiled.ok) return expect({ static: compiled.error.code }).toEqual(row.expect);
  const facts = factsFromJson(kind, row.context);
  const plain = evaluate(compiled.expression, facts);
  expect(plain.ok ? { value: plain.value } : { error: plain.error.code }).toEqual(row.expect);
  expect(explain(compiled.expression, facts).evaluation).toEqual(plain);
});

test('the cases are the published ones', () => {
  expect(expressionCases).toHaveLength(204);
});
