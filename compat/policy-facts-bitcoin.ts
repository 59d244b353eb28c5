// PSBTs of bitcoinjs-lib with random inputs and outputs, and what that library reads in any bytes.
import type { BitcoinTransactionFacts, Namespaces } from '@custos/server/policy';
import type { SignerAccount } from '@custos/server/policy-facts';
import { address, initEccLib, networks, opcodes, Psbt, payments, script, Transaction } from 'bitcoinjs-lib';
import { hexlify, SigningKey } from 'ethers';
import fc from 'fast-check';
import { type Built, bytesOf, hexOf } from './policy-facts-damage.ts';

const ORDER = BigInt('0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141');

/** The curve for bitcoinjs-lib, which checks it with vectors of its own. */
initEccLib({
  isXOnlyPoint: (point) => point.length === 32 && lifted(point) !== undefined,
  xOnlyPointAddTweak: (point, tweak) => {
    const start = lifted(point);
    const scalar = BigInt(hexlify(tweak));
    if (start === undefined || scalar >= ORDER) return null;
    const sum = scalar === 0n ? start : added(start, SigningKey.computePublicKey(tweak, true));
    if (sum === undefined) return null;
    const bytes = bytesOf(sum);
    return { parity: bytes[0] === 3 ? 1 : 0, xOnlyPubkey: Uint8Array.from(bytes.subarray(1)) };
  },
});

function lifted(point: Uint8Array): string | undefined {
  return attempt(() => SigningKey.computePublicKey(`0x02${hexOf(point)}`, true));
}

function added(a: string, b: string): string | undefined {
  return attempt(() => SigningKey.addPoints(a, b, true));
}

function attempt<Result>(run: () => Result): Result | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

const publicKeyOf = (byte: number): Uint8Array =>
  Uint8Array.from(bytesOf(SigningKey.computePublicKey(new Uint8Array(32).fill(byte), true)));
const OWN_KEY = publicKeyOf(0x46);
const FOREIGN_KEY = publicKeyOf(0x47);

export const ADDRESS_TYPES = ['P2PKH', 'P2SH', 'P2WPKH', 'P2WSH', 'P2TR'] as const;
export type AddressType = (typeof ADDRESS_TYPES)[number];
type InputKind = AddressType | 'P2SH-P2WPKH';

export const bitcoinAccount = (type: AddressType): SignerAccount => ({
  curve: 'CURVE_SECP256K1',
  publicKey: OWN_KEY,
  address: '',
  addressFormat: `ADDRESS_FORMAT_BITCOIN_MAINNET_${type}`,
});

interface Lock {
  readonly output: Uint8Array;
  readonly redeemScript?: Uint8Array;
  readonly witnessScript?: Uint8Array;
  readonly tapInternalKey?: Uint8Array;
  readonly address: string;
}

const LOCKS = new Map([OWN_KEY, FOREIGN_KEY].map((key) => [key, locksOf(key)]));

function locksOf(pubkey: Uint8Array): Record<InputKind, Lock> {
  const checksig = { output: script.compile([pubkey, opcodes.OP_CHECKSIG as number]) };
  const segwit = payments.p2wpkh({ pubkey });
  const internalPubkey = pubkey.subarray(1);
  const lock = (payment: payments.Payment, rest: Partial<Lock> = {}): Lock => ({
    output: payment.output as Uint8Array,
    address: payment.address ?? '',
    ...rest,
  });
  return {
    P2PKH: lock(payments.p2pkh({ pubkey })),
    P2SH: lock(payments.p2sh({ redeem: checksig }), { redeemScript: checksig.output }),
    P2WPKH: lock(segwit),
    P2WSH: lock(payments.p2wsh({ redeem: checksig }), { witnessScript: checksig.output }),
    P2TR: lock(payments.p2tr({ internalPubkey }), { tapInternalKey: internalPubkey }),
    'P2SH-P2WPKH': lock(payments.p2sh({ redeem: segwit }), { redeemScript: segwit.output as Uint8Array }),
  };
}

