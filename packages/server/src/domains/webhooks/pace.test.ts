import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { randomId, type WebhookEndpointId } from '../../lib/ids.ts';
import { createPace } from './pace.ts';

const [ONE, OTHER, THIRD] = [1, 2, 3].map((): WebhookEndpointId => randomId()) as [
  WebhookEndpointId,
  WebhookEndpointId,
  WebhookEndpointId,
];

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('without requests there is no limit', async () => {
  const pace = createPace(() => false);
  await Promise.all(Array.from({ length: 1000 }, () => pace(ONE)));
});

test('beside requests eight hundred begin in a second, and all the rest when those have ended', async () => {
  let isBusy = true;
  let begun = 0;
  const pace = createPace(() => isBusy);
  for (let index = 0; index < 3000; index += 1) {
    void pace(ONE).then(() => {
      begun += 1;
    });
  }
  await vi.advanceTimersByTimeAsync(0);
  expect(begun).toBe(4);
  await vi.advanceTimersByTimeAsync(1000);
  expect(begun).toBe(804);
  isBusy = false;
  await vi.advanceTimersByTimeAsync(5);
  expect(begun).toBe(3000);
  await vi.advanceTimersByTimeAsync(50);
  isBusy = true;
  await pace(ONE);
  expect(vi.getTimerCount()).toBe(1);
});

test('endpoints take turns, and each keeps its own order', async () => {
  const pace = createPace(() => true);
  const begun: string[] = [];
  const wait = (endpointId: WebhookEndpointId, name: string): void => {
    void pace(endpointId).then(() => {
      begun.push(name);
    });
  };
  for (let index = 0; index < 20; index += 1) wait(ONE, `one ${index}`);
  for (let index = 0; index < 3; index += 1) wait(OTHER, `other ${index}`);
  wait(THIRD, 'third 0');
  await vi.advanceTimersByTimeAsync(0);
  expect(begun.splice(0)).toEqual(['one 0', 'one 1', 'one 2', 'one 3']);
  await vi.advanceTimersByTimeAsync(5);
  expect(begun.splice(0)).toEqual(['one 4', 'other 0', 'third 0', 'one 5']);
  wait(THIRD, 'third 1');
  await vi.advanceTimersByTimeAsync(5);
  expect(begun.splice(0)).toEqual(['other 1', 'one 6', 'third 1', 'other 2']);
  await vi.advanceTimersByTimeAsync(1000);
  expect(begun).toEqual(Array.from({ length: 13 }, (_, index) => `one ${index + 7}`));
});
