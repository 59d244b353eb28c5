// The words and keys of recovery kits lead to the same addresses in ethers, bitcoinjs-lib, @solana/web3.js and TronWeb, without
// any code of ours: what somebody who has nothing but the kit would use.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { armor, Decrypter } from 'age-encryption';
import { type Network, networks, payments } from 'bitcoinjs-lib';
import { derivePath } from 'ed25519-hd-key';
import { encodeBase58, HDNodeWallet, Mnemonic, SigningKey, sha256, Wallet, wordlists } from 'ethers';
import { utils } from 'tronweb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AGE_IDENTITY, AGE_RECIPIENT } from '../packages/server/test/fixtures/keys.ts';
import { account, importKey, importWallet, newWallet } from '../packages/server/test/flows/fixtures/wallets.ts';
import { TestClient } from '../packages/server/test/harness/client.ts';
import { databasesOf } from '../packages/server/test/harness/databases.ts';
import { TestServer } from '../packages/server/test/harness/server.ts';
// Gives bitcoinjs-lib the curve that Taproot needs.
import './policy-facts-bitcoin.ts';

const PHRASE = `${'abandon '.repeat(11)}about`;
const KEY = '0c28fca386c7a227600b2fe50b7cae11ec86d3bf1fbe471be89827e19d72aa1d';
const hasAge = spawnSync('age', ['--version']).status === 0;

interface KitAccount {
  readonly curve: string;
  readonly path: string;
  readonly addressFormat: string;
  readonly address: string;
}

interface Kit {
  readonly wallets: readonly {
    readonly id: string;
    readonly mnemonic: string;
    readonly passphrase?: string;
    readonly accounts: readonly KitAccount[];
  }[];
  readonly privateKeys: readonly {
    readonly id: string;
    readonly addresses: readonly {
      readonly addressFormat: string;
      readonly address: string;
      readonly importKey: string;
    }[];
  }[];
}

const ACCOUNTS = [
  account('SECP256K1', "m/44'/60'/0'/0/0", 'ETHEREUM'),
  account('SECP256K1', "m/44'/60'/0'/0/7", 'ETHEREUM'),
  account('SECP256K1', "m/44'/195'/0'/0/0", 'TRON'),
  account('SECP256K1', "m/44'/0'/0'/0/0", 'BITCOIN_MAINNET_P2PKH'),
  account('SECP256K1', "m/49'/0'/0'/0/0", 'BITCOIN_MAINNET_P2SH'),
  account('SECP256K1', "m/84'/0'/0'/0/0", 'BITCOIN_MAINNET_P2WPKH'),
  account('SECP256K1', "m/86'/0'/0'/0/0", 'BITCOIN_MAINNET_P2TR'),
  account('SECP256K1', "m/86'/1'/0'/0/0", 'BITCOIN_TESTNET_P2TR'),
  account('SECP256K1', "m/84'/1'/0'/0/0", 'BITCOIN_REGTEST_P2WPKH'),
  account('ED25519', "m/44'/501'/0'/0'", 'SOLANA'),
  // As somebody may have written it; Custos derives every level hardened.
  account('ED25519', 'm/44/501/1/0', 'SOLANA'),
];

const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.replace(/^0x/, ''), 'hex'));

function bitcoin(format: string, pubkey: Uint8Array): string | undefined {
  const [, name = '', script = ''] = /^ADDRESS_FORMAT_BITCOIN_([A-Z]+)_(\w+)$/.exec(format) ?? [];
  const network = { MAINNET: networks.bitcoin, TESTNET: networks.testnet, REGTEST: networks.regtest }[name] as Network;
  switch (script) {
    case 'P2PKH':
      return payments.p2pkh({ pubkey, network }).address;
    case 'P2SH':
      return payments.p2sh({ redeem: payments.p2wpkh({ pubkey, network }), network }).address;
    case 'P2WPKH':
      return payments.p2wpkh({ pubkey, network }).address;
    case 'P2TR':
      return payments.p2tr({ internalPubkey: pubkey.subarray(1), network }).address;
    default:
      throw new Error(`no such script: ${script}`);
  }
}

/** The address of an account, from the words alone. */
function addressOf(mnemonic: Mnemonic, { path, addressFormat }: KitAccount): string | undefined {
  if (addressFormat === 'ADDRESS_FORMAT_SOLANA') {
    return Keypair.fromSeed(derivePath(path, mnemonic.computeSeed().slice(2)).key).publicKey.toBase58();
  }
  const node = HDNodeWallet.fromMnemonic(mnemonic, path);
  if (addressFormat === 'ADDRESS_FORMAT_ETHEREUM') return node.address;
  if (addressFormat === 'ADDRESS_FORMAT_TRON')
    return utils.address.fromPrivateKey(node.privateKey.slice(2)) || undefined;
  return bitcoin(addressFormat, bytes(node.publicKey));
}

/** The key in a WIF, with its version and its checksum looked at. */
function fromWif(text: string): { readonly version: number; readonly key: string } {
  const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
  const number = [...text].reduce((sum, letter) => sum * 58n + BigInt(alphabet.indexOf(letter)), 0n);
  const hex = number.toString(16).padStart(76, '0');
  expect(hex.slice(-8)).toBe(sha256(sha256(`0x${hex.slice(0, -8)}`)).slice(2, 10));
  expect(hex.slice(66, 68)).toBe('01');
  return { version: Number.parseInt(hex.slice(0, 2), 16), key: hex.slice(2, 66) };
}