const satoshis = fc.bigInt({ min: 600n, max: 10n ** 12n });
const uint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
/** Which fields say what is spent. */
const told = fc.constantFrom('witnessUtxo', 'nonWitnessUtxo', 'both');
const inputs = fc.array(
  fc.record({
    own: fc.boolean(),
    kind: fc.constantFrom<InputKind>(...ADDRESS_TYPES, 'P2SH-P2WPKH'),
    value: satoshis,
    txid: fc.uint8Array({ minLength: 32, maxLength: 32 }),
    vout: fc.nat(3),
    sequence: uint32,
    derivation: fc.boolean(),
    told,
  }),
  { maxLength: 2 },
);
const outputs = fc.array(
  fc.record({
    lock: fc.oneof(
      fc.tuple(fc.boolean(), fc.constantFrom<InputKind>(...ADDRESS_TYPES, 'P2SH-P2WPKH')),
      fc.uint8Array({ maxLength: 20 }),
    ),
    part: fc.nat(100),
  }),
  { minLength: 1, maxLength: 3 },
);

export interface BitcoinBuilt extends Built {
  readonly signed: AddressType;
}

/** The first input belongs to the account; further ones may be its own too, or another's. */
export const bitcoinTransaction: fc.Arbitrary<BitcoinBuilt> = fc
  .record({
    signed: fc.constantFrom(...ADDRESS_TYPES),
    first: fc.record({ value: satoshis, vout: fc.nat(3), sequence: uint32, derivation: fc.boolean(), told }),
    inputs,
    outputs,
    version: fc.constantFrom(1, 2, 3),
    locktime: uint32,
  })
  .map(({ signed, first, inputs: more, outputs: paid, version, locktime }) => {
    const psbt = new Psbt({ network: networks.bitcoin });
    psbt.setVersion(version);
    psbt.setLocktime(locktime);
    const spent = [{ ...first, own: true, kind: signed as InputKind, txid: new Uint8Array(32).fill(9) }, ...more]
      // The account of P2SH signs no segwit in P2SH, and says so.
      .map((input) => (signed === 'P2SH' && input.kind === 'P2SH-P2WPKH' ? { ...input, own: false } : input));
    // Several inputs show the transactions that they spend from, unless all of them are of Taproot.
    const areBelieved = spent.length === 1 || spent.every(({ kind }) => kind === 'P2TR');
    const points = spent.map((input) =>
      addInput(psbt, areBelieved || input.told !== 'witnessUtxo' ? input : { ...input, told: 'both' }),
    );
    const total = spent.reduce((sum, { value }) => sum + value, 0n);
    const made = paid.map(({ lock, part }) => ({
      ...outputOf(lock),
      value: (total * BigInt(part)) / BigInt(100 * paid.length),
    }));
    for (const output of made) psbt.addOutput({ script: output.script, value: output.value });
    return {
      unsigned: psbt.toHex(),
      account: bitcoinAccount(signed),
      signed,
      facts: {
        bitcoin: {
          tx: {
            version: String(version),
            inputs: points.map(({ txid, vout }, index) => ({
              tx_id: txid,
              vout: BigInt(vout),
              sequence: BigInt(spent[index]?.sequence ?? 0),
            })),
            outputs: made.map((output) => ({
              value: output.value,
              script_pubkey: hexOf(output.script),
              address: output.address,
              address_type: output.type,
            })),
            locktime: lockTimeFacts(locktime),
            fee: total - made.reduce((sum, { value }) => sum + value, 0n),
          },
        },
      },
      payloads: bitcoinPayloads(psbt, signed),
    };
  });

/** Of the account's own key, but by an address of a kind that is not signed for. */
export function wrappedTransaction(): { unsigned: string } {
  const psbt = new Psbt({ network: networks.bitcoin });
  const own = {
    own: true,
    kind: 'P2SH-P2WPKH',
    value: 1_000n,
    vout: 0,
    sequence: 0,
    derivation: false,
    told: 'both',
  } as const;
  addInput(psbt, { ...own, txid: new Uint8Array(32).fill(9) });
  psbt.addOutput({ script: outputOf([false, 'P2WPKH']).script, value: 900n });
  return { unsigned: psbt.toHex() };
}

const lockTimeFacts = (amount: number) => ({
  amount: BigInt(amount),
  type: amount < 500_000_000 ? 'Blocks' : 'Seconds',
});

interface Spent {
  readonly own: boolean;
  readonly kind: InputKind;
  readonly value: bigint;
  readonly txid: Uint8Array;
  readonly vout: number;
  readonly sequence: number;
  readonly derivation: boolean;
  readonly told: string;
}

