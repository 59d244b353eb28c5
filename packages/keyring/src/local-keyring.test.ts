import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ed25519 } from '@noble/curves/ed25519.js';
import { p256 } from '@noble/curves/nist.js';
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  anyNumberOfExports,
  codeOf,
  type Deployment,
  deploy,
  EMPTY_KIT,
  encryptTo,
  flipped,
  importSecret,
  ORGANIZATION,
  RECIPIENT,
  Receiver,
  readSigned,
} from '../test/fixtures/client.ts';
import { fromHex, fromText, toHex, toText } from '../test/fixtures/labels.ts';
import { formatsOf } from './address/index.ts';
import { sealText } from './bundle/credential-bundle.ts';
import { sealBox } from './bundle/sealed-box.ts';
import { CURVES } from './curve.ts';
import { deriveKey } from './derive/derive.ts';
import { MNEMONIC_LANGUAGES } from './derive/languages.ts';
import { phraseOf, seedOf, seedOfEntropy } from './derive/mnemonic.ts';
import type { KeyNode } from './derive/node.ts';
import { publicKeyOf } from './derive/public-key.ts';
import {
  type AccountSpec,
  type Curve,
  type Holder,
  INSTALLATION_ID,
  KeyringError,
  type RecoveryKitContents,
  SERVICE_ROLES,
  type SecretToExport,
  type ServiceRole,
  type SigningKey,
  type SigningScheme,
} from './index.ts';
import { CALLER_KINDS, KIND } from './kinds.ts';
import { LocalKeyring } from './local-keyring.ts';
import { NodeCache } from './node-cache.ts';
import { type RandomBytes, systemRandom } from './seal/envelope.ts';
import { RootKeyRing } from './seal/root-key.ts';
import { Secret } from './secret.ts';
import { ServiceKeys } from './service-keys.ts';
import { ed25519PublicKey } from './sign/ed25519.ts';
import { taprootPublicKey } from './sign/secp256k1.ts';
import { joinSignature } from './sign/signature.ts';

interface AddressVector extends AccountSpec {
  readonly privateKeyHex: string;
  readonly publicKeyHex: string;
  readonly address: string;
}

const vectors = JSON.parse(readFileSync(new URL('address/vectors.json', import.meta.url), 'utf8')) as AddressVector[];

const ETHEREUM: AccountSpec = {
  curve: 'CURVE_SECP256K1',
  path: "m/44'/60'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
};
const ABANDON = `${'abandon '.repeat(11)}about`;
const receiver = new Receiver();

let folder: string;
let keyring: LocalKeyring;
let deployment: Deployment;
let wallet: Holder;
let sealedSeed: Uint8Array;
let privateKey: Holder;
let sealedKey: Uint8Array;

async function openRing(random: RandomBytes = systemRandom): Promise<LocalKeyring> {
  const ring = await RootKeyRing.open(`file:${join(folder, 'root.key')}`, true, random);
  return new LocalKeyring(ring, random, anyNumberOfExports());
}

/** Random bytes, but for the lengths that are listed first. */
function scripted(...bytes: Uint8Array[]): RandomBytes {
  return (length) => {
    const index = bytes.findIndex((candidate) => candidate.length === length);
    return index < 0 ? systemRandom(length) : new Uint8Array(bytes.splice(index, 1)[0] as Uint8Array);
  };
}

const read = (bundle: string): Uint8Array => receiver.open(bundle, deployment.signerPublicKey);

/** Imports a phrase as the import frame writes it. */
async function importPhrase(text: string, accounts: AccountSpec[] = [ETHEREUM], owner = wallet) {
  const target = deployment.holder('target-1');
  const { sealedTarget, targetPublicKey } = await keyring.createImportTarget(target, 'user-1');
  const targets = [{ id: target.ownerId, sealed: sealedTarget }];
  return keyring.importWallet(owner, targets, encryptTo(targetPublicKey, fromText(text)), accounts);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'custos-local-'));
  keyring = await openRing();
  deployment = await deploy(keyring);
  wallet = deployment.holder('wallet-1');
  privateKey = deployment.holder('private-key-1');
  ({ sealedSeed } = await keyring.createWallet(wallet, 12, []));
  ({ sealedKey } = await keyring.createPrivateKey(privateKey, 'CURVE_SECP256K1', []));
});

afterAll(async () => {
  await keyring.close();
  await rm(folder, { recursive: true });
});

