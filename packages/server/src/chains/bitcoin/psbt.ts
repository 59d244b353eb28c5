import { assert } from '../../lib/assert.ts';
import { toHex } from '../../lib/encoding.ts';
import { unparsable } from '../input.ts';
import { Reader } from './reader.ts';
import { equalBytes } from './script.ts';
import {
  decodePrevious,
  decodeTransaction,
  type PreviousTx,
  readOutput,
  type Tx,
  type TxInput,
  type TxOutput,
} from './transaction.ts';

/** What a PSBT says about one input, as far as it matters to a signer. */
export interface PsbtInput {
  readonly nonWitnessUtxo: PreviousTx | undefined;
  readonly witnessUtxo: TxOutput | undefined;
  /** The keys that have signed already. */
  readonly partialSigKeys: readonly Uint8Array[];
  readonly sighashType: number | undefined;
  readonly redeemScript: Uint8Array | undefined;
  readonly witnessScript: Uint8Array | undefined;
  readonly finalised: boolean;
  readonly tapKeySig: Uint8Array | undefined;
  readonly tapInternalKey: Uint8Array | undefined;
  /** Whether there is a tap script, a signature for one or the merkle root of several. */
  readonly hasTapScripts: boolean;
}

export interface Psbt {
  readonly unsigned: Tx;
  /** In the order of the inputs of the transaction. */
  readonly inputs: readonly PsbtInput[];
  /** The output that each input spends, as its fields say: witness_utxo alone proves nothing. */
  readonly spent: readonly TxOutput[];
  /** The same file with one more record in the named inputs; every other byte stays. */
  withRecords(records: ReadonlyMap<number, NewRecord>): Uint8Array;
}

