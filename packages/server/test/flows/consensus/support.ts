import { createPublicKey, randomUUID, verify } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { type Answer, createSubOrganization, createUser, type TestClient } from '../../harness/client.ts';
import type { DatabaseKind } from '../../harness/databases.ts';

export const PENDING = 'ACTIVITY_STATUS_CONSENSUS_NEEDED';

export const COMPLETED = 'ACTIVITY_STATUS_COMPLETED';

export const REJECTED = 'ACTIVITY_STATUS_REJECTED';

export type Activity = Answer['body'];

export const outcome = ({ status, body }: Answer) => [status, body.errorCode ?? body.activity.status];

export const voters = (activity: Activity): string[] => activity.votes.map((vote: { userId: string }) => vote.userId);

export const path = (operation: string) => `/public/v1/submit/${operation}`;

/** Whether anyone who has only the vote can verify it. */
export function verifies(vote: { publicKey: string; signature: string; message: string }): boolean {
  const spki = Buffer.concat([
    Buffer.from('3039301306072a8648ce3d020106082a8648ce3d030107032200', 'hex'),
    Buffer.from(vote.publicKey, 'hex'),
  ]);
  const key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
  return verify('sha256', Buffer.from(vote.message), key, Buffer.from(vote.signature, 'hex'));
}

/** An organization with this many root users and threshold, plus a user without rights. */
export async function newQuorum(root: TestClient, members: number, threshold: number) {
  const others: TestClient[] = [];
  for (let index = 1; index < members; index += 1) others.push(await createUser(root, `member ${index}`));
  const plain = await createUser(root, 'plain');
  const userIds = [root, ...others].map((client) => client.userId);
  await root.run('update_root_quorum', { threshold, userIds });
  return { root, others, plain };
}

export const propose = (client: TestClient, userName = `Name ${randomUUID()}`, userId = client.userId) =>
  client.submit('update_user_name', { userId, userName });

export const approve = (client: TestClient, fingerprint: string) => client.submit('approve_activity', { fingerprint });

export const reject = (client: TestClient, fingerprint: string) => client.submit('reject_activity', { fingerprint });

export const read = async (client: TestClient, activityId: string): Promise<Activity> =>
  (await client.query('get_activity', { activityId })).body.activity;

/** Opened before the tests of a file, closed after them. */
export function openConsensus(database: DatabaseKind) {
  let service: TestApp;
  let parent: TestClient;

  beforeAll(async () => {
    service = await openTestApp(database);
    parent = service.root;
  });

  afterAll(() => service[Symbol.asyncDispose]());

  const quorum = async (members: number, threshold: number) =>
    newQuorum(await createSubOrganization(parent, `Org ${randomUUID()}`), members, threshold);

  return {
    quorum,
    get parent() {
      return parent;
    },
  };
}
