import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { openTestApp } from '../../harness/app.ts';
import { Receiver } from '../../harness/bundles.ts';
import { createUser, type TestClient } from '../../harness/client.ts';
import { DATABASES } from '../../harness/databases.ts';
import { approve, COMPLETED, outcome, PENDING, policyFor } from '../fixtures/access.ts';
import { LoginService } from '../fixtures/logins.ts';

/** Runs `meanwhile` once, when the request has been decided and its keys are made, before its transaction begins. */
function beforeCommit(keyring: object, method: string, meanwhile: () => Promise<unknown>): void {
  const calls = keyring as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const original = calls[method] as (...args: unknown[]) => Promise<unknown>;
  calls[method] = async (...args) => {
    calls[method] = original;
    const made = await original.apply(keyring, args);
    await meanwhile();
    return made;
  };
}

describe.each(DATABASES)('a decision that is taken a second time, on %s', (database) => {
  const session = (client: TestClient, email: string) =>
    client.submit('create_read_write_session', { targetPublicKey: new Receiver().publicKey, email });

  test('asks who the proposer is now, not who it was', async () => {
    await using app = await openTestApp(database);
    const { root } = app;
    const user = await createUser(root, 'user', { userEmail: 'shared@example.com' });
    const heir = await createUser(root, 'heir', { userEmail: 'heir@example.com' });
    expect(outcome(await session(user, 'shared@example.com'))).toEqual([200, COMPLETED]);
    beforeCommit(app.app.keyring, 'createCredential', async () => {
      await root.run('update_user_email', { userId: user.userId, userEmail: 'other@example.com' });
      await root.run('update_user_email', { userId: heir.userId, userEmail: 'shared@example.com' });
    });
    expect(outcome(await session(user, 'shared@example.com'))).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
    const keys = (await root.query('get_api_keys', { userId: heir.userId })).body.apiKeys;
    expect(keys).toHaveLength(1);
  });

  test('prepares again what is about somebody else by then', async () => {
    await using logins = await LoginService.open(database);
    const { user: root } = await logins.newPerson();
    const [user, heir] = [await createUser(root, 'user'), await createUser(root, 'heir')];
    const email = `moved-${randomUUID()}@mail.example`;
    const moveTo = (userId: string, userEmail: string) => root.run('update_user_email', { userId, userEmail });
    await moveTo(user.userId, email);
    const ask = async () =>
      (await root.run('email_auth', {
        email,
        targetPublicKey: new Receiver().publicKey,
        emailCustomization: { appName: 'App' },
      })) as { userId: string };
    expect((await ask()).userId).toBe(user.userId);
    beforeCommit(logins.service.app.keyring, 'createCredential', async () => {
      await moveTo(user.userId, '');
      await moveTo(heir.userId, email);
    });
    expect((await ask()).userId).toBe(heir.userId);
  });

  test('the same for a vote that completes a proposal', async () => {
    await using app = await openTestApp(database);
    const { root } = app;
    const user = await createUser(root, 'user', { userEmail: 'shared@example.com' });
    const heir = await createUser(root, 'heir', { userEmail: 'heir@example.com' });
    const approver = await createUser(root, 'approver');
    const both = [user, approver].map(({ userId }) => `approvers.any(user, user.id == '${userId}')`).join(' && ');
    await policyFor(root, approver, {
      condition: "activity.type == 'ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2'",
      consensus: both,
    });
    const ask = async () => (await session(user, 'heir@example.com')).body.activity;
    const honest = await ask();
    expect(honest.status).toBe(PENDING);
    expect(outcome(await approve(approver, honest.fingerprint))).toEqual([200, COMPLETED]);
    const asked = await ask();
    beforeCommit(app.app.keyring, 'createCredential', async () => {
      await root.run('update_user_email', { userId: heir.userId, userEmail: 'moved@example.com' });
      await root.run('update_user_email', { userId: user.userId, userEmail: 'heir@example.com' });
    });
    const done = await approve(approver, asked.fingerprint);
    expect(outcome(done)).toEqual([200, COMPLETED]);
    expect(done.body.activity.result.createReadWriteSessionResultV2.userId).toBe(user.userId);
  });
});
