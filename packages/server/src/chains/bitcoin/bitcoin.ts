import { assert } from '../../lib/assert.ts';
import { toHex } from '../../lib/encoding.ts';
import { ApiError } from '../../lib/errors.ts';
import { bytesOfHex, refused, unparsable } from '../input.ts';
import type { RawSignature, Signable, SignerAccount } from '../signable.ts';
import { decodePsbt, type NewRecord, type Psbt } from './psbt.ts';
import {
  type BitcoinAddressType,
  type BitcoinNetwork,
  equalBytes,
  type KeyScripts,
  keyScript,
  keyScripts,
  scriptAddress,
  scriptType,
} from './script.ts';
import { legacySighash, type Sighash, segwitSighash, taprootSighash } from './sighash.ts';

export type { BitcoinAddressType, BitcoinNetwork } from './script.ts';

export interface BitcoinInput {
  readonly txid: string;
  readonly vout: number;
  readonly sequence: number;
  /** What the input spends: proven by the previous transaction, or committed to by every signature made here. */
  readonly amount: bigint;
  readonly scriptPubkey: string;
}

export interface BitcoinOutput {
  readonly value: bigint;
  readonly scriptPubkey: string;
  /** Empty when the script has none. */
  readonly address: string;
  readonly addressType: BitcoinAddressType | '';
}

/** Amounts are satoshis, bytes hex without 0x. */
export interface BitcoinTransaction {
  readonly version: number;
  readonly inputs: readonly BitcoinInput[];
  readonly outputs: readonly BitcoinOutput[];
  readonly lockTime: { readonly amount: number; readonly type: 'Seconds' | 'Blocks' };
  readonly fee: bigint;
}

export interface BitcoinSignable extends Signable {
  readonly transaction: BitcoinTransaction;
  /** How the payloads have to be signed: Schnorr is BIP-340 with the tweak of BIP-86. */
  readonly scheme: 'ECDSA' | 'SCHNORR';
  /** The inputs that belong to the signer, in the order of the payloads. */
  readonly signedInputs: readonly number[];
}

const ADDRESS_FORMAT =
  /^ADDRESS_FORMAT_BITCOIN_(?<network>MAINNET|TESTNET|SIGNET|REGTEST)_(?<type>P2PKH|P2SH|P2WPKH|P2WSH|P2TR)$/;

/** From here on a lock time is a time and no longer a height. */
const LOCK_TIME_THRESHOLD = 500_000_000;
const SIGHASH_DEFAULT = 0x00;
const SIGHASH_ALL = 0x01;
const IN_PARTIAL_SIG = 0x02;
const IN_TAP_KEY_SIG = 0x13;

/**
 * Reads the hex of a PSBT of version 0 for the first of the accounts that can sign it. Every input whose output script is
 * the one of the account's address format is signed, the others are left to their owners. The signed PSBT has the
 * signatures in it, but is not finalised.
 */
export function fitBitcoin(
  hex: string,
  accounts: readonly SignerAccount[],
): { readonly account: SignerAccount; readonly signable: BitcoinSignable } {
  const candidates = accounts.map((account) => ({ account, ...bitcoinFormat(account) }));
  // Once for all of them: a PSBT carries whole previous transactions.
  const psbt = decodePsbt(bytesOfHex(hex));
  let refusal: ApiError | undefined;
  for (const { account, network, type } of candidates) {
    try {
      const signable = signableAs(psbt, account.publicKey, network, type);
      if (signable !== undefined) return { account, signable };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refusal ??= error;
    }
  }
  throw refusal ?? refused('no input of the transaction belongs to the account to sign with');
}

