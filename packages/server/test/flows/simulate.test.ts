import { randomUUID } from 'node:crypto';
import { serializeTransaction } from 'viem';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openTables, type Tables } from '../faults/support.ts';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { encryptTo, KNOWN_WALLET, newImportTarget, newSecretTargets, Receiver } from '../harness/bundles.ts';
import {
  type Answer,
  createSubOrganization,
  createUser,
  currentType,
  newKeyPair,
  TestClient,
} from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { TestServer } from '../harness/server.ts';
import {
  ALLOWED,
  allow,
  approve,
  COMPLETED,
  DENIED,
  denialOf,
  deny,
  evaluationsOf,
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
} from './fixtures/policy-flows.ts';
import { account, ethereum, newWallet } from './fixtures/wallets.ts';

const FRIEND = `0x${'cd'.repeat(20)}` as const;
const transfer = (value: bigint) =>
  serializeTransaction({
    type: 'eip1559',
    chainId: 1,
    to: FRIEND,
    value,
    gas: 21_000n,
    nonce: 1,
    maxFeePerGas: 20n,
    maxPriorityFeePerGas: 1n,
  });

interface Request {
  readonly operation: string;
  readonly parameters: Record<string, unknown>;
}

/** The would-be submit body. */
const wish = ({ operation, parameters }: Request, extra: Record<string, unknown> = {}) => ({
  request: { type: currentType(operation), parameters },
  ...extra,
});
const renameRequest = ({ userId }: TestClient, userName = `Name ${randomUUID()}`): Request => ({
  operation: 'update_user_name',
  parameters: { userId, userName },
});

const ask = (client: TestClient, request: Request, extra: Record<string, unknown> = {}): Promise<Answer> =>
  client.query('simulate_activity', wish(request, extra));
const simulate = async (client: TestClient, request: Request, extra = {}): Promise<Answer['body']> => {
  const answer = await ask(client, request, extra);
  expect(answer.body.simulation, JSON.stringify(answer.body)).toBeDefined();
  return answer.body.simulation;
};

/** Evaluations without what the clock said. */
const momentless = (evaluations: readonly Answer['body'][]) =>
  evaluations.map(({ trace: { time: _time, ...trace }, ...evaluation }) => ({ ...evaluation, trace }));

/** What a submit says that simulate says too. */
async function truth(client: TestClient, { operation, parameters }: Request) {
  const answer = await client.submit(operation, parameters);
  const denial = denialOf(answer);
  const activityId = answer.body.activity?.id ?? denial?.activityId;
  const [record] = await evaluationsOf(client, activityId);
  const { body } = await client.query('get_activity', { activityId });
  return { answer, status: body.activity.status, said: record.policyEvaluations };
}

