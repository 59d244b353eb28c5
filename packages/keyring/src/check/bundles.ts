import type { Sealed } from '../bundle/hpke.ts';
import { parseHpkeJson } from '../bundle/hpke-json.ts';
import { normalizeOtpCode } from '../bundle/otp.ts';
import { uncompressPoint } from '../bundle/p256.ts';
import { invalid } from '../derive/check.ts';
import { KeyringError } from '../errors.ts';
import type { OtpAttempt, SealedTarget, SecretToExport, SecretToImport } from '../keyring.ts';
import { checkBytes } from '../seal/layout.ts';
import { checkSealed } from './keys.ts';
import { listOf, membersOf, nameOf, textOf } from './shape.ts';

// What comes in encrypted, what it is encrypted to, and one-time codes.

const TARGETS_MAX = 64;
const SECRET_TARGETS_MAX = 256;
/** In one call. */
const SECRETS_MAX = 32;
const BUNDLE_LENGTH_MAX = 256 * 1024;

/** After normalisation, which leaves no small letter. */
const OTP_CODE = /^[0-9A-Z]{1,64}$/;

/** In its uncompressed form. */
export function checkTargetPublicKey(publicKey: unknown): Uint8Array {
  checkBytes(publicKey, 'targetPublicKey');
  return uncompressPoint(publicKey);
}

export function checkTarget(target: unknown): SealedTarget {
  const { id, sealed } = membersOf<SealedTarget>(target, 'a target');
  return { id: nameOf(id, 'the id of a target'), sealed: checkSealed(sealed, 'a sealed target') };
}

export function checkSecretsToExport(secrets: unknown): SecretToExport[] {
  return listOf(secrets, 'secrets', 1, SECRETS_MAX).map((secret) => {
    const { ownerId, sealedSecret, targetPublicKey } = membersOf<SecretToExport>(secret, 'a secret');
    return {
      ownerId: nameOf(ownerId, 'ownerId'),
      sealedSecret: checkSealed(sealedSecret, 'sealedSecret'),
      targetPublicKey: checkTargetPublicKey(targetPublicKey),
    };
  });
}

/** A secret to import, with its payload read. */
export interface EncryptedSecret {
  readonly ownerId: string;
  readonly target: SealedTarget;
  readonly payload: Sealed;
}

export function checkSecretsToImport(secrets: unknown): EncryptedSecret[] {
  return listOf(secrets, 'secrets', 1, SECRETS_MAX).map((secret) => {
    const { ownerId, target, secretPayload } = membersOf<SecretToImport>(secret, 'a secret');
    return {
      ownerId: nameOf(ownerId, 'ownerId'),
      target: checkTarget(target),
      payload: checkBundle(secretPayload),
    };
  });
}

export function checkTargets(targets: unknown): SealedTarget[] {
  return listOf(targets, 'targets', 0, TARGETS_MAX).map(checkTarget);
}

export function checkTargetCount(count: unknown): number {
  if (!Number.isInteger(count) || (count as number) < 1 || (count as number) > SECRET_TARGETS_MAX) {
    throw invalid(`the number of targets is 1 to ${SECRET_TARGETS_MAX}`);
  }
  return count as number;
}

export function checkBundle(bundle: unknown): Sealed {
  const text = textOf(bundle, 'the bundle', BUNDLE_LENGTH_MAX);
  try {
    return parseHpkeJson(text);
  } catch (error) {
    if (error instanceof KeyringError) throw new KeyringError('INVALID_BUNDLE', error.message);
    throw error;
  }
}

/** Whether it opens is another question, and a longer one does not. */
export function checkEncryptedSecret(text: unknown): string {
  if (typeof text !== 'string') throw invalid('the encrypted secret must be text');
  return text;
}

export function checkOtpCode(code: unknown): string {
  if (typeof code !== 'string' || !OTP_CODE.test(normalizeOtpCode(code))) {
    throw invalid('a one-time code must be 1 to 64 digits and letters');
  }
  return code;
}

/** A text of any kind is an attempt: what is no code is a wrong one. */
export function checkOtpAttempt(attempt: unknown): OtpAttempt {
  const { code, encryptedBundle } = membersOf<{ code: unknown; encryptedBundle: unknown }>(attempt, 'the attempt');
  if (typeof code === 'string' && encryptedBundle === undefined) return { code };
  if (typeof encryptedBundle === 'string' && code === undefined) return { encryptedBundle };
  throw invalid('an attempt has a code or an encrypted bundle');
}
