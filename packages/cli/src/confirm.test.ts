import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { confirmation, type Terminal } from './confirm.ts';

function terminal(
  isTTY: boolean,
): Terminal & { readonly written: () => string; readonly type: (text: string) => void } {
  const input = Object.assign(new PassThrough(), { isTTY });
  const output = Object.assign(new PassThrough(), { isTTY });
  let text = '';
  output.on('data', (chunk) => {
    text += chunk;
  });
  return { input, output, written: () => text, type: (line) => void input.write(line) };
}

test.each([
  ['y\n', true],
  ['YES\n', true],
  ['\n', false],
  ['n\n', false],
  ['yesterday\n', false],
])('on a terminal %j is an answer', async (line, expected) => {
  const one = terminal(true);
  const ask = confirmation({ yes: false }, 'this changes keys', one);
  const answered = ask('This changes everything.');
  one.type(line);
  expect(await answered).toBe(expected);
  expect(one.written()).toMatch(/^This changes everything\.\n.*Go on\? \[y\/N\] /s);
});

test('a terminal that is closed has not agreed', async () => {
  const one = terminal(true);
  const answered = confirmation({ yes: false }, 'this changes keys', one)('This changes everything.');
  one.input.push(null);
  expect(await answered).toBe(false);
});

test('without a terminal only --yes agrees, and --dry-run never does', async () => {
  const none = terminal(false);
  expect(() => confirmation({ yes: false }, 'this changes keys', none)).toThrow(
    'this changes keys: there is no terminal to ask on; run it again with --yes (or --dry-run)',
  );
  expect(await confirmation({ yes: true }, 'this changes keys', none)('It.')).toBe(true);
  for (const yes of [true, false])
    expect(await confirmation({ yes, dryRun: true }, 'this changes keys', none)('It.')).toBe(false);
});
