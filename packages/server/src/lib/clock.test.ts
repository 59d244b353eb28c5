import { expect, test } from 'vitest';
import { steadyClock } from './clock.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOW = 1_800_000_000_000;

function setUp() {
  const time = { wall: NOW, passed: 500.25 };
  const steady = steadyClock(
    () => time.wall,
    () => time.passed,
  );
  const pass = (milliseconds: number): void => {
    time.wall += milliseconds;
    time.passed += milliseconds;
  };
  return { time, steady, pass, drift: () => steady() - time.wall };
}

test('follows the clock, also where it goes a little wrong or falls', () => {
  const { time, pass, drift } = setUp();
  pass(HOUR);
  expect(drift()).toBe(0);
  time.wall += 30_000;
  expect(drift()).toBe(0);
  time.wall -= 24 * HOUR;
  expect(drift()).toBe(0);
});

test('goes on as before when the clock jumps ahead, and follows it after an hour', () => {
  const { time, pass, steady, drift } = setUp();
  time.wall += 24 * HOUR;
  expect(steady()).toBe(NOW);
  pass(HOUR - 1);
  expect(steady()).toBe(NOW + HOUR - 1);
  pass(1);
  expect(drift()).toBe(0);
});

test('a jump that another clock confirms is followed at once, one that it denies never', () => {
  const { time, pass, steady, drift } = setUp();
  time.wall += 24 * HOUR;
  expect(steady()).toBe(NOW);
  for (let hours = 0; hours < 5; hours += 1) {
    steady.compare(time.wall - 24 * HOUR);
    pass(HOUR / 2);
    expect(drift()).toBe(-24 * HOUR);
  }
  steady.compare(time.wall);
  expect(drift()).toBe(0);
});

test('a jump that is taken back was none', () => {
  const { time, pass, steady } = setUp();
  time.wall += 24 * HOUR;
  steady();
  pass(MINUTE);
  time.wall -= 24 * HOUR;
  expect(steady()).toBe(NOW + MINUTE);
});
