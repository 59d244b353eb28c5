import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { KeyDeployment } from '../../test/fixtures/key-deployment.ts';
import { openRootKey } from '../bootstrap.ts';
import { ClockReader } from '../core/store/clock.ts';
import { InstallationReader } from '../core/store/installation.ts';
import { dataModel } from '../domains.ts';
import { DAY_MS } from '../lib/clock.ts';
import { openServiceKeys } from '../service-keys.ts';
import { openStorage } from '../storage/open.ts';
import { retireKey } from './retire.ts';

// When retired keys go for good, by clocks that cannot be set in a test that runs a service.

const BEGAN_MS = Date.UTC(2026, 0, 1);
let one: KeyDeployment;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: BEGAN_MS });
  one = await KeyDeployment.make();
});

afterEach(async () => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  await one[Symbol.asyncDispose]();
});

/** The service stores something at that time. */
const storeAt = async (atMs: number): Promise<void> => {
  await one.write('UPDATE activity SET created_at_ms = ?', [atMs]);
  await one.write('UPDATE organization SET updated_at_ms = ?', [BEGAN_MS]);
};
const atDay = (day: number): void => {
  vi.setSystemTime(BEGAN_MS + day * DAY_MS);
};
const current = async (): Promise<string> => (await one.fact('root_key_id')) ?? '';

async function retiredKey(): Promise<string> {
  const old = await current();
  await one.rotate();
  await one.retire(old);
  expect((await one.ring()).retired).toEqual([{ id: old, retiredAtMs: BEGAN_MS }]);
  return old;
}

test('a start removes no retired key, and a command only what its plan names', async () => {
  const old = await retiredKey();
  atDay(31);
  await storeAt(Date.now());
  const storage = await openStorage({ dataModel, ...one.config, nowMs: Date.now(), onIdleError: () => {} });
  const keyring = await openRootKey(storage, one.config.rootKey, 'inline');
  await openServiceKeys(storage, keyring, Date.now());
  await new Promise((resolve) => setTimeout(resolve, 2500));
  expect((await keyring.refreshRing()).retired).toHaveLength(1);
  await keyring.close();
  await storage.close();
  await one.write("DELETE FROM deployment WHERE name LIKE 'process:%'");

  expect((await one.rotate(false)).expired).toEqual({ ids: [old] });
  expect((await one.ring()).retired).toHaveLength(1);
  expect((await one.rotate()).expired).toEqual({ ids: [old] });
  expect((await one.ring()).retired).toBeUndefined();
});

test('no key goes unless a person was asked, except the one that retire names', async () => {
  const old = await retiredKey();
  atDay(31);
  await storeAt(Date.now());
  const second = await current();
  expect((await one.rotate(true, false)).expired).toEqual({ ids: [], left: [old] });
  expect(await one.retire(second, false, true, false)).toMatchObject({ expired: { ids: [], left: [old] } });
  expect((await one.ring()).retired?.map(({ id }) => id)).toEqual([old, second]);
  expect(await one.retire(old, false, true, false)).toMatchObject({ isNow: true, expired: { ids: [] } });
  expect((await one.ring()).retired?.map(({ id }) => id)).toEqual([second]);
});

test('no key goes by a clock that does not fit what is stored', async () => {
  await retiredKey();
  atDay(31);
  for (const [day, doubt] of [
    [1, /is days ahead of the newest thing that the service stored/],
    [32, /is behind the newest time/],
  ] as const) {
    await storeAt(BEGAN_MS + day * DAY_MS);
    expect((await one.rotate()).expired).toEqual({ ids: [], doubt: expect.stringMatching(doubt) });
    expect((await one.ring()).retired).toHaveLength(1);
  }
  await storeAt(BEGAN_MS + 29 * DAY_MS);
  expect((await one.rotate()).expired.ids).toHaveLength(1);
  expect((await one.ring()).retired).toBeUndefined();
});

test.each([true, false])('a key whose 30 days are over is destroyed by name (--now: %s)', async (isNow) => {
  const old = await retiredKey();
  atDay(31);
  await storeAt(Date.now());
  expect(await one.retire(old, isNow)).toMatchObject({ isNow: true, expired: { ids: [] } });
  expect((await one.ring()).retired).toBeUndefined();
  expect(await one.fact('rotation')).toBeUndefined();
});

test('no key is destroyed while a backup runs, which may need it and is recorded only at its end', async () => {
  const old = await current();
  // Its snapshot is from before the rotation.
  const { lockBackups } = await import('./lock.ts');
  const { openBeside } = await import('./beside.ts');
  const lock = await lockBackups(one.config.databaseUrl);
  const running = await openBeside(one.config, 'backup');
  await one.rotate();
  await expect(one.retire(old, true)).rejects.toThrow('another `custos backup` is running');
  expect((await one.ring()).ids).toContain(old);
  expect(await one.fact('rotation')).toBeUndefined();
  const record = { takenAtMs: Date.now(), rootKeyIds: [old], place: '/backups/one.age' };
  await one.putFact('backup:1', JSON.stringify(record));
  await running.close();
  await lock.release();
  await expect(one.retire(old, true)).rejects.toThrow('is still needed by backup 1');
  await one.write("DELETE FROM deployment WHERE name = 'backup:1'");
  await one.retire(old, true);
  expect((await one.ring()).ids).not.toContain(old);
});

