// The page of login-browser.test.ts: the browser SDK as an application with passkeys uses it.
import { ApiKeyStamper } from '@turnkey/api-key-stamper';
import { TurnkeyClient } from '@turnkey/core';
import { decryptCredentialBundle, generateP256KeyPair, getPublicKey } from '@turnkey/crypto';
import { uint8ArrayToHexString } from '@turnkey/encoding';
import { getWebAuthnAttestation } from '@turnkey/http';
import { type SessionType, Turnkey, TurnkeyBrowserClient } from '@turnkey/sdk-browser';
import { attempt, type Called, invoke, type MethodCall } from './page-calls.ts';

export type { Called };

export interface Authenticator {
  readonly authenticatorName: string;
  readonly challenge: string;
  readonly attestation: Awaited<ReturnType<typeof getWebAuthnAttestation>>;
}

interface Settings {
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly authProxyConfigId: string;
}

/** Ids of the passkeys that may be used; none for those that the device knows by itself. */
type Allowed = readonly string[];

let settings: Settings;
let turnkey: Turnkey;
let recoveryKey: ReturnType<typeof generateP256KeyPair>;

const random = (length: number) => crypto.getRandomValues(new Uint8Array(length));
const toBase64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
const fromBase64url = (text: string) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));

export function start(given: Settings): void {
  settings = given;
  turnkey = new Turnkey({
    apiBaseUrl: given.baseUrl,
    defaultOrganizationId: given.organizationId,
    rpId: location.hostname,
  });
}

/** A passkey as the API takes it, with the statement that the device makes when it is asked for one. */
export async function register(wanted: {
  readonly authenticatorName: string;
  readonly attestation: AttestationConveyancePreference;
  readonly isResident: boolean;
}): Promise<Authenticator> {
  const challenge = random(32);
  const attestation = await getWebAuthnAttestation({
    publicKey: {
      rp: { id: location.hostname, name: 'Test' },
      user: { id: random(16), name: 'user', displayName: 'User' },
      challenge,
      pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
      attestation: wanted.attestation,
      authenticatorSelection: wanted.isResident
        ? { residentKey: 'required', userVerification: 'preferred' }
        : { residentKey: 'discouraged', userVerification: 'discouraged' },
    },
  });
  return { authenticatorName: wanted.authenticatorName, challenge: toBase64url(challenge), attestation };
}

/** What the SDK makes by itself. */
export async function createUserPasskey(): Promise<Authenticator> {
  const { encodedChallenge, attestation } = await turnkey.passkeyClient().createUserPasskey();
  return { authenticatorName: 'first', challenge: encodedChallenge, attestation };
}

export const signUp = (body: Parameters<ReturnType<TurnkeyClient['createHttpClient']>['proxySignupV2']>[0]) =>
  attempt(async () => {
    const { baseUrl, organizationId, authProxyConfigId } = settings;
    const client = new TurnkeyClient({ authProxyUrl: baseUrl, organizationId, authProxyConfigId });
    return await client.createHttpClient().proxySignupV2(body);
  });

async function openStore() {
  const client = await turnkey.indexedDbClient();
  await client.init();
  return client;
}

const passkeyClient = (allow: Allowed) =>
  turnkey.passkeyClient({
    allowCredentials: allow.map((id) => ({ id: fromBase64url(id), type: 'public-key' as const })),
  });

/** Stamped by the passkey. */
export const byPasskey = ({ allow, ...wanted }: MethodCall & { readonly allow: Allowed }): Promise<Called> =>
  invoke(passkeyClient(allow), wanted);

/** Stamped by the key of the session. */
export const bySession = async (wanted: MethodCall): Promise<Called> => invoke(await openStore(), wanted);

/** With the token of a session that only reads. */
export function byToken({ token, ...wanted }: MethodCall & { readonly token: string }): Promise<Called> {
  const { baseUrl: apiBaseUrl, organizationId } = settings;
  return invoke(new TurnkeyBrowserClient({ apiBaseUrl, organizationId, readOnlySession: token }), wanted);
}

export const logIn = ({ allow, sessionType }: { readonly allow: Allowed; readonly sessionType: `${SessionType}` }) =>
  attempt(async () => {
    const publicKey = (await (await openStore()).getPublicKey()) as string;
    await passkeyClient(allow).loginWithPasskey({ publicKey, sessionType: sessionType as SessionType });
    return { session: await turnkey.getSession(), raw: await turnkey.getRawSession() };
  });

/** The key that the mail will be for stays in the page. */
export function beginRecovery(): string {
  recoveryKey = generateP256KeyPair();
  return recoveryKey.publicKeyUncompressed;
}

/** Stamped by the key that came by mail. */
export function byMail(
  given: MethodCall & { readonly bundle: string; readonly organizationId: string },
): Promise<Called> {
  const { bundle, organizationId, ...wanted } = given;
  const apiPrivateKey = decryptCredentialBundle(bundle, recoveryKey.privateKey);
  const apiPublicKey = uint8ArrayToHexString(getPublicKey(apiPrivateKey, true));
  const stamper = new ApiKeyStamper({ apiPublicKey, apiPrivateKey });
  return invoke(new TurnkeyBrowserClient({ apiBaseUrl: settings.baseUrl, organizationId, stamper }), wanted);
}
