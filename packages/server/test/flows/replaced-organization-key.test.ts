import { describe, expect, test } from 'vitest';
import { OrganizationStore } from '../../src/core/store/organizations.ts';
import { isSameKey, SealedReader, SealedStore, WRAPPED_KEY_BYTES } from '../../src/core/store/sealed.ts';
import type { OrganizationId } from '../../src/lib/ids.ts';
import { openTestApp } from '../harness/app.ts';
import { DATABASES } from '../harness/databases.ts';

// A request that was stopped for very long, after it sealed something and before its transaction.

const ETHEREUM = {
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/44'/60'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
};

describe.each(DATABASES)('an organization that gets another key on %s', (database) => {
  test('stores nothing that was sealed under the earlier one, also when that is gone', async () => {
    await using app = await openTestApp(database);
    const { storage, keyring } = app.app;
    const organizationId = app.root.organizationId as OrganizationId;
    const stored = async () => (await storage.read(SealedReader).organizationKey(organizationId)) as Uint8Array;
    const exchange = (from: Uint8Array, to: Uint8Array) =>
      storage.write(async (store) => {
        await store(OrganizationStore).lock(organizationId, 'exclusive');
        expect(await store(SealedStore).exchangeOrganizationKey(organizationId, from, to)).toBe(true);
      });
    const first = await stored();
    const seals: Uint8Array[] = [];
    const create = keyring.createWallet.bind(keyring);
    Object.defineProperty(keyring, 'createWallet', {
      configurable: true,
      value: async (...args: Parameters<typeof create>) => {
        const made = await create(...args);
        seals.push(args[0].organizationKey);
        if (seals.length > 2) return made;
        const before = await stored();
        // The new key comes, and in the next attempt the earlier one goes.
        const after =
          seals.length === 1
            ? await keyring.renewOrganizationKey(organizationId, before)
            : before.slice(0, WRAPPED_KEY_BYTES);
        await exchange(before, after);
        return made;
      },
    });
    const made = await app.root.run('create_wallet', { walletName: 'one', accounts: [ETHEREUM] });
    // The second seal is under the key that stays, so that it holds.
    expect(seals).toHaveLength(2);
    const last = await stored();
    expect(isSameKey(last, first)).toBe(false);
    expect(seals.map((key) => isSameKey(key, last))).toEqual([false, true]);
    const signed = await app.root.submit('sign_raw_payload', {
      signWith: made.addresses[0],
      payload: '00'.repeat(32),
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction: 'HASH_FUNCTION_NO_OP',
    });
    expect(signed.status).toBe(200);
  });
});
