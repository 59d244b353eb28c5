import { base58 } from '@scure/base';
import { assert } from '../../lib/assert.ts';
import { toHex } from '../../lib/encoding.ts';
import { bytesOfHex, refused, unparsable } from '../input.ts';
import type { RawSignature, Signable, SignerAccount } from '../signable.ts';
import { parseMessage, type SolanaMessage } from './message.ts';
import { Reader } from './reader.ts';
import { type SolanaTransfer, type SplTransfer, transfersOf } from './transfers.ts';

export interface SolanaTransaction extends SolanaMessage {
  /** Only top-level instructions: what a program does on its own is not known before it runs. */
  readonly transfers: readonly SolanaTransfer[];
  readonly splTransfers: readonly SplTransfer[];
}

export interface SolanaSignable extends Signable {
  readonly transaction: SolanaTransaction;
}

const SIGNATURE_BYTES = 64;
/** PACKET_DATA_SIZE: an IPv6 minimum MTU of 1280 bytes less the headers. No longer transaction reaches a validator. */
const MAX_TRANSACTION_BYTES = 1232;

export interface SolanaWire {
  /** One slot per required signer, zero where the signature is missing. */
  readonly slots: readonly Uint8Array[];
  readonly message: Uint8Array;
  readonly transaction: SolanaTransaction;
}

/** Hex of a wire transaction, or of its message alone. */
export function parseSolana(hex: string): SolanaTransaction {
  return parseWire(hex).transaction;
}

/** The signer must be one of the required signers. Signatures in the slots of the others stay as they are. */
export function signableSolana(hex: string, signer: SignerAccount): SolanaSignable {
  if (signer.curve !== 'CURVE_ED25519') throw refused('a Solana transaction needs an Ed25519 key to sign with');
  const { slots, message, transaction } = parseWire(hex);
  const at = transaction.accountKeys.indexOf(base58.encode(signer.publicKey));
  if (at === -1 || at >= transaction.header.requiredSignatures) {
    throw refused('the account to sign with is not among the required signers of the transaction');
  }
  return {
    transaction,
    payloads: [message],
    attach: (signatures) => {
      const filled = [...slots];
      filled[at] = signatureBytes(signatures);
      return toHex(wireBytes(filled, message));
    },
  };
}

/** Fewer than 20 signatures fit into a packet, so their count is a single byte. */
export const wireBytes = (slots: readonly Uint8Array[], message: Uint8Array): Uint8Array =>
  Buffer.concat([Uint8Array.of(slots.length), ...slots, message]);

function signatureBytes(signatures: readonly RawSignature[]): Uint8Array {
  const [signature] = signatures;
  assert(signature !== undefined && signatures.length === 1, 'a Solana transaction takes one signature of an account');
  const bytes = Buffer.concat([signature.r, signature.s]);
  assert(bytes.length === SIGNATURE_BYTES, 'an Ed25519 signature has 64 bytes');
  return bytes;
}

/** The parts of a wire transaction; of a message alone with no signature in any slot. */
export function parseWire(hex: string): SolanaWire {
  const bytes = bytesOfHex(hex);
  if (bytes.length > MAX_TRANSACTION_BYTES) throw unparsable(`it exceeds ${MAX_TRANSACTION_BYTES} bytes`);
  // A count of 128 or more signatures does not fit, so this bit is the version of a bare message.
  if ((bytes[0] ?? 0) >= 0x80) return parseBareMessage(bytes);
  try {
    return parseSignedForm(bytes);
  } catch (error) {
    try {
      return parseBareMessage(bytes);
    } catch {
      throw error;
    }
  }
}

function parseSignedForm(bytes: Uint8Array): SolanaWire {
  const reader = new Reader(bytes);
  const slots = reader.elements(SIGNATURE_BYTES);
  const message = reader.rest();
  const transaction = parseTransaction(message);
  if (slots.length !== transaction.header.requiredSignatures) {
    throw unparsable('it does not have one signature slot per required signer');
  }
  return { slots, message, transaction };
}

function parseBareMessage(message: Uint8Array): SolanaWire {
  const transaction = parseTransaction(message);
  const count = transaction.header.requiredSignatures;
  if (1 + count * SIGNATURE_BYTES + message.length > MAX_TRANSACTION_BYTES) {
    throw unparsable(`with its signatures it exceeds ${MAX_TRANSACTION_BYTES} bytes`);
  }
  return { slots: Array.from({ length: count }, () => new Uint8Array(SIGNATURE_BYTES)), message, transaction };
}

function parseTransaction(message: Uint8Array): SolanaTransaction {
  const parsed = parseMessage(message);
  return { ...parsed, ...transfersOf(parsed.instructions) };
}
