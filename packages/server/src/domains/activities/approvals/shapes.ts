import Type from 'typebox';
import { DescriptionShape } from '../description-shapes.ts';
import { ActivityShape, ActivityStatusShape } from '../shapes.ts';

const TimeShape = Type.String();

/** What stamped a vote. */
export const CREDENTIAL_KINDS = ['PASSKEY', 'API_KEY', 'SESSION', 'RECOVERY', 'TOKEN'] as const;

const CameFromShape = {
  userId: Type.String(),
  userName: Type.String(),
  /** Whether the user has nothing but API keys: no passkey, no identity, no contact. */
  isProgram: Type.Boolean(),
  credentialName: Type.Optional(Type.String()),
  credentialKind: Type.Optional(Type.Enum([...CREDENTIAL_KINDS])),
  /** Told to users of the voter's organization only. */
  sourceAddress: Type.Optional(Type.String()),
};

const WayShape = Type.Object({
  kind: Type.Enum(['ROOT_QUORUM', 'POLICY']),
  policyId: Type.Optional(Type.String()),
  policyName: Type.Optional(Type.String()),
  given: Type.Integer(),
  /** Left out where the consensus of a policy has no such number. */
  required: Type.Optional(Type.Integer()),
  missing: Type.Object({ anyone: Type.Boolean(), userIds: Type.Array(Type.String()) }),
  text: Type.String(),
});

const FactorShape = Type.Object({
  /** Any one of them meets the step. */
  any: Type.Array(Type.Object({ type: Type.String(), id: Type.Optional(Type.String()) })),
  isProven: Type.Boolean(),
  isNext: Type.Boolean(),
});

export const ProgressShape = Type.Object({
  waitsForMe: Type.Boolean(),
  myVote: Type.Optional(Type.Enum(['APPROVED', 'REJECTED'])),
  /** Of the way that is nearest to completion. */
  given: Type.Integer(),
  required: Type.Integer(),
  ways: Type.Array(WayShape),
  authentication: Type.Optional(
    Type.Object({
      isMine: Type.Boolean(),
      userId: Type.String(),
      factors: Type.Array(FactorShape),
      text: Type.String(),
    }),
  ),
  lapsesAt: Type.Optional(TimeShape),
  /** Whether the approvals of the last round have lapsed. */
  isLapsed: Type.Optional(Type.Boolean()),
  completes: Type.Boolean(),
  /** Absent where nobody proposed it. */
  submitter: Type.Optional(Type.Object(CameFromShape)),
  votes: Type.Array(
    Type.Object({
      voteId: Type.String(),
      ...CameFromShape,
      selection: Type.Enum(['APPROVED', 'REJECTED']),
      at: TimeShape,
    }),
  ),
  decidedAt: Type.Optional(TimeShape),
  outcome: Type.Optional(ActivityStatusShape),
});
export type Progress = Type.Static<typeof ProgressShape>;

export const ApprovalShape = Type.Object({ activity: ActivityShape, progress: ProgressShape });
export type Approval = Type.Static<typeof ApprovalShape>;

/** The same with the request in words. */
export const DescribedApprovalShape = Type.Object({ ...ApprovalShape.properties, description: DescriptionShape });
