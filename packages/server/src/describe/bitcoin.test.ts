import { secp256k1 } from '@noble/curves/secp256k1.js';
import { p2wpkh, TEST_NETWORK, Transaction } from '@scure/btc-signer';
import { expect, test } from 'vitest';
import { describeRequest } from '../../test/fixtures/sentences.ts';
import { coin } from '../../test/harness/bitcoin.ts';
import { paymentKey } from './names.ts';

const publicKey = (secret: number): Uint8Array => secp256k1.getPublicKey(new Uint8Array(32).fill(secret), true);
const [OWN, SUPPLIER, STRANGER, ALIKE] = [1, 2, 3, 4].map(publicKey) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
  Uint8Array,
];
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const addressOf = (key: Uint8Array): string => p2wpkh(key).address as string;
const BTC = 100_000_000n;

function unsigned(outputs: readonly (readonly [Uint8Array, bigint])[], spent = BTC): string {
  const { txid, index, script } = coin('P2WPKH', hex(OWN), spent);
  const tx = new Transaction();
  tx.addInput({ txid, index, witnessUtxo: { script, amount: spent } });
  for (const [key, amount] of outputs) tx.addOutput({ script: p2wpkh(key).script, amount });
  return hex(tx.toPSBT(0));
}

const sign = (outputs: readonly (readonly [Uint8Array, bigint])[]) =>
  describeRequest(
    'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
    { signWith: addressOf(OWN), type: 'TRANSACTION_TYPE_BITCOIN', unsignedTransaction: unsigned(outputs) },
    {
      known: {
        signer: {
          [addressOf(OWN)]: {
            name: 'Vault',
            address: addressOf(OWN),
            curve: 'CURVE_SECP256K1',
            publicKey: hex(OWN),
            addressFormat: 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH',
          },
        },
        payment: {
          [paymentKey('bip122', addressOf(SUPPLIER))]: { count: 4 },
          [paymentKey('bip122', addressOf(ALIKE))]: { count: 0, alike: { address: addressOf(SUPPLIER) } },
        },
      },
    },
  );
const plain = (text: string): string => text.replaceAll('\u00a0', ' ');

test('one output and its change', () => {
  const told = sign([
    [SUPPLIER, BTC / 2n],
    [OWN, BTC / 2n - 1_000n],
  ]);
  expect(told.risk).toBe('ROUTINE');
  expect(plain(told.text)).toMatch(/^Send 0\.5 BTC from Vault on Bitcoin, with a fee of 0\.00001 BTC to bc1\S+\.$/);
  expect(told.fields).toContainEqual(
    expect.objectContaining({ label: 'Change', note: 'comes back to the account that signs' }),
  );
  expect(told.recipients).toHaveLength(1);
});

test('several outputs keep what is to be said of each', () => {
  const told = sign([
    [SUPPLIER, BTC / 4n],
    [STRANGER, BTC / 4n],
    [ALIKE, BTC / 8n],
    [OWN, BTC / 4n],
    [SUPPLIER, BTC / 8n - 1_000n],
  ]);
  expect(told.risk).toBe('DANGER');
  expect(told.recipients).toHaveLength(3);
  expect(told.steps.map(({ risk }) => risk)).toEqual(['ROUTINE', 'LOOK_CLOSELY', 'DANGER', 'ROUTINE', 'ROUTINE']);
  const steps = told.steps.map(({ sentence }) => plain(sentence.map(({ text }) => text).join('')));
  expect(steps[1]).toMatch(/^send 0\.25 BTC to bc1\S+, never paid from here$/);
  expect(steps[2]).toMatch(/looks like .* and is another address$/);
  expect(steps[4]).toBe('keep 0.25 BTC as change in Vault');
  expect(told.text).toContain('never paid from here');
  expect(told.text).toContain('is another address');
  expect(told.consequence).toContain('compared every character');
});

test('a fee that is high is marked', () => {
  expect(sign([[SUPPLIER, BTC - 200_000n]]).risk).toBe('LOOK_CLOSELY');
  expect(sign([[SUPPLIER, BTC / 4n]])).toMatchObject({
    risk: 'DANGER',
    marks: [{ text: 'the fee can be more than what is sent' }],
  });
});

test('the network is that of the account, and of every other that its script spends on', () => {
  const known = (networks: Readonly<Record<string, { bech32: string }>>) =>
    Object.fromEntries(
      Object.entries(networks).map(([network, prefixes]) => {
        const address = p2wpkh(OWN, { ...TEST_NETWORK, ...prefixes }).address as string;
        const format = `ADDRESS_FORMAT_BITCOIN_${network}_P2WPKH`;
        const key = { curve: 'CURVE_SECP256K1' as const, publicKey: hex(OWN), addressFormat: format };
        return [address, { name: network === 'MAINNET' ? 'Vault' : 'Trial', address, ...key }];
      }),
    );
  const paid = p2wpkh(SUPPLIER, TEST_NETWORK).address as string;
  const told = (network: string, bech32: string, more: Parameters<typeof known>[0] = {}) =>
    describeRequest(
      'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
      {
        signWith: p2wpkh(OWN, { ...TEST_NETWORK, bech32 }).address,
        type: 'TRANSACTION_TYPE_BITCOIN',
        unsignedTransaction: unsigned([[SUPPLIER, BTC - 1_000n]]),
      },
      {
        known: {
          signer: known({ ...more, [network]: { bech32 } }),
          payment: { [paymentKey('bip122', paid)]: { count: 4 } },
        },
      },
    );
  const trial = told('TESTNET', 'tb');
  expect(trial.risk).toBe('ROUTINE');
  expect(plain(trial.text)).toMatch(/^Send 0\.99999 BTC from Trial on Bitcoin testnet, with a fee/);
  expect(told('SIGNET', 'tb').text).toContain(' on Bitcoin signet, ');
  expect(told('REGTEST', 'bcrt').text).toContain(' on Bitcoin regtest, ');
  const both = told('TESTNET', 'tb', { MAINNET: { bech32: 'bc' } });
  expect(both.risk).toBe('DANGER');
  expect(both.text).toContain(' from Trial on Bitcoin testnet, or on Bitcoin out of Vault, with a fee');
  expect(both.consequence).toContain('may be coins of the main network');
});
