import Type from 'typebox';
import { LIMITS } from '../../lib/limits.ts';
import { evaluation, OUTCOMES } from '../../operations/shapes/access.ts';
import { textShape } from '../../operations/shapes/basic.ts';

export const NotesShape = textShape(LIMITS.notesLength);

/** A policy-language expression; its length in code points is judged by the language itself. */
export const ExpressionShape = textShape(4 * LIMITS.expressionLength);

export const EffectShape = Type.Enum(['EFFECT_ALLOW', 'EFFECT_DENY']);

export const PolicyEvaluationShape = Type.Object(evaluation);

/** The same at a vote, which may ask for factors or reject. */
export const VoteEvaluationShape = Type.Object({
  ...evaluation,
  outcome: Type.Enum([...OUTCOMES, 'OUTCOME_REQUIRES_AUTHENTICATORS', 'OUTCOME_REJECTED']),
});
