import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as fixtures from './fixtures/login-vectors.ts';

const pages = ['stamps', 'login', 'bundles'].map((page) =>
  readFileSync(new URL(`../../../docs/protocol/${page}.md`, import.meta.url), 'utf8'),
);

/** What stands in the blocks of vectors, whose lines are `name = value`. */
const documented = new Set(
  pages.flatMap((page) => [...page.matchAll(/^[a-z_0-9]+ = (.+)$/gm)].map(([, value]) => value)),
);

const valuesOf = (value: unknown): string[] =>
  typeof value === 'string' ? [value] : Object.values(value as object).flatMap(valuesOf);

test('the vectors of the tests are those of the protocol pages', () => {
  // The nonce of the client secret is the beginning of its envelope.
  const { CLIENT_SECRET_NONCE, ...others } = fixtures;
  expect(fixtures.CLIENT_SECRET_ENVELOPE.startsWith(CLIENT_SECRET_NONCE)).toBe(true);
  for (const value of valuesOf(others)) expect(documented).toContain(value);
});
