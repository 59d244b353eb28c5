import { base58 } from '@scure/base';
import { assert } from '../../lib/assert.ts';
import { Reader } from './reader.ts';
import type { SolanaTransaction } from './solana.ts';

const KEY_BYTES = 32;
const HEADER_BYTES = 3;
const VERSION_BIT = 0x80;
const SYSTEM_PROGRAM = '11111111111111111111111111111111';
// SystemInstruction::AdvanceNonceAccount (Solana, sdk/program/src/system_instruction.rs), a little-endian u32.
const ADVANCE_NONCE = '04000000';

/** 32 zero bytes in base58: what a message has in the place of a blockhash that is still to be chosen. */
export const NO_BLOCKHASH = base58.encode(new Uint8Array(KEY_BYTES));

/** The same message with another blockhash. Signatures over the old one are of no use to it. */
export function withBlockhash(message: Uint8Array, blockhash: string): Uint8Array {
  const bytes = base58.decode(blockhash);
  assert(bytes.length === KEY_BYTES, 'a blockhash has 32 bytes');
  const reader = new Reader(message);
  if (reader.peek() >= VERSION_BIT) reader.byte();
  reader.bytes(HEADER_BYTES);
  reader.elements(KEY_BYTES);
  const changed = Uint8Array.from(message);
  changed.set(bytes, message.length - reader.remaining);
  return changed;
}

/** Whether the text is 32 bytes in base58. */
export function isBlockhash(text: string): boolean {
  if (text.length > 44) return false;
  try {
    return base58.decode(text).length === KEY_BYTES;
  } catch {
    return false;
  }
}

/**
 * Whether the blockhash is the value of a nonce account: the first instruction uses it up (Solana documentation,
 * "Durable nonces"). Such a transaction never expires.
 */
export function hasDurableNonce({ instructions: [first] }: SolanaTransaction): boolean {
  return first?.programKey === SYSTEM_PROGRAM && first.dataHex.startsWith(ADVANCE_NONCE);
}
