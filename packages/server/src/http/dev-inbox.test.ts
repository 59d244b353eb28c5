import fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fakeStores } from '../../test/harness/fake-stores.ts';
import { readConfig } from '../config/config.ts';
import { SealedReader } from '../core/store/sealed.ts';
import type { DevInboxParts } from '../domains/messages/dev-inbox.ts';
import { MessageReader } from '../domains/messages/store.ts';
import { ApiError } from '../lib/errors.ts';
import { addDevInbox } from './dev-inbox.ts';

const HOSTILE = `</pre><script>alert('x')</script>"`;
const KEPT = [
  {
    channel: 'email',
    to: `"${HOSTILE}"@example.com`,
    subject: HOSTILE,
    text: `${HOSTILE}\nhttps://app.example/in?a=1&b=2 javascript:alert(1)`,
    html: HOSTILE,
  },
  { channel: 'sms', to: '+15005550006', text: 'a code' },
];

const keptMessage = (content: unknown, index: number) => ({
  organizationId: 'o',
  id: `id-${index}`,
  sealed: Buffer.from(JSON.stringify(content)),
  createdAtMs: 1_700_000_000_000 - index,
});

/** Two messages whose sealing the test does without. */
const parts = (environment: Record<string, string>): DevInboxParts =>
  ({
    config: readConfig(environment),
    keyring: { open: async (_key: unknown, _binding: unknown, sealed: Uint8Array) => sealed },
    storage: {
      read: fakeStores(
        [MessageReader, { kept: async () => KEPT.map(keptMessage) }],
        [SealedReader, { organizationKey: async () => new Uint8Array(1) }],
      ),
    },
  }) as unknown as DevInboxParts;

const open = (environment: Record<string, string>): FastifyInstance => {
  const made = fastify({ logger: false });
  made.setErrorHandler((error, _request, reply) =>
    reply.code(error instanceof ApiError ? error.httpStatus : 500).send((error as Error).message),
  );
  made.setNotFoundHandler((_request, reply) => reply.code(404).send('nothing'));
  addDevInbox(made, parts(environment));
  return made;
};

let server: FastifyInstance;
beforeEach(() => {
  server = open({});
});
afterEach(() => server.close());

const get = (url: string, headers: Record<string, string> = {}, remoteAddress = '127.0.0.1', from = server) =>
  from.inject({ method: 'GET', url, remoteAddress, headers: { host: '127.0.0.1:8080', ...headers } });

test('the list has the fields that clients read, newest first', async () => {
  const answer = await get('/dev/inbox.json');
  expect(answer.statusCode).toBe(200);
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(answer.json()).toEqual([
    { id: 'id-0', ...KEPT[0], createdAt: '2023-11-14T22:13:20.000Z' },
    { id: 'id-1', ...KEPT[1], subject: '', html: '', createdAt: '2023-11-14T22:13:19.999Z' },
  ]);
});

test('the page escapes what it shows and runs nothing but its own script', async () => {
  const answer = await get('/dev/inbox');
  expect(answer.statusCode).toBe(200);
  expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
  const page = answer.body;
  expect(page.match(/<script>/g)).toHaveLength(1);
  expect(page).not.toContain(HOSTILE);
  expect(page).toContain('&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;');
  expect(page).toContain('href="https://app.example/in?a=1&amp;b=2"');
  expect(page).not.toContain('href="javascript:');
  expect(page).toContain('<iframe sandbox title=');
  expect(page).toContain('name="viewport"');
  expect(page).toContain('a code');
  const policy = String(answer.headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'");
  expect(policy).toMatch(/script-src 'sha256-[A-Za-z0-9+/=]{44}'(;|$)/);
  expect(policy).toContain("frame-ancestors 'none'");
});

test.each(['/dev/inbox', '/dev/inbox.json'])(
  '%s is for this machine only, and not for caches or other pages',
  async (url) => {
    const { statusCode, headers } = await get(url);
    expect(statusCode).toBe(200);
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(headers).not.toHaveProperty('access-control-allow-origin');
    for (const host of ['localhost', 'LOCALHOST:1', '[::1]:8080', '127.0.0.2']) {
      expect([host, (await get(url, { host })).statusCode]).toEqual([host, 200]);
    }
    for (const peer of ['::1', '::ffff:127.0.0.1']) expect((await get(url, {}, peer)).statusCode).toBe(200);

    for (const peer of ['192.0.2.1', '10.0.0.1', '::ffff:192.0.2.1', '2001:db8::1']) {
      expect([peer, (await get(url, {}, peer)).statusCode]).toEqual([peer, 404]);
    }
    // A name of somebody else that was made to point here, as by DNS rebinding.
    for (const host of [
      'evil.example',
      'localhost.evil.example',
      '127.0.0.1.evil.example:8080',
      '192.0.2.1',
      ':8080',
    ]) {
      expect([host, (await get(url, { host })).statusCode]).toEqual([host, 404]);
    }
    for (const name of ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip', 'x-forwarded-host']) {
      expect([name, (await get(url, { [name]: '127.0.0.1' })).statusCode]).toEqual([name, 404]);
    }
  },
);

describe('where messages are sent there is nothing', () => {
  test.each([
    ['it is turned off', { CUSTOS_DEV_INBOX: 'off' }],
    ['mail is set up', { CUSTOS_SMTP_URL: 'smtp://mail.example', CUSTOS_MAIL_FROM: 'a@b.example' }],
    ['the database is shared', { CUSTOS_DATABASE_URL: 'postgres://db.example/x' }],
    ['others can reach it', { CUSTOS_HOST: '0.0.0.0' }],
  ])('%s', async (_name, environment) => {
    const other = open(environment);
    const answers = await Promise.all(['/dev/inbox', '/dev/inbox.json'].map((url) => get(url, {}, '127.0.0.1', other)));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([404, 404]);
    await other.close();
  });
});
