import { sealTo } from '../bundle/seal-to.ts';
import { readSignedBy, requireText } from '../bundle/signed-bundle.ts';
import { type Bytes, toUtf8 } from '../bytes.ts';
import { compress, uncompress } from '../p256.ts';
import { type ServiceKey, trustedKeys } from '../service-keys.ts';

export interface EncryptOtpCodeOptions {
  /** The `otpEncryptionTargetBundle` that came with the `otpId`. */
  readonly targetBundle: string;
  /** What the user read in the message. */
  readonly otpCode: string;
  /** The key that the verification token is to be bound to, such as that of a `SessionKey`. */
  readonly publicKey: string;
  /** The `otp` key of the service, pinned. */
  readonly otpPublicKey?: string;
  /** What `fetchServiceKeys` answered, in place of a pinned key. */
  readonly serviceKeys?: readonly ServiceKey[];
}

/**
 * The `encryptedOtpBundle` of `verifyOtp`, which only the keyring opens. A bundle that the service did not sign is
 * refused.
 */
export async function encryptOtpCode(options: EncryptOtpCodeOptions): Promise<string> {
  const { targetBundle, otpCode, publicKey, otpPublicKey, serviceKeys } = options;
  requireText('otpCode', otpCode);
  const document = otpDocument(otpCode, compress(uncompress(publicKey)));
  const keys = trustedKeys('otp', 'otpPublicKey', otpPublicKey, serviceKeys);
  return (await sealTo(readSignedBy(keys, 'otpPublicKey', targetBundle), document)).payload;
}

/** What is encrypted (protocol/login 3.5). */
export const otpDocument = (otpCode: string, publicKey: string): Bytes =>
  toUtf8(JSON.stringify({ otp_code: otpCode, public_key: publicKey }));
