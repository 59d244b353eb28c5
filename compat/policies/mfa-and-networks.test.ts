import { createActivityPoller, TurnkeyActivityError as HttpActivityError } from '@turnkey/http';
import { TurnkeyActivityError } from '@turnkey/viem';
import { describe, expect, test } from 'vitest';
import { addKey, denial, failure, gift, isUser } from '../policy-fixtures.ts';
import { errorCodeOf, fresh, refusal, UNKNOWN_ID } from '../sdk.ts';
import { accountOf, openPolicies, requestOf, SIGNS, sign, signerOf, signingOf, TIMESTAMP, UUID } from './support.ts';

describe.each(['postgres'] as const)('on %s', (database) => {
  const suite = openPolicies(database);
  const { open } = suite;

  describe('MFA', () => {
    /** An agent with two keys who has to show both, the first one first, to sign a transaction. */
    const openVault = async () => {
      const treasury = await open();
      const agent = await treasury.hire();
      const second = await addKey(suite.service.baseUrl, treasury, agent);
      const { apiKeys } = await agent.client.getApiKeys({ userId: agent.userId });
      const firstId = apiKeys.find((key) => key.credential.publicKey === agent.key.publicKey)?.apiKeyId as string;
      await treasury.allow({ condition: 'eth.tx.value <= 1000', consensus: isUser(agent) });
      const written = {
        userId: agent.userId,
        mfaPolicyName: 'two keys',
        condition: "activity.action == 'SIGN'",
        requiredAuthenticationMethods: [
          { any: [{ type: 'AUTHENTICATION_TYPE_API_KEY' as const, id: firstId }] },
          {
            any: [
              { type: 'AUTHENTICATION_TYPE_PASSKEY' as const },
              { type: 'AUTHENTICATION_TYPE_API_KEY' as const, id: second.apiKeyId },
            ],
          },
        ],
        order: 0,
        notes: 'both of them',
      };
      const { mfaPolicyId } = await treasury.root.client.createMfaPolicy(written);
      return { treasury, agent, second, firstId, written, mfaPolicyId };
    };

    test('signs when both keys have been shown', async () => {
      const { treasury, agent, second, firstId, written, mfaPolicyId } = await openVault();
      const asked = await sign(agent, treasury, gift(1n));
      expect(asked.activity).toMatchObject({ status: 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED', result: {} });
      const { id: activityId, fingerprint } = asked.activity;
      const status = {
        mfaPolicyId,
        userId: agent.userId,
        satisfied: false,
        satisfiedMethods: [{ type: 'AUTHENTICATION_TYPE_API_KEY', id: firstId }],
        requiredMethods: written.requiredAuthenticationMethods,
      };
      expect((await agent.client.getMfaStatus({ activityId })).mfaStatuses).toEqual([status]);

      // The same key again proves nothing more.
      const again = await agent.client.approveActivity({ fingerprint });
      expect(again.activity.status).toBe('ACTIVITY_STATUS_AUTHENTICATORS_NEEDED');
      const done = await second.client.approveActivity({ fingerprint });
      expect(done.activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
      const signed = done.activity.result.signTransactionResult?.signedTransaction;
      expect(await signerOf(`0x${signed}`)).toBe(treasury.address);
      const statusesOf = async (userId: string) =>
        (await agent.client.getMfaStatus({ activityId, userId })).mfaStatuses;
      const secondMethod = { type: 'AUTHENTICATION_TYPE_API_KEY', id: second.apiKeyId };
      expect(await statusesOf(agent.userId)).toEqual([
        { ...status, satisfied: true, satisfiedMethods: [...status.satisfiedMethods, secondMethod] },
      ]);
      expect(await statusesOf(treasury.root.userId)).toEqual([]);
    });

    test('a key that is shown too early does not count', async () => {
      const { treasury, agent, second } = await openVault();
      const asked = await sign(second, treasury, gift(1n));
      const { id: activityId, fingerprint, status } = asked.activity;
      expect(status).toBe('ACTIVITY_STATUS_AUTHENTICATORS_NEEDED');
      const shown = async () => (await agent.client.getMfaStatus({ activityId })).mfaStatuses[0]?.satisfiedMethods;
      expect(await shown()).toEqual([]);
      await agent.client.approveActivity({ fingerprint });
      expect(await shown()).toHaveLength(1);
      const done = await second.client.approveActivity({ fingerprint });
      expect(done.activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
    });

    test('the pollers and viem say what is missing', async () => {
      const { treasury, agent } = await openVault();
      const type = 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2' as const;
      const poll = createActivityPoller({ client: agent.http, requestFn: agent.http.signTransaction });
      const polled = await failure(poll(requestOf(treasury.id, type, signingOf(treasury, gift(1n)))));
      expect(polled).toBeInstanceOf(HttpActivityError);
      expect(polled).toMatchObject({
        message: expect.stringMatching(/^Authenticators needed for activity /),
        activityStatus: 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED',
        activityType: type,
        activityId: expect.stringMatching(UUID),
      });
      const error = await failure((await accountOf(agent, treasury)).signTransaction(gift(2n)));
      expect(error).toBeInstanceOf(TurnkeyActivityError);
      expect(error).toMatchObject({
        activityStatus: 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED',
        activityId: expect.stringMatching(UUID),
      });
    });

    test('what policies refuse asks for nothing', async () => {
      const { treasury, agent } = await openVault();
      const { activityId } = await denial(sign(agent, treasury, gift(1001n)));
      expect((await agent.client.getMfaStatus({ activityId })).mfaStatuses).toEqual([]);
    });

    test('an approver proves itself before the vote counts', async () => {
      const { treasury, agent, second } = await openVault();
      const proposer = await treasury.hire();
      await treasury.allow({ condition: SIGNS, consensus: `${isUser(proposer)} && ${isUser(agent)}` });
      const { activity } = await sign(proposer, treasury, gift(1n));
      expect(activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
      expect((await proposer.client.getMfaStatus({ activityId: activity.id })).mfaStatuses).toEqual([]);
      const { fingerprint } = activity;
      const half = await agent.client.approveActivity({ fingerprint });
      expect(half.activity.status).toBe('ACTIVITY_STATUS_AUTHENTICATORS_NEEDED');
      const waiting = await proposer.client.getActivity({ activityId: activity.id });
      expect(waiting.activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
      const done = await second.client.approveActivity({ fingerprint });
      expect(done.activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
    });

    test('binds a root user too, until it is taken away', async () => {
      const treasury = await open();
      const { root } = treasury;
      const second = await addKey(suite.service.baseUrl, treasury, root);
      const { mfaPolicyId } = await root.client.createMfaPolicy({
        userId: root.userId,
        mfaPolicyName: 'second key',
        condition: 'true',
        requiredAuthenticationMethods: [{ any: [{ type: 'AUTHENTICATION_TYPE_API_KEY', id: second.apiKeyId }] }],
        order: 0,
      });
      const held = await sign(root, treasury, gift(1n));
      expect(held.activity.status).toBe('ACTIVITY_STATUS_AUTHENTICATORS_NEEDED');
      const removal = await root.client.deleteMfaPolicy({ userId: root.userId, mfaPolicyId });
      expect(removal.activity.status).toBe('ACTIVITY_STATUS_AUTHENTICATORS_NEEDED');
      expect((await sign(second, treasury, gift(2n))).activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
      const done = await second.client.approveActivity({ fingerprint: removal.activity.fingerprint });
      expect(done.activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
      expect((await sign(root, treasury, gift(3n))).activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
    });

    test('its policies are read, changed and deleted', async () => {
      const { treasury, agent, written, mfaPolicyId } = await openVault();
      const { userId } = agent;
      const { client } = treasury.root;
      expect(mfaPolicyId).toMatch(UUID);
      const { userId: _owner, ...fields } = written;
      const stored = { ...fields, mfaPolicyId, createdAt: TIMESTAMP, updatedAt: TIMESTAMP };
      const { mfaPolicy } = await agent.client.getMfaPolicy({ userId, mfaPolicyId });
      expect(mfaPolicy).toEqual(stored);
      expect((await agent.client.getMfaPolicies({ userId })).mfaPolicies).toEqual([stored]);
      expect((await agent.client.getUser({ userId })).user.mfaPolicies).toEqual([stored]);

      const changed = await client.updateMfaPolicy({ userId, mfaPolicyId, condition: 'false', order: 3 });
      expect(changed.mfaPolicyId).toBe(mfaPolicyId);
      expect((await client.getMfaPolicy({ userId, mfaPolicyId })).mfaPolicy).toEqual({
        ...stored,
        condition: 'false',
        order: 3,
      });
      expect((await sign(agent, treasury, gift(1n))).activity.status).toBe('ACTIVITY_STATUS_COMPLETED');

      expect((await client.deleteMfaPolicy({ userId, mfaPolicyId })).mfaPolicyId).toBe(mfaPolicyId);
      expect((await client.getMfaPolicies({ userId })).mfaPolicies).toEqual([]);
      expect((await refusal(client.getMfaPolicy({ userId, mfaPolicyId }))).code).toBe(5);
    });
  });

  describe('IP allowlists', () => {
    test('of the organization', async () => {
      const { root, id, hire } = await open();
      const { client } = root;
      const agent = await hire();
      const none = { organizationId: id, rules: [], enabled: false, onEvaluationError: 'DENY' };
      expect((await client.getIpAllowlist({})).allowlist).toEqual(none);

      const rules = [{ cidr: '127.0.0.9/8', label: 'here' }, { cidr: '::1/128' }, { cidr: '127.0.0.0/8' }];
      const set = await client.setIpAllowlist({ enabled: true, rules });
      expect(set.activity).toMatchObject({
        status: 'ACTIVITY_STATUS_COMPLETED',
        intent: { setIpAllowlistIntent: { enabled: true, rules } },
        result: { setIpAllowlistResult: {} },
      });
      const createdAt = expect.stringMatching(/^\d{13}$/);
      expect((await client.getIpAllowlist({})).allowlist).toEqual({
        ...none,
        enabled: true,
        rules: [
          { cidr: '127.0.0.0/8', label: 'here', createdAt },
          { cidr: '::1/128', createdAt },
        ],
      });
      expect((await agent.client.getWhoami()).userId).toBe(agent.userId);

      const lockout = await refusal(client.setIpAllowlist({ enabled: true, rules: [{ cidr: '10.0.0.0/8' }] }));
      expect(errorCodeOf(lockout)).toBe('IP_LOCKOUT');
      const malformed = await refusal(client.setIpAllowlist({ enabled: true, rules: [{ cidr: '127.0.0.0/33' }] }));
      expect(malformed.code).toBe(3);
      expect((await client.getIpAllowlist({})).allowlist.rules).toHaveLength(2);

      const removed = await client.removeIpAllowlist({});
      expect(removed.activity.result).toEqual({ removeIpAllowlistResult: {} });
      expect((await client.getIpAllowlist({})).allowlist).toEqual(none);
    });

    test('of one key', async () => {
      const treasury = await open();
      const { client } = treasury.root;
      const agent = await treasury.hire();
      const other = await addKey(suite.service.baseUrl, treasury, agent);
      const { publicKey } = agent.key;
      await treasury.allow({ condition: SIGNS, consensus: isUser(agent) });
      await client.setIpAllowlist({ publicKey, rules: [{ cidr: '10.0.0.0/8', label: 'office' }] });
      const { allowlist } = await client.getIpAllowlist({ publicKey });
      expect(allowlist).toMatchObject({ publicKey, rules: [{ cidr: '10.0.0.0/8', label: 'office' }] });
      expect(allowlist.enabled).toBeUndefined();

      for (const work of [() => agent.client.getWhoami(), () => sign(agent, treasury, gift(1n))]) {
        const error = await refusal(work());
        expect(error.code).toBe(7);
        expect(errorCodeOf(error)).toBe('IP_NOT_ALLOWED');
        // The address rules themselves stay unsaid.
        expect(error.message).not.toContain('10.0.0.0');
      }
      expect((await sign(other, treasury, gift(1n))).activity.status).toBe('ACTIVITY_STATUS_COMPLETED');

      await client.removeIpAllowlist({ publicKey });
      expect((await sign(agent, treasury, gift(2n))).activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
      const unknown = { publicKey: `02${'11'.repeat(32)}`, rules: [] };
      expect((await refusal(client.setIpAllowlist(unknown))).code).toBe(5);
    });
  });

  test('session profiles are made by a parent and seen below it', async () => {
    const { root, id } = await open();
    const written = {
      sessionProfileName: fresh('profile'),
      scope: "activity.action == 'SIGN'",
      expirationSeconds: '600',
      notes: 'for signing',
    };
    const { sessionProfileId, activity } = await suite.parent.createSessionProfile(written);
    expect(sessionProfileId).toMatch(UUID);
    expect(activity.result).toEqual({ createSessionProfileResult: { sessionProfileId } });
    const stored = { ...written, sessionProfileId, createdAt: TIMESTAMP, updatedAt: TIMESTAMP };
    for (const client of [suite.parent, root.client]) {
      expect((await client.getSessionProfile({ sessionProfileId })).sessionProfile).toEqual(stored);
      expect((await client.getSessionProfiles({})).sessionProfiles).toContainEqual(stored);
    }
    const { sessionProfile } = await root.http.getSessionProfile({ organizationId: id, sessionProfileId });
    expect(sessionProfile).toEqual(stored);
    const below = await refusal(root.client.createSessionProfile({ ...written, sessionProfileName: fresh('profile') }));
    expect(errorCodeOf(below)).toBe('INVALID_ACTIVITY_CALLER');
    expect((await refusal(suite.parent.getSessionProfile({ sessionProfileId: UNKNOWN_ID }))).code).toBe(5);
  });
});