describe('wallets', () => {
  test('known entropy has the known addresses, public keys and private keys', async () => {
    await using known = await openRing(scripted(new Uint8Array(16)));
    const { accounts, sealedSeed: sealed } = await known.createWallet(wallet, 12, vectors);
    expect(accounts.map(({ address }) => address)).toEqual(vectors.map(({ address }) => address));
    expect(accounts.map((account) => account.publicKey)).toEqual(vectors.map(({ publicKeyHex }) => publicKeyHex));
    expect(accounts.map(({ path }) => path)).toEqual(vectors.map(({ path }) => path));
    expect(await keyring.deriveAccounts(wallet, sealed, vectors)).toEqual(accounts);
    expect(toText(read(await keyring.exportWallet(wallet, sealed, undefined, receiver.publicKey)))).toBe(ABANDON);
    for (const { curve, path, privateKeyHex } of vectors) {
      const bundle = await keyring.exportAccount(wallet, sealed, curve, path, receiver.publicKey);
      expect(toHex(read(bundle))).toBe(privateKeyHex);
    }
  });

  test.each([12, 15, 18, 21, 24] as const)('of %i words', async (words) => {
    const { sealedSeed: sealed, accounts } = await keyring.createWallet(wallet, words, [ETHEREUM]);
    const phrase = toText(read(await keyring.exportWallet(wallet, sealed, undefined, receiver.publicKey)));
    expect(phrase.split(' ')).toHaveLength(words);
    const key = deriveKey(await seedOf(phrase, ''), ETHEREUM.curve, ETHEREUM.path);
    expect(accounts[0]?.publicKey).toBe(toHex(publicKeyOf(ETHEREUM.curve, key)));
  });

  test('two wallets have nothing in common', async () => {
    const [first, second] = await Promise.all([1, 2].map(() => keyring.createWallet(wallet, 12, [ETHEREUM])));
    expect(first?.accounts[0]?.address).not.toBe(second?.accounts[0]?.address);
  });

  test('a path is told in its one spelling and by the path that is really used', async () => {
    const accounts: AccountSpec[] = [
      { curve: 'CURVE_ED25519', path: "m/44h/607'/0H/0/1", addressFormat: 'ADDRESS_FORMAT_TON_V4R2' },
      { curve: 'CURVE_ED25519', path: "m/44'/607'/0'/0'/1'", addressFormat: 'ADDRESS_FORMAT_TON_V4R2' },
      { curve: 'CURVE_SECP256K1', path: 'm/0h/1', addressFormat: 'ADDRESS_FORMAT_COMPRESSED' },
    ];
    const [loose, hardened, other] = await keyring.deriveAccounts(wallet, sealedSeed, accounts);
    expect([loose?.path, loose?.pathKey]).toEqual(["m/44'/607'/0'/0/1", "m/44'/607'/0'/0'/1'"]);
    expect([hardened?.path, hardened?.pathKey]).toEqual(["m/44'/607'/0'/0'/1'", "m/44'/607'/0'/0'/1'"]);
    expect(loose?.address).toBe(hardened?.address);
    expect([other?.path, other?.pathKey]).toEqual(["m/0'/1", "m/0'/1"]);
  });

  test('many accounts of all curves at once are those that come one by one', async () => {
    const specs = Array.from({ length: 200 }, (_, index): AccountSpec => {
      const curve = CURVES[index % 3] as Curve;
      return { curve, path: `m/${index % 7}'/${index}`, addressFormat: 'ADDRESS_FORMAT_COMPRESSED' };
    });
    const together = await keyring.deriveAccounts(wallet, sealedSeed, specs);
    await using fresh = await openRing();
    const alone = await Promise.all(specs.map((spec) => fresh.deriveAccounts(wallet, sealedSeed, [spec])));
    expect(alone.flat()).toEqual(together);
  });

  test.each([
    ['another number of words', () => keyring.createWallet(wallet, 13 as 12, [])],
    ['a path that is none', () => keyring.deriveAccounts(wallet, sealedSeed, [{ ...ETHEREUM, path: 'm' }])],
    [
      'a format of another curve',
      () => keyring.deriveAccounts(wallet, sealedSeed, [{ ...ETHEREUM, curve: 'CURVE_ED25519' }]),
    ],
    ['an unknown curve', () => keyring.createPrivateKey(wallet, 'toString' as Curve, [])],
    ['too many accounts', () => keyring.deriveAccounts(wallet, sealedSeed, new Array(10_001).fill(ETHEREUM))],
    ['a sparse list', () => keyring.deriveAccounts(wallet, sealedSeed, new Array(3))],
    ['an unknown language', () => keyring.exportWallet(wallet, sealedSeed, 'x' as never, receiver.publicKey)],
    ['a target off the curve', () => keyring.exportWallet(wallet, sealedSeed, undefined, new Uint8Array(65).fill(4))],
  ])('%s is refused', async (_name, call) => {
    expect(await codeOf(call())).toBe('INVALID_INPUT');
  });
});

