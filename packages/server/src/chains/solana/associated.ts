import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { sha256 } from '../../lib/encoding.ts';

export const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';

const PROGRAM = base58.decode(ASSOCIATED_TOKEN_PROGRAM);
const MARKER = Buffer.from('ProgramDerivedAddress');

/**
 * The token account that belongs to an owner by its address: the only one of which a transaction itself says whose it is.
 * Undefined where the owner or the mint is no key.
 */
export function associatedAccount(owner: string, mint: string, tokenProgram: string): string | undefined {
  const seeds = [owner, tokenProgram, mint].map(keyBytes);
  if (seeds.includes(undefined)) return undefined;
  for (let bump = 255; bump >= 0; bump -= 1) {
    const derived = sha256(Buffer.concat([...(seeds as Uint8Array[]), Uint8Array.of(bump), PROGRAM, MARKER]));
    // An address of a program is one that no key can have.
    if (!isPoint(derived)) return base58.encode(derived);
  }
  return undefined;
}

function keyBytes(address: string): Uint8Array | undefined {
  try {
    const bytes = base58.decode(address);
    return bytes.length === 32 ? bytes : undefined;
  } catch {
    return undefined;
  }
}

function isPoint(bytes: Uint8Array): boolean {
  try {
    ed25519.Point.fromBytes(bytes, true);
    return true;
  } catch {
    return false;
  }
}
