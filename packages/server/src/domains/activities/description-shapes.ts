import Type from 'typebox';
import { RISKS } from '../../describe/risk.ts';
import { FIELD_KINDS } from '../../describe/sentence.ts';
import { TextPartShape } from '../../lib/text-part.ts';

// A request in words, protocol/activities 8.

const TextShape = Type.Array(TextPartShape);

export const RiskShape = Type.Enum([...RISKS]);

const QuorumShape = Type.Object({
  threshold: Type.Integer(),
  users: Type.Array(Type.Object({ userId: Type.String(), userName: Type.String() })),
});

const PolicyTextShape = Type.Object({
  policyName: Type.String(),
  effect: Type.String(),
  condition: Type.String(),
  consensus: Type.String(),
  time: Type.String(),
  notes: Type.String(),
});

const NamedAddress = { address: Type.String(), name: Type.Optional(Type.String()) };

export const DescriptionShape = Type.Object({
  activityId: Type.Optional(Type.String()),
  type: Type.String(),
  kind: Type.String(),
  sentence: TextShape,
  text: Type.String(),
  risk: RiskShape,
  marks: Type.Array(Type.Object({ risk: RiskShape, text: Type.String() })),
  consequence: Type.Optional(Type.String()),
  steps: Type.Array(Type.Object({ sentence: TextShape, risk: RiskShape })),
  fields: Type.Array(
    Type.Object({
      label: Type.String(),
      value: TextShape,
      kind: Type.Enum([...FIELD_KINDS]),
      note: Type.Optional(Type.String()),
    }),
  ),
  sender: Type.Optional(
    Type.Object({
      ...NamedAddress,
      walletId: Type.Optional(Type.String()),
      caip2: Type.Optional(Type.String()),
    }),
  ),
  recipients: Type.Array(
    Type.Object({
      ...NamedAddress,
      paidCount: Type.Integer(),
      paidSince: Type.Optional(Type.String()),
      notLookedUp: Type.Optional(Type.Boolean()),
      lookAlike: Type.Optional(Type.Object(NamedAddress)),
    }),
  ),
  bytes: Type.Optional(Type.Object({ algorithm: Type.String(), digest: Type.String(), unsigned: Type.String() })),
  quorumChange: Type.Optional(Type.Object({ before: QuorumShape, after: QuorumShape })),
  policyChange: Type.Optional(
    Type.Object({
      direction: Type.Enum(['WIDEN', 'NARROW', 'CHANGE']),
      before: Type.Optional(PolicyTextShape),
      after: Type.Optional(PolicyTextShape),
    }),
  ),
});