/** Undefined when no input belongs to the account. */
function signableAs(
  psbt: Psbt,
  publicKey: Uint8Array,
  network: BitcoinNetwork,
  type: BitcoinAddressType,
): BitcoinSignable | undefined {
  const scripts = keyScripts(type, publicKey);
  const signedInputs = ownInputs(psbt, scripts);
  if (signedInputs.length === 0) return undefined;
  for (const at of signedInputs) checkInput(psbt, at, type, publicKey);
  checkProofs(psbt, type);
  const sighash = sighashOf(psbt, type, scripts);
  return {
    transaction: describeTransaction(psbt, network),
    scheme: type === 'P2TR' ? 'SCHNORR' : 'ECDSA',
    signedInputs,
    payloads: signedInputs.map(sighash),
    attach: (signatures) => {
      assert(signatures.length === signedInputs.length, 'there is one signature for each input of the account');
      const record = (signature: RawSignature) =>
        type === 'P2TR' ? tapKeySig(signature) : partialSig(publicKey, signature);
      const records = new Map(signatures.map((signature, index) => [signedInputs[index] ?? -1, record(signature)]));
      return toHex(psbt.withRecords(records));
    },
  };
}

/** What the address format of an account says; refuses an account of another chain. */
export function bitcoinFormat(signer: SignerAccount): { network: BitcoinNetwork; type: BitcoinAddressType } {
  const groups = ADDRESS_FORMAT.exec(signer.addressFormat)?.groups;
  if (groups === undefined || signer.curve !== 'CURVE_SECP256K1') {
    throw refused('a Bitcoin transaction needs an account with a Bitcoin address to sign with');
  }
  return { network: groups.network as BitcoinNetwork, type: groups.type as BitcoinAddressType };
}

/** Takes the PSBT's word for the amounts. Only `fitBitcoin` makes sure that they are proven. */
export function describeTransaction(psbt: Psbt, network: BitcoinNetwork): BitcoinTransaction {
  const inputs = psbt.unsigned.inputs.map((input, at): BitcoinInput => {
    const spent = psbt.spent[at];
    assert(spent !== undefined, 'every input spends an output');
    return {
      txid: toHex(input.txid),
      vout: input.index,
      sequence: input.sequence,
      amount: spent.amount,
      scriptPubkey: toHex(spent.script),
    };
  });
  const outputs = psbt.unsigned.outputs.map(
    ({ amount, script }): BitcoinOutput => ({
      value: amount,
      scriptPubkey: toHex(script),
      ...scriptAddress(network, script),
    }),
  );
  const fee =
    inputs.reduce((sum, { amount }) => sum + amount, 0n) - outputs.reduce((sum, { value }) => sum + value, 0n);
  if (fee < 0n) throw unparsable('the outputs are worth more than the inputs');
  const lockTimeType = psbt.unsigned.lockTime < LOCK_TIME_THRESHOLD ? 'Blocks' : 'Seconds';
  return {
    version: psbt.unsigned.version,
    inputs,
    outputs,
    lockTime: { amount: psbt.unsigned.lockTime, type: lockTimeType },
    fee,
  };
}

function ownInputs(psbt: Psbt, scripts: KeyScripts): number[] {
  return psbt.spent.flatMap(({ script }, at) => {
    if (scripts.wrapped !== undefined && equalBytes(script, scripts.wrapped)) {
      throw refused(`input ${at} is segwit wrapped in P2SH: such inputs are not signed`);
    }
    return equalBytes(script, scripts.output) ? [at] : [];
  });
}

/** The rules for an input that is about to be signed. What is not needed for signing must not be there either. */
function checkInput(psbt: Psbt, at: number, type: BitcoinAddressType, publicKey: Uint8Array): void {
  const input = psbt.inputs[at];
  assert(input !== undefined, 'every input has its fields');
  const need = (condition: boolean, rule: string) => {
    if (!condition) throw refused(`input ${at} (${type}) ${rule}`);
  };
  const isScript = (script: Uint8Array | undefined) => script !== undefined && equalBytes(script, keyScript(publicKey));

  need(!input.finalised, 'is finalised already');
  if (type === 'P2PKH' || type === 'P2SH') {
    need(input.nonWitnessUtxo !== undefined && input.witnessUtxo === undefined, 'needs non_witness_utxo only');
  }
  if (type === 'P2SH') need(isScript(input.redeemScript), 'needs the redeem_script of this key');
  else need(input.redeemScript === undefined, 'must not have a redeem_script');
  if (type === 'P2WSH') need(isScript(input.witnessScript), 'needs the witness_script of this key');
  else need(input.witnessScript === undefined, 'must not have a witness_script');

  if (type !== 'P2TR') {
    need((input.sighashType ?? SIGHASH_ALL) === SIGHASH_ALL, 'may be signed with SIGHASH_ALL only');
    need(!input.partialSigKeys.some((key) => equalBytes(key, publicKey)), 'is signed already');
    return;
  }
  need((input.sighashType ?? SIGHASH_DEFAULT) === SIGHASH_DEFAULT, 'may be signed with SIGHASH_DEFAULT only');
  need(input.tapKeySig === undefined && input.partialSigKeys.length === 0, 'is signed already');
  need(!input.hasTapScripts, 'may be spent by key only: it must have no tap scripts, their signatures or merkle root');
  need(
    input.tapInternalKey === undefined || equalBytes(input.tapInternalKey, publicKey.subarray(1)),
    'has an internal key other than the one of the account',
  );
}

