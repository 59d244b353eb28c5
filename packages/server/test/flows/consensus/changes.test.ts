import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { stampFor, type TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import {
  type Activity,
  approve,
  COMPLETED,
  newQuorum,
  openConsensus,
  outcome,
  PENDING,
  path,
  propose,
  REJECTED,
  read,
  reject,
  verifies,
  voters,
} from './support.ts';

const HOUR = 60 * 60 * 1000;

const DAY = 24 * HOUR;
describe.each(databasesOf(import.meta.url))('consensus on %s', (database) => {
  const suite = openConsensus(database);
  const { quorum } = suite;

  describe('changes while an activity is pending', () => {
    const change = async (by: TestClient[], threshold: number, members: TestClient[]) => {
      const [first, ...rest] = by;
      const userIds = members.map(({ userId }) => userId);
      const { activity } = (await first!.submit('update_root_quorum', { threshold, userIds })).body;
      for (const client of rest) await approve(client, activity.fingerprint);
      const { quorum: now } = (await first!.query('get_organization_configs')).body.configs;
      expect(now).toEqual({ threshold, userIds });
    };

    test('a raised threshold holds for it', async () => {
      const { root, others } = await quorum(3, 2);
      const { fingerprint } = (await propose(root)).body.activity;
      await change([root, others[0]!], 3, [root, ...others]);
      expect(outcome(await approve(others[0]!, fingerprint))).toEqual([200, PENDING]);
      expect(outcome(await approve(others[1]!, fingerprint))).toEqual([200, COMPLETED]);
    });

    test('a lowered threshold completes it with the next vote', async () => {
      const { root, others } = await quorum(4, 3);
      const { fingerprint, id } = (await propose(root)).body.activity;
      await change([root, others[0]!, others[1]!], 2, [root, ...others]);
      expect((await read(root, id)).status).toBe(PENDING);
      expect(outcome(await approve(others[2]!, fingerprint))).toEqual([200, COMPLETED]);
    });

    test('a lowered threshold that is met already completes it when a member votes again', async () => {
      const { root, others } = await quorum(2, 2);
      const { fingerprint } = (await propose(root)).body.activity;
      await change([root, others[0]!], 1, [root]);
      const answer = await approve(root, fingerprint);
      expect(outcome(answer)).toEqual([200, COMPLETED]);
      expect(voters(answer.body.activity)).toEqual([root.userId]);
    });

    test('the vote of somebody who left the quorum no longer counts', async () => {
      const { root, others } = await quorum(4, 3);
      const [a, b, c] = others as [TestClient, TestClient, TestClient];
      const { fingerprint } = (await propose(root)).body.activity;
      await approve(a, fingerprint);
      await change([root, a, b], 2, [b, c]);
      // Two approvals are there, both by users outside the new quorum.
      expect(outcome(await approve(b, fingerprint))).toEqual([200, PENDING]);
      expect(outcome(await approve(c, fingerprint))).toEqual([200, COMPLETED]);
    });

    test('somebody who joined the quorum may vote', async () => {
      const { root, others, plain } = await quorum(2, 2);
      const { fingerprint } = (await propose(root)).body.activity;
      expect((await approve(plain, fingerprint)).status).toBe(403);
      await change([root, others[0]!], 2, [root, plain]);
      expect((await approve(others[0]!, fingerprint)).status).toBe(403);
      expect(outcome(await approve(plain, fingerprint))).toEqual([200, COMPLETED]);
    });

    test('a deleted approver no longer counts, and its vote stays on record', async () => {
      const { root, others } = await quorum(4, 3);
      const [a, b, c] = others as [TestClient, TestClient, TestClient];
      const { fingerprint, id } = (await propose(root)).body.activity;
      await approve(a, fingerprint);
      await change([root, a, b], 3, [root, b, c]);
      const removal = (await root.submit('delete_users', { userIds: [a.userId] })).body.activity;
      await approve(b, removal.fingerprint);
      expect(outcome(await approve(c, removal.fingerprint))).toEqual([200, COMPLETED]);
      expect(outcome(await approve(b, fingerprint))).toEqual([200, PENDING]);
      const pending = await read(root, id);
      expect(voters(pending)).toEqual([root.userId, a.userId, b.userId]);
      expect(pending.votes.every(verifies)).toBe(true);
      expect(outcome(await approve(c, fingerprint))).toEqual([200, COMPLETED]);
    });

    test('a deleted proposer: nobody can complete or reject it any more', async () => {
      const { root, others } = await quorum(3, 2);
      const [a, b] = others as [TestClient, TestClient];
      const first = (await propose(root, 'By the deleted', a.userId)).body.activity;
      await change([root, a], 2, [a, b]);
      const removal = (await a.submit('delete_users', { userIds: [root.userId] })).body.activity;
      expect(outcome(await approve(b, removal.fingerprint))).toEqual([200, COMPLETED]);
      expect(outcome(await approve(root, first.fingerprint))[0]).toBe(401);
      expect(outcome(await approve(a, first.fingerprint))).toEqual([400, 'ACTIVITY_ALREADY_DECIDED']);
      expect(outcome(await reject(b, first.fingerprint))).toEqual([400, 'ACTIVITY_ALREADY_DECIDED']);
      expect(await read(a, first.id)).toMatchObject({ status: 'ACTIVITY_STATUS_FAILED' });
    });

    test('the target is gone by the time of the last vote', async () => {
      const { root, others, plain } = await quorum(2, 2);
      const [a] = others as [TestClient];
      const rename = (await propose(root, 'x', plain.userId)).body.activity;
      const removal = (await root.submit('delete_users', { userIds: [plain.userId] })).body.activity;
      await approve(a, removal.fingerprint);
      const failed = await approve(a, rename.fingerprint);
      expect(outcome(failed)).toEqual([200, 'ACTIVITY_STATUS_FAILED']);
      expect(failed.body.activity.failure.code).toBe(5);
    });

    test('a pending change of the quorum is judged by the quorum of the moment', async () => {
      const { root, others, plain } = await quorum(3, 2);
      const [a, b] = others as [TestClient, TestClient];
      const takeover = (await a.submit('update_root_quorum', { threshold: 1, userIds: [a.userId, plain.userId] })).body
        .activity;
      await change([root, b], 2, [root, b]);
      // The proposer is out: its own vote is worth nothing any more.
      expect(outcome(await approve(root, takeover.fingerprint))).toEqual([200, PENDING]);
      expect(outcome(await reject(b, takeover.fingerprint))).toEqual([200, REJECTED]);
    });
  });
});

describe.each(databasesOf(import.meta.url))('approvals and time on %s', (database) => {
  let app: TestApp;
  let root: TestClient;
  let others: [TestClient, TestClient];
  let offset = 0;

  beforeAll(async () => {
    app = await openTestApp(database);
    const made = await newQuorum(app.root, 3, 3);
    root = made.root;
    others = made.others as [TestClient, TestClient];
  });
  afterAll(() => app[Symbol.asyncDispose]());

  const advance = (milliseconds: number) => {
    offset += milliseconds;
    app.advance(milliseconds);
  };
  const now = () => ({ timestampMs: String(Date.now() + offset) });
  const bodyOf = (client: TestClient, operation: string, parameters: unknown) =>
    client.submitBody(operation, parameters, now());
  const sendBody = (client: TestClient, operation: string, body: string) => client.sendStamped(path(operation), body);
  const proposeNow = async (userName = `Name ${randomUUID()}`) => {
    const body = bodyOf(root, 'update_user_name', { userId: root.userId, userName });
    const answer = await sendBody(root, 'update_user_name', body);
    expect(outcome(answer)).toEqual([200, PENDING]);
    return { body, ...answer.body.activity };
  };
  let nonce = 0;
  const voteBody = (client: TestClient, fingerprint: string, operation = 'approve_activity') => {
    nonce += 1;
    return client.submitBody(operation, { fingerprint }, { ...now(), nonce });
  };
  const voteNow = (client: TestClient, fingerprint: string, operation = 'approve_activity') =>
    sendBody(client, operation, voteBody(client, fingerprint, operation));

  test('a body older than an hour or too far ahead only reads', async () => {
    const { body, fingerprint, id } = await proposeNow();
    const stale = voteBody(others[0], fingerprint);
    advance(HOUR);
    for (const [operation, text] of [
      ['approve_activity', stale],
      ['update_user_name', body],
      [
        'reject_activity',
        others[0].submitBody(
          'reject_activity',
          { fingerprint },
          { timestampMs: String(Date.now() + offset - HOUR - 1) },
        ),
      ],
      [
        'approve_activity',
        others[0].submitBody(
          'approve_activity',
          { fingerprint },
          { timestampMs: String(Date.now() + offset + 6 * 60_000) },
        ),
      ],
    ] as const) {
      const answer = await sendBody(others[0], operation, text);
      expect(outcome(answer), operation).toEqual([200, PENDING]);
      expect(voters(answer.body.activity), operation).toEqual([root.userId]);
    }
    // A body that never became an activity is refused instead.
    const old = root.submitBody(
      'update_user_name',
      { userId: root.userId, userName: 'x' },
      {
        timestampMs: String(Date.now() + offset - HOUR - 1),
      },
    );
    expect(outcome(await sendBody(root, 'update_user_name', old))).toEqual([400, 'REQUEST_INVALID']);
    // The proposer's own old body still answers the activity.
    expect((await sendBody(root, 'update_user_name', body)).body.activity.id).toBe(id);
  });

  test('approvals hold for a day', async () => {
    const { fingerprint } = await proposeNow();
    await voteNow(others[0], fingerprint);
    advance(DAY - 60_000);
    expect(outcome(await voteNow(others[1], fingerprint))).toEqual([200, COMPLETED]);
  });

  test('after a day they lapse: old bodies only read, everybody approves again, the proposer too', async () => {
    const { body, fingerprint, id } = await proposeNow();
    const firstApproval = voteBody(others[0], fingerprint);
    expect(voters((await sendBody(others[0], 'approve_activity', firstApproval)).body.activity)).toHaveLength(2);
    advance(DAY);
    expect(await read(root, id)).toMatchObject({ status: PENDING, canApprove: true, canReject: true });
    expect(await read(others[0], id)).toMatchObject({ canApprove: true });

    // The last missing vote of the old round completes nothing.
    const late = await voteNow(others[1], fingerprint);
    expect(outcome(late)).toEqual([200, PENDING]);
    // Bodies that carried a vote before, and the co-signer's body, add nothing.
    for (const [client, operation, text] of [
      [others[0], 'approve_activity', firstApproval],
      [others[0], 'update_user_name', body],
      [root, 'update_user_name', body],
    ] as const) {
      const answer = await sendBody(client, operation, text);
      expect(outcome(answer)).toEqual([200, PENDING]);
      expect(answer.body.activity.canApprove).toBe(true);
    }
    expect(outcome(await voteNow(others[0], fingerprint))).toEqual([200, PENDING]);
    const done = await voteNow(root, fingerprint);
    expect(outcome(done)).toEqual([200, COMPLETED]);
    expect(done.body.activity.id).toBe(id);
    expect(done.body.activity.votes.every(verifies)).toBe(true);
  });

  test('a new round has a day of its own', async () => {
    const { fingerprint } = await proposeNow();
    advance(DAY + 1);
    await voteNow(others[0], fingerprint);
    advance(DAY - 60_000);
    await voteNow(others[1], fingerprint);
    advance(60_000);
    // The second round began with the first of its approvals and has ended now.
    expect(outcome(await voteNow(root, fingerprint))).toEqual([200, PENDING]);
    await voteNow(others[0], fingerprint);
    expect(outcome(await voteNow(others[1], fingerprint))).toEqual([200, COMPLETED]);
  });

  test('an approval body of an earlier round does not count in a later one, even while it is live', async () => {
    const { fingerprint, id } = await proposeNow();
    advance(DAY - 10 * 60_000);
    const early = voteBody(others[0], fingerprint);
    await sendBody(others[0], 'approve_activity', early);
    advance(11 * 60_000);
    // Live by its timestamp, but it has carried a vote already.
    const replayed = await sendBody(others[0], 'approve_activity', early);
    expect(outcome(replayed)).toEqual([200, PENDING]);
    await voteNow(root, fingerprint);
    expect(outcome(await voteNow(others[1], fingerprint))).toEqual([200, PENDING]);
    await sendBody(others[0], 'approve_activity', early);
    expect((await read(root, id)).status).toBe(PENDING);
    expect(outcome(await voteNow(others[0], fingerprint))).toEqual([200, COMPLETED]);
  });

  test('a lapsed activity can still be rejected', async () => {
    const { fingerprint } = await proposeNow();
    advance(3 * DAY);
    expect(outcome(await voteNow(others[0], fingerprint, 'reject_activity'))).toEqual([200, REJECTED]);
    expect(outcome(await voteNow(others[1], fingerprint))).toEqual([400, 'ACTIVITY_ALREADY_DECIDED']);
  });

  test('edges of the window of a new activity', async () => {
    const at = (shift: number) =>
      root.submit(
        'create_user_tag',
        { userTagName: randomUUID(), userIds: [] },
        {
          timestampMs: String(Date.now() + offset + shift),
        },
      );
    // Inside by a minute, so that the time between here and there does not matter.
    expect((await at(-HOUR + 60_000)).status).toBe(200);
    expect((await at(4 * 60_000)).status).toBe(200);
    for (const shift of [-HOUR, 6 * 60_000]) {
      const answer = await at(shift);
      expect(outcome(answer)).toEqual([400, 'REQUEST_INVALID']);
      expect(JSON.stringify(answer.body.details)).toContain('"field":"timestampMs"');
    }
    expect(
      (
        await root.submit(
          'create_user_tag',
          { userTagName: randomUUID(), userIds: [] },
          { timestampMs: Date.now() + offset },
        )
      ).status,
    ).toBe(200);
  });

  test('a stamp of somebody else over the proposer’s bytes is theirs alone', async () => {
    const { body } = await proposeNow();
    const bytes = Buffer.from(body);
    const stamp = stampFor(bytes, others[0].key);
    const response = await fetch(`${app.baseUrl}${path('update_user_name')}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-stamp': stamp },
      body: bytes,
    });
    const { activity } = (await response.json()) as { activity: Activity };
    expect(voters(activity)).toEqual([root.userId, others[0].userId]);
  });
});
