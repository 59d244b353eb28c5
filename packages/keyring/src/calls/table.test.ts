import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { METHODS, transportOf } from './table.ts';

const textOf = (file: string): string => readFileSync(new URL(file, import.meta.url), 'utf8').replaceAll(/\s+/g, ' ');
const SPEC = textOf('../../SPEC.md');

test('the specification has the calls by their numbers, and the limits that differ', () => {
  expect(SPEC).toContain(`Methods, by their numbers: ${METHODS.join(', ')}.`);
  const inSeconds = (seconds: number): string[] =>
    METHODS.filter((method) => transportOf(method).route.seconds === seconds).sort();
  const [, minute = '', two = ''] = /10 s \(of (.*?) 60 s, of (.*?) 120 s\)/.exec(SPEC) ?? [];
  expect(inSeconds(60)).toEqual(namesIn(minute));
  expect(inSeconds(120)).toEqual(namesIn(two));
  expect(METHODS.length).toBe(inSeconds(10).length + inSeconds(60).length + inSeconds(120).length + 1);
});

test('a service with a keyring process loads nothing that handles keys', () => {
  const source = fileURLToPath(new URL('../', import.meta.url));
  const loaded = [...importsOf(`${source}process/client.ts`)].map((file) => file.slice(source.length));
  expect(loaded).toContain('calls/table.ts');
  expect(
    loaded.filter((file) => /^(local|material|node-cache|derive\/derive|derive\/mnemonic|seal\/root-key\.)/.test(file)),
  ).toEqual([]);
});

const namesIn = (text: string): string[] => [...text.matchAll(/`(\w+)`/g)].map(([, name]) => name as string).sort();

/** A file, and everything that is loaded with it. */
function importsOf(file: string, known = new Set<string>()): Set<string> {
  if (known.has(file) || !existsSync(file)) return known;
  known.add(file);
  const source = readFileSync(file, 'utf8');
  for (const [, path] of source.matchAll(/^(?:import|export)(?! type) [^;]*?from '(\.[^']+)';/gm)) {
    importsOf(fileURLToPath(new URL(path as string, `file://${file}`)), known);
  }
  return known;
}
