// PSBTs of bitcoinjs-lib, signed through the unmodified server SDK, finalised and checked by bitcoinjs-lib.
import { randomBytes } from 'node:crypto';
import type { TurnkeyApiClient } from '@turnkey/sdk-server';
import { networks, Psbt, payments, script, Transaction } from 'bitcoinjs-lib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifySignature } from '../packages/server/test/harness/bitcoin.ts';
import { databasesOf } from '../packages/server/test/harness/databases.ts';
import { TestServer } from '../packages/server/test/harness/server.ts';
// Gives bitcoinjs-lib the curve that Taproot needs.
import './policy-facts-bitcoin.ts';
import { connect, errorCodeOf, fresh, refusal } from './sdk.ts';

const TYPES = ['P2PKH', 'P2WPKH', 'P2WSH', 'P2TR'] as const;
type AddressType = (typeof TYPES)[number];
type Account = Readonly<Record<'address' | 'publicKey', string>>;
type Fields = 'witnessUtxo' | 'nonWitnessUtxo' | 'both';

const OP_CHECKSIG = 0xac;
const VALUE = 100_000n;
const FEE = 700n;

interface Coin {
  readonly type: AddressType;
  readonly pubkey: Uint8Array;
  readonly payment: payments.Payment;
  readonly previous: Transaction;
}

/** What bitcoinjs-lib says that an account of this type has been paid. */
function coin(type: AddressType, { address, publicKey }: Account): Coin {
  const pubkey = Uint8Array.from(Buffer.from(publicKey, 'hex'));
  const payment = {
    P2PKH: () => payments.p2pkh({ pubkey }),
    P2WPKH: () => payments.p2wpkh({ pubkey }),
    P2WSH: () => payments.p2wsh({ redeem: { output: script.compile([pubkey, OP_CHECKSIG]) } }),
    P2TR: () => payments.p2tr({ internalPubkey: pubkey.subarray(1) }),
  }[type]();
  expect(payment.address).toBe(address);
  const previous = new Transaction();
  previous.version = 2;
  previous.addInput(Uint8Array.from(randomBytes(32)), 0);
  // As nodes hand it out, with its witnesses.
  previous.setWitness(0, [new Uint8Array(71).fill(1), pubkey]);
  previous.addOutput(payment.output as Uint8Array, VALUE);
  return { type, pubkey, payment, previous };
}

function psbtOf(...coins: readonly (readonly [Coin, Fields])[]): string {
  const psbt = new Psbt({ network: networks.bitcoin });
  for (const [{ type, pubkey, payment, previous }, fields] of coins) {
    psbt.addInput({
      hash: previous.getId(),
      index: 0,
      ...(fields === 'nonWitnessUtxo' ? {} : { witnessUtxo: { script: payment.output as Uint8Array, value: VALUE } }),
      ...(fields === 'witnessUtxo' ? {} : { nonWitnessUtxo: previous.toBuffer() }),
      ...(type === 'P2WSH' && payment.redeem?.output ? { witnessScript: payment.redeem.output } : {}),
      ...(type === 'P2TR' ? { tapInternalKey: pubkey.subarray(1) } : {}),
    });
  }
  psbt.addOutput({ address: '1BoatSLRHtKNngkdXEeobR76b53LETtpyT', value: VALUE * BigInt(coins.length) - FEE });
  return psbt.toHex();
}

/** What would be broadcast, once every signature has been checked. */
function finalised(signed: string): Transaction {
  const psbt = Psbt.fromHex(signed, { network: networks.bitcoin });
  expect(psbt.validateSignaturesOfAllInputs(verifySignature)).toBe(true);
  for (const [at, { witnessUtxo, nonWitnessUtxo, tapKeySig }] of psbt.data.inputs.entries()) {
    // bitcoinjs-lib signs Taproot with either field, but finalises it with this one only.
    if (tapKeySig !== undefined && witnessUtxo === undefined && nonWitnessUtxo !== undefined) {
      const [spent] = Transaction.fromBuffer(nonWitnessUtxo).outs;
      if (spent !== undefined) psbt.updateInput(at, { witnessUtxo: spent });
    }
  }
  psbt.finalizeAllInputs();
  expect(psbt.getFee()).toBe(FEE);
  return psbt.extractTransaction();
}

