import { expect, test } from 'vitest';
import { InstallationReader, InstallationStore } from '../../src/core/store/installation.ts';
import { dataModel } from '../../src/domains.ts';
import { openStorage } from '../../src/storage/open.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { waitUntil } from '../faults/support.ts';
import { createPostgresDatabase } from '../harness/databases.ts';
import { Wire } from '../harness/wire.ts';
import { codeOf, NOW } from './place.ts';

// A PostgreSQL that is slow to let connections in, as on a machine with much to do right after a start
// (docs/decisions/0057).

const REQUESTS = 24;

async function opened(databaseTimeoutSeconds: number): Promise<{ storage: Storage; wire: Wire } & AsyncDisposable> {
  const database = await createPostgresDatabase();
  const wire = await Wire.open(database.url);
  const storage = await openStorage({
    dataModel,
    dataDir: '/nonexistent',
    databaseUrl: wire.url,
    databasePool: 16,
    databaseTimeoutSeconds,
    nowMs: NOW,
    onIdleError: () => {},
  });
  return {
    storage,
    wire,
    [Symbol.asyncDispose]: async () => {
      wire.letIn();
      await storage.close();
      await wire[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

const write = (storage: Storage, value: string): Promise<void> =>
  storage.write((store) => store(InstallationStore).put('bootstrap', value));
const read = (storage: Storage): Promise<string | undefined> => storage.read(InstallationReader).get('bootstrap');
const many = (work: (index: number) => Promise<unknown>): Promise<unknown[]> =>
  Promise.all(Array.from({ length: REQUESTS }, (_, index) => work(index)));

test('one connection serves everybody while others do not come about', async () => {
  await using place = await opened(60);
  const { storage, wire } = place;
  wire.room = 2;
  await write(storage, 'first');
  expect(await read(storage)).toBe('first');
  // Before anybody's patience ends, and with no connection but the two.
  await many((index) => write(storage, `${index}`));
  const all = await many(() => read(storage));
  expect(new Set(all).size).toBe(1);
  expect(storage.load.map(({ timeouts }) => timeouts)).toEqual([0, 0]);
  // Few are tried at once.
  expect(wire.connections).toBeLessThanOrEqual(1 + 2 + 4);
});

test('a connection that came about too late for one request is there for the next', async () => {
  await using place = await opened(10);
  const { storage, wire } = place;
  wire.room = 0;
  const before = wire.connections;
  const late = Promise.all([codeOf(write(storage, 'late')), codeOf(write(storage, 'late'))]);
  await waitUntil('two connections wait', () => wire.connections === before + 2);
  await waitUntil('nobody waits any more', () => storage.load.every(({ waiting }) => waiting === 0), 60_000);
  expect(await late).toEqual(['UNAVAILABLE', 'UNAVAILABLE']);
  wire.letIn();
  await waitUntil('they are there', () => storage.load.some(({ connections, busy }) => connections - busy === 2));
  await write(storage, 'after');
  expect(await read(storage)).toBe('after');
  // One more, for the read.
  expect(wire.connections).toBe(before + 3);
});
