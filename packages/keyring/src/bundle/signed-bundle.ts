import { Buffer } from 'node:buffer';
import { hexOf } from './encoding.ts';
import type { Sealed } from './hpke.ts';
import { type Signer, signingKeyOf, signMessage, uncompressPoint } from './p256.ts';

const VERSION = 'v1.0.0';

/** What an export or an exported secret carries. */
export function signExport(signer: Signer, sealed: Sealed, organizationId: string): string {
  return signData(signer, {
    encappedPublic: hexOf(sealed.enc),
    ciphertext: hexOf(sealed.ciphertext),
    organizationId,
  });
}

/** The key to which a wallet or a private key is to be encrypted. */
export function signImportTarget(
  signer: Signer,
  targetPublicKey: Uint8Array,
  organizationId: string,
  userId: string,
): string {
  return signData(signer, { targetPublic: targetOf(targetPublicKey), organizationId, userId });
}

/** The key to which secrets are to be encrypted. */
export function signSecretsTarget(signer: Signer, targetPublicKey: Uint8Array, organizationId: string): string {
  return signData(signer, { targetPublic: targetOf(targetPublicKey), organizationId });
}

/** The key to which a one-time code is to be encrypted. The signer is the OTP-signing key. */
export function signOtpTarget(signer: Signer, targetPublicKey: Uint8Array): string {
  return signData(signer, { targetPublic: targetOf(targetPublicKey) });
}

/** Clients build the associated data from this text, so it is uncompressed whatever was given. */
function targetOf(publicKey: Uint8Array): string {
  return hexOf(uncompressPoint(publicKey));
}

/** Clients compare enclaveQuorumPublic as a string with the key they trust: lower-case, uncompressed. */
function signData(signer: Signer, document: Readonly<Record<string, string>>): string {
  const signingKey = signingKeyOf(signer);
  const data = Buffer.from(JSON.stringify(document), 'utf8');
  return JSON.stringify({
    version: VERSION,
    data: hexOf(data),
    dataSignature: hexOf(signMessage(signingKey, data, 'der')),
    enclaveQuorumPublic: hexOf(signingKey.publicKey),
  });
}
