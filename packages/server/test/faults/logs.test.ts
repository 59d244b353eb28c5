import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SqliteFile } from '../../src/storage/sqlite-driver.ts';
import { TestClient as Client, createUser, newKeyPair, send, stampFor, type TestClient } from '../harness/client.ts';
import { DATABASES, databasesOf } from '../harness/databases.ts';
import { TestServer } from '../harness/server.ts';
import { onPostgres, type Row, temporaryFolder } from './support.ts';

/** Text of requests that must never come out again. */
const MARK = 'xyzzy';

/** Remembers everything that is sent, so that the log can be searched for it. */
class Sent {
  readonly secrets = new Map<string, string>();

  keep(what: string, value: string): string {
    // Short texts would be found by chance.
    if (value.length >= 12) this.secrets.set(value, what);
    return value;
  }

  /** A stamp with its signature; the log must hold neither. */
  stamp(body: string, key: Parameters<typeof stampFor>[1]): string {
    this.keep('private key', key.privateKey);
    this.keep('public key', key.publicKey);
    const stamp = this.keep('stamp', stampFor(Buffer.from(body), key));
    this.keep('signature', JSON.parse(Buffer.from(stamp, 'base64url').toString()).signature);
    this.keep('body', body);
    return stamp;
  }
}

async function runRaw(baseUrl: string, bytes: string): Promise<void> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.end(bytes);
  socket.resume();
  await once(socket, 'close');
}

