import {
  createActivityPoller,
  getSignatureFromActivity,
  getSignedTransactionFromActivity,
  TurnkeyActivityError as HttpActivityError,
  type TActivity,
} from '@turnkey/http';
import type { TurnkeyApiClient } from '@turnkey/sdk-server';
import { isTurnkeyActivityConsensusNeededError, TurnkeyConsensusNeededError } from '@turnkey/viem';
import type { BaseError } from 'viem';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { openTestApp } from '../../packages/server/test/harness/app.ts';
import { denial, failure, gift, isUser, openTreasury, outcomesOf, type Person } from '../policy-fixtures.ts';
import { connect, credentialsOf, errorCodeOf, openCouncil, refusal } from '../sdk.ts';
import { accountOf, openPolicies, requestOf, SIGNS, sign, signerOf, signingOf, TIMESTAMP } from './support.ts';

const HOURS = "CronSpan('0 9 * * 1-5', '8h', 'America/New_York')";

/** Moments on both sides of their edges, on a Sunday, in winter and in summer. */
const INSTANTS: readonly (readonly [string, boolean])[] = [
  ['2025-01-05T15:00:00Z', false],
  ['2025-01-06T13:59:59.999Z', false],
  ['2025-01-06T14:00:00Z', true],
  ['2025-01-06T21:59:59.999Z', true],
  ['2025-01-06T22:00:00Z', false],
  ['2025-07-07T12:59:59.999Z', false],
  ['2025-07-07T13:00:00Z', true],
];

