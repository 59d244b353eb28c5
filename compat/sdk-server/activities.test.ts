import { createPublicKey, verify } from 'node:crypto';
import type { TurnkeyApiClient } from '@turnkey/sdk-server';
import { describe, expect, test, vi } from 'vitest';
import { detailOf, openCouncil, refusal, UNKNOWN_ID } from '../sdk.ts';
import { openServer, record, UUID } from './support.ts';

/** What precedes a compressed P-256 point in a SubjectPublicKeyInfo. */
const P256_PREFIX = Buffer.from('3039301306072a8648ce3d020106082a8648ce3d030107032200', 'hex');
describe.each(['postgres'] as const)('the server SDK on %s', (database) => {
  const suite = openServer(database);
  const { createUser, openChild } = suite;

  describe('quorum', () => {
    test('two of three change the quorum; one of three prevents it', async () => {
      const { id, userIds, members } = await openCouncil(suite.service.baseUrl, suite.root, 2);
      const [first, second, third] = members as [TurnkeyApiClient, TurnkeyApiClient, TurnkeyApiClient];

      const proposed = await first.updateRootQuorum({ threshold: 3, userIds });
      expect(proposed.activity).toMatchObject({
        status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED',
        result: {},
        canApprove: false,
        canReject: true,
      });
      expect((await first.getOrganizationConfigs({})).configs.quorum).toEqual({ threshold: 2, userIds });
      const seen = await second.getActivity({ activityId: proposed.activity.id });
      expect(seen.activity).toMatchObject({ canApprove: true, canReject: true });
      expect(seen.activity.votes).toHaveLength(1);

      // The answer to a vote is the target, result included; the SDK spreads that result.
      const approved = await second.approveActivity({ fingerprint: proposed.activity.fingerprint });
      expect(approved).toMatchObject({
        updateRootQuorumResult: {},
        activity: { id: proposed.activity.id, status: 'ACTIVITY_STATUS_COMPLETED', canApprove: false },
      });
      expect(approved.activity.votes.map((vote) => [vote.userId, vote.selection])).toEqual([
        [userIds[0], 'VOTE_SELECTION_APPROVED'],
        [userIds[1], 'VOTE_SELECTION_APPROVED'],
      ]);
      expect((await third.getOrganizationConfigs({})).configs.quorum).toEqual({ threshold: 3, userIds });

      // Now three must agree, and one refuses.
      const next = await third.updateRootQuorum({ threshold: 1, userIds });
      const half = await first.approveActivity({ fingerprint: next.activity.fingerprint });
      expect(half.activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
      const rejected = await second.rejectActivity({ fingerprint: next.activity.fingerprint });
      expect(rejected.activity).toMatchObject({ id: next.activity.id, status: 'ACTIVITY_STATUS_REJECTED', result: {} });
      const late = await refusal(third.rejectActivity({ fingerprint: next.activity.fingerprint }));
      expect(late.code).toBe(9);
      expect(detailOf(late, 'TurnkeyErrorDetail')).toMatchObject({ turnkeyErrorCode: 'ACTIVITY_ALREADY_DECIDED' });
      expect((await third.getOrganizationConfigs({})).configs.quorum).toEqual({ threshold: 3, userIds });

      // A parent may look on, and has no say.
      const outside = await refusal(
        suite.root.approveActivity({ organizationId: id, fingerprint: next.activity.fingerprint }),
      );
      expect(detailOf(outside, 'TurnkeyErrorDetail')).toMatchObject({ turnkeyErrorCode: 'ORGANIZATION_MISMATCH' });
    });

    test('every vote can be verified from what it carries', async () => {
      const { members } = await openCouncil(suite.service.baseUrl, suite.root, 2);
      const [first, second] = members as [TurnkeyApiClient, TurnkeyApiClient];
      const { activity } = await first.createUserTag({ userTagName: 'voted', userIds: [] });
      const done = await second.approveActivity({ fingerprint: activity.fingerprint });
      expect(done.activity.votes).toHaveLength(2);
      for (const vote of done.activity.votes) {
        expect(vote.scheme).toBe('SIGNATURE_SCHEME_TK_API_P256');
        const key = createPublicKey({
          key: Buffer.concat([P256_PREFIX, Buffer.from(vote.publicKey, 'hex')]),
          format: 'der',
          type: 'spki',
        });
        expect(verify('sha256', Buffer.from(vote.message), key, Buffer.from(vote.signature, 'hex'))).toBe(true);
      }
      expect(JSON.parse(done.activity.votes[0]?.message as string).type).toBe('ACTIVITY_TYPE_CREATE_USER_TAG');
      expect(JSON.parse(done.activity.votes[1]?.message as string).type).toBe('ACTIVITY_TYPE_APPROVE_ACTIVITY');
    });

    test('an unknown fingerprint', async () => {
      const error = await refusal(suite.root.approveActivity({ fingerprint: `sha256:${'0'.repeat(64)}` }));
      expect(error.code).toBe(5);
      expect(error.message).toContain('No activity found with fingerprint');
    });

    test('an activity that fails when its last vote arrives is answered, not thrown', async () => {
      const { members } = await openCouncil(suite.service.baseUrl, suite.root, 2);
      const [first, second] = members as [TurnkeyApiClient, TurnkeyApiClient];
      const propose = async () => (await first.createUserTag({ userTagName: 'once', userIds: [] })).activity;
      const [one, two] = [await propose(), await propose()];
      await second.approveActivity({ fingerprint: one.fingerprint });
      const done = await second.approveActivity({ fingerprint: two.fingerprint });
      expect(done.activity).toMatchObject({ status: 'ACTIVITY_STATUS_FAILED', result: {}, failure: { code: 6 } });
    });
  });

  describe('polling', () => {
    test('asks for an unfinished activity as often as it is told, then answers it without throwing', async () => {
      const poller = { intervalMs: 10, numRetries: 2 };
      const { id, members, userIds } = await openCouncil(suite.service.baseUrl, suite.root, 2, poller);
      const [first] = members as [TurnkeyApiClient];
      const { value, sent } = await record(() =>
        first.updateUserName({ userId: userIds[0] as string, userName: 'waiting' }),
      );
      expect(value.activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
      expect(value.userId).toBeUndefined();
      expect(sent.map((request) => request.path)).toEqual([
        '/public/v1/submit/update_user_name',
        ...Array<string>(poller.numRetries + 2).fill('/public/v1/query/get_activity'),
      ]);
      expect(JSON.parse(sent[1]?.body as string)).toEqual({ activityId: value.activity.id, organizationId: id });
    });

    test('sees the completion by another user', async () => {
      const { members, userIds } = await openCouncil(suite.service.baseUrl, suite.root, 2, {
        intervalMs: 50,
        numRetries: 400,
      });
      const [first, second] = members as [TurnkeyApiClient, TurnkeyApiClient];
      const renamed = first.updateUserName({ userId: userIds[0] as string, userName: 'in time' });
      const pending = await vi.waitFor(async () => {
        const { activities } = await second.getActivities({ filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'] });
        expect(activities).toHaveLength(1);
        return activities[0];
      });
      await second.approveActivity({ fingerprint: pending?.fingerprint as string });
      expect(await renamed).toMatchObject({ userId: userIds[0], activity: { status: 'ACTIVITY_STATUS_COMPLETED' } });
    });

    test('a finished activity costs no further request', async () => {
      const { userId } = await createUser();
      const { sent } = await record(() => suite.root.updateUserName({ userId, userName: 'at once' }));
      expect(sent).toHaveLength(1);
    });
  });

  describe('activities', () => {
    test('one by id, and lists by type, status and page', async () => {
      const child = await openChild();
      const made: string[] = [];
      for (let count = 0; count < 5; count += 1) {
        const { activity } = await child.client.createUserTag({ userTagName: `tag ${count}`, userIds: [] });
        made.unshift(activity.id);
      }
      await child.client.updateUserName({ userId: child.userId, userName: 'later' });
      const { activity } = await child.client.getActivity({ activityId: made[0] as string });
      expect(activity).toMatchObject({
        id: made[0],
        organizationId: child.id,
        status: 'ACTIVITY_STATUS_COMPLETED',
        intent: { createUserTagIntent: { userTagName: 'tag 4' } },
        result: { createUserTagResult: { userTagId: expect.stringMatching(UUID) } },
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      });
      expect(activity).not.toHaveProperty('failure');

      const ofType = await child.client.getActivities({ filterByType: ['ACTIVITY_TYPE_CREATE_USER_TAG'] });
      expect(ofType.activities.map((item) => item.id)).toEqual(made);
      expect(ofType.activities[0]).toEqual(activity);
      const waiting = await child.client.getActivities({ filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'] });
      expect(waiting.activities).toEqual([]);

      const filterByType = ['ACTIVITY_TYPE_CREATE_USER_TAG' as const];
      const page = async (paginationOptions: Record<string, string>) =>
        (await child.client.getActivities({ filterByType, paginationOptions })).activities.map((item) => item.id);
      expect(await page({ limit: '2' })).toEqual(made.slice(0, 2));
      expect(await page({ limit: '2', after: made[1] as string })).toEqual(made.slice(2, 4));
      expect(await page({ limit: '2', after: made[3] as string })).toEqual(made.slice(4));
      expect(await page({ limit: '2', before: made[4] as string })).toEqual(made.slice(2, 4));
      expect((await refusal(page({ after: 'here' }))).code).toBe(3);

      const missing = await refusal(child.client.getActivity({ activityId: UNKNOWN_ID }));
      expect(missing.code).toBe(5);
      const stranger = await openChild();
      expect((await refusal(stranger.client.getActivity({ activityId: made[0] as string }))).code).toBe(5);
    });
  });
});
