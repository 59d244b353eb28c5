import { createHash } from 'node:crypto';
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { p2pk, p2pkh, p2sh, p2tr, p2wpkh, p2wsh, Transaction } from '@scure/btc-signer';
import { RawOldTx, RawTx } from '@scure/btc-signer/script.js';

// Coins, PSBTs that spend them, and signatures checked against what the coins are really worth.

export type CoinType = 'P2PKH' | 'P2SH' | 'P2WPKH' | 'P2WSH' | 'P2TR' | 'P2SH-P2WPKH';

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest();
const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));

/** An output on the chain, with the transaction that made it. */
export interface Coin {
  readonly type: CoinType;
  readonly publicKey: Uint8Array;
  readonly amount: bigint;
  readonly script: Uint8Array;
  readonly txid: string;
  readonly index: number;
  /** The transaction that made it, without witnesses. */
  readonly previous: Uint8Array;
  readonly redeemScript?: Uint8Array;
  readonly witnessScript?: Uint8Array;
}

function paymentOf(type: CoinType, key: Uint8Array) {
  switch (type) {
    case 'P2PKH':
      return p2pkh(key);
    case 'P2SH':
      return p2sh(p2pk(key));
    case 'P2WPKH':
      return p2wpkh(key);
    case 'P2WSH':
      return p2wsh(p2pk(key));
    case 'P2TR':
      return p2tr(key.subarray(1));
    case 'P2SH-P2WPKH':
      return p2sh(p2wpkh(key));
  }
}

export const scriptOf = (type: CoinType, publicKey: string): Uint8Array => paymentOf(type, bytesOf(publicKey)).script;

let serial = 0;

/** The transaction that makes it pays to as many others besides as asked for. */
export function coin(type: CoinType, publicKey: string, amount: bigint, others = 1): Coin {
  const key = bytesOf(publicKey);
  const paid: { script: Uint8Array; redeemScript?: Uint8Array; witnessScript?: Uint8Array } = paymentOf(type, key);
  serial += 1;
  const stranger = { amount: 5n, script: p2wpkh(key).script };
  const previous = RawOldTx.encode({
    version: 2,
    lockTime: serial,
    inputs: [{ txid: new Uint8Array(32).fill(9), index: 0, finalScriptSig: new Uint8Array(), sequence: 0xffffffff }],
    outputs: [...Array(others).fill(stranger), { amount, script: paid.script }],
  });
  const txid = hexOf(sha256(sha256(previous)).reverse());
  return {
    type,
    publicKey: key,
    amount,
    script: paid.script,
    txid,
    index: others,
    previous,
    ...(paid.redeemScript && { redeemScript: paid.redeemScript }),
    ...(paid.witnessScript && { witnessScript: paid.witnessScript }),
  };
}

/** The same transaction as nodes send it, with a witness. */
export function withWitness(previous: Uint8Array): Uint8Array {
  const tx = RawOldTx.decode(previous);
  return RawTx.encode({ ...tx, segwitFlag: true, witnesses: tx.inputs.map(() => [new Uint8Array(70).fill(1)]) });
}

/** Which fields say what an input spends; those of the coin as it is where a test says nothing else. */
export interface Told {
  readonly witnessUtxo?: bigint | undefined;
  readonly nonWitnessUtxo?: Uint8Array | undefined;
  readonly sighashType?: number;
}

/** `witness_utxo` alone, with the true amount or another. */
export const believed = (one: Coin, amount = one.amount): readonly [Coin, Told] => [one, { witnessUtxo: amount }];
/** `non_witness_utxo` alone. */
export const proven = (one: Coin, previous = one.previous): readonly [Coin, Told] => [
  one,
  { nonWitnessUtxo: previous },
];
export const both = (one: Coin, amount = one.amount): readonly [Coin, Told] => [
  one,
  { witnessUtxo: amount, nonWitnessUtxo: one.previous },
];

const LENIENT = { allowUnknownInputs: true, allowUnknownOutputs: true, disableScriptCheck: true } as const;

