import { readFileSync } from 'node:fs';
import { ADDRESS_FORMAT_LIST } from '@custos/keyring/formats';
import { expect, test } from 'vitest';
import { chainOf } from './chains.ts';
import { checkKit } from './check-kit.ts';
import { isCurve, seedOf, Tree } from './derive.ts';
import type { KitWallet, RecoveryKit } from './kit.ts';

interface Vector {
  readonly addressFormat: string;
  readonly curve: string;
  readonly path: string;
  readonly mnemonic: string;
  readonly passphrase: string;
  readonly privateKeyHex: string;
  readonly address: string;
}

/** Of other implementations; the keyring is tested by them too. */
const VECTORS: readonly Vector[] = JSON.parse(
  readFileSync(new URL('../../../keyring/src/address/vectors.json', import.meta.url), 'utf8'),
);

const kitOf = (wallets: readonly KitWallet[], privateKeys: RecoveryKit['privateKeys'] = []): RecoveryKit => ({
  madeAt: '2026-11-19T00:00:00.000Z',
  organization: { id: 'o', name: 'Organization' },
  recipients: [],
  wallets,
  privateKeys,
});

const walletOf = ({ mnemonic, passphrase, ...account }: Vector): KitWallet => ({
  id: 'w',
  name: 'Wallet',
  mnemonic,
  language: 'english',
  passphrase,
  accounts: [account],
});

const [FIRST] = VECTORS as [Vector];

test('every published address is computed from its words, of every format', async () => {
  const { wallets, counts } = await checkKit(kitOf(VECTORS.map(walletOf)));
  expect(counts).toEqual({ same: VECTORS.length, different: 0, unknown: 0 });
  expect(wallets.map(({ accounts }) => accounts[0]?.verdict)).toEqual(VECTORS.map(() => 'same'));
  expect(new Set(VECTORS.map(({ addressFormat }) => addressFormat))).toEqual(
    new Set(ADDRESS_FORMAT_LIST.map(({ name }) => name)),
  );
});

test('and from its private key', async () => {
  const keys = VECTORS.map(({ privateKeyHex, curve, addressFormat, address }) => ({
    id: 'k',
    name: 'Key',
    curve,
    privateKey: privateKeyHex,
    addresses: [{ addressFormat, address, importKeyName: '', importKey: '' }],
  }));
  expect((await checkKit(kitOf([], keys))).counts).toEqual({ same: VECTORS.length, different: 0, unknown: 0 });
});

test('private keys are those of the vectors, and a browser without its own PBKDF2 has the same seed', async () => {
  for (const { mnemonic, passphrase, curve, path, privateKeyHex } of VECTORS) {
    if (!isCurve(curve)) throw new Error(`no such curve: ${curve}`);
    const key = new Tree(await seedOf(mnemonic, passphrase)).privateKey(curve, path);
    expect(Buffer.from(key ?? []).toString('hex')).toBe(privateKeyHex);
  }
  const { crypto } = globalThis;
  const seed = await seedOf(FIRST.mnemonic, 'ü');
  Object.defineProperty(globalThis, 'crypto', { configurable: true, value: {} });
  try {
    expect(await seedOf(FIRST.mnemonic, 'ü')).toEqual(seed);
  } finally {
    Object.defineProperty(globalThis, 'crypto', { configurable: true, value: crypto });
  }
});

test('an address that is another is said to be, with what the words lead to', async () => {
  const account = { ...walletOf(FIRST).accounts[0], address: 'other' } as KitWallet['accounts'][number];
  const { wallets, counts } = await checkKit(kitOf([{ ...walletOf(FIRST), accounts: [account] }]));
  expect(counts).toEqual({ same: 0, different: 1, unknown: 0 });
  expect(wallets[0]?.accounts[0]).toMatchObject({ address: 'other', verdict: 'different', computed: FIRST.address });
});

test('what cannot be computed is said to be that, and never the same', async () => {
  const verdictOf = async (changes: Partial<KitWallet['accounts'][number]>) => {
    const accounts = [{ ...walletOf(FIRST).accounts[0], ...changes } as KitWallet['accounts'][number]];
    return (await checkKit(kitOf([{ ...walletOf(FIRST), accounts }]))).wallets[0]?.accounts[0]?.verdict;
  };
  expect(await verdictOf({ addressFormat: 'ADDRESS_FORMAT_OF_TOMORROW' })).toBe('unknown');
  expect(await verdictOf({ curve: 'CURVE_OF_TOMORROW' })).toBe('unknown');
  // Both are known, and nothing of the one is of the other: that is no matter of versions.
  expect(await verdictOf({ addressFormat: 'ADDRESS_FORMAT_SOLANA' })).toBe('different');
  expect(await verdictOf({ curve: 'CURVE_P256' })).toBe('different');
  for (const path of ['', 'm', 'x/0', 'm/', 'm/0//1', 'm/2147483648', 'm/-1', "m/0''", 'm/01', 'M/0']) {
    expect([path, await verdictOf({ path })]).toEqual([path, 'different']);
  }
  for (const privateKey of ['', '00'.repeat(32), 'ff'.repeat(32), 'zz'.repeat(32), '11'.repeat(31)]) {
    const addresses = [{ addressFormat: 'ADDRESS_FORMAT_ETHEREUM', address: '', importKeyName: '', importKey: '' }];
    const key = { id: 'k', name: '', curve: 'CURVE_SECP256K1', privateKey, addresses };
    expect((await checkKit(kitOf([], [key]))).counts.different).toBe(1);
  }
});

test('every format has a name that people know', () => {
  for (const { name } of ADDRESS_FORMAT_LIST) expect(chainOf(name)).not.toMatch(/_/);
});
