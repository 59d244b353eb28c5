import { readFileSync } from 'node:fs';
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { NETWORK, p2ms, p2pk, p2pkh, p2sh, p2tr, p2wpkh, p2wsh, TEST_NETWORK, Transaction } from '@scure/btc-signer';
import { RawPSBTV0 } from '@scure/btc-signer/psbt.js';
import { RawOldTx, RawTx } from '@scure/btc-signer/script.js';
import { taprootTweakPrivKey } from '@scure/btc-signer/utils.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../lib/errors.ts';
import { bytesOfHex } from '../input.ts';
import type { RawSignature, SignerAccount } from '../signable.ts';
import {
  type BitcoinAddressType,
  type BitcoinNetwork,
  type BitcoinSignable,
  describeTransaction,
  fitBitcoin,
} from './bitcoin.ts';
import { decodePsbt } from './psbt.ts';
import { segwitSighash, taprootSighash } from './sighash.ts';

interface Vector {
  readonly case: string;
  readonly hex: string;
}
const vectors: {
  readonly bip174: Record<'invalid' | 'valid' | 'failsSignerChecks', readonly Vector[]>;
  readonly bip371: Record<'invalid' | 'valid', readonly Vector[]>;
} = JSON.parse(readFileSync(new URL('psbt-vectors.json', import.meta.url), 'utf8'));

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));
const cat = (...parts: Uint8Array[]): Uint8Array => Uint8Array.from(Buffer.concat(parts));

const secret = new Uint8Array(32).fill(0x21);
const publicKey = secp256k1.getPublicKey(secret, true);
const otherKey = secp256k1.getPublicKey(new Uint8Array(32).fill(0x22), true);
const NO_AUX = new Uint8Array(32);

const signableBitcoin = (hex: string, one: SignerAccount): BitcoinSignable => fitBitcoin(hex, [one]).signable;
const parseBitcoin = (hex: string, network: BitcoinNetwork) =>
  describeTransaction(decodePsbt(bytesOfHex(hex)), network);

const TYPES: readonly BitcoinAddressType[] = ['P2PKH', 'P2SH', 'P2WPKH', 'P2WSH', 'P2TR'];
type InputType = BitcoinAddressType | 'P2SH-P2WPKH';
const isLegacy = (type: InputType): boolean => type === 'P2PKH' || type === 'P2SH';

const account = (type: BitcoinAddressType, key: Uint8Array = publicKey, network = 'MAINNET'): SignerAccount => ({
  curve: 'CURVE_SECP256K1',
  publicKey: key,
  address: '',
  addressFormat: `ADDRESS_FORMAT_BITCOIN_${network}_${type}`,
});

/** The library's idea of what an account of a type owns. */
function payment(type: InputType, key: Uint8Array = publicKey) {
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

/** A transaction that pays 100000 to the script, to be spent as non_witness_utxo. */
function previous(script: Uint8Array, lockTime: number) {
  const bytes = RawOldTx.encode({
    version: 2,
    lockTime,
    inputs: [{ txid: new Uint8Array(32).fill(9), index: 0, finalScriptSig: new Uint8Array(), sequence: 0xffffffff }],
    outputs: [
      { amount: 5n, script: Uint8Array.of(0x6a) },
      { amount: 100_000n, script },
    ],
  });
  return { bytes, txid: Transaction.fromRaw(bytes, { allowUnknownOutputs: true }).id };
}

type InputUpdate = Parameters<Transaction['addInput']>[0];

/** With every field that says what is spent, but for taproot, which may do without the previous transaction. */
function inputOf(type: InputType, key: Uint8Array = publicKey, nonce = 0): InputUpdate {
  const { script, redeemScript, witnessScript } = payment(type, key) as {
    script: Uint8Array;
    redeemScript?: Uint8Array;
    witnessScript?: Uint8Array;
  };
  const { bytes, txid } = previous(script, nonce);
  return {
    txid,
    index: 1,
    sequence: 0xfffffffd,
    ...(redeemScript && { redeemScript }),
    ...(witnessScript && { witnessScript }),
    ...(type !== 'P2TR' && { nonWitnessUtxo: bytes }),
    ...(!isLegacy(type) && { witnessUtxo: { amount: 100_000n, script } }),
    ...(type === 'P2TR' && { tapInternalKey: key.subarray(1) }),
  };
}

const LENIENT = { allowUnknownInputs: true, allowUnknownOutputs: true, disableScriptCheck: true } as const;

function psbtOf(inputs: readonly InputUpdate[], fee = 1000n): string {
  const tx = new Transaction({ ...LENIENT, lockTime: 800_000, unknown: 'ignore' });
  for (const input of inputs) tx.addInput(input);
  tx.addOutputAddress('bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu', 1_000n, NETWORK);
  tx.addOutput({ script: Uint8Array.of(0x6a, 0x01, 0xff), amount: 0n });
  tx.addOutput({ script: payment('P2TR').script, amount: 100_000n * BigInt(inputs.length) - 1_000n - fee });
  return hexOf(tx.toPSBT(0));
}

function ecdsa(digest: Uint8Array): RawSignature {
  const [v = 0, ...rs] = secp256k1.sign(digest, secret, { prehash: false, format: 'recovered' });
  return { r: Uint8Array.from(rs.slice(0, 32)), s: Uint8Array.from(rs.slice(32)), v: v as 0 | 1 };
}

function schnorrSignature(digest: Uint8Array): RawSignature {
  const bytes = schnorr.sign(digest, taprootTweakPrivKey(secret), NO_AUX);
  return { r: bytes.subarray(0, 32), s: bytes.subarray(32), v: 0 };
}

function sign(signable: BitcoinSignable): string {
  return signable.attach(signable.payloads.map(signable.scheme === 'SCHNORR' ? schnorrSignature : ecdsa));
}

function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError);
    expect((error as ApiError).code).toBe('INVALID_TRANSACTION');
    return (error as ApiError).message;
  }
  throw new Error('it was accepted');
}

