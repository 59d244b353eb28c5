import { expect, test } from 'vitest';
import { createExpressionCache } from './expression-cache.ts';

test('a text is compiled once for each kind', () => {
  const cache = createExpressionCache();
  const first = cache.compile('condition', 'true');
  const again = cache.compile('condition', 'true');
  const other = cache.compile('consensus', 'true');
  if (!first.ok || !again.ok || !other.ok) throw new Error('expected expressions');
  expect(again.expression).toBe(first.expression);
  expect(other.expression).not.toBe(first.expression);
});

test('a text cannot pass for one of another kind', () => {
  const cache = createExpressionCache();
  expect(cache.compile('consensus', 'approvers.count() > 1').ok).toBe(true);
  expect(cache.compile('condition', 'approvers.count() > 1').ok).toBe(false);
});

test('what was used least recently makes room, by weight', () => {
  const cache = createExpressionCache(10);
  const compile = (text: string) => {
    const compiled = cache.compile('condition', text);
    if (!compiled.ok) throw new Error('expected an expression');
    return compiled.expression;
  };
  const [small, other] = [compile('1 == 1'), compile('2 == 2')];
  expect(compile('1 == 1')).toBe(small);
  // Five more nodes do not fit beside six, so the one that was not asked for since goes.
  compile('1 in [3, 4]');
  expect(compile('1 == 1')).toBe(small);
  expect(compile('2 == 2')).not.toBe(other);
});

test('an expression heavier than the whole cache is compiled and not kept', () => {
  const cache = createExpressionCache(2);
  const [first, second] = [cache.compile('condition', '1 == 1'), cache.compile('condition', '1 == 1')];
  if (!first.ok || !second.ok) throw new Error('expected expressions');
  expect(second.expression).not.toBe(first.expression);
});
