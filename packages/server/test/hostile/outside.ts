import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { vi } from 'vitest';
import { earnChainSettings, startEarnChain } from '../chain/earn-chain.ts';
import { SolanaServer } from '../chain/solana-server.ts';
import type { StubNode } from '../chain/stub-node.ts';
import {
  attemptOf,
  clientSignature,
  loginParameters,
  MAIL,
  type Message,
  newEmail,
  newPhone,
  type SentCode,
  SMS,
} from '../flows/fixtures/logins.ts';
import { boundTo, encryptClientSecret, OAUTH2_CLIENT, Oauth2Providers, sha256Hex } from '../flows/fixtures/oauth.ts';
import { OnRampProviders } from '../flows/fixtures/on-ramp.ts';
import { targetOf } from '../harness/bundles.ts';
import { type KeyPair, newKeyPair, stampFor, type TestClient } from '../harness/client.ts';
import { MAIL_TEMPLATES } from '../harness/mail-templates.ts';
import { ec, makeToken, toJwk } from '../harness/oidc-issuer.ts';

export { newEmail, newPhone };

// What is outside of the service in the tests of every operation: an OpenID issuer, a receiver of webhooks, two
// OAuth 2.0 providers and the on-ramp providers on loopback, and the inbox in which messages end.

/** Limits have tests of their own; here they would only stop the many requests. */
const WITHOUT_LIMITS = {
  CUSTOS_FAILED_AUTH_PER_MINUTE: '0',
  CUSTOS_DEV_INBOX: 'on',
  ...MAIL_TEMPLATES,
  CUSTOS_OUTBOUND_ALLOW: '127.0.0.0/8',
  CUSTOS_OTP_REQUESTS: '0',
  CUSTOS_OTP_ORGANIZATION_REQUESTS: '0',
  CUSTOS_OTP_FAILURES_PER_DAY: '0',
  CUSTOS_OTP_SECONDS_MAX: '86400',
};

export const AUDIENCE = 'app';

/** What came to the receiver of webhooks. */
interface Received {
  /** Of the endpoint, as it was asked for. */
  readonly name: string;
  readonly body: string;
}

export class Outside implements AsyncDisposable {
  readonly providers: Oauth2Providers;
  readonly onRamp: OnRampProviders;
  readonly solana: SolanaServer;
  readonly ethereum: StubNode;
  /** The name of the OpenID issuer. */
  readonly issuer: string;
  readonly received: readonly Received[];
  readonly #server: Server;

