import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { encryptTo, newSecretTargets, Receiver } from '../../harness/bundles.ts';
import { DATABASES, databasesOf } from '../../harness/databases.ts';
import {
  ALLOWED,
  allow,
  approve,
  countActivities,
  DENIED,
  denialOf,
  deny,
  evaluationsOf,
  flags,
  isUser,
  newOrganization,
  outcome,
  path,
  policy,
  reject,
  WAITS,
} from '../fixtures/policy-flows.ts';
import { ethereum, newWallet } from '../fixtures/wallets.ts';
import { FRIEND, openPolicies } from './support.ts';

/** EIP-712 typed data that gives away an amount. */
const permit = (value: string) =>
  JSON.stringify({
    types: {
      EIP712Domain: [
        { name: 'name', type: 'string' },
        { name: 'chainId', type: 'uint256' },
      ],
      Permit: [
        { name: 'spender', type: 'address' },
        { name: 'value', type: 'uint256' },
      ],
    },
    primaryType: 'Permit',
    domain: { name: 'Token', chainId: 1 },
    message: { spender: FRIEND, value },
  });
describe.each(databasesOf(import.meta.url))('policies on %s', (database) => {
  const suite = openPolicies(database);

  describe('requests with several elements', () => {
    test('one typed payload that is not allowed denies all', async () => {
      const { root, alice } = await newOrganization(suite.parent, 'alice');
      const { addresses } = await newWallet(root);
      const policyId = await allow(root, {
        condition: "eth.eip_712.primary_type == 'Permit' && eth.eip_712.message['value'] <= 100",
      });
      const sign = (...values: string[]) =>
        alice.submit('sign_raw_payloads', {
          signWith: addresses[0],
          payloads: values.map(permit),
          encoding: 'PAYLOAD_ENCODING_EIP712',
          hashFunction: 'HASH_FUNCTION_NO_OP',
        });
      const signed = await sign('1', '100', '7');
      expect(outcome(signed)).toEqual(ALLOWED);
      expect(signed.body.activity.result.signRawPayloadsResult.signatures).toHaveLength(3);
      for (const [bad, values] of [
        [0, ['101', '1', '2']],
        [1, ['1', '101', '2']],
        [2, ['1', '2', '101']],
      ] as const) {
        const answer = await sign(...values);
        expect(outcome(answer), values.join()).toEqual(DENIED);
        const [record] = await evaluationsOf(alice, denialOf(answer).activityId);
        expect(record.policyEvaluations).toMatchObject([{ policyId, outcome: 'OUTCOME_DENY_IMPLICIT', element: bad }]);
      }
      // Each element needs one that allows it; it need not be the same for all.
      await allow(root, { condition: "eth.eip_712.message['value'] == 101" });
      expect(outcome(await sign('1', '101'))).toEqual(ALLOWED);
      expect(outcome(await sign('1', '101', '102'))).toEqual(DENIED);
      // One denial for one element is a denial for all.
      const denial = await deny(root, { condition: "eth.eip_712.message['value'] == 7" });
      expect(outcome(await sign('1', '2'))).toEqual(ALLOWED);
      const mixed = await sign('1', '7');
      expect(denialOf(mixed).message).toContain(denial);
    });

    test('each element waits for its own consensus', async () => {
      const { root, alice, bob, carol } = await newOrganization(suite.parent, 'alice', 'bob', 'carol');
      const { addresses } = await newWallet(root);
      const sum = (value: number) => `eth.eip_712.message['value'] == ${value}`;
      await allow(root, { condition: sum(1) });
      await allow(root, { condition: sum(2), consensus: `${isUser(alice)} && ${isUser(bob)}` });
      await allow(root, { condition: sum(3), consensus: `${isUser(alice)} && ${isUser(carol)}` });
      const sign = (...values: string[]) =>
        alice.submit('sign_raw_payloads', {
          signWith: addresses[0],
          payloads: values.map(permit),
          encoding: 'PAYLOAD_ENCODING_EIP712',
          hashFunction: 'HASH_FUNCTION_NO_OP',
        });
      expect(outcome(await sign('1'))).toEqual(ALLOWED);
      const two = await sign('1', '2');
      expect(outcome(two)).toEqual(WAITS);
      const signed = await approve(bob, two.body.activity.fingerprint);
      expect(outcome(signed)).toEqual(ALLOWED);
      expect(signed.body.activity.result.signRawPayloadsResult.signatures).toHaveLength(2);
      const three = await sign('3', '1', '2');
      expect(outcome(three)).toEqual(WAITS);
      expect(outcome(await approve(bob, three.body.activity.fingerprint))).toEqual(WAITS);
      expect(outcome(await approve(carol, three.body.activity.fingerprint))).toEqual(ALLOWED);
      expect(outcome(await sign('1', '2', '4'))).toEqual(DENIED);
    });

    test('who is part of no consensus that is awaited has no vote, whatever else is allowed to everybody', async () => {
      const { root, alice, bob, carol } = await newOrganization(suite.parent, 'alice', 'bob', 'carol');
      const { addresses } = await newWallet(root);
      const sum = (value: number) => `eth.eip_712.message['value'] == ${value}`;
      await allow(root, { condition: sum(1) });
      await allow(root, { condition: sum(2), consensus: `${isUser(alice)} && ${isUser(bob)}` });
      const pending = await alice.submit('sign_raw_payloads', {
        signWith: addresses[0],
        payloads: ['1', '2'].map(permit),
        encoding: 'PAYLOAD_ENCODING_EIP712',
        hashFunction: 'HASH_FUNCTION_NO_OP',
      });
      expect(outcome(pending)).toEqual(WAITS);
      const { fingerprint, id } = pending.body.activity;
      expect(await flags(carol, id)).toEqual([false, false]);
      expect(outcome(await approve(carol, fingerprint))).toEqual(DENIED);
      expect(outcome(await reject(carol, fingerprint))).toEqual(DENIED);
      expect(outcome(await approve(bob, fingerprint))).toEqual(ALLOWED);
    });

    test('secrets are judged one by one', async () => {
      const { root, alice } = await newOrganization(suite.parent, 'alice');
      const kinds = ['card', 'card', 'note'];
      const targets = await newSecretTargets(root, kinds.length + 1);
      const encryptionSuite = 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1';
      const { secretIds } = await root.run('import_secrets', {
        secrets: targets.map((targetPublicKey, index) => ({
          secretPayload: encryptTo(targetPublicKey, `secret ${index}`),
          targetPublicKey,
          encryptionSuite,
          ...(kinds[index] !== undefined && { staticProperties: [{ key: 'kind', value: kinds[index] }] }),
        })),
      });
      const receiver = new Receiver();
      const take = (...indexes: number[]) =>
        alice.submit('export_secrets', {
          secrets: indexes.map((index) => ({
            secretId: secretIds[index],
            targetPublicKey: receiver.publicKey,
            encryptionSuite,
          })),
        });
      expect(outcome(await take(0))).toEqual(DENIED);
      await allow(root, {
        condition: "activity.kind == 'EXPORT_SECRETS' && secret.static_properties['kind'] == 'card'",
      });
      const both = await take(0, 1);
      expect(outcome(both)).toEqual(ALLOWED);
      expect(
        receiver.open(both.body.activity.result.exportSecretsResult.secretPayloads[1], alice.organizationId).toString(),
      ).toBe('secret 1');
      for (const indexes of [[2], [0, 2], [2, 0], [3], [0, 3]]) {
        expect(outcome(await take(...indexes)), indexes.join()).toEqual(DENIED);
      }
    });
  });
});