describe('signatures', () => {
  const digests = Array.from({ length: 100 }, () => new Uint8Array(randomBytes(32)));
  const schemes: [Curve, SigningScheme][] = [
    ['CURVE_SECP256K1', 'ecdsa'],
    ['CURVE_SECP256K1', 'schnorr'],
    ['CURVE_SECP256K1', 'taproot'],
    ['CURVE_P256', 'ecdsa'],
    ['CURVE_ED25519', 'eddsa'],
  ];
  const verifiers: Record<string, (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array) => boolean> = {
    'CURVE_SECP256K1 ecdsa': (signature, message, key) =>
      secp256k1.verify(signature, message, key, { prehash: false, lowS: true }),
    'CURVE_SECP256K1 schnorr': (signature, message, key) => schnorr.verify(signature, message, key.subarray(1)),
    'CURVE_SECP256K1 taproot': (signature, message, key) =>
      schnorr.verify(signature, message, taprootPublicKey(key.subarray(1)).xOnly),
    'CURVE_P256 ecdsa': (signature, message, key) =>
      p256.verify(signature, message, key, { prehash: false, lowS: true }),
    'CURVE_ED25519 eddsa': (signature, message, key) => ed25519.verify(signature, message, key),
  };

  test.each(schemes)('%s with %s verify, from a wallet and from a private key, in order', async (curve, scheme) => {
    const path = "m/1'/2/3";
    const spec: AccountSpec = { curve, path, addressFormat: 'ADDRESS_FORMAT_COMPRESSED' };
    const [account] = await keyring.deriveAccounts(wallet, sealedSeed, [spec]);
    const made = await keyring.createPrivateKey(privateKey, curve, []);
    const keys: [Holder, SigningKey, string][] = [
      [wallet, { kind: 'wallet', sealed: sealedSeed, curve, path }, account?.publicKey ?? ''],
      [privateKey, { kind: 'private-key', sealed: made.sealedKey, curve }, made.publicKey],
    ];
    for (const [holder, key, publicKey] of keys) {
      const signatures = await keyring.sign(holder, key, scheme, digests);
      expect(signatures).toHaveLength(digests.length);
      for (const [index, signature] of signatures.entries()) {
        const digest = digests[index] as Uint8Array;
        const isGood = verifiers[`${curve} ${scheme}`]?.(joinSignature(signature), digest, fromHex(publicKey));
        expect(isGood).toBe(true);
        if (scheme === 'ecdsa') {
          const ecdsa = curve === 'CURVE_P256' ? p256 : secp256k1;
          const recovered = ecdsa.Signature.fromBytes(joinSignature(signature)).addRecoveryBit(signature.v);
          expect(recovered.recoverPublicKey(digest).toHex(true)).toBe(publicKey);
        } else expect(signature.v).toBe(0);
      }
    }
  });

  test('eddsa takes messages of any length, the others digests alone', async () => {
    const ed: SigningKey = { kind: 'wallet', sealed: sealedSeed, curve: 'CURVE_ED25519', path: 'm/0' };
    const messages = [new Uint8Array(0), new Uint8Array(1000).fill(7)];
    expect(await keyring.sign(wallet, ed, 'eddsa', messages)).toHaveLength(2);
    const key: SigningKey = { kind: 'wallet', sealed: sealedSeed, curve: 'CURVE_SECP256K1', path: 'm/0' };
    for (const scheme of ['ecdsa', 'schnorr', 'taproot'] as const) {
      for (const length of [0, 31, 33]) {
        expect(await codeOf(keyring.sign(wallet, key, scheme, [new Uint8Array(length)]))).toBe('INVALID_INPUT');
      }
    }
  });

  test('a curve has no schemes but its own, and a key no curve but its own', async () => {
    for (const curve of CURVES) {
      for (const scheme of ['ecdsa', 'eddsa', 'schnorr', 'taproot', 'constructor'] as SigningScheme[]) {
        const key: SigningKey = { kind: 'wallet', sealed: sealedSeed, curve, path: 'm/0' };
        const signed = keyring.sign(wallet, key, scheme, [digests[0] as Uint8Array]);
        if (schemes.some(([c, s]) => c === curve && s === scheme)) expect(await signed).toHaveLength(1);
        else expect(await codeOf(signed)).toBe('INVALID_INPUT');
      }
    }
    for (const [curve, scheme] of [
      ['CURVE_P256', 'ecdsa'],
      ['CURVE_ED25519', 'eddsa'],
    ] as const) {
      const key: SigningKey = { kind: 'private-key', sealed: sealedKey, curve };
      expect(await codeOf(keyring.sign(privateKey, key, scheme, [digests[0] as Uint8Array]))).toBe('INVALID_KEY');
    }
  });

  test('no payload and too many are refused', async () => {
    const key: SigningKey = { kind: 'private-key', sealed: sealedKey, curve: 'CURVE_SECP256K1' };
    expect(await codeOf(keyring.sign(privateKey, key, 'ecdsa', []))).toBe('INVALID_INPUT');
    expect(await codeOf(keyring.sign(privateKey, key, 'ecdsa', new Array(1001).fill(digests[0])))).toBe(
      'INVALID_INPUT',
    );
  });
});

describe('private keys', () => {
  test.each(CURVES)('of %s have all addresses of their curve', async (curve) => {
    const formats = formatsOf(curve);
    const made = await keyring.createPrivateKey(privateKey, curve, formats);
    expect(made.addresses).toHaveLength(formats.length);
    const exported = read(await keyring.exportPrivateKey(privateKey, made.sealedKey, receiver.publicKey));
    expect(toHex(publicKeyOf(curve, exported))).toBe(made.publicKey);
  });

  test('with known randomness are the known ones, and numbers out of range are passed over', async () => {
    const one = new Uint8Array(32);
    one[31] = 1;
    await using known = await openRing(scripted(new Uint8Array(32).fill(0xff), new Uint8Array(32), one));
    const made = await known.createPrivateKey(privateKey, 'CURVE_SECP256K1', ['ADDRESS_FORMAT_ETHEREUM']);
    expect(made.addresses).toEqual(['0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf']);
  });
});

