import { sealCredentialBundle } from '../bundle/credential-bundle.ts';
import { hexOf } from '../bundle/encoding.ts';
import { openHpkeJson } from '../bundle/hpke-json.ts';
import { type Claim, signIdToken as signClaims } from '../bundle/id-token.ts';
import { isOtpCode, otpHash, parseOtpPlaintext } from '../bundle/otp.ts';
import { compressPoint, generatePrivateKey, publicKeyOf } from '../bundle/p256.ts';
import { type Session, signSessionJwt } from '../bundle/session-jwt.ts';
import { signOtpTarget } from '../bundle/signed-bundle.ts';
import { signVerificationToken as signToken, type VerificationToken } from '../bundle/verification-token.ts';
import type { CreatedCredential, CreatedOtp, Holder, OtpAttempt, OtpCheck } from '../keyring.ts';
import { KIND } from '../kinds.ts';
import * as material from '../material.ts';
import { Secret } from '../secret.ts';
import type { Keys } from './keys.ts';
import { tryOpen } from './try-open.ts';

const OTP_HASH_KEY_BYTES = 32;

export async function createOtp(keys: Keys, owner: Holder, code: string): Promise<CreatedOtp> {
  const signer = keys.service.signer('otp');
  return new Secret(generatePrivateKey(keys.random)).use(async (target) => {
    const otp = new Secret(keys.random(OTP_HASH_KEY_BYTES)).use((hashKey) =>
      new Secret(otpHash(hashKey, code)).use((hash) => material.encodeOtp({ hashKey, hash, target })),
    );
    return {
      sealedOtp: await keys.seal(owner, KIND.otp, otp),
      targetBundle: signOtpTarget(signer, publicKeyOf(target)),
    };
  });
}

export async function checkOtp(
  keys: Keys,
  owner: Holder,
  sealedOtp: Uint8Array,
  attempt: OtpAttempt,
): Promise<OtpCheck> {
  return keys.unseal(owner, KIND.otp, sealedOtp, (bytes) => {
    const { hashKey, hash, target } = material.decodeOtp(bytes);
    if ('code' in attempt) return { matches: isOtpCode(hash, hashKey, attempt.code) };
    const opened = tryOpen(() => new Secret(openHpkeJson(target, attempt.encryptedBundle)).use(parseOtpPlaintext));
    if (opened === undefined || !isOtpCode(hash, hashKey, opened.otpCode)) return { matches: false };
    return { matches: true, publicKey: opened.publicKey };
  });
}

export async function createCredential({ random }: Keys, target: Uint8Array): Promise<CreatedCredential> {
  return new Secret(generatePrivateKey(random)).use((key) => ({
    publicKey: hexOf(compressPoint(publicKeyOf(key))),
    credentialBundle: sealCredentialBundle(target, key),
  }));
}

export async function signSession({ service }: Keys, session: Session): Promise<string> {
  return signSessionJwt(service.signer('session-signer'), session);
}

export async function signVerificationToken({ service }: Keys, token: VerificationToken): Promise<string> {
  return signToken(service.signer('otp'), token);
}

export async function signIdToken({ service }: Keys, claims: Readonly<Record<string, Claim>>): Promise<string> {
  const signer = service.signer('oidc-issuer');
  return signClaims(signer, signer.keyId, claims);
}
