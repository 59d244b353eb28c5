import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HOUR_MS } from '../../src/lib/clock.ts';
import { BackedUp, emptyPlace, restoreInto, rewritten } from './support.ts';

test('a backup that is younger than the clock of this machine says is not restored', { timeout: 120_000 }, async () => {
  await using made = await BackedUp.make('sqlite');
  const withTime = (snapshotAtMs: number) => rewritten(made, (part) => part, { snapshotAtMs });
  await using place = await emptyPlace('sqlite', join(made.server.dataDir, 'root.key'));
  const younger = await withTime(Date.now() + HOUR_MS);
  await expect(restoreInto(place.config, younger, made.key)).rejects.toThrow(/set the clock if it is behind/);
  expect(existsSync(join(place.config.dataDir, 'custos.db'))).toBe(false);
  // Clocks differ a little.
  const { restored } = await restoreInto(place.config, await withTime(Date.now() + 60_000), made.key);
  expect(restored).toBeDefined();
});
