import { keyObject, verifyOnPool } from './public-key.ts';
import type { ApiKeyStamp } from './stamp-headers.ts';

/**
 * Whether the stamp's own key signed these bytes (protocol/stamps 2.2). That the key is registered, and on the same
 * curve, is for the caller to establish first. High-S signatures are valid: browsers make them.
 */
export async function verifyApiKeyStamp(stamp: ApiKeyStamp, body: Uint8Array): Promise<boolean> {
  switch (stamp.scheme) {
    case 'SIGNATURE_SCHEME_TK_API_P256':
    case 'SIGNATURE_SCHEME_TK_API_SECP256K1': {
      const key = keyObject(stamp.curve, stamp.publicKey);
      return verifyOnPool('sha256', body, { key, dsaEncoding: 'ieee-p1363' }, stamp.signature);
    }
    case 'SIGNATURE_SCHEME_TK_API_ED25519':
      return verifyOnPool(null, body, { key: keyObject(stamp.curve, stamp.publicKey) }, stamp.signature);
    case 'SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191':
      return verifyPersonalMessage(stamp, body);
  }
}

// OpenSSL cannot hash with keccak-256 nor take a finished digest through this interface, hence the other library, which
// is loaded with the first such stamp.
async function verifyPersonalMessage(stamp: ApiKeyStamp, body: Uint8Array): Promise<boolean> {
  const [{ secp256k1 }, { keccak_256 }] = await Promise.all([
    import('@noble/curves/secp256k1.js'),
    import('@noble/hashes/sha3.js'),
  ]);
  const prefix = Buffer.from(`\x19Ethereum Signed Message:\n${body.length}`, 'latin1');
  const digest = keccak_256.create().update(prefix).update(body).digest();
  const publicKey = Buffer.from(stamp.publicKey, 'hex');
  return secp256k1.verify(stamp.signature, digest, publicKey, { prehash: false, lowS: false, format: 'compact' });
}