describe('import and export', () => {
  const language = fc.constantFrom(...MNEMONIC_LANGUAGES);
  const entropy = fc
    .constantFrom(16, 20, 24, 28, 32)
    .chain((length) => fc.uint8Array({ minLength: length, maxLength: length }));
  const passphrase = fc.oneof(fc.constant(''), fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }));

  test('any mnemonic in any language with any passphrase comes back, with the accounts it has elsewhere', async () => {
    await fc.assert(
      fc.asyncProperty(entropy, language, passphrase, async (bytes, list, word) => {
        const phrase = toText(phraseOf(bytes, list));
        const text = word === '' ? phrase : `${phrase}\n--PASS--\n${word}`;
        const { targetId, sealedSeed: sealed, accounts } = await importPhrase(text);
        expect(targetId).toBe('target-1');
        const seed = await seedOfEntropy(bytes, list, word);
        const key = deriveKey(seed, ETHEREUM.curve, ETHEREUM.path);
        expect(accounts[0]?.publicKey).toBe(toHex(publicKeyOf(ETHEREUM.curve, key)));
        const exported = toText(read(await keyring.exportWallet(wallet, sealed, undefined, receiver.publicKey)));
        expect(exported).toBe(phrase.normalize('NFKD') + (word === '' ? '' : `\n${word}`));
      }),
      { numRuns: 40 },
    );
  });

  test('what was exported can be imported as it is', async () => {
    const first = await importPhrase(`${ABANDON}\n--PASS--\nTREZOR`);
    const exported = toText(read(await keyring.exportWallet(wallet, first.sealedSeed, undefined, receiver.publicKey)));
    expect(exported).toBe(`${ABANDON}\nTREZOR`);
    expect((await importPhrase(exported)).accounts).toEqual(first.accounts);
  });

  test('another language has the same entropy in other words', async () => {
    const { sealedSeed: sealed } = await importPhrase(ABANDON);
    for (const list of MNEMONIC_LANGUAGES) {
      const exported = toText(read(await keyring.exportWallet(wallet, sealed, list, receiver.publicKey)));
      expect(exported).toBe(toText(phraseOf(new Uint8Array(16), list)).normalize('NFKD'));
    }
  });

  test('a phrase on several lines is one phrase; two readings are refused', async () => {
    const long = toText(phraseOf(new Uint8Array(32).fill(0x7f), 'MNEMONIC_LANGUAGE_ENGLISH'));
    const words = long.split(' ');
    const broken = `${words.slice(0, 12).join(' ')}\n${words.slice(12).join(' ')}`;
    expect((await importPhrase(broken)).accounts).toEqual((await importPhrase(long)).accounts);
    const ambiguous = ambiguousPhrase();
    await expect(importPhrase(ambiguous)).rejects.toMatchObject({
      code: 'INVALID_MNEMONIC',
      message: expect.stringContaining('invalid mnemonic'),
    });
    // White space behind a phrase may be what an editor left there.
    await expect(importPhrase(`${ABANDON}\n `)).rejects.toMatchObject({ code: 'INVALID_MNEMONIC' });
    expect((await importPhrase(`${ABANDON}\n--PASS--\n `)).accounts).not.toEqual(
      (await importPhrase(ABANDON)).accounts,
    );
    const framed = ambiguous.replace('\n', '\n--PASS--\n');
    const key = deriveKey(await seedOf(ABANDON, framed.split('--PASS--\n')[1] ?? ''), ETHEREUM.curve, ETHEREUM.path);
    expect((await importPhrase(framed)).accounts[0]?.publicKey).toBe(toHex(publicKeyOf(ETHEREUM.curve, key)));
  });

  /** 24 words that begin with the bits of 12: the entropy of 16 zero bytes, then its checksum. */
  function ambiguousPhrase(): string {
    const bytes = new Uint8Array(32);
    bytes[16] = (createHash('sha256').update(bytes.subarray(0, 16)).digest()[0] as number) & 0xf0;
    const words = toText(phraseOf(bytes, 'MNEMONIC_LANGUAGE_ENGLISH')).split(' ');
    expect(words.slice(0, 12).join(' ')).toBe(ABANDON);
    return `${ABANDON}\n${words.slice(12).join(' ')}`;
  }

  test.each([
    ['a word of no list', `${'abandon '.repeat(11)}custos`, 'INVALID_MNEMONIC'],
    ['a wrong checksum', 'abandon '.repeat(12), 'INVALID_MNEMONIC'],
    ['eleven words', `${'abandon '.repeat(10)}about`, 'INVALID_MNEMONIC'],
    ['nothing', '', 'INVALID_MNEMONIC'],
    ['a very long text', 'abandon '.repeat(3000), 'INVALID_BUNDLE'],
  ])('%s is an invalid mnemonic', async (_name, text, code) => {
    await expect(importPhrase(text)).rejects.toMatchObject({
      code,
      message: expect.stringContaining('invalid mnemonic'),
    });
  });

  test.each(CURVES)('a private key of %s comes back', async (curve) => {
    const target = deployment.holder('target-2');
    for (let run = 0; run < 5; run += 1) {
      const key = new Uint8Array(randomBytes(32)).fill(1, 0, 1);
      const { sealedTarget, targetPublicKey } = await keyring.createImportTarget(target, 'user-1');
      const targets = [{ id: target.ownerId, sealed: sealedTarget }];
      const bundle = encryptTo(targetPublicKey, key);
      const formats = formatsOf(curve);
      const imported = await keyring.importPrivateKey(privateKey, targets, bundle, curve, formats);
      expect(imported.targetId).toBe('target-2');
      expect(imported.publicKey).toBe(toHex(publicKeyOf(curve, key)));
      const exported = await keyring.exportPrivateKey(privateKey, imported.sealedKey, receiver.publicKey);
      expect(read(exported)).toEqual(key);
    }
  });

  test('the import bundle is signed for the organization and the user', async () => {
    const made = await keyring.createImportTarget(deployment.holder('target-3'), 'user-7');
    expect(readSigned(made.importBundle, deployment.signerPublicKey)).toEqual({
      targetPublic: made.targetPublicKey,
      organizationId: ORGANIZATION,
      userId: 'user-7',
    });
    expect(made.targetPublicKey).toMatch(/^04[0-9a-f]{128}$/);
  });

  test('the right one of several targets is found; with none the bundle is invalid', async () => {
    const made = await Promise.all(
      ['a', 'b', 'c'].map(async (id) => ({ id, ...(await keyring.createImportTarget(deployment.holder(id), 'u')) })),
    );
    const targets = made.map(({ id, sealedTarget }) => ({ id, sealed: sealedTarget }));
    const bundle = encryptTo(made[1]?.targetPublicKey ?? '', fromText(ABANDON));
    expect((await keyring.importWallet(wallet, targets, bundle, [])).targetId).toBe('b');
    const others = targets.filter(({ id }) => id !== 'b');
    expect(await codeOf(keyring.importWallet(wallet, others, bundle, []))).toBe('INVALID_BUNDLE');
    expect(await codeOf(keyring.importWallet(wallet, [], bundle, []))).toBe('INVALID_BUNDLE');
    const exchanged = targets.map(({ id }, index) => ({ id, sealed: made[(index + 1) % 3]!.sealedTarget }));
    expect(await codeOf(keyring.importWallet(wallet, exchanged, bundle, []))).toBe('NOT_OPENED');
  });

  test('a bundle that holds the wrong thing is refused', async () => {
    const target = deployment.holder('target-4');
    const { sealedTarget, targetPublicKey } = await keyring.createImportTarget(target, 'u');
    const targets = [{ id: target.ownerId, sealed: sealedTarget }];
    const importKey = (plaintext: Uint8Array, curve: Curve = 'CURVE_SECP256K1'): Promise<unknown> =>
      keyring.importPrivateKey(privateKey, targets, encryptTo(targetPublicKey, plaintext), curve, []);
    expect(await codeOf(importKey(fromText(ABANDON)))).toBe('INVALID_BUNDLE');
    expect(await codeOf(importKey(new Uint8Array(31)))).toBe('INVALID_BUNDLE');
    expect(await codeOf(importKey(new Uint8Array(32)))).toBe('INVALID_KEY');
    expect(await codeOf(importKey(new Uint8Array(32).fill(255), 'CURVE_P256'))).toBe('INVALID_KEY');
    const asWallet = keyring.importWallet(
      wallet,
      targets,
      encryptTo(targetPublicKey, new Uint8Array(32).fill(255)),
      [],
    );
    expect(await codeOf(asWallet)).toBe('INVALID_BUNDLE');
    for (const text of ['', '{}', 'null', '[]', '{"encappedPublic":"04","ciphertext":""}']) {
      expect(await codeOf(keyring.importWallet(wallet, targets, text, []))).toBe('INVALID_BUNDLE');
    }
  });

  test('no flipped bit of a bundle is imported', async () => {
    const target = deployment.holder('target-5');
    const { sealedTarget, targetPublicKey } = await keyring.createImportTarget(target, 'u');
    const targets = [{ id: target.ownerId, sealed: sealedTarget }];
    const bundle = JSON.parse(encryptTo(targetPublicKey, fromText(ABANDON)));
    for (const member of ['encappedPublic', 'ciphertext']) {
      const bytes = fromHex(bundle[member]);
      for (let bit = 0; bit < bytes.length * 8; bit += 3) {
        const changed = JSON.stringify({ ...bundle, [member]: toHex(flipped(bytes, bit)) });
        expect(await codeOf(keyring.importWallet(wallet, targets, changed, []))).toBe('INVALID_BUNDLE');
      }
    }
  });
});

