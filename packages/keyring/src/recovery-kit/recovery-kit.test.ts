import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { base58, bech32 } from '@scure/base';
import { Decrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requireBuilt } from '../../test/fixtures/built.ts';
import {
  anyNumberOfExports,
  codeOf,
  type Deployment,
  deploy,
  encryptTo,
  flipped,
  ORGANIZATION,
} from '../../test/fixtures/client.ts';
import { fromHex, fromText, toHex } from '../../test/fixtures/labels.ts';
import { deriveKey } from '../derive/derive.ts';
import { seedOf } from '../derive/mnemonic.ts';
import { publicKeyOf } from '../derive/public-key.ts';
import {
  type AccountSpec,
  type AddressFormat,
  type Curve,
  createKeyring,
  type Keyring,
  type KeyringError,
  type PrivateKeyForKit,
  RECOVERY_KIT_BYTES_MAX,
  type RecoveryKitContents,
  type WalletForKit,
} from '../index.ts';
import { LocalKeyring } from '../local-keyring.ts';
import type { LogLine } from '../log.ts';
import { systemRandom } from '../seal/envelope.ts';
import { RootKeyRing } from '../seal/root-key.ts';
import { Ceilings } from '../transfers/ceiling.ts';
import type { KeyringLimits, TransferGate } from '../transfers/limits.ts';

const ETHEREUM: AccountSpec = {
  curve: 'CURVE_SECP256K1',
  path: "m/44'/60'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
};
const SOLANA: AccountSpec = { curve: 'CURVE_ED25519', path: 'm/44/501/0/0', addressFormat: 'ADDRESS_FORMAT_SOLANA' };
const MADE_AT_MS = Date.UTC(2026, 10, 19, 12, 30);

interface Reader {
  readonly identity: string;
  readonly recipient: string;
}

let folder: string;
let keyring: Keyring;
let deployment: Deployment;
let ada: Reader;
let grace: Reader;
let stranger: Reader;

async function newReader(): Promise<Reader> {
  const identity = await generateX25519Identity();
  return { identity, recipient: await identityToRecipient(identity) };
}

async function open(transfers: TransferGate = anyNumberOfExports()): Promise<LocalKeyring> {
  const ring = await RootKeyRing.open(`file:${join(folder, 'root.key')}`, true, systemRandom);
  return new LocalKeyring(ring, systemRandom, transfers);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'custos-kit-'));
  keyring = await open();
  deployment = await deploy(keyring);
  [ada, grace, stranger] = await Promise.all([newReader(), newReader(), newReader()]);
});

afterAll(async () => {
  await keyring.close();
  await rm(folder, { recursive: true });
});

async function newWallet(walletId: string, accounts: readonly AccountSpec[] = [ETHEREUM]): Promise<WalletForKit> {
  const made = await keyring.createWallet(deployment.holder(walletId), 24, accounts);
  return {
    walletId,
    name: `Wallet "${walletId}"`,
    sealedSeed: made.sealedSeed,
    accounts: accounts.map((account, index) => ({ ...account, address: made.accounts[index]?.address ?? '' })),
  };
}

async function importWallet(walletId: string, text: string): Promise<WalletForKit> {
  const target = deployment.holder('target-1');
  const { sealedTarget, targetPublicKey } = await keyring.createImportTarget(target, 'user-1');
  const targets = [{ id: target.ownerId, sealed: sealedTarget }];
  const bundle = encryptTo(targetPublicKey, fromText(text));
  const made = await keyring.importWallet(deployment.holder(walletId), targets, bundle, [ETHEREUM]);
  const accounts = [{ ...ETHEREUM, name: 'first', address: made.accounts[0]?.address ?? '' }];
  return { walletId, name: walletId, sealedSeed: made.sealedSeed, accounts };
}

async function importKey(privateKeyId: string, curve: Curve, hex: string, formats: PrivateKeyForKit['addresses']) {
  const target = deployment.holder('target-2');
  const { sealedTarget, targetPublicKey } = await keyring.createImportTarget(target, 'user-1');
  const targets = [{ id: target.ownerId, sealed: sealedTarget }];
  const bundle = encryptTo(targetPublicKey, fromHex(hex));
  const { sealedKey } = await keyring.importPrivateKey(deployment.holder(privateKeyId), targets, bundle, curve, []);
  return { privateKeyId, name: privateKeyId, sealedKey, addresses: formats };
}

