// What a differential test of the language draws from: plain texts and plain JSON.
import fc from 'fast-check';
import type { ExpressionField } from '../reference/keywords.ts';
import type { JsonObject } from '../reference/values.ts';
import { conditionContexts, consensusContexts } from './contexts.ts';
import { damaged, mutated } from './damage.ts';
import { bools } from './expressions.ts';
import { oneOf } from './pools.ts';
import { respaced } from './spacing.ts';
import { scopeOf } from './terms.ts';
import { timeExpressions } from './time-expressions.ts';

export interface LanguageCase {
  readonly field: ExpressionField;
  readonly expression: string;
  readonly context: JsonObject;
}

const EXPRESSION_DEPTH = 3;

/** A well-typed condition, MFA condition or scope with a context. */
export function conditionCases(): fc.Arbitrary<LanguageCase> {
  return wellTyped(
    oneOf(['condition', 'condition', 'mfa', 'scope']),
    bools(EXPRESSION_DEPTH, scopeOf('condition')).map(({ text }) => text),
    conditionContexts,
  );
}

/** A well-typed consensus with approvers and credentials. */
export function consensusCases(): fc.Arbitrary<LanguageCase> {
  return wellTyped(
    fc.constant('consensus'),
    bools(EXPRESSION_DEPTH, scopeOf('consensus')).map(({ text }) => text),
    consensusContexts,
  );
}

/** A well-typed time expression with the server's time. */
export function timeCases(): fc.Arbitrary<LanguageCase> {
  return timeExpressions().chain(({ expression, now }) =>
    wellTyped(fc.constant('time'), fc.constant(expression), () => fc.constant({ time: { now } })),
  );
}

/** A well-typed case of any field. */
export function languageCases(): fc.Arbitrary<LanguageCase> {
  return fc.oneof(
    { weight: 6, arbitrary: conditionCases() },
    { weight: 2, arbitrary: consensusCases() },
    { weight: 2, arbitrary: timeCases() },
  );
}

/** A case whose text was damaged afterwards; most are refused, some are still fine. */
export function damagedCases(): fc.Arbitrary<LanguageCase> {
  return languageCases().chain((one) => damaged(one.expression).map((expression) => ({ ...one, expression })));
}

/** A case with some tokens exchanged; most parse, many are ill typed, some are still fine. */
export function mutatedCases(): fc.Arbitrary<LanguageCase> {
  return languageCases().chain((one) => mutated(one.expression).map((expression) => ({ ...one, expression })));
}

export interface GuardCase {
  readonly expression: string;
  /** One for each element of the request. */
  readonly contexts: readonly JsonObject[];
}

/** A well-typed MFA condition or scope with the elements of a request. */
export function guardCases(): fc.Arbitrary<GuardCase> {
  return bools(EXPRESSION_DEPTH - 1, scopeOf('condition')).chain(({ text }) =>
    fc
      .array(conditionContexts(text), { minLength: 1, maxLength: 2 })
      .map((contexts) => ({ expression: text, contexts })),
  );
}

/** Two quantifiers inside each other that visit more pairs than there are steps, however steps are counted. */
export function overBudgetCases(): fc.Arbitrary<LanguageCase> {
  const list = fc.integer({ min: 400, max: 700 }).map((length) => `[${Array(length).fill('1').join()}]`);
  const quantifier = oneOf(['any', 'all']);
  return fc
    .tuple(list, quantifier, list, quantifier)
    .map(([outer, first, inner, second]) => `${outer}.${first}(x, ${inner}.${second}(y, x == y))`)
    .map((expression) => ({ field: 'condition', expression, context: {} }));
}

function wellTyped(
  fields: fc.Arbitrary<ExpressionField>,
  expressions: fc.Arbitrary<string>,
  contextsFor: (expression: string) => fc.Arbitrary<JsonObject>,
): fc.Arbitrary<LanguageCase> {
  return fc
    .tuple(fields, expressions)
    .chain(([field, text]) =>
      fc
        .tuple(fc.oneof(fc.constant(text), respaced(text)), contextsFor(text))
        .map(([expression, context]) => ({ field, expression, context })),
    );
}