describe('secrets', () => {
  test('come back as they were, whatever they are', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 500 }), async (bytes) => {
        const [target] = await keyring.createSecretTargets(deployment.holder('batch-1'), 1);
        const secret = deployment.holder('secret-1');
        const sealed = await importSecret(
          keyring,
          secret,
          { id: 'batch-1', sealed: target!.sealedTarget },
          encryptTo(target!.targetPublicKey, bytes),
        );
        const { organizationKey, organizationId, ownerId } = secret;
        const wanted = { ownerId, sealedSecret: sealed, targetPublicKey: receiver.publicKey };
        const foreign = { ...wanted, ownerId: 'secret-2' };
        const exported = (...secrets: SecretToExport[]) =>
          keyring.exportSecrets(organizationKey, organizationId, secrets);
        expect((await exported(wanted, wanted)).map(read)).toEqual([bytes, bytes]);
        expect(await codeOf(exported(wanted, foreign))).toBe('NOT_OPENED');
      }),
      { numRuns: 20 },
    );
  });

  test('each have a target of their own, signed for the organization', async () => {
    const targets = await keyring.createSecretTargets(deployment.holder('batch-2'), 3);
    expect(new Set(targets.map(({ targetPublicKey }) => targetPublicKey)).size).toBe(3);
    for (const { targetBundle, targetPublicKey } of targets) {
      const document = { targetPublic: targetPublicKey, organizationId: ORGANIZATION };
      expect(readSigned(targetBundle, deployment.signerPublicKey)).toEqual(document);
    }
    const [first, second] = targets;
    const payload = encryptTo(first!.targetPublicKey, fromText('secret'));
    const other = { id: 'batch-2', sealed: second!.sealedTarget };
    expect(await codeOf(importSecret(keyring, deployment.holder('s'), other, payload))).toBe('INVALID_BUNDLE');
    for (const count of [0, -1, 1.5, 257, Number.NaN]) {
      expect(await codeOf(keyring.createSecretTargets(deployment.holder('b'), count))).toBe('INVALID_INPUT');
    }
  });

  test('a target of an import is no target of a secret, nor the other way', async () => {
    const holder = deployment.holder('same');
    const [secretTarget] = await keyring.createSecretTargets(holder, 1);
    const importTarget = await keyring.createImportTarget(holder, 'u');
    const toSecret = encryptTo(secretTarget!.targetPublicKey, fromText(ABANDON));
    const toImport = encryptTo(importTarget.targetPublicKey, fromText(ABANDON));
    const asImport = [{ id: 'same', sealed: secretTarget!.sealedTarget }];
    expect(await codeOf(keyring.importWallet(wallet, asImport, toSecret, []))).toBe('NOT_OPENED');
    const asSecret = { id: 'same', sealed: importTarget.sealedTarget };
    expect(await codeOf(importSecret(keyring, wallet, asSecret, toImport))).toBe('NOT_OPENED');
  });
});

