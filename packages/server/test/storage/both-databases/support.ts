import type { Activity, ApiKey, Vote } from '../../../src/core/model.ts';
import { type OrganizationId, randomId, type UserId } from '../../../src/lib/ids.ts';
import { NOW } from '../place.ts';

export const activity = (organizationId: OrganizationId, extra: Partial<Activity> = {}): Activity => ({
  id: randomId(),
  organizationId,
  fingerprint: `sha256:${randomId()}`,
  operation: 'update_user_name',
  type: 'ACTIVITY_TYPE_UPDATE_USER_NAME',
  status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED',
  proposerId: undefined,
  authorityId: undefined,
  parameters: { text: 'é😀', nested: [1, { a: null }] },
  body: undefined,
  sealedBody: undefined,
  sealedParameters: undefined,
  result: undefined,
  failure: undefined,
  denial: undefined,
  wantsProofs: false,
  openTo: undefined,
  hasMfa: false,
  roundStartedAtMs: NOW,
  createdAtMs: NOW,
  updatedAtMs: NOW,
  ...extra,
});

export const vote = (of: Activity, extra: Partial<Vote> = {}): Vote => ({
  id: randomId(),
  activityId: of.id,
  userId: randomId(),
  selection: 'VOTE_SELECTION_APPROVED',
  messageDigest: `sha256:${randomId()}`,
  message: '{"a":1}',
  sealedMessage: undefined,
  publicKey: '02',
  signature: '30',
  scheme: 'SIGNATURE_SCHEME_TK_API_P256',
  credentialId: randomId(),
  webauthn: undefined,
  userSnapshot: {},
  homeId: undefined,
  credentialKind: 'api-key',
  credentialType: 'CREDENTIAL_TYPE_API_KEY_P256',
  sessionProfileId: undefined,
  sourceAddress: undefined,
  revoked: false,
  counts: true,
  roundStartedAtMs: NOW,
  createdAtMs: NOW,
  ...extra,
});

export const newUser = (extra: { email?: string; phone?: string } = {}) => ({
  id: randomId<'user'>(),
  name: 'User',
  email: extra.email,
  phone: extra.phone,
});

export const apiKey = (userId: UserId, name: string): ApiKey => ({
  id: randomId(),
  userId,
  name,
  type: 'CREDENTIAL_TYPE_API_KEY_P256',
  publicKey: randomId(),
  sessionProfileId: undefined,
  expirationSeconds: undefined,
  expiresAtMs: undefined,
  firstUsedAtMs: undefined,
  createdAtMs: NOW,
  updatedAtMs: NOW,
});
