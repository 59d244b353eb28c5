import { type Bytes, toBase64url, toHex, toUtf8 } from './bytes.ts';
import { toDer } from './der.ts';
import type { Stamp } from './stamper.ts';

const SCHEME = 'SIGNATURE_SCHEME_TK_API_P256';

/** A P-256 key that signs, wherever it lives. */
export interface Signer {
  /** Compressed, in hex. */
  readonly publicKey: string;
  /** ECDSA over SHA-256 of the message: r and s, 32 bytes each. */
  sign(message: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>>;
}

/** The stamp of an API key or a session key over a body (protocol/stamps 2.1). */
export async function stampBy(signer: Signer, body: Bytes): Promise<Stamp> {
  const signature = toHex(toDer(await signer.sign(body)));
  const value = JSON.stringify({ publicKey: signer.publicKey, scheme: SCHEME, signature });
  return { headerName: 'X-Stamp', headerValue: toBase64url(toUtf8(value)) };
}
