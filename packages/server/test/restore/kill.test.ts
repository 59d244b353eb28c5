import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Step } from '../../src/restore/target/target.ts';
import { verifyDatabase } from '../../src/restore/verify.ts';
import { onPostgres } from '../faults/support.ts';
import { DATABASES } from '../harness/databases.ts';
import { BackedUp, backUp, type Dump, dump, letFilesGo, restoreInto } from './support.ts';

const SCRIPT = fileURLToPath(new URL('killed-restore.mjs', import.meta.url));
const SECONDS = 240_000;

/** In their order. */
const STEPS: readonly Step[] = [
  'locked',
  'header',
  'filled',
  'ring',
  'verified',
  'confirmed',
  'fenced',
  'folded',
  'kept',
  'moved',
  'swapped',
  'done',
];
/** From here on the database is the one of the backup. PostgreSQL has moved nothing until it has committed. */
const FIRST_OF_NEW = { sqlite: 'moved', postgres: 'swapped' } as const;

async function killedAt({ server, archive, key }: BackedUp, step: Step): Promise<void> {
  const env = { ...server.environment, CUSTOS_KEYRING: 'inline' };
  const child = spawn(process.execPath, [SCRIPT, archive, key.file, step], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  expect([step, code, signal, stderr]).toEqual([step, null, 'SIGKILL', '']);
}

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

  test('leaves the old database or the new one at every step', { timeout: SECONDS }, async () => {
    const firstOfNew = STEPS.indexOf(FIRST_OF_NEW[database]);
    for (const [index, step] of STEPS.entries()) {
      await killedAt(made, step);
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
