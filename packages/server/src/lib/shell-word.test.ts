import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { shellWord } from './shell-word.ts';

test('a shell reads every word as it was, and plain ones stay plain', () => {
  expect(shellWord('/var/lib/custos/custos.db.before-restore-1')).toBe('/var/lib/custos/custos.db.before-restore-1');
  for (const text of ['', 'a b', "it's", '$HOME', '`id`', '"', '\\', '~/x', 'ä', 'a\nb'])
    expect(execFileSync('sh', ['-c', `printf %s ${shellWord(text)}`], { encoding: 'utf8' })).toBe(text);
});
