import type { ApiKey, Authenticator, OauthProvider } from '../../../core/model.ts';
import { toTimestamp } from '../../../lib/clock.ts';
import { toHex } from '../../../lib/encoding.ts';
import type { Tag, UserRecord } from '../model.ts';
import { modelOf } from './authenticator-models.ts';
import { renderMfaPolicy } from './mfa.ts';

export function renderApiKey(key: ApiKey) {
  return {
    apiKeyId: key.id,
    apiKeyName: key.name,
    credential: {
      publicKey: key.publicKey,
      type: key.type,
      ...(key.sessionProfileId !== undefined && { sessionProfileId: key.sessionProfileId }),
    },
    createdAt: toTimestamp(key.createdAtMs),
    updatedAt: toTimestamp(key.updatedAtMs),
    ...(key.expirationSeconds !== undefined && { expirationSeconds: String(key.expirationSeconds) }),
  };
}

export function renderAuthenticator(authenticator: Authenticator) {
  return {
    authenticatorId: authenticator.id,
    authenticatorName: authenticator.name,
    transports: [...authenticator.transports],
    attestationType: authenticator.attestationType,
    aaguid: authenticator.aaguid,
    credentialId: authenticator.credentialId,
    model: modelOf(authenticator.aaguid),
    credential: {
      publicKey: toHex(authenticator.publicKey),
      type: 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR' as const,
    },
    createdAt: toTimestamp(authenticator.createdAtMs),
    updatedAt: toTimestamp(authenticator.updatedAtMs),
  };
}

export function renderOauthProvider(provider: OauthProvider) {
  return {
    providerId: provider.id as string,
    providerName: provider.name,
    issuer: provider.issuer,
    audience: provider.audience,
    subject: provider.subject,
    createdAt: toTimestamp(provider.createdAtMs),
    updatedAt: toTimestamp(provider.updatedAtMs),
  };
}

export type WireUser = ReturnType<typeof renderUser>;

export function renderUser({ user, apiKeys, authenticators, oauthProviders, tagIds, mfaPolicies }: UserRecord) {
  return {
    userId: user.id as string,
    userName: user.name,
    ...(user.email !== undefined && { userEmail: user.email }),
    ...(user.phone !== undefined && { userPhoneNumber: user.phone }),
    authenticators: authenticators.map(renderAuthenticator),
    apiKeys: apiKeys.map(renderApiKey),
    userTags: [...tagIds] as string[],
    oauthProviders: oauthProviders.map(renderOauthProvider),
    createdAt: toTimestamp(user.createdAtMs),
    updatedAt: toTimestamp(user.updatedAtMs),
    mfaPolicies: mfaPolicies.map(renderMfaPolicy),
  };
}

export function renderTag(tag: Tag) {
  return {
    tagId: tag.id,
    tagName: tag.name,
    tagType: tag.type,
    createdAt: toTimestamp(tag.createdAtMs),
    updatedAt: toTimestamp(tag.updatedAtMs),
  };
}

declare module '../../../core/user-snapshot.ts' {
  interface UserSnapshot extends WireUser {}
}
