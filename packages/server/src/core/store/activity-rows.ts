import type { Selectable } from 'kysely';
import type { ActivityId, OrganizationId, UserId, VoteId } from '../../lib/ids.ts';
import type { ActivityTable, VoteTable } from '../../storage/schema.ts';
import { deferredInsertion, type NewRow } from '../../storage/statement.ts';
import type {
  Activity,
  ActivityStatus,
  CredentialKind,
  OpenTo,
  StoredError,
  Vote,
  VoteSelection,
  WebauthnEvidence,
} from '../model.ts';

const parse = (text: string | null): unknown => (text === null ? undefined : JSON.parse(text));
export const print = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value));

/** Older versions stored a digest in the place of a secret; now nothing stands there. */
const DIGESTS: Readonly<Record<string, string>> = {
  ACTIVITY_TYPE_VERIFY_OTP: 'verificationToken',
  ACTIVITY_TYPE_VERIFY_OTP_V2: 'verificationToken',
  ACTIVITY_TYPE_OAUTH2_AUTHENTICATE: 'oidcToken',
  ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION: 'session',
};

function withoutDigests(type: string, result: unknown): unknown {
  const name = DIGESTS[type];
  if (name === undefined || result === undefined) return result;
  return Object.fromEntries(Object.entries(result as object).filter(([key]) => key !== name));
}

export const toActivity = (row: Selectable<ActivityTable>): Activity => ({
  id: row.id as ActivityId,
  organizationId: row.organization_id as OrganizationId,
  fingerprint: row.fingerprint,
  operation: row.operation,
  type: row.type,
  status: row.status as ActivityStatus,
  proposerId: (row.proposer_id as UserId | null) ?? undefined,
  authorityId: (row.authority_id as OrganizationId | null) ?? undefined,
  parameters: row.body === null ? JSON.parse(row.parameters) : JSON.parse(row.body).parameters,
  body: row.body ?? undefined,
  sealedBody: row.sealed_body ?? undefined,
  sealedParameters: row.sealed_parameters ?? undefined,
  result: withoutDigests(row.type, parse(row.result)),
  failure: parse(row.failure) as StoredError | undefined,
  denial: parse(row.denial) as StoredError | undefined,
  wantsProofs: row.wants_proofs === 1,
  openTo: parse(row.open_to) as OpenTo | undefined,
  hasMfa: row.has_mfa === 1,
  roundStartedAtMs: row.round_started_at_ms,
  createdAtMs: row.created_at_ms,
  updatedAtMs: row.updated_at_ms,
});

export const fromActivity = (activity: Activity): NewRow<'activity'> => ({
  organization_id: activity.organizationId,
  id: activity.id,
  fingerprint: activity.fingerprint,
  operation: activity.operation,
  type: activity.type,
  status: activity.status,
  proposer_id: activity.proposerId ?? null,
  authority_id: activity.authorityId ?? null,
  parameters: activity.body === undefined ? JSON.stringify(activity.parameters) : '',
  body: activity.body ?? null,
  sealed_body: activity.sealedBody ?? null,
  sealed_parameters: activity.sealedParameters ?? null,
  result: print(activity.result),
  failure: print(activity.failure),
  denial: print(activity.denial),
  wants_proofs: activity.wantsProofs ? 1 : 0,
  open_to: print(activity.openTo),
  has_mfa: activity.hasMfa ? 1 : 0,
  round_started_at_ms: activity.roundStartedAtMs,
  created_at_ms: activity.createdAtMs,
  updated_at_ms: activity.updatedAtMs,
  voted_on: null,
});

export type VoteRow = Selectable<VoteTable> & { readonly is_revoked: number };

export const toVote = (row: VoteRow, { body }: Pick<ActivityTable, 'body'>): Vote => ({
  id: row.id as VoteId,
  activityId: row.activity_id as ActivityId,
  userId: row.user_id as UserId,
  selection: row.selection as VoteSelection,
  messageDigest: row.message_digest,
  message: row.message === '' ? (body ?? '') : row.message,
  sealedMessage: row.sealed_message ?? undefined,
  publicKey: row.public_key,
  signature: row.signature,
  scheme: row.scheme,
  credentialId: row.credential_id,
  webauthn: parse(row.webauthn) as WebauthnEvidence | undefined,
  userSnapshot: JSON.parse(row.user_snapshot),
  counts: row.counts === 1,
  roundStartedAtMs: row.round_started_at_ms,
  createdAtMs: row.created_at_ms,
  homeId: (row.home_id as OrganizationId | null) ?? undefined,
  credentialKind: (row.credential_kind as CredentialKind | null) ?? undefined,
  credentialType: row.credential_type ?? '',
  sessionProfileId: row.session_profile_id ?? undefined,
  sourceAddress: row.source_address ?? undefined,
  revoked: row.is_revoked === 1,
});

/** As text: all votes of a user have one record while the user stays as it is, and it goes when they have another. */
const snapshots = new WeakMap<object, string>();
function printSnapshot(snapshot: unknown): string {
  if (typeof snapshot !== 'object' || snapshot === null) return JSON.stringify(snapshot);
  let text = snapshots.get(snapshot);
  if (text === undefined) {
    text = JSON.stringify(snapshot);
    snapshots.set(snapshot, text);
  }
  return text;
}

/** What an activity's votes are stored with. */
export type Voted = Pick<Activity, 'organizationId' | 'fingerprint' | 'body'>;

export const fromVote = ({ organizationId, fingerprint, body }: Voted, vote: Vote): NewRow<'vote'> => ({
  organization_id: organizationId,
  activity_id: vote.activityId,
  id: vote.id,
  user_id: vote.userId,
  selection: vote.selection,
  message_digest: vote.messageDigest,
  message: body !== undefined && vote.messageDigest === fingerprint ? '' : vote.message,
  sealed_message: vote.sealedMessage ?? null,
  public_key: vote.publicKey,
  signature: vote.signature,
  scheme: vote.scheme,
  credential_id: vote.credentialId,
  webauthn: print(vote.webauthn),
  user_snapshot: printSnapshot(vote.userSnapshot),
  counts: vote.counts ? 1 : 0,
  round_started_at_ms: vote.roundStartedAtMs,
  created_at_ms: vote.createdAtMs,
  home_id: vote.homeId ?? null,
  credential_kind: vote.credentialKind ?? null,
  credential_type: vote.credentialType,
  session_profile_id: vote.sessionProfileId ?? null,
  source_address: vote.sourceAddress ?? null,
});

export const insertActivities = deferredInsertion('activity-insert', 'activity', [
  'organization_id',
  'id',
  'fingerprint',
  'operation',
  'type',
  'status',
  'proposer_id',
  'authority_id',
  'parameters',
  'body',
  'sealed_body',
  'sealed_parameters',
  'result',
  'failure',
  'denial',
  'wants_proofs',
  'open_to',
  'has_mfa',
  'round_started_at_ms',
  'created_at_ms',
  'updated_at_ms',
  'voted_on',
]);
export const insertVotes = deferredInsertion('vote-insert', 'vote', [
  'organization_id',
  'activity_id',
  'id',
  'user_id',
  'selection',
  'message_digest',
  'message',
  'sealed_message',
  'public_key',
  'signature',
  'scheme',
  'credential_id',
  'webauthn',
  'user_snapshot',
  'counts',
  'round_started_at_ms',
  'created_at_ms',
  'home_id',
  'credential_kind',
  'credential_type',
  'session_profile_id',
  'source_address',
]);