export function psbtOf(inputs: readonly (readonly [Coin, Told])[], paid: bigint, script: Uint8Array): string {
  const tx = new Transaction({ ...LENIENT, lockTime: 800_000 });
  for (const [{ txid, index, redeemScript, witnessScript, ...spent }] of inputs) {
    tx.addInput({
      txid,
      index,
      sequence: 0xfffffffd,
      ...(redeemScript && { redeemScript }),
      ...(witnessScript && { witnessScript }),
      ...(spent.type === 'P2TR' && { tapInternalKey: spent.publicKey.subarray(1) }),
    });
  }
  tx.addOutput({ script, amount: paid });
  // The library refuses fields that contradict each other, so they are written by hand.
  const file = Buffer.from(tx.toPSBT(0));
  const maps = inputs.map(([one, told]) => fieldsOf(one, told));
  return hexOf(withFields(file, maps));
}

function fieldsOf({ script }: Coin, { witnessUtxo, nonWitnessUtxo, sighashType }: Told): Uint8Array {
  const record = (type: number, value: Uint8Array) =>
    Buffer.concat([Uint8Array.of(1, type), compactSize(value.length), value]);
  const output = (amount: bigint) => {
    const bytes = Buffer.alloc(9 + script.length);
    bytes.writeBigUInt64LE(amount);
    bytes.writeUInt8(script.length, 8);
    bytes.set(script, 9);
    return bytes;
  };
  return Buffer.concat([
    ...(nonWitnessUtxo === undefined ? [] : [record(0x00, nonWitnessUtxo)]),
    ...(witnessUtxo === undefined ? [] : [record(0x01, output(witnessUtxo))]),
    ...(sighashType === undefined ? [] : [record(0x03, Uint8Array.of(sighashType, 0, 0, 0))]),
  ]);
}

/** Puts records at the start of each input's map. */
function withFields(file: Buffer, fields: readonly Uint8Array[]): Buffer {
  let at = 5;
  const size = (): number => {
    const first = file.readUInt8(at);
    at += first < 0xfd ? 1 : first === 0xfd ? 3 : 5;
    return first < 0xfd ? first : first === 0xfd ? file.readUInt16LE(at - 2) : file.readUInt32LE(at - 4);
  };
  const skipMap = (): void => {
    for (let length = size(); length > 0; length = size()) {
      at += length;
      const value = size();
      at += value;
    }
  };
  skipMap();
  const pieces: Uint8Array[] = [file.subarray(0, at)];
  for (const records of fields) {
    const start = at;
    skipMap();
    pieces.push(records, file.subarray(start, at));
  }
  return Buffer.concat([...pieces, file.subarray(at)]);
}

function compactSize(value: number): Uint8Array {
  if (value < 0xfd) return Uint8Array.of(value);
  if (value <= 0xffff) return Uint8Array.of(0xfd, value & 0xff, value >> 8);
  return Uint8Array.of(0xfe, value & 0xff, (value >> 8) & 0xff, (value >> 16) & 0xff, value >>> 24);
}

/** Of each input, whether the network would take its signature, given what the coins are really worth. Segwit only. */
export function validity(signed: string, coins: readonly Coin[]): boolean[] {
  const tx = Transaction.fromPSBT(bytesOf(signed), LENIENT);
  const scripts = coins.map(({ script }) => script);
  const amounts = coins.map(({ amount }) => amount);
  return coins.map(({ type, publicKey, script, amount }, at) => {
    const { partialSig, tapKeySig } = tx.getInput(at);
    if (type === 'P2TR') {
      const digest = tx.preimageWitnessV1(at, scripts, 0, amounts);
      return tapKeySig !== undefined && schnorr.verify(tapKeySig, digest, script.subarray(2));
    }
    const [key, signature] = partialSig?.[0] ?? [];
    if (key === undefined || signature === undefined) return false;
    const code = type === 'P2WSH' ? p2pk(publicKey).script : p2pkh(publicKey).script;
    const digest = tx.preimageWitnessV0(at, code, 1, amount);
    return secp256k1.verify(signature.subarray(0, -1), digest, key, { prehash: false, format: 'der' });
  });
}

/** A Schnorr signature for a key without its sign, an ECDSA signature of 64 bytes for any other. */
export const verifySignature = (key: Uint8Array, digest: Uint8Array, signature: Uint8Array): boolean =>
  key.length === 32
    ? schnorr.verify(signature, digest, key)
    : secp256k1.verify(signature, digest, key, { prehash: false, format: 'compact' });
