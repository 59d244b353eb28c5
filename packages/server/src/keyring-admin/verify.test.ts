import { setImmediate } from 'node:timers/promises';
import type { Keyring, StoredSecret } from '@custos/keyring';
import { expect, test } from 'vitest';
import { fakeStores } from '../../test/harness/fake-stores.ts';
import { InstallationReader } from '../core/store/installation.ts';
import { type SealedColumn, SealedReader, type SealedRow, sealedColumns } from '../core/store/sealed.ts';
import { dataModel } from '../domains.ts';
import type { Storage } from '../storage/storage.ts';
import { verifyStored } from './verify.ts';

const MEBIBYTE = 1024 * 1024;
const BODY = new Uint8Array(2 * MEBIBYTE);
const ROWS = 60;

const sizeOf = (items: readonly { readonly sealed: Uint8Array | undefined }[]): number =>
  items.reduce((sum, { sealed }) => sum + (sealed?.length ?? 0), 0);

test('large bodies are neither read nor opened many at a time', async () => {
  let read = 0;
  let open = 0;
  let openMax = 0;
  const page = async ({ table, isLarge }: SealedColumn, after: readonly string[] | undefined, limit: number) => {
    if (!isLarge) return [];
    const first = Number(after?.[0] ?? 0) + 1;
    const rows: SealedRow[] = [];
    for (let row = first; row <= ROWS && rows.length < limit; row += 1)
      rows.push({ key: [`${row}`], organizationId: 'one', ownerId: `${row}`, kind: table, sealed: BODY });
    read = Math.max(read, sizeOf(rows));
    return rows;
  };
  const storage = {
    read: fakeStores(
      [InstallationReader, { get: async () => undefined }],
      [SealedReader, { page, organizationKeys: async () => [], organizationKey: async () => new Uint8Array(1) }],
    ),
  } as unknown as Storage;
  const keyring = {
    canOpen: async (_key: Uint8Array, _organizationId: string, secrets: readonly StoredSecret[]) => {
      open += sizeOf(secrets);
      openMax = Math.max(openMax, open);
      await setImmediate();
      open -= sizeOf(secrets);
      return secrets.map(() => true);
    },
  } as unknown as Keyring;

  const secrets = sealedColumns(dataModel.tables).filter(({ isLarge }) => isLarge).length * ROWS;
  expect(await verifyStored(storage, keyring, () => {})).toEqual({ organizations: 0, secrets, unopened: 0 });
  expect(secrets).toBeGreaterThan(0);
  expect(read).toBeLessThanOrEqual(32 * MEBIBYTE);
  expect(openMax).toBeLessThanOrEqual(8 * MEBIBYTE);
  expect(openMax).toBeGreaterThan(0);
});
