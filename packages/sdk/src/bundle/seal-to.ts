import { type Bytes, toHex, toUtf8 } from '../bytes.ts';
import { CustosError } from '../errors.ts';
import { seal } from './hpke.ts';
import { type BundleDocument, readPoint } from './signed-bundle.ts';

/**
 * Wipes the plaintext, which is a copy made before anything was waited for: callers may wipe theirs as soon as they
 * have called.
 */
export async function sealTo(
  checked: Promise<BundleDocument>,
  plaintext: Bytes,
): Promise<{ readonly payload: string; readonly targetPublicKey: string }> {
  try {
    const target = readPoint(await checked, 'targetPublic');
    const { enc, ciphertext } = await seal(target, plaintext);
    const payload = JSON.stringify({ encappedPublic: toHex(enc), ciphertext: toHex(ciphertext) });
    return { payload, targetPublicKey: toHex(target) };
  } finally {
    plaintext.fill(0);
  }
}

/** Half a character would be encoded as another one, and the secret would not be the one that was given. */
export function encode(name: string, text: string): Bytes {
  if (/\p{Surrogate}/u.test(text)) throw new CustosError('INVALID_OPTION', `${name} is not well-formed Unicode`);
  return toUtf8(text);
}
