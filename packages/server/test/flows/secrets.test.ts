import { createHash, createPublicKey, randomBytes, verify } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import pg from 'pg';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ActivityReader } from '../../src/core/store/activity-reader.ts';
import { OrganizationReader } from '../../src/core/store/organizations.ts';
import type { ActivityOperation } from '../../src/engine/define.ts';
import { buildServer } from '../../src/http/server.ts';
import { ApiError } from '../../src/lib/errors.ts';
import type { OrganizationId } from '../../src/lib/ids.ts';
import { Observer } from '../../src/observe.ts';
import { activities } from '../../src/registry.ts';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { type Answer, createUser, TestClient } from '../harness/client.ts';
import { type DatabaseKind, databasesOf } from '../harness/databases.ts';

// protocol/activities 5. The schema and effect of operations that declare secret parameters are replaced here for the
// time of a test, so that any text will do for a secret; everything around them is the service as it runs.

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const path = (operation: string) => `/public/v1/submit/${operation}`;

/** Lets an operation take its parameters as they are, and hands them to `execute`. Answers how to undo it. */
function serveAsIs(name: string, execute: (parameters: unknown) => Promise<unknown>): () => void {
  const operation = activities.find((candidate) => candidate.name === name) as ActivityOperation;
  const { describe: about, prepare, execute: real } = operation;
  const decoders = operation.versions.map((version) => version.decode);
  for (const version of operation.versions) Object.assign(version, { decode: (parameters: unknown) => parameters });
  Object.assign(operation, {
    describe: undefined,
    prepare: undefined,
    execute: (_context: unknown, parameters: unknown) => execute(parameters),
  });
  return () => {
    Object.assign(operation, { describe: about, prepare, execute: real });
    for (const [index, version] of operation.versions.entries()) Object.assign(version, { decode: decoders[index] });
  };
}

/** Everything the database holds: the bytes of its files, or every value of every row. */
async function databaseBytes(app: TestApp, database: DatabaseKind): Promise<Buffer> {
  const { config } = app.app;
  if (database === 'sqlite') {
    const files = readdirSync(config.dataDir).filter((name) => name.startsWith('custos.db'));
    expect(files).toContain('custos.db');
    return Buffer.concat(files.map((name) => readFileSync(join(config.dataDir, name))));
  }
  const client = new pg.Client({ connectionString: config.databaseUrl });
  await client.connect();
  const tables = await client.query<{ name: string }>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'",
  );
  const parts: Buffer[] = [];
  for (const { name } of tables.rows) {
    for (const row of (await client.query(`SELECT * FROM ${name}`)).rows) {
      for (const value of Object.values(row)) {
        parts.push(Buffer.isBuffer(value) ? value : Buffer.from(`${String(value)}\n`));
      }
    }
  }
  await client.end();
  return Buffer.concat(parts);
}

interface Case {
  readonly operation: string;
  readonly type: string;
  readonly intentKey: string;
  /** Parameters that carry these secrets, and ordinary text that must survive. */
  readonly parameters: (secrets: readonly string[]) => Record<string, unknown>;
  readonly secrets: number;
}

const user = (oauthProviders: unknown[]) => ({
  userName: 'visible name',
  apiKeys: [],
  authenticators: [],
  userTags: [],
  oauthProviders,
});
const provider = (oidcToken: string | undefined) => ({ providerName: 'visible provider', oidcToken });

const CASES: readonly Case[] = [
  {
    operation: 'update_user_email',
    type: 'ACTIVITY_TYPE_UPDATE_USER_EMAIL',
    intentKey: 'updateUserEmailIntent',
    secrets: 1,
    parameters: ([verificationToken]) => ({ userId: 'visible name', userEmail: 'a@example.com', verificationToken }),
  },
  {
    operation: 'create_users',
    type: 'ACTIVITY_TYPE_CREATE_USERS_V4',
    intentKey: 'createUsersIntentV4',
    secrets: 3,
    parameters: ([a, b, c]) => ({ users: [user([provider(a), provider(b)]), user([]), user([provider(c)])] }),
  },
  {
    operation: 'create_users',
    type: 'ACTIVITY_TYPE_CREATE_USERS_V3',
    intentKey: 'createUsersIntentV3',
    secrets: 1,
    parameters: ([a]) => ({ users: [user([provider(a)])] }),
  },
  {
    operation: 'create_sub_organization',
    type: 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8',
    intentKey: 'createSubOrganizationIntentV8',
    secrets: 2,
    parameters: ([verificationToken, b]) => ({
      subOrganizationName: 'visible name',
      rootUsers: [user([provider(b)])],
      verificationToken,
    }),
  },
];

