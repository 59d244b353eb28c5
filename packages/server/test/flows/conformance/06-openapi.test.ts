import { expect, test } from 'vitest';
import { openApi } from '../../../src/reference/openapi.ts';
import { openTestApp } from '../../harness/app.ts';

/** For developers on this machine only, and nowhere else. */
const UNDOCUMENTED = ['GET /dev/inbox', 'GET /dev/inbox.json'];

interface Described {
  readonly operationId: string;
  readonly security?: readonly unknown[];
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
}
const paths = openApi()['paths'] as Readonly<Record<string, Readonly<Record<string, Described>>>>;

test('openapi.json has everything that is served, and what it says needs no stamp needs none', async () => {
  await using service = await openTestApp('sqlite');
  const { server, baseUrl } = service;
  const routes = server
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, path = '', methods = ''] = /[─ ](\/\S*) \(([A-Z, ]+)\)/.exec(line) ?? [];
      return methods.split(', ').map((method) => [method, path] as const);
    })
    .filter(([method]) => method === 'GET');
  expect(routes.length).toBeGreaterThan(8);
  const documented = Object.entries(paths).flatMap(([path, { get }]) => (get === undefined ? [] : [`GET ${path}`]));
  const served = routes.map(([method, path]) => `${method} ${path}`);
  expect([...documented, ...UNDOCUMENTED].sort()).toEqual([...new Set(served)].sort());

  for (const [path, { get }] of Object.entries(paths)) {
    if (get === undefined) continue;
    const answer = await fetch(`${baseUrl}${path}`);
    await answer.text();
    const [type = ''] = (answer.headers.get('content-type') ?? '').split(';');
    expect([path, answer.status, Object.keys(get.responses['200']?.content ?? {})]).toEqual([path, 200, [type]]);
    expect(get.security).toEqual([]);
  }
});

test('every operation has a name of its own', () => {
  const names = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
  expect(new Set(names).size).toBe(names.length);
});
