import { createHash } from 'node:crypto';
import { assert } from '../../lib/assert.ts';
import { sha256 } from '../../lib/encoding.ts';
import type { Psbt } from './psbt.ts';
import type { TxInput, TxOutput } from './transaction.ts';

const SIGHASH_ALL = 0x01;
const SIGHASH_DEFAULT = 0x00;
const OUTPOINT_BYTES = 36;
/** An outpoint, a script of no length and the sequence. */
const EMPTY_INPUT_BYTES = OUTPOINT_BYTES + 1 + 4;
const TAP_SIGHASH = sha256('TapSighash');

/** The digest that a signature of the input at this place is over. */
export type Sighash = (at: number) => Uint8Array;

// Whatever the inputs of a transaction share is hashed once, so that the cost grows with the size of the transaction
// and not with its square. Only the original scheme leaves no choice.

/** SIGHASH_ALL of the original scheme: the transaction with the script in this input and none in the others. */
export function legacySighash(psbt: Psbt, scriptCode: Uint8Array): Sighash {
  const { inputs, outputs, version, lockTime } = psbt.unsigned;
  const head = Buffer.concat([int32(version), compactSize(inputs.length)]);
  const empty = Uint8Array.of(0);
  const body = Buffer.concat(inputs.flatMap((input) => [outpoint(input), empty, uint32(input.sequence)]));
  const count = compactSize(outputs.length);
  const tail = Buffer.concat([count, ...outputs.map(output), uint32(lockTime), uint32(SIGHASH_ALL)]);
  return (at) => {
    const scriptAt = at * EMPTY_INPUT_BYTES + OUTPOINT_BYTES;
    const hash = createHash('sha256').update(head).update(body.subarray(0, scriptAt)).update(varBytes(scriptCode));
    return sha256(
      hash
        .update(body.subarray(scriptAt + 1))
        .update(tail)
        .digest(),
    );
  };
}

/** BIP-143, SIGHASH_ALL. */
export function segwitSighash(psbt: Psbt, scriptCode: Uint8Array): Sighash {
  const head = Buffer.concat([
    int32(psbt.unsigned.version),
    sha256(sha256(Buffer.concat(psbt.unsigned.inputs.map(outpoint)))),
    sha256(sha256(Buffer.concat(psbt.unsigned.inputs.map(({ sequence }) => uint32(sequence))))),
  ]);
  const tail = Buffer.concat([
    sha256(sha256(Buffer.concat(psbt.unsigned.outputs.map(output)))),
    uint32(psbt.unsigned.lockTime),
    uint32(SIGHASH_ALL),
  ]);
  return (at) => {
    const input = psbt.unsigned.inputs[at];
    const spent = psbt.spent[at];
    assert(input !== undefined && spent !== undefined, 'the input exists');
    const own = [outpoint(input), varBytes(scriptCode), uint64(spent.amount), uint32(input.sequence)];
    return sha256(sha256(Buffer.concat([head, ...own, tail])));
  };
}

/** BIP-341, SIGHASH_DEFAULT on the key path without annex. It covers what every input spends. */
export function taprootSighash(psbt: Psbt): Sighash {
  const head = Buffer.concat([
    TAP_SIGHASH,
    TAP_SIGHASH,
    Uint8Array.of(0x00, SIGHASH_DEFAULT),
    int32(psbt.unsigned.version),
    uint32(psbt.unsigned.lockTime),
    sha256(Buffer.concat(psbt.unsigned.inputs.map(outpoint))),
    sha256(Buffer.concat(psbt.spent.map(({ amount }) => uint64(amount)))),
    sha256(Buffer.concat(psbt.spent.map(({ script }) => varBytes(script)))),
    sha256(Buffer.concat(psbt.unsigned.inputs.map(({ sequence }) => uint32(sequence)))),
    sha256(Buffer.concat(psbt.unsigned.outputs.map(output))),
    Uint8Array.of(0x00),
  ]);
  return (at) => sha256(Buffer.concat([head, uint32(at)]));
}

function outpoint({ txid, index }: TxInput): Uint8Array {
  return Buffer.concat([Uint8Array.from(txid).reverse(), uint32(index)]);
}

function output({ amount, script }: TxOutput): Uint8Array {
  return Buffer.concat([uint64(amount), varBytes(script)]);
}

function varBytes(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([compactSize(bytes.length), bytes]);
}

function compactSize(value: number): Uint8Array {
  if (value < 0xfd) return Uint8Array.of(value);
  if (value <= 0xffff) return Uint8Array.of(0xfd, value & 0xff, value >> 8);
  return Buffer.concat([Uint8Array.of(0xfe), uint32(value)]);
}

function int32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}

function uint32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function uint64(value: bigint): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}
