import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
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
} from '../test/fixtures/client.ts';
import { fromHex, fromText, toHex } from '../test/fixtures/labels.ts';
import { sealText } from './bundle/credential-bundle.ts';
import { sealBox } from './bundle/sealed-box.ts';
import { type CreatedIntegrityKey, createKeyring, type Holder, INSTALLATION_ID, type Keyring } from './index.ts';
import { CALLER_KINDS, KIND } from './kinds.ts';
import { Secret } from './secret.ts';

const HEAD = 94;
const receiver = new Receiver();

let folder: string;
let rootKey: string;
let keyring: Keyring;
let deployment: Deployment;
let installationKey: Uint8Array;
let made: CreatedIntegrityKey;
let key: Uint8Array;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'custos-integrity-'));
  rootKey = `file:${join(folder, 'root.key')}`;
  keyring = await createKeyring({ rootKey, create: true });
  deployment = await deploy(keyring);
  ({ installationKey } = deployment);
  made = await keyring.createIntegrityKey(installationKey, 1);
  key = await keyring.lendIntegrityKey(installationKey, made.keyId, 1, made.sealed);
});

afterAll(async () => {
  await keyring.close();
  await rm(folder, { recursive: true });
});

/** The id and the generation are bound together. */
const ownerOf = (keyId = made.keyId): string => `${keyId}/1`;

const lend = (sealed: Uint8Array, keyId = made.keyId, organizationKey = installationKey): Promise<Uint8Array> =>
  keyring.lendIntegrityKey(organizationKey, keyId, 1, sealed);

