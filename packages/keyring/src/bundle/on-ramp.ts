import { openText } from './credential-bundle.ts';
import { parseUtf8 } from './encoding.ts';

/**
 * A secret that a client encrypted to the on-ramp key, as UTF-8. Anything else than text is refused: no provider has
 * such a key. The caller owns and wipes the bytes.
 */
export function openOnRampSecret(privateKey: Uint8Array, bundle: string): Uint8Array {
  const secret = openText(privateKey, bundle);
  try {
    parseUtf8(secret, 'the secret');
    return secret;
  } catch (error) {
    secret.fill(0);
    throw error;
  }
}