describe('service keys', () => {
  test.each(SERVICE_ROLES)('%s is told in the spelling that clients want', async (role) => {
    const made = await keyring.createServiceKey(deployment.installationKey, role);
    const spellings: Partial<Record<ServiceRole, [string, RegExp]>> = {
      'on-ramp-secret': ['compressed', /^0[23][0-9a-f]{64}$/],
      'webhook-signer': ['raw', /^[0-9a-f]{64}$/],
    };
    const [encoding, form] = spellings[role] ?? ['uncompressed', /^04[0-9a-f]{128}$/];
    expect(made.encoding).toBe(encoding);
    expect(made.publicKey).toMatch(form);
    expect(made.keyId).toMatch(/^[0-9a-f]{32}$/);
  });

  test('are refused for another role, another id, or a second role', async () => {
    await using other = await openRing();
    const made = await keyring.createServiceKey(deployment.installationKey, 'otp');
    const load = (change: object): Promise<void> =>
      other.loadServiceKeys(deployment.installationKey, [{ ...made, role: 'otp', ...change }]);
    await load({});
    expect(await codeOf(load({ role: 'bundle-signer' }))).toBe('INVALID_KEY');
    expect(await codeOf(load({ keyId: '00'.repeat(16) }))).toBe('NOT_OPENED');
    expect(await codeOf(load({ role: 'toString' }))).toBe('INVALID_INPUT');
    const key = new Uint8Array(32).fill(7);
    const refused = expect.objectContaining({ code: 'INVALID_KEY' });
    const twice = (role: 'otp' | 'session-signer') => () =>
      new ServiceKeys().load([
        { role: 'otp', keyId: 'one', key },
        { role, keyId: 'two', key },
      ]);
    expect(twice('session-signer')).toThrow(refused);
    expect(twice('otp')).not.toThrow();
  });

  test('what needs the bundle signer is unavailable without it', async () => {
    await using bare = await openRing();
    expect(await codeOf(bare.exportWallet(wallet, sealedSeed, undefined, receiver.publicKey))).toBe('UNAVAILABLE');
    expect(await codeOf(bare.createImportTarget(wallet, 'u'))).toBe('UNAVAILABLE');
    await bare.loadServiceKeys(deployment.installationKey, deployment.keys);
    await bare.createImportTarget(wallet, 'u');
    await bare.loadServiceKeys(deployment.installationKey, []);
    expect(await codeOf(bare.createImportTarget(wallet, 'u'))).toBe('UNAVAILABLE');
  });

  test('the key of another organization does not open them', async () => {
    const { organizationKey } = deployment.holder('x');
    expect(await codeOf(keyring.createServiceKey(organizationKey, 'otp'))).toBe('NOT_OPENED');
    expect(await codeOf(keyring.loadServiceKeys(organizationKey, deployment.keys))).toBe('NOT_OPENED');
    expect(INSTALLATION_ID).toBe('deployment');
  });
});

describe('app proofs', () => {
  test('are signed by a pair of this keyring alone', async () => {
    const payload = JSON.stringify({ type: 'APP_PROOF_TYPE_ADDRESS_DERIVATION', timestampMs: '1' });
    const [one, two] = [await keyring.signAppProof(payload), await keyring.signAppProof('é')];
    expect(one.publicKey).toBe(two.publicKey);
    expect(one.publicKey).toMatch(/^04[0-9a-f]{128}04[0-9a-f]{128}$/);
    for (const proof of [one, two]) {
      const key = fromHex(proof.publicKey.slice(130));
      expect(p256.verify(fromHex(proof.signature), fromText(proof.proofPayload), key, { lowS: false })).toBe(true);
      expect(proof.scheme).toBe('SIGNATURE_SCHEME_EPHEMERAL_KEY_P256');
    }
    await using other = await openRing();
    expect((await other.signAppProof(payload)).publicKey).not.toBe(one.publicKey);
    expect(await codeOf(keyring.signAppProof('\ud800'))).toBe('INVALID_INPUT');
  });
});