/** Replaces what protocol/activities 5.2 says is replaced, independently of the program. */
const redacted = (value: string, secrets: readonly string[]): string =>
  secrets.reduce((text, secret) => text.replaceAll(secret, `sha256:${sha256(secret)}`), value);

describe.each(databasesOf(import.meta.url))('secret parameters on %s', (database) => {
  let app: TestApp;
  let root: TestClient;
  let second: TestClient;
  let log = '';
  let server: ReturnType<typeof buildServer>;
  let undo: () => void = () => {};
  let executed: unknown[] = [];

  beforeEach(async () => {
    app = await openTestApp(database);
    log = '';
    const stream = new Writable({
      write(chunk: Buffer, _encoding, done) {
        log += chunk.toString();
        done();
      },
    });
    // The same service with a log that a test can read.
    server = buildServer({ ...app.app, observe: new Observer(pino({ level: 'trace' }, stream)) });
    const baseUrl = await server.listen({ host: '127.0.0.1', port: 0 });
    root = new TestClient(baseUrl, app.root.organizationId, app.root.key, app.root.userId);
    second = await createUser(root, 'second');
    executed = [];
  });
  afterEach(async () => {
    undo();
    undo = () => {};
    await server.close();
    await app[Symbol.asyncDispose]();
  });

  const newSecrets = (count: number) =>
    Array.from({ length: count }, () => `secret-${randomBytes(24).toString('hex')}`);
  const serve = (operation: string, execute: (parameters: unknown) => Promise<unknown> = async () => ({})) => {
    undo = serveAsIs(operation, (parameters) => {
      executed.push(parameters);
      return execute(parameters);
    });
  };
  const quorumOfTwo = () => root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, second.userId] });
  const read = async (client: TestClient, activityId: string): Promise<Answer['body']> =>
    (await client.query('get_activity', { activityId })).body.activity;

  /** Nothing at rest and nothing in the log holds a secret. */
  async function expectNowhere(secrets: readonly string[]): Promise<void> {
    const bytes = await databaseBytes(app, database);
    expect(bytes.includes('visible')).toBe(true);
    expect(log).toContain('"activity"');
    for (const secret of secrets) {
      expect(bytes.includes(secret)).toBe(false);
      // Nor in a spelling that a database might choose.
      expect(bytes.includes(Buffer.from(secret).toString('hex'))).toBe(false);
      expect(bytes.includes(Buffer.from(secret).toString('base64'))).toBe(false);
      expect(log.includes(secret)).toBe(false);
    }
  }

  /** Opens the sealed bytes of each vote, which may be the activity's, and checks the signature over them. */
  async function expectVerifiable(activityId: string, messages: readonly string[]): Promise<void> {
    const { storage, keyring } = app.app;
    const organizationId = root.organizationId as OrganizationId;
    const { wrappedKey } = await storage.read(OrganizationReader).get(organizationId);
    const found = await storage.read(ActivityReader).find(organizationId, activityId);
    expect(found?.votes).toHaveLength(messages.length);
    for (const [index, stored] of (found?.votes ?? []).entries()) {
      const { fingerprint, sealedBody } = found?.activity ?? {};
      const isOwn = stored.messageDigest === fingerprint && sealedBody !== undefined;
      expect(stored.sealedMessage).toBeUndefined();
      const bytes = isOwn
        ? await keyring.open(wrappedKey, { organizationId, ownerId: activityId, kind: 'activity-body' }, sealedBody)
        : Buffer.from(stored.message);
      expect(Buffer.from(bytes).toString()).toBe(messages[index]);
      const spki = Buffer.concat([
        Buffer.from('3039301306072a8648ce3d020106082a8648ce3d030107032200', 'hex'),
        Buffer.from(stored.publicKey, 'hex'),
      ]);
      const key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
      expect(verify('sha256', bytes, key, Buffer.from(stored.signature, 'hex'))).toBe(true);
    }
  }

  describe.each(CASES)('$type', ({ operation, type, intentKey, parameters, secrets: count }) => {
    test('echoed once, kept as digests, executed with the real value by another’s approval', async () => {
      const secrets = newSecrets(count);
      const given = parameters(secrets);
      serve(operation);
      await quorumOfTwo();
      const body = root.submitBody(operation, given, { type });
      const direct = await root.sendStamped(path(operation), body);
      expect(direct.status, JSON.stringify(direct.body)).toBe(200);
      const { activity } = direct.body;
      expect(activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
      expect(activity.intent).toEqual({ [intentKey]: JSON.parse(JSON.stringify(given)) });
      expect(activity.fingerprint).toBe(`sha256:${sha256(body)}`);
      expect(activity.votes[0].message).toBe(redacted(body, secrets));
      await expectNowhere(secrets);

      const kept = { [intentKey]: JSON.parse(redacted(JSON.stringify(given), secrets)) };
      for (const client of [root, second]) {
        const later = await read(client, activity.id);
        expect(later.intent).toEqual(kept);
        expect(later.votes[0].message).toBe(redacted(body, secrets));
      }
      const again = await root.sendStamped(path(operation), body);
      expect(again.body.activity.intent).toEqual(kept);
      const listed = await root.query('list_activities');
      for (const secret of secrets) expect(JSON.stringify(listed.body)).not.toContain(secret);

      const approval = second.submitBody('approve_activity', { fingerprint: activity.fingerprint });
      const done = await second.sendStamped(path('approve_activity'), approval);
      expect(done.body.activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
      expect(executed).toEqual([JSON.parse(JSON.stringify(given))]);
      expect(done.body.activity.intent).toEqual(kept);
      await expectNowhere(secrets);
      await expectVerifiable(activity.id, [body, approval]);
      const { votes } = (await root.query('get_activity_votes', { activityId: activity.id })).body;
      expect(votes.map((vote: { message: string; redacted?: boolean }) => [vote.message, vote.redacted])).toEqual([
        [redacted(body, secrets), true],
        [approval, undefined],
      ]);
    });

    test('executed at once', async () => {
      const secrets = newSecrets(count);
      serve(operation);
      const body = root.submitBody(operation, parameters(secrets), { type });
      const { activity } = (await root.sendStamped(path(operation), body)).body;
      expect(activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
      expect(executed).toHaveLength(1);
      expect(JSON.stringify(executed)).toContain(secrets[0]);
      expect(JSON.stringify(await read(root, activity.id))).not.toContain(secrets[0]);
      await expectNowhere(secrets);
      await expectVerifiable(activity.id, [body]);
    });
  });

  const email = CASES[0] as Case;

  test('the same bytes as a second approval', async () => {
    const secrets = newSecrets(1);
    serve(email.operation);
    await quorumOfTwo();
    const body = root.submitBody(email.operation, email.parameters(secrets));
    await root.sendStamped(path(email.operation), body);
    const { activity } = (await second.sendStamped(path(email.operation), body)).body;
    expect(activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
    expect(executed).toHaveLength(1);
    const messages = activity.votes.map((vote: { message: string }) => vote.message);
    expect(messages).toEqual([redacted(body, secrets), redacted(body, secrets)]);
    await expectNowhere(secrets);
    await expectVerifiable(activity.id, [body, body]);
  });

  test('a denied request and a failed execution', async () => {
    const secrets = newSecrets(2);
    serve(email.operation, async () => {
      throw new ApiError('RESOURCE_NOT_FOUND', 'no such thing');
    });
    const plain = await createUser(root, 'plain');
    const denied = await plain.submit(email.operation, email.parameters([secrets[0] as string]));
    expect(denied.status).toBe(403);
    expect(JSON.stringify(denied.body)).not.toContain(secrets[0]);
    await quorumOfTwo();
    const pending = await root.submit(email.operation, email.parameters([secrets[1] as string]));
    const failed = await second.submit('approve_activity', { fingerprint: pending.body.activity.fingerprint });
    expect(failed.body.activity.status).toBe('ACTIVITY_STATUS_FAILED');
    expect(JSON.stringify(failed.body)).not.toContain(secrets[1]);
    await expectNowhere(secrets);
  });

  test('a bug inside the operation does not put them into the log', async () => {
    const secrets = newSecrets(1);
    serve(email.operation, async () => {
      throw new Error('a defect');
    });
    const answer = await root.submit(email.operation, email.parameters(secrets));
    expect([answer.status, answer.body.errorCode]).toEqual([500, 'INTERNAL']);
    const [, errorId] = /\(([0-9a-f-]{36})\)$/.exec(answer.body.message) ?? [];
    expect(log).toContain(errorId);
    expect(log).toContain('a defect');
    expect(JSON.stringify(answer.body)).not.toContain('a defect');
    await root.submit('update_user_name', { userId: root.userId, userName: 'visible' });
    await expectNowhere(secrets);
  });

  test('unusual spellings of the value and of the body are found too', async () => {
    const [secret] = newSecrets(1) as [string];
    serve(email.operation);
    const escaped = [...secret].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
    const body = root
      .submitBody(email.operation, { userId: 'visible', userEmail: 'a@example.com', verificationToken: 'PLACE' })
      .replace('"verificationToken":"PLACE"', `\n\t"verification\\u0054oken" :\r "${escaped}" `);
    const { status, body: answer } = await root.sendStamped(path(email.operation), body);
    expect(status, JSON.stringify(answer)).toBe(200);
    expect(executed).toMatchObject([{ verificationToken: secret }]);
    const bytes = await databaseBytes(app, database);
    expect(bytes.includes(escaped)).toBe(false);
    const stored = await read(root, answer.activity.id);
    expect(stored.votes[0].message).toBe(body.replace(escaped, `sha256:${sha256(secret)}`));
    await expectNowhere([secret]);
    await expectVerifiable(answer.activity.id, [body]);
  });

  test('null and absent secrets stay what they are', async () => {
    serve(email.operation);
    for (const parameters of [{ userId: 'visible', verificationToken: null }, { userId: 'visible' }]) {
      const { activity } = (await root.submit(email.operation, parameters)).body;
      expect((await read(root, activity.id)).intent).toEqual({ updateUserEmailIntent: parameters });
    }
  });

  test('a sealed value belongs to its own activity', async () => {
    const secrets = newSecrets(1);
    serve(email.operation);
    await quorumOfTwo();
    const { activity } = (await root.submit(email.operation, email.parameters(secrets))).body;
    const organizationId = root.organizationId as OrganizationId;
    const { storage, keyring } = app.app;
    const { wrappedKey } = await storage.read(OrganizationReader).get(organizationId);
    const found = await storage.read(ActivityReader).find(organizationId, activity.id);
    const sealed = found?.activity.sealedBody as Uint8Array;
    const open = (ownerId: string, kind: string) => keyring.open(wrappedKey, { organizationId, ownerId, kind }, sealed);
    expect(Buffer.from(await open(activity.id, 'activity-body')).toString()).toContain(secrets[0]);
    await expect(open(root.userId, 'activity-body')).rejects.toThrow();
    await expect(open(activity.id, 'vote-message')).rejects.toThrow();
  });
});

test('a request with a secret that is none is refused and leaves no trace', async () => {
  await using app = await openTestApp('sqlite');
  const secret = `secret-${randomBytes(24).toString('hex')}`;
  for (const { operation, type, parameters, secrets } of CASES) {
    const given = parameters(Array.from({ length: secrets }, () => secret));
    const answer = await app.root.submit(
      operation,
      { ...given, userId: app.root.userId, rootQuorumThreshold: 1 },
      { type },
    );
    expect(answer.status, type).toBe(400);
    expect(JSON.stringify(answer.body)).not.toContain(secret);
  }
  expect((await databaseBytes(app, 'sqlite')).includes(secret)).toBe(false);
});