export interface NewRecord {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

const MAGIC = Uint8Array.of(0x70, 0x73, 0x62, 0x74, 0xff);
const MAX_MONEY = 21_000_000n * 100_000_000n;
/** A quarter of MAX_STANDARD_TX_WEIGHT: no node relays a larger transaction. */
const MAX_UNSIGNED_BYTES = 100_000;
/** Of a PSBT that fills a request, 32 bytes each: those of real ones are larger, and each costs more than its bytes. */
const MAX_RECORDS = 32_768;

// Key types of BIP-174 and, for taproot, BIP-371.
const GLOBAL_UNSIGNED_TX = 0x00;
const GLOBAL_VERSION = 0xfb;
const IN_NON_WITNESS_UTXO = 0x00;
const IN_WITNESS_UTXO = 0x01;
const IN_PARTIAL_SIG = 0x02;
const IN_SIGHASH_TYPE = 0x03;
const IN_REDEEM_SCRIPT = 0x04;
const IN_WITNESS_SCRIPT = 0x05;
const IN_FINAL_SCRIPTSIG = 0x07;
const IN_FINAL_SCRIPTWITNESS = 0x08;
const IN_TAP_KEY_SIG = 0x13;
const IN_TAP_SCRIPT_SIG = 0x14;
const IN_TAP_LEAF_SCRIPT = 0x15;
const IN_TAP_INTERNAL_KEY = 0x17;
const IN_TAP_MERKLE_ROOT = 0x18;

type Rule = (part: Uint8Array) => boolean;

const none: Rule = (part) => part.length === 0;
const any: Rule = () => true;
const bytes =
  (...lengths: readonly number[]): Rule =>
  (part) =>
    lengths.includes(part.length);
const publicKey: Rule = (part) =>
  (part.length === 33 && (part[0] === 0x02 || part[0] === 0x03)) || (part.length === 65 && part[0] === 0x04);
const controlBlock: Rule = (part) => part.length >= 33 && (part.length - 33) % 32 === 0;
/** A type that only version 2 of the format has (BIP-370). */
const versionTwo: Rule = () => false;

/** What the key data and the value of a record of each type may be. Other types are passed on as they are. */
type Rules = ReadonlyMap<number, readonly [Rule, Rule]>;

const GLOBAL_RULES: Rules = new Map([
  [GLOBAL_UNSIGNED_TX, [none, any]],
  [0x01, [bytes(78), any]],
  [0x02, [versionTwo, any]],
  [0x03, [versionTwo, any]],
  [0x04, [versionTwo, any]],
  [0x05, [versionTwo, any]],
  [0x06, [versionTwo, any]],
  [GLOBAL_VERSION, [none, bytes(4)]],
]);

const INPUT_RULES: Rules = new Map([
  [IN_NON_WITNESS_UTXO, [none, any]],
  [IN_WITNESS_UTXO, [none, any]],
  [IN_PARTIAL_SIG, [publicKey, any]],
  [IN_SIGHASH_TYPE, [none, bytes(4)]],
  [IN_REDEEM_SCRIPT, [none, any]],
  [IN_WITNESS_SCRIPT, [none, any]],
  [0x06, [publicKey, any]],
  [IN_FINAL_SCRIPTSIG, [none, any]],
  [IN_FINAL_SCRIPTWITNESS, [none, any]],
  [0x09, [none, any]],
  [0x0a, [bytes(20), any]],
  [0x0b, [bytes(32), any]],
  [0x0c, [bytes(20), any]],
  [0x0d, [bytes(32), any]],
  [0x0e, [versionTwo, any]],
  [0x0f, [versionTwo, any]],
  [0x10, [versionTwo, any]],
  [0x11, [versionTwo, any]],
  [0x12, [versionTwo, any]],
  [IN_TAP_KEY_SIG, [none, bytes(64, 65)]],
  [IN_TAP_SCRIPT_SIG, [bytes(64), bytes(64, 65)]],
  [IN_TAP_LEAF_SCRIPT, [controlBlock, any]],
  [0x16, [bytes(32), any]],
  [IN_TAP_INTERNAL_KEY, [none, bytes(32)]],
  [IN_TAP_MERKLE_ROOT, [none, bytes(32)]],
]);

const OUTPUT_RULES: Rules = new Map([
  [0x00, [none, any]],
  [0x01, [none, any]],
  [0x02, [publicKey, any]],
  [0x03, [versionTwo, any]],
  [0x04, [versionTwo, any]],
  [0x05, [none, bytes(32)]],
  [0x06, [none, any]],
  [0x07, [bytes(32), any]],
]);

/**
 * A PSBT of version 0. It is read here and not by a library because the file goes back with every record where it was,
 * and because what a request may contain must be read in a time that grows with its size only.
 */
export function decodePsbt(file: Uint8Array): Psbt {
  if (!equalBytes(file.subarray(0, MAGIC.length), MAGIC)) throw unparsable('it is not a PSBT');
  const reader = new Reader(file, 'the PSBT');
  reader.bytes(MAGIC.length);
  let records = 0;
  const nextMap = (rules: Rules, where: string): PsbtMap => {
    const map = readMap(reader, rules, where, MAX_RECORDS - records);
    records += map.records.length;
    return map;
  };
  const unsigned = unsignedTransaction(nextMap(GLOBAL_RULES, 'the global map'));
  const inputMaps = unsigned.inputs.map((_, at) => nextMap(INPUT_RULES, `input ${at}`));
  for (const at of unsigned.outputs.keys()) nextMap(OUTPUT_RULES, `output ${at}`);
  reader.end();

  const inputs = inputMaps.map((map, at) => readInputFields(map, unsigned.inputs[at], `input ${at}`));
  const spent = unsigned.inputs.map((txInput, at) => spentOutput(inputs[at], txInput, `input ${at}`));
  checkAmounts(unsigned.outputs, 'the outputs');
  checkAmounts(spent, 'the inputs');
  return { unsigned, inputs, spent, withRecords: (records) => insertRecords(file, inputMaps, records) };
}

function unsignedTransaction(global: PsbtMap): Tx {
  const version = global.value(GLOBAL_VERSION);
  if (version !== undefined && !equalBytes(version, new Uint8Array(4))) {
    throw unparsable('only version 0 of the PSBT format is supported');
  }
  const serialised = global.value(GLOBAL_UNSIGNED_TX);
  if (serialised === undefined) throw unparsable('the PSBT has no unsigned transaction');
  if (serialised.length > MAX_UNSIGNED_BYTES) {
    throw unparsable(`the unsigned transaction exceeds ${MAX_UNSIGNED_BYTES} bytes`);
  }
  const unsigned = decodeTransaction(serialised, 'the unsigned transaction');
  if (unsigned.inputs.length === 0) throw unparsable('the unsigned transaction has no inputs');
  if (unsigned.outputs.length === 0) throw unparsable('the unsigned transaction has no outputs');
  if (unsigned.inputs.some(({ scriptSig }) => scriptSig.length > 0)) {
    throw unparsable('the unsigned transaction has a scriptSig');
  }
  const outpoints = new Set(unsigned.inputs.map(({ txid, index }) => `${toHex(txid)}:${index}`));
  if (outpoints.size !== unsigned.inputs.length) throw unparsable('the unsigned transaction spends an output twice');
  return unsigned;
}

function readInputFields(map: PsbtMap, spends: TxInput | undefined, where: string): PsbtInput {
  assert(spends !== undefined, 'there is a map for each input');
  const nonWitnessUtxo = map.value(IN_NON_WITNESS_UTXO);
  const witnessUtxo = map.value(IN_WITNESS_UTXO);
  return {
    nonWitnessUtxo: nonWitnessUtxo && decodePrevious(nonWitnessUtxo, `the non_witness_utxo of ${where}`, spends.index),
    witnessUtxo: witnessUtxo && decodeOutput(witnessUtxo, `the witness_utxo of ${where}`),
    partialSigKeys: map.keys(IN_PARTIAL_SIG),
    sighashType: map.value(IN_SIGHASH_TYPE)?.readUInt32LE(),
    redeemScript: map.value(IN_REDEEM_SCRIPT),
    witnessScript: map.value(IN_WITNESS_SCRIPT),
    finalised: map.has(IN_FINAL_SCRIPTSIG) || map.has(IN_FINAL_SCRIPTWITNESS),
    tapKeySig: map.value(IN_TAP_KEY_SIG),
    tapInternalKey: map.value(IN_TAP_INTERNAL_KEY),
    hasTapScripts: map.has(IN_TAP_SCRIPT_SIG) || map.has(IN_TAP_LEAF_SCRIPT) || map.has(IN_TAP_MERKLE_ROOT),
  };
}

function decodeOutput(value: Uint8Array, what: string): TxOutput {
  const reader = new Reader(value, what);
  const output = readOutput(reader);
  reader.end();
  return output;
}

/** BIP-174: the previous transaction must have the hash that the input names, and both fields must agree. */
function spentOutput(input: PsbtInput | undefined, { txid, index }: TxInput, where: string): TxOutput {
  if (input?.nonWitnessUtxo === undefined) {
    if (input?.witnessUtxo === undefined) {
      throw unparsable(`${where} does not say what it spends: it has neither witness_utxo nor non_witness_utxo`);
    }
    return input.witnessUtxo;
  }
  if (!equalBytes(input.nonWitnessUtxo.txid, txid)) {
    throw unparsable(`the non_witness_utxo of ${where} is not the transaction that it spends from`);
  }
  const { output, outputCount } = input.nonWitnessUtxo;
  if (output === undefined) {
    throw unparsable(`${where} spends output ${index} of its non_witness_utxo, which has only ${outputCount}`);
  }
  const other = input.witnessUtxo ?? output;
  if (other.amount !== output.amount || !equalBytes(other.script, output.script)) {
    throw unparsable(`the witness_utxo of ${where} contradicts its non_witness_utxo`);
  }
  return output;
}

function checkAmounts(outputs: readonly TxOutput[], what: string): void {
  if (outputs.reduce((sum, { amount }) => sum + amount, 0n) > MAX_MONEY) {
    throw unparsable(`${what} are worth more than there can be`);
  }
}

/** A key-value pair by its place in the file. */
interface PsbtRecord {
  readonly start: number;
  readonly type: number;
  /** Type and data, as they are written. */
  readonly key: Uint8Array;
  readonly data: Uint8Array;
  readonly value: Buffer;
}

class PsbtMap {
  readonly records: readonly PsbtRecord[];
  /** Where the separator is. */
  readonly end: number;