describe('an integrity key', () => {
  test('is 32 random bytes, sealed under an id of its own, and the same whenever it is lent', async () => {
    expect(made.keyId).toMatch(/^[0-9a-f]{32}$/);
    expect(made.sealed).toHaveLength(122 + 33);
    expect(key).toHaveLength(32);
    expect(key.some((byte) => byte !== 0)).toBe(true);
    const again = await lend(made.sealed);
    expect(again).toEqual(key);
    // Each lending is a copy of its own.
    again.fill(0);
    expect(await lend(made.sealed)).toEqual(key);
    await using later = await createKeyring({ rootKey });
    expect(await later.lendIntegrityKey(installationKey, made.keyId, 1, made.sealed)).toEqual(key);
    const other = await keyring.createIntegrityKey(installationKey, 1);
    expect(other.keyId).not.toBe(made.keyId);
    expect(await lend(other.sealed, other.keyId)).not.toEqual(key);
  });

  test('is made and lent under the key of the deployment only', async () => {
    const organizationKey = await keyring.createOrganizationKey(ORGANIZATION);
    const otherInstallation = await keyring.createOrganizationKey(INSTALLATION_ID);
    expect(await codeOf(keyring.createIntegrityKey(organizationKey, 1))).toBe('NOT_OPENED');
    for (const wrapped of [organizationKey, otherInstallation])
      expect(await codeOf(lend(made.sealed, made.keyId, wrapped))).toBe('NOT_OPENED');
  });

  test('opens by its own id only, and not when any bit of it was changed', async () => {
    const other = await keyring.createIntegrityKey(installationKey, 1);
    expect(await codeOf(lend(made.sealed, other.keyId))).toBe('NOT_OPENED');
    expect(await codeOf(lend(other.sealed, made.keyId))).toBe('NOT_OPENED');
    for (let bit = 0; bit < made.sealed.length * 8; bit += 1)
      expect(await codeOf(lend(flipped(made.sealed, bit)))).toBe('NOT_OPENED');
    for (let length = 0; length < made.sealed.length; length += 1)
      expect(await codeOf(lend(made.sealed.subarray(0, length)))).toBe('NOT_OPENED');
  });

  test('opens as the generation that it was made for, and as no other', async () => {
    const second = await keyring.createIntegrityKey(installationKey, 2);
    const lendAs = (generation: unknown, { keyId, sealed } = second): Promise<Uint8Array> =>
      keyring.lendIntegrityKey(installationKey, keyId, generation as number, sealed);
    expect(await lendAs(2)).toHaveLength(32);
    for (const generation of [1, 3, 22, 2 ** 31 - 1]) expect(await codeOf(lendAs(generation))).toBe('NOT_OPENED');
    expect(await codeOf(lendAs(2, made))).toBe('NOT_OPENED');
    for (const generation of [0, -1, 1.5, 2 ** 31, Number.NaN, '2', undefined, null, 2n]) {
      expect(await codeOf(lendAs(generation))).toBe('INVALID_INPUT');
      expect(await codeOf(keyring.createIntegrityKey(installationKey, generation as number))).toBe('INVALID_INPUT');
    }
  });

  test.each([
    ['', 'empty'],
    ['0A'.repeat(16), 'upper case'],
    ['0a'.repeat(15), 'short'],
    ['0a'.repeat(17), 'long'],
    [`${'0a'.repeat(16)}\n`, 'a newline'],
    [undefined, 'nothing'],
    [7, 'a number'],
    [{ toString: () => '0a'.repeat(16) }, 'an object'],
  ])('has an id of 32 lower-case hexadecimal digits, not %o (%s)', async (id, _what) => {
    const lent = keyring.lendIntegrityKey(installationKey, id as string, 1, made.sealed);
    expect(await codeOf(lent)).toBe('INVALID_INPUT');
    expect(await codeOf(keyring.requireIntegrity(id as string))).toBe('INVALID_INPUT');
  });

  test('what is given in place of bytes is refused', async () => {
    for (const value of [undefined, null, 'text', [1, 2], new ArrayBuffer(94), {}]) {
      const bytes = value as unknown as Uint8Array;
      expect(await codeOf(keyring.createIntegrityKey(bytes, 1))).toBe('INVALID_INPUT');
      for (const [wrapped, sealed] of [
        [installationKey, bytes],
        [bytes, made.sealed],
      ] as const)
        expect(await codeOf(keyring.lendIntegrityKey(wrapped, made.keyId, 1, sealed))).toBe('INVALID_INPUT');
    }
  });

  test('is wiped in the keyring when it was made and when it was lent', async () => {
    const lent: Uint8Array[] = [];
    const copies: string[] = [];
    const use = Secret.prototype.use;
    const spy = vi.spyOn(Secret.prototype, 'use').mockImplementation(function (this: Secret, fn) {
      return use.call(this, (bytes) => {
        lent.push(bytes);
        copies.push(toHex(bytes));
        return fn(bytes);
      }) as ReturnType<typeof fn>;
    });
    let text = '';
    try {
      const { keyId, sealed } = await keyring.createIntegrityKey(installationKey, 1);
      text = toHex(await lend(sealed, keyId));
    } finally {
      spy.mockRestore();
    }
    // As it was made, as it was sealed, and as it was opened.
    expect(copies.filter((copy) => copy.endsWith(text))).toEqual([text, `01${text}`, `01${text}`]);
    expect(lent.filter((bytes) => bytes.some((byte) => byte !== 0))).toEqual([]);
  });

  test('no closed keyring makes, lends or requires one', async () => {
    const other = await createKeyring({ rootKey });
    await other.close();
    for (const call of [
      () => other.createIntegrityKey(installationKey, 1),
      () => other.lendIntegrityKey(installationKey, made.keyId, 1, made.sealed),
      () => other.requireIntegrity(made.keyId),
      () => other.integrityRequired(),
    ])
      expect(await codeOf(call())).toBe('INVALID_INPUT');
  });
});

