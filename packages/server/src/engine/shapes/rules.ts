import Type from 'typebox';
import { LIMITS } from '../../lib/limits.ts';
import { textShape } from '../../lib/shapes.ts';
import { TextPartShape } from '../../lib/text-part.ts';

export const NotesShape = textShape(LIMITS.notesLength);

/** A policy-language expression; its length in code points is decided by the language itself. */
export const ExpressionShape = textShape(4 * LIMITS.expressionLength);

export const EffectShape = Type.Enum(['EFFECT_ALLOW', 'EFFECT_DENY']);

const OUTCOMES = [
  'OUTCOME_ALLOW',
  'OUTCOME_DENY_EXPLICIT',
  'OUTCOME_DENY_IMPLICIT',
  'OUTCOME_REQUIRES_CONSENSUS',
  'OUTCOME_ERROR',
  'OUTCOME_TIME_INACTIVE',
];

/** protocol/policies 8.7, with the reason and the tree of what was evaluated, which are ours. */
const evaluation = {
  policyId: Type.String(),
  outcome: Type.Enum(OUTCOMES),
  policyName: Type.Optional(Type.String()),
  effect: EffectShape,
  reason: Type.String(),
  error: Type.Optional(
    Type.Object({
      expression: Type.String(),
      code: Type.String(),
      message: Type.String(),
      start: Type.Integer(),
      end: Type.Integer(),
    }),
  ),
  element: Type.Optional(Type.Integer()),
  /** Trees of the expressions: what each part was, and which part decided. */
  trace: Type.Optional(
    Type.Object({
      time: Type.Optional(Type.Unknown()),
      conditions: Type.Array(Type.Unknown()),
      consensus: Type.Optional(Type.Unknown()),
    }),
  ),
};

const whatWouldPass = Type.Optional(Type.String());

/** Why a policy said what it said, in plain words; made when it is asked for. */
const ExplanationShape = Type.Object({
  sentence: Type.Array(TextPartShape),
  parts: Type.Array(
    Type.Object({
      text: Type.String(),
      /** Null for what an error kept from having a value. */
      holds: Type.Union([Type.Boolean(), Type.Null()]),
      decides: Type.Optional(Type.Literal(true)),
      depth: Type.Integer(),
    }),
  ),
  whatWouldPass,
});

/** The same of the whole decision. */
export const DecisionExplanationShape = Type.Object({ sentence: Type.Array(TextPartShape), whatWouldPass });

export const PolicyEvaluationShape = Type.Object({ ...evaluation, explanation: Type.Optional(ExplanationShape) });

/** The same at a vote, which may ask for factors or reject. */
export const VoteEvaluationShape = Type.Object({
  ...evaluation,
  outcome: Type.Enum([...OUTCOMES, 'OUTCOME_REQUIRES_AUTHENTICATORS', 'OUTCOME_REJECTED']),
  explanation: Type.Optional(ExplanationShape),
});
