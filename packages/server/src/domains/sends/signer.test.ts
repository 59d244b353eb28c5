import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKeyring, type Keyring, KeyringError } from '@custos/keyring';
import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SignerGone } from '../../chains/send/errors.ts';
import type { SendSigner } from '../../chains/send/signer.ts';
import { OrganizationStore } from '../../core/store/organizations.ts';
import { SealedReader } from '../../core/store/sealed.ts';
import { dataModel } from '../../domains.ts';
import { type OrganizationId, randomId } from '../../lib/ids.ts';
import { FIRST_RULES_VERSION } from '../../storage/authority.ts';
import { openSqlite } from '../../storage/sqlite.ts';
import type { Storage } from '../../storage/storage.ts';
import { PrivateKeyStore } from '../wallets/store/private-keys.ts';
import { WalletStore } from '../wallets/store/wallets.ts';
import { createSendSigner } from './signer.ts';

const DIGESTS = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];

let folder: string;
let storage: Storage;
let keyring: Keyring;
let signer: SendSigner;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'custos-signer-'));
  storage = await openSqlite({ dataModel, file: join(folder, 'custos.db'), lockFile: join(folder, 'lock'), nowMs: 0 });
  keyring = await createKeyring({ rootKey: `file:${join(folder, 'root.key')}`, create: true });
  signer = createSendSigner({ storage, keyring });
});

