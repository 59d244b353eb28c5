import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { verifyWebhook, type WebhookJwk } from '@custos/sdk';
import { describe, expect, test } from 'vitest';
import { expectRefusal, openTables, runCli, temporaryFolder, waitUntil } from '../../../server/test/faults/support.ts';
import { newKeyPair, TestClient } from '../../../server/test/harness/client.ts';
import { DATABASES } from '../../../server/test/harness/databases.ts';
import { TestServer } from '../../../server/test/harness/server.ts';

const QUARTER_MS = 15 * 60 * 1000;
const PUBLISHED = /^published webhook key ([0-9a-f-]+); it signs from (\S+Z)(?:; destroyed ([0-9a-f, -]+))?\n$/;

const rotate = (env: Readonly<Record<string, string>>, ...options: string[]) =>
  runCli(env, 'webhooks', 'rotate-key', ...options);

const keySetOf = async ({ baseUrl }: TestServer): Promise<{ readonly keys: WebhookJwk[] }> =>
  (await (await fetch(`${baseUrl}/public/v1/discovery/webhooks/jwks`)).json()) as { keys: WebhookJwk[] };
const keyIdsOf = async (server: TestServer): Promise<string[]> => (await keySetOf(server)).keys.map(({ kid }) => kid);

/** An endpoint of the first organization; each test event gives what arrived there. */
class Receiver implements AsyncDisposable {
  readonly #server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      this.#last = { headers: request.headers, body: Buffer.concat(parts) };
      response.end();
    });
  });
  readonly #service: TestServer;
  readonly #root: TestClient;
  #endpointId = '';
  #last: { readonly headers: IncomingHttpHeaders; readonly body: Buffer } | undefined;

  private constructor(service: TestServer) {
    this.#service = service;
    this.#root = TestClient.root(service.credentials, service.baseUrl);
  }

  static async open(service: TestServer): Promise<Receiver> {
    const receiver = new Receiver(service);
    receiver.#server.listen(0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    const url = `http://127.0.0.1:${(receiver.#server.address() as AddressInfo).port}/`;
    const made = await receiver.#root.run('create_webhook_endpoint', { name: 'Here', url, subscriptions: [] });
    receiver.#endpointId = made.endpointId;
    return receiver;
  }

  /** Which key signs an event that is sent now; it verifies with what is published. */
  async signer(): Promise<string> {
    const { delivered } = await this.#root.run('test_webhook_endpoint', { endpointId: this.#endpointId });
    expect(delivered).toBe(true);
    const result = await verifyWebhook({ ...this.#last!, keys: await keySetOf(this.#service) });
    expect(result).toMatchObject({ ok: true, eventType: 'WEBHOOK_TEST' });
    return (result as { keyId: string }).keyId;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

describe.each(DATABASES)('custos webhooks rotate-key on %s', (database) => {
  test('publishes the next key beside a running service, or replaces all', { timeout: 120_000 }, async () => {
    await using server = await TestServer.start({ database, env: { CUSTOS_OUTBOUND_ALLOW: '127.0.0.0/8' } });
    await using receiver = await Receiver.open(server);
    const [first = ''] = await keyIdsOf(server);
    expect(await receiver.signer()).toBe(first);

    // Of two at once one makes the key and the other finds it, or finds the first at work.
    const startedAtMs = Date.now();
    const outcomes = await Promise.all([rotate(server.environment), rotate(server.environment)]);
    const [done, refused] = outcomes.sort((one, other) => Number(one.code) - Number(other.code));
    expect(done).toMatchObject({ code: 0, stderr: '' });
    const [, next = '', signsFrom = '', removed] = PUBLISHED.exec(done!.stdout) ?? [];
    expect(removed).toBeUndefined();
    expect(Date.parse(signsFrom)).toBeGreaterThanOrEqual(startedAtMs + QUARTER_MS);
    expect(Date.parse(signsFrom)).toBeLessThanOrEqual(Date.now() + QUARTER_MS);
    const isPublished = `key ${next} is published and begins to sign at ${signsFrom}: rotate after that`;
    expectRefusal(refused!, new RegExp(`${isPublished}|another .custos webhooks rotate-key. is running`));

    await waitUntil('the next key is published', async () => (await keyIdsOf(server)).length === 2);
    expect(await keyIdsOf(server)).toEqual([first, next]);
    expect(await receiver.signer()).toBe(first);

    // One new key at a time.
    const early = await rotate(server.environment);
    expect(early).toMatchObject({ code: 1, stdout: '', stderr: `custos: ${isPublished}\n` });
    expect(await keyIdsOf(server)).toEqual([first, next]);

    const replaced = await rotate(server.environment, '--compromised');
    expect(replaced).toMatchObject({ code: 0, stderr: '' });
    const [, only = '', signs = '', destroyed] = PUBLISHED.exec(replaced.stdout) ?? [];
    expect(destroyed?.split(', ').sort()).toEqual([first, next].sort());
    expect(Date.parse(signs)).toBeLessThanOrEqual(Date.now());
    await waitUntil('the old keys are gone', async () => !(await keyIdsOf(server)).includes(first));
    expect(await keyIdsOf(server)).toEqual([only]);
    expect([first, next]).not.toContain(only);
    expect(await receiver.signer()).toBe(only);
    await using tables = await openTables(server.dataDir, server.databaseUrl);
    const [rows] = await tables.read("SELECT key_id FROM service_key WHERE role = 'webhook-signer'");
    expect(rows).toEqual([{ key_id: only }]);
  });
});

test('what is not the database or the key of a service is one line', async () => {
  using folder = temporaryFolder();
  const env = { CUSTOS_DATA_DIR: folder.path };
  expectRefusal(await rotate(env), /custos\.db holds no Custos service: start the service first/);
  expectRefusal(await rotate({ CUSTOS_DATA_DIRS: 'x' }), /CUSTOS_DATA_DIRS is not a setting/);
  const url = 'postgres://nobody@127.0.0.1:1/none';
  expectRefusal(await rotate({ ...env, CUSTOS_DATABASE_URL: url }), /cannot use the PostgreSQL/);

  // Made for production and never started: there is no key yet to follow.
  const made = await runCli(env, 'init', '--organization', 'Acme', '--public-key', newKeyPair().publicKey);
  expect(made).toMatchObject({ code: 0, stderr: '' });
  expectRefusal(await rotate(env), /the service has no keys yet: start the service first/);
  const missing = `file:${join(folder.path, 'missing.key')}`;
  expectRefusal(await rotate({ ...env, CUSTOS_ROOT_KEY: missing }), /cannot open the root key .*missing\.key/);
});

test('help and mistakes in the arguments', async () => {
  const help = await runCli({}, 'webhooks', '--help');
  expect(help).toMatchObject({ code: 0, stderr: '' });
  expect(help.stdout).toContain('rotate-key [options]');
  expect((await rotate({}, '--help')).stdout).toMatch(/--compromised .*15 minutes|15 minutes.*--compromised /s);
  for (const [args, reason] of [
    [['turn'], /^error: unknown command 'turn'/],
    [['rotate-key', '--comprised'], /^error: unknown option '--comprised'/],
    [['rotate-key', 'now'], /^error: too many arguments/],
  ] as const) {
    expect(await runCli({}, 'webhooks', ...args)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(reason),
    });
  }
});
