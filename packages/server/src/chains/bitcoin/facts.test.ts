import { secp256k1 } from '@noble/curves/secp256k1.js';
import { NETWORK, p2pkh, p2tr, p2wpkh, TEST_NETWORK, Transaction } from '@scure/btc-signer';
import { describe, expect, test } from 'vitest';
import { mayBe, parseCaip19 } from '../caip19.ts';
import type { SignerAccount } from '../signable.ts';
import { assetMovements, type ParsedTransaction, readTransaction, transactionNamespaces } from '../transactions.ts';

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const secret = new Uint8Array(32).fill(0x11);
const publicKey = secp256k1.getPublicKey(secret, true);
const otherKey = secp256k1.getPublicKey(new Uint8Array(32).fill(0x22), true);

const account = (addressFormat: string): SignerAccount => ({
  curve: 'CURVE_SECP256K1',
  publicKey,
  address: '',
  addressFormat,
});
const signedBy = (...formats: string[]) => ({
  account: account(formats[0] ?? 'ADDRESS_FORMAT_COMPRESSED'),
  addresses: formats.map(account),
});

function moved(parsed: ParsedTransaction, caip19: string): bigint[] {
  const asset = parseCaip19(caip19);
  return assetMovements(parsed).transfers.flatMap((one) => (mayBe(one, asset) ? [one.amount] : []));
}

describe('bitcoin.tx', () => {
  const own = p2wpkh(publicKey);
  const foreign = p2wpkh(otherKey);
  const TXID = '11'.repeat(32);

  function psbt(
    inputs: readonly [Uint8Array, bigint][],
    outputs: readonly [Uint8Array, bigint][],
    lockTime = 800_000,
  ): string {
    const tx = new Transaction({ lockTime, allowUnknownOutputs: true });
    for (const [index, [script, amount]] of inputs.entries()) {
      // Of several, each shows the transaction that it spends from.
      const previous = new Transaction({ lockTime: index });
      previous.addInput({ txid: TXID, index: 0 });
      previous.addOutput({ script, amount });
      const spent =
        inputs.length === 1
          ? { txid: TXID, witnessUtxo: { script, amount } }
          : { txid: previous.id, nonWitnessUtxo: previous.unsignedTx };
      tx.addInput({ index: 0, sequence: 0xfffffffd, ...spent });
    }
    for (const [script, amount] of outputs) tx.addOutput({ script, amount });
    return hexOf(tx.toPSBT(0));
  }
  const parsed = (hex: string, ...formats: string[]) =>
    readTransaction('TRANSACTION_TYPE_BITCOIN', hex, signedBy(...formats));
  const WPKH = 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH';

  test('inputs, outputs, lock time and fee', () => {
    const hex = psbt(
      [[own.script, 100n]],
      [
        [foreign.script, 60n],
        [Uint8Array.of(0x6a, 0x01, 0xff), 0n],
        [own.script, 30n],
      ],
    );
    const output = (script: Uint8Array, value: bigint, address: string, type: string) => ({
      value,
      script_pubkey: hexOf(script),
      address,
      address_type: type,
    });
    expect(transactionNamespaces(parsed(hex, WPKH))).toEqual({
      bitcoin: {
        tx: {
          version: '2',
          inputs: [{ tx_id: TXID, vout: 0n, sequence: 0xfffffffdn }],
          outputs: [
            output(foreign.script, 60n, p2wpkh(otherKey, NETWORK).address ?? '', 'P2WPKH'),
            output(Uint8Array.of(0x6a, 0x01, 0xff), 0n, '', ''),
            output(own.script, 30n, p2wpkh(publicKey, NETWORK).address ?? '', 'P2WPKH'),
          ],
          locktime: { amount: 800_000n, type: 'Blocks' },
          fee: 10n,
        },
      },
    });
    expect(
      transactionNamespaces(parsed(psbt([[own.script, 9n]], [[own.script, 9n]], 1_700_000_000), WPKH)).bitcoin?.tx
        ?.locktime,
    ).toEqual({
      amount: 1_700_000_000n,
      type: 'Seconds',
    });
  });

  test('addresses are written for the network of the account that signs', () => {
    const hex = psbt([[own.script, 100n]], [[foreign.script, 60n]]);
    const address = (...formats: string[]) =>
      transactionNamespaces(parsed(hex, ...formats)).bitcoin?.tx?.outputs[0]?.address;
    const testnet = p2wpkh(otherKey, TEST_NETWORK).address;
    expect(address('ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH')).toBe(testnet);
    // Of a key by its id, the first address that an input belongs to.
    expect(address('ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH', 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH')).toBe(testnet);
  });

  test('an account without an input has nothing to judge', () => {
    const hex = psbt([[foreign.script, 100n]], [[foreign.script, 60n]]);
    expect(() => parsed(hex, WPKH)).toThrow('no input of the transaction belongs to the account');
  });

  test('what leaves is what does not come back, the fee included', () => {
    const BTC = 'bip122:000000000019d6689c085ae165831e93/slip44:0';
    const leaving = (hex: string, ...formats: string[]) => moved(parsed(hex, ...formats), BTC);
    expect(
      leaving(
        psbt(
          [[own.script, 100n]],
          [
            [foreign.script, 60n],
            [own.script, 30n],
          ],
        ),
        WPKH,
      ),
    ).toEqual([70n]);
    // Another's inputs are another's money.
    expect(
      leaving(
        psbt(
          [
            [own.script, 100n],
            [foreign.script, 500n],
          ],
          [
            [foreign.script, 560n],
            [own.script, 30n],
          ],
        ),
        WPKH,
      ),
    ).toEqual([70n]);
    expect(
      leaving(
        psbt(
          [
            [own.script, 100n],
            [foreign.script, 50n],
          ],
          [[own.script, 140n]],
        ),
        WPKH,
      ),
    ).toEqual([]);
    // Change to another address of the same key does not come back: a call that signs that address subtracts it.
    const change = psbt(
      [[own.script, 100n]],
      [
        [p2tr(publicKey.subarray(1)).script, 30n],
        [p2pkh(publicKey).script, 20n],
      ],
    );
    expect(leaving(change, WPKH)).toEqual([100n]);
    const formats = ['P2WPKH', 'P2TR', 'P2PKH'].map((type) => `ADDRESS_FORMAT_BITCOIN_MAINNET_${type}`);
    expect(leaving(change, ...formats)).toEqual([100n]);
    expect(moved(parsed(change, WPKH), 'bip122:000000000933ea01ad0ee984209779ba/slip44:1')).toEqual([100n]);
  });
});
