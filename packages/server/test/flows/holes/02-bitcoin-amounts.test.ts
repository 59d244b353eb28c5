import { secp256k1 } from '@noble/curves/secp256k1.js';
import { Transaction } from '@scure/btc-signer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import {
  believed,
  both,
  type Coin,
  coin,
  proven,
  psbtOf,
  scriptOf,
  type Told,
  validity,
  withWitness,
} from '../../harness/bitcoin.ts';
import { createSubOrganization, createUser, type TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import { policyFor } from '../fixtures/access.ts';
import { account, COMPLETED, importKey, newWallet, outcome } from '../fixtures/wallets.ts';

const BTC = 100_000_000n;
const FEE_MAX = 20_000n;
const FEE = 10_000n;
const DONE = [200, COMPLETED];
const INVALID = [400, 'INVALID_TRANSACTION'];
const DENIED = [403, 'REQUEST_NOT_AUTHORIZED'];

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));

const foreignKey = hexOf(secp256k1.getPublicKey(new Uint8Array(32).fill(3)));
const PAYEE = scriptOf('P2WPKH', hexOf(secp256k1.getPublicKey(new Uint8Array(32).fill(4))));

const TYPES = ['P2PKH', 'P2SH', 'P2WPKH', 'P2WSH', 'P2TR'] as const;
type AccountType = (typeof TYPES)[number];

type Inputs = readonly (readonly [Coin, Told])[];
const total = (inputs: Inputs): bigint => inputs.reduce((sum, [{ amount }]) => sum + amount, 0n);
/** Pays all that the coins are worth but the fee. */
const paying = (inputs: Inputs, fee = FEE): string => psbtOf(inputs, total(inputs) - fee, PAYEE);

/** Combines signed PSBTs of one transaction. */
function combined(...signed: readonly string[]): Transaction {
  const [first, ...others] = signed.map((hex) => Transaction.fromPSBT(bytesOf(hex), { allowUnknownOutputs: true }));
  for (const other of others) {
    for (let at = 0; at < other.inputsLength; at += 1) {
      const { partialSig } = other.getInput(at);
      if (partialSig !== undefined) first?.updateInput(at, { partialSig }, true);
    }
  }
  return first as Transaction;
}

