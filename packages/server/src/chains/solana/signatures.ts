import { createPublicKey, verify } from 'node:crypto';
import { base58 } from '@scure/base';
import { refused } from '../input.ts';
import type { SignerAccount } from '../signable.ts';
import type { SolanaWire } from './solana.ts';

/** How Solana writes the key of an account; undefined for a key of another curve. */
export const solanaAddress = ({ curve, publicKey }: Pick<SignerAccount, 'curve' | 'publicKey'>): string | undefined =>
  curve === 'CURVE_ED25519' ? base58.encode(publicKey) : undefined;

/** The addresses that have to sign, the payer of the fee first. */
export const requiredSigners = ({ transaction: { accountKeys, header } }: Pick<SolanaWire, 'transaction'>) =>
  accountKeys.slice(0, header.requiredSignatures);

/** Whether the slot holds this address's signature of the message (RFC 8032, Ed25519). */
export function isSigned({ message }: Pick<SolanaWire, 'message'>, address: string, signature: Uint8Array): boolean {
  const x = Buffer.from(base58.decode(address)).toString('base64url');
  return verify(null, message, createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }), signature);
}

/**
 * Refuses a transaction that would still lack a signature, or have a wrong one, once these addresses have signed it.
 */
export function requireOthersSigned(wire: SolanaWire, signers: ReadonlySet<string>): void {
  for (const [at, address] of requiredSigners(wire).entries()) {
    if (signers.has(address)) continue;
    const slot = wire.slots[at];
    if (slot === undefined || slot.every((byte) => byte === 0)) {
      throw refused(`the transaction needs the signature of ${address}, which it does not have`);
    }
    if (!isSigned(wire, address, slot)) {
      throw refused(`the signature of ${address} in the transaction is not one of this message`);
    }
  }
}

/** The name that the network knows the transaction by: its first signature. */
export const transactionId = ([first]: readonly Uint8Array[]): string => base58.encode(first ?? new Uint8Array());
