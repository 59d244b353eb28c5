import { fromBase64url, toUtf8 } from '../bytes.ts';
import { CustosError } from '../errors.ts';
import { importPublicKey, readPublicKey, SIGNING } from '../p256.ts';

/** A token in its three parts, read but not believed. */
export interface ReadToken {
  readonly claims: Readonly<Record<string, unknown>>;
  /** What the signature is over, before any hash. */
  readonly signed: Uint8Array<ArrayBuffer>;
  readonly signature: Uint8Array<ArrayBuffer>;
}

export const invalidToken = (message: string): CustosError => new CustosError('TOKEN_INVALID', message);

/** RFC 7519 in its compact form, with the one algorithm that the service signs with. */
export function readToken(text: string): ReadToken {
  const parts = typeof text === 'string' ? text.split('.') : [];
  const [header = '', payload = '', signature = ''] = parts;
  const claims = readJson(payload);
  const bytes = fromBase64url(signature);
  if (parts.length !== 3 || claims === undefined || bytes?.length !== 64) throw invalidToken('this is not a token');
  if (readJson(header)?.alg !== 'ES256') throw invalidToken('the token is not signed with ES256');
  return { claims, signed: toUtf8(`${header}.${payload}`), signature: bytes };
}

/** Whether one of the keys signed SHA-256 of these bytes. */
export async function isSignedByOne(
  keys: readonly string[],
  signature: Uint8Array<ArrayBuffer>,
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  for (const key of keys) {
    const publicKey = await importPublicKey(readPublicKey(key));
    if (await globalThis.crypto.subtle.verify(SIGNING, publicKey, signature, signed)) return true;
  }
  return false;
}

/** A claim that has to be a text; an empty one says nothing. */
export function textClaim(claims: ReadToken['claims'], name: string): string {
  const value = claims[name];
  if (typeof value === 'string' && value !== '') return value;
  throw invalidToken(`the token has no ${name}`);
}

export const optionalTextClaim = (claims: ReadToken['claims'], name: string): string | undefined =>
  claims[name] === undefined ? undefined : textClaim(claims, name);

function readJson(part: string): Readonly<Record<string, unknown>> | undefined {
  const bytes = fromBase64url(part);
  if (bytes === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}
