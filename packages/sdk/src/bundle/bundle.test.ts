import { createECDH, createPrivateKey, sign } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AddressFormat, type Curve, createKeyring, type Keyring } from '../../../keyring/src/index.ts';
import { codeOf, type Deployment, deploy, importSecret, ORGANIZATION } from '../../../keyring/test/fixtures/client.ts';
import { labelled } from '../../../keyring/test/fixtures/labels.ts';
import { type Bytes, fromHex, toHex } from '../bytes.ts';
import { BundleError } from '../errors.ts';
import { readAgreement } from './agreement.ts';
import { open, seal } from './hpke.ts';
import { type OpenBundleOptions, openKeyBundle, openSecretBundle, openWalletBundle } from './open.ts';
import { type SealMnemonicOptions, sealMnemonic, sealPrivateKey, sealSecret } from './seal.ts';
import { generateTargetKey, type TargetKey } from './target-key.ts';

const USER = '00000000-0000-4000-8000-000000000002';
const MNEMONIC = `${'abandon '.repeat(11)}about`;
const ETHEREUM = {
  curve: 'CURVE_SECP256K1',
  path: "m/44'/60'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
} as const;
/** Of MNEMONIC at that path, in every other wallet. */
const ADDRESS = '0x9858EfFD232B4033E47d90003D41EC34EcaEda94';

const refusal = (check: string) => expect.objectContaining({ name: 'BundleError', code: 'BUNDLE_INVALID', check });
const checkOf = async (promise: Promise<unknown>): Promise<string> => {
  const outcome = await promise.then(
    () => 'no refusal',
    (error: unknown) => error,
  );
  if (outcome instanceof BundleError && outcome.code === 'BUNDLE_INVALID') return outcome.check;
  throw new Error(`expected a BundleError, not: ${String(outcome)}`);
};

let folder: string;
let keyring: Keyring;
let deployment: Deployment;
let target: TargetKey;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'custos-sdk-'));
  keyring = await createKeyring({
    rootKey: `file:${join(folder, 'ring')}`,
    create: true,
    exportLimits: { perOrganization: 0, inAll: 0 },
  });
  deployment = await deploy(keyring);
  target = await generateTargetKey();
});

afterAll(async () => {
  await keyring.close();
  rmSync(folder, { recursive: true });
});

const trust = () => ({ organizationId: ORGANIZATION, bundleSigner: deployment.signerPublicKey });
const targetPoint = () => fromHex(target.publicKey) as Bytes;
const opening = (exportBundle: string): OpenBundleOptions => ({
  exportBundle,
  targetPrivateKey: target.privateKey,
  ...trust(),
});

let imports = 0;

/**
 * A one-time key of the keyring: what `init_import_wallet` and `init_import_private_key` answer, and what they store.
 */
async function newImport() {
  imports += 1;
  const id = `target-${imports}`;
  const { importBundle, sealedTarget } = await keyring.createImportTarget(deployment.holder(id), USER);
  return { importing: { importBundle, userId: USER, ...trust() }, targets: [{ id, sealed: sealedTarget }] };
}

async function importMnemonic(mnemonic: string, passphrase?: string) {
  const { importing, targets } = await newImport();
  const encryptedBundle = await sealMnemonic({
    ...importing,
    mnemonic,
    ...(passphrase !== undefined && { passphrase }),
  });
  return await keyring.importWallet(deployment.holder('wallet'), targets, encryptedBundle, [ETHEREUM]);
}

async function exportMnemonic(sealedSeed: Uint8Array) {
  return await keyring.exportWallet(deployment.holder('wallet'), sealedSeed, undefined, targetPoint());
}

async function importKey(privateKey: Uint8Array, curve: Curve, formats: readonly AddressFormat[]) {
  const { importing, targets } = await newImport();
  const encryptedBundle = await sealPrivateKey({ ...importing, privateKey });
  return await keyring.importPrivateKey(deployment.holder('key'), targets, encryptedBundle, curve, formats);
}

