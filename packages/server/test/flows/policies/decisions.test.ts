import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { newKeyPair } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import {
  ALLOWED,
  allow,
  approve,
  DENIED,
  denialOf,
  deny,
  evaluationsOf,
  isUser,
  newOrganization,
  outcome,
  outcomesOf,
  path,
  policy,
  REJECTED,
  read,
  rename,
  WAITS,
} from '../fixtures/policy-flows.ts';
import { newWallet } from '../fixtures/wallets.ts';
import { ethereumTransaction, FRIEND, openPolicies } from './support.ts';

const apiKeyFor = (userId: string) => ({
  userId,
  apiKeys: [{ apiKeyName: randomUUID(), publicKey: newKeyPair().publicKey, curveType: 'API_KEY_CURVE_P256' }],
});
describe.each(databasesOf(import.meta.url))('policies on %s', (database) => {
  const suite = openPolicies(database);

  describe('who wins', () => {
    test('a denial over an allowance, whichever came first', async () => {
      for (const order of ['deny first', 'allow first']) {
        const { root, alice } = await newOrganization(suite.parent, 'alice');
        const denial = order === 'deny first' ? await deny(root) : undefined;
        const allowance = await allow(root);
        const denying = denial ?? (await deny(root));
        const answer = await rename(alice);
        expect(outcome(answer), order).toEqual(DENIED);
        expect(denialOf(answer).message).toBe(`The following policies denied this action: ${denying}`);
        expect(outcomesOf(denialOf(answer).policyEvaluations)).toEqual({
          [allowance]: 'OUTCOME_ALLOW',
          [denying]: 'OUTCOME_DENY_EXPLICIT',
        });
        await root.run('delete_policy', { policyId: denying });
        expect(outcome(await rename(alice)), order).toEqual(ALLOWED);
      }
    });

    test('a denial bites only where its own consensus holds', async () => {
      const { root, alice, bob } = await newOrganization(suite.parent, 'alice', 'bob');
      await allow(root);
      await deny(root, { consensus: isUser(bob) });
      expect(outcome(await rename(alice))).toEqual(ALLOWED);
      expect(outcome(await rename(bob))).toEqual(DENIED);
    });

    test('a denial that cannot be evaluated does not deny, an allowance that cannot does not allow', async () => {
      const { root, alice } = await newOrganization(suite.parent, 'alice');
      const denial = await deny(root, { condition: 'eth.tx.value > 1' });
      const allowance = await allow(root, { condition: "wallet.id == 'w'" });
      const answer = await rename(alice);
      expect(outcomesOf(denialOf(answer).policyEvaluations)).toEqual({
        [denial]: 'OUTCOME_ERROR',
        [allowance]: 'OUTCOME_ERROR',
      });
      await allow(root, { condition: 'true' });
      expect(outcome(await rename(alice))).toEqual(ALLOWED);
    });

    test('an amount that is too large to read does not switch a denial off', async () => {
      const { root, alice } = await newOrganization(suite.parent, 'alice');
      const { addresses } = await newWallet(root);
      await allow(root);
      const denial = await deny(root, { condition: 'eth.tx.value > 1000' });
      const sign = (value: bigint) =>
        alice.submit('sign_transaction', {
          signWith: addresses[0],
          unsignedTransaction: ethereumTransaction(FRIEND, '0x', { value }),
          type: 'TRANSACTION_TYPE_ETHEREUM',
        });
      expect(outcome(await sign(1000n))).toEqual(ALLOWED);
      for (const value of [1001n, 2n ** 127n, 2n ** 255n]) {
        const answer = await sign(value);
        expect(outcome(answer), String(value)).toEqual(DENIED);
        expect(outcomesOf(denialOf(answer).policyEvaluations)[denial]).toBe('OUTCOME_DENY_EXPLICIT');
      }
    });

    test('a met root quorum over every denial', async () => {
      const { root, alice } = await newOrganization(suite.parent, 'alice');
      const policyId = await deny(root);
      expect(outcome(await rename(root))).toEqual(ALLOWED);
      expect(outcome(await rename(alice))).toEqual(DENIED);
      expect(outcome(await root.submit('delete_policy', { policyId }))).toEqual(ALLOWED);
    });

    test('a member of a quorum of two waits, over a denial too', async () => {
      const { root, alice, bob } = await newOrganization(suite.parent, 'alice', 'bob');
      await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, alice.userId] });
      expect(outcome(await rename(root))).toEqual(WAITS);
      const create = await root.submit('create_policy', policy('DENY'));
      expect(outcome(create)).toEqual(WAITS);
      expect(outcome(await approve(alice, create.body.activity.fingerprint))).toEqual(ALLOWED);
      const pending = await rename(alice);
      expect(outcome(pending)).toEqual(WAITS);
      expect(outcome(await rename(bob))).toEqual(DENIED);
      // Who is not of the quorum cannot help, nor bring the denial down on it.
      expect(outcome(await approve(bob, pending.body.activity.fingerprint))).toEqual(DENIED);
      expect((await read(root, pending.body.activity.id)).votes).toHaveLength(1);
      expect(outcome(await approve(root, pending.body.activity.fingerprint))).toEqual(ALLOWED);
    });

    test('what belongs to the root quorum is open to no policy', async () => {
      const { root, alice } = await newOrganization(suite.parent, 'alice');
      await allow(root);
      const answer = await alice.submit('update_organization_name', { organizationName: 'Mine' });
      expect(outcome(answer)).toEqual(DENIED);
      expect(denialOf(answer).policyEvaluations).toEqual([]);
    });
  });

  describe('own credentials', () => {
    test('are everybody’s own business, those of others are not', async () => {
      const { alice, bob } = await newOrganization(suite.parent, 'alice', 'bob');
      expect(outcome(await alice.submit('create_api_keys', apiKeyFor(alice.userId)))).toEqual(ALLOWED);
      expect(outcome(await alice.submit('create_api_keys', apiKeyFor(bob.userId)))).toEqual(DENIED);
    });

    test('until a policy applies to them', async () => {
      const { root, alice, bob } = await newOrganization(suite.parent, 'alice', 'bob');
      const own = () => alice.submit('create_api_keys', apiKeyFor(alice.userId));
      const condition = "activity.resource == 'CREDENTIAL'";
      const denial = await deny(root, { condition, consensus: isUser(alice) });
      expect(outcome(await own())).toEqual(DENIED);
      expect(outcome(await bob.submit('create_api_keys', apiKeyFor(bob.userId)))).toEqual(ALLOWED);
      await root.run('delete_policy', { policyId: denial });
      expect(outcome(await own())).toEqual(ALLOWED);
      await allow(root, { condition, consensus: 'approvers.count() >= 2' });
      const pending = await own();
      expect(outcome(pending)).toEqual(WAITS);
      expect(outcome(await approve(bob, pending.body.activity.fingerprint))).toEqual(ALLOWED);
    });

    test('a policy about others leaves them alone', async () => {
      const { root, alice } = await newOrganization(suite.parent, 'alice');
      await allow(root, { condition: "activity.resource == 'WALLET'" });
      await deny(root, { condition: `activity.params.user_id == '${root.userId}'` });
      expect(outcome(await alice.submit('create_api_keys', apiKeyFor(alice.userId)))).toEqual(ALLOWED);
    });
  });

  describe('a denied request', () => {
    test('answers 403 in the known form, is stored as rejected, and is denied again', async () => {
      const { root, alice } = await newOrganization(suite.parent, 'alice');
      const first = await allow(root, { condition: "activity.kind == 'CREATE_WALLET'" });
      const second = await allow(root, { consensus: isUser(root) });
      const body = alice.submitBody('update_user_name', { userId: alice.userId, userName: 'Denied' });
      const answer = await alice.sendStamped(path('update_user_name'), body);
      expect(answer.status).toBe(403);
      const why = 'No policies evaluated to outcome: Allow';
      expect(answer.body).toMatchObject({
        code: 7,
        errorCode: 'REQUEST_NOT_AUTHORIZED',
        message: `You don't have sufficient permissions to take this action. ${why}`,
      });
      const denial = denialOf(answer);
      expect(denial).toMatchObject({
        message: why,
        policyEvaluations: [
          { policyId: first, outcome: 'OUTCOME_DENY_IMPLICIT', reason: 'CONDITION_FALSE' },
          { policyId: second, outcome: 'OUTCOME_DENY_IMPLICIT', reason: 'APPROVER_NOT_INCLUDED' },
        ],
      });
      const stored = await read(alice, denial.activityId);
      expect(stored).toMatchObject({ status: REJECTED, result: {}, canApprove: false, canReject: false });
      expect(stored).not.toHaveProperty('failure');
      expect(stored.intent).toEqual({ updateUserNameIntent: { userId: alice.userId, userName: 'Denied' } });
      expect((await alice.query('get_user', { userId: alice.userId })).body.user.userName).toBe('alice');

      const again = await alice.sendStamped(path('update_user_name'), body);
      expect(again.status).toBe(403);
      expect(again.body).toEqual(answer.body);
      // Also when it would be allowed by now; a new request is.
      await allow(root);
      expect((await alice.sendStamped(path('update_user_name'), body)).body).toEqual(answer.body);
      expect(outcome(await rename(alice))).toEqual(ALLOWED);
      // To anybody else who sends the bytes it is an activity that is over.
      const byAnother = await root.sendStamped(path('update_user_name'), body);
      expect([byAnother.status, byAnother.body.activity?.status]).toEqual([200, REJECTED]);
      expect((await read(root, denial.activityId)).votes).toHaveLength(1);
    });

    test('with an explicit denial names the policies, and is denied alike again', async () => {
      const { root, alice } = await newOrganization(suite.parent, 'alice');
      const denying = [await deny(root), await deny(root, { condition: "activity.resource == 'USER'" })];
      await deny(root, { condition: "activity.resource == 'WALLET'" });
      const body = alice.submitBody('update_user_name', { userId: alice.userId, userName: 'Denied' });
      const answer = await alice.sendStamped(path('update_user_name'), body);
      expect(denialOf(answer).message).toBe(`The following policies denied this action: ${denying.join(', ')}`);
      expect((await alice.sendStamped(path('update_user_name'), body)).body).toEqual(answer.body);
    });

    test('without any policy has no evaluations', async () => {
      const { alice } = await newOrganization(suite.parent, 'alice');
      const answer = await rename(alice);
      expect(denialOf(answer).policyEvaluations).toEqual([]);
      expect((await evaluationsOf(alice, denialOf(answer).activityId)).map((entry) => entry.policyEvaluations)).toEqual(
        [[]],
      );
    });
  });
});
