import {
  ApiKeyStamper,
  CustosError,
  errorOfAnswer,
  fetchServiceKeys,
  PasskeyStamper,
  SessionKey,
  type Stamper,
  verifySession,
} from '@custos/sdk';
import { clientBy } from '../api/client.ts';
import { watchedFetch } from '../api/connection.ts';
import type { Credentials } from './credentials.ts';
import type { SessionOrigin } from './key-store.ts';
import { currentSession, forgetSession, openSession, type Session } from './session.ts';

/** Seconds that a session lasts, by how it begins. A key from a file is for a short visit. */
const LASTS: Readonly<Record<SessionOrigin, number>> = { passkey: 3600, 'api-key': 900, link: 3600 };
const LAST_ORGANIZATION = 'custos-organization';

/** Where the person signed in last from this browser; an id is no secret. */
export const lastOrganizationId = (): string => localStorage.getItem(LAST_ORGANIZATION) ?? '';

export const passkeyStamper = (credentialIds?: readonly string[]): PasskeyStamper =>
  new PasskeyStamper({ rpId: location.hostname, ...(credentialIds && { credentialIds }) });

/** Signs in with one touch; the passkey stamps a login for a key that only this browser has. */
export async function signInWithPasskey(organizationId: string): Promise<void> {
  await signIn(passkeyStamper(), organizationId, 'passkey');
}

/** Signs in with an API key, which is used once and kept nowhere. */
export async function signInWithApiKey(credentials: Credentials, organizationId: string): Promise<void> {
  await signIn(new ApiKeyStamper(credentials), organizationId, 'api-key');
}

async function signIn(stamper: Stamper, organizationId: string, origin: SessionOrigin): Promise<void> {
  const key = await SessionKey.generate();
  const { session } = await clientBy(stamper, organizationId).stampLogin({
    publicKey: key.publicKey,
    expirationSeconds: String(LASTS[origin]),
  });
  await begin(key, session, origin);
}

/** Redeems the link that the service printed when it started. */
export async function signInWithLink(token: string): Promise<void> {
  const key = await SessionKey.generate();
  const response = await watchedFetch('/console/link', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token, publicKey: key.publicKey }),
  });
  const text = await response.text();
  if (!response.ok) throw errorOfAnswer(response.status, text);
  const { session } = JSON.parse(text) as { session: string };
  await begin(key, session, 'link');
}

/** One touch more: the session key asks for its successor, and is gone. */
export async function extendSession(): Promise<void> {
  const session = currentSession();
  if (session === undefined) return;
  const next = await SessionKey.generate();
  const { session: token } = await clientBy(session.key, session.organizationId).stampLogin({
    publicKey: next.publicKey,
    expirationSeconds: String(LASTS[session.origin]),
  });
  await begin(next, token, session.origin);
  await endAtService(session);
}

async function begin(key: SessionKey, token: string, origin: SessionOrigin): Promise<void> {
  const serviceKeys = await fetchServiceKeys(location.origin, { fetch: watchedFetch });
  const claims = await verifySession(token, { serviceKeys });
  if (claims.publicKey !== key.publicKey) throw new CustosError('TOKEN_INVALID', 'the session is for another key');
  const who = await clientBy(key, claims.organizationId).whoami();
  localStorage.setItem(LAST_ORGANIZATION, claims.organizationId);
  await openSession({
    key,
    publicKey: key.publicKey,
    organizationId: claims.organizationId,
    organizationName: who.organizationName,
    userId: claims.userId,
    userName: who.username,
    expiresAtMs: claims.expiresAtMs,
    origin,
  });
}

/** Deletes the key here at once, and at the service if that can be reached. */
export async function signOut(): Promise<void> {
  const session = currentSession();
  await forgetSession();
  if (session !== undefined) await endAtService(session);
}

/** What cannot be ended ends by itself: the service knows when, and nobody has the key. */
async function endAtService({ key, organizationId, userId, publicKey }: Session): Promise<void> {
  const client = clientBy(key, organizationId);
  try {
    const { apiKeys } = await client.getApiKeys({ userId });
    const own = apiKeys.find(({ credential }) => credential.publicKey === publicKey);
    if (own !== undefined) await client.deleteApiKeys({ userId, apiKeyIds: [own.apiKeyId] });
  } catch (error) {
    if (!(error instanceof CustosError)) throw error;
  }
}
