// openapi.json in the hands of others: a public validator, and a client that a public generator makes of it.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import openapiTS, { astToString } from 'openapi-typescript';
import { describe, expect, test } from 'vitest';
import { stampFor, TestClient } from '../packages/server/test/harness/client.ts';
import { TestServer } from '../packages/server/test/harness/server.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));

interface Media {
  readonly schema: object;
  readonly example?: unknown;
}
type Content = Readonly<Record<string, Media>>;
interface Described {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content; readonly $ref?: string }>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: object };
}

const read = (): Document => JSON.parse(readFileSync(new URL('../openapi.json', import.meta.url), 'utf8')) as Document;

const CLIENT = `import createClient from 'openapi-fetch';
import type { paths } from './schema.js';

export async function ask(baseUrl: string, organizationId: string, stamp: (body: string) => string) {
  const client = createClient<paths>({ baseUrl });
  client.use({
    async onRequest({ request }) {
      if (request.method === 'POST') request.headers.set('X-Stamp', stamp(await request.clone().text()));
      return request;
    },
  });
  const alive = await client.GET('/healthz');
  const status: string | undefined = alive.data?.status;
  const whoami = await client.POST('/public/v1/query/whoami', { body: { organizationId } });
  const userName: string | undefined = whoami.data?.username;
  const made = await client.POST('/public/v1/submit/create_user_tag', {
    body: {
      type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
      timestampMs: String(Date.now()),
      organizationId,
      parameters: { userTagName: 'Generated', userIds: [] },
    },
  });
  const tagId: string | undefined = made.data?.activity.result.createUserTagResult?.userTagId;
  const refused = await client.POST('/public/v1/query/get_user', { body: { organizationId, userId: organizationId } });
  const code: string | undefined = refused.error?.errorCode;
  // @ts-expect-error: a user needs an id.
  const wrong = () => client.POST('/public/v1/query/get_user', { body: { organizationId } });
  return { status, userName, tagId, code, wrong };
}
`;

describe('openapi.json', () => {
  test('is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate({ ...read() });
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
    expect(validator.version).toBe('3.1');
    // It does notice.
    const { paths, ...spoiled } = read();
    expect((await new Validator().validate({ ...spoiled, paths: { nowhere: paths['/'] } })).valid).toBe(false);
  });

  test('has an example of every body and answer, and each is what its schema says', () => {
    const { paths, components } = read();
    const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
    ajv.addSchema({ $id: 'https://keys.example/', components });
    const problems: string[] = [];
    const check = (name: string, { schema, example }: Media): void => {
      if (example === undefined) return void problems.push(`${name}: no example`);
      const local = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"https://keys.example/#/')) as object;
      const validate = ajv.compile(local);
      if (!validate(example)) problems.push(`${name}: ${ajv.errorsText(validate.errors)}`);
    };
    for (const methods of Object.values(paths)) {
      for (const { operationId, requestBody, responses } of Object.values(methods)) {
        for (const media of Object.values(requestBody?.content ?? {})) check(`${operationId} body`, media);
        for (const [status, { content = {} }] of Object.entries(responses)) {
          for (const media of Object.values(content)) check(`${operationId} ${status}`, media);
        }
      }
    }
    expect(problems).toEqual([]);
  });

  test('makes a client that compiles and calls', { timeout: 120_000 }, async () => {
    await using service = await TestServer.start();
    const folder = mkdtempSync(join(HERE, 'generated-client-'));
    try {
      const schema = await openapiTS(JSON.stringify(read()), { silent: true });
      writeFileSync(join(folder, 'schema.d.ts'), astToString(schema));
      writeFileSync(join(folder, 'client.ts'), CLIENT);
      const options = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--skipLibCheck'];
      const tsc = join(HERE, 'node_modules', 'typescript', 'bin', 'tsc');
      const compiled = spawnSync(process.execPath, [tsc, ...options, 'client.ts'], { cwd: folder, encoding: 'utf8' });
      expect(compiled.stdout).toBe('');
      const { ask } = await import(/* @vite-ignore */ pathToFileURL(join(folder, 'client.js')).href);
      const { organizationId, key } = TestClient.root(service.credentials, service.baseUrl);
      const stamp = (body: string) => stampFor(Buffer.from(body), key);
      expect(await ask(service.baseUrl, organizationId, stamp)).toMatchObject({
        status: 'alive',
        userName: expect.stringMatching(/./),
        tagId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        code: 'RESOURCE_NOT_FOUND',
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