describe.each(TYPES)('an account with a %s address', (type) => {
  // The first and last inputs are the account's; the one between belongs to somebody else.
  const hex = psbtOf([inputOf(type, publicKey, 1), inputOf('P2WPKH', otherKey, 2), inputOf(type, publicKey, 3)]);

  test('signs its inputs exactly as the library does', () => {
    const signable = signableBitcoin(hex, account(type));
    expect(signable.signedInputs).toEqual([0, 2]);
    expect(signable.scheme).toBe(type === 'P2TR' ? 'SCHNORR' : 'ECDSA');
    const library = Transaction.fromPSBT(bytesOf(hex), LENIENT);
    for (const at of signable.signedInputs) library.signIdx(secret, at, undefined, NO_AUX);
    const signed = sign(signable);
    expect(signed).toBe(hexOf(library.toPSBT(0)));
  });

  test('gives a PSBT that can be finalised', () => {
    const own = psbtOf([inputOf(type, publicKey, 1), inputOf(type, publicKey, 2)]);
    const tx = Transaction.fromPSBT(bytesOf(sign(signableBitcoin(own, account(type)))), { allowUnknownOutputs: true });
    expect(tx.isFinal).toBe(false);
    tx.finalize();
    expect(RawTx.decode(tx.extract()).inputs).toHaveLength(2);
    expect(tx.fee).toBe(1000n);
  });

  test('does not sign twice', () => {
    const signed = sign(signableBitcoin(hex, account(type)));
    expect(refusal(() => signableBitcoin(signed, account(type)))).toMatch(/input 0 .* is signed already/);
  });

  test('does not sign an input that is finalised', () => {
    for (const field of [0x07, 0x08]) {
      const record = { key: Uint8Array.of(field), value: Uint8Array.of(0x01, 0x51) };
      const finalised = decodePsbt(bytesOf(psbtOf([inputOf(type)]))).withRecords(new Map([[0, record]]));
      expect(refusal(() => signableBitcoin(hexOf(finalised), account(type)))).toMatch(/finalised already/);
    }
  });

  test('needs the right description of what it spends', () => {
    const { nonWitnessUtxo: _, witnessUtxo: __, ...bare } = inputOf(type);
    const nonWitnessUtxo = previous(payment(type).script, 0).bytes;
    const witnessUtxo = { amount: 100_000n, script: payment(type).script };
    const [previousOnly, ...others] = [{ nonWitnessUtxo }, { witnessUtxo }, { witnessUtxo, nonWitnessUtxo }].map(
      (fields) => psbtOf([{ ...bare, ...fields }]),
    );
    const digests = signableBitcoin(previousOnly!, account(type)).payloads;
    for (const other of others) {
      if (!isLegacy(type)) expect(signableBitcoin(other, account(type)).payloads).toEqual(digests);
      else expect(refusal(() => signableBitcoin(other, account(type)))).toMatch(/needs non_witness_utxo only/);
    }
    expect(refusal(() => signableBitcoin(psbtOf([bare]), account(type)))).toMatch(
      /input 0 does not say what it spends: it has neither witness_utxo nor non_witness_utxo/,
    );
  });

  test('knows every amount, or makes no signature that is good for another one', () => {
    const kinds: readonly InputType[] = [...TYPES, 'P2SH-P2WPKH'];
    for (const kind of kinds) {
      const own = inputOf(type, publicKey, 1);
      const { script } = payment(kind, otherKey);
      const witnessUtxo = { amount: 100_000n, script };
      const nonWitnessUtxo = previous(script, 2).bytes;
      const { nonWitnessUtxo: _, witnessUtxo: __, ...bare } = inputOf(kind, otherKey, 2);
      for (const isFirst of [true, false]) {
        const signable = (fields: object) =>
          signableBitcoin(
            psbtOf(isFirst ? [own, { ...bare, ...fields }] : [{ ...bare, ...fields }, own]),
            account(type),
          );
        expect(signable({ nonWitnessUtxo }).signedInputs).toHaveLength(1);
        expect(signable({ nonWitnessUtxo, witnessUtxo }).signedInputs).toHaveLength(1);
        if (type === 'P2TR' && (kind === 'P2TR' || kind === 'P2PKH')) {
          // The signature commits to the amount.
          const lie = { witnessUtxo: { amount: 99_500n, script } };
          expect(signable({ witnessUtxo }).payloads).not.toEqual(signable(lie).payloads);
          continue;
        }
        expect(refusal(() => signable({ witnessUtxo }))).toMatch(/^input [01] \(P2\w+\) needs non_witness_utxo, /);
      }
    }
  });

  test('has its own inputs proven, if there are several and their signatures cover only themselves', () => {
    if (isLegacy(type)) return;
    const inputs = [1, 2].map((nonce) => {
      const { nonWitnessUtxo: _, ...input } = inputOf(type, publicKey, nonce);
      return input;
    });
    const proof = { nonWitnessUtxo: previous(payment(type).script, 1).bytes };
    for (const [several, lacking] of [
      [inputs, 0],
      [[{ ...inputs[0], ...proof }, inputs[1]!], 1],
    ] as const) {
      const sign = () => signableBitcoin(psbtOf(several), account(type));
      if (type === 'P2TR') expect(sign().payloads).toHaveLength(2);
      else expect(refusal(sign)).toMatch(new RegExp(`^input ${lacking} \\(${type}\\) needs non_witness_utxo`));
    }
  });

  test('signs with the sighash of its scheme only', () => {
    const own = type === 'P2TR' ? 0 : 1;
    for (const sighashType of [0, 1, 2, 3, 0x81, 0x83]) {
      const psbt = psbtOf([{ ...inputOf(type), sighashType }]);
      if (sighashType === own) expect(signableBitcoin(psbt, account(type)).payloads).toHaveLength(1);
      else expect(refusal(() => signableBitcoin(psbt, account(type)))).toMatch(/may be signed with SIGHASH_/);
    }
  });

  test('does not sign with scripts that are not its own', () => {
    const foreign = p2pk(otherKey).script;
    for (const field of ['redeemScript', 'witnessScript'] as const) {
      const psbt = psbtOf([{ ...inputOf(type), [field]: foreign }]);
      expect(refusal(() => signableBitcoin(psbt, account(type)))).toMatch(/redeem_script|witness_script/);
    }
  });

  test('does not sign for another account', () => {
    const stranger = secp256k1.getPublicKey(new Uint8Array(32).fill(0x23), true);
    expect(refusal(() => signableBitcoin(hex, account(type, stranger)))).toMatch(/no input of the transaction belongs/);
    for (const other of TYPES.filter((one) => one !== type)) {
      const psbt = psbtOf([inputOf(type)]);
      expect(refusal(() => signableBitcoin(psbt, account(other)))).toMatch(/no input of the transaction belongs/);
    }
  });
});

