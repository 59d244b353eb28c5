import { expect, test } from 'vitest';
import { oneAtATime } from './one-at-a-time.ts';

/** Work that a test ends by hand. */
function work() {
  const ends: (() => void)[] = [];
  const state = { begun: 0, atOnce: 0, isAllowed: true };
  const look = oneAtATime(
    async () => {
      state.begun += 1;
      state.atOnce += 1;
      expect(state.atOnce).toBe(1);
      await new Promise<void>((resolve) => ends.push(resolve));
      state.atOnce -= 1;
    },
    () => state.isAllowed,
  );
  /** Ends what is being done, and lets what follows begin. */
  const end = async (): Promise<void> => {
    ends.shift()?.();
    await new Promise(setImmediate);
  };
  return { state, look, end };
}

test('calls while it is being done make it be done once more, however many there are', async () => {
  const { state, look, end } = work();
  look.call();
  for (let call = 0; call < 3; call += 1) look.call();
  expect(state.begun).toBe(1);
  await end();
  expect(state.begun).toBe(2);
  await end();
  await look.done();
  expect(state.begun).toBe(2);
  look.call();
  expect(state.begun).toBe(3);
  await end();
});

test('a call at any moment around its end is heard', async () => {
  for (let ticks = 0; ticks < 8; ticks += 1) {
    let begun = 0;
    const look = oneAtATime(
      async () => {
        begun += 1;
      },
      () => true,
    );
    look.call();
    for (let tick = 0; tick < ticks; tick += 1) await undefined;
    look.call();
    await look.done();
    expect(begun).toBe(2);
  }
});

test('work that calls for itself does not run inside itself', async () => {
  let begun = 0;
  const look = oneAtATime(
    async () => {
      begun += 1;
      const mine = begun;
      if (begun < 3) look.call();
      expect(begun).toBe(mine);
    },
    () => true,
  );
  look.call();
  await look.done();
  expect(begun).toBe(3);
});

test('where it may not run, it does not, and does not begin again', async () => {
  const { state, look, end } = work();
  look.call();
  look.call();
  state.isAllowed = false;
  look.call();
  await end();
  await look.done();
  expect(state.begun).toBe(1);
  look.call();
  expect(state.begun).toBe(1);
});
