// What the tests of logins need around the public packages: messages as they arrive, the service's keys, sessions.
import { generateP256KeyPair, getPublicKey, verifySessionJwtSignature } from '@turnkey/crypto';
import type { TurnkeyApiClient } from '@turnkey/sdk-server';
import { expect, vi } from 'vitest';
import type { KeyPair, TestClient } from '../packages/server/test/harness/client.ts';
import { connect, credentialsOf, fresh, userOf } from './sdk.ts';

/** A name of one word, and an address, that nobody else has in this run of a file. */
export const newName = (word: string): string => fresh(word).replace(' ', '-');
export const newAddress = (word: string): string => `${newName(word)}@example.com`;

type Features = Parameters<TurnkeyApiClient['setOrganizationFeature']>[0]['name'];

/** Ways to log in that an organization at the top has to turn on; those below it have them. */
const LOGIN_FEATURES = [
  'FEATURE_NAME_EMAIL_AUTH',
  'FEATURE_NAME_OTP_EMAIL_AUTH',
  'FEATURE_NAME_SMS_AUTH',
  'FEATURE_NAME_EMAIL_RECOVERY',
] as const;

export async function enableLogins(root: TurnkeyApiClient): Promise<void> {
  for (const name of LOGIN_FEATURES) await root.setOrganizationFeature({ name: name as Features, value: '' });
}

/** Turns the sign-up proxy on; answers the id that its callers name. */
export async function enableProxy(root: TestClient, settings: Readonly<Record<string, unknown>>): Promise<string> {
  await root.run('enable_auth_proxy', {});
  const { configId } = await root.run('update_auth_proxy_config', settings);
  return configId;
}

type Role = 'bundle-signer' | 'session-signer' | 'otp' | 'oauth-secret';

/** The public keys that clients of this service trust instead of those in their packages. */
export async function serviceKeys(baseUrl: string): Promise<Readonly<Record<Role, string>>> {
  const response = await fetch(`${baseUrl}/public/v1/discovery/keys`);
  const { keys } = (await response.json()) as { keys: { role: Role; publicKey: string }[] };
  return Object.fromEntries(keys.map(({ role, publicKey }) => [role, publicKey])) as Record<Role, string>;
}

export interface Message {
  readonly id: string;
  readonly channel: 'email' | 'sms';
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** The development inbox of a service, where each message is taken once. */
export class Inbox {
  readonly #address: string;
  readonly #taken = new Set<string>();

  constructor(baseUrl: string) {
    this.#address = `${baseUrl}/dev/inbox.json`;
  }

  /** The next message to a contact. It arrives a moment after the request that caused it has been answered. */
  async next(to: string): Promise<Message> {
    const message = await vi.waitFor(
      async () => {
        const messages = (await (await fetch(this.#address)).json()) as Message[];
        const found = messages.findLast((candidate) => candidate.to === to && !this.#taken.has(candidate.id));
        expect(found, `a message to ${to}`).toBeDefined();
        return found as Message;
      },
      { timeout: 20_000, interval: 20 },
    );
    this.#taken.add(message.id);
    return message;
  }
}

/** The code alone on its line in a mail, or at the beginning of a text message. */
export function codeIn({ text }: Pick<Message, 'text'>): string {
  const code = /^([0-9A-HJKMNP-TV-Z]{6,9})(?=$| is your)/m.exec(text)?.[1];
  if (code === undefined) throw new Error(`no code in: ${text}`);
  return code;
}

/** The credential bundle alone on its line. */
export function bundleIn({ text }: Pick<Message, 'text'>): string {
  const bundle = /^[1-9A-HJ-NP-Za-km-z]{100,}$/m.exec(text)?.[0];
  if (bundle === undefined) throw new Error(`no bundle in: ${text}`);
  return bundle;
}

/** A sub-organization with one root user. */
export async function openAccount(
  baseUrl: string,
  root: TurnkeyApiClient,
  key: KeyPair,
  contacts: { readonly userEmail?: string; readonly userPhoneNumber?: string } = {},
): Promise<{ id: string; userId: string; client: TurnkeyApiClient }> {
  const { subOrganizationId, rootUserIds } = await root.createSubOrganization({
    subOrganizationName: fresh('account'),
    rootQuorumThreshold: 1,
    rootUsers: [{ ...userOf('holder', key), ...contacts }],
  });
  const client = connect(baseUrl, credentialsOf(subOrganizationId, key));
  return { id: subOrganizationId, userId: (rootUserIds as string[])[0] as string, client };
}

export interface Session {
  readonly exp: number;
  readonly public_key: string;
  readonly session_type: string;
  readonly user_id: string;
  readonly organization_id: string;
}

/** Checks a session as the crypto package does, and reads it as the browser packages do: with plain base64. */
export async function readSession(baseUrl: string, session: string): Promise<Session> {
  const keys = await serviceKeys(baseUrl);
  expect(await verifySessionJwtSignature(session, keys['session-signer'])).toBe(true);
  expect(await verifySessionJwtSignature(session, keys.otp)).toBe(false);
  return JSON.parse(atob(session.split('.')[1] as string)) as Session;
}

/** A key to which credential bundles are encrypted; clients name it uncompressed. */
export function newTargetKey(): { readonly publicKey: string; readonly privateKey: string } {
  const { privateKey, publicKeyUncompressed } = generateP256KeyPair();
  return { privateKey, publicKey: publicKeyUncompressed };
}

/** The key pair of a private key that came in a bundle. */
export const keyPairOf = (privateKey: string): KeyPair => ({
  privateKey,
  publicKey: Buffer.from(getPublicKey(privateKey, true)).toString('hex'),
});
