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
}

/** A transaction from which an input spends an output. */
export interface PreviousTx {
  /** As it is written in text: the hash reversed. */
  readonly txid: Uint8Array;
  readonly outputCount: number;
  /** The output that is spent, if there is one at its place. */
  readonly output: TxOutput | undefined;
}

/** The least that an input and an output take. */
const INPUT_BYTES = 41;
const OUTPUT_BYTES = 9;

/** A serialised transaction without witnesses. */
export function decodeTransaction(bytes: Uint8Array, what: string): Tx {
  const reader = new Reader(bytes, what);
  const version = reader.int32();
  const inputs = reader.list(INPUT_BYTES, () => readInput(reader));
  const outputs = reader.list(OUTPUT_BYTES, () => readOutput(reader));
  const lockTime = reader.uint32();
  reader.end();
  return { version, inputs, outputs, lockTime };
}

/**
 * A serialised transaction with or without witnesses (BIP-144), of which one output matters. The others are passed over,
 * because there may be tens of thousands.
 */
export function decodePrevious(bytes: Uint8Array, what: string, index: number): PreviousTx {
  const reader = new Reader(bytes, what);
  reader.skip(4);
  const hasWitness = bytes[4] === 0x00 && bytes[5] === 0x01;
  if (hasWitness) reader.skip(2);
  const bodyStart = reader.position;
  const inputCount = reader.count(INPUT_BYTES);
  for (let at = 0; at < inputCount; at += 1) {
    reader.skip(36);
    reader.skipVarBytes();
    reader.skip(4);
  }
  const outputCount = reader.count(OUTPUT_BYTES);
  let output: TxOutput | undefined;
  for (let at = 0; at < outputCount; at += 1) {
    if (at === index) {
      output = readOutput(reader);
    } else {
      reader.skip(8);
      reader.skipVarBytes();
    }
  }
  const body = bytes.subarray(bodyStart, reader.position);
  if (hasWitness && skipWitnesses(reader, inputCount) === 0) {
    throw unparsable(`${what} announces witnesses and has none`);
  }
  reader.skip(4);
  reader.end();
  // BIP-141: the transaction id leaves the witnesses out.
  const stripped = Buffer.concat([bytes.subarray(0, 4), body, bytes.subarray(-4)]);
  return { txid: sha256(sha256(stripped)).reverse(), outputCount, output };
}

/** How many items they have. */
function skipWitnesses(reader: Reader, inputCount: number): number {
  let items = 0;
  for (let at = 0; at < inputCount; at += 1) {
    const count = reader.count(1);
    for (let item = 0; item < count; item += 1) reader.skipVarBytes();
    items += count;
  }
  return items;
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
