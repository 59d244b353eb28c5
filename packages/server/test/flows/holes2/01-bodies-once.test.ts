import { createPublicKey, verify } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { type Answer, createUser, newKeyPair, type TestClient } from '../../harness/client.ts';
import { DATABASES } from '../../harness/databases.ts';
import { Rows } from '../fixtures/access.ts';

const RENAME = '/public/v1/submit/update_user_name';
const PENDING = 'ACTIVITY_STATUS_CONSENSUS_NEEDED';
const COMPLETED = 'ACTIVITY_STATUS_COMPLETED';

/** Whether anyone who has only the vote can verify it. */
function verifies(vote: { publicKey: string; signature: string; message: string }): boolean {
  const prefix = '3039301306072a8648ce3d020106082a8648ce3d030107032200';
  const key = createPublicKey({ key: Buffer.from(prefix + vote.publicKey, 'hex'), format: 'der', type: 'spki' });
  return verify('sha256', Buffer.from(vote.message), key, Buffer.from(vote.signature, 'hex'));
}

describe.each(DATABASES)('a signed body on %s', (database) => {
  let app: TestApp;
  let root: TestClient;
  let members: readonly [TestClient, TestClient];
  let rows: Rows;

  beforeAll(async () => {
    app = await openTestApp(database);
    ({ root } = app);
    rows = await Rows.open(app.app.config);
    members = [await createUser(root, 'one'), await createUser(root, 'two')];
    const userIds = [root, ...members].map(({ userId }) => userId);
    await root.run('update_root_quorum', { threshold: 3, userIds });
  });
  afterAll(async () => {
    await rows?.[Symbol.asyncDispose]();
    await app?.[Symbol.asyncDispose]();
  });

  /** Spaces, an odd order, unknown fields: what is shown has to be what was sent. */
  const bodyOf = (userName: string): string =>
    root
      .submitBody('update_user_name', {
        'a ü': { '2': -0, '1': [1e3] },
        userName,
        userId: root.userId,
        x: 'y'.repeat(50_000),
      })
      .replace('"parameters":', '  "parameters" : ');

  const get = async (activityId: string): Promise<Answer['body']> =>
    (await root.query('get_activity', { activityId })).body.activity;

  async function expectShown(activity: Answer['body'], body: string, votes: number): Promise<void> {
    expect(activity.intent).toEqual({ updateUserNameIntent: JSON.parse(JSON.stringify(JSON.parse(body).parameters)) });
    expect(activity.votes.map((vote: { message: string }) => vote.message)).toEqual(Array(votes).fill(body));
    expect(activity.votes.map(verifies)).toEqual(Array(votes).fill(true));
  }

  test('is stored once, however many sign the same bytes, and shown in full', async () => {
    const body = bodyOf('first');
    const { activity } = (await root.sendStamped(RENAME, body)).body;
    expect(activity.status).toBe(PENDING);
    await expectShown(activity, body, 1);
    for (const member of members) await member.sendStamped(RENAME, body);
    const done = await get(activity.id);
    expect(done.status).toBe(COMPLETED);
    await expectShown(done, body, 3);
    const [listed] = (await root.query('list_activities', { paginationOptions: { limit: '1' } })).body.activities;
    expect(listed).toEqual(done);
    const [stored] = await rows.run(
      `SELECT (SELECT length(parameters) + length(body) FROM activity WHERE id = ?)
         + (SELECT SUM(length(message)) FROM vote WHERE activity_id = ?) AS bytes`,
      [activity.id, activity.id],
    );
    expect(Number(stored?.bytes)).toBe(body.length);
  });

  test('that may have secrets is sealed once', async () => {
    const apiKey = { apiKeyName: 'key', publicKey: newKeyPair().publicKey, curveType: 'API_KEY_CURVE_P256' };
    const user = { userName: 'new', apiKeys: [apiKey], authenticators: [], oauthProviders: [], userTags: [] };
    const body = root.submitBody('create_users', { users: [user] });
    const { activity } = (await root.sendStamped('/public/v1/submit/create_users', body)).body;
    await members[0].sendStamped('/public/v1/submit/create_users', body);
    const shown = await get(activity.id);
    expect(shown.votes.map((vote: { message: string }) => vote.message)).toEqual([body, body]);
    const [stored] = await rows.run('SELECT sealed_parameters, sealed_body FROM activity WHERE id = ?', [activity.id]);
    expect(stored?.sealed_parameters).toBeNull();
    expect(stored?.sealed_body).not.toBeNull();
    const sealed = await rows.run('SELECT sealed_message FROM vote WHERE activity_id = ?', [activity.id]);
    expect(sealed).toEqual([{ sealed_message: null }, { sealed_message: null }]);
  });

  test('that an older version stored twice is read and voted on as before', async () => {
    const body = bodyOf('older');
    const { activity } = (await root.sendStamped(RENAME, body)).body;
    const before = await get(activity.id);
    const parameters = JSON.stringify(JSON.parse(body).parameters);
    await rows.run('UPDATE activity SET body = NULL, parameters = ? WHERE id = ?', [parameters, activity.id]);
    await rows.run('UPDATE vote SET message = ? WHERE activity_id = ?', [body, activity.id]);
    expect(await get(activity.id)).toEqual(before);
    for (const member of members) await member.sendStamped(RENAME, body);
    const done = await get(activity.id);
    expect(done.status).toBe(COMPLETED);
    await expectShown(done, body, 3);
  });
});
