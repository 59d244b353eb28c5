import { parsePublicKey } from '../../authn/public-key.ts';
import { invalidField } from '../../lib/errors.ts';

/** P-256 keys in their one spelling. */
export interface KeyPairParts {
  readonly signPublicKey: string;
  /** Undefined where one key was given. */
  readonly encryptPublicKey: string | undefined;
}

/** Hex digits of two compressed points, and of two uncompressed ones. */
const PAIR_LENGTHS: ReadonlySet<number> = new Set([2 * 66, 2 * 130]);

/** Either one P-256 key, which signs, or two of them in a row: the first to encrypt to, the second to sign with. */
export function parseKeys(text: string, field: string): KeyPairParts {
  if (!PAIR_LENGTHS.has(text.length)) {
    return { signPublicKey: parsePublicKey('P256', text, field), encryptPublicKey: undefined };
  }
  const middle = text.length / 2;
  const encryptPublicKey = parsePublicKey('P256', text.slice(0, middle), field);
  const signPublicKey = parsePublicKey('P256', text.slice(middle), field);
  if (encryptPublicKey === signPublicKey) {
    throw invalidField(field, 'names one key for both purposes', 'INVALID_PUBLIC_KEY');
  }
  return { signPublicKey, encryptPublicKey };
}
