import { toHex } from '../bytes.ts';
import { newAgreement, privateBytes } from './agreement.ts';

/** A P-256 key pair for one export. Whoever keeps the private half can open that bundle for ever. */
export interface TargetKey {
  /** Uncompressed hex: the `targetPublicKey` of an export. */
  readonly publicKey: string;
  /** 32 bytes in hex: the `targetPrivateKey` that opens it. */
  readonly privateKey: string;
}

/** Makes a key pair. Make a new one for each export. */
export async function generateTargetKey(): Promise<TargetKey> {
  const made = await newAgreement(true);
  return { publicKey: toHex(made.publicKey), privateKey: toHex(await privateBytes(made)) };
}