describe('with the keyring', () => {
  test('a mnemonic goes in, with the addresses of other wallets, and comes out', async () => {
    const { accounts, sealedSeed } = await importMnemonic(`  ${MNEMONIC.replaceAll(' ', ' \n')} `);
    expect(accounts.map(({ address }) => address)).toEqual([ADDRESS]);
    const opened = await openWalletBundle(opening(await exportMnemonic(sealedSeed)));
    expect(opened).toEqual({ mnemonic: MNEMONIC, passphrase: '' });
  });

  test('any passphrase goes in and comes out', async () => {
    const passphrase = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 40 }),
      fc.constantFrom(
        '',
        ' ',
        '\n',
        'a\nb',
        '\n--PASS--\n',
        'a\n--PASS--\nb',
        'e\u0301',
        '\u00e9',
        '\u3000',
        '\ufeffx',
      ),
    );
    await fc.assert(
      fc.asyncProperty(passphrase, async (given) => {
        const { sealedSeed } = await importMnemonic(MNEMONIC, given);
        const opened = await openWalletBundle(opening(await exportMnemonic(sealedSeed)));
        expect(opened).toEqual({ mnemonic: MNEMONIC, passphrase: given });
      }),
      { numRuns: 40 },
    );
  });

  test('a wallet that the keyring made has the same addresses when it is imported again', async () => {
    for (const words of [12, 15, 18, 21, 24] as const) {
      const made = await keyring.createWallet(deployment.holder('wallet'), words, [ETHEREUM]);
      const { mnemonic } = await openWalletBundle(opening(await exportMnemonic(made.sealedSeed)));
      expect(mnemonic.split(' ')).toHaveLength(words);
      expect((await importMnemonic(mnemonic)).accounts).toEqual(made.accounts);
    }
  });

  test('words that are not ASCII keep their letters', async () => {
    const { sealedSeed } = await importMnemonic(MNEMONIC);
    const languages = [
      'MNEMONIC_LANGUAGE_JAPANESE',
      'MNEMONIC_LANGUAGE_KOREAN',
      'MNEMONIC_LANGUAGE_SPANISH',
      'MNEMONIC_LANGUAGE_FRENCH',
    ] as const;
    for (const language of languages) {
      const bundle = await keyring.exportWallet(deployment.holder('wallet'), sealedSeed, language, targetPoint());
      const { mnemonic } = await openWalletBundle(opening(bundle));
      const again = await importMnemonic(mnemonic.normalize('NFC').replaceAll(' ', '\u3000'));
      expect(await openWalletBundle(opening(await exportMnemonic(again.sealedSeed)))).toMatchObject({ mnemonic });
    }
  });

  test('keys of every curve go in and come out, and an account comes out', async () => {
    for (const curve of ['CURVE_SECP256K1', 'CURVE_P256', 'CURVE_ED25519'] as const) {
      const privateKey = labelled(`key of ${curve}`);
      const { sealedKey } = await importKey(privateKey, curve, []);
      const bundle = await keyring.exportPrivateKey(deployment.holder('key'), sealedKey, targetPoint());
      expect(toHex(await openKeyBundle(opening(bundle)))).toBe(toHex(privateKey));
    }
    const { sealedSeed } = await importMnemonic(MNEMONIC);
    const { curve, path, addressFormat } = ETHEREUM;
    const bundle = await keyring.exportAccount(deployment.holder('wallet'), sealedSeed, curve, path, targetPoint());
    const again = await importKey(await openKeyBundle(opening(bundle)), curve, [addressFormat]);
    expect(again.addresses).toEqual([ADDRESS]);
  });

  test('secrets go in and come out, as bytes and as text', async () => {
    for (const secret of [Uint8Array.of(0, 255, 10), 'passw\u00f6rd \u2713', new Uint8Array(64 * 1024).fill(7)]) {
      const [made] = await keyring.createSecretTargets(deployment.holder('batch'), 1);
      const { targetBundle, sealedTarget, targetPublicKey } = made!;
      const sealed = await sealSecret({ targetMessage: targetBundle, secret, ...trust() });
      expect(sealed).toMatchObject({
        targetPublicKey,
        encryptionSuite: 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1',
      });
      const holder = deployment.holder('secret');
      const stored = await importSecret(keyring, holder, { id: 'batch', sealed: sealedTarget }, sealed.secretPayload);
      const [exported = ''] = await keyring.exportSecrets(holder.organizationKey, holder.organizationId, [
        { ownerId: holder.ownerId, sealedSecret: stored, targetPublicKey: targetPoint() },
      ]);
      const opened = await openSecretBundle(opening(exported));
      expect(Buffer.from(opened).equals(Buffer.from(secret))).toBe(true);
    }
  });

  test('what was sealed to one target does not open with another', async () => {
    const { importing } = await newImport();
    const { targets } = await newImport();
    const encryptedBundle = await sealMnemonic({ ...importing, mnemonic: MNEMONIC });
    const outcome = keyring.importWallet(deployment.holder('wallet'), targets, encryptedBundle, []);
    expect(await codeOf(outcome)).toBe('INVALID_BUNDLE');
  });
});