  constructor(records: readonly PsbtRecord[], end: number) {
    this.records = records;
    this.end = end;
  }

  has(type: number): boolean {
    return this.records.some((record) => record.type === type);
  }

  /** Of a type without key data, of which there is one record at most. */
  value(type: number): Buffer | undefined {
    return this.records.find((record) => record.type === type)?.value;
  }

  keys(type: number): Uint8Array[] {
    return this.records.filter((record) => record.type === type).map((record) => record.data);
  }
}

function readMap(reader: Reader, rules: Rules, where: string, most: number): PsbtMap {
  const records: PsbtRecord[] = [];
  const seen = new Set<string>();
  for (;;) {
    const start = reader.position;
    const key = reader.varBytes();
    if (key.length === 0) return new PsbtMap(records, start);
    if (records.length === most) throw unparsable(`the PSBT has more than ${MAX_RECORDS} records`);
    const keyReader = new Reader(key, `a key of ${where}`);
    const type = keyReader.compactSize();
    const data = keyReader.bytes(keyReader.remaining);
    const text = toHex(key);
    if (seen.has(text)) throw unparsable(`${where} has the same key twice`);
    seen.add(text);
    const value = reader.varBytes();
    const [keyRule, valueRule] = rules.get(type) ?? [any, any];
    if (!keyRule(data)) throw unparsable(`${where} has a record of type ${type} with a key that is not allowed`);
    if (!valueRule(value)) throw unparsable(`${where} has a record of type ${type} with a value of the wrong length`);
    records.push({ start, type, key, data, value });
  }
}

/** New records go where the ascending order of keys puts them, which is how most software writes a map. */
function insertRecords(
  file: Uint8Array,
  inputMaps: readonly PsbtMap[],
  records: ReadonlyMap<number, NewRecord>,
): Uint8Array {
  const pieces: Uint8Array[] = [];
  let copied = 0;
  for (const [at, map] of inputMaps.entries()) {
    const record = records.get(at);
    if (record === undefined) continue;
    const position = map.records.find(({ key }) => Buffer.compare(key, record.key) > 0)?.start ?? map.end;
    pieces.push(file.subarray(copied, position), withLength(record.key), withLength(record.value));
    copied = position;
  }
  pieces.push(file.subarray(copied));
  return Buffer.concat(pieces);
}

/** Keys and values of new records are shorter than 0xfd bytes. */
function withLength(part: Uint8Array): Uint8Array {
  return Uint8Array.of(part.length, ...part);
}