/** Success, refusals and nonsense of every kind; returns how often each status came. */
async function drive(root: TestClient, sent: Sent): Promise<Map<number, number>> {
  const { baseUrl, organizationId } = root;
  const statuses = new Map<number, number>();
  const post = async (path: string, body: string, headers: Record<string, string>): Promise<Row> => {
    for (const value of Object.values(headers)) sent.keep('header', value);
    sent.keep('body', body);
    const answer = await send(baseUrl, path, body, headers);
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    return answer.body;
  };
  const submit = (client: TestClient, operation: string, parameters: unknown): Promise<Row> => {
    const body = client.submitBody(operation, parameters);
    return post(`/public/v1/submit/${operation}`, body, { 'x-stamp': sent.stamp(body, client.key) });
  };
  const query = (client: TestClient, operation: string, parameters: Row = {}): Promise<Row> => {
    const body = JSON.stringify({ organizationId, ...parameters });
    return post(`/public/v1/query/${operation}`, body, { 'x-stamp': sent.stamp(body, client.key) });
  };

  // Success.
  const user = await createUser(root, `${MARK} user name`, {
    userEmail: `${MARK}@example.com`,
    userPhoneNumber: '+15555550123',
  });
  sent.keep('private key', user.key.privateKey);
  await query(root, 'whoami');
  await query(root, 'list_users');
  await query(user, 'whoami');
  await submit(root, 'create_user_tag', { userTagName: `${MARK} tag name`, userIds: [user.userId] });
  await submit(root, 'update_user_name', { userId: user.userId, userName: `${MARK} other name` });
  const key = newKeyPair();
  await submit(user, 'create_api_keys', {
    userId: user.userId,
    apiKeys: [{ apiKeyName: `${MARK} key name`, publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }],
  });
  await submit(root, 'create_sub_organization', {
    subOrganizationName: `${MARK} sub`,
    rootQuorumThreshold: 1,
    rootUsers: [
      {
        userName: `${MARK} root`,
        userEmail: `${MARK}-sub@example.com`,
        apiKeys: [],
        authenticators: [],
        oauthProviders: [],
      },
    ],
  });
  await submit(root, 'update_root_quorum', { threshold: 2, userIds: [root.userId, user.userId] });
  const pending = await submit(root, 'create_user_tag', { userTagName: `${MARK} pending`, userIds: [] });
  await submit(user, 'approve_activity', { fingerprint: pending.activity.fingerprint });
  const rejected = await submit(root, 'create_user_tag', { userTagName: `${MARK} rejected`, userIds: [] });
  await submit(user, 'reject_activity', { fingerprint: rejected.activity.fingerprint });

  // Refused: no right, not there, already there, wrong shape, not built.
  const bystander = newKeyPair();
  const asked = await submit(root, 'create_users', {
    users: [
      {
        userName: `${MARK} bystander`,
        apiKeys: [{ apiKeyName: 'k', publicKey: bystander.publicKey, curveType: 'API_KEY_CURVE_P256' }],
        authenticators: [],
        oauthProviders: [],
        userTags: [],
      },
    ],
  });
  await submit(user, 'approve_activity', { fingerprint: asked.activity.fingerprint });
  await submit(root.as(bystander), 'create_user_tag', { userTagName: `${MARK} denied`, userIds: [] });
  await submit(user, 'approve_activity', { fingerprint: `sha256:${'0'.repeat(64)}` });
  await submit(user, 'approve_activity', { fingerprint: rejected.activity.fingerprint });
  await query(root, 'get_user', { userId: '00000000-0000-4000-8000-000000000000' });
  await query(root, 'get_user', { userId: `${MARK} not an id` });
  await submit(root, 'create_user_tag', { userTagName: { text: `${MARK} not text` } });
  await submit(root, 'create_users', {
    users: [{ userName: `${MARK} nobody`, oauthProviders: [{ oidcToken: `${MARK}.token` }] }],
  });
  await query(root, 'whoami', { type: `${MARK} type` });
  await query(root, 'get_swap_status', { projectId: `${MARK} project` });

  // Bad stamps.
  const body = JSON.stringify({ organizationId, note: `${MARK} note` });
  const path = '/public/v1/query/whoami';
  const stranger = newKeyPair();
  await post(path, body, {});
  await post(path, body, { 'x-stamp': `${MARK} no stamp at all` });
  await post(path, body, { 'x-stamp': sent.stamp(`${body} `, root.key) });
  await post(path, body, { 'x-stamp': sent.stamp(body, stranger) });
  await post(path, body, { 'x-stamp-webauthn': JSON.stringify({ credentialId: `${MARK}-credential` }) });
  await post(path, body, { 'x-stamp-attested': `${MARK} attested` });
  await post(path, body, { 'x-session': `${MARK} session token` });
  await post(path, body, {
    'x-stamp': sent.stamp(body, root.key),
    authorization: `Bearer ${MARK}-bearer`,
    cookie: `${MARK}=cookie-value`,
  });

  // Nonsense.
  for (const text of [
    `{"${MARK}`,
    `["${MARK} list"]`,
    `{"organizationId":"${MARK} id"}`,
    `{"a":"${MARK}","a":"${MARK}"}`,
    '',
  ]) {
    await post(path, text, { 'x-stamp': sent.stamp(text, root.key) });
  }
  await post(path, body, { 'x-stamp': sent.stamp(body, root.key), 'content-type': 'text/plain' });
  await post(path, `{"${MARK} large":"${'x'.repeat(2_200_000)}"}`, {});
  await post(`/public/v1/query/${MARK}_nothing_here`, body, {});
  await post(`/${MARK}/path?token=${MARK}-token`, body, {});
  await runRaw(baseUrl, `NONSENSE ${MARK} raw\r\n\r\n`);
  await runRaw(baseUrl, `GET /${MARK} HTTP/1.1\r\nx-stamp: ${MARK}\r\n`);
  await runRaw(baseUrl, `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 500\r\n\r\n{"${MARK} cut`);
  await runRaw(baseUrl, `GET / HTTP/1.1\r\nhost: x\r\nx-long: ${MARK.repeat(5000)}\r\n\r\n`);
  return statuses;
}