describe.each(DATABASES)('simulate_activity on %s', (database) => {
  let server: TestServer;
  let parent: TestClient;
  let tables: Tables;

  beforeAll(async () => {
    server = await TestServer.start({ database });
    parent = TestClient.root(server.credentials, server.baseUrl);
    tables = await openTables(server.dataDir, server.databaseUrl);
  });
  afterAll(async () => {
    await tables?.[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  /** Every row of every table, so that a change of any kind shows. */
  async function everything(): Promise<Record<string, string>> {
    const list =
      database === 'sqlite'
        ? "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
        : "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY table_name";
    const [found = []] = await tables.read(list);
    const names = found.map(({ name }) => name as string);
    const rows = await tables.read(...names.map((name) => `SELECT * FROM ${name}`));
    return Object.fromEntries(
      names.map((name, index) => [
        name,
        (rows[index] ?? [])
          .map((row) => JSON.stringify(row))
          .sort()
          .join('\n'),
      ]),
    );
  }

  describe('says what the submit then does', () => {
    interface Case {
      readonly name: string;
      readonly request: (world: World) => Request;
      readonly by?: 'alice' | 'bob' | 'root';
      readonly rules?: (world: World) => Promise<unknown>;
      readonly expected: [status: string, outcome: string, reason: string];
    }
    interface World {
      readonly root: TestClient;
      readonly alice: TestClient;
      readonly bob: TestClient;
      readonly address: string;
      readonly walletId: string;
    }
    const pay = (value: bigint) => (world: World) => ({
      operation: 'sign_transaction',
      parameters: {
        signWith: world.address,
        unsignedTransaction: transfer(value),
        type: 'TRANSACTION_TYPE_ETHEREUM',
      },
    });
    const renames = ({ alice }: World) => renameRequest(alice);
    const newKey = (of: 'alice' | 'bob') => (world: World) => ({
      operation: 'create_api_keys',
      parameters: {
        userId: world[of].userId,
        apiKeys: [{ apiKeyName: 'new', publicKey: newKeyPair().publicKey, curveType: 'API_KEY_CURVE_P256' }],
      },
    });
    const cases: readonly Case[] = [
      {
        name: 'no policy',
        request: renames,
        expected: [REJECTED, 'OUTCOME_DENY_IMPLICIT', 'NO_POLICY_ALLOWS'],
      },
      {
        name: 'the root quorum',
        request: renames,
        by: 'root',
        rules: ({ root }) => deny(root),
        expected: [COMPLETED, 'OUTCOME_ALLOW', 'ROOT_QUORUM'],
      },
      {
        name: 'one that allows',
        request: renames,
        rules: ({ root, alice }) => allow(root, { condition: "activity.resource == 'USER'", consensus: isUser(alice) }),
        expected: [COMPLETED, 'OUTCOME_ALLOW', 'POLICY_ALLOWED'],
      },
      {
        name: 'one that denies over one that allows',
        request: renames,
        rules: async ({ root }) => [await allow(root), await deny(root)],
        expected: [REJECTED, 'OUTCOME_DENY_EXPLICIT', 'POLICY_DENIED'],
      },
      {
        name: 'one that waits',
        request: renames,
        rules: ({ root }) => allow(root, { consensus: 'approvers.count() >= 2' }),
        expected: [PENDING, 'OUTCOME_REQUIRES_CONSENSUS', 'POLICY_PENDING'],
      },
      {
        name: 'one that nobody could complete',
        request: renames,
        rules: ({ root }) => allow(root, { consensus: 'approvers.count() >= 9' }),
        expected: [REJECTED, 'OUTCOME_DENY_IMPLICIT', 'NO_POLICY_ALLOWS'],
      },
      {
        name: 'one that is about somebody else',
        request: renames,
        rules: ({ root, bob }) => allow(root, { consensus: isUser(bob) }),
        expected: [REJECTED, 'OUTCOME_DENY_IMPLICIT', 'NO_POLICY_ALLOWS'],
      },
      {
        name: 'one that fails',
        request: renames,
        rules: ({ root }) => allow(root, { condition: "wallet.id == 'w' || true" }),
        expected: [REJECTED, 'OUTCOME_DENY_IMPLICIT', 'NO_POLICY_ALLOWS'],
      },
      {
        name: 'one that is not active',
        request: renames,
        rules: ({ root }) => allow(root, { time: "time.now < Timestamp('2020-01-01T00:00:00Z')" }),
        expected: [REJECTED, 'OUTCOME_DENY_IMPLICIT', 'NO_POLICY_ALLOWS'],
      },
      {
        name: 'a payment within the limit',
        request: pay(1000n),
        rules: ({ root, walletId }) => allow(root, { condition: `wallet.id == '${walletId}' && eth.tx.value <= 1000` }),
        expected: [COMPLETED, 'OUTCOME_ALLOW', 'POLICY_ALLOWED'],
      },
      {
        name: 'a payment above the limit',
        request: pay(1001n),
        rules: ({ root, walletId }) => allow(root, { condition: `wallet.id == '${walletId}' && eth.tx.value <= 1000` }),
        expected: [REJECTED, 'OUTCOME_DENY_IMPLICIT', 'NO_POLICY_ALLOWS'],
      },
      {
        name: 'a payment that is too large to read',
        request: pay(2n ** 200n),
        rules: async ({ root }) => [await allow(root), await deny(root, { condition: 'eth.tx.value > 5' })],
        expected: [REJECTED, 'OUTCOME_DENY_EXPLICIT', 'POLICY_DENIED'],
      },
      {
        name: 'an own credential',
        request: newKey('alice'),
        expected: [COMPLETED, 'OUTCOME_ALLOW', 'OWN_ACCOUNT'],
      },
      {
        name: 'an own credential under a policy',
        request: newKey('alice'),
        rules: ({ root }) => allow(root, { consensus: 'approvers.count() >= 2' }),
        expected: [PENDING, 'OUTCOME_REQUIRES_CONSENSUS', 'POLICY_PENDING'],
      },
      {
        name: 'the credential of another',
        request: newKey('bob'),
        expected: [REJECTED, 'OUTCOME_DENY_IMPLICIT', 'NO_POLICY_ALLOWS'],
      },
      {
        name: 'what only the root quorum may do',
        request: () => ({ operation: 'update_organization_name', parameters: { organizationName: 'Mine' } }),
        rules: ({ root }) => allow(root),
        expected: [REJECTED, 'OUTCOME_DENY_IMPLICIT', 'ROOT_QUORUM_ONLY'],
      },
      {
        name: 'a quorum that gathers over a denial',
        request: renames,
        by: 'root',
        rules: async ({ root, bob }) => {
          await deny(root);
          await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, bob.userId] });
        },
        expected: [PENDING, 'OUTCOME_REQUIRES_CONSENSUS', 'ROOT_QUORUM_PENDING'],
      },
    ];

    test.each(cases.map((entry) => [entry.name, entry] as const))('%s', async (_name, entry) => {
      const { root, alice, bob } = await newOrganization(parent, 'alice', 'bob');
      const { walletId, addresses } = await newWallet(root);
      const world: World = { root, alice, bob, walletId, address: addresses[0] as string };
      await entry.rules?.(world);
      const client = world[entry.by ?? 'alice'];
      const request = entry.request(world);
      const simulated = await simulate(client, request);
      expect([simulated.status, simulated.outcome, simulated.reason]).toEqual(entry.expected);
      const { status, said } = await truth(client, request);
      expect(simulated.status).toBe(status);
      // Outcomes, reasons, errors and trees are those that are stored with the vote; only the moment is another.
      expect(momentless(simulated.policyEvaluations)).toEqual(momentless(said));
      expect(
        await simulate(
          client,
          { ...request, parameters: { ...request.parameters } },
          {
            submitterUserId: client.userId,
          },
        ),
      ).toMatchObject({ status: simulated.status, outcome: simulated.outcome, reason: simulated.reason });
    });

    test('which policies decided, and the tree', async () => {
      const { root, alice } = await newOrganization(parent, 'alice');
      await allow(root);
      const denials = [await deny(root), await deny(root, { condition: "activity.resource == 'USER'" })];
      await deny(root, { condition: "activity.resource == 'WALLET'" });
      const simulated = await simulate(alice, renameRequest(alice));
      expect(simulated.decidingPolicyIds).toEqual(denials);
      const tree = simulated.policyEvaluations[2].trace.conditions[0];
      expect(tree).toMatchObject({ text: "activity.resource == 'USER'", value: 'true', decisive: true });
      expect(tree.children).toMatchObject([{ text: 'activity.resource', value: "'USER'" }, { text: "'USER'" }]);
    });
  });

  describe('what if', () => {
    test('other users submit', async () => {
      const { root, alice, bob } = await newOrganization(parent, 'alice', 'bob');
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
      const { root, alice, bob, carol, dave } = await newOrganization(parent, 'alice', 'bob', 'carol', 'dave');
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
      const { root, alice, bob } = await newOrganization(parent, 'alice', 'bob');
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
      const { root, alice, bob } = await newOrganization(parent, 'alice', 'bob');
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
      const { root, alice } = await newOrganization(parent, 'alice');
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
      const { root, alice } = await newOrganization(parent, 'alice');
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
      const { alice } = await newOrganization(parent, 'alice');
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
      const { root, alice } = await newOrganization(parent, 'alice');
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
      const { root, alice } = await newOrganization(parent, 'alice');
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
      const { root, alice } = await newOrganization(parent, 'alice');
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

  test('changes nothing, whatever is asked', async () => {
    const { root, alice, bob } = await newOrganization(parent, 'alice', 'bob');
    const { walletId, addresses } = await newWallet(root);
    await allow(root, { condition: "activity.resource == 'USER'", consensus: 'approvers.count() >= 2' });
    await allow(root, { condition: "activity.resource == 'PRIVATE_KEY'" });
    const importTarget = await newImportTarget(root, 'wallet');
    const requests: [TestClient, Request, Record<string, unknown>?][] = [
      [alice, renameRequest(alice)],
      [alice, renameRequest(alice), { approverUserIds: [bob.userId] }],
      [
        root,
        renameRequest(alice),
        { draftPolicies: [{ effect: 'EFFECT_DENY' }], atMs: '1', sourceAddress: '10.0.0.1' },
      ],
      [alice, { operation: 'create_wallet', parameters: { walletName: 'x', accounts: [ethereum()] } }],
      [root, { operation: 'create_wallet', parameters: { walletName: 'x', accounts: [ethereum()] } }],
      [root, { operation: 'export_wallet', parameters: { walletId, targetPublicKey: new Receiver().publicKey } }],
      [root, { operation: 'delete_users', parameters: { userIds: [bob.userId] } }],
      [root, { operation: 'update_root_quorum', parameters: { threshold: 1, userIds: [bob.userId] } }],
      [root, { operation: 'create_policy', parameters: { policyName: 'x', effect: 'EFFECT_ALLOW', notes: '' } }],
      [
        alice,
        {
          operation: 'sign_transaction',
          parameters: {
            signWith: addresses[0],
            unsignedTransaction: transfer(1n),
            type: 'TRANSACTION_TYPE_ETHEREUM',
          },
        },
      ],
      [
        root,
        {
          operation: 'import_wallet',
          parameters: {
            userId: root.userId,
            walletName: 'x',
            encryptedBundle: encryptTo(importTarget, KNOWN_WALLET.mnemonic),
            accounts: [],
          },
        },
      ],
    ];
    // The first use of a key is written down with it, whatever it is used for.
    for (const client of [root, alice]) await client.query('whoami');
    const before = await everything();
    // The snapshot is one that a change would show in.
    expect(Object.keys(before)).toEqual(expect.arrayContaining(['activity', 'vote', 'policy', 'policy_evaluation']));
    for (const [client, request, extra] of requests) {
      expect((await ask(client, request, extra)).status, request.operation).toBe(200);
    }
    const after = await everything();
    for (const name of Object.keys(before)) expect(after[name], name).toBe(before[name]);
    expect(Object.keys(after)).toEqual(Object.keys(before));
    await rename(alice);
    expect(await everything()).not.toEqual(before);
  });

  describe('is refused', () => {
    test('for what is no activity', async () => {
      const { alice } = await newOrganization(parent, 'alice');
      const other = await newOrganization(parent, 'eve');
      const good = wish(renameRequest(alice));
      expect((await alice.query('simulate_activity', good)).status).toBe(200);
      const refused: [string, Record<string, unknown>, string][] = [
        ['no request', {}, 'request'],
        ['an unknown type', { request: { ...good.request, type: 'ACTIVITY_TYPE_NOTHING' } }, 'request.type'],
        ['a vote', { request: { ...good.request, type: 'ACTIVITY_TYPE_APPROVE_ACTIVITY' } }, 'request.type'],
        ['no type', { request: { parameters: {} } }, 'request.type'],
        ['no parameters', { request: { type: good.request.type } }, 'request.parameters'],
        ['wrong parameters', { request: { ...good.request, parameters: { userId: 5 } } }, 'userId'],
        ['a submitter of another organization', { ...good, submitterUserId: other.eve.userId }, 'submitterUserId'],
        ['an unknown submitter', { ...good, submitterUserId: randomUUID() }, 'submitterUserId'],
        ['an approver of another organization', { ...good, approverUserIds: [other.eve.userId] }, 'approverUserIds'],
        [
          'a request for another organization',
          { request: { ...good.request, organizationId: other.root.organizationId } },
          'request.organizationId',
        ],
      ];
      for (const [name, parameters, field] of refused) {
        const answer = await alice.query('simulate_activity', parameters);
        expect(outcome(answer), name).toEqual([400, 'REQUEST_INVALID']);
        expect(JSON.stringify(answer.body), name).toContain(field);
      }
      const withType = await alice.query('simulate_activity', { ...good, type: good.request.type });
      expect(outcome(withType)).toEqual([400, 'REQUEST_INVALID']);
      // A body that names the organization of the simulation is one.
      const named = { request: { ...good.request, organizationId: alice.organizationId, timestampMs: '1' } };
      expect((await alice.query('simulate_activity', named)).status).toBe(200);
    });

    test('for an approver that does not exist, also when nobody has to approve', async () => {
      const { root, alice } = await newOrganization(parent, 'alice');
      await allow(root);
      const answer = await ask(alice, renameRequest(alice), { approverUserIds: [randomUUID()] });
      expect(outcome(answer)).toEqual([400, 'REQUEST_INVALID']);
    });

    test('for organizations that the caller may not read', async () => {
      const one = await newOrganization(parent, 'alice');
      const other = await newOrganization(parent, 'bob');
      await deny(one.root, { name: 'A secret rule' });
      const asked = wish(renameRequest(one.alice), {
        organizationId: one.root.organizationId,
        submitterUserId: one.alice.userId,
      });
      expect((await one.alice.query('simulate_activity', asked)).status).toBe(200);
      for (const client of [other.root, other.bob]) {
        const answer = await client.query('simulate_activity', asked);
        expect(answer.status).toBe(401);
        expect(JSON.stringify(answer.body)).not.toContain('A secret rule');
      }
      // A child sees nothing of its parent.
      const above = wish(renameRequest(parent), {
        organizationId: parent.organizationId,
        submitterUserId: parent.userId,
      });
      expect((await one.root.query('simulate_activity', above)).status).toBe(401);
      expect((await parent.query('simulate_activity', above)).status).toBe(200);
    });

    test('a parent simulates for its child when it says as whom', async () => {
      const { root, alice } = await newOrganization(parent, 'alice');
      const policyId = await allow(root, { consensus: isUser(alice) });
      const { organizationId } = root;
      const request = renameRequest(alice);
      const nobody = await ask(parent, request, { organizationId });
      expect(outcome(nobody)).toEqual([400, 'REQUEST_INVALID']);
      expect(nobody.body.message).toContain('submitterUserId');
      const itself = await ask(parent, request, { organizationId, submitterUserId: parent.userId });
      expect(outcome(itself)).toEqual([400, 'REQUEST_INVALID']);
      const simulated = await simulate(parent, request, { organizationId, submitterUserId: alice.userId });
      expect(simulated).toMatchObject({ status: COMPLETED, decidingPolicyIds: [policyId] });
      const byRoot = await simulate(parent, request, { organizationId, submitterUserId: root.userId });
      expect(byRoot).toMatchObject({ status: COMPLETED, reason: 'ROOT_QUORUM' });
    });

    test('what the submit refuses, to those who may and to those who may not', async () => {
      const { root, alice } = await newOrganization(parent, 'alice');
      const bob = await createUser(root, 'bob');
      await allow(root, { consensus: isUser(bob) });
      const { addresses } = await newWallet(root, [ethereum(), account('ED25519', "m/44'/501'/0'/0'", 'SOLANA')]);
      const malformed: Request[] = [
        {
          operation: 'create_sub_organization',
          parameters: { subOrganizationName: 'x', rootQuorumThreshold: 1, rootUsers: [] },
        },
        {
          operation: 'create_policy',
          parameters: { policyName: 'x', effect: 'EFFECT_ALLOW', notes: '', condition: '1' },
        },
      ];
      malformed.push(
        {
          operation: 'sign_transaction',
          parameters: { signWith: addresses[0], unsignedTransaction: '0x1234', type: 'TRANSACTION_TYPE_ETHEREUM' },
        },
        {
          operation: 'sign_transaction',
          parameters: { signWith: addresses[1], unsignedTransaction: transfer(1n), type: 'TRANSACTION_TYPE_ETHEREUM' },
        },
      );
      const impossible: Request[] = [
        {
          operation: 'sign_transaction',
          parameters: { signWith: FRIEND, unsignedTransaction: transfer(1n), type: 'TRANSACTION_TYPE_ETHEREUM' },
        },
      ];
      const refused = [...malformed.map((request) => [alice, request] as const)];
      refused.push(...[...malformed, ...impossible].map((request) => [bob, request] as const));
      for (const [client, request] of refused) {
        const simulated = await ask(client, request);
        const submitted = await client.submit(request.operation, request.parameters);
        expect(submitted.status, request.operation).toBeGreaterThanOrEqual(400);
        expect(outcome(simulated), request.operation).toEqual(outcome(submitted));
        expect(simulated.body.message).toBe(submitted.body.message);
      }
      // Somebody without rights is told nothing about what it is; an import for somebody else is nobody's right.
      const imported: Request = { operation: 'init_import_wallet', parameters: { userId: root.userId } };
      const denied = [...impossible.map((request) => [alice, request] as const), [bob, imported] as const];
      for (const [client, request] of denied) {
        const simulated = await ask(client, request);
        const submitted = await client.submit(request.operation, request.parameters);
        expect(outcome(submitted), request.operation).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
        expect(simulated.body.simulation?.status, request.operation).toBe('ACTIVITY_STATUS_REJECTED');
      }
    });
  });

  describe('tries nothing out', () => {
    test('a bundle is neither opened nor used up', async () => {
      const { root } = await newOrganization(parent);
      const target = await newImportTarget(root, 'wallet');
      const elsewhere = await newImportTarget(await createSubOrganization(parent, `Org ${randomUUID()}`), 'wallet');
      const importing = (encryptedBundle: string): Request => ({
        operation: 'import_wallet',
        parameters: { userId: root.userId, walletName: 'Imported', encryptedBundle, accounts: [ethereum()] },
      });
      const good = importing(encryptTo(target, KNOWN_WALLET.mnemonic));
      const bad = [
        importing(encryptTo(target, 'these are no words of any list')),
        importing(encryptTo(elsewhere, KNOWN_WALLET.mnemonic)),
        importing(JSON.stringify({ encappedPublic: '04', ciphertext: '00' })),
      ];
      const said = await ask(root, good);
      expect(said.body.simulation.status).toBe(COMPLETED);
      for (const request of bad) expect((await ask(root, request)).body).toEqual(said.body);
      expect((await ask(root, good)).body).toEqual(said.body);
      for (const request of bad) {
        expect((await root.submit(request.operation, request.parameters)).status).toBe(400);
      }
      const { addresses } = await root.run(good.operation, good.parameters);
      expect(addresses).toEqual([KNOWN_WALLET.address]);
      // Used up now, which it does not tell either.
      expect((await ask(root, good)).body).toEqual(said.body);
      expect((await root.submit(good.operation, good.parameters)).status).toBe(400);
    });

    test('secrets likewise', async () => {
      const { root } = await newOrganization(parent);
      const [target = ''] = await newSecretTargets(root, 1);
      const encryptionSuite = 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1';
      const importing = (targetPublicKey: string, secretPayload: string): Request => ({
        operation: 'import_secrets',
        parameters: { secrets: [{ secretPayload, targetPublicKey, encryptionSuite }] },
      });
      const good = importing(target, encryptTo(target, 'secret'));
      const stranger = new Receiver().publicKey;
      const said = await ask(root, good);
      expect(said.body.simulation.status).toBe(COMPLETED);
      for (const request of [
        importing(target, encryptTo(stranger, 'secret')),
        importing(stranger, encryptTo(stranger, 'secret')),
      ]) {
        expect((await ask(root, request)).body).toEqual(said.body);
        expect((await root.submit(request.operation, request.parameters)).status).toBe(400);
      }
      expect((await root.run(good.operation, good.parameters)).secretIds).toHaveLength(1);
    });
  });
});

describe.each(DATABASES)('simulate_activity and keys on %s', (database) => {
  let service: TestApp;

  beforeAll(async () => {
    service = await openTestApp(database);
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test('touches no key', async () => {
    const { root, app } = service;
    const alice = await createUser(root, 'alice');
    const { walletId, addresses } = await newWallet(root);
    const target = await newImportTarget(root, 'wallet');
    const methods = [
      'sign',
      'createWallet',
      'exportWallet',
      'importWallet',
      'seal',
      'open',
      'createPrivateKey',
    ] as const;
    const spies = methods.map((method) => vi.spyOn(app.keyring, method));
    for (const request of [
      { operation: 'create_wallet', parameters: { walletName: 'x', accounts: [ethereum()] } },
      { operation: 'export_wallet', parameters: { walletId, targetPublicKey: new Receiver().publicKey } },
      {
        operation: 'sign_transaction',
        parameters: { signWith: addresses[0], unsignedTransaction: transfer(1n), type: 'TRANSACTION_TYPE_ETHEREUM' },
      },
      {
        operation: 'import_wallet',
        parameters: {
          userId: root.userId,
          walletName: 'y',
          encryptedBundle: encryptTo(target, KNOWN_WALLET.mnemonic),
          accounts: [],
        },
      },
    ]) {
      expect((await simulate(root, request)).status, request.operation).toBe(COMPLETED);
      if (request.operation !== 'import_wallet') await simulate(alice, request);
    }
    for (const spy of spies) expect(spy).not.toHaveBeenCalled();
    await root.run('create_wallet', { walletName: 'x', accounts: [ethereum()] });
    expect(spies[1]).toHaveBeenCalledTimes(1);
  });
});
