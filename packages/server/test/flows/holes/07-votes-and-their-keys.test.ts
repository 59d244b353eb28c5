import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { createSubOrganization, createUser, newKeyPair, type TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import {
  addApiKey,
  addPasskey,
  approve,
  COMPLETED,
  FAILED,
  outcome,
  PENDING,
  propose,
  read,
  times,
  UNPROVEN,
} from '../fixtures/access.ts';

describe.each(databasesOf(import.meta.url))('a vote and the key that gave it, on %s', (database) => {
  let service: TestApp;
  let parent: TestClient;

  beforeAll(async () => {
    service = await openTestApp(database);
    parent = service.root;
  });
  afterAll(() => service[Symbol.asyncDispose]());

  /** Three of three decide. */
  async function newQuorum() {
    const root = await createSubOrganization(parent, `Org ${randomUUID()}`);
    const second = await createUser(root, 'second');
    const third = await createUser(root, 'third');
    const spare = await addApiKey(second);
    const userIds = [root, second, third].map(({ userId }) => userId);
    return { root, second, third, spare, decide: () => root.run('update_root_quorum', { threshold: 3, userIds }) };
  }
  const session = async (client: TestClient, extra: Record<string, unknown> = {}) => {
    const key = newKeyPair();
    const { session: _token } = await client.run('stamp_login', { publicKey: key.publicKey, ...extra });
    return client.as(key, client.userId);
  };
  /** Factors that the user has to prove for a tag, in order. */
  const requireFactors = async (
    root: TestClient,
    { userId }: TestClient,
    types: string,
    approvers: TestClient[] = [],
  ): Promise<void> => {
    const asked = await root.submit('create_mfa_policy', {
      userId,
      mfaPolicyName: 'factors',
      condition: "activity.type == 'ACTIVITY_TYPE_CREATE_USER_TAG'",
      requiredAuthenticationMethods: types.split(' ').map((type) => ({ any: [{ type }] })),
      order: 1,
    });
    let last = asked;
    for (const approver of approvers) last = await approve(approver, asked.body.activity.fingerprint);
    expect(outcome(last)).toEqual([200, COMPLETED]);
  };
  const keyIdOf = async (client: TestClient, { publicKey }: { publicKey: string }): Promise<string> =>
    (await client.query('get_api_keys', { userId: client.userId })).body.apiKeys.find(
      (key: { credential: { publicKey: string } }) => key.credential.publicKey === publicKey,
    ).apiKeyId;
  const deleteKeys = (client: TestClient, ...apiKeyIds: string[]) =>
    client.submit('delete_api_keys', { userId: client.userId, apiKeyIds });

  describe('an approval', () => {
    test('counts while its key is there', async () => {
      const { root, second, third, spare, decide } = await newQuorum();
      await decide();
      const { fingerprint } = (await propose(root)).body.activity;
      expect(outcome(await approve(spare.client, fingerprint))).toEqual([200, PENDING]);
      expect(outcome(await approve(third, fingerprint))).toEqual([200, COMPLETED]);
      expect(second.userId).toBe(spare.client.userId);
    });

    test('stops counting when another credential deletes its key, and can be given again', async () => {
      const { root, second, third, spare, decide } = await newQuorum();
      await decide();
      const { fingerprint, id } = (await propose(root)).body.activity;
      await approve(spare.client, fingerprint);
      expect(outcome(await deleteKeys(second, spare.apiKeyId))).toEqual([200, COMPLETED]);
      expect(outcome(await approve(third, fingerprint))).toEqual([200, PENDING]);
      expect(await read(second, id)).toMatchObject({ status: PENDING, canApprove: true });
      expect(outcome(await approve(second, fingerprint))).toEqual([200, COMPLETED]);
    });

    test('goes on counting by a second key of the same user', async () => {
      const { root, second, third, spare, decide } = await newQuorum();
      await decide();
      const { fingerprint } = (await propose(root)).body.activity;
      await approve(spare.client, fingerprint);
      await approve(second, fingerprint);
      await deleteKeys(second, spare.apiKeyId);
      expect(outcome(await approve(third, fingerprint))).toEqual([200, COMPLETED]);
    });

    test('stops counting when a passkey is taken away', async () => {
      const { root, second, third, decide } = await newQuorum();
      const passkey = await addPasskey(second);
      await decide();
      const { fingerprint } = (await propose(root)).body.activity;
      await approve(passkey, fingerprint);
      await second.run('delete_authenticators', {
        userId: second.userId,
        authenticatorIds: [passkey.authenticatorId],
      });
      expect(outcome(await approve(third, fingerprint))).toEqual([200, PENDING]);
    });

    test('that needed a second factor waits for it again when the key of that factor goes', async () => {
      const { root, second, third, spare, decide } = await newQuorum();
      const passkey = await addPasskey(second);
      await root.run('create_mfa_policy', {
        userId: second.userId,
        mfaPolicyName: 'key, then passkey',
        condition: "activity.type == 'ACTIVITY_TYPE_CREATE_USER_TAG'",
        requiredAuthenticationMethods: [
          { any: [{ type: 'AUTHENTICATION_TYPE_API_KEY' }] },
          { any: [{ type: 'AUTHENTICATION_TYPE_PASSKEY' }] },
        ],
        order: 1,
      });
      await decide();
      const { fingerprint } = (await propose(root)).body.activity;
      expect(outcome(await approve(spare.client, fingerprint))).toEqual([200, UNPROVEN]);
      expect(outcome(await approve(passkey, fingerprint))).toEqual([200, PENDING]);
      await deleteKeys(second, spare.apiKeyId);
      expect(outcome(await approve(third, fingerprint))).toEqual([200, PENDING]);
      expect(outcome(await approve(passkey, fingerprint))).toEqual([200, UNPROVEN]);
      expect(outcome(await approve(second, fingerprint))).toEqual([200, UNPROVEN]);
      expect(outcome(await approve(passkey, fingerprint))).toEqual([200, COMPLETED]);
    });

    test('stops counting when a login invalidates the session that gave it', async () => {
      const { root, second, third, decide } = await newQuorum();
      await decide();
      const voter = await session(second);
      const { fingerprint } = (await propose(root)).body.activity;
      await approve(voter, fingerprint);
      await session(second, { invalidateExisting: true });
      expect(outcome(await approve(third, fingerprint))).toEqual([200, PENDING]);
    });

    test('survives a sign-out: its key deletes itself', async () => {
      const { root, second, third, decide } = await newQuorum();
      await decide();
      const voter = await session(second);
      const { fingerprint } = (await propose(root)).body.activity;
      await approve(voter, fingerprint);
      expect(outcome(await deleteKeys(voter, await keyIdOf(second, voter.key)))).toEqual([200, COMPLETED]);
      expect(outcome(await approve(third, fingerprint))).toEqual([200, COMPLETED]);
    });

    test('survives the renewal of its session, also one that invalidates the others', async () => {
      const { root, second, third, decide } = await newQuorum();
      await decide();
      const voter = await session(second);
      const { fingerprint } = (await propose(root)).body.activity;
      await approve(voter, fingerprint);
      await second.run('stamp_login', { publicKey: voter.key.publicKey });
      await second.run('stamp_login', { publicKey: voter.key.publicKey, invalidateExisting: true });
      expect(outcome(await approve(third, fingerprint))).toEqual([200, COMPLETED]);
    });

    test('of a key that was extended stops counting when the key is taken away', async () => {
      const { root, second, third, decide } = await newQuorum();
      await decide();
      const voter = await session(second);
      const { fingerprint } = (await propose(root)).body.activity;
      await approve(voter, fingerprint);
      await voter.run('stamp_login', { publicKey: voter.key.publicKey });
      await deleteKeys(second, await keyIdOf(second, voter.key));
      expect(outcome(await approve(third, fingerprint))).toEqual([200, PENDING]);
    });

    test('is not held up by a further vote without the factor that was taken away', async () => {
      const { root, second, third, decide } = await newQuorum();
      const passkey = await addPasskey(second);
      await requireFactors(root, second, 'AUTHENTICATION_TYPE_PASSKEY');
      await decide();
      const { fingerprint } = (await propose(root)).body.activity;
      expect(outcome(await approve(passkey, fingerprint))).toEqual([200, PENDING]);
      await approve(second, fingerprint);
      const authenticatorIds = [passkey.authenticatorId];
      await second.run('delete_authenticators', { userId: second.userId, authenticatorIds });
      expect(outcome(await approve(third, fingerprint))).toEqual([200, PENDING]);
    });

    test('is not taken over by a vote that owed a proof', async () => {
      const { root, second, third, spare, decide } = await newQuorum();
      const { fingerprint } = await (async () => {
        await decide();
        return (await propose(root)).body.activity;
      })();
      await approve(spare.client, fingerprint);
      await requireFactors(root, second, 'AUTHENTICATION_TYPE_PASSKEY', [second, third]);
      await approve(second, fingerprint);
      await deleteKeys(second, spare.apiKeyId);
      expect(outcome(await approve(third, fingerprint))).toEqual([200, PENDING]);
    });

    test('counts again when its factors are proven anew, whoever votes last', async () => {
      const { root, second, third, spare, decide } = await newQuorum();
      const passkey = await addPasskey(second);
      await requireFactors(root, second, 'AUTHENTICATION_TYPE_API_KEY AUTHENTICATION_TYPE_PASSKEY');
      await decide();
      const { fingerprint } = (await propose(root)).body.activity;
      await approve(spare.client, fingerprint);
      await approve(passkey, fingerprint);
      await deleteKeys(second, spare.apiKeyId);
      expect(outcome(await approve(second, fingerprint))).toEqual([200, UNPROVEN]);
      expect(outcome(await approve(passkey, fingerprint))).toEqual([200, PENDING]);
      expect(outcome(await approve(third, fingerprint))).toEqual([200, COMPLETED]);
    });

    test('survives the replacement of the oldest of ten sessions', async () => {
      const { root, second, third, decide } = await newQuorum();
      await decide();
      const voter = await session(second);
      const { fingerprint } = (await propose(root)).body.activity;
      await approve(voter, fingerprint);
      for (const _ of times(10, (index) => index)) await session(second);
      expect((await voter.query('whoami')).status).toBe(401);
      expect(outcome(await approve(third, fingerprint))).toEqual([200, COMPLETED]);
    });
  });

  describe('a proposal', () => {
    test('fails at the next vote when another credential deleted the key that proposed it', async () => {
      const { root, second, third, spare, decide } = await newQuorum();
      await decide();
      const { fingerprint, id } = (await propose(spare.client)).body.activity;
      await deleteKeys(second, spare.apiKeyId);
      const voted = await approve(root, fingerprint);
      expect(outcome(voted)).toEqual([200, FAILED]);
      expect(voted.body.activity.failure.message).toMatch(/key .* proposed .* removed/);
      expect(outcome(await approve(third, fingerprint))).toEqual([400, 'ACTIVITY_ALREADY_DECIDED']);
      expect(await read(root, id)).toMatchObject({ status: FAILED });
    });

    test('stays open when its session signs out', async () => {
      const { root, second, third, decide } = await newQuorum();
      await decide();
      const proposer = await session(second);
      const { fingerprint } = (await propose(proposer)).body.activity;
      await deleteKeys(proposer, await keyIdOf(second, proposer.key));
      expect(outcome(await approve(root, fingerprint))).toEqual([200, PENDING]);
      expect(outcome(await approve(third, fingerprint))).toEqual([200, COMPLETED]);
    });
  });
});