describe('bindings', () => {
  const KINDS = Object.values(KIND);

  test('key material is neither opened nor sealed for callers, whatever kind they name', async () => {
    const { organizationKey } = wallet;
    const blobs: [string, Uint8Array][] = [
      ['wallet-1', sealedSeed],
      ['private-key-1', sealedKey],
      ['t', (await keyring.createImportTarget(deployment.holder('t'), 'u')).sealedTarget],
    ];
    const callerKinds = [
      ...['activity-body', 'activity-parameters', 'activity-result'],
      ...['vote-message', 'outbox-message', 'dev-message'],
    ];
    expect(KINDS.filter((kind) => CALLER_KINDS.has(kind))).toEqual([]);
    expect([...CALLER_KINDS]).toEqual(callerKinds);
    for (const [ownerId, blob] of blobs) {
      for (const kind of [...KINDS, 'seed', 'wallet-seed\0', 'Wallet-seed', '__proto__', 'constructor']) {
        const binding = { organizationId: ORGANIZATION, ownerId, kind };
        expect(await codeOf(keyring.open(organizationKey, binding, blob))).toBe('INVALID_INPUT');
        expect(await codeOf(keyring.seal(organizationKey, binding, new Uint8Array(5)))).toBe('INVALID_INPUT');
      }
      for (const kind of callerKinds) {
        const binding = { organizationId: ORGANIZATION, ownerId, kind };
        expect(await codeOf(keyring.open(organizationKey, binding, blob))).toBe('NOT_OPENED');
      }
    }
  });

  test('no blob opens as another kind of key material, nor as what a caller sealed', async () => {
    const holder = deployment.holder('one-owner');
    const { sealedSeed: seed } = await keyring.createWallet(holder, 12, []);
    const { sealedKey: key } = await keyring.createPrivateKey(holder, 'CURVE_P256', []);
    const target = await keyring.createImportTarget(holder, 'u');
    const [secretTarget] = await keyring.createSecretTargets(holder, 1);
    const payload = encryptTo(secretTarget!.targetPublicKey, new Uint8Array(34).fill(1));
    const secret = await importSecret(
      keyring,
      holder,
      { id: 'one-owner', sealed: secretTarget!.sealedTarget },
      payload,
    );
    const binding = { organizationId: ORGANIZATION, ownerId: 'one-owner', kind: 'vote-message' };
    const forged = await keyring.seal(
      holder.organizationKey,
      binding,
      Uint8Array.of(1, 3, ...new Uint8Array(32).fill(1)),
    );
    const { sealedOtp: otp } = await keyring.createOtp(holder, '123456');
    const box = sealBox(fromHex(deployment.publicKeys['oauth-secret']), fromText('client secret'));
    const oauthSecret = await keyring.importOauthSecret(holder, box);
    const seed64 = new Uint8Array(32).fill(7);
    const onRampKey = Buffer.concat([seed64, ed25519PublicKey(seed64)]).toString('base64');
    const sealedText = sealText(fromHex(deployment.publicKeys['on-ramp-secret']), fromText(onRampKey));
    const onRampSecret = await keyring.importOnRampSecret(holder, sealedText);
    const call = { keyId: 'k', method: 'POST', host: 'a.test', path: '/onramp/v1/token', nowMs: 0 } as const;
    const blobs = {
      seed,
      key,
      target: target.sealedTarget,
      secretTarget: secretTarget!.sealedTarget,
      secret,
      otp,
      oauthSecret,
      onRampSecret,
      forged,
    };
    const bundle = encryptTo(target.targetPublicKey, fromText(ABANDON));
    const kitOf = (contents: Partial<RecoveryKitContents>) =>
      keyring.exportRecoveryKit(holder.organizationKey, holder.organizationId, { ...EMPTY_KIT, ...contents }, [
        RECIPIENT,
      ]);
    const uses: [keyof typeof blobs, (blob: Uint8Array) => Promise<unknown>][] = [
      ['seed', (blob) => keyring.deriveAccounts(holder, blob, [ETHEREUM])],
      ['seed', (blob) => keyring.deriveAccounts(holder, blob, [])],
      ['seed', (blob) => keyring.exportWallet(holder, blob, undefined, receiver.publicKey)],
      ['seed', (blob) => keyring.exportAccount(holder, blob, 'CURVE_P256', 'm/0', receiver.publicKey)],
      ['key', (blob) => keyring.exportPrivateKey(holder, blob, receiver.publicKey)],
      [
        'key',
        (blob) =>
          keyring.sign(holder, { kind: 'private-key', sealed: blob, curve: 'CURVE_P256' }, 'ecdsa', [
            new Uint8Array(32),
          ]),
      ],
      ['target', (blob) => keyring.importWallet(holder, [{ id: 'one-owner', sealed: blob }], bundle, [])],
      ['secretTarget', (blob) => importSecret(keyring, holder, { id: 'one-owner', sealed: blob }, payload)],
      [
        'secret',
        (blob) =>
          keyring.exportSecrets(holder.organizationKey, holder.organizationId, [
            { ownerId: holder.ownerId, sealedSecret: blob, targetPublicKey: receiver.publicKey },
          ]),
      ],
      ['seed', (blob) => kitOf({ wallets: [{ walletId: holder.ownerId, name: '', sealedSeed: blob, accounts: [] }] })],
      [
        'key',
        (blob) => kitOf({ privateKeys: [{ privateKeyId: holder.ownerId, name: '', sealedKey: blob, addresses: [] }] }),
      ],
      ['otp', (blob) => keyring.checkOtp(holder, blob, { code: '123456' })],
      ['otp', (blob) => keyring.checkOtp(holder, blob, { encryptedBundle: bundle })],
      ['oauthSecret', (blob) => keyring.lendOauthSecret(holder, blob)],
      ['onRampSecret', (blob) => keyring.signMoonpayQuery(holder, blob, '?a=b')],
      ['onRampSecret', (blob) => keyring.signCoinbaseToken(holder, blob, call)],
    ];
    for (const [own, use] of uses) {
      for (const name of Object.keys(blobs) as (keyof typeof blobs)[]) {
        if (name === own) await use(blobs[name]);
        else expect(await codeOf(use(blobs[name]))).toBe('NOT_OPENED');
      }
    }
  });

  test('another organization, owner or key opens nothing, also while the right one is cached', async () => {
    await keyring.deriveAccounts(wallet, sealedSeed, [ETHEREUM]);
    const foreignKey = await keyring.createOrganizationKey('organization-2');
    const sameKey = await keyring.createOrganizationKey(ORGANIZATION);
    const holders: Holder[] = [
      { ...wallet, ownerId: 'wallet-2' },
      { ...wallet, organizationId: 'organization-2' },
      { ...wallet, organizationKey: foreignKey },
      { ...wallet, organizationKey: foreignKey, organizationId: 'organization-2' },
      { ...wallet, organizationKey: sameKey },
    ];
    for (const holder of holders) {
      expect(await codeOf(keyring.deriveAccounts(holder, sealedSeed, [ETHEREUM]))).toBe('NOT_OPENED');
      const key: SigningKey = { kind: 'wallet', sealed: sealedSeed, curve: ETHEREUM.curve, path: ETHEREUM.path };
      expect(await codeOf(keyring.sign(holder, key, 'ecdsa', [new Uint8Array(32)]))).toBe('NOT_OPENED');
    }
  });

  test('every flipped bit of a sealed seed and of a sealed key is noticed', async () => {
    await keyring.deriveAccounts(wallet, sealedSeed, [ETHEREUM]);
    for (let bit = 0; bit < sealedSeed.length * 8; bit += 1) {
      expect(await codeOf(keyring.deriveAccounts(wallet, flipped(sealedSeed, bit), [ETHEREUM]))).toBe('NOT_OPENED');
    }
    for (let bit = 0; bit < sealedKey.length * 8; bit += 1) {
      const key: SigningKey = { kind: 'private-key', sealed: flipped(sealedKey, bit), curve: 'CURVE_SECP256K1' };
      expect(await codeOf(keyring.sign(privateKey, key, 'ecdsa', [new Uint8Array(32)]))).toBe('NOT_OPENED');
    }
  });

  test('every changed character of a holder is noticed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('organizationId' as const, 'ownerId' as const),
        fc.nat(),
        fc.integer({ min: 0, max: 6 }),
        async (name, position, bit) => {
          const bytes = Buffer.from(wallet[name]);
          const changed = Buffer.from(flipped(bytes, (position % bytes.length) * 8 + bit)).toString('latin1');
          const holder = { ...wallet, [name]: changed };
          expect(await codeOf(keyring.deriveAccounts(holder, sealedSeed, [ETHEREUM]))).toBe('NOT_OPENED');
        },
      ),
    );
  });

  test('whatever is given in place of the arguments, the refusal is a KeyringError', async () => {
    // Its own: what is given by chance may be a call that takes the service keys away.
    await using ring = await openRing();
    const methods = [
      'rewrapOrganizationKey',
      'removeRootKey',
      'createWallet',
      'deriveAccounts',
      'createPrivateKey',
      'sign',
      'exportWallet',
      'exportAccount',
      'exportPrivateKey',
      'createImportTarget',
      'importWallet',
      'importPrivateKey',
      'createSecretTargets',
      'importSecrets',
      'exportSecrets',
      'exportRecoveryKit',
      'createOtp',
      'checkOtp',
      'createCredential',
      'signSession',
      'signVerificationToken',
      'signIdToken',
      'signWebhooks',
      'importOauthSecret',
      'lendOauthSecret',
      'importOnRampSecret',
      'signMoonpayQuery',
      'signCoinbaseToken',
      'createServiceKey',
      'loadServiceKeys',
      'createIntegrityKey',
      'lendIntegrityKey',
      'requireIntegrity',
      'integrityRequired',
    ] as const;
    const anything = fc.oneof(
      fc.anything({ withTypedArray: true, withNullPrototype: true, withSparseArray: true }),
      fc.constantFrom<unknown>(wallet, sealedSeed, [], 12, 'CURVE_P256', ETHEREUM, [ETHEREUM], { kind: 'wallet' }),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...methods), fc.array(anything, { maxLength: 6 }), async (method, args) => {
        const call = ring[method] as (...args: unknown[]) => Promise<unknown>;
        const error = await call.apply(ring, args).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        if (error !== undefined) expect(error).toBeInstanceOf(KeyringError);
      }),
      { numRuns: 1500 },
    );
  });
});

