import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { verifyWebhook, type WebhookJwk } from '@custos/sdk';
import { describe, expect, test } from 'vitest';
import { expectRefusal, openTables, runCli, temporaryFolder, waitUntil } from '../../../server/test/faults/support.ts';
import { newKeyPair, TestClient } from '../../../server/test/harness/client.ts';
import { databasesOf } from '../../../server/test/harness/databases.ts';
import { TestServer } from '../../../server/test/harness/server.ts';

const CLI = fileURLToPath(new URL('../../bin/custos.js', import.meta.url));
const LOOPBACK = { CUSTOS_OUTBOUND_ALLOW: '127.0.0.0/8' };
const QUARTER_MS = 15 * 60 * 1000;
const PUBLISHED = /^published webhook key ([0-9a-f-]+); it signs from (\S+Z)(?:; destroyed ([0-9a-f, -]+))?\n$/;
const WAITING = /^key ([0-9a-f]+) is published; waiting 5 seconds until every process has it and signs with it$/;

const rotate = (env: Readonly<Record<string, string>>, ...options: string[]) =>
  runCli(env, 'webhooks', 'rotate-key', ...options);

/** Replaces all keys and is killed while it waits for the processes; answers with the key that it has made. */
async function killWhileWaiting(env: Readonly<Record<string, string>>): Promise<string> {
  const child = spawn(process.execPath, [CLI, 'webhooks', 'rotate-key', '--compromised', '--yes'], {
    env,
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  const exited = once(child, 'exit');
  let key: string | undefined;
  for await (const line of createInterface(child.stderr)) {
    key = WAITING.exec(line)?.[1];
    if (key !== undefined) break;
  }
  child.kill('SIGKILL');
  await exited;
  expect(key).toBeDefined();
  return key as string;
}

const keySetOf = async ({ baseUrl }: TestServer): Promise<{ readonly keys: WebhookJwk[] }> =>
  (await (await fetch(`${baseUrl}/public/v1/discovery/webhooks/jwks`)).json()) as { keys: WebhookJwk[] };
const keyIdsOf = async (server: TestServer): Promise<string[]> => (await keySetOf(server)).keys.map(({ kid }) => kid);

const rootOf = ({ credentials, baseUrl }: TestServer): TestClient => TestClient.root(credentials, baseUrl);

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
  #endpointId = '';
  #last: { readonly headers: IncomingHttpHeaders; readonly body: Buffer } | undefined;

  private constructor(service: TestServer) {
    this.#service = service;
  }

  static async open(service: TestServer): Promise<Receiver> {
    const receiver = new Receiver(service);
    receiver.#server.listen(0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    const url = `http://127.0.0.1:${(receiver.#server.address() as AddressInfo).port}/`;
    const made = await rootOf(service).run('create_webhook_endpoint', { name: 'Here', url, subscriptions: [] });
    receiver.#endpointId = made.endpointId;
    return receiver;
  }

  /** Which key signs an event that is sent now; it verifies with what another process publishes too. */
  async signer(sender = this.#service, publisher = sender): Promise<string> {
    const { delivered } = await rootOf(sender).run('test_webhook_endpoint', { endpointId: this.#endpointId });
    expect(delivered).toBe(true);
    const result = await verifyWebhook({ ...this.#last!, keys: await keySetOf(publisher) });
    expect(result).toMatchObject({ ok: true, eventType: 'WEBHOOK_TEST' });
    return (result as { keyId: string }).keyId;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

describe.each(databasesOf(import.meta.url))('custos webhooks rotate-key on %s', (database) => {
  test('publishes the next key beside a running service, or replaces all', { timeout: 120_000 }, async () => {
    await using server = await TestServer.start({ database, env: LOOPBACK });
    const { dataDir, databaseUrl } = server;
    await using other =
      databaseUrl === undefined
        ? undefined
        : await TestServer.start({ dataDir, env: { ...LOOPBACK, CUSTOS_DATABASE_URL: databaseUrl } });
    const processes = other === undefined ? [server] : [server, other];
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

    // Killed in the middle, it leaves all keys, which every process publishes; the next run destroys them.
    const left = await killWhileWaiting(server.environment);
    for (const one of processes) {
      await waitUntil('the key is published', async () => (await keyIdsOf(one)).includes(left));
      expect((await keyIdsOf(one)).sort()).toEqual([first, next, left].sort());
    }

    // It asks first.
    const unasked = await rotate(server.environment, '--compromised');
    expectRefusal(unasked, /destroys webhook-signer keys: there is no terminal to ask on; run it again with --yes/);
    const looked = await rotate(server.environment, '--compromised', '--dry-run');
    expect(looked).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringMatching(/, and destroys [0-9a-f]{32}, /),
    });
    expect((await keyIdsOf(server)).sort()).toEqual([first, next, left].sort());

    const replaced = await rotate(server.environment, '--compromised', '--yes');
    expect(replaced).toMatchObject({ code: 0, stderr: expect.stringMatching(new RegExp(WAITING, 'm')) });
    const [, only = '', signs = '', destroyed] = PUBLISHED.exec(replaced.stdout) ?? [];
    expect(destroyed?.split(', ').sort()).toEqual([first, next, left].sort());
    expect(Date.parse(signs)).toBeLessThanOrEqual(Date.now());
    expect([first, next, left]).not.toContain(only);
    // At once, and whichever process a receiver asks for the key of whichever.
    for (const sender of processes) {
      for (const publisher of processes) expect(await receiver.signer(sender, publisher)).toBe(only);
    }
    for (const one of processes) {
      await waitUntil('the old keys are gone', async () => !(await keyIdsOf(one)).includes(first));
      expect(await keyIdsOf(one)).toEqual([only]);
      expect(await receiver.signer(one)).toBe(only);
    }
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
  expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining('before use  move root.key') });
  expectRefusal(await rotate(env), /the service has no keys yet: start the service first/);
  const missing = `file:${join(folder.path, 'missing.key')}`;
  expectRefusal(await rotate({ ...env, CUSTOS_ROOT_KEY: missing }), /cannot open the root key .*missing\.key/);
});

test('help and mistakes in the arguments', async () => {
  const help = await runCli({}, 'webhooks', '--help');
  expect(help).toMatchObject({ code: 0, stderr: '' });
  expect(help.stdout).toContain('rotate-key [options]');
  expect((await rotate({}, '--help')).stdout).toMatch(/15 minutes.*--compromised .*five\s+seconds/s);
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