/** Every line is one JSON object, and none holds anything that was sent. */
function expectClean(stderr: string, sent: Sent): Row[] {
  const lines = stderr.split('\n').filter((line) => line !== '');
  const parsed = lines.map((line) => {
    try {
      return JSON.parse(line) as Row;
    } catch {
      throw new Error(`not JSON: ${line}`);
    }
  });
  for (const line of parsed) {
    expect(line.level).toEqual(expect.any(Number));
    expect(line.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(line.msg).toEqual(expect.any(String));
  }
  const unescaped = `${stderr}\n${lines.map((line) => line.replaceAll('\\"', '"')).join('\n')}`;
  const found = [...sent.secrets].filter(([value]) => unescaped.includes(value)).map(([, what]) => what);
  expect(found).toEqual([]);
  expect(lines.filter((line) => line.includes(MARK))).toEqual([]);
  return parsed;
}

describe.each(DATABASES)('the log on %s', (database) => {
  const testHere = databasesOf(import.meta.url).includes(database) ? test : undefined;

  testHere?.('at its most talkative: JSON lines without anything that was sent', async () => {
    await using server = await TestServer.start({ database, env: { CUSTOS_LOG_LEVEL: 'trace' } });
    const root = Client.root(server.credentials, server.baseUrl);
    const sent = new Sent();
    const statuses = await drive(root, sent);
    expect([...statuses.keys()].sort()).toEqual(expect.arrayContaining([200, 400, 401, 403, 404, 413, 415, 501]));
    expect(statuses.get(500)).toBeUndefined();
    expect(await server.stop()).toBe(0);
    const lines = expectClean(server.output.stderr, sent);
    // It does say what happened.
    expect(lines.filter((line) => line.msg === 'activity').length).toBeGreaterThan(10);
    expect(lines.filter((line) => line.msg === 'request' && line.code === 'OK').length).toBeGreaterThan(10);
    expect(lines.filter((line) => line.msg === 'request' && line.code === 'SIGNATURE_INVALID').length).toBeGreaterThan(
      0,
    );
    // With the embedded database there is a link to the console, and messages are kept. Who holds the keys and what to move is
    // said in four lines.
    expect(server.output.stdout.split('\n')).toHaveLength(database === 'sqlite' ? 11 : 9);
  });

  test('an internal error has one id in the answer and in the log, and the caller learns nothing else', async () => {
    using folder = temporaryFolder();
    await using server = await TestServer.start({ database, dataDir: folder.path, env: { CUSTOS_LOG_LEVEL: 'trace' } });
    const root = Client.root(server.credentials, server.baseUrl);
    const execute = async (postgres: string, sqlite: string): Promise<void> => {
      if (server.databaseUrl !== undefined) {
        await onPostgres(server.databaseUrl, (client) => client.query(postgres));
        return;
      }
      const db = new SqliteFile(join(folder.path, 'custos.db'));
      db.exec(sqlite);
      db.close();
    };
    const sent = new Sent();
    // A rule that the program does not know: PostgreSQL describes the whole row in its error.
    await execute(
      `ALTER TABLE tag ADD CONSTRAINT unknown_rule CHECK (name NOT LIKE '${MARK}%')`,
      "CREATE TRIGGER unknown_rule BEFORE INSERT ON tag WHEN NEW.name LIKE 'xyzzy%' BEGIN SELECT RAISE(ABORT, 'unknown rule'); END",
    );
    const operations: [string, string, unknown][] = [
      ['submit', 'create_user_tag', { userTagName: `${MARK} tag`, userIds: [] }],
      ['query', 'list_users', {}],
    ];
    const ids: string[] = [];
    for (const [kind, operation, parameters] of operations) {
      if (operation === 'list_users') {
        await execute('ALTER TABLE user_tag RENAME TO moved_away', 'ALTER TABLE user_tag RENAME TO moved_away');
      }
      const body =
        kind === 'submit'
          ? root.submitBody(operation, parameters)
          : JSON.stringify({ organizationId: root.organizationId, note: `${MARK} note` });
      const answer = await send(server.baseUrl, `/public/v1/${kind}/${operation}`, body, {
        'x-stamp': sent.stamp(body, root.key),
      });
      expect(answer.status).toBe(500);
      expect(answer.body).toMatchObject({ code: 13, errorCode: 'INTERNAL' });
      const [, id] = /^internal server error \(([0-9a-f-]{36})\)$/.exec(answer.body.message) ?? [];
      expect(JSON.stringify(answer.body)).not.toMatch(/rule|user_tag|moved_away|sql/i);
      ids.push(id as string);
    }
    await execute('ALTER TABLE moved_away RENAME TO user_tag', 'ALTER TABLE moved_away RENAME TO user_tag');
    expect((await root.query('list_users')).status).toBe(200);
    expect(await server.stop()).toBe(0);
    const errors = expectClean(server.output.stderr, sent).filter((line) => line.msg === 'internal error');
    expect(errors.map((line) => [line.errorId, line.operation, line.level])).toEqual([
      [ids[0], 'create_user_tag', 50],
      [ids[1], 'list_users', 50],
    ]);
    for (const line of errors) expect(line.err.stack).toEqual(expect.any(String));
  });
});