describe('what the caller gives', () => {
  test('may be wiped as soon as the call is made, and is not changed by it', async () => {
    const { importing, targets } = await newImport();
    const privateKey = labelled('key of CURVE_P256');
    const given = Uint8Array.from(privateKey);
    const pending = sealPrivateKey({ ...importing, privateKey: given });
    given.fill(0);
    const encryptedBundle = await pending;
    const imported = await keyring.importPrivateKey(
      deployment.holder('key'),
      targets,
      encryptedBundle,
      'CURVE_P256',
      [],
    );
    const bundle = await keyring.exportPrivateKey(deployment.holder('key'), imported.sealedKey, targetPoint());
    expect(toHex(await openKeyBundle(opening(bundle)))).toBe(toHex(privateKey));

    const kept = Uint8Array.from(privateKey);
    await sealPrivateKey({ ...importing, privateKey: kept });
    expect(kept).toEqual(privateKey);
  });

  test('is refused before anything is sealed when it cannot be right', async () => {
    const { importing } = await newImport();
    const invalid = { code: 'INVALID_OPTION' };
    for (const mnemonic of ['', ' ', 'abandon', `${MNEMONIC} about`, `${MNEMONIC}\npassphrase`]) {
      await expect(sealMnemonic({ ...importing, mnemonic })).rejects.toMatchObject(invalid);
    }
    const halved = '\ud83d';
    await expect(sealMnemonic({ ...importing, mnemonic: MNEMONIC, passphrase: halved })).rejects.toMatchObject(invalid);
    const targetMessage = importing.importBundle;
    await expect(sealSecret({ ...trust(), targetMessage, secret: halved })).rejects.toMatchObject(invalid);
    for (const length of [0, 31, 33, 64]) {
      const privateKey = new Uint8Array(length).fill(1);
      await expect(sealPrivateKey({ ...importing, privateKey })).rejects.toMatchObject(invalid);
    }
  });

  test('is never taken from the bundle: without a signer and ids nothing is sealed or opened', async () => {
    const { importing } = await newImport();
    const without = (member: keyof SealMnemonicOptions) =>
      sealMnemonic({ ...importing, mnemonic: MNEMONIC, [member]: undefined });
    await expect(without('bundleSigner')).rejects.toMatchObject({ code: 'INVALID_KEY' });
    await expect(without('organizationId')).rejects.toMatchObject({ code: 'INVALID_OPTION' });
    await expect(without('userId')).rejects.toMatchObject({ code: 'INVALID_OPTION' });
    const { sealedSeed } = await importMnemonic(MNEMONIC);
    const options = opening(await exportMnemonic(sealedSeed));
    const point = deployment.signerPublicKey;
    for (const bundleSigner of [
      undefined as unknown as string,
      '',
      `02${point.slice(2, 66)}`,
      point.toUpperCase(),
      `0x${point}`,
      `${point.slice(0, -64)}${'11'.repeat(32)}`,
    ]) {
      await expect(openWalletBundle({ ...options, bundleSigner })).rejects.toMatchObject({ code: 'INVALID_KEY' });
    }
    await expect(openWalletBundle({ ...options, targetPrivateKey: '00' })).rejects.toMatchObject({
      code: 'INVALID_KEY',
    });
  });
});

