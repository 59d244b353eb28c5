import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { encryptTo, KNOWN_WALLET, newImportTarget, Receiver } from '../../harness/bundles.ts';
import { type Answer, createUser, newKeyPair, type TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import {
  allow,
  COMPLETED,
  denialOf,
  deny,
  evaluationsOf,
  isUser,
  newOrganization,
  PENDING,
  REJECTED,
  rename,
} from '../fixtures/policy-flows.ts';
import { ethereum, newWallet } from '../fixtures/wallets.ts';
import { ask, openSimulations, type Request, renameRequest, simulate, transfer } from './support.ts';

/** Evaluations without what the clock said, and without words: a simulation can also name who may still approve. */
const momentless = (evaluations: readonly Answer['body'][]) =>
  evaluations.map(({ trace: { time: _time, ...trace }, explanation: _words, ...evaluation }) => ({
    ...evaluation,
    trace,
  }));

/** What a submit says that simulate says too. */
async function truth(client: TestClient, { operation, parameters }: Request) {
  const answer = await client.submit(operation, parameters);
  const denial = denialOf(answer);
  const activityId = answer.body.activity?.id ?? denial?.activityId;
  const [record] = await evaluationsOf(client, activityId);
  const { body } = await client.query('get_activity', { activityId });
  return { answer, status: body.activity.status, said: record.policyEvaluations };
}
describe.each(databasesOf(import.meta.url))('simulate_activity on %s', (database) => {
  const suite = openSimulations(database);

  /** Every row of every table, so that a change of any kind shows. */
  async function everything(): Promise<Record<string, string>> {
    const list =
      database === 'sqlite'
        ? "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
        : "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY table_name";
    const [found = []] = await suite.tables.read(list);
    const names = found.map(({ name }) => name as string);
    const rows = await suite.tables.read(...names.map((name) => `SELECT * FROM ${name}`));
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
      const { root, alice, bob } = await newOrganization(suite.parent, 'alice', 'bob');
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
      const { root, alice } = await newOrganization(suite.parent, 'alice');
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

  test('changes nothing, whatever is asked', async () => {
    const { root, alice, bob } = await newOrganization(suite.parent, 'alice', 'bob');
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
});

describe.each(databasesOf(import.meta.url))('simulate_activity and keys on %s', (database) => {
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
