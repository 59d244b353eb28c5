import { expect, test } from 'vitest';
import { printable } from './printable.ts';

test('text of others moves no cursor, turns no line around and fills no screen', () => {
  expect(printable('host-1.example')).toBe('host-1.example');
  expect(printable('a\u001b[2Jb\r\n\u009b\u007f')).toBe('a\\u{1b}[2Jb\\u{d}\\u{a}\\u{9b}\\u{7f}');
  expect(printable('\u202eabc\u2028\ud800')).toBe('\\u{202e}abc\\u{2028}\\u{d800}');
  expect(printable('x'.repeat(101))).toBe(`${'x'.repeat(100)}…`);
  expect(printable('x'.repeat(101), 101)).toHaveLength(101);
  expect(printable({ a: '\u001b' })).toBe('{"a":"\\u001b"}');
  expect(printable(undefined)).toBe('undefined');
});
