import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { Receiver } from '../harness/bundles.ts';
import { type Answer, createSubOrganization, createUser, newKeyPair, type TestClient } from '../harness/client.ts';
import { remarkWith, runOn } from '../harness/remark.ts';

// A login that invalidates what was there holds the user and not the organization. Only PostgreSQL has two at a time.
describe('a session key that is being replaced', () => {
  let app: TestApp;
  let owner: TestClient;
  let other: pg.Client;
  let watcher: pg.Client;
  beforeAll(async () => {
    app = await openTestApp('postgres');
    owner = await createSubOrganization(app.root, 'Replaced');
    [other, watcher] = [0, 1].map(() => new pg.Client({ connectionString: app.app.config.databaseUrl })) as [
      pg.Client,
      pg.Client,
    ];
    await Promise.all([other.connect(), watcher.connect()]);
  });
  afterAll(async () => {
    await other?.end();
    await watcher?.end();
    await app?.[Symbol.asyncDispose]();
  });

  /** Runs a call with a session key, while somebody else removes that key and has not committed. */
  async function whileRemoved(call: (session: TestClient) => Promise<Answer>, user = owner): Promise<unknown> {
    const keyPair = newKeyPair();
    await user.run('stamp_login', { publicKey: keyPair.publicKey });
    const session = user.as(keyPair, user.userId);
    await session.query('whoami');
    await other.query('BEGIN');
    await other.query('UPDATE app_user SET revision = revision + 1 WHERE organization_id = $1 AND id = $2', [
      user.organizationId,
      user.userId,
    ]);
    await other.query('DELETE FROM api_key WHERE organization_id = $1 AND public_key = $2', [
      user.organizationId,
      keyPair.publicKey,
    ]);
    await remarkWith(runOn(other), 'postgres', app.app.config, 'app_user');
    const answered = call(session);
    await waitsForLock();
    await other.query('COMMIT');
    const { status, body } = await answered;
    return [status, body.errorCode];
  }

  async function waitsForLock(): Promise<void> {
    for (;;) {
      const { rows } = await watcher.query(
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      if (rows.length > 0) return;
    }
  }

  test('logs in no more', async () => {
    const login = (session: TestClient) => session.submit('stamp_login', { publicKey: newKeyPair().publicKey });
    expect(await whileRemoved(login)).toEqual([401, 'UNAUTHENTICATED']);
  });

  test('is not registered once more by itself', async () => {
    const login = (session: TestClient) => session.submit('stamp_login', { publicKey: session.key.publicKey });
    expect(await whileRemoved(login)).toEqual([401, 'UNAUTHENTICATED']);
  });

  test('makes no session of another kind', async () => {
    const targetPublicKey = new Receiver().publicKey;
    const make = (session: TestClient) => session.submit('create_read_write_session', { targetPublicKey });
    expect(await whileRemoved(make)).toEqual([401, 'UNAUTHENTICATED']);
  });

  test('approves no session of its own user that somebody else proposed', async () => {
    const [proposer, approver] = [await createUser(owner, 'Proposer'), await createUser(owner, 'Approver')];
    await owner.run('create_policy', {
      policyName: 'Sessions',
      effect: 'EFFECT_ALLOW',
      consensus: 'approvers.count() >= 2',
      condition: "activity.type == 'ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2'",
      notes: '',
    });
    const targetPublicKey = new Receiver().publicKey;
    const proposed = await proposer.submit('create_read_write_session', { targetPublicKey, userId: approver.userId });
    const { status, fingerprint } = proposed.body.activity;
    expect(status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    const approve = (session: TestClient) => session.submit('approve_activity', { fingerprint });
    expect(await whileRemoved(approve, approver)).toEqual([401, 'UNAUTHENTICATED']);
  });
});
