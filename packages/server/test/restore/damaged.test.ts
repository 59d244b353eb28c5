import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { StartError } from '../../src/lib/start-error.ts';
import { openArchive } from '../../src/restore/archive-source.ts';
import { KeyDeployment } from '../fixtures/key-deployment.ts';
import { times } from '../harness/effort.ts';
import { backUp, dump, newAgeKey, restoreInto } from './support.ts';

const SECONDS = 120_000;

type Damage = (bytes: Buffer) => Buffer;

const flip: fc.Arbitrary<Damage> = fc
  .tuple(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), fc.integer({ min: 1, max: 255 }))
  .map(([at, by]) => (bytes) => {
    const changed = Buffer.from(bytes);
    const index = Math.floor(at * bytes.length);
    changed[index] = (changed[index] ?? 0) ^ by;
    return changed;
  });
const cut: fc.Arbitrary<Damage> = fc
  .double({ min: 0, max: 1, noNaN: true, maxExcluded: true })
  .map((at) => (bytes) => bytes.subarray(0, Math.floor(at * bytes.length)));
const takeOut: fc.Arbitrary<Damage> = fc
  .tuple(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), fc.integer({ min: 1, max: 5000 }))
  .map(([at, length]) => (bytes) => {
    const index = Math.floor(at * bytes.length);
    return Buffer.concat([bytes.subarray(0, index), bytes.subarray(index + length)]);
  });
const insert: fc.Arbitrary<Damage> = fc
  .tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.uint8Array({ minLength: 1, maxLength: 200 }))
  .map(([at, more]) => (bytes) => {
    const index = Math.floor(at * bytes.length);
    return Buffer.concat([bytes.subarray(0, index), more, bytes.subarray(index)]);
  });

/** Reads all of it, as whoever restores does. */
async function readAll(file: string, identity: string): Promise<void> {
  const archive = await openArchive(file, [identity]);
  try {
    for await (const _part of archive.parts);
  } finally {
    await archive.close();
  }
}

test('an archive that is changed anywhere is refused, and the database stays as it was', {
  timeout: SECONDS,
}, async () => {
  await using one = await KeyDeployment.make('sqlite');
  const { dataDir } = one.config;
  const key = await newAgeKey(dataDir);
  const bytes = readFileSync(await backUp(one.config, join(dataDir, 'one.backup'), key));
  const before = await dump(one.config);
  const file = join(dataDir, 'damaged.backup');
  await fc.assert(
    fc.asyncProperty(fc.oneof(flip, cut, takeOut, insert), async (damage) => {
      writeFileSync(file, damage(bytes));
      const error = await readAll(file, key.file).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(StartError);
    }),
    { numRuns: times(150) },
  );
  // Every byte of the beginning, and some all over, on the way to the database.
  for (const at of [0, 30, 60, 120, 200, 300, bytes.length / 2, bytes.length - 1].map(Math.floor)) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    writeFileSync(file, changed);
    await expect(restoreInto(one.config, file, key), String(at)).rejects.toThrow(StartError);
  }
  writeFileSync(file, bytes.subarray(0, bytes.length - 500));
  await expect(restoreInto(one.config, file, key)).rejects.toThrow('damaged or was cut off');
  expect(await dump(one.config)).toEqual(before);
});
