import { describe, expect, it } from 'vitest';
import { countSets, isAway, presenceOf, type RootUser, sufficientSets, weakestPoint } from './quorum.ts';

const NOW = Date.parse('2026-11-16T10:00:00Z');
const user = (userName: string, daysAgo: number | undefined, change: Partial<RootUser> = {}): RootUser => ({
  userId: userName,
  userName,
  isProgram: false,
  passkeyCount: 1,
  credentialCount: 2,
  ...(daysAgo !== undefined && { lastSeenAt: new Date(NOW - daysAgo * 86_400_000).toISOString() }),
  ...change,
});
const ada = user('Ada Okafor', 0, { credentialCount: 1 });
const grace = user('Grace Lindqvist', 1, { credentialCount: 3 });
const tomas = user('Tomás Rivera', 61);

describe('sets of people that suffice', () => {
  it('are listed, each once', () => {
    expect(sufficientSets(['a', 'b', 'c'], 2)).toEqual([
      ['a', 'b'],
      ['a', 'c'],
      ['b', 'c'],
    ]);
    expect(sufficientSets(['a', 'b', 'c'], 3)).toEqual([['a', 'b', 'c']]);
    expect(countSets(12, 6)).toBe(924);
  });

  it('are not listed where there are too many or none', () => {
    expect(sufficientSets(['a', 'b', 'c', 'd', 'e'], 2)).toBeUndefined();
    expect(sufficientSets(['a'], 2)).toBeUndefined();
  });

  it('say who cannot be counted on', () => {
    expect(presenceOf([ada, grace], NOW)).toEqual({ isGood: true, text: 'both seen this week' });
    expect(presenceOf([ada, tomas], NOW)).toEqual({ isGood: false, text: 'Tomás away 61 days' });
    expect(presenceOf([user('Mei', undefined)], NOW).text).toBe('Mei never seen');
  });
});

describe('the weakest point', () => {
  it('is the one with the fewest devices among those who are all needed', () => {
    expect(weakestPoint([ada, grace, tomas], 2, NOW, 'Ada Okafor')).toEqual({
      tone: 'wait',
      title: 'One lost device away from stuck.',
      text: 'Without Tomás, Ada and Grace must both be there, and Ada has one passkey.',
      mendsByPasskey: true,
    });
  });

  it('is that too few are there', () => {
    expect(weakestPoint([ada, tomas], 2, NOW, 'x')?.tone).toBe('deny');
  });

  it('is a single person, or any one of several', () => {
    expect(weakestPoint([ada], 1, NOW, 'Ada Okafor')).toMatchObject({
      title: 'One person alone.',
      mendsByPasskey: true,
    });
    expect(weakestPoint([ada, grace], 1, NOW, 'x')?.title).toBe('Any one of them is enough.');
  });

  it('is nothing to fear while one may be missing', () => {
    expect(weakestPoint([ada, grace, user('Mei', 3)], 2, NOW, 'x')?.tone).toBe('allow');
  });

  it('counts whoever was never seen as away', () => {
    expect(isAway(user('Mei', undefined), NOW)).toBe(true);
    expect(isAway(user('Mei', 29), NOW)).toBe(false);
    expect(isAway(user('Mei', 30), NOW)).toBe(true);
  });
});