describe('cached nodes', () => {
  test('a wallet that was used is not stretched again, and close wipes its nodes', async () => {
    const local = await openRing();
    const put = vi.spyOn(NodeCache.prototype, 'putMaster');
    try {
      const { sealedSeed: sealed } = await local.createWallet(wallet, 12, [ETHEREUM]);
      const key: SigningKey = { kind: 'wallet', sealed, curve: ETHEREUM.curve, path: ETHEREUM.path };
      for (let run = 0; run < 3; run += 1) await local.sign(wallet, key, 'ecdsa', [new Uint8Array(32)]);
      await local.deriveAccounts(wallet, sealed, [{ ...ETHEREUM, path: "m/44'/60'/7'/0/0" }]);
      expect(put).toHaveBeenCalledTimes(1);
      await local.deriveAccounts(wallet, sealed, [
        { ...ETHEREUM, curve: 'CURVE_P256', addressFormat: 'ADDRESS_FORMAT_COMPRESSED' },
      ]);
      expect(put.mock.calls.map(([, curve]) => curve)).toEqual(['CURVE_SECP256K1', 'CURVE_P256']);
      const nodes = put.mock.calls.map(([, , node]) => node as KeyNode);
      for (const node of nodes) expect(node.privateKey().some((byte) => byte !== 0)).toBe(true);
      await local.close();
      for (const node of nodes) expect(() => node.privateKey()).toThrow('wiped');
      expect(await codeOf(local.sign(wallet, key, 'ecdsa', [new Uint8Array(32)]))).toBe('INVALID_INPUT');
    } finally {
      put.mockRestore();
    }
  });

  test('calls that need the same wallet at once stretch it once', async () => {
    await using local = await openRing();
    const put = vi.spyOn(NodeCache.prototype, 'putMaster');
    try {
      const key: SigningKey = { kind: 'wallet', sealed: sealedSeed, curve: ETHEREUM.curve, path: ETHEREUM.path };
      await Promise.all(Array.from({ length: 20 }, () => local.sign(wallet, key, 'ecdsa', [new Uint8Array(32)])));
      expect(put).toHaveBeenCalledTimes(1);
    } finally {
      put.mockRestore();
    }
  });

  test('more wallets than the cache holds are all derived rightly', async () => {
    await using local = await openRing();
    const specs = Array.from({ length: 1300 }, (_, index): AccountSpec => ({ ...ETHEREUM, path: `m/${index}/0` }));
    const accounts = await local.deriveAccounts(wallet, sealedSeed, specs);
    const last = await local.deriveAccounts(wallet, sealedSeed, specs.slice(0, 1));
    expect(last[0]).toEqual(accounts[0]);
    expect(new Set(accounts.map(({ address }) => address)).size).toBe(1300);
  });

  test('closing in the middle of a derivation leaves no node behind', async () => {
    const local = await openRing();
    const put = vi.spyOn(NodeCache.prototype, 'putMaster');
    try {
      const running = local.deriveAccounts(wallet, sealedSeed, [ETHEREUM]);
      await local.close();
      expect(await codeOf(running)).toBe('INVALID_INPUT');
      expect(put).not.toHaveBeenCalled();
    } finally {
      put.mockRestore();
    }
  });

  test('what was lent is wiped: entropy, seed, keys', async () => {
    const lent: Uint8Array[] = [];
    const use = Secret.prototype.use;
    const spy = vi.spyOn(Secret.prototype, 'use').mockImplementation(function (this: Secret, fn) {
      return use.call(this, (bytes) => {
        lent.push(bytes);
        return fn(bytes);
      }) as ReturnType<typeof fn>;
    });
    try {
      const made = await keyring.createWallet(wallet, 24, [ETHEREUM]);
      await keyring.exportWallet(wallet, made.sealedSeed, undefined, receiver.publicKey);
      await keyring.createPrivateKey(privateKey, 'CURVE_ED25519', []);
      await importPhrase(ABANDON);
    } finally {
      spy.mockRestore();
    }
    expect(lent.length).toBeGreaterThan(10);
    // Work of other calls that still runs is lent bytes too; it wipes them when it ends.
    await vi.waitFor(() => expect(lent.filter((bytes) => bytes.some((byte) => byte !== 0))).toEqual([]));
  });
});
