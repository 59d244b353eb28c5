import { describe, expect, test } from 'vitest';
import type { Send } from '../../../server/src/chains/send/model.ts';
import { SendStore } from '../../../server/src/domains/sends/store/sends.ts';
import { raiseFence } from '../../../server/src/fence/raise.ts';
import type { OrganizationId } from '../../../server/src/lib/ids.ts';
import { runCli } from '../../../server/test/faults/support.ts';
import { withStorage } from '../../../server/test/fixtures/integrity.ts';
import { KeyDeployment } from '../../../server/test/fixtures/key-deployment.ts';
import { waitingSend } from '../../../server/test/fixtures/waiting-send.ts';
import { databasesOf } from '../../../server/test/harness/databases.ts';

const restore = ({ config: { dataDir, databaseUrl } }: KeyDeployment, ...args: string[]) =>
  runCli(
    {
      CUSTOS_DATA_DIR: dataDir,
      CUSTOS_KEYRING: 'inline',
      ...(databaseUrl !== undefined && { CUSTOS_DATABASE_URL: databaseUrl }),
    },
    'restore',
    ...args,
  );

describe.each(databasesOf(import.meta.url))('custos restore review on %s', (kind) => {
  const review = (made: KeyDeployment, ...args: string[]) => restore(made, 'review', ...args);

  const raise = ({ config }: KeyDeployment) =>
    withStorage(config, (storage) => {
      const restoredAtMs = Date.now() - 1000;
      return storage.write((store) =>
        raiseFence(store, { backupId: 'a backup', snapshotAtMs: restoredAtMs - 1000, restoredAtMs, exhaust: false }),
      );
    });

  async function addSend(made: KeyDeployment): Promise<Send> {
    const [first] = await made.read('SELECT id FROM organization');
    const send = waitingSend(first?.['id'] as OrganizationId);
    await withStorage(made.config, (storage) => storage.write((store) => store(SendStore).insert(send)));
    return send;
  }

  test('exits 0 if nothing needs a decision, and 2 if it could not be done', async () => {
    await using made = await KeyDeployment.make(kind);
    const never = await review(made);
    expect([never.code, never.stderr]).toEqual([2, expect.stringMatching(/^custos: .*there is nothing to review\n$/)]);
    await raise(made);
    const done = await review(made);
    expect([done.code, done.stderr]).toEqual([0, '']);
    expect(done.stdout).toMatch(/\n0 sends in question, 0 of them undecided\n$/);
    const missing = await review(made, '--against', '/nowhere/custos.db');
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('cannot read /nowhere/custos.db')]);
    const organization = await review(made, '--organization', 'x');
    expect([organization.code, organization.stderr]).toEqual([2, 'custos: x is not the id of an organization\n']);
  });

  test('counts altered sends beside those that a person can decide', { timeout: 120_000 }, async () => {
    await using made = await KeyDeployment.make(kind);
    const [one, other] = [await addSend(made), await addSend(made)];
    await raise(made);
    const alter = ({ id }: Send) => made.write('UPDATE chain_send SET sender = ? WHERE id = ?', ['0x00', id]);
    const both = await review(made);
    expect(both.code).toBe(1);
    expect(both.stdout).toMatch(/\n2 sends in question, 2 of them undecided\nUndecided sends are held: .*\n$/);

    await alter(one);
    const some = await review(made);
    expect(some.code).toBe(1);
    expect(some.stdout).toContain(`nothing is done with them:\n  ${one.id}\n`);
    expect(some.stdout).toMatch(
      /\n1 send in question, 1 of them undecided; 1 altered send\nUndecided .*\nAltered .*\n/,
    );

    await alter(other);
    const none = await review(made);
    expect(none.code).toBe(1);
    expect(none.stdout).toMatch(/\n0 sends in question, 0 of them undecided; 2 altered sends\nAltered .*verify.*\n$/);
    const json = await review(made, '--json');
    expect([json.code, JSON.parse(json.stdout.trimEnd().split('\n').at(-1) ?? '')]).toEqual([
      1,
      { kind: 'counts', sends: 0, undecided: 0, altered: 2, differences: null },
    ]);
    const decided = await restore(made, 'accept', '--yes', '--send', `${one.id}=failed`);
    expect([decided.code, decided.stderr]).toEqual([1, expect.stringContaining('was altered')]);
    const plan = await restore(made, 'accept', '--dry-run');
    expect(plan.stdout + plan.stderr).toContain('It leaves 2 altered sends as they are');
  });
});
