import { isDeepStrictEqual } from 'node:util';
import type { VerificationToken } from '@custos/keyring';
import { ApiError } from '../lib/errors.ts';
import { parseStrictJson } from '../lib/strict-json.ts';
import { keyObject, normalizePublicKey, verifyOnPool } from './public-key.ts';
import type { ClientSignature } from './shapes.ts';
import { parseDerSignature } from './stamp-headers.ts';

const RAW_SIGNATURE = /^[0-9a-f]{128}$/i;
const HEX = /^(?:[0-9a-f]{2})+$/i;

/** What a client says that it uses its token for (protocol/login 5.2). */
export type TokenUsage =
  | { readonly type: 'USAGE_TYPE_LOGIN'; readonly publicKey: string }
  | {
      readonly type: 'USAGE_TYPE_SIGNUP';
      readonly email: string | undefined;
      readonly phoneNumber: string | undefined;
      readonly apiKeys: readonly unknown[];
      readonly authenticators: readonly unknown[];
      readonly oauthProviders: readonly unknown[];
    };

const refuse = (why: string): ApiError => new ApiError('INVALID_CLIENT_SIGNATURE', `clientSignature: ${why}`);

/**
 * A token that is bound to a key is used only by whoever holds the key, and only for what the holder signed: the exact
 * text is verified first and read afterwards (protocol/login 5.3). A token without a key needs no signature.
 */
export async function requireClientSignature(
  token: VerificationToken,
  signature: ClientSignature | undefined,
  usage: TokenUsage,
): Promise<void> {
  if (token.publicKey === undefined) return;
  if (signature === undefined) throw refuse('is required with a verification token that is bound to a key');
  const publicKey = keyOf(signature.publicKey);
  if (publicKey !== Buffer.from(token.publicKey).toString('hex')) {
    throw refuse('publicKey is not the key that the verification token is bound to');
  }
  const bytes = signatureBytes(signature.signature);
  const key = { key: keyObject('P256', publicKey), dsaEncoding: 'ieee-p1363' as const };
  if (!(await verifyOnPool('sha256', Buffer.from(signature.message, 'utf8'), key, bytes))) {
    throw refuse('signature does not verify');
  }
  checkMessage(token, signature.message, usage);
}

function keyOf(text: string): string {
  try {
    return normalizePublicKey('P256', text);
  } catch (error) {
    if (error instanceof ApiError) throw refuse(`publicKey: ${error.message}`);
    throw error;
  }
}

/** Clients send r and s as they are; anything else is DER. */
function signatureBytes(text: string): Uint8Array {
  if (RAW_SIGNATURE.test(text)) return Buffer.from(text, 'hex');
  const bytes = HEX.test(text) ? parseDerSignature(Buffer.from(text, 'hex')) : undefined;
  if (bytes === undefined) throw refuse('signature is neither 64 bytes nor DER, in hexadecimal');
  return bytes;
}

type Json = Readonly<Record<string, unknown>>;

function checkMessage(token: VerificationToken, message: string, usage: TokenUsage): void {
  const said = parseObject(message);
  if (said === undefined) throw refuse('message is not a JSON object');
  if (said['tokenId'] !== token.id) throw refuse('message is about another verification token');
  if (said['type'] !== usage.type) throw refuse(`message must be of type ${usage.type}`);
  if (usage.type === 'USAGE_TYPE_LOGIN') {
    const login = said['login'] as Json | undefined;
    if (typeof login !== 'object' || login === null || !isSameKey(login['publicKey'], usage.publicKey)) {
      throw refuse('message is about another publicKey');
    }
    return;
  }
  const inner = (said['signupV2'] ?? said['signup']) as Json | undefined;
  if (typeof inner !== 'object' || inner === null) throw refuse('message has no sign-up');
  for (const name of ['apiKeys', 'authenticators', 'oauthProviders'] as const) {
    if (!isDeepStrictEqual(withoutUndefined(inner[name] ?? []), withoutUndefined(usage[name]))) {
      throw refuse(`message is about other ${name}`);
    }
  }
  requireContact(token, 'email', inner['email'], usage.email);
  requireContact(token, 'phoneNumber', inner['phoneNumber'], usage.phoneNumber);
}

/** What the message names must be what the request has; what it does not name is the token's own contact at least. */
function requireContact(token: VerificationToken, name: string, said: unknown, asked: string | undefined): void {
  if (said === undefined || said === null || said === '') return;
  const same = typeof said === 'string' && asked !== undefined && said.toLowerCase() === asked.toLowerCase();
  if (!same) throw refuse(`message is about another ${name}`);
  const isTokens = (token.verificationType === 'OTP_TYPE_EMAIL') === (name === 'email');
  if (isTokens && token.contact.toLowerCase() !== said.toLowerCase()) throw refuse(`message is about another ${name}`);
}

const isSameKey = (said: unknown, publicKey: string): boolean => {
  try {
    return typeof said === 'string' && normalizePublicKey('P256', said) === publicKey;
  } catch {
    return false;
  }
};

function parseObject(text: string): Json | undefined {
  try {
    const value: unknown = parseStrictJson(Buffer.from(text, 'utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** Parsed values are compared; a field that is absent and one that is null are the same (protocol/http 2.3). */
function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined && member !== null)
      .map(([name, member]) => [name, withoutUndefined(member)]),
  );
}
