import { once } from 'node:events';
import { createServer, request as forward, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databasesOf } from '../../server/test/harness/databases.ts';
import { TestServer } from '../../server/test/harness/server.ts';
import { ApiKeyStamper, createClient, type NetworkError, type Stamper } from '../src/index.ts';

// A service that runs as its operators run it, behind something that loses its answers after the work was done.

type Fate = 'reset' | 'cut' | 'late';

/** Hands requests on; the next answers meet their fates, the ones behind them arrive. */
class Lossy implements AsyncDisposable {
  readonly #server: Server;
  readonly fates: Fate[] = [];
  /** What came in, with its stamp. */
  readonly seen: string[] = [];

  private constructor(target: string) {
    this.#server = createServer(async (incoming, outgoing) => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk);
      const body = Buffer.concat(chunks);
      this.seen.push(`${incoming.url} ${incoming.headers['x-stamp']} ${body}`);
      const { host: _, ...headers } = incoming.headers;
      const sent = forward(`${target}${incoming.url}`, { method: incoming.method ?? 'POST', headers });
      sent.end(body);
      const [answer] = await once(sent, 'response');
      const parts: Buffer[] = [];
      for await (const part of answer) parts.push(part);
      const whole = Buffer.concat(parts);
      const fate = this.fates.shift();
      if (fate === 'reset') return void incoming.socket.resetAndDestroy();
      if (fate === 'late') return;
      outgoing.writeHead(answer.statusCode, { ...answer.headers, 'content-length': whole.length });
      if (fate === undefined) return void outgoing.end(whole);
      outgoing.write(whole.subarray(0, 20), () => incoming.socket.destroy());
    });
  }

  static async to(target: string): Promise<Lossy> {
    const lossy = new Lossy(target);
    lossy.#server.listen(0, '127.0.0.1');
    await once(lossy.#server, 'listening');
    return lossy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

describe.each(databasesOf(import.meta.url))('answers that are lost, on %s', (database) => {
  let server: TestServer;
  let lossy: Lossy;
  let stamps = 0;

  beforeAll(async () => {
    server = await TestServer.start({ database });
    lossy = await Lossy.to(server.baseUrl);
  });
  afterAll(async () => {
    await lossy?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  function open(options: { timeoutMs?: number; retryAttempts?: number } = {}, baseUrl = lossy.url) {
    const { apiPublicKey, apiPrivateKey, organizationId } = server.credentials;
    const key = new ApiKeyStamper({ publicKey: apiPublicKey, privateKey: apiPrivateKey });
    const stamper: Stamper = {
      stamp: (body) => {
        stamps += 1;
        return key.stamp(body);
      },
    };
    return createClient({ baseUrl, organizationId, stamper, ...options });
  }
  /** How many activities and tags of this name there are, asked without anything in between. */
  async function made(userTagName: string): Promise<{ activities: number; tags: number }> {
    const direct = open({}, server.baseUrl);
    const { activities } = await direct.listActivities({ filterByType: ['ACTIVITY_TYPE_CREATE_USER_TAG'] });
    const { userTags } = await direct.listUserTags();
    return {
      activities: activities.filter(({ intent }) => JSON.stringify(intent).includes(`"${userTagName}"`)).length,
      tags: userTags.filter(({ tagName }) => tagName === userTagName).length,
    };
  }

  test('are asked for again with the same bytes and stamp, and make one activity', async () => {
    for (const [name, fates] of [
      ['honest', []],
      ['reset', ['reset', 'reset']],
      ['cut', ['cut']],
      ['late', ['late']],
    ] as const) {
      lossy.fates.push(...fates);
      lossy.seen.length = 0;
      stamps = 0;
      const { userTagId } = await open({ timeoutMs: name === 'late' ? 1_000 : 30_000 }).createUserTag({
        userTagName: name,
        userIds: [],
      });
      expect(userTagId).toEqual(expect.any(String));
      expect([name, stamps, lossy.seen.length, new Set(lossy.seen).size]).toEqual([name, 1, fates.length + 1, 1]);
      expect(await made(name)).toEqual({ activities: 1, tags: 1 });
    }
  });

  test('that stay lost are an error whose request finds what was done', async () => {
    lossy.fates.push('reset');
    const client = open({ retryAttempts: 0 });
    const call = client.createUserTag({ userTagName: 'later', userIds: [] });
    const error = (await call.catch((thrown: unknown) => thrown)) as NetworkError;
    expect(error).toMatchObject({ code: 'NETWORK_ERROR' });
    expect(await made('later')).toEqual({ activities: 1, tags: 1 });
    const kept = JSON.parse(JSON.stringify(error.request));
    const { userTags } = await open({}, server.baseUrl).listUserTags();
    const { tagId } = userTags.find(({ tagName }) => tagName === 'later') ?? {};
    expect(await open().repeat(kept)).toMatchObject({ userTagId: tagId });
    expect(await made('later')).toEqual({ activities: 1, tags: 1 });
  });
});