afterAll(async () => {
  await keyring.close();
  await storage.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Stored {
  readonly organizationId: OrganizationId;
  readonly id: string;
  readonly address: string;
  readonly publicKey: Uint8Array;
}

const STAMPS = { exported: false, imported: false, createdAtMs: 0, updatedAtMs: 0 };

async function newOrganization(): Promise<OrganizationId> {
  const id = randomId<'organization'>();
  const wrappedKey = await keyring.createOrganizationKey(id);
  await storage.write((store) =>
    store(OrganizationStore).insert({
      id,
      parentId: undefined,
      name: 'o',
      rootThreshold: 1,
      rootUserIds: [],
      authorityVersion: 1,
      rulesVersion: FIRST_RULES_VERSION,
      wrappedKey,
      createdAtMs: 0,
      updatedAtMs: 0,
      deletedAtMs: undefined,
    }),
  );
  return id;
}

const holderOf = async (organizationId: OrganizationId, ownerId: string) => ({
  organizationKey: (await storage.read(SealedReader).organizationKey(organizationId)) as Uint8Array,
  organizationId,
  ownerId,
});

/** A wallet with one account on Ethereum. */
async function newWallet(organizationId: OrganizationId): Promise<Stored> {
  const id = randomId<'wallet'>();
  const spec = {
    curve: 'CURVE_SECP256K1',
    path: "m/44'/60'/0'/0/0",
    addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
  } as const;
  const { sealedSeed, accounts } = await keyring.createWallet(await holderOf(organizationId, id), 12, [spec]);
  const made = accounts[0]!;
  const account = { ...spec, ...made, ...STAMPS, id: randomId<'wallet-account'>(), walletId: id, name: undefined };
  await storage.write(async (store) => {
    await store(WalletStore).insert(organizationId, { id, name: 'w', sealedSeed, ...STAMPS });
    await store(WalletStore).insertAccounts(organizationId, [account]);
  });
  return { organizationId, id, address: made.address, publicKey: Buffer.from(made.publicKey, 'hex') };
}

/** A private key with an address on Solana. */
async function newPrivateKey(organizationId: OrganizationId): Promise<Stored> {
  const id = randomId<'private-key'>();
  const format = 'ADDRESS_FORMAT_SOLANA';
  const made = await keyring.createPrivateKey(await holderOf(organizationId, id), 'CURVE_ED25519', [format]);
  const address = made.addresses[0]!;
  const key = { ...STAMPS, ...made, id, name: 'k', curve: 'CURVE_ED25519', tagIds: [] } as const;
  await storage.write((store) =>
    store(PrivateKeyStore).insert(organizationId, [{ ...key, addresses: [{ format, address }] }]),
  );
  return { organizationId, id, address, publicKey: Buffer.from(made.publicKey, 'hex') };
}

const gone = (about: string) => ({ constructor: SignerGone, message: expect.stringContaining(about) });

describe('an address of an organization', () => {
  test('of a wallet, in any spelling, signs in the order of the payloads', async () => {
    const { organizationId, address, publicKey } = await newWallet(await newOrganization());
    for (const spelled of [address, address.toLowerCase()]) {
      const signatures = await signer.sign(organizationId, spelled, 'ecdsa', DIGESTS);
      const holds = signatures.map(({ r, s }, index) =>
        secp256k1.verify(Buffer.concat([r, s]), DIGESTS[index]!, publicKey, { prehash: false }),
      );
      expect(holds).toEqual([true, true]);
    }
  });

  test('of a private key', async () => {
    const { organizationId, address, publicKey } = await newPrivateKey(await newOrganization());
    const messages = [Buffer.from('one'), Buffer.from('another message')];
    const signatures = await signer.sign(organizationId, address, 'eddsa', messages);
    const holds = signatures.map(({ r, s }, index) =>
      ed25519.verify(Buffer.concat([r, s]), messages[index]!, publicKey),
    );
    expect(holds).toEqual([true, true]);
  });

  test('signs for no other organization', async () => {
    const { organizationId, address } = await newWallet(await newOrganization());
    const other = await newOrganization();
    await expect(signer.sign(organizationId, address, 'ecdsa', DIGESTS)).resolves.toHaveLength(2);
    await expect(signer.sign(other, address, 'ecdsa', DIGESTS)).rejects.toMatchObject(gone(address));
  });

  test('signs on no other curve', async () => {
    const { organizationId, address } = await newWallet(await newOrganization());
    await expect(signer.sign(organizationId, address, 'ecdsa', DIGESTS)).resolves.toHaveLength(2);
    await expect(signer.sign(organizationId, address, 'eddsa', DIGESTS)).rejects.toBeInstanceOf(KeyringError);
  });

  test('is gone with its key', async () => {
    const wallet = await newWallet(await newOrganization());
    const key = await newPrivateKey(wallet.organizationId);
    const sign = () => signer.sign(wallet.organizationId, wallet.address, 'ecdsa', DIGESTS);
    const signSolana = () => signer.sign(key.organizationId, key.address, 'eddsa', DIGESTS);
    await expect(sign()).resolves.toHaveLength(2);
    await expect(signSolana()).resolves.toHaveLength(2);
    await storage.write(async (store) => {
      await store(WalletStore).delete(wallet.organizationId, [wallet.id]);
      await store(PrivateKeyStore).delete(key.organizationId, [key.id]);
    });
    await expect(sign()).rejects.toMatchObject(gone(wallet.address));
    await expect(signSolana()).rejects.toMatchObject(gone(key.address));
  });

  test('is gone with its organization', async () => {
    const { organizationId, address } = await newWallet(await newOrganization());
    await expect(signer.sign(organizationId, address, 'ecdsa', DIGESTS)).resolves.toHaveLength(2);
    await storage.write((store) => store(OrganizationStore).erase(organizationId, 0));
    await expect(signer.sign(organizationId, address, 'ecdsa', DIGESTS)).rejects.toMatchObject(gone(address));
  });
});

test("an operator's key that was never imported is gone, and says what to do", async () => {
  const address = `0x${'ab'.repeat(20)}`;
  await expect(signer.signAsOperator('eip155:1', address, 'ecdsa', DIGESTS)).rejects.toMatchObject(
    gone('custos chains import-key --chain eip155:1'),
  );
});

test('a keyring that is away is a KeyringError, not a key that is gone', async () => {
  const { organizationId, address } = await newWallet(await newOrganization());
  const away = new KeyringError('UNAVAILABLE', 'the keyring process is gone');
  const keyringAway = {
    sign: async () => {
      throw away;
    },
  };
  const waiting = createSendSigner({ storage, keyring: keyringAway });
  await expect(waiting.sign(organizationId, address, 'ecdsa', DIGESTS)).rejects.toBe(away);
});