describe('bundles that are refused', () => {
  test('an export with any flipped bit', async () => {
    const { sealedSeed } = await importMnemonic(MNEMONIC);
    const bundle = await exportMnemonic(sealedSeed);
    expect(await openWalletBundle(opening(bundle))).toMatchObject({ mnemonic: MNEMONIC });
    const text = Buffer.from(bundle, 'latin1');
    const seen = new Set<string>();
    for (let bit = 0; bit < text.length * 8; bit += 1) {
      const changed = Buffer.from(text);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      seen.add(await checkOf(openWalletBundle(opening(changed.toString('latin1')))));
    }
    expect([...seen].sort()).toEqual(['form', 'signature', 'signer', 'version']);
  });

  test('an import with any flipped bit', async () => {
    const { importing } = await newImport();
    const text = Buffer.from(importing.importBundle, 'latin1');
    for (let bit = 0; bit < text.length * 8; bit += 1) {
      const changed = Buffer.from(text);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      const importBundle = changed.toString('latin1');
      await checkOf(sealMnemonic({ ...importing, importBundle, mnemonic: MNEMONIC }));
    }
  });

  test('those of another signer, organization, user or receiver', async () => {
    const { importing } = await newImport();
    const other = (await generateTargetKey()).publicKey;
    const mnemonic = MNEMONIC;
    expect(await checkOf(sealMnemonic({ ...importing, mnemonic, bundleSigner: other }))).toBe('signer');
    // While the service replaces its key there are two, and the bundle may be by either.
    for (const bundleSigner of [
      [other, importing.bundleSigner],
      [importing.bundleSigner, other],
    ])
      await sealMnemonic({ ...importing, mnemonic, bundleSigner });
    for (const bundleSigner of [[], [other]])
      expect(await checkOf(sealMnemonic({ ...importing, mnemonic, bundleSigner }))).toBe('signer');
    expect(await checkOf(sealMnemonic({ ...importing, mnemonic, organizationId: 'organization-2' }))).toBe(
      'organization',
    );
    expect(await checkOf(sealMnemonic({ ...importing, mnemonic, userId: ORGANIZATION }))).toBe('user');
    const privateKey = labelled('any');
    expect(await checkOf(sealPrivateKey({ ...importing, privateKey, bundleSigner: other }))).toBe('signer');
    expect(await checkOf(sealPrivateKey({ ...importing, privateKey, organizationId: 'o' }))).toBe('organization');
    expect(await checkOf(sealPrivateKey({ ...importing, privateKey, userId: 'u' }))).toBe('user');

    const [made] = await keyring.createSecretTargets(deployment.holder('batch'), 1);
    const secret = { ...trust(), targetMessage: made!.targetBundle, secret: 'x' };
    expect(await checkOf(sealSecret({ ...secret, bundleSigner: other }))).toBe('signer');
    expect(await checkOf(sealSecret({ ...secret, organizationId: 'o' }))).toBe('organization');
    // A target of secrets names no user, and so is none for a mnemonic.
    expect(await checkOf(sealMnemonic({ ...importing, mnemonic, importBundle: made!.targetBundle }))).toBe('user');

    const { sealedSeed } = await importMnemonic(MNEMONIC);
    const options = opening(await exportMnemonic(sealedSeed));
    for (const openBundle of [openWalletBundle, openKeyBundle, openSecretBundle]) {
      expect(await checkOf(openBundle({ ...options, bundleSigner: other }))).toBe('signer');
      expect(await checkOf(openBundle({ ...options, organizationId: 'organization-2' }))).toBe('organization');
      const { privateKey: targetPrivateKey } = await generateTargetKey();
      expect(await checkOf(openBundle({ ...options, targetPrivateKey }))).toBe('decryption');
    }
  });

  test('one that names our signer and is signed by another', async () => {
    const { importing } = await newImport();
    const forged = signedBy('forger', { targetPublic: target.publicKey, organizationId: ORGANIZATION, userId: USER });
    const importBundle = JSON.stringify({ ...forged.envelope, enclaveQuorumPublic: importing.bundleSigner });
    expect(await checkOf(sealMnemonic({ ...importing, importBundle, mnemonic: MNEMONIC }))).toBe('signature');
  });

  test('a bundle of one kind in the place of another', async () => {
    const { importing } = await newImport();
    const { sealedSeed } = await importMnemonic(MNEMONIC);
    const exported = await exportMnemonic(sealedSeed);
    expect(await checkOf(openKeyBundle(opening(exported)))).toBe('content');
    expect(await checkOf(openWalletBundle(opening(importing.importBundle)))).toBe('key');
    expect(await checkOf(sealSecret({ ...trust(), targetMessage: exported, secret: 'x' }))).toBe('key');
    const { sealedKey } = await importKey(labelled('key of CURVE_P256'), 'CURVE_P256', []);
    const key = await keyring.exportPrivateKey(deployment.holder('key'), sealedKey, targetPoint());
    expect(await checkOf(openWalletBundle(opening(key)))).toBe('content');
  });

  test('what is no bundle at all', async () => {
    for (const text of ['', 'text', 'null', '[]', '7', '"v1.0.0"', '\ufeff{}']) {
      expect(await checkOf(openWalletBundle(opening(text)))).toBe('form');
    }
    expect(await checkOf(openWalletBundle(opening('{}')))).toBe('version');
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.json()), async (text) => {
        expect(['form', 'version']).toContain(await checkOf(openWalletBundle(opening(text))));
      }),
    );
  });
});