describe.each(databasesOf(import.meta.url))('PSBTs of bitcoinjs-lib through the server SDK on %s', (database) => {
  let service: TestServer;
  let client: TurnkeyApiClient;
  let accounts: Record<AddressType, Account>;

  beforeAll(async () => {
    service = await TestServer.start({ database });
    client = connect(service.baseUrl, service.credentials);
    const { walletId } = await client.createWallet({
      walletName: fresh('wallet'),
      accounts: TYPES.map((type, at) => ({
        curve: 'CURVE_SECP256K1',
        pathFormat: 'PATH_FORMAT_BIP32',
        path: `m/84'/0'/${at}'/0/0`,
        addressFormat: `ADDRESS_FORMAT_BITCOIN_MAINNET_${type}`,
      })),
    });
    const listed = (await client.getWalletAccounts({ walletId })).accounts;
    accounts = Object.fromEntries(
      listed.map((one) => [one.addressFormat.split('_').at(-1), { ...one, publicKey: one.publicKey ?? '' }]),
    ) as typeof accounts;
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const sign = async (type: AddressType, unsignedTransaction: string): Promise<string> => {
    const signWith = accounts[type].address;
    const request = { signWith, unsignedTransaction, type: 'TRANSACTION_TYPE_BITCOIN' } as const;
    return (await client.signTransaction(request)).signedTransaction;
  };
  const own = (type: AddressType): Coin => coin(type, accounts[type]);
  const expectUnproven = async (type: AddressType, unsigned: string, at: number) => {
    const error = await refusal(sign(type, unsigned));
    expect(errorCodeOf(error)).toBe('INVALID_TRANSACTION');
    expect(error.message).toContain(`input ${at} (`);
    expect(error.message).toContain('needs non_witness_utxo');
  };

  test.each(['P2WPKH', 'P2WSH', 'P2TR'] as const)('one %s input with either field or both', async (type) => {
    for (const fields of ['witnessUtxo', 'nonWitnessUtxo', 'both'] as const) {
      expect(finalised(await sign(type, psbtOf([own(type), fields]))).ins).toHaveLength(1);
    }
  });

  test.each(['P2WPKH', 'P2WSH'] as const)('several %s inputs, with their previous transactions', async (type) => {
    const several = psbtOf([own(type), 'nonWitnessUtxo'], [own(type), 'both'], [own(type), 'nonWitnessUtxo']);
    expect(finalised(await sign(type, several)).ins).toHaveLength(3);
    await expectUnproven(type, psbtOf([own(type), 'witnessUtxo'], [own(type), 'witnessUtxo']), 0);
    await expectUnproven(type, psbtOf([own(type), 'both'], [own(type), 'witnessUtxo']), 1);
  });

  test('several Taproot inputs, with either field or both', async () => {
    for (const fields of ['witnessUtxo', 'nonWitnessUtxo', 'both'] as const) {
      const several = psbtOf([own('P2TR'), fields], [own('P2TR'), 'witnessUtxo'], [own('P2TR'), fields]);
      expect(finalised(await sign('P2TR', several)).ins).toHaveLength(3);
    }
  });

  test('inputs of every kind in one transaction, signed by one account after the other', async () => {
    let signed = psbtOf(
      [own('P2PKH'), 'nonWitnessUtxo'],
      [own('P2WPKH'), 'both'],
      [own('P2WSH'), 'nonWitnessUtxo'],
      [own('P2TR'), 'both'],
    );
    for (const type of TYPES) signed = await sign(type, signed);
    expect(finalised(signed).ins).toHaveLength(4);
    // A Taproot signature commits to the amounts of all; those of the others do not commit to that of Taproot.
    const mixed = psbtOf([own('P2WPKH'), 'both'], [own('P2TR'), 'witnessUtxo']);
    await expectUnproven('P2WPKH', mixed, 1);
    expect(await sign('P2TR', mixed)).not.toBe(mixed);
  });
});
