import { expect, test } from 'vitest';
import { Lines } from './lines.ts';

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

test('one after the other in their order, also behind one that fails, and other names beside them', async () => {
  const lines = new Lines();
  const said: string[] = [];
  const work = (name: string, lasting: number, fails = false) =>
    lines.run(name.slice(0, 1), async () => {
      said.push(`${name} begins`);
      await turns(lasting);
      said.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    });
  const all = [work('a1', 5), work('a2', 3, true), work('b1', 1), work('a3', 1)];
  const ends = await Promise.allSettled(all);
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  expect(said.filter((text) => text.startsWith('a'))).toEqual([
    'a1 begins',
    'a1 ends',
    'a2 begins',
    'a2 ends',
    'a3 begins',
    'a3 ends',
  ]);
  expect(said.indexOf('b1 ends')).toBeLessThan(said.indexOf('a1 ends'));
  expect(await work('a4', 1)).toBe('a4');
});
