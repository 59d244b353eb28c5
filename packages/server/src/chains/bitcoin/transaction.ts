import { sha256 } from '../../lib/encoding.ts';
import { unparsable } from '../input.ts';
import { Reader } from './reader.ts';

export interface TxInput {
  /** As it is written in text: the hash reversed. */
  readonly txid: Uint8Array;
  readonly index: number;
  readonly scriptSig: Uint8Array;
  readonly sequence: number;
}

export interface TxOutput {
  readonly amount: bigint;
  readonly script: Uint8Array;
}

export interface Tx {
  readonly version: number;
  readonly inputs: readonly TxInput[];
  readonly outputs: readonly TxOutput[];
  readonly lockTime: number;
  /** As it is written in text: the hash reversed. */
  readonly txid: Uint8Array;
}

/** A serialised transaction, with witnesses (BIP-144) only where the caller allows them. */
export function decodeTransaction(bytes: Uint8Array, what: string, allowWitness: boolean): Tx {
  const reader = new Reader(bytes);
  const version = reader.int32();
  const hasWitness = allowWitness && bytes[4] === 0x00 && bytes[5] === 0x01;
  if (hasWitness) reader.bytes(2);
  const bodyStart = reader.position;
  const inputs = reader.list(41, () => readInput(reader));
  const outputs = reader.list(9, () => readOutput(reader));
  const body = bytes.subarray(bodyStart, reader.position);
  if (hasWitness) {
    const items = inputs.map(() => reader.list(1, () => reader.varBytes()).length);
    if (items.every((count) => count === 0)) throw unparsable(`${what} announces witnesses and has none`);
  }
  const lockTime = reader.uint32();
  reader.end(what);
  // BIP-141: the transaction id leaves the witnesses out.
  const stripped = Buffer.concat([bytes.subarray(0, 4), body, bytes.subarray(-4)]);
  return { version, inputs, outputs, lockTime, txid: sha256(sha256(stripped)).reverse() };
}

function readInput(reader: Reader): TxInput {
  return {
    txid: Uint8Array.from(reader.bytes(32)).reverse(),
    index: reader.uint32(),
    scriptSig: reader.varBytes(),
    sequence: reader.uint32(),
  };
}

export function readOutput(reader: Reader): TxOutput {
  return { amount: reader.uint64(), script: reader.varBytes() };
}
