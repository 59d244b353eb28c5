import Type, { type Static } from 'typebox';
import {
  DecisionExplanationShape,
  EffectShape,
  ExpressionShape,
  PolicyEvaluationShape,
} from '../../../engine/shapes/rules.ts';
import { IdShape, NameShape, textShape } from '../../../lib/shapes.ts';
import { MfaPolicyShape } from '../../users/shapes/mfa.ts';

/** A policy that is not stored. With the id of one that is, it stands in for it. */
const DraftPolicyShape = Type.Object({
  policyId: Type.Optional(IdShape),
  policyName: Type.Optional(NameShape),
  effect: EffectShape,
  condition: Type.Optional(ExpressionShape),
  consensus: Type.Optional(ExpressionShape),
  time: Type.Optional(ExpressionShape),
  notes: Type.Optional(textShape(4096)),
});

export const SimulationRequestShape = Type.Object({
  organizationId: IdShape,
  /** A submit body; what does not intent for a decision may be left out. */
  request: Type.Object({
    type: Type.String({ maxLength: 128 }),
    organizationId: Type.Optional(IdShape),
    parameters: Type.Record(Type.String(), Type.Unknown()),
  }),
  submitterUserId: Type.Optional(IdShape),
  approverUserIds: Type.Optional(Type.Array(IdShape, { maxItems: 10 })),
  /** One digit less than a timestamp has, so that it stays before the last moment of the policy language. */
  atMs: Type.Optional(Type.String({ pattern: '^[0-9]{1,14}$', 'x-decimal': true })),
  sourceAddress: Type.Optional(textShape(64)),
  draftPolicies: Type.Optional(Type.Array(DraftPolicyShape, { maxItems: 100 })),
});
export type SimulationRequest = Static<typeof SimulationRequestShape>;

export const SimulationShape = Type.Object({
  /** What the activity would be afterwards; REFUSED where there would be none. */
  status: Type.String(),
  outcome: Type.String(),
  reason: Type.String(),
  decidingPolicyIds: Type.Array(Type.String()),
  policyEvaluations: Type.Array(PolicyEvaluationShape),
  /** Why the whole is decided so, in plain words, and what would pass. */
  explanation: DecisionExplanationShape,
  /** Policies that cannot concern such an activity and were not evaluated. */
  unconcernedCount: Type.Integer(),
  ownAccountRule: Type.String(),
  rootQuorum: Type.Object({ required: Type.Integer(), given: Type.Integer(), isReachable: Type.Boolean() }),
  openTo: Type.Object({
    rootUserIds: Type.Array(Type.String()),
    policies: Type.Array(
      Type.Object({ policyId: Type.String(), anyone: Type.Boolean(), userIds: Type.Array(Type.String()) }),
    ),
  }),
  /** Of the approvers asked about, those whose vote would be refused. */
  refusedApproverUserIds: Type.Array(Type.String()),
  mfa: Type.Array(
    Type.Object({
      userId: Type.String(),
      mfaPolicy: MfaPolicyShape,
      /** Whether the stamp of the submission alone meets it. */
      satisfied: Type.Boolean(),
    }),
  ),
  session: Type.Optional(Type.Object({ sessionProfileId: Type.String(), covers: Type.Boolean() })),
  network: Type.Object({ isLimited: Type.Boolean(), allowed: Type.Optional(Type.Boolean()) }),
  velocity: Type.Array(
    Type.Object({
      velocityControlId: Type.String(),
      name: Type.String(),
      /** The aggregate with this activity included. */
      aggregate: Type.String(),
      threshold: Type.String(),
      operator: Type.String(),
      satisfied: Type.Boolean(),
      /** The part of the activity that the control refuses because it cannot be counted. */
      uncounted: Type.Optional(Type.String()),
    }),
  ),
});
export type Simulation = Static<typeof SimulationShape>;
