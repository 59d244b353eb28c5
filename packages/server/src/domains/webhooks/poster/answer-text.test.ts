import { expect, test } from 'vitest';
import { answerText } from './answer-text.ts';

test.each([
  ['nothing', '', ''],
  ['text', 'häppy 🙂\n\tend', 'häppy 🙂\n\tend'],
  ['line ends', 'a\r\nb\rc', 'a\nb\ufffdc'],
  ['what a terminal obeys', 'a\u001b[2Jb\u0007c\u009bd\u007f', 'a\ufffd[2Jb\ufffdc\ufffdd\ufffd'],
  ['what a database refuses', 'a\u0000b', 'a\ufffdb'],
  ['what turns the direction', 'a\u202eb\u2066c\u2069\u200fd', 'a\ufffdb\ufffdc\ufffd\ufffdd'],
])('%s', (_what, sent, shown) => expect(answerText(Buffer.from(sent))).toBe(shown));

test('bytes that are no text', () => {
  expect(answerText(Buffer.from([0x61, 0xff, 0xfe, 0x62]))).toBe('a\ufffd\ufffdb');
});

test('the first KiB is shown, without the half of a character', () => {
  expect(answerText(Buffer.from('x'.repeat(1024)))).toBe('x'.repeat(1024));
  expect(answerText(Buffer.from('x'.repeat(2000)))).toBe('x'.repeat(1024));
  expect(answerText(Buffer.from(`${'x'.repeat(1022)}🙂`))).toBe('x'.repeat(1022));
});