/** Any P2SH output may wrap segwit v0. */
const MAY_BE_SEGWIT_V0: ReadonlySet<string> = new Set(['P2WPKH', 'P2WSH', 'P2SH']);

/**
 * Policies judge sums over the amounts of all inputs, so no signature may be valid if one of them is false
 * (docs/decisions/0027). BIP-341 commits to all amounts and scripts. BIP-143 commits to the amount of its own input alone,
 * so signatures of PSBTs that lie about different inputs combine. The original scheme commits to none. A single input
 * is covered by its own signature, or `checkInput` has demanded its previous transaction.
 */
function checkProofs(psbt: Psbt, type: BitcoinAddressType): void {
  if (psbt.inputs.length === 1) return;
  for (const [at, { nonWitnessUtxo }] of psbt.inputs.entries()) {
    const spent = psbt.spent[at];
    assert(spent !== undefined, 'every input spends an output');
    const kind = scriptType(spent.script);
    if (nonWitnessUtxo !== undefined || (type === 'P2TR' && !MAY_BE_SEGWIT_V0.has(kind))) continue;
    throw refused(
      `input ${at} (${kind === '' ? 'another script' : kind}) needs non_witness_utxo, the whole previous transaction: ` +
        'in a transaction with several inputs, witness_utxo does not prove its amount',
    );
  }
}

function sighashOf(psbt: Psbt, type: BitcoinAddressType, { code }: KeyScripts): Sighash {
  if (type === 'P2TR') return taprootSighash(psbt);
  assert(code !== undefined, 'every script but that of taproot has a script code');
  return type === 'P2PKH' || type === 'P2SH' ? legacySighash(psbt, code) : segwitSighash(psbt, code);
}

/** BIP-174: the key in the key, the DER signature and the sighash byte in the value. */
function partialSig(publicKey: Uint8Array, { r, s }: RawSignature): NewRecord {
  const body = [...derInteger(r), ...derInteger(s)];
  return {
    key: Uint8Array.of(IN_PARTIAL_SIG, ...publicKey),
    value: Uint8Array.of(0x30, body.length, ...body, SIGHASH_ALL),
  };
}

/** BIP-371: with SIGHASH_DEFAULT the 64 bytes of the signature alone. */
function tapKeySig({ r, s }: RawSignature): NewRecord {
  assert(r.length === 32 && s.length === 32, 'a Schnorr signature has 64 bytes');
  return { key: Uint8Array.of(IN_TAP_KEY_SIG), value: Uint8Array.of(...r, ...s) };
}

/** BIP-66: the shortest form that is not negative. */
function derInteger(bytes: Uint8Array): Uint8Array {
  assert(bytes.length === 32, 'a number of an ECDSA signature has 32 bytes');
  const start = bytes.findIndex((byte) => byte !== 0);
  assert(start !== -1, 'a number of an ECDSA signature is not zero');
  const digits = bytes.subarray(start);
  const sign = (digits[0] ?? 0) >= 0x80 ? [0x00] : [];
  return Uint8Array.of(0x02, digits.length + sign.length, ...sign, ...digits);
}