describe.each(DATABASES)('races of policies on %s', (database) => {
  const suite = openPolicies(database);

  test('the same bytes many times are denied once and alike', async () => {
    const { root, alice } = await newOrganization(suite.parent, 'alice');
    await allow(root, { condition: "activity.resource == 'WALLET'" });
    const before = await countActivities(root);
    const body = alice.submitBody('update_user_name', { userId: alice.userId, userName: 'Denied' });
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => alice.sendStamped(path('update_user_name'), body)),
    );
    for (const answer of answers) {
      expect(outcome(answer)).toEqual(DENIED);
      expect(answer.body).toEqual(answers[0]?.body);
    }
    expect(await countActivities(root)).toBe(before + 1);
  });

  test('nothing executes by a policy after its deletion was acknowledged', async () => {
    for (let round = 0; round < 6; round += 1) {
      const { root, alice } = await newOrganization(suite.parent, 'alice');
      const policyId = await allow(root, { condition: "activity.kind == 'CREATE_WALLET'" });
      const create = () => alice.submit('create_wallet', { walletName: randomUUID(), accounts: [ethereum()] });
      expect(outcome(await create())).toEqual(ALLOWED);
      let wasDeleted = false;
      const before = Array.from({ length: 6 }, create);
      const deletion = root.submit('delete_policy', { policyId }).then((answer) => {
        wasDeleted = answer.status === 200;
        return answer;
      });
      const during = Array.from({ length: 6 }, create);
      expect(outcome(await deletion)).toEqual(ALLOWED);
      expect(wasDeleted).toBe(true);
      // All that commit from now on must be denied; what counts is what is stored at this moment.
      const { wallets } = (await root.query('list_wallets')).body;
      const answers = await Promise.all([...before, ...during]);
      for (const answer of answers) expect([ALLOWED, DENIED]).toContainEqual(outcome(answer));
      const allowed = answers.filter(({ status }) => status === 200);
      expect(wallets).toHaveLength(allowed.length + 1);
      expect((await root.query('list_wallets')).body.wallets).toHaveLength(wallets.length);
      expect(outcome(await create())).toEqual(DENIED);
    }
  });

  test('a denial that was acknowledged is never overlooked', async () => {
    for (let round = 0; round < 4; round += 1) {
      const { root, alice } = await newOrganization(suite.parent, 'alice');
      await allow(root);
      const create = () => alice.submit('create_wallet', { walletName: randomUUID(), accounts: [ethereum()] });
      const before = Array.from({ length: 8 }, create);
      await deny(root, { condition: "activity.kind == 'CREATE_WALLET'" });
      const { wallets } = (await root.query('list_wallets')).body;
      const answers = await Promise.all(before);
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(wallets.length);
      expect((await root.query('list_wallets')).body.wallets).toHaveLength(wallets.length);
    }
  });

  test('many changes at once all succeed', async () => {
    const { root, alice } = await newOrganization(suite.parent, 'alice');
    await allow(root, { condition: "activity.kind == 'CREATE_USER_TAG'" });
    const answers = await Promise.all([
      ...Array.from({ length: 15 }, (_, index) =>
        root.submit('create_policy', policy('ALLOW', { condition: `eth.tx.value == ${index}` })),
      ),
      ...Array.from({ length: 15 }, () =>
        alice.submit('create_user_tag', { userTagName: randomUUID(), userIds: [alice.userId] }),
      ),
    ]);
    for (const answer of answers) expect(outcome(answer)).toEqual(ALLOWED);
    expect((await root.query('list_policies')).body.policies).toHaveLength(16);
    expect((await root.query('get_user', { userId: alice.userId })).body.user.userTags).toHaveLength(15);
  });
});
