import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { OrganizationStore } from '../../src/core/store/organizations.ts';
import { SendReader, SendStore } from '../../src/domains/sends/store/sends.ts';
import { raiseFence } from '../../src/fence/raise.ts';
import { RestorationReader } from '../../src/fence/store.ts';
import { type AcceptOptions, type AcceptPlan, acceptRestore } from '../../src/fence-accept/accept.ts';
import { showFence } from '../../src/fence-accept/show.ts';
import { randomId } from '../../src/lib/ids.ts';
import { withStorage } from '../fixtures/integrity.ts';
import { KeyDeployment } from '../fixtures/key-deployment.ts';
import { waitingSend } from '../fixtures/waiting-send.ts';
import { DATABASES } from '../harness/databases.ts';
import { organization } from '../storage/place.ts';

// `custos restore accept` without a service: whom it accepts a restore for, what it refuses, and what it leaves behind.

const NOW = 1_800_000_000_000;

describe.each(DATABASES)('accepting a restore on %s', (kind) => {
  let made: KeyDeployment;
  let plans: AcceptPlan[];

  beforeEach(async () => {
    made = await KeyDeployment.make(kind);
    plans = [];
  });
  afterEach(() => made[Symbol.asyncDispose]());

  const raise = (restoredAtMs = NOW) =>
    withStorage(made.config, (storage) =>
      storage.write((store) =>
        raiseFence(store, { backupId: 'a backup', snapshotAtMs: restoredAtMs - 1000, restoredAtMs, exhaust: false }),
      ),
    );
  const accept = (options: Partial<AcceptOptions> = {}) =>
    acceptRestore(made.config, {
      confirm: async (plan) => plans.push(plan) > 0,
      ...options,
    });
  const restorations = () => withStorage(made.config, ({ read }) => read(RestorationReader).all());

  /** A parent with a sub-organization. */
  const family = async () => {
    const parent = organization({ id: randomId(), name: 'Parent', wrappedKey: new Uint8Array(18) });
    const child = organization({ id: randomId(), parentId: parent.id, name: 'Child', wrappedKey: new Uint8Array(18) });
    await withStorage(made.config, (storage) =>
      storage.write(async (store) => {
        for (const one of [parent, child]) await store(OrganizationStore).insert(one);
      }),
    );
    return { parent, child };
  };

  test('where there was none is refused', async () => {
    await expect(accept()).rejects.toThrow('never restored by `custos restore`: there is nothing to accept');
    expect(await showFence(made.config)).toEqual({ last: undefined, isUp: false, accepted: 0 });
  });

  test('for all is recorded with who did it and when, once', async () => {
    await raise();
    const before = Date.now();
    expect(await accept()).toEqual({
      acceptedBy: expect.stringMatching(/^[^@]+@.+$/),
      organizationId: undefined,
      settled: 0,
      held: 0,
    });
    expect(plans).toMatchObject([{ organization: undefined, sends: 0, undecided: 0, processes: [] }]);
    expect(plans[0]?.restorations).toMatchObject([{ backupId: 'a backup', restoredAtMs: NOW }]);
    const [done] = await restorations();
    expect(done?.acceptedAtMs).toBeGreaterThanOrEqual(before);
    expect(await showFence(made.config)).toMatchObject({ isUp: false, last: { acceptedBy: done?.acceptedBy } });
    await expect(accept()).rejects.toThrow(/was accepted at 20\S+ by .*: there is nothing to accept/);
  });

  test('that is not agreed to changes nothing', async () => {
    await raise();
    expect(await accept({ confirm: async () => false })).toBeUndefined();
    expect(await restorations()).toMatchObject([{ acceptedAtMs: undefined }]);
  });

  test('for an organization is for its sub-organizations, and once', async () => {
    const { parent, child } = await family();
    await raise();
    await accept({ organizationId: parent.id.toUpperCase() });
    expect(plans[0]?.organization).toEqual({ id: parent.id, name: 'Parent', subOrganizations: 1 });
    expect(await showFence(made.config)).toMatchObject({ isUp: true, accepted: 1 });
    for (const { id } of [parent, child])
      await expect(accept({ organizationId: id })).rejects.toThrow('accepted before for organization');
    await expect(accept({ organizationId: randomUUID() })).rejects.toThrow('the database has no organization');
    await expect(accept({ organizationId: 'x\u001b[31m' })).rejects.toThrow(/no organization x\\u/);
    // A restore after that holds it again, with everybody.
    await raise(NOW + 1);
    expect(await showFence(made.config)).toMatchObject({ isUp: true, accepted: 0 });
    await accept();
    expect(plans.at(-1)?.restorations).toHaveLength(2);
    expect(await restorations()).toMatchObject([
      { acceptedAtMs: expect.any(Number) },
      { acceptedAtMs: expect.any(Number) },
    ]);
  });

  test('of a restore that comes while it is asked for is none', async () => {
    await raise();
    if (kind === 'sqlite') return;
    const racing = accept({
      confirm: async () => {
        await raise(NOW + 1);
        return true;
      },
    });
    await expect(racing).rejects.toThrow('restored or accepted meanwhile');
    expect(await restorations()).toMatchObject([{ acceptedAtMs: undefined }, { acceptedAtMs: undefined }]);
  });

  test('is refused while nobody knows what became of a send, unless that is decided or left held', async () => {
    const { parent } = await family();
    const send = waitingSend(parent.id);
    await withStorage(made.config, (storage) => storage.write((store) => store(SendStore).insert(send)));
    await raise();
    const stateOf = () => withStorage(made.config, ({ read }) => read(SendReader).get(parent.id, send.id));
    // However the id is written: what is accepted is what was settled.
    for (const options of [{}, { organizationId: parent.id }, { organizationId: ` ${parent.id.toUpperCase()}` }]) {
      await expect(accept(options)).rejects.toThrow(
        new RegExp(`nobody knows what became of a send \\(${send.id}\\).*the fence stays up`),
      );
    }
    expect(plans).toEqual([]);
    expect(await stateOf()).toMatchObject({ state: 'INITIALIZED', isOpen: true });
    expect(await showFence(made.config)).toMatchObject({ isUp: true, accepted: 0 });
    expect(await accept({ holdsUndecided: true })).toMatchObject({ settled: 0, held: 1 });
    expect(await stateOf()).toMatchObject({ state: 'INITIALIZED', isOpen: false });
    expect(await accept({ decisions: [`${send.id}=failed`] })).toMatchObject({ acceptedBy: undefined, settled: 1 });
    expect(plans.at(-1)).toMatchObject({ restorations: [], sends: 1 });
    expect(await stateOf()).toMatchObject({ state: 'FAILED' });
  });
});
