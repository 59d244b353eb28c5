import { canonicalPublicKey } from '../../authn/public-key.ts';
import { invalidField } from '../../lib/errors.ts';

/** Of the form of a key, and perhaps of no curve: nobody has it. */
const KEY_FORM = /^(?:0[23])?[0-9a-f]{64}$/;

/**
 * The API key that a list is for, in the spelling under which keys are stored; absent or empty means the organization.
 */
export function allowlistKey(publicKey: string | undefined, field = 'parameters.publicKey'): string | undefined {
  if (publicKey === undefined || publicKey === '') return undefined;
  const key = canonicalPublicKey(publicKey) ?? publicKey.toLowerCase();
  if (KEY_FORM.test(key)) return key;
  throw invalidField(
    field,
    'must be a public key in hexadecimal without a prefix: a P-256 or secp256k1 point, compressed (33 bytes) or uncompressed (65 bytes), or an Ed25519 key (32 bytes)',
    'INVALID_PUBLIC_KEY',
  );
}