describe('what gets signed', () => {
  test('BIP-143, native P2WPKH', () => {
    const unsigned = bytesOf(
      '0100000002fff7f7881a8099afa6940d42d1e7f6362bec38171ea3edf433541db4e4ad969f0000000000eeffffffef51e1b804cc89d182d2' +
        '79655c3aa89e815b1b309fe287d9b2b55d57b90ec68a0100000000ffffffff02202cb206000000001976a9148280b37df378db99f66f85c9' +
        '5a783a76ac7a6d5988ac9093510d000000001976a9143bde42dbee7e4dbe6a21b2d50ce2f0167faa815988ac11000000',
    );
    const spent = [
      { amount: 625_000_000n, script: '2103c9f4836b9a4f77fc0d81f7bcb01b7f1b35916864b9476c241ce9fc198bd25432ac' },
      { amount: 600_000_000n, script: '00141d0f172a0ecb48aee1be1f2687d2963ae33f71a1' },
    ];
    const key = bytesOf('025476c2e83188368da1ff3e292e7acafcdb3566bb0ad253f62fc70f07aeee6357');
    const hex = handmade(unsigned, spent);
    expect(hexOf(segwitSighash(decodePsbt(bytesOf(hex)), p2pkh(key).script)(1))).toBe(
      'c37af31116d1b27caf68aae9e3ac82f1477929014d5b917657d0eb49478cb670',
    );
    // The vector has no previous transactions.
    expect(refusal(() => signableBitcoin(hex, account('P2WPKH', key)))).toMatch(/^input 0 .*needs non_witness_utxo/);
  });

  test('BIP-341, key path with SIGHASH_DEFAULT', () => {
    const unsigned = bytesOf(
      '02000000097de20cbff686da83a54981d2b9bab3586f4ca7e48f57f5b55963115f3b334e9c010000000000000000d7b7cab57b1393ace2d0' +
        '64f4d4a2cb8af6def61273e127517d44759b6dafdd990000000000fffffffff8e1f583384333689228c5d28eac13366be082dc57441760d9' +
        '57275419a418420000000000fffffffff0689180aa63b30cb162a73c6d2a38b7eeda2a83ece74310fda0843ad604853b0100000000feffff' +
        'ffaa5202bdf6d8ccd2ee0f0202afbbb7461d9264a25e5bfd3c5a52ee1239e0ba6c0000000000feffffff956149bdc66faa968eb2be2d2faa' +
        '29718acbfe3941215893a2a3446d32acd050000000000000000000e664b9773b88c09c32cb70a2a3e4da0ced63b7ba3b22f848531bbb1d5d' +
        '5f4c94010000000000000000e9aa6b8e6c9de67619e6a3924ae25696bb7b694bb677a632a74ef7eadfd4eabf0000000000ffffffffa778eb' +
        '6a263dc090464cd125c466b5a99667720b1c110468831d058aa1b82af10100000000ffffffff0200ca9a3b000000001976a91406afd46bcd' +
        'fd22ef94ac122aa11f241244a37ecc88ac807840cb0000000020ac9a87f5594be208f8532db38cff670c450ed2fea8fcdefcc9a663f78bab' +
        '962b0065cd1d',
    );
    const spent = [
      { amount: 420000000n, script: '512053a1f6e454df1aa2776a2814a721372d6258050de330b3c6d10ee8f4e0dda343' },
      { amount: 462000000n, script: '5120147c9c57132f6e7ecddba9800bb0c4449251c92a1e60371ee77557b6620f3ea3' },
      { amount: 294000000n, script: '76a914751e76e8199196d454941c45d1b3a323f1433bd688ac' },
      { amount: 504000000n, script: '5120e4d810fd50586274face62b8a807eb9719cef49c04177cc6b76a9a4251d5450e' },
      { amount: 630000000n, script: '512091b64d5324723a985170e4dc5a0f84c041804f2cd12660fa5dec09fc21783605' },
      { amount: 378000000n, script: '00147dd65592d0ab2fe0d0257d571abf032cd9db93dc' },
      { amount: 672000000n, script: '512075169f4001aa68f15bbed28b218df1d0a62cbbcf1188c6665110c293c907b831' },
      { amount: 546000000n, script: '5120712447206d7a5238acc7ff53fbe94a3b64539ad291c7cdbc490b7577e4b17df5' },
      { amount: 588000000n, script: '512077e30a5522dd9f894c3f8b8bd4c4b2cf82ca7da8a3ea6a239655c39c050ab220' },
    ];
    const hex = handmade(unsigned, spent);
    expect(hexOf(taprootSighash(decodePsbt(bytesOf(hex)))(4))).toBe(
      '4f900a0bae3f1446fd48490c2958b5a023228f01661cda3496a11da502a7f7ef',
    );
    // Input 0 has no script tree, so its internal key is an account of ours; input 5 is of segwit v0.
    const key = bytesOf('02d6889cb081036e0faefa3a35157ad71086b123b2b144b649798b494c300a961d');
    expect(refusal(() => signableBitcoin(hex, account('P2TR', key)))).toMatch(
      /^input 5 \(P2WPKH\) needs non_witness_utxo/,
    );
  });

  test('many inputs do not take the square of their time', () => {
    const transactions = Array.from({ length: 2000 }, (_, nonce) => previous(payment('P2WPKH').script, nonce));
    const unsigned = RawOldTx.encode({
      version: 2,
      lockTime: 0,
      inputs: transactions.map(({ txid }) => ({
        txid: bytesOf(txid),
        index: 1,
        finalScriptSig: new Uint8Array(),
        sequence: 0,
      })),
      outputs: [{ amount: 1n, script: Uint8Array.of(0x6a) }],
    });
    const hex = handmade(
      unsigned,
      transactions.map(({ bytes }): [string, Uint8Array][] => [['00', bytes]]),
    );
    // Anything quadratic would run into the time-out of the test.
    expect(signableBitcoin(hex, account('P2WPKH')).payloads).toHaveLength(2000);
  });
});

