import { expect, test } from 'vitest';
import { createGate } from './gate.ts';

test('lets so many in, and the next one when one has left', async () => {
  const gate = createGate(2);
  const inside: number[] = [];
  const enter = async (number: number): Promise<() => void> => {
    const leave = await gate.enter();
    inside.push(number);
    return leave;
  };
  const [first, second, third, fourth] = [1, 2, 3, 4].map(enter) as Promise<() => void>[];
  const leaveFirst = await first;
  const leaveSecond = await second;
  expect(inside).toEqual([1, 2]);
  leaveFirst?.();
  // Leaving twice is leaving once.
  leaveFirst?.();
  const leaveThird = await third;
  expect(inside).toEqual([1, 2, 3]);
  leaveSecond?.();
  leaveThird?.();
  await fourth;
  expect(inside).toEqual([1, 2, 3, 4]);
  await enter(5);
  expect(inside).toEqual([1, 2, 3, 4, 5]);
});
