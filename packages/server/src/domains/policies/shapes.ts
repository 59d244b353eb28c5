import Type from 'typebox';
import { EffectShape, ExpressionShape, NotesShape } from '../../engine/shapes/rules.ts';
import { NameShape, TimestampShape, textShape } from '../../lib/shapes.ts';
import { TextPartShape } from '../../lib/text-part.ts';

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

/** protocol/policies 1.2. */
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

const EXPRESSIONS = ['condition', 'consensus', 'time'];

const description = {
  sentence: Type.Array(TextPartShape),
  /** The parts joined. */
  text: Type.String(),
  risk: Type.Enum(['ROUTINE', 'LOOK_CLOSELY', 'DANGER', 'UNREADABLE']),
  /** Mistakes in the expressions; positions are UTF-16 offsets, `end` excluded. */
  errors: Type.Array(
    Type.Object({
      expression: Type.Enum(EXPRESSIONS),
      code: Type.String(),
      message: Type.String(),
      start: Type.Integer(),
      end: Type.Integer(),
      suggestion: Type.Optional(Type.String()),
    }),
  ),
  warnings: Type.Array(
    Type.Object({
      code: Type.String(),
      message: Type.String(),
      expression: Type.Optional(Type.Enum(EXPRESSIONS)),
      start: Type.Optional(Type.Integer()),
      end: Type.Optional(Type.Integer()),
    }),
  ),
  /** What literals stand for: names, chains, amounts with their unit. */
  marks: Type.Array(
    Type.Object({
      expression: Type.Enum(EXPRESSIONS),
      start: Type.Integer(),
      end: Type.Integer(),
      text: Type.String(),
    }),
  ),
  /** Of a draft against the stored policy that it stands in for. */
  direction: Type.Optional(Type.Enum(['WIDEN', 'NARROW', 'CHANGE'])),
  changes: Type.Array(Type.String()),
};

/** A policy in words (protocol/policies 13). */
export const PolicyDescriptionShape = Type.Object(description);
export const DescribedPolicyShape = Type.Object({ policyId: Type.String(), ...description });

/** protocol/policy-facts 5.1. */
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

/** protocol/organizations 8.1. */
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
