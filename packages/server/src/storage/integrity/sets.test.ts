import { describe, expect, test } from 'vitest';
import { authority, defineTable } from '../table.ts';
import { Integrity } from './integrity.ts';
import { byPlace, digestOf, heldDigest, rowSets, type SetMark, withDigests } from './sets.ts';

const mark = (place: string, value: string, of = 'tag'): SetMark => ({ of, place, mark: value });

describe('the digest of a set', () => {
  const marks = [mark('a', '1.x'), mark('b', '1.y')];

  test('is the same in any order, and another for every change', () => {
    const digest = digestOf(marks);
    expect(digestOf([...marks].reverse())).toBe(digest);
    for (const other of [
      [],
      marks.slice(1),
      [...marks, mark('c', '1.z')],
      [mark('b', '1.x'), mark('a', '1.y')],
      [mark('a', '1.x', 'other'), mark('b', '1.y')],
      [mark('a', '1.z'), mark('b', '1.y')],
    ])
      expect(digestOf(other)).not.toBe(digest);
  });

  test('is not that of a row whose place holds the others, which has no mark of its own', () => {
    for (const place of ['a\ntag 1.y b', 'a\ntag 1.y 1 b', 'a tag 1.y 1 b'])
      expect(digestOf([mark(place, '1.x')])).not.toBe(digestOf(marks));
  });

  test('is there only where every row has a mark', () => {
    expect(digestOf([...marks, { of: 'tag', place: 'c', mark: null }])).toBeUndefined();
  });
});

describe('what an owner holds', () => {
  const tables = [
    defineTable('organization', {
      integrity: authority('says what there is'),
      owns: { digests: 'rules_digest', isByTable: true, key: ['organization_id'], changesOften: false },
      erased: 'never',
    }),
    ...(['policy', 'ip_allowlist'] as const).map((name) =>
      defineTable(name, {
        integrity: authority('allows and denies'),
        set: { under: 'organization', by: ['organization_id'] },
        erased: 'never',
      }),
    ),
  ];
  const sets = rowSets(tables).under.get('organization') ?? [];
  const [policies, lists] = sets as [(typeof sets)[0], (typeof sets)[0]];

  test('is a digest for each set; one that changed leaves the others', () => {
    const column = withDigests(sets, new Map(sets.map((set) => [set, `of ${set.part}`])));
    const row = { rules_digest: column };
    expect(sets.map((set) => heldDigest(set, row))).toEqual(['of policy', 'of ip_allowlist']);
    const next = { rules_digest: withDigests(sets, new Map([[lists, 'new']]), row) };
    expect(sets.map((set) => heldDigest(set, next))).toEqual(['of policy', 'new']);
    const without = { rules_digest: withDigests(sets, new Map([[policies, undefined]]), next) };
    expect(sets.map((set) => heldDigest(set, without))).toEqual([undefined, 'new']);
  });

  test.each([null, undefined, '', 'no JSON', '7', 'null', '[]', '{"policy":7}', '{"constructor":"x"}'])(
    'is nothing where the column is %s',
    (rules_digest) => {
      expect(heldDigest(policies, { rules_digest })).toBeUndefined();
    },
  );
});

describe('sets that are known', () => {
  test('are those of one digest, and the least recently used go first', () => {
    const integrity = new Integrity([]);
    const many = byPlace(Array.from({ length: 100_000 }, (_, index) => mark(String(index), '1.x')));
    integrity.knowSet('one', 'digest', many);
    expect(integrity.knownSet('one', 'digest')?.size).toBe(100_000);
    expect(integrity.knownSet('one', 'another')).toBeUndefined();
    expect(integrity.knownSet('one', undefined)).toBeUndefined();
    integrity.knowSet('two', 'digest', many);
    expect(integrity.knownSet('one', 'digest')).toBeDefined();
    integrity.knowSet('three', 'digest', many);
    expect(integrity.knownSet('two', 'digest')).toBeUndefined();
    expect(integrity.knownSet('one', 'digest')).toBeDefined();
    expect(integrity.knownSet('three', 'digest')).toBeDefined();
  });
});