function addInput(psbt: Psbt, { own, kind, value, vout, sequence, derivation, ...rest }: Spent) {
  const pubkey = own ? OWN_KEY : FOREIGN_KEY;
  const { output, address: _, ...scripts } = (LOCKS.get(pubkey) as Record<InputKind, Lock>)[kind];
  const legacy = kind === 'P2PKH' || kind === 'P2SH';
  const previous = new Transaction();
  previous.version = 2;
  previous.addInput(rest.txid, 0);
  for (let index = 0; index <= vout; index += 1) previous.addOutput(output, index === vout ? value : 1n);
  psbt.addInput({
    hash: previous.getId(),
    index: vout,
    sequence,
    ...(legacy || rest.told !== 'witnessUtxo' ? { nonWitnessUtxo: previous.toBuffer() } : {}),
    ...(legacy || rest.told === 'nonWitnessUtxo' ? {} : { witnessUtxo: { script: output, value } }),
    ...scripts,
    ...(derivation && kind !== 'P2TR'
      ? { bip32Derivation: [{ masterFingerprint: Uint8Array.of(1, 2, 3, 4), path: "m/84'/0'/0'/0/1", pubkey }] }
      : {}),
  });
  return { txid: previous.getId(), vout };
}

function outputOf(lock: [boolean, InputKind] | Uint8Array): { script: Uint8Array; address: string; type: string } {
  if (lock instanceof Uint8Array) {
    const { output } = payments.embed({ data: [lock] });
    return { script: output as Uint8Array, address: '', type: '' };
  }
  const [own, kind] = lock;
  const { output, address: written } = (LOCKS.get(own ? OWN_KEY : FOREIGN_KEY) as Record<InputKind, Lock>)[kind];
  return { script: output, address: written, type: kind === 'P2SH-P2WPKH' ? 'P2SH' : kind };
}

interface SpentOutput {
  readonly script: Uint8Array;
  readonly value: bigint;
}

/** What each input spends, by the fields of the PSBT. */
function spentBy(psbt: Psbt): SpentOutput[] {
  return psbt.data.inputs.map(({ witnessUtxo, nonWitnessUtxo }, index) => {
    if (nonWitnessUtxo === undefined) return witnessUtxo as SpentOutput;
    const previous = Transaction.fromBuffer(nonWitnessUtxo);
    const point = psbt.txInputs[index];
    if (point === undefined || hexOf(previous.getHash()) !== hexOf(point.hash)) throw new Error('spends another one');
    return previous.outs[point.index] as SpentOutput;
  });
}

/** What bitcoinjs-lib hashes for the inputs of the account. */
export function bitcoinPayloads(psbt: Psbt, type: AddressType): string[] {
  const transaction = Transaction.fromBuffer(psbt.data.globalMap.unsignedTx.toBuffer());
  const { output, redeemScript, witnessScript } = (LOCKS.get(OWN_KEY) as Record<InputKind, Lock>)[type];
  const spent = spentBy(psbt);
  return spent
    .flatMap((one, index) => {
      if (hexOf(one.script) !== hexOf(output)) return [];
      switch (type) {
        case 'P2PKH':
          return [transaction.hashForSignature(index, output, Transaction.SIGHASH_ALL)];
        case 'P2SH':
          return [transaction.hashForSignature(index, redeemScript as Uint8Array, Transaction.SIGHASH_ALL)];
        case 'P2WPKH': {
          const code = payments.p2pkh({ pubkey: OWN_KEY }).output as Uint8Array;
          return [transaction.hashForWitnessV0(index, code, one.value, Transaction.SIGHASH_ALL)];
        }
        case 'P2WSH':
          return [transaction.hashForWitnessV0(index, witnessScript as Uint8Array, one.value, Transaction.SIGHASH_ALL)];
        case 'P2TR': {
          const scripts = spent.map((each) => each.script);
          const values = spent.map((each) => each.value);
          return [transaction.hashForWitnessV1(index, scripts, values, Transaction.SIGHASH_DEFAULT)];
        }
        default:
          return [];
      }
    })
    .map(hexOf);
}

