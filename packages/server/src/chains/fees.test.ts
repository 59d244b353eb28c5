import { secp256k1 } from '@noble/curves/secp256k1.js';
import { base58 } from '@scure/base';
import { TxEnvelopeTempo } from 'ox/tempo';
import { type Hex, serializeTransaction, type TransactionSerializable } from 'viem';
import { describe, expect, test } from 'vitest';
import { payment, RECEIVER, wireOf } from '../../test/chain/solana-transfer.ts';
import type { SignerAccount } from './signable.ts';
import { highestFees, readTransaction } from './transactions.ts';

const account: SignerAccount = {
  curve: 'CURVE_SECP256K1',
  publicKey: secp256k1.getPublicKey(new Uint8Array(32).fill(0x11), true),
  address: '',
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
};
const signer = { account, addresses: [account] };
const TO = `0x${'cd'.repeat(20)}` as const;
const TOKEN = `0x20c0${'00'.repeat(17)}01` as const;

describe('the highest fee of a transaction', () => {
  const ethereum = (tx: object) =>
    highestFees(
      readTransaction(
        'TRANSACTION_TYPE_ETHEREUM',
        serializeTransaction({ to: TO, chainId: 10, gas: 21_000n, ...tx } as TransactionSerializable),
        signer,
      ),
    );
  const COIN = { chain: 'eip155', chainReference: '10', kind: 'slip44', assetReference: '60' };

  test('of Ethereum is its gas at its price, and that of its blobs', () => {
    const prices = { maxFeePerGas: 5n, maxPriorityFeePerGas: 5n };
    expect(ethereum({ type: 'eip1559', ...prices })).toEqual([{ ...COIN, amount: 105_000n }]);
    expect(ethereum({ type: 'legacy', gasPrice: 3n })).toEqual([{ ...COIN, amount: 63_000n }]);
    expect(ethereum({ type: 'legacy', gasPrice: 0n })).toEqual([]);
    const blobVersionedHashes: Hex[] = [`0x01${'00'.repeat(31)}`, `0x01${'11'.repeat(31)}`];
    expect(ethereum({ type: 'eip4844', ...prices, maxFeePerBlobGas: 2n, blobVersionedHashes })).toEqual([
      { ...COIN, amount: 105_000n + 2n * 2n * 131_072n },
    ]);
  });

  test('without replay protection is due on any chain, on Tempo in a token', () => {
    const gasPrice = 10n ** 12n;
    const tokens = ['4217', '42431'].map((chainReference) => ({
      chain: 'eip155',
      chainReference,
      kind: 'erc20',
      assetReference: undefined,
      amount: 21_000n,
    }));
    const coin = { ...COIN, amount: 21_000n * gasPrice };
    expect(ethereum({ type: 'legacy', chainId: undefined, gasPrice })).toEqual([
      { ...coin, chainReference: undefined },
      ...tokens,
    ]);
    expect(ethereum({ type: 'legacy', chainId: 4217, gasPrice })).toEqual([
      { ...coin, chainReference: '4217' },
      tokens[0],
    ]);
  });

  test('of Tempo is in its fee token, rounded up, unless somebody else pays', () => {
    const tempo = (extra: object) => {
      const fields = { chainId: 4217, calls: [{ to: TO }], gas: 3n, maxFeePerGas: 10n ** 12n, nonce: 0n, ...extra };
      const hex = TxEnvelopeTempo.serialize(TxEnvelopeTempo.from(fields as never));
      return highestFees(readTransaction('TRANSACTION_TYPE_TEMPO', hex, signer));
    };
    const fee = { chain: 'eip155', chainReference: '4217', kind: 'erc20', assetReference: TOKEN, amount: 3n };
    expect(tempo({ feeToken: TOKEN })).toEqual([fee]);
    expect(tempo({})).toEqual([{ ...fee, assetReference: undefined }]);
    expect(tempo({ feeToken: TOKEN, maxFeePerGas: 10n ** 12n + 1n })).toEqual([{ ...fee, amount: 4n }]);
    expect(tempo({ feePayerSignature: null })).toEqual([]);
  });

  test('of Solana is for the first account alone', () => {
    const [first, second] = [7, 8].map((fill) => new Uint8Array(32).fill(fill)) as [Uint8Array, Uint8Array];
    const hex = wireOf({
      signers: [first, second].map((key) => base58.encode(key)),
      instructions: [
        { program: 'ComputeBudget111111111111111111111111111111', accounts: [], data: [2, 64, 13, 3, 0] },
        {
          program: 'ComputeBudget111111111111111111111111111111',
          accounts: [],
          data: [3, 64, 66, 15, 0, 0, 0, 0, 0],
        },
        payment(base58.encode(second), RECEIVER, 5),
      ],
    });
    const fees = (publicKey: Uint8Array) => {
      const one = { ...account, curve: 'CURVE_ED25519', publicKey } as const;
      return highestFees(readTransaction('TRANSACTION_TYPE_SOLANA', hex, { account: one, addresses: [one] }));
    };
    // 200,000 units for a lamport each, and two signatures.
    expect(fees(first)).toMatchObject([{ chain: 'solana', kind: 'slip44', amount: 210_000n }]);
    expect(fees(second)).toEqual([]);
  });
});
