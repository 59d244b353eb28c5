// What every test of the server SDK needs: clients, organizations of their own, and the errors that calls end in.
import { encryptWalletToBundle } from '@turnkey/crypto';
import { Turnkey, type TurnkeyApiClient, TurnkeyRequestError } from '@turnkey/sdk-server';
import { expect } from 'vitest';
import { type KeyPair, newKeyPair } from '../packages/server/test/harness/client.ts';

export const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

export interface Credentials {
  readonly organizationId: string;
  readonly apiPublicKey: string;
  readonly apiPrivateKey: string;
}

type PollerSettings = { intervalMs: number; numRetries: number };

/** The SDK as its manual shows it. */
export function connect(
  apiBaseUrl: string,
  { organizationId, apiPublicKey, apiPrivateKey }: Credentials,
  activityPoller: PollerSettings = { intervalMs: 20, numRetries: 0 },
): TurnkeyApiClient {
  const turnkey = new Turnkey({
    apiBaseUrl,
    defaultOrganizationId: organizationId,
    apiPublicKey,
    apiPrivateKey,
    activityPoller,
  });
  return turnkey.apiClient();
}

export const credentialsOf = (organizationId: string, key: KeyPair): Credentials => ({
  organizationId,
  apiPublicKey: key.publicKey,
  apiPrivateKey: key.privateKey,
});

export const apiKeyOf = (key: KeyPair, apiKeyName = 'key') => ({
  apiKeyName,
  publicKey: key.publicKey,
  curveType: 'API_KEY_CURVE_P256' as const,
});

export const userOf = (userName: string, key: KeyPair) => ({
  userName,
  apiKeys: [apiKeyOf(key)],
  authenticators: [],
  oauthProviders: [],
});

let serial = 0;
/** A name that no other test of the file uses. */
export const fresh = (word: string): string => {
  serial += 1;
  return `${word} ${serial}`;
};

export async function refusal(work: Promise<unknown>): Promise<TurnkeyRequestError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(TurnkeyRequestError);
  return error as TurnkeyRequestError;
}

/** The details as a caller searches them: by the last part of `@type`. */
export function detailOf(error: TurnkeyRequestError, suffix: string): Record<string, unknown> | undefined {
  const details = error.details as Record<string, unknown>[] | null;
  return details?.find((detail) => String(detail['@type']).endsWith(suffix));
}

/** The code that callers tell refusals apart by. */
export const errorCodeOf = (error: TurnkeyRequestError): unknown =>
  detailOf(error, 'TurnkeyErrorDetail')?.turnkeyErrorCode;

/** Members of an organization of its own, so that tests about quorums do not disturb each other. */
export async function openCouncil(
  baseUrl: string,
  root: TurnkeyApiClient,
  threshold: number,
  poller?: PollerSettings,
): Promise<{ id: string; userIds: string[]; members: TurnkeyApiClient[]; keys: KeyPair[] }> {
  const keys = [newKeyPair(), newKeyPair(), newKeyPair()];
  const { subOrganizationId, rootUserIds } = await root.createSubOrganization({
    subOrganizationName: fresh('council'),
    rootQuorumThreshold: threshold,
    rootUsers: keys.map((key, index) => userOf(`member ${index}`, key)),
  });
  return {
    id: subOrganizationId,
    userIds: rootUserIds as string[],
    members: keys.map((key) => connect(baseUrl, credentialsOf(subOrganizationId, key), poller)),
    keys,
  };
}

/** The key that bundles are signed with, as the service publishes it; clients hand it over as their override. */
export async function bundleSigner(baseUrl: string): Promise<string> {
  const response = await fetch(`${baseUrl}/public/v1/discovery/keys`);
  expect(response.status).toBe(200);
  const { keys } = (await response.json()) as {
    keys: { role: string; publicKey: string; encoding: string; keyId: string }[];
  };
  const signer = keys.find((key) => key.role === 'bundle-signer');
  expect(signer).toMatchObject({ encoding: 'uncompressed', publicKey: expect.stringMatching(/^04[0-9a-f]{128}$/) });
  return (signer as { publicKey: string }).publicKey;
}

type ImportParams = Omit<Parameters<TurnkeyApiClient['importWallet']>[0], 'userId' | 'encryptedBundle'>;

/** Brings a mnemonic into the organization of the client, the way the crypto package does it. */
export async function importMnemonic(
  baseUrl: string,
  client: TurnkeyApiClient,
  mnemonic: string,
  params: ImportParams,
): Promise<Awaited<ReturnType<TurnkeyApiClient['importWallet']>>> {
  const { organizationId, userId } = await client.getWhoami();
  const { importBundle } = await client.initImportWallet({ userId });
  const encryptedBundle = await encryptWalletToBundle({
    mnemonic,
    importBundle,
    organizationId,
    userId,
    dangerouslyOverrideSignerPublicKey: await bundleSigner(baseUrl),
  });
  return await client.importWallet({ ...params, userId, encryptedBundle });
}
