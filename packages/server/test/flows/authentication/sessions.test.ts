import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { SqliteFile } from '../../../src/storage/sqlite-driver.ts';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { createSubOrganization, createUser, newKeyPair, send } from '../../harness/client.ts';
import { type DatabaseKind, databasesOf } from '../../harness/databases.ts';
import { remark } from '../../harness/remark.ts';
import { base64url, hex, outcome, path, queryBody, sha256, WHOAMI } from './support.ts';

/** Puts a read-only session into the database, as the operation that creates them will. */
async function insertSession(
  app: TestApp,
  database: DatabaseKind,
  session: { organizationId: string; token: string; userId: string; expiresAtMs: number },
): Promise<void> {
  const values = [session.organizationId, hex(sha256(session.token)), session.userId, session.expiresAtMs];
  if (database === 'postgres') {
    const client = new pg.Client({ connectionString: app.app.config.databaseUrl });
    await client.connect();
    await client.query(
      'INSERT INTO read_session (organization_id, token_hash, user_id, expires_at_ms) VALUES ($1, $2, $3, $4)',
      values,
    );
    await client.end();
    return await remark(app.app.config, 'read_session');
  }
  const file = new SqliteFile(`${app.app.config.dataDir}/custos.db`);
  file
    .prepare('INSERT INTO read_session (organization_id, token_hash, user_id, expires_at_ms) VALUES (?, ?, ?, ?)')
    .run(...values);
  file.close();
  await remark(app.app.config, 'read_session');
}

describe.each(databasesOf(import.meta.url))('read-only sessions on %s', (database) => {
  test('read, never submit, and end', async () => {
    await using app = await openTestApp(database, { CUSTOS_FAILED_AUTH_PER_MINUTE: '0' });
    const { root } = app;
    const sub = await createSubOrganization(root, 'sub');
    const user = await createUser(root, 'reader');
    const token = base64url(randomBytes(32));
    const session = {
      organizationId: root.organizationId,
      token,
      userId: user.userId,
      expiresAtMs: Date.now() + 3600_000,
    };
    await insertSession(app, database, session);
    const ask = (url: string, body: string, value = token) => send(app.baseUrl, url, body, { 'x-session': value });
    const body = queryBody(root.organizationId);
    expect((await ask(WHOAMI, body)).body).toMatchObject({ userId: user.userId });
    expect((await ask('/public/v1/query/list_users', body)).body.users).toHaveLength(2);
    // Neither submits nor votes.
    const pending = root.submitBody('create_api_keys', {
      userId: user.userId,
      apiKeys: [{ apiKeyName: 'k', publicKey: newKeyPair().publicKey, curveType: 'API_KEY_CURVE_P256' }],
    });
    expect(outcome(await ask(path('create_api_keys'), pending))).toEqual([401, 'UNAUTHENTICATED']);
    const vote = root.submitBody('approve_activity', { fingerprint: `sha256:${'0'.repeat(64)}` });
    expect(outcome(await ask(path('approve_activity'), vote))).toEqual([401, 'UNAUTHENTICATED']);
    // For its own organization only, not even for a child of it.
    expect(outcome(await ask(WHOAMI, queryBody(sub.organizationId)))).toEqual([401, 'UNAUTHENTICATED']);
    expect(outcome(await ask(WHOAMI, queryBody(randomUUID())))).toEqual([404, 'ORGANIZATION_NOT_FOUND']);
    expect(outcome(await ask(WHOAMI, body, `${token}x`))).toEqual([401, 'UNAUTHENTICATED']);
    expect(outcome(await ask(WHOAMI, body, hex(sha256(token))))).toEqual([401, 'UNAUTHENTICATED']);
    // With its user.
    const doomed = await createUser(root, 'doomed');
    await insertSession(app, database, { ...session, token: 'doomed', userId: doomed.userId });
    expect((await ask(WHOAMI, body, 'doomed')).status).toBe(200);
    await root.run('delete_users', { userIds: [doomed.userId] });
    expect(outcome(await ask(WHOAMI, body, 'doomed'))).toEqual([401, 'UNAUTHENTICATED']);
    // With its time.
    app.advance(3600_000);
    expect(outcome(await ask(WHOAMI, body))).toEqual([401, 'UNAUTHENTICATED']);
  });
});