describe.each(databasesOf(import.meta.url))('a kit of a service on %s', (database) => {
  let server: TestServer;
  let root: TestClient;
  let kit: Kit;
  let file: Buffer;

  beforeAll(async () => {
    server = await TestServer.start({ database });
    root = TestClient.root(server.credentials, server.baseUrl);
    await newWallet(root, ACCOUNTS);
    await newWallet(root, ACCOUNTS, { mnemonicLength: 24 });
    await importWallet(root, PHRASE, ACCOUNTS);
    await importWallet(root, `${PHRASE}\nTREZOR`, ACCOUNTS);
    await importKey(root, 'SECP256K1', KEY, ['ETHEREUM', 'BITCOIN_MAINNET_P2WPKH', 'BITCOIN_TESTNET_P2TR', 'TRON']);
    await importKey(root, 'ED25519', KEY, ['SOLANA']);
    const made = await root.run('create_recovery_kit', { recipients: [AGE_RECIPIENT] });
    const { recoveryKitId } = made;
    const { body } = await root.query('get_recovery_kit', { recoveryKitId, piece: 0 });
    expect(made.pieceCount).toBe(1);
    file = Buffer.from(body.piece.content, 'base64');
    const decrypter = new Decrypter();
    decrypter.addIdentity(AGE_IDENTITY);
    kit = JSON.parse(await decrypter.decrypt(file, 'text'));
  });

  afterAll(() => server[Symbol.asyncDispose]());

  test('has words that lead to the same addresses in ethers, bitcoinjs-lib, web3.js and TronWeb', () => {
    expect(kit.wallets).toHaveLength(4);
    for (const { mnemonic, passphrase = '', accounts } of kit.wallets) {
      const phrase = Mnemonic.fromPhrase(mnemonic, passphrase, wordlists['en']);
      expect(accounts.map((one) => one.addressFormat)).toEqual(ACCOUNTS.map((one) => one.addressFormat));
      for (const one of accounts) expect([one.path, addressOf(phrase, one)]).toEqual([one.path, one.address]);
    }
  });

  test('has the published addresses of published words', () => {
    const published = kit.wallets.find(({ mnemonic, passphrase }) => mnemonic === PHRASE && passphrase === undefined);
    const at = (path: string) => published?.accounts.find((one) => one.path === path)?.address;
    // BIP-49 has none for these words on mainnet; the others are of BIP-84, BIP-86 and the wallets of their chains.
    expect(at("m/84'/0'/0'/0/0")).toBe('bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu');
    expect(at("m/86'/0'/0'/0/0")).toBe('bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr');
    expect(at("m/44'/60'/0'/0/0")).toBe('0x9858EfFD232B4033E47d90003D41EC34EcaEda94');
    expect(at("m/44'/501'/0'/0'")).toBe('HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk');
  });

  test('has private keys in the form that these libraries take, with the same addresses', () => {
    const [secp256k1, ed25519] = kit.privateKeys;
    const importKeyOf = (format: string): string =>
      secp256k1?.addresses.find((one) => one.addressFormat === `ADDRESS_FORMAT_${format}`)?.importKey ?? '';
    const addressIn = (format: string) =>
      secp256k1?.addresses.find((one) => one.addressFormat === `ADDRESS_FORMAT_${format}`)?.address;
    expect(new Wallet(importKeyOf('ETHEREUM')).address).toBe(addressIn('ETHEREUM'));
    expect(utils.address.fromPrivateKey(importKeyOf('TRON'))).toBe(addressIn('TRON'));
    for (const [format, version] of [
      ['BITCOIN_MAINNET_P2WPKH', networks.bitcoin.wif],
      ['BITCOIN_TESTNET_P2TR', networks.testnet.wif],
    ] as const) {
      const wif = fromWif(importKeyOf(format));
      expect(wif).toEqual({ version, key: KEY });
      const { compressedPublicKey } = new SigningKey(`0x${wif.key}`);
      expect(bitcoin(`ADDRESS_FORMAT_${format}`, bytes(compressedPublicKey))).toBe(addressIn(format));
    }
    const [solana] = ed25519?.addresses ?? [];
    const keypair = Keypair.fromSeed(bytes(KEY));
    expect([encodeBase58(keypair.secretKey), keypair.publicKey.toBase58()]).toEqual([
      solana?.importKey,
      solana?.address,
    ]);
  });

  test.skipIf(!hasAge)('opens with age of the operating system, in both forms', () => {
    const folder = mkdtempSync(join(tmpdir(), 'custos-age-'));
    try {
      const [key, binary, text] = ['key.txt', 'kit.age', 'kit.txt'].map((name) => join(folder, name)) as [
        string,
        string,
        string,
      ];
      writeFileSync(key, `${AGE_IDENTITY}\n`);
      writeFileSync(binary, file);
      writeFileSync(text, armor.encode(file));
      for (const encrypted of [binary, text]) {
        const { status, stdout, stderr } = spawnSync('age', ['-d', '-i', key, encrypted], { encoding: 'utf8' });
        expect([status, stderr]).toEqual([0, '']);
        expect(JSON.parse(stdout)).toEqual(kit);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