const contentsOf = (wallets: readonly WalletForKit[], privateKeys: readonly PrivateKeyForKit[] = []) =>
  ({ organizationName: 'Northwind', madeAtMs: MADE_AT_MS, wallets, privateKeys }) satisfies RecoveryKitContents;

const makeKit = (contents: RecoveryKitContents, recipients: readonly string[], maker: Keyring = keyring) =>
  maker.exportRecoveryKit(deployment.holder('').organizationKey, ORGANIZATION, contents, recipients);

async function openKit(kit: Uint8Array, { identity }: Reader) {
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  return JSON.parse(await decrypter.decrypt(kit, 'text'));
}

describe('a recovery kit', () => {
  test('holds phrases with accounts and keys with addresses, for each recipient and nobody else', async () => {
    const wallet = await newWallet('wallet-1', [ETHEREUM, SOLANA]);
    const privateKey = await importKey(
      'key-1',
      'CURVE_SECP256K1',
      '0c28fca386c7a227600b2fe50b7cae11ec86d3bf1fbe471be89827e19d72aa1d',
      [
        { addressFormat: 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH', address: 'bc1q' },
        { addressFormat: 'ADDRESS_FORMAT_ETHEREUM', address: '0x1' },
        { addressFormat: 'ADDRESS_FORMAT_COMPRESSED', address: '02' },
      ],
    );
    const recipients = [ada.recipient, grace.recipient];
    const kit = await makeKit(contentsOf([wallet], [privateKey]), recipients);
    expect(Buffer.from(kit.subarray(0, 21)).toString()).toBe('age-encryption.org/v1');
    const [opened, same] = [await openKit(kit, ada), await openKit(kit, grace)];
    expect(same).toEqual(opened);
    await expect(openKit(kit, stranger)).rejects.toThrow('no identity matched');
    expect(opened).toEqual({
      format: 'custos-recovery-kit',
      version: 1,
      about: expect.stringContaining('Whoever reads this file owns everything'),
      madeAt: '2026-11-19T12:30:00.000Z',
      organization: { id: ORGANIZATION, name: 'Northwind' },
      recipients,
      wallets: [
        {
          id: 'wallet-1',
          name: 'Wallet "wallet-1"',
          mnemonic: expect.stringMatching(/^([a-z]+ ){23}[a-z]+$/),
          language: 'english',
          // The path of Ed25519 as it is derived, which is the one that other programs take.
          accounts: [wallet.accounts[0], { ...wallet.accounts[1], path: "m/44'/501'/0'/0'" }],
        },
      ],
      privateKeys: [
        {
          id: 'key-1',
          name: 'key-1',
          curve: 'CURVE_SECP256K1',
          privateKey: '0c28fca386c7a227600b2fe50b7cae11ec86d3bf1fbe471be89827e19d72aa1d',
          addresses: [
            {
              addressFormat: 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH',
              address: 'bc1q',
              importKeyName: 'WIF',
              importKey: 'KwdMAjGmerYanjeui5SHS7JkmpZvVipYvB2LJGU1ZxJwYvP98617',
            },
            {
              addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
              address: '0x1',
              importKeyName: 'Private key',
              importKey: '0x0c28fca386c7a227600b2fe50b7cae11ec86d3bf1fbe471be89827e19d72aa1d',
            },
            {
              addressFormat: 'ADDRESS_FORMAT_COMPRESSED',
              address: '02',
              importKeyName: 'Hexadecimal',
              importKey: '0c28fca386c7a227600b2fe50b7cae11ec86d3bf1fbe471be89827e19d72aa1d',
            },
          ],
        },
      ],
    });
  });

  test('writes phrases in their own language, and passphrases as they were given', async () => {
    const english = `${'abandon '.repeat(11)}about`;
    const japanese = `${'あいこくしん　'.repeat(11)}あおぞら`;
    const passphrase = 'quote " backslash \\ tab \t ü 日本 \u0001';
    const wallets = [
      await importWallet('plain', english),
      await importWallet('with a passphrase', `${english}\n${passphrase}`),
      await importWallet('japanese', japanese),
    ];
    const { wallets: opened } = await openKit(await makeKit(contentsOf(wallets), [ada.recipient]), ada);
    expect(opened[0]).toMatchObject({ mnemonic: english, language: 'english' });
    expect(opened[0]).not.toHaveProperty('passphrase');
    expect(opened[0].accounts).toEqual([{ ...ETHEREUM, name: 'first', address: expect.stringMatching(/^0x/) }]);
    expect(opened[1]).toMatchObject({ mnemonic: english, passphrase });
    expect(opened[2]).toMatchObject({ mnemonic: japanese.normalize('NFKD'), language: 'japanese' });
  });

  test('holds any names, and more wallets than are opened at a time', async () => {
    const wallet = await newWallet('wallet-1');
    const names = ['', 'a\u2028b', '\ud800', '</script>', '"},{"', '日本'.repeat(100)];
    const wallets = Array.from({ length: 100 }, (_, index) => ({ ...wallet, name: names[index % names.length] ?? '' }));
    const kit = await makeKit({ ...contentsOf(wallets), organizationName: '"' }, [ada.recipient]);
    const { wallets: opened, organization } = await openKit(kit, ada);
    expect(opened.map(({ name }: { name: string }) => name)).toEqual(wallets.map(({ name }) => name));
    expect(organization.name).toBe('"');
  });

  test('is not made of what belongs to somebody else, or was changed', async () => {
    const wallet = await newWallet('wallet-1');
    const key = await importKey('key-1', 'CURVE_ED25519', '11'.repeat(32), []);
    const refused = async (wallets: WalletForKit[], keys: PrivateKeyForKit[] = []) =>
      await codeOf(makeKit(contentsOf(wallets, keys), [ada.recipient]));
    expect(await refused([{ ...wallet, walletId: 'wallet-2' }])).toBe('NOT_OPENED');
    expect(await refused([wallet, { ...wallet, sealedSeed: flipped(wallet.sealedSeed, 900) }])).toBe('NOT_OPENED');
    expect(await refused([{ ...wallet, sealedSeed: key.sealedKey }])).toBe('NOT_OPENED');
    expect(await refused([wallet], [{ ...key, privateKeyId: 'wallet-1' }])).toBe('NOT_OPENED');
    const otherKey = await keyring.createOrganizationKey('organization-2');
    const other = keyring.exportRecoveryKit(otherKey, 'organization-2', contentsOf([wallet]), [ada.recipient]);
    expect(await codeOf(other)).toBe('NOT_OPENED');
  });

  test('has contents', async () => {
    const wallet = await newWallet('wallet-1');
    const [account] = wallet.accounts;
    const wrong: readonly (readonly [string, unknown])[] = [
      ['nothing in it', contentsOf([])],
      ['no list', { ...contentsOf([wallet]), privateKeys: {} }],
      ['no time', { ...contentsOf([wallet]), madeAtMs: Number.NaN }],
      ['a time beyond all', { ...contentsOf([wallet]), madeAtMs: 9e15 }],
      ['a name that is none', contentsOf([{ ...wallet, name: 1 as never }])],
      ['a long name', contentsOf([{ ...wallet, name: 'x'.repeat(1025) }])],
      ['no path', contentsOf([{ ...wallet, accounts: [{ ...account, path: 'm' } as never] }])],
      [
        'a curve that does not fit',
        contentsOf([{ ...wallet, accounts: [{ ...account, curve: 'CURVE_P256' } as never] }]),
      ],
      [
        'an unknown format',
        contentsOf(
          [wallet],
          [
            {
              privateKeyId: 'k',
              name: '',
              sealedKey: wallet.sealedSeed,
              addresses: [{ addressFormat: 'X' as never, address: '' }],
            },
          ],
        ),
      ],
    ];
    for (const [what, contents] of wrong) {
      expect([what, await codeOf(makeKit(contents as RecoveryKitContents, [ada.recipient]))]).toEqual([
        what,
        'INVALID_INPUT',
      ]);
    }
  });
});

describe('recipients', () => {
  const LOW_ORDER = bech32.encode('age', bech32.toWords(new Uint8Array(32)));

  test('are X25519 recipients of age, 1 to 16 and none twice', async () => {
    const wallet = await newWallet('wallet-1');
    const refusal = async (recipients: unknown): Promise<string> =>
      await makeKit(contentsOf([wallet]), recipients as string[]).then(
        () => 'made',
        (error: KeyringError) => error.message,
      );
    const sixteen = await Promise.all(Array.from({ length: 16 }, async () => (await newReader()).recipient));
    expect(await refusal(sixteen)).toBe('made');
    expect(await refusal([...sixteen, ada.recipient])).toBe('recipients must be a list of 1 to 16');
    expect(await refusal([])).toBe('recipients must be a list of 1 to 16');
    expect(await refusal([ada.recipient, grace.recipient, ada.recipient])).toBe('a recipient is given twice');
    const { recipient } = ada;
    const mistake = recipient.replace(/.$/, (last) => (last === 'q' ? 'p' : 'q'));
    for (const [text, why] of [
      [mistake, 'has a mistake in it'],
      [recipient.slice(0, -1), 'has a mistake in it'],
      [recipient.toUpperCase(), 'must be an age recipient'],
      [` ${recipient}`, 'must be an age recipient'],
      ['', 'must be an age recipient'],
      [7, 'must be an age recipient'],
      [LOW_ORDER, 'everybody can open'],
      [`age1pq1${'q'.repeat(1950)}`, 'only the newest versions of age know'],
      ['age1tag1qqqqqq', 'only the newest versions of age know'],
      ['age1yubikey1q2w7u3vpya839jxxuq8g0sedh3d740d4xvn639sqhr95ejj8vu3hyfumptt', 'has a mistake in it'],
      ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHsKLqeplhpW+uObz5dvMgjz1OxfM/XXUB+VHtZ6isGN', 'is an SSH key'],
    ] as const) {
      expect(await refusal([text])).toContain(why);
    }
  });

  test('are no identities, and such a text is not repeated', async () => {
    const wallet = await newWallet('wallet-1');
    for (const secret of [
      ada.identity,
      ada.identity.toLowerCase(),
      ` ${ada.identity}\n`,
      '-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0',
    ]) {
      const error = await makeKit(contentsOf([wallet]), [secret]).catch((refused: KeyringError) => refused);
      expect((error as KeyringError).message).toMatch(/must stay secret/);
      expect((error as KeyringError).message.toLowerCase()).not.toContain(secret.trim().toLowerCase());
    }
  });
});

describe('the ceilings', () => {
  async function opened(limits: KeyringLimits = {}) {
    const lines: LogLine[] = [];
    const state = { nowMs: 0 };
    const ceilings = new Ceilings(limits, { log: (line) => lines.push(line), nowMs: () => state.nowMs });
    return { lines, state, maker: await open(ceilings) };
  }

  test('count a kit as one export, and log it with what it holds and for whom', async () => {
    const wallets = [await newWallet('wallet-1'), await newWallet('wallet-2')];
    const { lines, maker } = await opened({ exportLimits: { perOrganization: 1, inAll: 0 } });
    await using _ = maker;
    await makeKit(contentsOf(wallets), [ada.recipient, grace.recipient], maker);
    expect(lines).toEqual([
      {
        msg: 'export',
        what: 'exportRecoveryKit',
        organizationId: ORGANIZATION,
        ownerId: ORGANIZATION,
        wallets: 2,
        privateKeys: 0,
        recipients: `${ada.recipient} ${grace.recipient}`,
      },
    ]);
    const refused = await makeKit(contentsOf(wallets), [ada.recipient], maker).catch((error: KeyringError) => error);
    expect(refused).toMatchObject({
      code: 'TOO_MANY_EXPORTS',
      message: 'the keyring makes 1 exports a minute of one organization',
      retryAfterSeconds: 60,
    });
  });

  test('let few kits through, since each holds everything', async () => {
    const wallet = await newWallet('wallet-1');
    const { state, maker } = await opened();
    await using _ = maker;
    const attempt = () =>
      makeKit(contentsOf([wallet]), [ada.recipient], maker).then(
        () => undefined,
        (error: KeyringError) => [error.code, error.message, error.retryAfterSeconds],
      );
    expect([await attempt(), await attempt()]).toEqual([undefined, undefined]);
    state.nowMs = 20_000;
    expect(await attempt()).toEqual([
      'TOO_MANY_EXPORTS',
      'the keyring makes 2 recovery kits a minute of one organization',
      40,
    ]);
    state.nowMs = 60_000;
    expect(await attempt()).toBeUndefined();
  });

  test('are off where exports have none', async () => {
    const wallet = await newWallet('wallet-1');
    const { maker } = await opened({ exportLimits: { perOrganization: 0, inAll: 0 } });
    await using _ = maker;
    for (let count = 0; count < 20; count += 1) await makeKit(contentsOf([wallet]), [ada.recipient], maker);
  });
});

test('a kit of thousands of wallets crosses the line to the keyring process', { timeout: 60_000 }, async () => {
  requireBuilt();
  await using service = await createKeyring({
    rootKey: `file:${join(folder, 'root.key')}`,
    mode: 'process',
    threads: 2,
    refusesAdministration: true,
  });
  const wallet = await newWallet('wallet-1', [ETHEREUM, SOLANA]);
  const wallets = Array.from({ length: 10_000 }, () => wallet);
  const kit = await makeKit(contentsOf(wallets), [ada.recipient], service);
  expect((await openKit(kit, ada)).wallets).toHaveLength(10_000);
  const tooLarge = Array.from({ length: 30 }, () => ({ ...wallet, sealedSeed: new Uint8Array(1024 * 1024) }));
  const refused = makeKit(contentsOf(tooLarge), [ada.recipient], service);
  await expect(refused).rejects.toMatchObject({ message: `the body must be at most ${RECOVERY_KIT_BYTES_MAX} bytes` });
});

test('private keys are in the text form of each chain', async () => {
  const importKeys = async (curve: Curve, key: Uint8Array, addressFormats: readonly AddressFormat[]) => {
    const addresses = addressFormats.map((addressFormat) => ({ addressFormat, address: '' }));
    const made = await importKey('key-2', curve, toHex(key), addresses);
    const { privateKeys } = await openKit(await makeKit(contentsOf([], [made]), [ada.recipient]), ada);
    return privateKeys[0].addresses.map((address: { importKey: string }) => address.importKey);
  };
  expect(
    await importKeys('CURVE_SECP256K1', fromHex('01'.repeat(32)), [
      'ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH',
      'ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR',
      'ADDRESS_FORMAT_DOGE_MAINNET',
      'ADDRESS_FORMAT_TRON',
    ]),
  ).toEqual([
    expect.stringMatching(/^c\w{51}$/),
    expect.stringMatching(/^c\w{51}$/),
    expect.stringMatching(/^Q\w{51}$/),
    '01'.repeat(32),
  ]);
  // SEP-5, test 1.
  const seed = await seedOf('illness spike retreat truth genius clock brain pass fit cave bargain toe', '');
  const key = deriveKey(seed, 'CURVE_ED25519', "m/44'/148'/0'");
  expect(
    await importKeys('CURVE_ED25519', key, [
      'ADDRESS_FORMAT_XLM',
      'ADDRESS_FORMAT_SUI',
      'ADDRESS_FORMAT_APTOS',
      'ADDRESS_FORMAT_SOLANA',
      'ADDRESS_FORMAT_TON_V5R1',
    ]),
  ).toEqual([
    'SBGWSG6BTNCKCOB3DIFBGCVMUPQFYPA2G4O34RMTB343OYPXU5DJDVMN',
    expect.stringMatching(/^suiprivkey1[a-z0-9]{59}$/),
    `ed25519-priv-0x${toHex(key)}`,
    base58.encode(Uint8Array.of(...key, ...publicKeyOf('CURVE_ED25519', key))),
    toHex(key),
  ]);
});
