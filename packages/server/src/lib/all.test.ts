import { expect, test } from 'vitest';
import { all } from './all.ts';

const deferred = <T>() => {
  let resolve: (value: T) => void = () => {};
  let reject: (reason: unknown) => void = () => {};
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
};

test('the values, in order', async () => {
  expect(await all([Promise.resolve(1), Promise.resolve('b')])).toEqual([1, 'b']);
  expect(await all([])).toEqual([]);
});

test('a failure is thrown only when everything has ended, and the first in time wins', async () => {
  const [slow, quick, last] = [deferred<void>(), deferred<void>(), deferred<void>()];
  const events: string[] = [];
  const done = all([slow.promise, quick.promise, last.promise]).catch((error: unknown) => events.push(String(error)));
  quick.reject('quick');
  await Promise.resolve();
  slow.reject('slow');
  await new Promise((resolve) => setImmediate(resolve));
  expect(events).toEqual([]);
  last.resolve();
  await done;
  expect(events).toEqual(['quick']);
});
