import { describe, expect, test } from 'vitest';
import { ActivityReader } from '../../src/core/store/activity-reader.ts';
import { openTestApp } from '../harness/app.ts';
import { createUser, newKeyPair } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';

/** Runs `meanwhile` once, right after a request has been authenticated and before it votes. */
function between(target: object, meanwhile: () => Promise<unknown>): void {
  const activities = target as { idByFingerprint: (...args: unknown[]) => Promise<unknown> };
  const original = activities.idByFingerprint;
  activities.idByFingerprint = async (...args) => {
    activities.idByFingerprint = original;
    await meanwhile();
    return await original.apply(activities, args);
  };
}

describe.each(DATABASES)('a credential that is deleted while its request is handled, on %s', (database) => {
  test('cannot vote any more, while an untouched one can', async () => {
    await using app = await openTestApp(database);
    const { root } = app;
    const second = await createUser(root, 'second');
    const spare = newKeyPair();
    const { apiKeyIds } = await second.run('create_api_keys', {
      userId: second.userId,
      apiKeys: [{ apiKeyName: 'spare', publicKey: spare.publicKey, curveType: 'API_KEY_CURVE_P256' }],
    });
    await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, second.userId] });
    const { body } = await root.submit('create_user_tag', { userTagName: 'pending', userIds: [] });
    const { fingerprint, id } = body.activity;

    between(app.app.storage.read(ActivityReader), () =>
      second.run('delete_api_keys', { userId: second.userId, apiKeyIds }),
    );
    const refused = await second.as(spare, second.userId).submit('approve_activity', { fingerprint });
    expect([refused.status, refused.body.errorCode]).toEqual([401, 'UNAUTHENTICATED']);
    const { body: pending } = await root.query('get_activity', { activityId: id });
    expect(pending.activity).toMatchObject({
      status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED',
      votes: [{ userId: root.userId }],
    });

    const approved = await second.submit('approve_activity', { fingerprint });
    expect(approved.body.activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
  });
});
