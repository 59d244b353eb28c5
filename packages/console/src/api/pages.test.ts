import { describe, expect, test } from 'vitest';
import { idOf, type Pages, type Pick, withFirstPage } from './pages.ts';

interface Page {
  readonly things: readonly { readonly id: string; readonly note?: string }[];
  readonly end: string;
}
const page = (end: string, ...ids: string[]): Page => ({ things: ids.map((id) => ({ id })), end });
const pick = ((answer: Page) => answer.things) as Pick;
const list = (...pages: Page[]): Pages => ({ pages, pageParams: pages.map((_, index) => `p${index}`) });
const ids = ({ pages }: Pages): string => pages.map((one) => pick(one).map(idOf).join('')).join(' ');

describe('the first page after news', () => {
  const before = list(page('c', 'a', 'b', 'c'), page('f', 'd', 'e', 'f'), page('h', 'g', 'h'));

  test('pushes the others down, and loses none', () => {
    const after = withFirstPage(before, page('b', 'n', 'a', 'b'), pick);
    expect(ids(after)).toBe('nab c def gh');
    expect(after.pageParams).toHaveLength(after.pages.length);
    expect((after.pages.at(-1) as Page).end).toBe('h');
  });

  test('goes by another key where a list has one', () => {
    const named = (...names: string[]) => ({ things: names.map((name) => ({ name })) });
    const listed = { pages: [named('a', 'b'), named('c')], pageParams: ['', 'b'] };
    const keyOf = (item: unknown) => (item as { name: string }).name;
    const after = withFirstPage(listed, named('n', 'a'), pick, keyOf);
    expect(after.pages.map((one) => pick(one).map(keyOf).join('')).join(' ')).toBe('na b c');
  });

  test('leaves out what is gone, and takes what moved up', () => {
    const after = withFirstPage(before, page('d', 'a', 'c', 'd'), pick);
    expect(ids(after)).toBe('acd ef gh');
  });

  test('brings the newest state of its items', () => {
    const changed = { things: [{ id: 'a', note: 'new' }, { id: 'b' }, { id: 'c' }], end: 'c' };
    const after = withFirstPage(before, changed, pick);
    expect(after.pages[0]).toBe(changed);
    expect(ids(after)).toBe('abc def gh');
  });

  test('begins the list again where nothing of it is known', () => {
    expect(ids(withFirstPage(before, page('z', 'x', 'y', 'z'), pick))).toBe('xyz');
    expect(ids(withFirstPage(before, page(''), pick))).toBe('');
  });

  test('keeps the end of the list where everything behind it is gone', () => {
    const after = withFirstPage(list(page('b', 'a', 'b'), page('c', 'c')), page('c', 'b', 'c'), pick);
    expect(ids(after)).toBe('bc ');
    expect((after.pages.at(-1) as Page).end).toBe('c');
  });
});

test.each([
  [{ id: '1', walletId: '2' }, '1'],
  [{ activity: { id: '3' } }, '3'],
  [{ name: 'x', walletId: '4', organizationId: '5' }, '4'],
  [{ name: 'x' }, undefined],
  [undefined, undefined],
])('the id of %j', (item, expected) => {
  expect(idOf(item)).toBe(expected);
});
