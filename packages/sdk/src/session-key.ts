import { toBytes } from './bytes.ts';
import { CURVE, compress, invalidKey, signWith } from './p256.ts';
import { type Signer, stampBy } from './signer.ts';
import type { Stamp, Stamper } from './stamper.ts';

/**
 * The key of a login, made where it is used. Its public half goes into `stampLogin`, `otpLogin` or `oauthLogin`;
 * afterwards it stamps until the session ends. The private half cannot be read, not even by the page that made it.
 */
export class SessionKey implements Stamper, Signer {
  readonly publicKey: string;
  /** For IndexedDB, which stores such keys without showing them. `SessionKey.from` takes it back. */
  readonly keyPair: CryptoKeyPair;

  private constructor(publicKey: string, keyPair: CryptoKeyPair) {
    this.publicKey = publicKey;
    this.keyPair = keyPair;
  }

  static async generate(): Promise<SessionKey> {
    return await SessionKey.from(await globalThis.crypto.subtle.generateKey(CURVE, false, ['sign', 'verify']));
  }

  static async from(keyPair: CryptoKeyPair): Promise<SessionKey> {
    const { name, namedCurve } = keyPair.privateKey.algorithm as EcKeyAlgorithm;
    if (name !== CURVE.name || namedCurve !== CURVE.namedCurve || !keyPair.privateKey.usages.includes('sign')) {
      throw invalidKey('a session key must be an ECDSA key of P-256 that may sign');
    }
    const point = toBytes(await globalThis.crypto.subtle.exportKey('raw', keyPair.publicKey));
    return new SessionKey(compress(point), keyPair);
  }

  async stamp(body: Uint8Array<ArrayBuffer>): Promise<Stamp> {
    return await stampBy(this, body);
  }

  async sign(message: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
    return await signWith(this.keyPair.privateKey, message);
  }
}
