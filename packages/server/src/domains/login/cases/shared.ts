import { expect } from 'vitest';
import { claimsOf, openKey } from '../../../../test/flows/fixtures/logins.ts';
import { Receiver } from '../../../../test/harness/bundles.ts';
import { type KeyPair, newKeyPair, type TestClient } from '../../../../test/harness/client.ts';
import type { Arranged } from '../../../../test/operations/every-case.ts';
import { fresh } from '../../../../test/operations/hostile-case.ts';
import type { Tenant } from '../../../../test/operations/tenant.ts';

export type Effect = Pick<Arranged, 'holds' | 'absent'>;

const apiKeys = async (reader: TestClient, userId: string) =>
  (await reader.query('get_api_keys', { userId })).body.apiKeys;

/** A key of this kind that a user has afterwards. */
export function hasKey(userId: string, type: string, extra: Record<string, unknown> = {}): Effect {
  const ofType = async (reader: TestClient) =>
    (await apiKeys(reader, userId)).filter((key: { credential: { type: string } }) => key.credential.type === type);
  return {
    holds: async (reader) => expect(await ofType(reader)).toMatchObject([{ expirationSeconds: '900', ...extra }]),
    absent: async (reader) => expect(await ofType(reader)).toEqual([]),
  };
}

export const aCredentialFor = (receiver: Receiver) =>
  expect.toSatisfy((bundle: string) => openKey(receiver, bundle).publicKey.length === 66, 'a key for the receiver');

/** A session token that says whose it is. */
export const aSession = ({ organizationId }: TestClient, userId: string, { publicKey }: KeyPair) =>
  expect.toSatisfy((session: string) => {
    const claims = claimsOf(session);
    return claims.user_id === userId && claims.organization_id === organizationId && claims.public_key === publicKey;
  }, 'a session of the user');

export const targetPublicKey = new Receiver().publicKey;

export const keyParams = (tenant: Tenant) => ({
  targetPublicKey,
  apiKeyName: fresh(tenant),
  expirationSeconds: '600',
  invalidateExisting: true,
});

export const sessionParams = ({ ids }: Tenant, publicKey = newKeyPair().publicKey) => ({
  publicKey,
  expirationSeconds: '600',
  invalidateExisting: true,
  sessionProfileId: ids.sessionProfile,
});
