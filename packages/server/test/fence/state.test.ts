import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { InstallationReader } from '../../src/core/store/installation.ts';
import { raiseFence } from '../../src/fence/raise.ts';
import { acceptRestore } from '../../src/fence-accept/accept.ts';
import { compareSchema, MIGRATION_NAMES } from '../../src/storage/migrate.ts';
import { outcome, Rows } from '../flows/fixtures/access.ts';
import { openTestApp, type TestApp } from '../harness/app.ts';
import type { TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { accept, BEYOND_BODIES_MS, FENCED, restore } from './support.ts';

// Who may lift the fence, and who else tries.

const PATIENCE = { timeout: 10_000, interval: 20 };

describe.each(DATABASES)('the record of a restore on %s', (database) => {
  async function open(): Promise<{ service: TestApp; stranger: Rows; isFenced: () => Promise<boolean> }> {
    const service = await openTestApp(database, { CUSTOS_KEYRING: 'inline' });
    const stranger = await Rows.open(service.app.config, { isStranger: true });
    onTestFinished(async () => {
      await stranger[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    });
    const tries = (client: TestClient) => client.submit('create_user_tag', { userTagName: 'x', userIds: [] });
    return { service, stranger, isFenced: async () => outcome(await tries(service.root))[1] === FENCED[1] };
  }
  /** Until the service has looked once more. */
  const looked = () => pause(2500);

  test('keeps programs away that know no fence, once there is one', async () => {
    const { service } = await open();
    const known = MIGRATION_NAMES.filter((name) => !name.startsWith('0029'));
    const difference = async () =>
      compareSchema(await service.app.storage.read(InstallationReader).appliedMigrations(), known).incompatible;
    expect(await difference()).toEqual([]);
    await restore(service);
    expect(await difference()).toEqual(['0029-restorations']);
    await accept(service);
    expect(await difference()).toEqual(['0029-restorations']);
  });

  test('is not lifted by somebody who writes to the database, and that is reported', async () => {
    const { service, stranger, isFenced } = await open();
    await restore(service);
    const { storage } = service.app;
    await stranger.run('UPDATE restoration SET accepted_at_ms = 1, accepted_by = ?', ['somebody']);
    await looked();
    expect([await isFenced(), storage.fence.doubt]).toEqual([true, 'not-genuine']);
    expect(storage.integrity.violations.map(({ table }) => table)).toContain('restoration');
    await expect(acceptRestore(service.app.config, { confirm: async () => true })).rejects.toThrow(
      'is not what a service wrote',
    );
    await service.restart();
    expect(await isFenced()).toBe(true);
  });

  test('does not accept an organization whose row somebody else wrote', async () => {
    const { service, stranger } = await open();
    await restore(service);
    const { storage } = service.app;
    const { organizationId } = service.root;
    const id = storage.fence.restoration?.id;
    expect(storage.fence.scope).toBeUndefined();
    await stranger.run('UPDATE organization SET accepted_restoration = ? WHERE id = ?', [id ?? '', organizationId]);
    await looked();
    expect([storage.fence.isWhole, storage.fence.holds({ id: organizationId, parentId: undefined })]).toEqual([
      true,
      true,
    ]);
    expect(storage.integrity.violations.map(({ table }) => table)).toContain('organization');
  });

  test('that is deleted counts on in a service that runs, and the next one holds everything', async () => {
    const { service, stranger, isFenced } = await open();
    await restore(service);
    await stranger.run('DELETE FROM restoration');
    await looked();
    expect(await isFenced()).toBe(true);
    expect(service.app.storage.integrity.violations).toMatchObject([{ table: 'restoration', because: 'set' }]);
    await service.restart();
    expect([await isFenced(), service.app.storage.fence.doubt]).toEqual([true, 'not-genuine']);
    expect((await service.root.query('whoami')).status).toBe(200);
    // Whoever removes the other traces too has lifted it, as the threat model says.
    await stranger.run("UPDATE schema_migration SET compatibility = 'expand' WHERE name LIKE '0029%'");
    await service.restart();
    expect(await isFenced()).toBe(true);
    await stranger.run("DELETE FROM deployment WHERE name = 'newest_restoration'");
    await service.restart();
    expect(await isFenced()).toBe(false);
  });

  test('that is deleted beside an earlier one that was accepted holds everything too', async () => {
    const { service, stranger, isFenced } = await open();
    await restore(service);
    await accept(service);
    await restore(service);
    expect(await isFenced()).toBe(true);
    await stranger.run('DELETE FROM restoration WHERE accepted_at_ms IS NULL');
    await service.restart();
    expect([await isFenced(), service.app.storage.fence.doubt]).toEqual([true, 'not-genuine']);
    await expect(acceptRestore(service.app.config, { confirm: async () => true })).rejects.toThrow('or is missing');
  });

  test('that was accepted and is deleted still refuses in a service that runs', async () => {
    const { service, stranger } = await open();
    await restore(service);
    await accept(service);
    await stranger.run('DELETE FROM restoration');
    await looked();
    const answer = await service.root.submit('create_user_tag', { userTagName: 'x', userIds: [] });
    expect(outcome(answer)).toEqual([400, 'ISSUED_BEFORE_RESTORE']);
  });

  test('that comes while a service runs stops it until it is started again', async () => {
    const { service, isFenced } = await open();
    const nowMs = service.app.clock();
    await service.app.storage.write((store) =>
      raiseFence(store, { backupId: 'b', snapshotAtMs: nowMs - 1000, restoredAtMs: nowMs, exhaust: false }),
    );
    await vi.waitFor(async () => expect(await isFenced()).toBe(true), PATIENCE);
    await acceptRestore(service.app.config, { confirm: async () => true });
    await looked();
    const { body } = await service.root.submit('create_user_tag', { userTagName: 'x', userIds: [] });
    expect(body.message).toMatch(/has to restart this process/);
    await service.restart();
    service.advance(BEYOND_BODIES_MS);
    expect(await isFenced()).toBe(false);
  });
});
