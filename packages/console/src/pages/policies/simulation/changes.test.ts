import { describe, expect, it } from 'vitest';
import { changesIn, changeWords, type Tried } from './changes.ts';

const tried = (before: Tried['before'], after: Tried['after']): Tried => ({ activityId: 'a', before, after });

describe('requests that were tried again', () => {
  it('counts those that are decided otherwise, most first', () => {
    const changes = changesIn([
      tried('denied', 'denied'),
      tried('completes', 'waits'),
      tried('denied', 'completes'),
      tried('denied', 'completes'),
    ]);
    expect(changes.map(changeWords)).toEqual(['2 denied become allowed', '1 allowed becomes waiting for approvals']);
  });

  it('says nothing where nothing changes', () => {
    expect(changesIn([tried('waits', 'waits')])).toEqual([]);
  });
});
