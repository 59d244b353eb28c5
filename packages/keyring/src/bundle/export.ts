import { Buffer } from 'node:buffer';
import { KeyringError } from '../errors.ts';
import { type SealOptions, seal } from './hpke.ts';
import type { Signer } from './p256.ts';
import { signExport } from './signed-bundle.ts';

const KEY_BYTES = 32;
const NOTHING = new Uint8Array(0);
const NEWLINE = 0x0a;
const SPACE = 0x20;
/** U+3000 in UTF-8. */
const IDEOGRAPHIC_SPACE = [0xe3, 0x80, 0x80] as const;

/**
 * The phrase in NFKD, where the ideographic space of Japanese becomes a plain one, then, if there is one, a newline and
 * the passphrase as it was given: the reader splits at the first newline. Takes and gives UTF-8, which the caller wipes.
 */
export function walletPlaintext(phrase: Uint8Array, passphrase: Uint8Array = NOTHING): Uint8Array {
  if (phrase.length === 0 || phrase.includes(NEWLINE)) {
    throw new KeyringError('INVALID_INPUT', 'a phrase must be one line');
  }
  const scratch = Buffer.alloc(phrase.length + 1 + passphrase.length);
  let length = 0;
  for (let i = 0; i < phrase.length; ) {
    const ideographic = IDEOGRAPHIC_SPACE.every((byte, offset) => phrase[i + offset] === byte);
    scratch[length] = ideographic ? SPACE : (phrase[i] as number);
    length += 1;
    i += ideographic ? IDEOGRAPHIC_SPACE.length : 1;
  }
  if (passphrase.length > 0) {
    scratch[length] = NEWLINE;
    scratch.set(passphrase, length + 1);
    length += 1 + passphrase.length;
  }
  const plaintext = Uint8Array.from(scratch.subarray(0, length));
  scratch.fill(0);
  return plaintext;
}

/** The 32 bytes themselves, which for Ed25519 are the seed: clients encode them as the address format asks. */
export function keyPlaintext(privateKey: Uint8Array): Uint8Array {
  if (privateKey.length !== KEY_BYTES) {
    throw new KeyringError('INVALID_INPUT', `an exported key must be of ${KEY_BYTES} bytes`);
  }
  return privateKey;
}

/** An export bundle for the receiver, signed by the bundle-signing key. It does not wipe the plaintext. */
export function sealExportBundle(
  signer: Signer,
  targetPublicKey: Uint8Array,
  organizationId: string,
  plaintext: Uint8Array,
  options: SealOptions = {},
): string {
  return signExport(signer, seal(targetPublicKey, plaintext, options), organizationId);
}
