import { expect, test } from 'vitest';
import { leave, onLeaving } from './leaving.ts';

test('everything that was held is forgotten', () => {
  const held = ['words', 'key'];
  onLeaving(() => held.splice(0, 1));
  onLeaving(() => held.splice(0, 1));
  leave();
  expect(held).toEqual([]);
});
