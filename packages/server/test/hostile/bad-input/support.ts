import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type { Operation } from '../../../src/engine/define.ts';
import { operations } from '../../../src/registry.ts';
import type { DatabaseKind } from '../../harness/databases.ts';
import type { Case } from '../../operations/hostile-case.ts';
import { type Field, fieldsOf, prune, type Version, versionsOf } from '../schema.ts';
import { World } from '../world.ts';

let clock = Date.now();

/** Never the same twice, so that equal requests become different activities. */
export function timestampMs(): string {
  clock = Math.max(Date.now(), clock + 1);
  return String(clock);
}

/** A request as the table gives it: the body to send and who stamps it. */
export function bodyOf(
  version: Version,
  { client }: Case,
  parameters: Record<string, unknown>,
): Record<string, unknown> {
  const { organizationId } = client;
  if (version.type === undefined) return { organizationId, ...parameters };
  return { type: version.type, timestampMs: timestampMs(), organizationId, parameters };
}

export const pruned = (version: Version, { parameters }: Case): Record<string, unknown> =>
  prune(version.shape, parameters) as Record<string, unknown>;

export const shapeOf = ({ path, shape, required }: Field): string =>
  JSON.stringify([shape, required, path.at(-1) === '0']);

/** Where each shape is met first, a few places each, since not every place can be reached in every case. */
export const firstPlaces = new Map<string, string[]>();

const PLACES = 3;

export const placeOf = ({ name }: Operation, { type }: Version, { path }: Field): string =>
  [name, type, ...path].join(' ');

for (const operation of operations) {
  for (const version of versionsOf(operation)) {
    for (const field of fieldsOf(version.shape)) {
      const places = firstPlaces.get(shapeOf(field)) ?? [];
      firstPlaces.set(shapeOf(field), [...places, placeOf(operation, version, field)].slice(0, PLACES));
    }
  }
}

/** The keyring says which exports and imports it made. */
const isCounted = (line: string): boolean =>
  line.startsWith('{"level":30,') && /"by":"keyring","what":"(?:export|import)/.test(line);

const complaintsRead = new WeakMap<World, number>();

/** The process must be the one that was started, serve, and have had nothing to complain about since the last look. */
export async function expectUnharmed(world: World, pid: number): Promise<void> {
  expect(world.server.pid).toBe(pid);
  const { status, body } = await world.parent.root.query('whoami');
  expect({ status, userId: body.userId }).toEqual({ status: 200, userId: world.parent.root.userId });
  const { stderr } = world.server.output;
  const complaints = stderr.slice(complaintsRead.get(world));
  complaintsRead.set(world, stderr.length);
  expect(
    complaints
      .split('\n')
      .filter((line) => !isCounted(line))
      .join('\n'),
  ).toBe('');
}

/** Opened before the tests of a file, closed after them. */
export function openFields(database: DatabaseKind) {
  let world: World;

  let pid: number;

  // Shapes are judged before a database is asked, so the other one need not see every spelling of every version.
  const isThorough = database === 'sqlite';

  beforeAll(async () => {
    world = await World.open(database);
    pid = world.server.pid;
  });

  afterEach(() => expectUnharmed(world, pid));

  afterAll(() => world?.[Symbol.asyncDispose]());

  async function expectNoChange(work: () => Promise<void>): Promise<void> {
    const watch = await world.watch();
    await work();
    expect(await watch.changes()).toEqual([]);
  }

  return {
    isThorough,
    get world() {
      return world;
    },
    expectNoChange,
  };
}
