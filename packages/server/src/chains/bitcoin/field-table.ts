import type { BitcoinTransactionFacts } from '../../policy/index.ts';
import type { FieldTable } from '../field-table.ts';
import type { BitcoinTransaction } from './bitcoin.ts';
import type { PsbtInput } from './psbt.ts';
import type { BitcoinAddressType } from './script.ts';

const TRANSACTION = {
  version: { policy: 'version' },
  inputs: {
    policy: 'inputs',
    each: {
      txid: { policy: 'tx_id' },
      vout: { policy: 'vout' },
      sequence: { policy: 'sequence' },
      amount: { velocity: 'what leaves, with the fee' },
      scriptPubkey: { velocity: 'whose the amount is' },
    },
  },
  outputs: {
    policy: 'outputs',
    each: {
      value: { policy: 'value' },
      scriptPubkey: { policy: 'script_pubkey' },
      address: { policy: 'address' },
      addressType: { policy: 'address_type' },
    },
  },
  lockTime: { policy: 'locktime', each: { amount: { policy: 'amount' }, type: { policy: 'type' } } },
  fee: { policy: 'fee' },
} as const satisfies FieldTable<BitcoinTransaction, BitcoinTransactionFacts>;

export const BITCOIN_FIELDS = { TRANSACTION };

const UNCOVERED = { neither: 'no signature covers it, and it is not used to sign' } as const;
const EMPTY = { mustBe: 'empty' } as const;

/** Records of a PSBT beside the transaction, of an input that is signed. */
const SEGWIT = {
  nonWitnessUtxo: { derivedFrom: ['witnessUtxo'] },
  witnessUtxo: { velocity: 'its amount and script are those of the input' },
  partialSigKeys: { mustBe: 'without the key that signs' },
  sighashType: { mustBe: 'SIGHASH_ALL' },
  redeemScript: EMPTY,
  witnessScript: EMPTY,
  finalised: EMPTY,
  tapKeySig: UNCOVERED,
  tapInternalKey: UNCOVERED,
  hasTapScripts: UNCOVERED,
} as const;

const BEFORE_SEGWIT = {
  ...SEGWIT,
  nonWitnessUtxo: { velocity: 'its amount and script are those of the input' },
  witnessUtxo: EMPTY,
} as const;

export const PSBT_INPUT_FIELDS = {
  P2PKH: BEFORE_SEGWIT,
  P2SH: { ...BEFORE_SEGWIT, redeemScript: { mustBe: 'the script of the key' } },
  P2WPKH: SEGWIT,
  P2WSH: { ...SEGWIT, witnessScript: { mustBe: 'the script of the key' } },
  P2TR: {
    ...SEGWIT,
    partialSigKeys: EMPTY,
    sighashType: { mustBe: 'SIGHASH_DEFAULT' },
    tapKeySig: EMPTY,
    tapInternalKey: { mustBe: 'the key that signs' },
    hasTapScripts: EMPTY,
  },
} as const satisfies Record<BitcoinAddressType, FieldTable<PsbtInput, never>>;
