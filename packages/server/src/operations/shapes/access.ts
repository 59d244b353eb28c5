import Type from 'typebox';
import { LIMITS } from '../../lib/limits.ts';
import { IdShape, integerShape, NameShape, TimestampShape, textShape } from './basic.ts';

export const NotesShape = textShape(LIMITS.notesLength);

/** A policy-language expression; its length in code points is judged by the language itself. */
export const ExpressionShape = textShape(4 * LIMITS.expressionLength);

export const EffectShape = Type.Enum(['EFFECT_ALLOW', 'EFFECT_DENY']);

export const PolicyParamsShape = Type.Object({
  policyName: NameShape,
  effect: EffectShape,
  condition: Type.Optional(ExpressionShape),
  consensus: Type.Optional(ExpressionShape),
  notes: NotesShape,
  time: Type.Optional(ExpressionShape),
});
export type PolicyParams = Type.Static<typeof PolicyParamsShape>;

/** What the linter says of a new or changed policy; empty when it has nothing to say. */
export const WarningsShape = Type.Array(
  Type.Object({
    code: Type.String(),
    policyId: Type.String(),
    message: Type.String(),
    expression: Type.Optional(Type.String()),
    otherPolicyIds: Type.Optional(Type.Array(Type.String())),
  }),
);

const OUTCOMES = [
  'OUTCOME_ALLOW',
  'OUTCOME_DENY_EXPLICIT',
  'OUTCOME_DENY_IMPLICIT',
  'OUTCOME_REQUIRES_CONSENSUS',
  'OUTCOME_ERROR',
  'OUTCOME_TIME_INACTIVE',
];

/** POL 15, with the reason and the tree of what was evaluated, which are ours. */
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
export const PolicyEvaluationShape = Type.Object(evaluation);

/** The same at a vote, which may ask for factors or reject. */
export const VoteEvaluationShape = Type.Object({
  ...evaluation,
  outcome: Type.Enum([...OUTCOMES, 'OUTCOME_REQUIRES_AUTHENTICATORS', 'OUTCOME_REJECTED']),
});

/** POL 1. */
export const PolicyShape = Type.Object({
  policyId: Type.String(),
  policyName: Type.String(),
  effect: EffectShape,
  createdAt: TimestampShape,
  updatedAt: TimestampShape,
  notes: Type.String(),
  consensus: Type.String(),
  condition: Type.String(),
  time: Type.Optional(Type.String()),
});

export const AuthenticationTypeShape = Type.Enum([
  'AUTHENTICATION_TYPE_EMAIL_OTP',
  'AUTHENTICATION_TYPE_SMS_OTP',
  'AUTHENTICATION_TYPE_PASSKEY',
  'AUTHENTICATION_TYPE_API_KEY',
  'AUTHENTICATION_TYPE_OAUTH',
  'AUTHENTICATION_TYPE_SESSION',
]);
export const AuthenticationMethodShape = Type.Object({
  type: AuthenticationTypeShape,
  id: Type.Optional(IdShape),
});
export const RequiredMethodShape = Type.Object({
  any: Type.Array(AuthenticationMethodShape, { minItems: 1, maxItems: 10 }),
});
export const RequiredMethodsShape = Type.Array(RequiredMethodShape, { minItems: 1, maxItems: 10 });
export const OrderShape = integerShape(0);

/** protocol/login 10.1. */
export const MfaPolicyShape = Type.Object({
  mfaPolicyId: Type.String(),
  mfaPolicyName: Type.String(),
  condition: Type.String(),
  requiredAuthenticationMethods: RequiredMethodsShape,
  order: Type.Integer(),
  notes: Type.Optional(Type.String()),
  createdAt: TimestampShape,
  updatedAt: TimestampShape,
});

/** protocol/login 9.1. */
export const SessionProfileShape = Type.Object({
  sessionProfileId: Type.String(),
  sessionProfileName: Type.String(),
  scope: Type.String(),
  expirationSeconds: Type.Optional(Type.String()),
  notes: Type.Optional(Type.String()),
  createdAt: TimestampShape,
  updatedAt: TimestampShape,
});

/** EARN 5. */
export const ContractInterfaceShape = Type.Object({
  organizationId: Type.String(),
  smartContractInterfaceId: Type.String(),
  smartContractAddress: Type.String(),
  smartContractInterface: Type.String(),
  type: Type.String(),
  label: Type.String(),
  notes: Type.String(),
  createdAt: TimestampShape,
  updatedAt: TimestampShape,
});

/** RES 8. */
export const IpAllowlistShape = Type.Object({
  organizationId: Type.String(),
  rules: Type.Array(
    Type.Object({ cidr: Type.String(), label: Type.Optional(Type.String()), createdAt: Type.String() }),
  ),
  publicKey: Type.Optional(Type.String()),
  enabled: Type.Optional(Type.Boolean()),
  onEvaluationError: Type.String(),
});

const EmptyShape = Type.Object({});
const ActivityFilterShape = Type.Object({
  activity: Type.Optional(Type.Array(Type.Object({ activityType: textShape(128) }), { minItems: 1, maxItems: 100 })),
});

export const VelocityDataSourceShape = Type.Object({
  chainAssetTransfer: Type.Optional(
    Type.Object({
      definition: Type.Array(
        Type.Object({ caip19: textShape(256), decimals: Type.String({ pattern: '^[0-9]{1,3}$', 'x-decimal': true }) }),
        { minItems: 1, maxItems: 100 },
      ),
      filter: Type.Optional(ActivityFilterShape),
      phase: Type.Optional(
        Type.Object({ signature: Type.Optional(EmptyShape), submission: Type.Optional(EmptyShape) }),
      ),
    }),
  ),
  activityExecution: Type.Optional(Type.Object({ filter: Type.Optional(ActivityFilterShape) })),
});

export const VelocityAggregationShape = Type.Object({
  method: Type.Enum(['VELOCITY_CONTROL_AGGREGATION_METHOD_SUM', 'VELOCITY_CONTROL_AGGREGATION_METHOD_COUNT']),
  operator: Type.Enum([
    'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN',
    'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL',
    'VELOCITY_CONTROL_AGGREGATION_OPERATOR_EQUAL',
    'VELOCITY_CONTROL_AGGREGATION_OPERATOR_GREATER_THAN_OR_EQUAL',
    'VELOCITY_CONTROL_AGGREGATION_OPERATOR_GREATER_THAN',
  ]),
  threshold: Type.String({
    pattern: '^[0-9]{1,78}(\\.[0-9]{1,78})?$',
    'x-decimal': true,
    'x-message': 'must be a decimal number',
  }),
  window: Type.Object({
    rolling: Type.Optional(Type.Object({ duration: textShape(32) })),
    infinite: Type.Optional(EmptyShape),
  }),
  groupBy: Type.Object({
    organization: Type.Optional(EmptyShape),
    user: Type.Optional(EmptyShape),
    wallet: Type.Optional(EmptyShape),
  }),
});

export const VelocityControlShape = Type.Object({
  velocityControlId: Type.String(),
  organizationId: Type.String(),
  name: Type.String(),
  dataSource: VelocityDataSourceShape,
  aggregation: VelocityAggregationShape,
  /** Ours. */
  refuseUncounted: Type.Optional(Type.Boolean()),
  createdAt: TimestampShape,
  updatedAt: TimestampShape,
  identifier: Type.String(),
});
