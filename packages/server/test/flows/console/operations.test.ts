import { describe, expect, test } from 'vitest';
import { createSubOrganization, createUser, TestClient } from '../../harness/client.ts';
import { DATABASES } from '../../harness/databases.ts';
import { startFakeNode } from '../../harness/json-rpc-node.ts';
import { MailServer } from '../../harness/mail-server.ts';
import { TestServer } from '../../harness/server.ts';

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** One of two nodes is away. */
async function openOperator(database: (typeof DATABASES)[number]) {
  const node = await startFakeNode({ eth_chainId: '0x1', eth_blockNumber: '0x10' });
  const mail = await MailServer.start();
  const smtp = new URL(mail.url);
  smtp.username = 'mail-user';
  smtp.password = 'mail-secret';
  const chains = { 'eip155:1': { rpcUrls: [`${node.url}key-in-path`, 'http://user:node-secret@127.0.0.1:9/'] } };
  const env = { CUSTOS_CHAINS: JSON.stringify(chains), CUSTOS_SMTP_URL: smtp.href, CUSTOS_MAIL_FROM: 'a@b.example' };
  const server = await TestServer.start({ database, env });
  return { node, mail, server };
}

describe.each(DATABASES)('get_operations on %s', (database) => {
  test('is for root users of the operator alone, and has no secrets', async () => {
    const { node, mail, server } = await openOperator(database);
    try {
      const root = TestClient.root(server.credentials, server.baseUrl);
      if (database === 'postgres') {
        const refused = await root.query('get_operations');
        expect(refused).toMatchObject({
          status: 403,
          body: {
            errorCode: 'REQUEST_NOT_AUTHORIZED',
            message: expect.stringContaining('CUSTOS_OPERATOR_ORGANIZATION'),
          },
        });
        return;
      }
      const plain = await createUser(root, 'Plain');
      const child = await createSubOrganization(root, 'Child');
      for (const client of [plain, child]) {
        expect(await client.query('get_operations')).toMatchObject({
          status: 403,
          body: { message: expect.stringContaining('root users') },
        });
      }
      // A parent reads its children, but not this through them.
      expect((await root.query('get_operations', { organizationId: child.organizationId })).status).toBe(403);

      const before = await root.query('get_operations');
      expect(before.status, JSON.stringify(before.body)).toBe(200);
      expect(before.body).toEqual({
        service: {
          version: expect.any(String),
          node: process.version,
          processId: server.pid,
          startedAt: expect.stringMatching(TIME),
          baseUrl: server.baseUrl,
          database: 'sqlite',
          databaseVersion: expect.stringMatching(/^3\./),
          connections: expect.arrayContaining([
            { pool: 'write', busy: expect.any(Number), idle: expect.any(Number), waiting: 0, timeouts: 0 },
          ]),
          ready: true,
          reasons: {},
        },
        counters: { requests: expect.any(Number), errors5xx: 0, signatures: 0 },
        latency: { buckets: expect.any(Array), count: expect.any(Number), sumSeconds: expect.any(Number) },
        queues: [
          { name: 'webhooks', waiting: 0 },
          { name: 'sends', waiting: 0 },
          { name: 'messages', waiting: 0 },
        ],
        keys: {
          protection: 'file',
          keyring: 'process',
          keyringUser: 'same',
          rootKeyId: expect.any(String),
          isRotating: false,
          retiredRootKeys: 0,
          keyringMs: expect.any(Number),
        },
        chains: [
          {
            caip2: 'eip155:1',
            head: 16,
            nodes: [
              {
                host: node.host,
                answers: true,
                head: 16,
                at: expect.stringMatching(TIME),
              },
              { host: '127.0.0.1:9', answers: false, at: expect.stringMatching(TIME) },
            ],
          },
        ],
        mail: { email: 'PROVIDER', sms: 'NONE', host: new URL(mail.url).host, failed24h: 0 },
        backup: { text: expect.stringContaining('No backup of this database is recorded') },
        fence: { up: false, isWhole: false },
        disk: { usedBytes: expect.any(Number), totalBytes: expect.any(Number), freeBytes: expect.any(Number) },
        now: expect.stringMatching(TIME),
      });
      for (const secret of ['secret', 'key-in-path', 'mail-user'])
        expect(JSON.stringify(before.body)).not.toContain(secret);

      const { walletId } = await root.run('create_wallet', { walletName: 'w', accounts: [] });
      expect(walletId).toEqual(expect.any(String));
      await new Promise((resolve) => setTimeout(resolve, 1100));
      const { body: after } = await root.query('get_operations');
      expect(after.counters.requests).toBeGreaterThan(before.body.counters.requests);
      expect(after.latency.count).toBe(after.counters.requests);
      const counts = after.latency.buckets.map(({ count }: { count: number }) => count);
      expect(counts).toEqual([...counts].sort((one, other) => one - other));
      expect(counts.at(-1)).toBeLessThanOrEqual(after.latency.count);
    } finally {
      await server[Symbol.asyncDispose]();
      await mail[Symbol.asyncDispose]();
    }
  });
});

test('on PostgreSQL a setting names the operator', async () => {
  await using server = await TestServer.start({ database: 'postgres' });
  const first = TestClient.root(server.credentials, server.baseUrl);
  await server.stop();
  await using again = await TestServer.start({
    dataDir: server.dataDir,
    env: {
      CUSTOS_DATABASE_URL: server.databaseUrl ?? '',
      CUSTOS_OPERATOR_ORGANIZATION: first.organizationId.toUpperCase(),
    },
  });
  const root = TestClient.root(again.credentials, again.baseUrl);
  const { status, body } = await root.query('get_operations');
  expect([status, body.service?.database]).toEqual([200, 'postgresql']);
  expect(body.service.databaseVersion).toMatch(/^\d+/);
  expect(body.queues).toHaveLength(3);
});
