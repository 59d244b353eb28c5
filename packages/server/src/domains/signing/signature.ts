import type { Signature } from '@custos/keyring';
import Type from 'typebox';
import { toHex } from '../../lib/encoding.ts';

export const SignatureShape = Type.Object({ r: Type.String(), s: Type.String(), v: Type.String() });

/** protocol/signing 2.4: 64 hex digits each, and the recovery parity as 00 or 01. */
export function renderSignature(signature: Signature | undefined): { r: string; s: string; v: string } {
  if (signature === undefined) throw new Error('the keyring made no signature');
  return { r: toHex(signature.r), s: toHex(signature.s), v: signature.v === 1 ? '01' : '00' };
}