/** An envelope by a key whose secret is SHA-256 of a label, as the service would write it. */
function signedBy(label: string, document: unknown, version = 'v1.0.0') {
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey(labelled(label));
  const point = ecdh.getPublicKey();
  const [x, y] = [point.toString('base64url', 1, 33), point.toString('base64url', 33)];
  const d = Buffer.from(labelled(label)).toString('base64url');
  const key = createPrivateKey({ key: { kty: 'EC', crv: 'P-256', x, y, d }, format: 'jwk' });
  const data = document instanceof Uint8Array ? Buffer.from(document) : Buffer.from(JSON.stringify(document));
  const envelope = {
    version,
    data: data.toString('hex'),
    dataSignature: sign('sha256', data, key).toString('hex'),
    enclaveQuorumPublic: point.toString('hex'),
  };
  return { envelope, bundle: JSON.stringify(envelope), bundleSigner: point.toString('hex') };
}

describe('what the signature does not save from', () => {
  const SIGNER = 'a signer of its own';

  async function documentOf(plaintext: string | Uint8Array) {
    const { enc, ciphertext } = await seal(targetPoint(), new Uint8Array(Buffer.from(plaintext)));
    return { encappedPublic: toHex(enc), ciphertext: toHex(ciphertext), organizationId: ORGANIZATION };
  }
  function openSigned(document: unknown, version?: string) {
    const { bundle, bundleSigner } = signedBy(SIGNER, document, version);
    return openWalletBundle({ ...opening(bundle), bundleSigner });
  }

  test('a good one opens', async () => {
    const opened = await openSigned({ ...(await documentOf(`${MNEMONIC}\na\nb`)), more: 1 });
    expect(opened).toEqual({ mnemonic: MNEMONIC, passphrase: 'a\nb' });
  });

  test('another version', async () => {
    const document = await documentOf(MNEMONIC);
    for (const version of ['v1.0.1', 'v1.0.0 ', 'V1.0.0', '']) {
      await expect(openSigned(document, version)).rejects.toEqual(refusal('version'));
    }
  });

  test('data of another form', async () => {
    for (const document of [[], null, 'text', Uint8Array.of(0xff), Uint8Array.of()]) {
      await expect(openSigned(document)).rejects.toEqual(refusal('form'));
    }
    const good = await documentOf(MNEMONIC);
    for (const ciphertext of [undefined, 7, 'abc', 'zz', good.ciphertext.toUpperCase()]) {
      await expect(openSigned({ ...good, ciphertext })).rejects.toEqual(refusal('form'));
    }
  });

  test('keys that are none', async () => {
    const good = await documentOf(MNEMONIC);
    const { encappedPublic } = good;
    for (const other of [
      undefined,
      [],
      '',
      `02${encappedPublic.slice(2, 66)}`,
      `06${encappedPublic.slice(2)}`,
      `04${'00'.repeat(64)}`,
      `${encappedPublic.slice(0, -64)}${'11'.repeat(32)}`,
      encappedPublic.toUpperCase(),
    ]) {
      await expect(openSigned({ ...good, encappedPublic: other })).rejects.toEqual(refusal('key'));
      const { bundle, bundleSigner } = signedBy(SIGNER, { targetPublic: other, organizationId: ORGANIZATION });
      const sealed = sealSecret({ targetMessage: bundle, secret: 'x', organizationId: ORGANIZATION, bundleSigner });
      await expect(sealed).rejects.toEqual(refusal('key'));
    }
  });

  test('ids that are absent or of another type', async () => {
    const good = await documentOf(MNEMONIC);
    for (const organizationId of [undefined, null, [ORGANIZATION], `${ORGANIZATION} `]) {
      await expect(openSigned({ ...good, organizationId })).rejects.toEqual(refusal('organization'));
    }
    for (const userId of [undefined, null, [USER], `${USER} `]) {
      const document = { targetPublic: target.publicKey, organizationId: ORGANIZATION, userId };
      const { bundle: importBundle, bundleSigner } = signedBy(SIGNER, document);
      const options = { importBundle, bundleSigner, organizationId: ORGANIZATION, userId: USER, mnemonic: MNEMONIC };
      await expect(sealMnemonic(options)).rejects.toEqual(refusal('user'));
    }
  });

  test('a ciphertext that does not open', async () => {
    const good = await documentOf(MNEMONIC);
    for (const ciphertext of ['', 'ab', `${good.ciphertext}00`, (await documentOf(MNEMONIC)).ciphertext]) {
      await expect(openSigned({ ...good, ciphertext })).rejects.toEqual(refusal('decryption'));
    }
  });

  test('what is no mnemonic', async () => {
    for (const plaintext of ['', '\n', 'abandon', `\n${MNEMONIC}`, MNEMONIC.replace(' ', '  '), Buffer.of(0xff)]) {
      await expect(openSigned(await documentOf(plaintext))).rejects.toEqual(refusal('content'));
    }
  });
});

