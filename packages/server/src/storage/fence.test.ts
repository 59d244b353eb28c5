import { describe, expect, test } from 'vitest';
import { ApiError } from '../lib/errors.ts';
import { LIMITS } from '../lib/limits.ts';
import { Fence, type RestorationFacts } from './fence.ts';

const AT = 1_800_000_000_000;
const NOBODY: ReadonlySet<string> = new Set();
const PARENT = { id: 'parent', parentId: undefined };
const CHILD = { id: 'child', parentId: 'parent' };
const OTHER = { id: 'other', parentId: undefined };

const restoration = (extra: Partial<RestorationFacts> = {}): RestorationFacts => ({
  ...{ id: 'first', restoredAtMs: AT, exhaustsWindows: false, acceptedAtMs: undefined },
  ...extra,
});

function fenceWith(...restorations: readonly RestorationFacts[]): Fence {
  const fence = new Fence();
  fence.load(restorations, NOBODY);
  return fence;
}

function refusal(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.code;
  }
}

describe('a fence', () => {
  test('that is not loaded holds everybody', () => {
    const fence = new Fence();
    expect([fence.isUp, fence.isWhole, fence.holds(PARENT)]).toEqual([true, true, true]);
    expect(refusal(() => fence.requireLifted(PARENT))).toBe('FENCED');
  });

  test('of a database that was never restored holds nobody and refuses nothing', () => {
    const fence = Fence.down();
    expect([fence.isUp, fence.isWhole, fence.holds(PARENT), fence.scope]).toEqual([false, false, false, undefined]);
    expect(refusal(() => fence.requireNewBody(0))).toBeUndefined();
    expect(refusal(() => fence.requireNew('it', undefined))).toBeUndefined();
  });

  test('is accepted for an organization with its sub-organizations, for a sub-organization alone, and for all', () => {
    const fence = fenceWith(restoration());
    const held = () => [PARENT, CHILD, OTHER].map((one) => fence.holds(one));
    expect([held(), fence.isWhole, fence.scope]).toEqual([[true, true, true], true, undefined]);
    fence.load([restoration()], new Set(['child']));
    expect([held(), fence.isWhole, fence.scope]).toEqual([[true, false, true], false, 'first']);
    fence.load([restoration()], new Set(['parent']));
    expect(held()).toEqual([false, false, true]);
    fence.load([restoration({ acceptedAtMs: AT + 1 })], NOBODY);
    expect([held(), fence.isUp, fence.scope]).toEqual([[false, false, false], false, undefined]);
  });

  test('refuses what was issued before the last restore, also when all are accepted', () => {
    const fence = fenceWith(
      restoration({ acceptedAtMs: AT + 1 }),
      restoration({ id: 'second', restoredAtMs: AT + 1000, acceptedAtMs: AT + 2000 }),
      restoration({ id: 'zeroth', restoredAtMs: AT - 1000, acceptedAtMs: AT }),
    );
    const last = AT + 1000;
    expect(fence.restoredAtMs).toBe(last);
    expect(refusal(() => fence.requireNew('it', last))).toBe('ISSUED_BEFORE_RESTORE');
    expect(refusal(() => fence.requireNew('it', undefined))).toBe('ISSUED_BEFORE_RESTORE');
    expect(refusal(() => fence.requireNew('it', last + 1))).toBeUndefined();
    expect(refusal(() => fence.requireNew('it', last + 10, 10))).toBe('ISSUED_BEFORE_RESTORE');
    expect(refusal(() => fence.requireNew('it', last + 11, 10))).toBeUndefined();
    expect(refusal(() => fence.requireNewBody(last + LIMITS.liveAfterMs))).toBe('ISSUED_BEFORE_RESTORE');
    expect(refusal(() => fence.requireNewBody(last + LIMITS.liveAfterMs + 1))).toBeUndefined();
  });

  test('takes nothing back: who is gone counts on and is told of once', () => {
    const fence = fenceWith(restoration());
    expect(fence.load([], NOBODY)).toEqual(['first']);
    expect(fence.load([], NOBODY)).toEqual([]);
    expect([fence.isWhole, fence.restoredAtMs]).toEqual([true, AT]);
  });

  test('whoever was accepted for an earlier restore is held still when the later one is gone', () => {
    const later = restoration({ id: 'second', restoredAtMs: AT + 1000 });
    const fence = fenceWith(restoration(), later);
    expect(fence.load([restoration()], new Set(['parent']))).toEqual(['second']);
    expect([fence.isWhole, fence.holds(PARENT), fence.scope]).toEqual([true, true, undefined]);
  });

  test('holds everybody where the database was restored under a process that runs, whoever is accepted', () => {
    const fence = Fence.down();
    fence.load([restoration()], new Set(['parent']));
    expect([fence.doubt, fence.isWhole, fence.holds(PARENT)]).toEqual(['restored-meanwhile', true, true]);
    fence.load([restoration({ acceptedAtMs: AT + 1 })], NOBODY);
    expect(fence.holds(PARENT)).toBe(true);
  });

  test('holds everybody while what the database says is not genuine', () => {
    const fence = Fence.down();
    fence.distrust();
    expect(fence.holds(PARENT)).toBe(true);
    fence.load([], NOBODY);
    expect(fence.holds(PARENT)).toBe(false);
  });

  test('tells of each change once', () => {
    const fence = fenceWith(restoration());
    const told: unknown[] = [];
    fence.onChange((shown) => told.push(shown));
    fence.load([restoration()], NOBODY);
    fence.load([restoration()], new Set(['child']));
    fence.load([restoration({ acceptedAtMs: AT })], NOBODY);
    expect(told).toEqual([
      { isUp: true, isWhole: true, restoredAtMs: AT },
      { isUp: true, isWhole: false, restoredAtMs: AT },
      { isUp: false, isWhole: false },
    ]);
  });

  test('exhausts windows by the last restore that asked for it', () => {
    expect(fenceWith(restoration()).exhaustedAtMs).toBe(Number.NEGATIVE_INFINITY);
    const exhausting = restoration({ id: 'before', restoredAtMs: AT - 1, exhaustsWindows: true });
    expect(fenceWith(restoration(), exhausting).exhaustedAtMs).toBe(AT - 1);
  });
});
