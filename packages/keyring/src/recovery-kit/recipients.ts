import { Buffer } from 'node:buffer';
import { createPrivateKey, createPublicKey, diffieHellman } from 'node:crypto';
import { bech32 } from '@scure/base';

/** Of one kit. Each adds 200 bytes to it, and somebody has to read them all before approving. */
export const RECIPIENTS_MAX = 16;

const KEY_BYTES = 32;
/** A prefix, 52 letters for the key and six for the checksum. */
const TEXT_LENGTH = 62;

// RFC 8410: what stands before the 32 bytes of an X25519 key.
const SPKI_HEADER = Buffer.from('302a300506032b656e032100', 'hex');
const PKCS8_HEADER = Buffer.from('302e020100300506032b656e04220420', 'hex');

/**
 * Why a text is no recipient that a kit can be encrypted to; undefined if it is one. The answer never repeats the text, which
 * may be an identity that somebody confused with it.
 */
export function recipientFault(text: unknown): string | undefined {
  if (typeof text !== 'string') return 'must be an age recipient, a text that begins with age1';
  const trimmed = text.trim();
  if (/^AGE-(?:SECRET-KEY|PLUGIN)-/i.test(trimmed)) {
    return 'is an identity, which opens kits and must stay secret: give the recipient that belongs to it, which begins with age1 (`age-keygen -y` shows it), and use another identity if this one was sent anywhere';
  }
  if (/^-----BEGIN [A-Z ]*PRIVATE KEY/.test(trimmed)) {
    return 'is a private key, which must stay secret: give an age recipient, which begins with age1';
  }
  if (/^age1pq1|^age1tag(?:pq)?1/.test(trimmed)) {
    return 'is a recipient that only the newest versions of age know: give an X25519 recipient, which is age1 and 58 letters and digits';
  }
  if (/^ssh-/.test(trimmed))
    return 'is an SSH key: give an age recipient, which begins with age1 (`age-keygen` makes one)';
  if (!text.startsWith('age1')) return 'must be an age recipient, a text that begins with age1';
  const key = keyOf(text);
  if (key === undefined) {
    return `is no age recipient: it has a mistake in it, or a part is missing (age1 and 58 lower-case letters and digits; a checksum is among them)`;
  }
  return isUsable(key) ? undefined : 'is a key that everybody can open kits of';
}

function keyOf(text: string): Uint8Array | undefined {
  if (text.length !== TEXT_LENGTH || text !== text.toLowerCase()) return undefined;
  const decoded = bech32.decodeUnsafe(text);
  const bytes = decoded?.prefix === 'age' ? bech32.fromWordsUnsafe(decoded.words) : undefined;
  return bytes instanceof Uint8Array && bytes.length === KEY_BYTES ? bytes : undefined;
}

let probe: ReturnType<typeof createPrivateKey> | undefined;

/** RFC 7748, 6.1: with a point of small order the shared secret is zero, whoever computes it. OpenSSL refuses that. */
function isUsable(key: Uint8Array): boolean {
  probe ??= createPrivateKey({
    key: Buffer.concat([PKCS8_HEADER, Buffer.alloc(KEY_BYTES, 1)]),
    format: 'der',
    type: 'pkcs8',
  });
  try {
    const publicKey = createPublicKey({ key: Buffer.concat([SPKI_HEADER, key]), format: 'der', type: 'spki' });
    return diffieHellman({ privateKey: probe, publicKey }).length === KEY_BYTES;
  } catch {
    return false;
  }
}