describe('the file', () => {
  const record = (key: string, value: string): Uint8Array =>
    bytesOf([key, value].map((part) => (part.length / 2).toString(16).padStart(2, '0') + part).join(''));
  const separator = Uint8Array.of(0);

  test('goes back with every other byte where it was', () => {
    const unsigned = RawOldTx.encode({
      version: 1,
      lockTime: 0,
      inputs: [{ txid: new Uint8Array(32).fill(7), index: 3, finalScriptSig: new Uint8Array(), sequence: 0 }],
      outputs: [{ amount: 1n, script: Uint8Array.of(0x51) }],
    });
    const { script } = payment('P2WPKH');
    const head = cat(
      bytesOf('70736274ff'),
      record('fc0361626301', 'aabb'),
      record('00', hexOf(unsigned)),
      record('fb', '00000000'),
      separator,
      // Unknown, proprietary and known records, in no order.
      record('fd00f001', '0102'),
      record('01', `0a00000000000000${(script.length).toString(16)}${hexOf(script)}`),
    );
    const tail = cat(record('03', '01000000'), record('fc01610002', 'ff'), separator, record('77', '88'), separator);
    const signable = signableBitcoin(hexOf(cat(head, tail)), account('P2WPKH'));
    const { r, s, v } = ecdsa(signable.payloads[0]!);
    const der = secp256k1.Signature.fromBytes(cat(r, s)).toHex('der');
    // The first record with a greater key is the unknown one at the start of the map.
    const start = hexOf(head).indexOf('04fd00f001');
    const expected = hexOf(head).slice(0, start) + hexOf(record(`02${hexOf(publicKey)}`, `${der}01`));
    expect(signable.attach([{ r, s, v }])).toBe(expected + hexOf(head).slice(start) + hexOf(tail));
  });

  test('has a limited number of records', () => {
    const psbt = (count: number) => {
      const hex = psbtOf([inputOf('P2WPKH')]);
      // The separators of the input and of three outputs.
      const [head, tail] = [hex.slice(0, -8), hex.slice(-8)];
      const many = Array.from({ length: count }, (_, at) => `0460${at.toString(16).padStart(6, '0')}00`);
      return head + many.join('') + tail;
    };
    expect(signableBitcoin(psbt(32_000), account('P2WPKH')).payloads).toHaveLength(1);
    expect(refusal(() => signableBitcoin(psbt(33_000), account('P2WPKH')))).toMatch(/more than 32768 records/);
  });

  test('keeps the signatures of others', () => {
    const both = psbtOf([inputOf('P2WPKH', publicKey, 1), inputOf('P2WPKH', otherKey, 2)]);
    const library = Transaction.fromPSBT(bytesOf(both), LENIENT);
    library.signIdx(new Uint8Array(32).fill(0x22), 1);
    const signed = sign(signableBitcoin(hexOf(library.toPSBT(0)), account('P2WPKH')));
    const tx = Transaction.fromPSBT(bytesOf(signed), { allowUnknownOutputs: true });
    tx.finalize();
    expect(tx.isFinal).toBe(true);
  });
});