describe.each(databasesOf(import.meta.url))('the amounts of Bitcoin inputs on %s', (database) => {
  let service: TestApp;
  let root: TestClient;
  /** May sign transactions with a small fee. */
  let trader: TestClient;
  let signers: Record<AccountType, { readonly address: string; readonly publicKey: string }>;

  beforeAll(async () => {
    service = await openTestApp(database);
    root = await createSubOrganization(service.root, 'Coins');
    const accounts = TYPES.map((type, at) => account('SECP256K1', `m/84'/0'/${at}'/0/0`, `BITCOIN_MAINNET_${type}`));
    const { walletId } = await newWallet(root, accounts);
    const listed = (await root.query('list_wallet_accounts', { walletId })).body.accounts;
    signers = Object.fromEntries(TYPES.map((type, at) => [type, listed[at]])) as typeof signers;
    trader = await createUser(root, 'trader');
    await policyFor(root, trader, { condition: `bitcoin.tx.fee <= ${FEE_MAX}` });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const parametersOf = (signWith: string, unsignedTransaction: string) => ({
    signWith,
    unsignedTransaction,
    type: 'TRANSACTION_TYPE_BITCOIN',
  });
  const submit = (type: AccountType, unsigned: string) =>
    trader.submit('sign_transaction', parametersOf(signers[type].address, unsigned));
  const sign = async (type: AccountType, unsigned: string): Promise<string> => {
    const answer = await submit(type, unsigned);
    expect(outcome(answer), JSON.stringify(answer.body).slice(0, 500)).toEqual(DONE);
    return answer.body.activity.result.signTransactionResult.signedTransaction;
  };
  const own = (type: AccountType, amount = 10n * BTC) => coin(type, signers[type].publicKey, amount);
  /** A refusal that names the input and what it lacks. */
  const expectUnproven = async (type: AccountType, unsigned: string, at: number) => {
    const answer = await submit(type, unsigned);
    expect(outcome(answer)).toEqual(INVALID);
    expect(answer.body.message).toMatch(new RegExp(`input ${at} .*needs non_witness_utxo`));
  };

  test('one input: witness_utxo is enough, because the signature commits to it', async () => {
    for (const type of ['P2WPKH', 'P2WSH', 'P2TR'] as const) {
      const one = own(type);
      for (const inputs of [[believed(one)], [proven(one)], [both(one)]]) {
        const signed = await sign(type, paying(inputs));
        expect(validity(signed, [one]), type).toEqual([true]);
      }
      expect(outcome(await submit(type, paying([believed(one)], FEE_MAX + 1n)))).toEqual(DENIED);
      // A lie gives a signature that no node takes.
      const lie = psbtOf([believed(one, BTC)], BTC - FEE, PAYEE);
      expect(validity(await sign(type, lie), [one])).toEqual([false]);
    }
  });

  test('PSBTs that lie about different inputs are not signed, because their signatures would combine', async () => {
    for (const type of ['P2WPKH', 'P2WSH'] as const) {
      const [first, second] = [own(type), own(type)];
      const honest = [proven(first), proven(second)];
      const signed = await sign(type, paying(honest));
      expect(validity(signed, [first, second])).toEqual([true, true]);
      const tx = combined(signed);
      tx.finalize();
      expect(tx.fee).toBe(FEE);
      expect(outcome(await submit(type, paying(honest, FEE_MAX + 1n)))).toEqual(DENIED);

      // Twenty go in and ten come out. Each of the two says that the other coin is worth no more than a fee.
      const lies = [
        [believed(first), believed(second, FEE)],
        [believed(first, FEE), believed(second)],
      ].map((inputs) => psbtOf(inputs, 10n * BTC, PAYEE));
      const signatures: string[] = [];
      for (const lie of lies) {
        const answer = await submit(type, lie);
        if (answer.status === 200) {
          signatures.push(answer.body.activity.result.signTransactionResult.signedTransaction);
          continue;
        }
        expect(outcome(answer)).toEqual(INVALID);
        expect(answer.body.message).toMatch(/^input 0 .*needs non_witness_utxo/);
      }
      const burned = signatures.filter((one) => validity(one, [first, second]).includes(true));
      expect(burned, 'signatures of a transaction that burns 10 BTC').toEqual([]);
      // Nor does a proof of one of them help.
      await expectUnproven(type, psbtOf([proven(first), believed(second, FEE)], 10n * BTC, PAYEE), 1);
      await expectUnproven(type, psbtOf([believed(first, FEE), proven(second)], 10n * BTC, PAYEE), 0);
    }
  });

  test('with several inputs those of others are proven too, of every kind', async () => {
    const kinds = ['P2PKH', 'P2SH', 'P2WPKH', 'P2WSH', 'P2SH-P2WPKH', 'P2TR'] as const;
    for (const type of ['P2WPKH', 'P2PKH'] as const) {
      for (const kind of kinds) {
        const [mine, theirs] = [own(type), coin(kind, foreignKey, 10n * BTC)];
        await sign(type, paying([proven(mine), proven(theirs)]));
        await expectUnproven(type, paying([proven(mine), believed(theirs)]), 1);
        // Its owner signs what is true, and only we were told something else.
        await expectUnproven(type, psbtOf([proven(mine), believed(theirs, FEE)], 10n * BTC, PAYEE), 1);
      }
    }
  });

  test('Taproot commits to every amount, so witness_utxo is enough', async () => {
    const [first, second, theirs] = [own('P2TR'), own('P2TR'), coin('P2TR', foreignKey, 10n * BTC)];
    const coins = [first, second, theirs];
    for (const tell of [believed, proven, both] as const) {
      const signed = await sign('P2TR', paying(coins.map((one) => tell(one))));
      expect(validity(signed, coins)).toEqual([true, true, false]);
    }
    // Each lie spoils each signature.
    for (const liar of [0, 1, 2]) {
      const inputs = coins.map((one, at) => believed(one, at === liar ? FEE : one.amount));
      const signed = await sign('P2TR', psbtOf(inputs, 20n * BTC, PAYEE));
      expect(validity(signed, coins)).toEqual([false, false, false]);
    }
    // Segwit v0 beside it needs a proof all the same.
    for (const kind of ['P2WPKH', 'P2WSH', 'P2SH-P2WPKH'] as const) {
      const other = coin(kind, foreignKey, BTC);
      const signed = await sign('P2TR', paying([believed(first), proven(other)]));
      expect(validity(signed, [first, other])).toEqual([true, false]);
      await expectUnproven('P2TR', paying([believed(first), believed(other)]), 1);
    }
  });

  test('a proof is the transaction that is spent, with or without its witnesses', async () => {
    const [first, second] = [own('P2WPKH'), own('P2WPKH')];
    const signed = await sign('P2WPKH', paying([proven(first, withWitness(first.previous)), both(second)]));
    expect(validity(signed, [first, second])).toEqual([true, true]);

    const refused = async (told: readonly [Coin, Told], message: RegExp) => {
      const answer = await submit('P2WPKH', paying([proven(first), told]));
      expect(outcome(answer)).toEqual(INVALID);
      expect(answer.body.message).toMatch(message);
    };
    await refused(proven(second, own('P2WPKH').previous), /non_witness_utxo of input 1 is not the transaction/);
    await refused(both(second, FEE), /witness_utxo of input 1 contradicts its non_witness_utxo/);
    await refused(proven({ ...second, index: 2 }), /input 1 spends output 2 .* has only 2/);
    await refused(proven(second, second.previous.subarray(0, -1)), /non_witness_utxo of input 1 ends too early/);
    await refused(
      proven(second, Uint8Array.of(...second.previous, 0)),
      /left over after the non_witness_utxo of input 1/,
    );
    await refused([second, {}], /input 1 .*neither witness_utxo nor non_witness_utxo/);
  });

  test('a signature is over every input and output, so none can be added to a single one', async () => {
    for (const type of ['P2WPKH', 'P2TR'] as const) {
      for (const sighashType of [0x02, 0x03, 0x81, 0x82, 0x83]) {
        const answer = await submit(type, paying([[own(type), { witnessUtxo: 10n * BTC, sighashType }]]));
        expect(outcome(answer)).toEqual(INVALID);
        expect(answer.body.message).toMatch(/may be signed with SIGHASH_/);
      }
    }
  });

  test('simulations and a key that is named by its id hear of it in the same words', async () => {
    const secret = '5b'.repeat(32);
    const publicKey = hexOf(secp256k1.getPublicKey(bytesOf(secret)));
    const formats = ['BITCOIN_MAINNET_P2TR', 'BITCOIN_MAINNET_P2WPKH'];
    const { privateKeyId } = await importKey(root, 'SECP256K1', secret, formats);
    const [first, second] = [coin('P2WPKH', publicKey, BTC), coin('P2WPKH', publicKey, BTC)];
    const type = 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2';
    const simulate = (unsigned: string) =>
      trader.query('simulate_activity', { request: { type, parameters: parametersOf(privateKeyId, unsigned) } });
    const honest = paying([proven(first), proven(second)]);
    const lie = psbtOf([proven(first), believed(second, FEE)], BTC, PAYEE);
    const simulated = await simulate(honest);
    expect(simulated.status, JSON.stringify(simulated.body)).toBe(200);
    expect(outcome(await trader.submit('sign_transaction', parametersOf(privateKeyId, honest)))).toEqual(DONE);
    for (const answer of [
      await simulate(lie),
      await trader.submit('sign_transaction', parametersOf(privateKeyId, lie)),
    ]) {
      expect(outcome(answer)).toEqual(INVALID);
      expect(answer.body.message).toMatch(/^input 1 .*needs non_witness_utxo/);
    }
  });

  test('ten inputs with large previous transactions fit into a request', async () => {
    const coins = Array.from({ length: 10 }, () => coin('P2WPKH', signers.P2WPKH.publicKey, BTC, 3_200));
    expect(coins.every(({ previous }) => previous.length > 99_000)).toBe(true);
    const signed = await sign('P2WPKH', paying(coins.map((one) => proven(one))));
    expect(validity(signed, coins)).toEqual(Array(10).fill(true));
  });
});
