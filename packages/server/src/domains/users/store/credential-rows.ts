import type { Selectable } from 'kysely';
import type { ApiKey, ApiKeyType, Authenticator } from '../../../core/model.ts';
import type { ApiKeyId, AuthenticatorId, UserId } from '../../../lib/ids.ts';
import { deferredInsertion, insertion, type NewRow } from '../../../storage/statement.ts';
import type { ApiKeyTable, AuthenticatorTable } from '../tables.ts';

export type ApiKeyRow = Selectable<ApiKeyTable>;
export type AuthenticatorRow = Selectable<AuthenticatorTable>;

export const toApiKey = (row: ApiKeyRow): ApiKey => ({
  id: row.id as ApiKeyId,
  userId: row.user_id as UserId,
  name: row.name,
  type: row.type as ApiKeyType,
  publicKey: row.public_key,
  sessionProfileId: row.session_profile_id ?? undefined,
  expirationSeconds: row.expiration_seconds ?? undefined,
  expiresAtMs: row.expires_at_ms ?? undefined,
  firstUsedAtMs: row.first_used_at_ms ?? undefined,
  createdAtMs: row.created_at_ms,
  updatedAtMs: row.updated_at_ms,
});

export const toAuthenticator = (row: AuthenticatorRow): Authenticator => ({
  id: row.id as AuthenticatorId,
  userId: row.user_id as UserId,
  name: row.name,
  credentialId: row.credential_id,
  publicKey: row.public_key,
  rpIdHash: row.rp_id_hash,
  aaguid: row.aaguid,
  attestationType: row.attestation_type,
  transports: JSON.parse(row.transports) as string[],
  signCount: row.sign_count,
  firstUsedAtMs: row.first_used_at_ms ?? undefined,
  createdAtMs: row.created_at_ms,
  updatedAtMs: row.updated_at_ms,
});

export const fromApiKey = (organizationId: string, key: ApiKey): NewRow<'api_key'> => ({
  organization_id: organizationId,
  id: key.id,
  user_id: key.userId,
  name: key.name,
  type: key.type,
  public_key: key.publicKey,
  session_profile_id: key.sessionProfileId ?? null,
  expiration_seconds: key.expirationSeconds ?? null,
  expires_at_ms: key.expiresAtMs ?? null,
  first_used_at_ms: key.firstUsedAtMs ?? null,
  created_at_ms: key.createdAtMs,
  updated_at_ms: key.updatedAtMs,
});
export const insertKeys = deferredInsertion('api-key-insert', 'api_key', [
  'organization_id',
  'id',
  'user_id',
  'name',
  'type',
  'public_key',
  'session_profile_id',
  'expiration_seconds',
  'expires_at_ms',
  'first_used_at_ms',
  'created_at_ms',
  'updated_at_ms',
]);
export const fromAuthenticator = (organizationId: string, authenticator: Authenticator): NewRow<'authenticator'> => ({
  organization_id: organizationId,
  id: authenticator.id,
  user_id: authenticator.userId,
  name: authenticator.name,
  credential_id: authenticator.credentialId,
  public_key: authenticator.publicKey,
  rp_id_hash: authenticator.rpIdHash,
  aaguid: authenticator.aaguid,
  attestation_type: authenticator.attestationType,
  transports: JSON.stringify(authenticator.transports),
  sign_count: authenticator.signCount,
  first_used_at_ms: authenticator.firstUsedAtMs ?? null,
  created_at_ms: authenticator.createdAtMs,
  updated_at_ms: authenticator.updatedAtMs,
});
export const insertAuthenticators = insertion('authenticator-insert', 'authenticator', [
  'organization_id',
  'id',
  'user_id',
  'name',
  'credential_id',
  'public_key',
  'rp_id_hash',
  'aaguid',
  'attestation_type',
  'transports',
  'sign_count',
  'first_used_at_ms',
  'created_at_ms',
  'updated_at_ms',
]);

/** Ids are made in the order of time: the oldest first, as the database lists them. */
export const byId = (one: { readonly id: string }, other: { readonly id: string }): number =>
  one.id < other.id ? -1 : 1;
