import { expect, test, vi } from 'vitest';
import { openPostgresSnapshot } from '../../src/backup/snapshot/postgres.ts';
import { LONG_ANSWER_MS_MAX } from '../../src/keyring-admin/postgres-session.ts';
import { openPostgresUrl } from '../../src/restore-review/against/postgres.ts';

// The next rows of a table may lie behind gigabytes of dead ones, for longer than a command waits for any other answer.

const waits = vi.hoisted(() => [] as (number | undefined)[]);
vi.mock('../../src/keyring-admin/postgres-session.ts', async (importOriginal) => ({
  ...(await importOriginal<typeof import('../../src/keyring-admin/postgres-session.ts')>()),
  connectPostgres: async (_url: string, answerMsMax?: number) => {
    waits.push(answerMsMax);
    throw new Error('there is no server');
  },
}));

test('a backup, and a comparison with another database, wait for them', async () => {
  const url = 'postgres://nowhere/custos';
  await expect(openPostgresSnapshot(url)).rejects.toThrow('there is no server');
  await expect(openPostgresUrl(url)).rejects.toThrow('there is no server');
  expect(waits).toEqual([LONG_ANSWER_MS_MAX, LONG_ANSWER_MS_MAX]);
});