describe('refusals', () => {
  test('segwit wrapped in P2SH, which is what a P2SH address of ours is', () => {
    const wrapped = p2sh(p2wpkh(publicKey));
    const hex = psbtOf([
      {
        txid: previous(wrapped.script, 0).txid,
        index: 1,
        witnessUtxo: { amount: 100_000n, script: wrapped.script },
        redeemScript: wrapped.redeemScript!,
      },
    ]);
    expect(refusal(() => signableBitcoin(hex, account('P2SH')))).toMatch(/segwit wrapped in P2SH/);
    expect(refusal(() => signableBitcoin(hex, account('P2WPKH')))).toMatch(/no input/);
  });

  test('the script path of taproot', () => {
    const psbt = (extra: InputUpdate) => psbtOf([{ ...inputOf('P2TR'), ...extra }]);
    expect(refusal(() => signableBitcoin(psbt({ tapMerkleRoot: NO_AUX }), account('P2TR')))).toMatch(/by key only/);
    const tree = p2tr(otherKey.subarray(1), [{ script: Uint8Array.of(0x51) }], NETWORK, true);
    const leaf = { tapLeafScript: tree.tapLeafScript! };
    expect(refusal(() => signableBitcoin(psbt(leaf), account('P2TR')))).toMatch(/by key only/);
    const internal = { tapInternalKey: otherKey.subarray(1) };
    expect(refusal(() => signableBitcoin(psbt(internal), account('P2TR')))).toMatch(/internal key/);
  });

  test('scripts of several keys', () => {
    const shared = p2wsh(p2ms(1, [publicKey, otherKey]));
    const input = { witnessUtxo: { amount: 100_000n, script: shared.script }, witnessScript: shared.witnessScript! };
    const hex = psbtOf([{ txid: NO_AUX, index: 1, ...input }]);
    expect(refusal(() => signableBitcoin(hex, account('P2WSH')))).toMatch(/no input/);
  });

  test('accounts without a Bitcoin address', () => {
    const hex = psbtOf([inputOf('P2WPKH')]);
    for (const addressFormat of ['ADDRESS_FORMAT_COMPRESSED', 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2PK', '']) {
      expect(refusal(() => signableBitcoin(hex, { ...account('P2WPKH'), addressFormat }))).toMatch(/Bitcoin address/);
    }
    const p256 = { ...account('P2WPKH'), curve: 'CURVE_P256' as const };
    expect(refusal(() => signableBitcoin(hex, p256))).toMatch(/Bitcoin address/);
  });

  test('amounts that do not add up, and outputs spent twice', () => {
    expect(refusal(() => parseBitcoin(psbtOf([inputOf('P2TR')], -1n), 'MAINNET'))).toMatch(/more than the inputs/);
    const rich = { ...inputOf('P2TR'), witnessUtxo: { amount: 2n ** 63n, script: payment('P2TR').script } };
    expect(refusal(() => parseBitcoin(psbtOf([rich]), 'MAINNET'))).toMatch(/more than there can be/);
    const unsigned = {
      version: 2,
      lockTime: 0,
      inputs: Array(2).fill({ txid: NO_AUX, index: 0, finalScriptSig: new Uint8Array(), sequence: 0 }),
      outputs: [{ amount: 1n, script: new Uint8Array() }],
    };
    const twice = handmade(RawOldTx.encode(unsigned), Array(2).fill({ amount: 1n, script: '51' }));
    expect(refusal(() => parseBitcoin(twice, 'MAINNET'))).toMatch(/spends an output twice/);
  });

  test('a previous transaction that is another one, or contradicts itself', () => {
    const input = { ...inputOf('P2PKH'), txid: NO_AUX };
    const script = payment('P2PKH').script;
    const file = (fields: readonly [string, Uint8Array][], txid: Uint8Array = NO_AUX) => {
      const tx = { txid, index: 1, finalScriptSig: new Uint8Array(), sequence: 0 };
      const outputs = [{ amount: 1n, script: new Uint8Array() }];
      return handmade(RawOldTx.encode({ version: 2, lockTime: 0, inputs: [tx], outputs }), [fields]);
    };
    const prev: [string, Uint8Array] = ['00', input.nonWitnessUtxo as Uint8Array];
    expect(refusal(() => parseBitcoin(file([prev]), 'MAINNET'))).toMatch(/not the transaction that it spends from/);
    const txid = bytesOf(previous(script, 0).txid);
    expect(parseBitcoin(file([prev], txid), 'MAINNET').fee).toBe(99_999n);
    const lie = cat(new Uint8Array(new BigUint64Array([7n]).buffer), Uint8Array.of(script.length), script);
    expect(refusal(() => parseBitcoin(file([prev, ['01', lie]], txid), 'MAINNET'))).toMatch(/contradicts/);
    const otherScript = cat(new Uint8Array(new BigUint64Array([100_000n]).buffer), Uint8Array.of(1, 0x51));
    expect(refusal(() => parseBitcoin(file([prev, ['01', otherScript]], txid), 'MAINNET'))).toMatch(/contradicts/);
  });

  test('a previous transaction that is none, by name', () => {
    const { bytes, txid } = previous(payment('P2WPKH').script, 0);
    const parse = (nonWitnessUtxo: Uint8Array, index = 1) => {
      const inputs = [{ txid: bytesOf(txid), index, finalScriptSig: new Uint8Array(), sequence: 0 }];
      const outputs = [{ amount: 1n, script: new Uint8Array() }];
      const unsigned = RawOldTx.encode({ version: 2, lockTime: 0, inputs, outputs });
      return parseBitcoin(handmade(unsigned, [[['00', nonWitnessUtxo]]]), 'MAINNET');
    };
    const witnesses = (...items: Uint8Array[]) =>
      RawTx.encode({ ...RawOldTx.decode(bytes), segwitFlag: true, witnesses: [items] });
    const emptyWitnesses = cat(
      bytes.subarray(0, 4),
      Uint8Array.of(0, 1),
      bytes.subarray(4, -4),
      Uint8Array.of(0),
      bytes.subarray(-4),
    );
    expect(parse(bytes).fee).toBe(99_999n);
    expect(parse(witnesses(new Uint8Array(300), new Uint8Array(0))).fee).toBe(99_999n);
    expect(parse(bytes, 0).fee).toBe(4n);

    const what = 'the non_witness_utxo of input 0';
    expect(refusal(() => parse(bytes, 2))).toContain(
      'input 0 spends output 2 of its non_witness_utxo, which has only 2',
    );
    expect(refusal(() => parse(bytes, 0xffffffff))).toContain('which has only 2');
    expect(refusal(() => parse(emptyWitnesses))).toContain(`${what} announces witnesses and has none`);
    expect(refusal(() => parse(new Uint8Array()))).toContain(`${what} ends too early`);
    expect(refusal(() => parse(cat(bytes, NO_AUX)))).toContain(`bytes are left over after ${what}`);
    for (const whole of [bytes, witnesses(new Uint8Array(3))]) {
      for (let length = 0; length < whole.length; length += 1) {
        expect(refusal(() => parse(whole.subarray(0, length)))).toContain(what);
      }
    }
    for (const at of bytes.keys()) {
      const changed = Uint8Array.from(bytes);
      changed[at] = changed[at]! ^ 0x01;
      expect(refusal(() => parse(changed))).toContain(what);
    }
  });

  test('of several addresses of a key, the reason of the one that an input belongs to', () => {
    const { nonWitnessUtxo: _, ...unproven } = inputOf('P2WPKH', publicKey, 1);
    const hex = psbtOf([inputOf('P2WPKH', publicKey, 2), unproven]);
    const accounts = TYPES.map((type) => account(type));
    expect(refusal(() => fitBitcoin(hex, accounts))).toMatch(/^input 1 \(P2WPKH\) needs non_witness_utxo/);
    const proven = psbtOf([inputOf('P2WPKH', publicKey, 2), inputOf('P2WPKH', publicKey, 1)]);
    expect(fitBitcoin(proven, accounts).account).toBe(accounts[2]);
  });
});

type Decoded = ReturnType<typeof RawPSBTV0.decode>;

/** A PSBT of the unsigned transaction, with a witness_utxo or the given records for each input. */
function handmade(
  unsigned: Uint8Array,
  inputs: readonly ({ amount: bigint; script: string } | readonly [string, Uint8Array][])[],
): string {
  const size = (length: number): Uint8Array =>
    length < 0xfd
      ? Uint8Array.of(length)
      : length < 0x1_0000
        ? Uint8Array.of(0xfd, length & 0xff, length >> 8)
        : Uint8Array.of(0xfe, length & 0xff, (length >> 8) & 0xff, length >> 16, 0);
  const record = (key: Uint8Array, value: Uint8Array) => cat(size(key.length), key, size(value.length), value);
  const maps = inputs.map((input) => {
    const records: readonly [string, Uint8Array][] =
      'amount' in input
        ? [
            [
              '01',
              cat(
                new Uint8Array(new BigUint64Array([input.amount]).buffer),
                Uint8Array.of(input.script.length / 2),
                bytesOf(input.script),
              ),
            ],
          ]
        : input;
    return cat(...records.map(([key, value]) => record(bytesOf(key), value)), Uint8Array.of(0));
  });
  const outputs = RawOldTx.decode(unsigned).outputs.map(() => Uint8Array.of(0));
  const head = cat(bytesOf('70736274ff'), record(Uint8Array.of(0), unsigned), Uint8Array.of(0));
  return hexOf(cat(head, ...maps, ...outputs));
}

describe('the parsed form', () => {
  test('says what is spent and who is paid', () => {
    const { script } = payment('P2WPKH');
    const { txid } = previous(script, 0);
    const change = payment('P2TR');
    expect(parseBitcoin(psbtOf([inputOf('P2WPKH')]), 'MAINNET')).toEqual({
      version: 2,
      lockTime: { amount: 800_000, type: 'Blocks' },
      inputs: [{ txid, vout: 1, sequence: 0xfffffffd, amount: 100_000n, scriptPubkey: hexOf(script) }],
      outputs: [
        {
          value: 1_000n,
          scriptPubkey: '0014c0cebcd6c3d3ca8c75dc5ec62ebe55330ef910e2',
          address: 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu',
          addressType: 'P2WPKH',
        },
        { value: 0n, scriptPubkey: '6a01ff', address: '', addressType: '' },
        { value: 98_000n, scriptPubkey: hexOf(change.script), address: change.address, addressType: 'P2TR' },
      ],
      fee: 1_000n,
    });
  });

  test('writes the addresses of each network', () => {
    const outputs = TYPES.map((type) => ({ amount: 1n, script: payment(type).script }));
    const input = { txid: NO_AUX, index: 0, finalScriptSig: new Uint8Array(), sequence: 0 };
    const unsigned = RawOldTx.encode({ version: 2, lockTime: 1_600_000_000, inputs: [input], outputs });
    const hex = handmade(unsigned, [{ amount: 10n, script: '51' }]);
    const networks = {
      MAINNET: NETWORK,
      TESTNET: TEST_NETWORK,
      SIGNET: TEST_NETWORK,
      REGTEST: { ...TEST_NETWORK, bech32: 'bcrt' },
    };
    for (const [name, network] of Object.entries(networks)) {
      const parsed = parseBitcoin(hex, name as keyof typeof networks);
      expect(parsed.lockTime.type).toBe('Seconds');
      expect(parsed.outputs.map((output) => output.addressType)).toEqual(TYPES);
      const key = publicKey;
      const expected = [
        p2pkh(key, network),
        p2sh(p2pk(key, network), network),
        p2wpkh(key, network),
        p2wsh(p2pk(key, network), network),
        p2tr(key.subarray(1), undefined, network),
      ].map(({ address }) => address);
      expect(parsed.outputs.map((output) => output.address)).toEqual(expected);
    }
  });
});

describe('vectors of the BIPs', () => {
  const invalid = [...vectors.bip174.invalid, ...vectors.bip371.invalid];
  test.each(invalid.map((vector) => [vector.case, vector.hex] as const))('invalid: %s', (_, hex) => {
    expect(refusal(() => parseBitcoin(hex, 'TESTNET'))).toMatch(/^failed to parse transaction: /);
  });

  // Valid as files, but nothing that could be judged or signed.
  const incomplete = /unknown types in the inputs|0 inputs|signed and finalized/;
  const valid = [...vectors.bip174.valid, ...vectors.bip371.valid];
  test.each(valid.map((vector) => [vector.case, vector.hex] as const))('valid: %s', (name, hex) => {
    if (incomplete.test(name)) {
      expect(refusal(() => parseBitcoin(hex, 'TESTNET'))).toMatch(/no inputs|does not say what it spends/);
      return;
    }
    const parsed = parseBitcoin(hex, 'TESTNET');
    const library = Transaction.fromPSBT(bytesOf(hex), LENIENT);
    expect(parsed.inputs).toHaveLength(library.inputsLength);
    expect(parsed.outputs).toHaveLength(library.outputsLength);
    expect(parsed.fee).toBe(library.fee);
  });

  test.each(vectors.bip174.failsSignerChecks.map((vector) => [vector.case, vector.hex] as const))(
    'not signed: %s',
    (_, hex) => {
      for (const type of TYPES) refusal(() => signableBitcoin(hex, account(type)));
    },
  );

  test('the P2PKH input of BIP-174, which nobody here owns', () => {
    expect(refusal(() => signableBitcoin(vectors.bip174.valid[0]!.hex, account('P2PKH')))).toMatch(/no input/);
  });

  test('the key-only P2TR input of BIP-371 is found by its internal key', () => {
    const [unsigned, signed] = vectors.bip371.valid;
    const key = RawPSBTV0.decode(bytesOf(unsigned!.hex)).inputs[0]!.tapInternalKey!;
    const signable = signableBitcoin(unsigned!.hex, account('P2TR', cat(Uint8Array.of(2), key)));
    expect(signable.signedInputs).toEqual([0]);
    const signature = RawPSBTV0.decode(bytesOf(signed!.hex)).inputs[0]!.tapKeySig!;
    const outputKey = bytesOf(signable.transaction.inputs[0]!.scriptPubkey).subarray(2);
    expect(schnorr.verify(signature, signable.payloads[0]!, outputKey)).toBe(true);
    const again = account('P2TR', cat(Uint8Array.of(2), key));
    expect(refusal(() => signableBitcoin(signed!.hex, again))).toMatch(/signed already/);
  });
});

describe('arbitrary bytes', () => {
  /** Whatever is accepted must read the same for the library, if it accepts the file at all. */
  const check = (bytes: Uint8Array): void => {
    try {
      const parsed = parseBitcoin(hexOf(bytes), 'MAINNET');
      expect(parsed.inputs.length * parsed.outputs.length).toBeGreaterThan(0);
      expect(parsed.fee).toBeGreaterThanOrEqual(0n);
      let library: Decoded;
      try {
        library = RawPSBTV0.decode(bytes);
      } catch {
        return;
      }
      const unsigned: ReturnType<typeof RawOldTx.decode> = library.global.unsignedTx!;
      expect(parsed.inputs.map((input) => input.txid)).toEqual(unsigned.inputs.map((input) => hexOf(input.txid)));
      expect(parsed.outputs.map((output) => output.value)).toEqual(unsigned.outputs.map((output) => output.amount));
      const amounts = library.inputs.map(
        (input, at) => input.nonWitnessUtxo?.outputs[unsigned.inputs[at]!.index]?.amount ?? input.witnessUtxo?.amount,
      );
      expect(parsed.inputs.map((input) => input.amount)).toEqual(amounts);
    } catch (error) {
      expect(error).toBeInstanceOf(ApiError);
    }
    for (const type of TYPES) {
      try {
        sign(signableBitcoin(hexOf(bytes), account(type)));
      } catch (error) {
        expect(error).toBeInstanceOf(ApiError);
      }
    }
  };

  test('give a transaction or an error of the API', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), check));
    const magic = bytesOf('70736274ff');
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => check(cat(magic, bytes))));
  });

  test('so do valid files with a few bytes changed, cut or added', () => {
    const valid = [
      ...TYPES.map((type) => bytesOf(psbtOf([inputOf(type, publicKey, 1), inputOf('P2WPKH', otherKey, 2)]))),
      ...[...vectors.bip174.valid, ...vectors.bip371.valid].map(({ hex }) => bytesOf(hex)),
    ];
    const edits = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 });
    fc.assert(
      fc.property(fc.constantFrom(...valid), edits, fc.nat(2), (original, changes, cut) => {
        const bytes = Uint8Array.from(original);
        for (const [at, value] of changes) bytes[at % bytes.length] = value;
        check(bytes.subarray(0, bytes.length - cut));
        if (cut > 0) check(cat(bytes, new Uint8Array(cut)));
      }),
      { numRuns: 600 },
    );
  });

  test('and a cut or a left-over byte is never overlooked', () => {
    const whole = psbtOf([inputOf('P2WPKH')]);
    for (let length = 0; length < whole.length; length += 2) {
      expect(refusal(() => parseBitcoin(whole.slice(0, length), 'MAINNET'))).toMatch(/^failed to parse transaction/);
    }
    expect(refusal(() => parseBitcoin(`${whole}00`, 'MAINNET'))).toMatch(/left over/);
  });
});