describe('the vectors of the public clients', () => {
  // protocol/bundles 7.2 and 7.3.
  const organizationId = '00000000-0000-4000-8000-000000000001';
  const bundleSigner =
    '043fe1cb3595e25b5cac54027af00b907379fa1101565d5aabb833bc8b8369b85deb2e4a53d3afa3cb8eb1d33e73cad01eb691e6eb672c428c3e8d239fbcc06967';
  const envelope = (data: string, dataSignature: string) =>
    JSON.stringify({
      version: 'v1.0.0',
      data: toHex(Buffer.from(data)),
      dataSignature,
      enclaveQuorumPublic: bundleSigner,
    });

  test('an export opens', async () => {
    const encappedPublic =
      '046b9900ff8a84553d18f46225ed79289ab12c66d21ff3f66e17cb7714c4d300e7599bee2a3c7ab6602d343f023bb5c0cd5f7244b2c231630ae896485980c15644';
    const ciphertext =
      'b35e3dc27d0303c365b9bcb7ec42d882997271e806cd045302bd505c4b9c53ee71c97a309058562f15a4f769e0ea96358c496a1d1c4bbe6b78888c86dd48e9fbfcc03d6e8edda469f0de825a417e9d2027c72d44cb4c1891a28fd0797521085273122a3ef116d42281c6c273d2';
    const exportBundle = envelope(
      `{"encappedPublic":"${encappedPublic}","ciphertext":"${ciphertext}","organizationId":"${organizationId}"}`,
      '3045022100ceadc9b0a54653a166e792c1f3d7031be2d5b4972adb9dc4e9412bcca09a3649022056a327b78507df090df4ff99da6f3fe7c43f9cffd1fed16b2eaf5383e069c0a9',
    );
    const targetPrivateKey = toHex(labelled('vector receiver'));
    expect(await openWalletBundle({ exportBundle, targetPrivateKey, organizationId, bundleSigner })).toEqual({
      mnemonic: MNEMONIC,
      passphrase: '',
    });
  });

  test('an import target is accepted', async () => {
    const targetPublic =
      '048c53f8c2d533b45a91f41744bcbe860eb4433f51b0217e95e3735d44439d0f8d78dc894c6ad04c4422f8a773059ef90ae78fb92e83c1228c55ada8336661131f';
    const importBundle = envelope(
      `{"targetPublic":"${targetPublic}","organizationId":"${organizationId}","userId":"${USER}"}`,
      '304502202d1bcd1e2774ac574a7c7342183d173a17bd4c54167cb378508729da010b2bd2022100f045a407cb3ac4daea23c9e6853b61456037e4d309cda3e881b8fe294b07fcc6',
    );
    const options = { importBundle, organizationId, userId: USER, bundleSigner, mnemonic: MNEMONIC };
    const { encappedPublic, ciphertext } = JSON.parse(await sealMnemonic({ ...options, passphrase: 'hunter2' }));
    const receiver = await readAgreement(toHex(labelled('vector import target')));
    const sealed = { enc: fromHex(encappedPublic) as Bytes, ciphertext: fromHex(ciphertext) as Bytes };
    expect(Buffer.from(await open(receiver, sealed)).toString()).toBe(`${MNEMONIC}\n--PASS--\nhunter2`);
  });
});
