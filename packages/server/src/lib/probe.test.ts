import { expect, test } from 'vitest';
import { Probe } from './probe.ts';

const TOLERANT_MS = 60_000;

test('is asked once for all who ask at once, and again when its outcome is old', async () => {
  let asked = 0;
  const probe = new Probe(async () => ++asked, { everyMs: 0, deadlineMs: TOLERANT_MS });
  expect(await Promise.all([probe.outcome(), probe.outcome(), probe.outcome()])).toEqual(Array(3).fill({ value: 1 }));
  expect(await probe.outcome()).toEqual({ value: 2 });
});

test('serves a fresh outcome again, also a failure', async () => {
  let asked = 0;
  const ask = async (): Promise<number> => {
    asked += 1;
    throw new Error('away');
  };
  const probe = new Probe(ask, { everyMs: TOLERANT_MS, deadlineMs: TOLERANT_MS });
  for (let time = 0; time < 3; time += 1) expect(await probe.outcome()).toMatchObject({ error: { message: 'away' } });
  expect(asked).toBe(1);
});

test('that hangs fails at its deadline, is not asked again meanwhile, and then is', async () => {
  let asked = 0;
  let release = (): void => {};
  const hanging = new Promise<void>((resolve) => {
    release = resolve;
  });
  const ask = async (): Promise<number> => {
    asked += 1;
    await hanging;
    return asked;
  };
  const probe = new Probe(ask, { everyMs: 0, deadlineMs: 20 });
  const late = { error: { message: 'no answer within 0.02 s' } };
  expect(await probe.outcome()).toMatchObject(late);
  expect(await probe.outcome()).toMatchObject(late);
  expect(asked).toBe(1);
  release();
  await new Promise((resolve) => setImmediate(resolve));
  expect(await probe.outcome()).toEqual({ value: 2 });
});
