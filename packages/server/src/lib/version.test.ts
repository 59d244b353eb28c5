import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { VERSION } from './version.ts';

test('the packages have the version that the service tells', () => {
  const root = new URL('../../../../', import.meta.url);
  for (const file of [
    'package.json',
    ...['keyring', 'sdk', 'server', 'cli'].map((name) => `packages/${name}/package.json`),
  ]) {
    expect([file, JSON.parse(readFileSync(new URL(file, root), 'utf8')).version]).toEqual([file, VERSION]);
  }
});
