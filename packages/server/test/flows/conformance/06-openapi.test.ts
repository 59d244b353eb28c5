import { expect, test } from 'vitest';
import { openApi } from '../../../src/reference/openapi.ts';
import { openTestApp } from '../../harness/app.ts';

/** For developers on this machine only, and nowhere else. */
const UNDOCUMENTED = [
  'GET /console',
  'GET /console*',
  'GET /console/context.json',
  'GET /dev/inbox',
  'GET /dev/inbox.json',
];

interface Described {
  readonly operationId: string;
  readonly security?: readonly unknown[];
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
}
const paths = openApi()['paths'] as Readonly<Record<string, Readonly<Record<string, Described>>>>;

/** The paths in the tree that the framework prints of its routes, four characters a level. */
function getPaths(tree: string): string[] {
  const parts: string[] = [];
  return tree.split('\n').flatMap((line) => {
    const [, indent = '', part = '', methods = ''] = /^([│ ]*)[├└]── (\S*)(?: \(([^)]*)\))?/.exec(line) ?? [];
    parts.splice(indent.length / 4, parts.length, part);
    return methods.split(', ').includes('GET') ? [parts.join('')] : [];
  });
}

test('openapi.json has everything that is served, and what it says needs no stamp needs none', async () => {
  await using service = await openTestApp('sqlite');
  const { server, baseUrl } = service;
  const served = getPaths(server.printRoutes({ commonPrefix: false })).map((path) => `GET ${path}`);
  expect(served.length).toBeGreaterThan(8);
  const documented = Object.entries(paths).flatMap(([path, { get }]) => (get === undefined ? [] : [`GET ${path}`]));
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

test('versions of an operation have the results that they answer', () => {
  const result = (operation: string, key: string) => {
    const text = JSON.stringify(paths[`/public/v1/submit/${operation}`]?.['post']?.responses['200']?.content);
    const schema = new RegExp(`"${key}":\\{"type":"object","required":\\[([^\\]]*)\\]`).exec(text);
    return schema?.[1];
  };
  const ids = '"subOrganizationId","rootUserIds"';
  expect(result('create_sub_organization', 'createSubOrganizationResultV8')).toBe(ids);
  expect(result('create_sub_organization', 'createSubOrganizationResultV3')).toBe(
    '"subOrganizationId","privateKeys","rootUserIds"',
  );
  expect(result('create_private_keys', 'createPrivateKeysResult')).toBe('"privateKeyIds"');
  expect(result('init_otp', 'initOtpResult')).toBe('"otpId"');
});

test('every operation has a name of its own', () => {
  const names = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
  expect(new Set(names).size).toBe(names.length);
});
