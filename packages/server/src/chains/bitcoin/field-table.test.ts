import { secp256k1 } from '@noble/curves/secp256k1.js';
import { p2pkh, p2wpkh, Transaction } from '@scure/btc-signer';
import { describe, expect, test } from 'vitest';
import { testFieldTable } from '../../../test/chain/field-table.ts';
import { assetMovements, readTransaction, signableOf } from '../transactions.ts';
import { BITCOIN_FIELDS, PSBT_INPUT_FIELDS } from './field-table.ts';
import type { PsbtInput } from './psbt.ts';
import { type BitcoinAddressType, keyScript, keyScripts } from './script.ts';

const publicKey = secp256k1.getPublicKey(new Uint8Array(32).fill(0x11), true);
const otherKey = secp256k1.getPublicKey(new Uint8Array(32).fill(0x22), true);

const account = {
  curve: 'CURVE_SECP256K1',
  publicKey,
  address: '',
  addressFormat: 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH',
} as const;
const signer = { account, addresses: [account] };

interface Parts {
  readonly version: number;
  readonly lockTime: number;
  readonly sequence: number;
  /** What the second input spends: which output of a transaction that this tells apart from others. */
  readonly previous: number;
  readonly vout: number;
  readonly spent: bigint;
  readonly spentScript: Uint8Array;
  readonly paid: bigint;
  readonly paidScript: Uint8Array;
}

const BASE: Parts = {
  version: 2,
  lockTime: 800_000,
  sequence: 0xfffffffd,
  previous: 0,
  vout: 0,
  spent: 50n,
  spentScript: p2wpkh(otherKey).script,
  paid: 60n,
  paidScript: p2wpkh(otherKey).script,
};

function psbt(some: Partial<Parts> = {}): string {
  const { version, lockTime, sequence, previous, vout, spent, spentScript, paid, paidScript } = { ...BASE, ...some };
  const tx = new Transaction({ version, lockTime });
  const spend = (id: number, index: number, script: Uint8Array, amount: bigint) => {
    const before = new Transaction({ lockTime: id });
    before.addInput({ txid: '11'.repeat(32), index: 0 });
    for (let at = 0; at <= 1; at += 1) before.addOutput({ script, amount });
    tx.addInput({ index, sequence, txid: before.id, nonWitnessUtxo: before.unsignedTx });
  };
  spend(9, 0, p2wpkh(publicKey).script, 100n);
  spend(previous, vout, spentScript, spent);
  tx.addOutput({ script: paidScript, amount: paid });
  return Buffer.from(tx.toPSBT(0)).toString('hex');
}

const change = (some: Partial<Parts>) => () => readTransaction('TRANSACTION_TYPE_BITCOIN', psbt(some), signer);

describe('who sees the fields of a transaction of Bitcoin', () => {
  const toOther = change({ paidScript: p2pkh(otherKey).script });
  testFieldTable(
    BITCOIN_FIELDS.TRANSACTION,
    { type: 'TRANSACTION_TYPE_BITCOIN', unsigned: psbt(), signer },
    {
      version: change({ version: 1 }),
      'inputs.txid': change({ previous: 1 }),
      'inputs.vout': change({ vout: 1 }),
      'inputs.sequence': change({ sequence: 0xfffffffc }),
      // Of an input that is signed: what others spend is theirs.
      'inputs.amount': change({ spentScript: p2wpkh(publicKey).script, spent: 51n }),
      'inputs.scriptPubkey': change({ spentScript: p2wpkh(publicKey).script }),
      'outputs.value': change({ paid: 61n }),
      'outputs.scriptPubkey': toOther,
      'outputs.address': toOther,
      'outputs.addressType': toOther,
      'lockTime.amount': change({ lockTime: 800_001 }),
      'lockTime.type': change({ lockTime: 1_700_000_000 }),
      fee: change({ paid: 61n }),
    },
  );
});

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Fewer than 0xfd bytes, or two bytes for the length. */
function withLength(hex: string): string {
  const length = hex.length / 2;
  if (length < 0xfd) return length.toString(16).padStart(2, '0') + hex;
  return `fd${Buffer.from([length & 0xff, length >> 8]).toString('hex')}${hex}`;
}

