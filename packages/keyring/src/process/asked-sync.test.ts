import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { AskedSync } from './asked-sync.ts';

test('one is asked for at a time, and those who come meanwhile share the next', async () => {
  const asked: string[] = [];
  const answered: string[] = [];
  const sync = new AskedSync(({ type }) => asked.push(type));
  const ask = (name: string): void => void sync.sync().then(() => answered.push(name));
  for (const name of ['a', 'b']) ask(name);
  await setImmediate();
  expect([asked.length, answered]).toEqual([1, []]);
  // It may have begun before what these wrote.
  for (const name of ['c', 'd', 'e']) ask(name);
  await setImmediate();
  expect([asked.length, answered]).toEqual([1, []]);
  sync.hear();
  await setImmediate();
  expect([asked.length, answered]).toEqual([2, ['a', 'b']]);
  ask('f');
  sync.hear();
  await setImmediate();
  expect([asked.length, answered]).toEqual([3, ['a', 'b', 'c', 'd', 'e']]);
  sync.hear();
  // An answer to nothing.
  sync.hear();
  await setImmediate();
  expect(answered.at(-1)).toBe('f');
  expect(new Set(asked)).toEqual(new Set(['changed']));
});