/** Of the answer about a request that is not made, what these tests look at. */
interface Simulation {
  readonly status: string;
  readonly policyEvaluations: { readonly policyId: string; readonly outcome: string }[];
}
describe.each(['postgres'] as const)('on %s', (database) => {
  const suite = openPolicies(database);
  const { open, evaluationsOf } = suite;

  describe('co-signing', () => {
    const openBoard = async () => {
      const treasury = await open();
      const [alice, bob, carol] = await Promise.all([treasury.hire(), treasury.hire(), treasury.hire()]);
      const tagId = await treasury.tag(alice, bob);
      const policyId = await treasury.allow({
        condition: SIGNS,
        consensus: `approvers.filter(user, user.tags.contains('${tagId}')).count() >= 2`,
      });
      return { treasury, alice, bob, carol, tagId, policyId };
    };

    test('one with the tag asks, another with the tag agrees', async () => {
      const { treasury, alice, bob, carol, policyId } = await openBoard();
      const asked = await sign(alice, treasury, gift(1n));
      expect(asked.activity).toMatchObject({
        status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED',
        result: {},
        canApprove: false,
      });
      expect(asked.signedTransaction).toBeUndefined();
      const { id: activityId, fingerprint } = asked.activity;
      const seenBy = async ({ client }: Person) => (await client.getActivity({ activityId })).activity;
      expect(await seenBy(bob)).toMatchObject({ canApprove: true, canReject: true });
      expect(await seenBy(carol)).toMatchObject({ canApprove: false, canReject: false });

      // Whoever lacks the tag has no say, and asking twice is no second voice.
      const outsider = await denial(carol.client.approveActivity({ fingerprint }));
      expect(outsider.message).toContain('Your vote does not count for this activity');
      expect((await denial(carol.client.rejectActivity({ fingerprint }))).error.code).toBe(7);
      const again = await alice.client.approveActivity({ fingerprint });
      expect(again.activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');

      const agreed = await bob.client.approveActivity({ fingerprint });
      expect(agreed.activity).toMatchObject({ id: activityId, status: 'ACTIVITY_STATUS_COMPLETED' });
      const signed = agreed.activity.result.signTransactionResult?.signedTransaction as string;
      expect(await signerOf(`0x${signed}`)).toBe(treasury.address);
      // The SDK spreads the result of what was decided.
      expect(agreed).toMatchObject({ signTransactionResult: { signedTransaction: signed } });

      const records = await evaluationsOf(treasury, activityId);
      expect(records.map((record) => outcomesOf(record.policyEvaluations))).toEqual([
        { [policyId]: 'OUTCOME_REQUIRES_CONSENSUS' },
        { [policyId]: 'OUTCOME_ALLOW' },
      ]);
      const { votes } = await seenBy(alice);
      expect(records).toMatchObject(
        votes.map((vote) => ({ voteId: vote.id, activityId, organizationId: treasury.id, createdAt: TIMESTAMP })),
      );
      const late = await refusal(carol.client.approveActivity({ fingerprint }));
      expect(errorCodeOf(late)).toBe('ACTIVITY_ALREADY_DECIDED');
    });

    test('viem and the poller of the low-level client say that others must agree', async () => {
      const { treasury, alice, bob } = await openBoard();
      const account = await accountOf(alice, treasury);
      const error = await failure(account.signTransaction(gift(1n)));
      expect(error).toBeInstanceOf(TurnkeyConsensusNeededError);
      expect(isTurnkeyActivityConsensusNeededError(error as BaseError)).toBeTruthy();
      const { activityId, activityStatus } = error as TurnkeyConsensusNeededError;
      expect(activityStatus).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');

      const type = 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2' as const;
      const poll = createActivityPoller({ client: alice.http, requestFn: alice.http.signTransaction });
      const polled = await failure(poll(requestOf(treasury.id, type, signingOf(treasury, gift(2n)))));
      expect(polled).toBeInstanceOf(HttpActivityError);
      expect(polled).toMatchObject({ activityStatus: 'ACTIVITY_STATUS_CONSENSUS_NEEDED', activityType: type });

      for (const id of [activityId, (polled as HttpActivityError).activityId] as string[]) {
        const { activity } = await bob.http.getActivity({ organizationId: treasury.id, activityId: id });
        const approval = { fingerprint: activity.fingerprint };
        const agreed = await bob.http.approveActivity(
          requestOf(treasury.id, 'ACTIVITY_TYPE_APPROVE_ACTIVITY', approval),
        );
        expect(await signerOf(getSignedTransactionFromActivity(agreed.activity))).toBe(treasury.address);
      }
    });

    test('who asks must be one of them, and who lost the tag is no longer', async () => {
      const { treasury, alice, bob, carol, tagId, policyId } = await openBoard();
      expect((await denial(sign(carol, treasury, gift(1n)))).outcomes).toEqual({ [policyId]: 'OUTCOME_DENY_IMPLICIT' });

      const { activity } = await sign(alice, treasury, gift(2n));
      const { client } = treasury.root;
      await client.updateUserTag({ userTagId: tagId, addUserIds: [carol.userId], removeUserIds: [bob.userId] });
      await denial(bob.client.approveActivity({ fingerprint: activity.fingerprint }));
      const agreed = await carol.client.approveActivity({ fingerprint: activity.fingerprint });
      expect(agreed.activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
    });

    test('one refusal ends it, and a root user decides alone', async () => {
      const { treasury, alice, bob } = await openBoard();
      const refused = await sign(alice, treasury, gift(1n));
      const { fingerprint } = refused.activity;
      const { activity } = await bob.client.rejectActivity({ fingerprint });
      expect(activity).toMatchObject({ status: 'ACTIVITY_STATUS_REJECTED', result: {} });
      expect(errorCodeOf(await refusal(bob.client.approveActivity({ fingerprint })))).toBe('ACTIVITY_ALREADY_DECIDED');

      const asked = await sign(alice, treasury, gift(2n));
      const decided = await treasury.root.client.approveActivity({ fingerprint: asked.activity.fingerprint });
      expect(await signerOf(getSignedTransactionFromActivity(decided.activity as unknown as TActivity))).toBe(
        treasury.address,
      );
    });
  });

  describe('deny and allow', () => {
    test('a deny wins over an allow, and the root user over a deny', async () => {
      const treasury = await open();
      const agent = await treasury.hire();
      const allowId = await treasury.allow({ condition: SIGNS, consensus: isUser(agent) });
      const denyId = await treasury.deny({ condition: 'eth.tx.value > 1000' });

      const allowed = await sign(agent, treasury, gift(1000n));
      expect(await signerOf(`0x${allowed.signedTransaction}`)).toBe(treasury.address);
      const [kept] = await evaluationsOf(treasury, allowed.activity.id);
      const outcomes = { [allowId]: 'OUTCOME_ALLOW', [denyId]: 'OUTCOME_DENY_IMPLICIT' };
      expect(outcomesOf(kept?.policyEvaluations ?? [])).toEqual(outcomes);

      const refused = await denial(sign(agent, treasury, gift(1001n)));
      expect(refused.outcomes).toEqual({ [allowId]: 'OUTCOME_ALLOW', [denyId]: 'OUTCOME_DENY_EXPLICIT' });
      expect(refused.message).toContain(`The following policies denied this action: ${denyId}`);

      const byRoot = await sign(treasury.root, treasury, gift(1001n));
      expect(await signerOf(`0x${byRoot.signedTransaction}`)).toBe(treasury.address);

      // A policy that cannot say no to this request does not: raw payloads carry no transaction.
      await treasury.root.client.updatePolicy({ policyId: allowId, policyCondition: "activity.action == 'SIGN'" });
      const raw = await agent.client.signRawPayload({
        signWith: treasury.address,
        payload: '00'.repeat(32),
        encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
        hashFunction: 'HASH_FUNCTION_NO_OP',
      });
      expect(getSignatureFromActivity(raw.activity as unknown as TActivity)).toEqual({ r: raw.r, s: raw.s, v: raw.v });
      const [record] = await evaluationsOf(treasury, raw.activity.id);
      expect(outcomesOf(record?.policyEvaluations ?? [])).toEqual({
        [allowId]: 'OUTCOME_ALLOW',
        [denyId]: 'OUTCOME_ERROR',
      });
    });

    test('a quorum of two can gather over a deny', async () => {
      const { members } = await openCouncil(suite.service.baseUrl, suite.parent, 2);
      const [first, second] = members as [TurnkeyApiClient, TurnkeyApiClient];
      const agree = async ({ activity }: { readonly activity: { readonly fingerprint: string; status: string } }) => {
        expect(activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
        return (await second.approveActivity({ fingerprint: activity.fingerprint })).activity;
      };
      const policy = { policyName: 'nothing goes', effect: 'EFFECT_DENY' as const, notes: '', condition: 'true' };
      const { result } = await agree(await first.createPolicy(policy));
      const policyId = result.createPolicyResult?.policyId as string;
      expect((await agree(await first.deletePolicy({ policyId }))).result).toEqual({
        deletePolicyResult: { policyId },
      });
    });
  });

  describe('time', () => {
    test.each([
      ["time.now > Timestamp('2020-01-01T00:00:00Z')", true],
      ["time.now < Timestamp('2020-01-01T00:00:00Z')", false],
      ["CronSpan('* * * * *', '1m', 'Europe/Paris')", true],
      ["!CronSpan('0 0 * * *', '1d', 'UTC')", false],
    ])('%s', async (time, isActive) => {
      const treasury = await open();
      const agent = await treasury.hire();
      const policyId = await treasury.allow({ condition: SIGNS, consensus: isUser(agent), time });
      const { policy } = await agent.client.getPolicy({ policyId });
      expect(policy.time).toBe(time);
      const active = await agent.http.getActivePolicies({ organizationId: treasury.id });
      expect(active).toMatchObject({
        statuses: [{ organizationId: treasury.id, policyId, active: isActive, timeExpr: time }],
        evaluatedAtMs: expect.stringMatching(/^\d{13}$/),
      });
      if (isActive) {
        expect((await sign(agent, treasury, gift(1n))).activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
      } else {
        const refused = await denial(sign(agent, treasury, gift(1n)));
        expect(refused.outcomes).toEqual({ [policyId]: 'OUTCOME_TIME_INACTIVE' });
      }
    });

    test('what business hours would make of a request is told for any moment', async () => {
      const treasury = await open();
      const agent = await treasury.hire();
      const policyId = await treasury.allow({ condition: SIGNS, consensus: isUser(agent), time: HOURS });
      const simulated = async (instant: string) => {
        const { simulation } = await agent.client.request<unknown, { simulation: Simulation }>(
          '/public/v1/query/simulate_activity',
          {
            organizationId: treasury.id,
            request: { type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2', parameters: signingOf(treasury, gift(1n)) },
            atMs: String(Date.parse(instant)),
          },
        );
        return [simulation.status, outcomesOf(simulation.policyEvaluations)];
      };
      for (const [instant, isOpen] of INSTANTS) {
        expect([instant, ...(await simulated(instant))]).toEqual([
          instant,
          isOpen ? 'ACTIVITY_STATUS_COMPLETED' : 'ACTIVITY_STATUS_REJECTED',
          { [policyId]: isOpen ? 'OUTCOME_ALLOW' : 'OUTCOME_TIME_INACTIVE' },
        ]);
      }
      const { activities } = await agent.client.getActivities({
        filterByType: ['ACTIVITY_TYPE_SIGN_TRANSACTION_V2'],
      });
      expect(activities).toEqual([]);
    });

    test('a deny outside its time denies nothing', async () => {
      const treasury = await open();
      const agent = await treasury.hire();
      const allowId = await treasury.allow({ condition: SIGNS, consensus: isUser(agent) });
      const denyId = await treasury.deny({ condition: 'true', time: "time.now < Timestamp('2020-01-01T00:00:00Z')" });
      const { activity } = await sign(agent, treasury, gift(1n));
      const [kept] = await evaluationsOf(treasury, activity.id);
      expect(outcomesOf(kept?.policyEvaluations ?? [])).toEqual({
        [allowId]: 'OUTCOME_ALLOW',
        [denyId]: 'OUTCOME_TIME_INACTIVE',
      });
      await treasury.root.client.updatePolicy({ policyId: denyId, time: '' });
      expect((await denial(sign(agent, treasury, gift(1n)))).outcomes[denyId]).toBe('OUTCOME_DENY_EXPLICIT');
    });
  });
});

describe('business hours by a fixed clock', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  test('the service signs from nine to five of New York, summer and winter, on working days', async () => {
    // Clients and service share this process here, and with it the clock.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2025-01-03T12:00:00Z') });
    await using app = await openTestApp('sqlite');
    const parent = connect(app.baseUrl, credentialsOf(app.root.organizationId, app.root.key));
    const treasury = await openTreasury(app.baseUrl, parent);
    const agent = await treasury.hire();
    const policyId = await treasury.allow({ condition: SIGNS, consensus: isUser(agent), time: HOURS });

    for (const [instant, isOpen] of INSTANTS) {
      vi.setSystemTime(Date.parse(instant));
      const { statuses, evaluatedAtMs } = await agent.http.getActivePolicies({ organizationId: treasury.id });
      expect([instant, statuses[0]?.active]).toEqual([instant, isOpen]);
      expect(evaluatedAtMs).toBe(String(Date.parse(instant)));
      const work = sign(agent, treasury, gift(1n));
      if (isOpen) expect(await signerOf(`0x${(await work).signedTransaction}`)).toBe(treasury.address);
      else expect((await denial(work)).outcomes).toEqual({ [policyId]: 'OUTCOME_TIME_INACTIVE' });
    }
  });
});
