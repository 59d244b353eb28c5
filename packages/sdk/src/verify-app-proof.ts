import { fromHex, toHex, toUtf8 } from './bytes.ts';
import { CustosError } from './errors.ts';
import type { ListAppProofsResponse } from './generated/operations.ts';
import { importPublicKey, readPublicKey, SIGNING } from './p256.ts';

const SCHEME = 'SIGNATURE_SCHEME_EPHEMERAL_KEY_P256';
const POINT_BYTES = 65;

export type AppProof = ListAppProofsResponse['appProofs'][number];

/**
 * Whether the second key in `publicKey` signed the payload. That key stands in the proof itself: a proof says that one
 * process made the statement, and not which process that was.
 */
export async function verifyAppProof({ scheme, publicKey, proofPayload, signature }: AppProof): Promise<boolean> {
  if (scheme !== SCHEME) throw new CustosError('UNSUPPORTED_SCHEME', `proofs with ${scheme} cannot be verified here`);
  const keys = fromHex(publicKey);
  const signed = fromHex(signature);
  if (keys?.length !== 2 * POINT_BYTES || signed?.length !== 64) return false;
  try {
    // The first is an encryption key, which has to be one all the same.
    readPublicKey(toHex(keys.subarray(0, POINT_BYTES)));
    const key = await importPublicKey(readPublicKey(toHex(keys.subarray(POINT_BYTES))));
    return await globalThis.crypto.subtle.verify(SIGNING, key, signed, toUtf8(proofPayload));
  } catch (error) {
    if (error instanceof CustosError) return false;
    throw error;
  }
}
