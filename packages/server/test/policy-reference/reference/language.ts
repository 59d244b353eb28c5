// The face of the reference: text in, verdict out.
import { checkTree } from './checker.ts';
import { type RuntimeCode, RuntimeFailure, type StaticCode } from './codes.ts';
import { Evaluator, type PredicateObserver } from './evaluator.ts';
import { type ExpressionField, keywordsOf } from './keywords.ts';
import { parse } from './parser.ts';
import type { Node } from './tree.ts';
import type { JsonObject } from './values.ts';

/** An expression that may be stored. An absent or empty one has no tree and counts as true. */
export interface CheckedExpression {
  readonly field: ExpressionField;
  readonly tree?: Node;
}

export type CheckResult =
  | { readonly ok: true; readonly expression: CheckedExpression }
  /** `codes` holds every fault found, in every reading; which of several is reported first is not laid down. */
  | { readonly ok: false; readonly code: StaticCode; readonly codes: readonly StaticCode[] };

export type EvaluationResult =
  | { readonly ok: true; readonly value: boolean }
  | { readonly ok: false; readonly code: RuntimeCode; readonly isForeign: boolean };

/** Parses and checks what is about to be stored in the field. */
export function check(text: string | undefined, field: ExpressionField): CheckResult {
  if (text === undefined || text === '') return { ok: true, expression: { field } };
  const parsed = parse(text);
  const errors = [...parsed.errors, ...(parsed.tree === undefined ? [] : checkTree(parsed.tree, field))];
  const [first] = errors;
  if (first !== undefined) {
    const codes = errors.flatMap(({ code, alternatives }) => [code, ...(alternatives ?? [])]);
    return { ok: false, code: first.code, codes };
  }
  return { ok: true, expression: { field, tree: parsed.tree! } };
}

/** Evaluates a checked expression in a context of the format of policy-cases.json. */
export function evaluate(
  { field, tree }: CheckedExpression,
  context: JsonObject,
  observe?: PredicateObserver,
): EvaluationResult {
  if (tree === undefined) return { ok: true, value: true };
  try {
    return { ok: true, value: new Evaluator(context, keywordsOf(field), observe).run(tree) };
  } catch (error) {
    if (!(error instanceof RuntimeFailure)) throw error;
    return { ok: false, code: error.code, isForeign: error.isForeign };
  }
}

/** For expressions that were checked before; a fault is a mistake of the test. */
export function compile(text: string | undefined, field: ExpressionField): CheckedExpression {
  const result = check(text, field);
  if (!result.ok) throw new Error(`${result.code} in ${field} ${text}`);
  return result.expression;
}

/** The verdict as one word: `true`, `false`, or the code of the fault. */
export function verdict(text: string, field: ExpressionField, context: JsonObject): string {
  const checked = check(text, field);
  if (!checked.ok) return checked.code;
  const result = evaluate(checked.expression, context);
  return result.ok ? String(result.value) : result.code;
}