  private constructor(
    providers: Oauth2Providers,
    onRamp: OnRampProviders,
    solana: SolanaServer,
    ethereum: StubNode,
    server: Server,
    received: readonly Received[],
  ) {
    this.providers = providers;
    this.onRamp = onRamp;
    this.solana = solana;
    this.ethereum = ethereum;
    this.#server = server;
    this.received = received;
    this.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(): Promise<Outside> {
    const received: Received[] = [];
    const server = createServer(async (request, response) => {
      const { url = '', method, headers } = request;
      const issuer = `http://${headers.host}`;
      if (method === 'POST') {
        const name = new URL(url, issuer).searchParams.get('name') ?? '';
        received.push({ name, body: await text(request) });
      }
      const isKeys = url === '/keys';
      response.end(JSON.stringify(isKeys ? { keys: [toJwk(ec)] } : { issuer, jwks_uri: `${issuer}/keys` }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const solana = await SolanaServer.start();
    // Equal payments, of which these tests send many, are told apart by their block only.
    solana.isGrowing = true;
    const ethereum = await startEarnChain();
    const [providers, onRamp] = [await Oauth2Providers.start(), await OnRampProviders.start()];
    return new Outside(providers, onRamp, solana, ethereum, server, received);
  }

  /** Settings of a service that reaches all of it. */
  get env(): Record<string, string> {
    const chains = { ...this.solana.settings(), ...earnChainSettings(this.ethereum) };
    return { ...WITHOUT_LIMITS, ...this.providers.env, ...this.onRamp.env, CUSTOS_CHAINS: JSON.stringify(chains) };
  }

  /** A token about somebody that is good now, bound to a key if there is one. */
  idToken(sub: string, publicKey?: string): string {
    const now = Math.floor(Date.now() / 1000);
    const nonce = publicKey === undefined ? {} : boundTo(publicKey);
    const common = { iss: this.issuer, sub, aud: AUDIENCE, iat: now, exp: now + 3600, jti: randomUUID() };
    return makeToken(ec, 'ES256', { ...common, ...nonce });
  }

  /** Where webhooks of an endpoint go. */
  hook(name: string): string {
    return `${this.issuer}/hooks?name=${encodeURIComponent(name)}`;
  }

  /** The request of somebody whom a provider has just sent back. */
  authorization(oauth2CredentialId: string) {
    return { oauth2CredentialId, ...this.providers.authorize(), nonce: sha256Hex(newKeyPair().publicKey) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    await this.providers[Symbol.asyncDispose]();
    await this.onRamp[Symbol.asyncDispose]();
    await this.solana[Symbol.asyncDispose]();
    await this.ethereum[Symbol.asyncDispose]();
  }
}

/** Every way to log in, on in a parent, so that its sub-organizations have them too. */
export async function turnLoginsOn(parent: TestClient, outside?: Outside): Promise<void> {
  if (outside !== undefined) await parent.run('update_auth_proxy_config', { oidcIssuers: [outside.issuer] });
  for (const name of ['OTP_EMAIL_AUTH', 'SMS_AUTH', 'EMAIL_AUTH', 'EMAIL_RECOVERY']) {
    await parent.run('set_organization_feature', { name: `FEATURE_NAME_${name}`, value: 'true' });
  }
}

export async function messagesTo({ baseUrl }: TestClient, to: string): Promise<Message[]> {
  const response = await fetch(`${baseUrl}/dev/inbox.json`);
  return ((await response.json()) as Message[]).filter((message) => message.to === to);
}

/**
 * Mail leaves after the answer, behind whatever else is on its way; only a test's own time bounds how long that takes.
 */
export const waiting = { timeout: 55_000, interval: 5 };

/** The one message to somebody, as soon as it is there. */
export async function messageTo(client: TestClient, to: string): Promise<Message> {
  return await vi.waitFor(async () => {
    const [message, ...more] = await messagesTo(client, to);
    if (message === undefined || more.length > 0) throw new Error(`not one message to ${to}`);
    return message;
  }, waiting);
}

export const typeOf = (contact: string): string => (contact.startsWith('+') ? SMS : MAIL);

/**
 * What an operation answers that mails a code to somebody, and the code: earlier ones that nobody read do not count.
 */
async function askForCode<T>(client: TestClient, contact: string, ask: () => Promise<T>): Promise<[T, code: string]> {
  const earlier = new Set((await messagesTo(client, contact)).map(({ id }) => id));
  const answer = await ask();
  const { text } = await vi.waitFor(async () => {
    const message = (await messagesTo(client, contact)).find(({ id }) => !earlier.has(id));
    if (message === undefined) throw new Error(`no message to ${contact}`);
    return message;
  }, waiting);
  const code = /^([0-9A-Z]{9})\b/m.exec(text)?.[1];
  if (code === undefined) throw new Error(`no code in ${text}`);
  return [answer, code];
}

/** A code that is to be sent back encrypted. */
export async function newCode(client: TestClient, contact = newEmail()): Promise<SentCode> {
  const parameters = { otpType: typeOf(contact), contact, appName: 'App' };
  const [answer, code] = await askForCode(client, contact, () => client.run('init_otp', parameters));
  return { otpId: answer.otpId, target: targetOf(answer.otpEncryptionTargetBundle), code };
}

/** The same, to be sent back as it is. */
export async function newPlainCode(client: TestClient, contact = newEmail()) {
  const parameters = { otpType: typeOf(contact), contact, appName: 'App' };
  const [answer, otpCode] = await askForCode(client, contact, () =>
    client.submit('init_otp', parameters, { type: 'ACTIVITY_TYPE_INIT_OTP_V2' }),
  );
  return { otpId: answer.body.activity.result.initOtpResult.otpId, otpCode };
}

/** A code for otp_auth, for a user of the organization with this contact. */
export async function newAuthCode(client: TestClient, contact: string) {
  const parameters = { otpType: typeOf(contact), contact, appName: 'App' };
  const [{ otpId }, otpCode] = await askForCode(client, contact, () => client.run('init_otp_auth', parameters));
  return { otpId, otpCode };
}

/** What verify_otp is sent, with a key that the token is to be bound to. */
export const newAttempt = async (client: TestClient, key: KeyPair, contact?: string) =>
  attemptOf(await newCode(client, contact), key);

/** A token that proves a contact and is bound to a key. */
export async function newVerification(client: TestClient, key: KeyPair, contact: string): Promise<string> {
  return (await client.run('verify_otp', await newAttempt(client, key, contact))).verificationToken;
}

/** A token that proves a contact and is bound to no key. */
export async function newUnboundVerification(client: TestClient, contact: string): Promise<string> {
  const parameters = await newPlainCode(client, contact);
  const answer = await client.submit('verify_otp', parameters, { type: 'ACTIVITY_TYPE_VERIFY_OTP' });
  return answer.body.activity.result.verifyOtpResult.verificationToken;
}

/** What otp_login is sent for the user with this contact. */
export async function newLogin(client: TestClient, contact: string, session = newKeyPair()) {
  const key = newKeyPair();
  return loginParameters(await newVerification(client, key, contact), key, session);
}

/** What signs a sign-up with these credentials (protocol/login 5.2). */
export const signUpSignature = (key: KeyPair, verificationToken: string, user: Record<string, unknown>) =>
  clientSignature(key, {
    signupV2: user,
    tokenId: JSON.parse(Buffer.from(verificationToken.split('.')[1] ?? '', 'base64').toString()).id,
    type: 'USAGE_TYPE_SIGNUP',
  });

/** The X-Stamp-Attested value of a body, by a key that a token attests (protocol/stamps 5.1). */
export function attestedStamp(body: Uint8Array, key: KeyPair, publicKeyAttestation: string): string {
  const { publicKey, signature } = JSON.parse(Buffer.from(stampFor(body, key), 'base64url').toString());
  const scheme = 'STAMP_ATTESTED_SCHEME_P256_VERIFICATION_TOKEN';
  const stamp = { publicKeyAttestation, scheme, publicKey, signature };
  return Buffer.from(JSON.stringify(stamp)).toString('base64url');
}

const recipients = new Map<string, string>();

/** The secret of the client that the providers know, encrypted to the service. */
export async function encryptedSecret({ baseUrl }: TestClient): Promise<string> {
  let recipient = recipients.get(baseUrl);
  if (recipient === undefined) {
    const { keys } = (await (await fetch(`${baseUrl}/public/v1/discovery/keys`)).json()) as {
      keys: { role: string; publicKey: string }[];
    };
    recipient = keys.find(({ role }) => role === 'oauth-secret')?.publicKey ?? '';
    recipients.set(baseUrl, recipient);
  }
  return encryptClientSecret(OAUTH2_CLIENT.secret, recipient);
}

export const credentialParams = async (client: TestClient, clientId: string) => ({
  provider: 'OAUTH2_PROVIDER_X',
  clientId,
  encryptedClientSecret: await encryptedSecret(client),
});

/** The credential of the client that the providers know; an organization has it once. */
export async function newKnownCredential(client: TestClient): Promise<string> {
  const parameters = await credentialParams(client, OAUTH2_CLIENT.id);
  return (await client.run('create_oauth2_credential', parameters)).oauth2CredentialId;
}
