import { describe, expect, test } from 'vitest';
import { InstallationReader, InstallationStore } from '../../src/core/store/installation.ts';
import { createKeyRemoval } from '../../src/key-rotation/delete-expired.ts';
import { DAY_MS } from '../../src/lib/clock.ts';
import { DATABASES, type DatabaseKind } from '../harness/databases.ts';
import { Place } from './place.ts';

// One process deletes service keys for all: when it dares to.

const ROLE = 'otp';

/** A database with a key that the next one replaced so many days ago, and a process whose clocks can be set. */
async function begin(kind: DatabaseKind, daysAgo: number) {
  const place = await Place.create(kind);
  const storage = await place.open();
  const startedAtMs = Date.now();
  const insert = (keyId: string, signsFromMs: number, createdAtMs = signsFromMs) =>
    storage.write((store) =>
      store(InstallationStore).insertServiceKey({
        role: ROLE,
        keyId,
        publicKey: '',
        encoding: 'uncompressed',
        sealedKey: new Uint8Array(1),
        createdAtMs,
        signsFromMs,
      }),
    );
  await insert('old', 0);
  await insert('new', startedAtMs - daysAgo * DAY_MS);
  // Something was stored just now.
  await insert('unrelated', startedAtMs - daysAgo * DAY_MS + 1, startedAtMs);
  const clocks = { aheadMs: 0, elapsedMs: 0 };
  const remove = createKeyRemoval(
    storage,
    () => Date.now() + clocks.aheadMs,
    () => clocks.elapsedMs,
  );
  const stored = () => storage.read(InstallationReader).serviceKeys();
  /** What is left after another look. */
  const look = async (): Promise<boolean> => {
    await remove(await stored());
    return (await stored()).some(({ keyId }) => keyId === 'old');
  };
  return { clocks, insert, look, [Symbol.asyncDispose]: () => place[Symbol.asyncDispose]() };
}

describe.each(DATABASES)('an expired service key on %s', (kind) => {
  test('is deleted by a process that saw it expired for a day', async () => {
    await using place = await begin(kind, 40);
    expect(await place.look()).toBe(true);
    place.clocks.elapsedMs = DAY_MS - 1;
    expect(await place.look()).toBe(true);
    place.clocks.elapsedMs = DAY_MS;
    expect(await place.look()).toBe(false);
  });

  test('stays where the process started with a clock that is ahead, whatever it stores by it', async () => {
    await using place = await begin(kind, 1);
    place.clocks.aheadMs = 33 * DAY_MS;
    expect(await place.look()).toBe(true);
    await place.insert('by the wrong clock', Date.now(), Date.now() + 33 * DAY_MS);
    for (let day = 1; day < 5; day += 1) {
      place.clocks.elapsedMs = day * DAY_MS;
      expect(await place.look()).toBe(true);
    }
  });

  test('stays where the clock went wrong meanwhile, or was wrong and was mended', async () => {
    await using place = await begin(kind, 40);
    expect(await place.look()).toBe(true);
    place.clocks.elapsedMs = DAY_MS;
    place.clocks.aheadMs = 10 * DAY_MS;
    expect(await place.look()).toBe(true);
    place.clocks.aheadMs = 0;
    expect(await place.look()).toBe(true);
  });

  test('is seen anew where it was in use again, after the clock fell', async () => {
    await using place = await begin(kind, 32);
    expect(await place.look()).toBe(true);
    place.clocks.aheadMs = -10 * DAY_MS;
    expect(await place.look()).toBe(true);
    place.clocks.aheadMs = 0;
    place.clocks.elapsedMs = DAY_MS;
    expect(await place.look()).toBe(true);
    place.clocks.elapsedMs = 2 * DAY_MS;
    expect(await place.look()).toBe(false);
  });

  test('stays where everything that was stored is newer than the clock', async () => {
    await using place = await begin(kind, 40);
    await place.insert('of the future', Date.now(), Date.now() + DAY_MS);
    expect(await place.look()).toBe(true);
    place.clocks.elapsedMs = DAY_MS;
    expect(await place.look()).toBe(true);
  });
});
