import { createPublicKey, verify } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { createSubOrganization, createUser, type TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { aName, approve, COMPLETED, outcome, PENDING, reject } from './fixtures/wallets.ts';

interface Vote {
  readonly id: string;
  readonly userId: string;
  readonly selection: string;
  readonly message: string;
  readonly publicKey: string;
  readonly signature: string;
  readonly redacted?: boolean;
}

/** As somebody would who has nothing but the vote. */
function isStamped({ message, publicKey, signature }: Vote): boolean {
  const prefix = Buffer.from('3039301306072a8648ce3d020106082a8648ce3d030107032200', 'hex');
  const spki = Buffer.concat([prefix, Buffer.from(publicKey, 'hex')]);
  const key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
  return verify('sha256', Buffer.from(message), key, Buffer.from(signature, 'hex'));
}

describe.each(DATABASES)('votes of an activity on %s', (database) => {
  let service: TestApp;
  let root: TestClient;
  let others: TestClient[];

  beforeAll(async () => {
    service = await openTestApp(database);
    root = await createSubOrganization(service.root, 'Votes');
    others = [];
    for (const name of ['second', 'third', 'fourth']) others.push(await createUser(root, name));
    const userIds = [root, ...others].map(({ userId }) => userId);
    await root.run('update_root_quorum', { threshold: 4, userIds });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const propose = async () => {
    const proposed = await root.submit('create_user_tag', { userTagName: aName('tag'), userIds: [] });
    expect(outcome(proposed)).toEqual([200, PENDING]);
    return proposed.body.activity;
  };
  const votesOf = async (activityId: string, paginationOptions?: object) =>
    (await root.query('get_activity_votes', { activityId, ...(paginationOptions && { paginationOptions }) })).body;

  test('can be verified with nothing but what is told', async () => {
    const { id, fingerprint } = await propose();
    for (const other of others.slice(0, 2)) await approve(other, fingerprint);
    const last = await approve(others[2] as TestClient, fingerprint);
    expect(outcome(last)).toEqual([200, COMPLETED]);
    const votes: Vote[] = (await votesOf(id)).votes;
    expect(votes.map(({ userId }) => userId)).toEqual([root, ...others].map(({ userId }) => userId));
    expect(votes.map(isStamped)).toEqual([true, true, true, true]);
    expect(votes.some((vote) => 'redacted' in vote)).toBe(false);
    expect(votes.slice(1).every(({ message }) => message.includes(fingerprint))).toBe(true);
    expect(isStamped({ ...(votes[1] as Vote), message: `${votes[1]?.message} ` })).toBe(false);
    // The same votes as the activity itself shows.
    expect((await root.query('get_activity', { activityId: id })).body.activity.votes).toEqual(votes);
  });

  test('come in pages, and one against it is among them', async () => {
    const { id, fingerprint } = await propose();
    await approve(others[0] as TestClient, fingerprint);
    await reject(others[1] as TestClient, fingerprint);
    const all: Vote[] = (await votesOf(id)).votes;
    expect(all.map(({ selection }) => selection)).toEqual([
      'VOTE_SELECTION_APPROVED',
      'VOTE_SELECTION_APPROVED',
      'VOTE_SELECTION_REJECTED',
    ]);
    const first = await votesOf(id, { limit: '2' });
    expect(first.votes).toEqual(all.slice(0, 2));
    const second = await votesOf(id, { limit: '2', after: all[1]?.id });
    expect(second.votes).toEqual(all.slice(2));
    const lost = await root.query('get_activity_votes', {
      activityId: id,
      paginationOptions: { after: (await propose()).id },
    });
    expect(lost.status).toBe(400);
  });

  test('of another organization are not there', async () => {
    const { id } = await propose();
    const stranger = await createSubOrganization(service.root, 'Stranger');
    expect(outcome(await stranger.query('get_activity_votes', { activityId: id }))).toEqual([
      404,
      'ACTIVITY_NOT_FOUND',
    ]);
  });
});
