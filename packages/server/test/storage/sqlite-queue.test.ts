import { expect, test } from 'vitest';
import { codeOf, Place } from './place.ts';

const UNITS_MAX = 10_000;

test('so many writes wait for SQLite and no more, and all that wait are done', { timeout: 60_000 }, async () => {
  await using place = await Place.create('sqlite');
  const storage = await place.open();
  const waiting = (): number | undefined => storage.load.find(({ pool }) => pool === 'write')?.waiting;
  expect(waiting()).toBe(0);
  let done = 0;
  const write = (): Promise<void> =>
    storage.write(async () => {
      done += 1;
    });
  const writes = Array.from({ length: UNITS_MAX }, write);
  expect(waiting()).toBe(UNITS_MAX);
  const refused = write();
  expect(await codeOf(refused)).toBe('UNAVAILABLE');
  await expect(refused).rejects.toMatchObject({ retryAfterSeconds: 1 });
  await Promise.all(writes);
  expect(done).toBe(UNITS_MAX);
  expect(waiting()).toBe(0);
  await write();
});
