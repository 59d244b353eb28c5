import Type from 'typebox';
import { ACTIVITY_STATUSES } from '../../core/model.ts';
import { TimestampShape } from '../../lib/shapes.ts';
import { UserShape } from '../users/shapes/users.ts';

export const ActivityStatusShape = Type.Enum([...ACTIVITY_STATUSES]);

export const FingerprintShape = Type.String({
  pattern: '^sha256:[0-9a-f]{64}$',
  'x-message': 'must be sha256: and 64 lower-case hex digits',
});

/** protocol/consensus 1.1; `webauthn` is ours and makes passkey votes verifiable. */
export const VoteShape = Type.Object({
  id: Type.String(),
  userId: Type.String(),
  user: UserShape,
  activityId: Type.String(),
  selection: Type.Enum(['VOTE_SELECTION_APPROVED', 'VOTE_SELECTION_REJECTED']),
  message: Type.String(),
  publicKey: Type.String(),
  signature: Type.String(),
  scheme: Type.String(),
  createdAt: TimestampShape,
  webauthn: Type.Optional(
    Type.Object({ credentialId: Type.String(), authenticatorData: Type.String(), clientDataJson: Type.String() }),
  ),
});

/** A vote for verification elsewhere: `message` has the signed bytes unless it is redacted. */
export const StampedVoteShape = Type.Object({
  ...VoteShape.properties,
  /** These are not the signed bytes: secrets are digests here, or only the digest of a large body was kept. */
  redacted: Type.Optional(Type.Boolean()),
});

/** protocol/bundles 6.2. */
export const AppProofShape = Type.Object({
  scheme: Type.String(),
  publicKey: Type.String(),
  proofPayload: Type.String(),
  signature: Type.String(),
});

export const ActivityShape = Type.Object({
  id: Type.String(),
  organizationId: Type.String(),
  status: ActivityStatusShape,
  type: Type.String(),
  intent: Type.Record(Type.String(), Type.Unknown()),
  result: Type.Record(Type.String(), Type.Unknown()),
  votes: Type.Array(VoteShape),
  fingerprint: Type.String(),
  canApprove: Type.Boolean(),
  canReject: Type.Boolean(),
  createdAt: Type.String(),
  updatedAt: Type.String(),
  appProofs: Type.Optional(Type.Array(AppProofShape)),
  failure: Type.Optional(
    Type.Object({ code: Type.Integer(), message: Type.String(), details: Type.Array(Type.Unknown()) }),
  ),
});
