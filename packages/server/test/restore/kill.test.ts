import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifyDatabase } from '../../src/restore/verify.ts';
import { chanceOf, chooseSeed, onPostgres } from '../faults/support.ts';
import { DATABASES } from '../harness/databases.ts';
import { times } from '../harness/effort.ts';
import { FIRST_OF_NEW, killedAt, STEPS } from './killed-restore.ts';
import { BackedUp, backUp, type Dump, dump, letFilesGo, restoreInto } from './support.ts';

const SECONDS = 240_000;

/** Every second step on one database and the others on the other, by chance; `npm run test:long` tries all on both. */
const isLong = times(1) > 1;
const [one, other] = chanceOf(chooseSeed('kills of restores')).between(0, 1) === 0 ? [0, 1] : [1, 0];
const HALF = { sqlite: one, postgres: other } as const;

describe.concurrent.each(DATABASES)('a restore that is killed on %s', (database) => {
  let made: BackedUp;
  let old: Dump;
  let archiveOfOld: string;
  beforeAll(async () => {
    made = await BackedUp.make(database);
    old = await dump(made.config);
    archiveOfOld = await backUp(made.config, join(made.folder, 'old.backup'), made.key);
  }, SECONDS);
  afterAll(async () => {
    await made?.[Symbol.asyncDispose]();
  });

  test('leaves the old database or the new one at each step', { timeout: SECONDS }, async () => {
    const firstOfNew = STEPS.indexOf(FIRST_OF_NEW[database]);
    for (const [index, step] of STEPS.entries()) {
      if (!isLong && index % 2 !== HALF[database]) continue;
      await killedAt(step, made.server.environment, made.archive, made.key);
      const isNew = index >= firstOfNew;
      expect(await dump(made.config), step).toEqual(isNew ? made.before : old);
      const { checked } = await verifyDatabase(made.config, {
        sample: 10,
        acceptsLostLog: false,
        say: () => {},
        report: (finding) => expect([step, finding]).toBeUndefined(),
      });
      expect(checked.findings, step).toBe(0);
      await letFilesGo();
      if (isNew) await restoreInto(made.config, archiveOfOld, made.key, { discard: true });
    }
    // The next run removes what killed ones have left.
    await restoreInto(made.config, made.archive, made.key, { discard: true });
    if (database === 'sqlite') {
      const names = readdirSync(made.server.dataDir).filter((name) => /restoring|-wal|-shm|-journal/.test(name));
      expect(names).toEqual([]);
    } else {
      const { rows } = await onPostgres(made.server.databaseUrl as string, (client) =>
        client.query("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'custos_scratch%'"),
      );
      expect(rows).toEqual([]);
    }
    expect(await dump(made.config)).toEqual(made.before);
    await made.server.start();
    expect((await made.world.at(made.server.baseUrl).root.query('whoami')).status).toBe(200);
    expect(await made.server.stop()).toBe(0);
  });
});
