import { ApiError, type ErrorCode, invalidField } from '../lib/errors.ts';
import { LIMITS } from '../lib/limits.ts';
import { compileExpression, describeStaticError, type ExpressionField, kindOfField } from '../policy/index.ts';

/** Throws when a request brings more text than may be compiled for it. */
export function requireModest(
  texts: readonly (string | undefined)[],
  field: string,
  lengthMax: number = LIMITS.expressionsLength,
): void {
  const length = texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
  if (length > lengthMax) {
    throw invalidField(field, `must have at most ${lengthMax} characters of expressions together`);
  }
}

/** Those that have a code of their own on the wire (protocol/policies 6.1). */
const CODES: Partial<Record<ExpressionField, ErrorCode>> = {
  condition: 'INVALID_POLICY_CONDITION',
  consensus: 'INVALID_POLICY_CONSENSUS',
  time: 'INVALID_TIME',
};

/** Throws, with the column and what was expected there, unless the text is an expression of this field. */
export function requireExpression(field: ExpressionField, text: string, name: string): void {
  // Absent or empty counts as true (protocol/policies 1.3).
  if (text === '') return;
  const compilation = compileExpression(kindOfField(field), text);
  if (compilation.ok) return;
  const description = describeStaticError(field, text, compilation.error);
  throw new ApiError(CODES[field] ?? 'INVALID_EXPRESSION', description, { violations: [{ field: name, description }] });
}