describe('nothing else opens one, and it opens nothing else', () => {
  /** With the right key and the right name of the owner, so that the kind alone is wrong. */
  const holder = (): Holder => ({
    organizationKey: installationKey,
    organizationId: INSTALLATION_ID,
    ownerId: ownerOf(),
  });

  test('no other call takes an integrity key for its own kind', async () => {
    const { sealed } = made;
    const owner = holder();
    const target = await keyring.createImportTarget(owner, 'u');
    const [secretTarget] = await keyring.createSecretTargets(owner, 1);
    const bundle = encryptTo(target.targetPublicKey, fromText(`${'abandon '.repeat(11)}about`));
    const payload = encryptTo(secretTarget?.targetPublicKey as string, fromText('x'));
    const targets = [{ id: owner.ownerId, sealed }];
    const call = { keyId: 'k', method: 'POST', host: 'a.test', path: '/onramp/v1/token', nowMs: 0 } as const;
    const uses: Readonly<Record<string, () => Promise<unknown>>> = {
      deriveAccounts: () => keyring.deriveAccounts(owner, sealed, []),
      sign: () =>
        keyring.sign(owner, { kind: 'private-key', sealed, curve: 'CURVE_P256' }, 'ecdsa', [new Uint8Array(32)]),
      signWallet: () =>
        keyring.sign(owner, { kind: 'wallet', sealed, curve: 'CURVE_P256', path: 'm/0' }, 'ecdsa', [
          new Uint8Array(32),
        ]),
      exportWallet: () => keyring.exportWallet(owner, sealed, undefined, receiver.publicKey),
      exportAccount: () => keyring.exportAccount(owner, sealed, 'CURVE_P256', 'm/0', receiver.publicKey),
      exportPrivateKey: () => keyring.exportPrivateKey(owner, sealed, receiver.publicKey),
      importWallet: () => keyring.importWallet(owner, targets, bundle, []),
      importPrivateKey: () => keyring.importPrivateKey(owner, targets, bundle, 'CURVE_P256', []),
      importSecrets: () => importSecret(keyring, owner, { id: owner.ownerId, sealed }, payload),
      exportSecrets: () =>
        keyring.exportSecrets(installationKey, INSTALLATION_ID, [
          { ownerId: owner.ownerId, sealedSecret: sealed, targetPublicKey: receiver.publicKey },
        ]),
      exportRecoveryKit: () =>
        keyring.exportRecoveryKit(
          installationKey,
          INSTALLATION_ID,
          { ...EMPTY_KIT, wallets: [{ walletId: owner.ownerId, name: '', sealedSeed: sealed, accounts: [] }] },
          [RECIPIENT],
        ),
      exportRecoveryKitOfKeys: () =>
        keyring.exportRecoveryKit(
          installationKey,
          INSTALLATION_ID,
          { ...EMPTY_KIT, privateKeys: [{ privateKeyId: owner.ownerId, name: '', sealedKey: sealed, addresses: [] }] },
          [RECIPIENT],
        ),
      checkOtp: () => keyring.checkOtp(owner, sealed, { code: '123456' }),
      lendOauthSecret: () => keyring.lendOauthSecret(owner, sealed),
      signMoonpayQuery: () => keyring.signMoonpayQuery(owner, sealed, '?a=b'),
      signCoinbaseToken: () => keyring.signCoinbaseToken(owner, sealed, call),
      loadServiceKeys: () =>
        keyring.loadServiceKeys(installationKey, [{ role: 'webhook-signer', keyId: made.keyId, sealed }]),
    };
    for (const [name, use] of Object.entries(uses)) expect([name, await codeOf(use())]).toEqual([name, 'NOT_OPENED']);
    for (const kind of [...Object.values(KIND), ...CALLER_KINDS]) {
      const binding = { organizationId: INSTALLATION_ID, ownerId: ownerOf(), kind };
      const expected = CALLER_KINDS.has(kind) ? 'NOT_OPENED' : 'INVALID_INPUT';
      expect([kind, await codeOf(keyring.open(installationKey, binding, sealed))]).toEqual([kind, expected]);
    }
    // Nor does a caller put one of its own in place.
    const binding = { organizationId: INSTALLATION_ID, ownerId: ownerOf(), kind: KIND.integrityKey };
    expect(await codeOf(keyring.seal(installationKey, binding, new Uint8Array(33)))).toBe('INVALID_INPUT');
  });

  test('nothing of another kind is lent, whatever it holds', async () => {
    const owner = holder();
    const [secretTarget] = await keyring.createSecretTargets(owner, 1);
    const box = sealBox(fromHex(deployment.publicKeys['oauth-secret']), new Uint8Array(32).fill(0x61));
    const text = sealText(fromHex(deployment.publicKeys['on-ramp-secret']), new Uint8Array(32).fill(0x61));
    const plaintext = new Uint8Array(33).fill(1);
    const [service] = deployment.keys;
    const blobs: Readonly<Record<string, Uint8Array>> = {
      walletSeed: (await keyring.createWallet(owner, 24, [])).sealedSeed,
      privateKey: (await keyring.createPrivateKey(owner, 'CURVE_ED25519', [])).sealedKey,
      // These have the same layout.
      importTarget: (await keyring.createImportTarget(owner, 'u')).sealedTarget,
      secretTarget: secretTarget?.sealedTarget as Uint8Array,
      otp: (await keyring.createOtp(owner, '123456')).sealedOtp,
      oauthSecret: await keyring.importOauthSecret(owner, box),
      onRampSecret: await keyring.importOnRampSecret(owner, text),
      sealed: await keyring.seal(
        installationKey,
        { organizationId: INSTALLATION_ID, ownerId: ownerOf(), kind: 'dev-message' },
        plaintext,
      ),
    };
    for (const [name, blob] of Object.entries(blobs))
      expect([name, await codeOf(lend(blob))]).toEqual([name, 'NOT_OPENED']);
    expect(await codeOf(lend(service?.sealed as Uint8Array, service?.keyId))).toBe('NOT_OPENED');
  });
});

