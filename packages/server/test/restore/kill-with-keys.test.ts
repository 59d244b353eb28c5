import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DATABASES } from '../harness/databases.ts';
import { times } from '../harness/effort.ts';
import { FIRST_OF_NEW, killedAt, STEPS } from './killed-restore.ts';
import { BackedUp, dump, emptyPlace, restoreInto } from './support.ts';

const SECONDS = 240_000;
const HAS_TIME = times(1) > 1;
/** The key ring is written in the same way beside both databases. */
const TRIED = HAS_TIME ? DATABASES : (['sqlite'] as const);
/** Every second step, to the last one, unless there is time. */
const KILLED = STEPS.filter((_step, index) => HAS_TIME || index % 2 === 1);

test.each(TRIED)(
  'a restore with its key ring into an empty place on %s, killed at any step, leaves both, the ring alone, or nothing',
  { timeout: SECONDS },
  async (database) => {
    await using made = await BackedUp.make(database);
    const ring = readFileSync(join(made.server.dataDir, 'root.key')).toString('hex');
    for (const step of KILLED) {
      const index = STEPS.indexOf(step);
      await using place = await emptyPlace(database);
      const { config, environment } = place;
      await killedAt(step, environment, made.archiveWithKeys, made.key, 'with-keys');
      const file = join(config.dataDir, 'root.key');
      const hasRing = index >= STEPS.indexOf('ring');
      expect(existsSync(file), step).toBe(hasRing);
      if (hasRing) expect(readFileSync(file).toString('hex'), step).toBe(ring);
      if (index >= STEPS.indexOf(FIRST_OF_NEW[database])) {
        expect(await dump(config), step).toEqual(made.before);
        continue;
      }
      // The next run finds nothing to replace, and goes on with the ring that is there.
      const { restored, plan } = await restoreInto(config, made.archiveWithKeys, made.key, { withKeys: true });
      expect([step, plan?.present, restored?.kept]).toEqual([step, undefined, undefined]);
      expect(readFileSync(file).toString('hex'), step).toBe(ring);
      expect(await dump(config), step).toEqual(made.before);
    }
  },
);
