import { describe, expect, test } from 'vitest';
import type { LockMode } from './authority.ts';
import { Turnstile } from './turnstile.ts';

const soon = (): number => performance.now() + 60_000;
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Everyone who asks, by number, and who is inside. */
function visitors(organizationId = 'one', turnstile = new Turnstile()) {
  const inside = new Map<number, () => void>();
  let count = 0;
  return {
    turnstile,
    get inside() {
      return [...inside.keys()];
    },
    ask: (mode: LockMode, deadlineMs = soon()): Promise<void> => {
      const number = count;
      count += 1;
      const asked = turnstile
        .enter({ organizationId, mode }, deadlineMs)
        .then((leave) => void inside.set(number, leave));
      // Who still waits when its test is over is refused a minute later, which is nobody's business by then.
      asked.catch(() => {});
      return asked;
    },
    leave: async (number: number): Promise<void> => {
      inside.get(number)?.();
      inside.delete(number);
      await settle();
    },
  };
}

describe('turnstile', () => {
  test('lets those who share in together', async () => {
    const at = visitors();
    await Promise.all(Array.from({ length: 10 }, () => at.ask('shared')));
    expect(at.inside).toHaveLength(10);
    expect(at.turnstile.waiting).toBe(0);
  });

  test('lets one who wants it alone in, and one more to stand behind it', async () => {
    const at = visitors();
    for (let index = 0; index < 5; index += 1) void at.ask('exclusive');
    await settle();
    expect(at.inside).toEqual([0, 1]);
    expect(at.turnstile.waiting).toBe(3);
    for (const [gone, inside] of [
      [0, [1, 2]],
      [1, [2, 3]],
      [2, [3, 4]],
      [3, [4]],
      [4, []],
    ] as const) {
      await at.leave(gone);
      expect(at.inside).toEqual(inside);
    }
    expect(at.turnstile.waiting).toBe(0);
  });

  test('keeps the order: those who share do not overtake one who wants it alone', async () => {
    const at = visitors();
    void at.ask('shared');
    void at.ask('shared');
    void at.ask('exclusive');
    void at.ask('shared');
    void at.ask('exclusive');
    void at.ask('shared');
    await settle();
    expect(at.inside).toEqual([0, 1, 2]);
    await at.leave(0);
    await at.leave(1);
    expect(at.inside).toEqual([2, 3]);
    await at.leave(2);
    expect(at.inside).toEqual([3, 4]);
    await at.leave(3);
    expect(at.inside).toEqual([4, 5]);
  });

  test('one organization does not wait for another', async () => {
    const turnstile = new Turnstile();
    const [one, other] = [visitors('one', turnstile), visitors('other', turnstile)];
    for (let index = 0; index < 4; index += 1) void one.ask('exclusive');
    await other.ask('exclusive');
    expect(other.inside).toEqual([0]);
  });

  test('refuses at the deadline, and whoever stood behind goes on', async () => {
    const at = visitors();
    await at.ask('shared');
    await at.ask('exclusive');
    const late = at.ask('exclusive', performance.now() + 20).catch((error: unknown) => error);
    void at.ask('shared');
    expect(await late).toMatchObject({ code: 'UNAVAILABLE' });
    await at.leave(1);
    expect(at.inside).toEqual([0, 3]);
    expect(at.turnstile.waiting).toBe(0);
  });
});