/** Records of an input, by their keys; undefined leaves one out. */
type Records = Readonly<Record<string, string | undefined>>;

const OUTPUT_OF = (script: Uint8Array, amount: bigint): string =>
  hexOf(new Uint8Array(new BigUint64Array([amount]).buffer)) + withLength(hexOf(script));

/** A PSBT with one input, which an account of this kind signs. */
function psbtOf(type: BitcoinAddressType, changes: Records = {}, spent = 100n): string {
  const { output } = keyScripts(type, publicKey);
  const before = new Transaction({ allowUnknownOutputs: true });
  before.addInput({ txid: '11'.repeat(32), index: 0 });
  before.addOutput({ script: output, amount: spent });
  const tx = new Transaction();
  tx.addInput({ txid: before.id, index: 0 });
  tx.addOutput({ script: p2wpkh(otherKey).script, amount: 60n });
  const isOld = type === 'P2PKH' || type === 'P2SH';
  const records: Records = {
    '00': isOld ? hexOf(before.unsignedTx) : undefined,
    '01': isOld ? undefined : OUTPUT_OF(output, spent),
    '04': type === 'P2SH' ? hexOf(keyScript(publicKey)) : undefined,
    '05': type === 'P2WSH' ? hexOf(keyScript(publicKey)) : undefined,
    ...changes,
  };
  const input = Object.entries(records).flatMap(([key, value]) =>
    value === undefined ? [] : [withLength(key) + withLength(value)],
  );
  return `70736274ff${withLength('00')}${withLength(hexOf(tx.unsignedTx))}00${input.join('')}0000`;
}

const SIGNATURE = 'aa'.repeat(64);
const output = keyScripts('P2WPKH', publicKey).output;

/** Something else in a field than what an input needs. Where amounts are, they are changed apart. */
const RECORDS: Readonly<Record<Exclude<keyof PsbtInput, 'nonWitnessUtxo'>, Records>> = {
  witnessUtxo: { '01': OUTPUT_OF(output, 100n) },
  partialSigKeys: { [`02${hexOf(publicKey)}`]: SIGNATURE },
  sighashType: { '03': '02000000' },
  redeemScript: { '04': '51' },
  witnessScript: { '05': '51' },
  finalised: { '07': '51' },
  tapKeySig: { '13': SIGNATURE },
  tapInternalKey: { '17': hexOf(otherKey.subarray(1)) },
  hasTapScripts: { '18': '22'.repeat(32) },
};

describe.each(Object.entries(PSBT_INPUT_FIELDS))('who sees the records of an input of %s', (name, table) => {
  const type = name as BitcoinAddressType;
  const owner = { ...account, addressFormat: `ADDRESS_FORMAT_BITCOIN_MAINNET_${type}` };
  const by = { account: owner, addresses: [owner] };
  const payloadsOf = (unsigned: string) => signableOf('TRANSACTION_TYPE_BITCOIN', unsigned, by).signable.payloads;
  const movementsOf = (unsigned: string) => assetMovements(readTransaction('TRANSACTION_TYPE_BITCOIN', unsigned, by));

  test.each(Object.entries(table))('%s', (field, rule) => {
    if ('derivedFrom' in rule) return;
    if ('velocity' in rule) {
      expect(movementsOf(psbtOf(type, {}, 101n))).not.toEqual(movementsOf(psbtOf(type)));
      return;
    }
    const changed = psbtOf(type, RECORDS[field as keyof typeof RECORDS]);
    if ('mustBe' in rule) {
      const refusal = expect.objectContaining({ name: 'ApiError', code: 'INVALID_TRANSACTION' });
      expect(() => payloadsOf(changed)).toThrow(refusal);
    } else {
      expect(payloadsOf(changed)).toEqual(payloadsOf(psbtOf(type)));
    }
  });
});