test('a refusal leaves no record, and a root key that was changed meanwhile stays', async () => {
  const old = await current();
  await one.rotate();
  const backup = { id: 'b1', takenAtMs: BEGAN_MS, rootKeyIds: [old], place: 'here' };
  vi.spyOn(InstallationReader.prototype, 'backups').mockResolvedValueOnce([]).mockResolvedValueOnce([backup]);
  await expect(one.retire(old)).rejects.toThrow(/is still needed by backup b1 .*: the key stays as it was/);
  expect(await one.fact('rotation')).toBeUndefined();

  const confirm = async (): Promise<boolean> => {
    await one.write("UPDATE deployment SET value = 'another' WHERE name = 'root_key_id'");
    return true;
  };
  const run = retireKey(one.config, {
    keyId: old,
    isNow: true,
    waitSeconds: 0,
    say: () => {},
    confirm,
    asksPerson: true,
  });
  await expect(run).rejects.toThrow(/has taken over/);
  expect(await one.fact('root_key_id')).toBe('another');
  expect(await one.fact('rotation')).toBeUndefined();
  expect((await one.ring()).ids).toContain(old);
});

test('a wrong clock does not vouch for itself by what commands wrote with it', async () => {
  const old = await retiredKey();
  // A day later in truth, when the clock jumps ahead.
  await storeAt(BEGAN_MS + DAY_MS);
  atDay(31);
  const ahead = { ids: [], doubt: expect.stringMatching(/is days ahead of the newest thing that the service stored/) };
  const second = await current();
  expect((await one.rotate()).expired).toEqual(ahead);
  expect(await one.retire(second)).toMatchObject({
    expired: ahead,
    doubt: expect.stringContaining('is days ahead of'),
  });
  expect((await one.ring()).retired).toContainEqual({ id: second, retiredAtMs: Date.now() });
  await one.write('UPDATE service_key SET created_at_ms = ?', [Date.now()]);
  expect((await one.rotate()).expired).toEqual(ahead);
  expect((await one.ring()).retired).toContainEqual({ id: old, retiredAtMs: BEGAN_MS });
});

test('what commands and the ring say shows that a clock is behind', async () => {
  await retiredKey();
  const second = await current();
  await one.rotate();
  // Days ahead of what is stored, so that the first one stays.
  atDay(40);
  await one.retire(second);
  await storeAt(BEGAN_MS + 30 * DAY_MS);
  atDay(31);
  const behind = {
    ids: [],
    doubt: expect.stringMatching(/is behind the newest time that was written down \(2026-02-10/),
  };
  expect((await one.rotate(false)).expired).toEqual(behind);
  await one.write('UPDATE service_key SET created_at_ms = ?', [BEGAN_MS + 50 * DAY_MS]);
  expect((await one.rotate(false)).expired.doubt).toContain('(2026-02-20');
});

test.each([-1, 1])(
  'no key goes, and none is kept by a time, where the database has another clock (%s days)',
  async (days) => {
    await retiredKey();
    const second = await current();
    atDay(31);
    await storeAt(Date.now());
    vi.spyOn(ClockReader.prototype, 'databaseNowMs').mockResolvedValue(Date.now() + days * DAY_MS + 0.5);
    const where = days > 0 ? 'behind' : 'ahead of';
    expect((await one.rotate()).expired).toEqual({
      ids: [],
      doubt: expect.stringMatching(
        new RegExp(` stays in the key ring: the clock \\(.*\\) is ${where} the clock of the database`),
      ),
    });
    const ring = one.ringBytes();
    await expect(one.retire(second)).rejects.toThrow(
      /the clock of the database .*: set the right one first, .*nothing was changed$/,
    );
    expect(one.ringBytes()).toBe(ring);
    // Whoever destroys it at once needs no clock.
    expect(await one.retire(second, true)).toMatchObject({ isNow: true });
    vi.mocked(ClockReader.prototype.databaseNowMs).mockResolvedValue(Date.now());
    expect((await one.rotate(false)).expired.ids).toHaveLength(1);
  },
);

test('a clock that is behind does not shorten the 30 days of a key', async () => {
  const old = await current();
  await one.rotate();
  // It is day 31 in truth, and the service knew that before the clock fell back.
  const trueMs = BEGAN_MS + 31 * DAY_MS;
  await storeAt(trueMs);
  expect(await one.retire(old)).toMatchObject({
    keptUntilMs: trueMs + 30 * DAY_MS,
    doubt: expect.stringContaining('is behind'),
  });
  expect((await one.ring()).retired).toEqual([{ id: old, retiredAtMs: trueMs }]);
  atDay(31);
  expect((await one.rotate()).expired).toEqual({ ids: [] });
  expect((await one.ring()).retired).toHaveLength(1);
});

test('times that no clock has written stop nothing', async () => {
  const old = await current();
  await one.rotate();
  await storeAt(Number.MAX_SAFE_INTEGER);
  expect(await one.retire(old)).toMatchObject({ keptUntilMs: Date.UTC(9998, 0, 31) });
  expect((await one.ring()).retired).toHaveLength(1);
});