describe('when keys are replaced', () => {
  const stored = (sealed: Uint8Array, ownerId = ownerOf(), kind: string = KIND.integrityKey) => ({
    ownerId,
    kind,
    sealed,
  });

  test('it is known to open, for its id and as what it is', async () => {
    const others = [
      stored(made.sealed, `${made.keyId}/2`),
      stored(made.sealed, ownerOf('0a'.repeat(16))),
      stored(made.sealed, ownerOf(), KIND.serviceKey),
    ];
    const opens = await keyring.canOpen(installationKey, INSTALLATION_ID, [stored(made.sealed), ...others]);
    expect(opens).toEqual([true, false, false, false]);
  });

  test('it moves with the key of the deployment, and to another root key', async () => {
    await using mine = await createKeyring({ rootKey: `file:${join(folder, 'moved.key')}`, create: true });
    const wrapped = await mine.createOrganizationKey(INSTALLATION_ID);
    const { keyId, sealed } = await mine.createIntegrityKey(wrapped, 1);
    const before = await mine.lendIntegrityKey(wrapped, keyId, 1, sealed);
    const both = await mine.renewOrganizationKey(INSTALLATION_ID, wrapped);
    expect(await mine.lendIntegrityKey(both, keyId, 1, sealed)).toEqual(before);
    const [head] = await mine.rewrapDataKeys(both, INSTALLATION_ID, [stored(sealed.slice(0, HEAD), ownerOf(keyId))]);
    const moved = Buffer.concat([head ?? new Uint8Array(0), sealed.subarray(HEAD)]);
    const only = both.slice(0, HEAD);
    expect(await mine.lendIntegrityKey(only, keyId, 1, moved)).toEqual(before);
    expect(await codeOf(mine.lendIntegrityKey(only, keyId, 1, sealed))).toBe('NOT_OPENED');
    const root = mine.rootKeyId;
    await mine.addRootKey();
    const rewrapped = await mine.rewrapOrganizationKey(INSTALLATION_ID, only);
    await mine.removeRootKey(root);
    expect(await mine.lendIntegrityKey(rewrapped, keyId, 1, moved)).toEqual(before);
    expect(await codeOf(mine.lendIntegrityKey(only, keyId, 1, moved))).toBe('UNKNOWN_ROOT_KEY');
  });
});
