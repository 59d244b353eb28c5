import { expect, test } from 'vitest';
import { createHostCache, type HostCache } from './host-cache.ts';

const PUBLIC = '93.184.215.14';

interface World {
  readonly hosts: HostCache;
  readonly asked: string[];
  nowMs: number;
  answer: () => Promise<readonly string[]>;
}

function world(): World {
  const asked: string[] = [];
  const made = { asked, nowMs: 1_800_000_000_000, answer: async (): Promise<readonly string[]> => [PUBLIC] };
  const hosts = createHostCache(
    (hostname) => {
      asked.push(hostname);
      return made.answer();
    },
    () => made.nowMs,
  );
  return Object.assign(made, { hosts });
}

test('an answer is used for half a minute, and is the same list all the while', async () => {
  const here = world();
  const first = await here.hosts.find('a.test');
  here.nowMs += 29_999;
  expect(here.hosts.known('a.test')).toBe(first);
  expect(await here.hosts.find('a.test')).toBe(first);
  expect(here.asked).toEqual(['a.test']);

  here.nowMs += 1;
  expect(here.hosts.known('a.test')).toBeUndefined();
  expect(await here.hosts.find('a.test')).toEqual(first);
  expect(here.asked).toEqual(['a.test', 'a.test']);
});

test('those who ask at the same time share a question, each host has its own', async () => {
  const here = world();
  const answers = ['a.test', 'a.test', 'b.test', 'a.test'].map((name) => here.hosts.find(name));
  expect(here.hosts.known('a.test')).toBeUndefined();
  expect(await Promise.all(answers)).toEqual([[PUBLIC], [PUBLIC], [PUBLIC], [PUBLIC]]);
  expect(here.asked).toEqual(['a.test', 'b.test']);
  expect(here.hosts.known('a.test')).toEqual([PUBLIC]);
});

test.each<[string, () => Promise<readonly string[]>]>([
  ['an error', () => Promise.reject(new Error('SERVFAIL'))],
  ['no address', async () => []],
])('%s is remembered for a second', async (_what, answer) => {
  const here = world();
  const ask = () => here.hosts.find('a.test').catch(() => []);
  here.answer = answer;
  expect(await ask()).toEqual([]);
  here.answer = async () => [PUBLIC];
  here.nowMs += 999;
  expect(await ask()).toEqual([]);
  expect(here.hosts.known('a.test')).toBeUndefined();
  expect(here.asked).toHaveLength(1);

  here.nowMs += 1;
  expect(await ask()).toEqual([PUBLIC]);
  expect(here.asked).toHaveLength(2);
});

test('a question without an answer is given up after half a minute', async () => {
  const here = world();
  here.answer = () => new Promise(() => {});
  void here.hosts.find('a.test');
  here.answer = async () => [PUBLIC];
  here.nowMs += 30_000;
  expect(await here.hosts.find('a.test')).toEqual([PUBLIC]);
});

test('it holds a few thousand hosts, and forgets the oldest', async () => {
  const here = world();
  for (let index = 0; index < 4097; index += 1) await here.hosts.find(`${index}.test`);
  expect(here.hosts.known('0.test')).toBeUndefined();
  expect(here.hosts.known('1.test')).toEqual([PUBLIC]);
  expect(here.hosts.known('4096.test')).toEqual([PUBLIC]);
});
