import { describe, expect, test } from 'vitest';
import { newKeyPair, type TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import {
  ALLOWED,
  allow,
  approve,
  COMPLETED,
  DENIED,
  deny,
  hasTag,
  invalidCode,
  isUser,
  newOrganization,
  newTag,
  outcome,
  outcomesOf,
  PENDING,
  REJECTED,
  rename,
  WAITS,
} from '../fixtures/policy-flows.ts';
import { ask, openSimulations, renameRequest, simulate } from './support.ts';

describe.each(databasesOf(import.meta.url))('simulate_activity on %s', (database) => {
  const suite = openSimulations(database);

  describe('what if', () => {
    test('other users submit', async () => {
      const { root, alice, bob } = await newOrganization(suite.parent, 'alice', 'bob');
      await allow(root, { consensus: isUser(bob) });
      const request = renameRequest(alice);
      expect((await simulate(alice, request)).status).toBe(REJECTED);
      expect((await simulate(alice, request, { submitterUserId: bob.userId })).status).toBe(COMPLETED);
      expect((await simulate(bob, request, { submitterUserId: alice.userId })).status).toBe(REJECTED);
      expect(await simulate(alice, request, { submitterUserId: root.userId })).toMatchObject({
        status: COMPLETED,
        reason: 'ROOT_QUORUM',
        policyEvaluations: [],
      });
    });

    test('others approve, one after the other', async () => {
      const { root, alice, bob, carol, dave } = await newOrganization(suite.parent, 'alice', 'bob', 'carol', 'dave');
      const tagId = await newTag(root, alice, bob, carol);
      const policyId = await allow(root, { consensus: hasTag(tagId, 3) });
      const request = renameRequest(alice);
      const by = (...people: TestClient[]) =>
        simulate(alice, request, { approverUserIds: people.map(({ userId }) => userId) });
      const alone = await by();
      expect(alone).toMatchObject({
        status: PENDING,
        rootQuorum: { required: 1, given: 0 },
        openTo: { policies: [{ policyId, anyone: false }] },
        refusedApproverUserIds: [],
      });
      expect([...alone.openTo.policies[0].userIds].sort()).toEqual([bob.userId, carol.userId].sort());
      expect(alone.openTo.rootUserIds).toEqual([root.userId]);
      const two = await by(bob);
      expect(two).toMatchObject({ status: PENDING, openTo: { policies: [{ policyId, userIds: [carol.userId] }] } });
      expect(await by(bob, carol)).toMatchObject({ status: COMPLETED, refusedApproverUserIds: [] });
      expect(await by(bob, dave)).toMatchObject({ status: PENDING, refusedApproverUserIds: [dave.userId] });
      expect(await by(bob, bob)).toMatchObject({ status: PENDING });
      expect(await by(root)).toMatchObject({ status: COMPLETED, reason: 'ROOT_QUORUM' });
      // Whoever comes after the decision is not asked.
      expect(await by(bob, carol, root)).toMatchObject({ status: COMPLETED, refusedApproverUserIds: [root.userId] });
      // It is what happens.
      const pending = await rename(alice);
      expect(outcome(pending)).toEqual(WAITS);
      const { fingerprint } = pending.body.activity;
      expect(outcome(await approve(dave, fingerprint))).toEqual(DENIED);
      expect(outcome(await approve(bob, fingerprint))).toEqual(WAITS);
      expect(outcome(await approve(carol, fingerprint))).toEqual(ALLOWED);
    });

    test('whose approval would count is told by name, or that anybody’s would', async () => {
      const { root, alice, bob } = await newOrganization(suite.parent, 'alice', 'bob');
      const anybody = await allow(root, { consensus: 'approvers.count() >= 2' });
      const simulated = await simulate(alice, renameRequest(alice));
      expect(simulated.openTo.policies).toMatchObject([{ policyId: anybody, anyone: true }]);
      await root.run('delete_policy', { policyId: anybody });
      await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, bob.userId] });
      const gathering = await simulate(root, renameRequest(alice));
      expect(gathering).toMatchObject({
        status: PENDING,
        rootQuorum: { required: 2, given: 1, isReachable: true },
        openTo: { rootUserIds: [bob.userId], policies: [] },
      });
    });

    test('an approver is supposed to vote with its first credential, whoever could contribute is named', async () => {
      const { root, alice, bob } = await newOrganization(suite.parent, 'alice', 'bob');
      const spare = newKeyPair();
      const { apiKeyIds } = await bob.run('create_api_keys', {
        userId: bob.userId,
        apiKeys: [{ apiKeyName: 'spare', publicKey: spare.publicKey, curveType: 'API_KEY_CURVE_P256' }],
      });
      const { apiKeys } = (await bob.query('get_api_keys', { userId: bob.userId })).body;
      const first = apiKeys.find(({ apiKeyId }: { apiKeyId: string }) => apiKeyId !== apiKeyIds[0]).apiKeyId;
      const consensus = (id: string) => `${isUser(alice)} && credentials.any(c, c.id == '${id}')`;
      const policyId = await allow(root, { consensus: consensus(first) });
      const request = renameRequest(alice);
      const withBob = () => simulate(alice, request, { approverUserIds: [bob.userId] });
      expect(await withBob()).toMatchObject({ status: COMPLETED, refusedApproverUserIds: [] });
      await root.run('update_policy', { policyId, policyConsensus: consensus(apiKeyIds[0]) });
      expect(await withBob()).toMatchObject({
        status: PENDING,
        refusedApproverUserIds: [bob.userId],
        openTo: { policies: [{ policyId, anyone: false, userIds: [bob.userId] }] },
      });
      const { fingerprint } = (await rename(alice)).body.activity;
      expect(outcome(await approve(bob, fingerprint))).toEqual(DENIED);
      expect(outcome(await approve(bob.as(spare, bob.userId), fingerprint))).toEqual(ALLOWED);
    });

    test('policies were added', async () => {
      const { root, alice } = await newOrganization(suite.parent, 'alice');
      const stored = await allow(root, { condition: "activity.resource == 'WALLET'" });
      const request = renameRequest(alice);
      const draft = { effect: 'EFFECT_ALLOW', condition: "activity.resource == 'USER'" };
      const allowed = await simulate(alice, request, { draftPolicies: [draft] });
      expect(allowed.status).toBe(COMPLETED);
      expect(allowed.policyEvaluations).toHaveLength(2);
      expect(allowed.policyEvaluations[0]).toMatchObject({ policyId: stored, outcome: 'OUTCOME_DENY_IMPLICIT' });
      expect(allowed.decidingPolicyIds).toEqual([allowed.policyEvaluations[1].policyId]);
      const denied = await simulate(alice, request, { draftPolicies: [draft, { effect: 'EFFECT_DENY' }] });
      expect(denied).toMatchObject({ status: REJECTED, reason: 'POLICY_DENIED' });
      expect(denied.decidingPolicyIds).toEqual([denied.policyEvaluations[2].policyId]);
      // None of it stays.
      expect((await simulate(alice, request)).status).toBe(REJECTED);
      expect(outcome(await rename(alice))).toEqual(DENIED);
    });

    test('a policy were replaced', async () => {
      const { root, alice } = await newOrganization(suite.parent, 'alice');
      const policyId = await deny(root);
      const other = await allow(root);
      const request = renameRequest(alice);
      expect((await simulate(alice, request)).reason).toBe('POLICY_DENIED');
      const changed = { policyId, effect: 'EFFECT_DENY', condition: "activity.resource == 'WALLET'" };
      const simulated = await simulate(alice, request, { draftPolicies: [changed] });
      expect(simulated.status).toBe(COMPLETED);
      expect(outcomesOf(simulated.policyEvaluations)).toEqual({
        [policyId]: 'OUTCOME_DENY_IMPLICIT',
        [other]: 'OUTCOME_ALLOW',
      });
      expect(simulated.policyEvaluations).toHaveLength(2);
      await root.run('update_policy', { policyId, policyCondition: changed.condition });
      expect(outcome(await rename(alice))).toEqual(ALLOWED);
    });

    test('a draft that is no expression is refused with its place', async () => {
      const { alice } = await newOrganization(suite.parent, 'alice');
      for (const [field, text] of [
        ['condition', 'activity.kind =='],
        ['consensus', 'approvers.count()'],
        ['time', 'time.now > 5'],
      ] as const) {
        const answer = await ask(alice, renameRequest(alice), {
          draftPolicies: [{ effect: 'EFFECT_ALLOW' }, { effect: 'EFFECT_DENY', [field]: text }],
        });
        expect(outcome(answer), field).toEqual([400, invalidCode(field)]);
        expect(answer.body.message).toMatch(new RegExp(`^invalid policy ${field}: .*column \\d+`));
        expect(JSON.stringify(answer.body.details)).toContain(`"field":"draftPolicies.1.${field}"`);
      }
    });

    test('it were another hour', async () => {
      const { root, alice } = await newOrganization(suite.parent, 'alice');
      await allow(root, { time: "CronSpan('0 9 * * 1-5', '8h', 'America/New_York')" });
      for (const [text, isOpen] of [
        ['2031-01-06T13:59:59.999Z', false],
        ['2031-01-06T14:00:00.000Z', true],
        ['2031-01-06T21:59:59.999Z', true],
        ['2031-01-06T22:00:00.000Z', false],
        ['2031-01-05T15:00:00.000Z', false],
        ['2031-07-07T13:00:00.000Z', true],
        ['2031-07-07T12:59:59.999Z', false],
        ['2031-07-07T21:00:00.000Z', false],
      ] as const) {
        const simulated = await simulate(alice, renameRequest(alice), { atMs: String(Date.parse(text)) });
        expect(simulated.status, text).toBe(isOpen ? COMPLETED : REJECTED);
        expect(simulated.policyEvaluations[0].outcome, text).toBe(isOpen ? 'OUTCOME_ALLOW' : 'OUTCOME_TIME_INACTIVE');
      }
      expect((await ask(alice, renameRequest(alice), { atMs: Date.parse('2031-01-06T15:00:00Z') })).status).toBe(200);
    });

    test('an hour that is none is refused', async () => {
      const { root, alice } = await newOrganization(suite.parent, 'alice');
      await allow(root);
      for (const [atMs, status] of [
        ['0', 200],
        ['99999999999999', 200],
        ['100000000000000', 400],
        ['999999999999999', 400],
        ['-1', 400],
        ['noon', 400],
      ] as const) {
        expect((await ask(alice, renameRequest(alice), { atMs })).status, atMs).toBe(status);
      }
    });

    test('it came from another address', async () => {
      const { root, alice } = await newOrganization(suite.parent, 'alice');
      await allow(root);
      const request = renameRequest(alice);
      const from = async (sourceAddress?: string) => {
        const simulated = await simulate(alice, request, sourceAddress === undefined ? {} : { sourceAddress });
        // Where the address is refused, there is no activity.
        expect(simulated.status).toBe(simulated.network.allowed === false ? 'REFUSED' : COMPLETED);
        return simulated.network;
      };
      expect(await from()).toEqual({ isLimited: false });
      expect(await from('203.0.113.7')).toEqual({ isLimited: false, allowed: true });
      await root.run('set_ip_allowlist', {
        enabled: true,
        rules: [{ cidr: '127.0.0.0/8' }, { cidr: '::1/128' }, { cidr: '198.51.100.0/24' }],
      });
      expect(await from()).toEqual({ isLimited: true });
      expect(await from('198.51.100.9')).toEqual({ isLimited: true, allowed: true });
      expect(await from('203.0.113.7')).toEqual({ isLimited: true, allowed: false });
      expect(await from('2001:db8::1')).toEqual({ isLimited: true, allowed: false });
    });
  });
});