/** `bitcoin.tx` as bitcoinjs-lib reads a PSBT. */
export function psbtFacts(psbt: Psbt): Namespaces {
  const spent = spentBy(psbt);
  const facts: BitcoinTransactionFacts = {
    version: String(psbt.version | 0),
    inputs: psbt.txInputs.map(({ hash, index, sequence }) => ({
      tx_id: hexOf(Uint8Array.from(hash).reverse()),
      vout: BigInt(index),
      sequence: BigInt(sequence ?? 0xffffffff),
    })),
    outputs: psbt.txOutputs.map(({ script: output, value, address: written }) => ({
      value,
      script_pubkey: hexOf(output),
      ...addressFacts(output, written),
    })),
    locktime: lockTimeFacts(psbt.locktime),
    fee: spent.reduce((sum, { value }) => sum + value, 0n) - psbt.txOutputs.reduce((sum, { value }) => sum + value, 0n),
  };
  return { bitcoin: { tx: facts } };
}

/** bitcoinjs-lib writes addresses of later witness versions too, and none for a key that is not on the curve. */
function addressFacts(output: Uint8Array, written: string | undefined): { address: string; address_type: string } {
  if (output.length === 34 && output[0] === opcodes.OP_1 && output[1] === 32) {
    return { address: address.toBech32(output.subarray(2), 1, 'bc'), address_type: 'P2TR' };
  }
  const named = PAYMENTS.find(([, payment]) => attempt(() => payment({ output })) !== undefined);
  return named === undefined ? { address: '', address_type: '' } : { address: written ?? '', address_type: named[0] };
}

const PAYMENTS = [
  ['P2PKH', payments.p2pkh],
  ['P2SH', payments.p2sh],
  ['P2WPKH', payments.p2wpkh],
  ['P2WSH', payments.p2wsh],
] as const;

/** The records of an input that say what it spends, and how; bitcoinjs-lib checks the others as well. */
const SPENDING = new Set([0x00, 0x01, 0x03, 0x04, 0x05, 0x13, 0x17]);

/** What bitcoinjs-lib reads, but for records that are of no account to who signs; undefined unless it writes it so. */
export function readPsbt(bytes: Buffer): Psbt | undefined {
  const { maps, end } = attempt(() => psbtMaps(bytes)) ?? { maps: [], end: 0 };
  if (end !== bytes.length) return undefined;
  const kept = maps.map((records, map) => records.filter(({ type }) => map === 0 || SPENDING.has(type)));
  const parts = kept.flatMap((records) => [...records.map(({ whole }) => whole), Uint8Array.of(0)]);
  const psbt = attempt(() => Psbt.fromBuffer(Buffer.concat([bytes.subarray(0, 5), ...parts])));
  const written = psbt && hexOf(psbt.data.globalMap.unsignedTx.toBuffer());
  return written !== undefined && hexOf(bytes).includes(written) ? psbt : undefined;
}

interface PsbtRecord {
  readonly type: number;
  readonly whole: Uint8Array;
}

/** Maps of records until the bytes end: the global one, and one for each input and output. */
function psbtMaps(bytes: Buffer): { maps: PsbtRecord[][]; end: number } {
  let at = 5;
  const size = (): number => {
    const first = bytes.readUInt8(at);
    at += first === 0xfd ? 3 : 1;
    const length = first === 0xfd ? bytes.readUInt16LE(at - 2) : first;
    if (first > 0xfd || (first === 0xfd && length < 0xfd)) throw new Error('a length that nobody writes so');
    return length;
  };
  const maps: PsbtRecord[][] = [];
  let records: PsbtRecord[] = [];
  while (at < bytes.length) {
    const start = at;
    const keyLength = size();
    if (keyLength === 0) {
      maps.push(records);
      records = [];
      continue;
    }
    const type = bytes.readUInt8(at);
    at += keyLength;
    const valueLength = size();
    at += valueLength;
    records.push({ type, whole: bytes.subarray(start, at) });
  }
  return { maps, end: records.length === 0 ? at : -1 };
}

/** A signature of nothing but this byte, as a record of a PSBT. */
export function signatureRecord(type: AddressType, byte: number): string {
  const half = hexOf(new Uint8Array(32).fill(byte));
  return type === 'P2TR' ? `011340${half}${half}` : `2202${hexOf(OWN_KEY)}4730440220${half}0220${half}01`;
}
