import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { KeyringError } from '../errors.ts';
import { parseBase64Url, parseJsonObject, parseUtf8 } from './encoding.ts';
import { type Signer, signMessage, verifyMessage } from './p256.ts';

// JSON Web Signature (RFC 7515), compact serialisation, ES256 (RFC 7518, 3.4).

/** Far above any token of ours; the longest part is the scope of a session profile, of 16,384 characters. */
export const TOKEN_LENGTH_MAX = 256 * 1024;

/**
 * JSON whose base64url has neither `-` nor `_`, since clients decode it as plain base64. Those two stand for six bits of
 * ones but the last: in ASCII only the ends of `>`, `?`, `~` and delete have them, and beyond ASCII any byte can.
 */
export function clientSafeJson(value: object): string {
  return JSON.stringify(value).replace(
    /[>?~\x7f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * Signs header and payload. ES256 hashes what it signs once; the public clients check a session over the hash of the
 * hash.
 */
export function signCompact(signer: Signer, header: object, payload: string, hashes: 'once' | 'twice'): string {
  const input = `${base64Url(JSON.stringify(header))}.${base64Url(payload)}`;
  const bytes = Buffer.from(input, 'ascii');
  const message = hashes === 'once' ? bytes : createHash('sha256').update(bytes).digest();
  return `${input}.${Buffer.from(signMessage(signer, message, 'raw')).toString('base64url')}`;
}

/**
 * RFC 7515, 5.2, with nothing left to the header: the algorithm is ES256 and the key the given one, whatever it names.
 * Answers with the payload's bytes, or undefined when the token is not one or the signature not the key's.
 */
export function verifyCompact(publicKey: Uint8Array, token: string): Uint8Array | undefined {
  if (token.length > TOKEN_LENGTH_MAX) return undefined;
  const parts = token.split('.');
  if (parts.length !== 3) return undefined;
  const [header, payload, signature] = parts.map((part) => parseBase64Url(part));
  if (!header || !payload || !signature || !isEs256(header)) return undefined;
  const message = Buffer.from(`${parts[0]}.${parts[1]}`, 'ascii');
  return verifyMessage(publicKey, message, signature) ? payload : undefined;
}

/** Extensions that must be understood (RFC 7515, 4.1.11) are not, so they are refused. */
function isEs256(bytes: Uint8Array): boolean {
  try {
    const header = parseJsonObject(parseUtf8(bytes, 'the header'), 'the header');
    return header.alg === 'ES256' && header.crit === undefined;
  } catch (error) {
    if (error instanceof KeyringError) return false;
    throw error;
  }
}

function base64Url(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64url');
}
