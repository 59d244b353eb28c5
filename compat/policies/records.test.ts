import { describe, expect, test } from 'vitest';
import type { Expressions } from '../policy-fixtures.ts';
import { detailOf, errorCodeOf, fresh, refusal, UNKNOWN_ID } from '../sdk.ts';
import { openPolicies, requestOf, TIMESTAMP, UUID } from './support.ts';

describe.each(['postgres'] as const)('on %s', (database) => {
  const suite = openPolicies(database);
  const { open } = suite;

  describe('the policies themselves', () => {
    test('create, read, change and delete one', async () => {
      const { root, id } = await open();
      const { client } = root;
      const written = {
        policyName: fresh('policy'),
        effect: 'EFFECT_ALLOW' as const,
        condition: "activity.resource == 'WALLET'",
        consensus: 'approvers.count() >= 2',
        time: "time.now > Timestamp('2020-01-01T00:00:00Z')",
        notes: 'wallets need two',
      };
      const created = await client.createPolicy(written);
      const { policyId } = created;
      expect(policyId).toMatch(UUID);
      expect(created.activity).toMatchObject({
        type: 'ACTIVITY_TYPE_CREATE_POLICY_V3',
        status: 'ACTIVITY_STATUS_COMPLETED',
        intent: { createPolicyIntentV3: written },
        result: { createPolicyResult: { policyId } },
      });
      const first = (await client.getPolicy({ policyId })).policy;
      expect(first).toEqual({ ...written, policyId, createdAt: TIMESTAMP, updatedAt: TIMESTAMP });

      const bare = await client.createPolicy({ policyName: fresh('policy'), effect: 'EFFECT_DENY', notes: '' });
      const { policies } = await client.getPolicies();
      expect(policies.map((policy) => [policy.policyId, policy.effect])).toEqual([
        [policyId, 'EFFECT_ALLOW'],
        [bare.policyId, 'EFFECT_DENY'],
      ]);
      expect(policies[0]).toEqual(first);
      expect(policies[1]).toMatchObject({ condition: '', consensus: '' });

      const changed = await client.updatePolicy({
        policyId,
        policyName: 'renamed',
        policyConsensus: '',
        policyNotes: '',
      });
      expect(changed.policyId).toBe(policyId);
      expect(changed.activity.result.updatePolicyResultV2).toMatchObject({ policyId });
      const second = (await client.getPolicy({ policyId })).policy;
      expect(second).toEqual({
        ...first,
        policyName: 'renamed',
        consensus: '',
        notes: '',
        updatedAt: second.updatedAt,
      });
      const inverted = await client.updatePolicy({ policyId, policyEffect: 'EFFECT_DENY', policyCondition: 'false' });
      expect(inverted.policyId).toBe(policyId);
      expect((await client.getPolicy({ policyId })).policy).toMatchObject({
        policyName: 'renamed',
        effect: 'EFFECT_DENY',
        condition: 'false',
        time: written.time,
      });

      expect(await client.deletePolicy({ policyId })).toMatchObject({
        policyId,
        activity: { result: { deletePolicyResult: { policyId } } },
      });
      for (const gone of [() => client.getPolicy({ policyId }), () => client.deletePolicy({ policyId })]) {
        expect((await refusal(gone())).code).toBe(5);
      }
      expect((await refusal(suite.parent.getPolicy({ policyId: bare.policyId }))).code).toBe(5);
      const seen = await suite.parent.getPolicy({ organizationId: id, policyId: bare.policyId });
      expect(seen.policy.policyId).toBe(bare.policyId);
    });

    test('several at once, all or none', async () => {
      const { root } = await open();
      const { client } = root;
      const one = (policyName: string, condition = 'true') => ({
        policyName,
        effect: 'EFFECT_ALLOW' as const,
        condition,
        notes: '',
      });
      const { policyIds, activity } = await client.createPolicies({ policies: [one('a'), one('b'), one('c')] });
      expect(policyIds).toHaveLength(3);
      expect(activity.result.createPoliciesResult).toMatchObject({ policyIds });
      const names = async () => (await client.getPolicies()).policies.map((policy) => policy.policyName);
      expect(await names()).toEqual(['a', 'b', 'c']);

      const [a, b, c] = policyIds as [string, string, string];
      const taken = await refusal(client.createPolicies({ policies: [one('d'), one('a')] }));
      expect(taken.code).toBe(3);
      expect(taken.message).toContain('policy label must be unique');
      expect((await refusal(client.createPolicies({ policies: [one('d'), one('e', 'tru')] }))).code).toBe(3);
      expect((await refusal(client.deletePolicies({ policyIds: [a, UNKNOWN_ID] }))).code).toBe(5);
      expect(await names()).toEqual(['a', 'b', 'c']);

      expect((await client.deletePolicies({ policyIds: [a, c] })).policyIds).toEqual([a, c]);
      expect(await names()).toEqual(['b']);
      expect((await client.deletePolicy({ policyId: b })).policyId).toBe(b);
      expect(await names()).toEqual([]);
    });

    test('the older version of an update, by the low-level client', async () => {
      const { root, id, allow } = await open();
      const policyId = await allow({ condition: 'true' });
      const { activity } = await root.http.updatePolicy(
        requestOf(id, 'ACTIVITY_TYPE_UPDATE_POLICY' as never, { policyId, policyNotes: 'noted' }),
      );
      expect(activity.result.updatePolicyResult).toMatchObject({ policyId });
      expect((await root.http.getPolicy({ organizationId: id, policyId })).policy.notes).toBe('noted');
    });
  });

  describe('an expression that is wrong', () => {
    const WRONG: readonly (readonly [Expressions, RegExp])[] = [
      [{ condition: 'eth.tx.valeu > 1' }, /invalid policy condition: .*E_UNKNOWN_FIELD.*column 8/],
      [{ condition: "eth.tx.value > 'much'" }, /invalid policy condition: .*E_TYPE/],
      [{ condition: 'eth.tx.value' }, /invalid policy condition: .*E_NOT_BOOL/],
      [{ condition: 'true &&' }, /invalid policy condition: .*E_SYNTAX.*column 8/],
      [{ condition: 'activity.type == "ACTIVITY_TYPE_CREATE_WALLET"' }, /invalid policy condition: .*E_SYNTAX/],
      [{ consensus: 'approvers.cont() > 1' }, /invalid policy consensus: .*E_UNKNOWN_F/],
      [{ consensus: 'eth.tx.value > 1' }, /invalid policy consensus: .*E_UNKNOWN_KEYWORD/],
      [{ time: "CronSpan('*/5 * * * *', '1h', 'UTC')" }, /invalid policy time: .*E_CRON/],
    ];

    test.each(WRONG)('%j', async (expressions, message) => {
      const { root } = await open();
      const { client } = root;
      const [field, text] = Object.entries(expressions)[0] as [keyof Expressions, string];
      const policy = { policyName: 'p', effect: 'EFFECT_ALLOW' as const, notes: '' };
      const error = await refusal(client.createPolicy({ ...policy, ...expressions }));
      expect(error.code).toBe(3);
      expect(error.message).toMatch(/^Turnkey error 3: invalid policy /);
      expect(error.message).toMatch(message);
      expect(errorCodeOf(error)).toBe(field === 'time' ? 'INVALID_TIME' : `INVALID_POLICY_${field.toUpperCase()}`);
      expect(detailOf(error, 'BadRequest')).toMatchObject({
        fieldViolations: [{ field: `parameters.${field}`, description: expect.stringMatching(message) }],
      });
      expect((await client.getPolicies()).policies).toEqual([]);

      const { policyId } = await client.createPolicy(policy);
      const name = { condition: 'policyCondition', consensus: 'policyConsensus', time: 'time' }[field];
      const change = await refusal(client.updatePolicy({ policyId, policyName: 'q', [name]: text }));
      expect(change.message).toMatch(message);
      expect((await client.getPolicy({ policyId })).policy).toMatchObject({ policyName: 'p', condition: '' });
    });

    test('in an MFA policy and in a session profile', async () => {
      const { root } = await open();
      const mfa = await refusal(
        root.client.createMfaPolicy({
          userId: root.userId,
          mfaPolicyName: 'mfa',
          condition: 'approvers.count() > 1',
          requiredAuthenticationMethods: [{ any: [{ type: 'AUTHENTICATION_TYPE_PASSKEY' }] }],
          order: 0,
        }),
      );
      expect(mfa.code).toBe(3);
      expect(mfa.message).toMatch(/invalid mfa policy condition: .*E_UNKNOWN_KEYWORD/);
      const scope = await refusal(
        suite.parent.createSessionProfile({ sessionProfileName: fresh('profile'), scope: "activity.actoin == 'SIGN'" }),
      );
      expect(scope.code).toBe(3);
      expect(scope.message).toMatch(/invalid session profile scope: .*E_UNKNOWN_FIELD/);
    });
  });
});
