import { randomUUID } from 'node:crypto';
import { serializeTransaction } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../harness/app.ts';
import type { Answer, TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import {
  allow,
  deny,
  evaluationsOf,
  hasTag,
  isUser,
  newOrganization,
  newTag,
  rename,
} from './fixtures/policy-flows.ts';
import { ethereum, newWallet } from './fixtures/wallets.ts';

const RECIPIENT = `0x${'cd'.repeat(20)}` as const;
const said = (parts: readonly { text: string }[]): string =>
  parts
    .map(({ text }) => text)
    .join('')
    .replaceAll('\u00a0', ' ');

const nobody = (): string => `approvers.any(user, user.id == '${randomUUID()}')`;

const payment = (value: bigint) =>
  serializeTransaction({
    type: 'eip1559',
    chainId: 1,
    to: RECIPIENT,
    value,
    gas: 21_000n,
    nonce: 1,
    maxFeePerGas: 20n,
    maxPriorityFeePerGas: 1n,
  });

describe.each(databasesOf(import.meta.url))('policies in words on %s', (database) => {
  let service: TestApp;
  let parent: TestClient;

  beforeAll(async () => {
    service = await openTestApp(database);
    parent = service.root;
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const described = async (client: TestClient, draft: Record<string, unknown>): Promise<Answer['body']> =>
    (await client.query('describe_policy', { draft: { effect: 'EFFECT_ALLOW', ...draft } })).body.description;

  test('a denied payment says by how much it is too large, in the vote and in a simulation', async () => {
    const { root, alice } = await newOrganization(parent, 'alice');
    const wallet = await newWallet(root, [ethereum()], { walletName: 'Payroll' });
    const policyId = await allow(root, {
      name: `Alice pays ${randomUUID()}`,
      condition: `activity.kind == 'SIGN_TRANSACTION' && wallet.id == '${wallet.walletId}' && eth.tx.chain_id == 1 && eth.tx.value <= 10000000000000000`,
      consensus: isUser(alice),
    });
    const parameters = {
      signWith: wallet.addresses[0],
      unsignedTransaction: payment(20_000_000_000_000_000n),
      type: 'TRANSACTION_TYPE_ETHEREUM',
    };
    const denied = await alice.submit('sign_transaction', parameters);
    expect(denied.status).toBe(403);
    const { body } = await root.query('list_activities', { filterByType: ['ACTIVITY_TYPE_SIGN_TRANSACTION_V2'] });
    const [record] = await evaluationsOf(root, body.activities[0].id);
    const [evaluation] = record.policyEvaluations;
    expect(said(evaluation.explanation.sentence)).toBe('Amount 0.02 ETH is above the limit of 0.01 ETH.');
    expect(evaluation.explanation.whatWouldPass).toBe('an amount of at most 0.01\u00a0ETH');
    expect(evaluation.explanation.parts).toEqual([
      { text: 'kind is “sign a transaction”', holds: true, depth: 0 },
      { text: 'wallet is Payroll', holds: true, depth: 0 },
      { text: 'chain is Ethereum', holds: true, depth: 0 },
      { text: 'amount ≤ 0.01\u00a0ETH', holds: false, decides: true, depth: 0 },
    ]);
    expect(said(record.explanation.sentence)).toMatch(
      /^No policy allows it\. The nearest is Alice pays .*: Amount 0\.02 ETH/,
    );
    const { simulation } = (
      await alice.query('simulate_activity', { request: { type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2', parameters } })
    ).body;
    expect(simulation.policyEvaluations[0].explanation).toEqual(evaluation.explanation);
    expect(simulation.explanation).toEqual(record.explanation);

    const { description } = (await alice.query('describe_policy', { policyId })).body;
    expect(description.text.replaceAll('\u00a0', ' ')).toMatch(
      /^alice.* may sign transactions of up to 0\.01 ETH each from Payroll to any address on Ethereum, alone\.$/,
    );
    expect(description.marks.map(({ text }: { text: string }) => text)).toContain('0.01\u00a0ETH');
  });

  test('a vote that waits names the tag, and a simulation the people', async () => {
    const { root, alice, bob } = await newOrganization(parent, 'alice', 'bob');
    const tagId = await newTag(root, alice, bob);
    await allow(root, { condition: "activity.resource == 'USER'", consensus: hasTag(tagId, 2) });
    const { id } = (await rename(alice)).body.activity;
    const [record] = await evaluationsOf(alice, id);
    expect(said(record.explanation.sentence)).toMatch(/^It waits for approvals by /);
    expect(record.policyEvaluations[0].explanation.whatWouldPass).toMatch(/tagged|approval/);
    const { simulation } = (
      await alice.query('simulate_activity', {
        request: { type: 'ACTIVITY_TYPE_UPDATE_USER_NAME', parameters: { userId: alice.userId, userName: 'n' } },
      })
    ).body;
    expect(simulation.explanation.whatWouldPass).toMatch(/^the approval of bob/);
  });

  test('a denial is told with its policy', async () => {
    const { root, alice } = await newOrganization(parent, 'alice');
    await allow(root, { condition: "activity.resource == 'USER'" });
    await deny(root, { name: 'No renaming', condition: "activity.kind == 'UPDATE_USER_NAME'" });
    await rename(alice);
    const { body } = await root.query('list_activities', { filterByType: ['ACTIVITY_TYPE_UPDATE_USER_NAME'] });
    const [record] = await evaluationsOf(root, body.activities[0].id);
    expect(said(record.explanation.sentence)).toMatch(/^Denied by No renaming: /);
  });

  test('a draft is compared with the policy that it stands in for', async () => {
    const { root } = await newOrganization(parent);
    const condition = (limit: string) => `eth.tx.chain_id == 1 && eth.tx.value <= ${limit}`;
    const policyId = await allow(root, { condition: condition('1000000000000000000') });
    const wider = await described(root, { policyId, condition: condition('5000000000000000000') });
    expect(wider).toMatchObject({ direction: 'WIDEN', changes: ['the limit rises from 1 to 5\u00a0ETH'] });
    const narrower = await described(root, { policyId, condition: `${condition('1')} && eth.tx.to == '${RECIPIENT}'` });
    expect(narrower.direction).toBe('NARROW');
    const foreign = await newOrganization(parent);
    const answer = await foreign.root.query('describe_policy', { draft: { policyId, effect: 'EFFECT_ALLOW' } });
    expect(answer.status).toBe(404);
  });

  test('mistakes have a place and a suggestion, and nothing is refused for them', async () => {
    const { root } = await newOrganization(parent);
    const { errors, risk } = await described(root, { condition: 'eth.tx.valu > 1' });
    expect(errors).toEqual([
      expect.objectContaining({
        expression: 'condition',
        code: 'E_UNKNOWN_FIELD',
        start: 7,
        end: 11,
        suggestion: 'value',
      }),
    ]);
    expect(risk).toBe('UNREADABLE');
  });

  test('warnings name what is wide, unknown and out of reach', async () => {
    const { root, alice } = await newOrganization(parent, 'alice');
    const codes = async (draft: Record<string, unknown>): Promise<string[]> =>
      (await described(root, draft)).warnings.map(({ code }: { code: string }) => code);
    expect(await codes({})).toEqual(expect.arrayContaining(['NO_CONDITION', 'NO_CONSENSUS']));
    const condition = "activity.kind == 'CREATE_WALLET'";
    expect(await codes({ condition, consensus: nobody() })).toEqual(['UNKNOWN_ID', 'CONSENSUS_UNREACHABLE']);
    expect(await codes({ condition, consensus: isUser(alice) })).toEqual([]);
    expect(
      await codes({ condition: `${condition} && activity.kind == 'DELETE_WALLETS'`, consensus: isUser(alice) }),
    ).toEqual(['NEVER_MATCHES']);
  });

  test('policyId and draft exclude each other', async () => {
    const { root } = await newOrganization(parent);
    for (const parameters of [{}, { policyId: randomUUID(), draft: { effect: 'EFFECT_DENY' } }]) {
      expect((await root.query('describe_policy', parameters)).status).toBe(400);
    }
    expect((await root.query('describe_policy', { policyId: randomUUID() })).status).toBe(404);
  });

  test('describe_policies has a sentence for each policy, without those of others', async () => {
    const { root } = await newOrganization(parent);
    const policyId = await allow(root, { condition: "activity.kind == 'CREATE_WALLET'" });
    const { body } = await root.query('describe_policies', {});
    expect(body.descriptions).toEqual([
      expect.objectContaining({
        policyId,
        text: 'Anyone may create a wallet, alone.',
        risk: 'LOOK_CLOSELY',
        changes: [],
      }),
    ]);
    const other = await newOrganization(parent);
    expect((await other.root.query('describe_policies', { policyIds: [policyId] })).body.descriptions).toEqual([]);
  });

  test('velocity use is what the next activity is measured by', async () => {
    const { root, alice } = await newOrganization(parent, 'alice');
    await allow(root, {});
    const control = {
      name: 'Tags',
      dataSource: { activityExecution: {} },
      aggregation: {
        method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_COUNT',
        operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL',
        threshold: '5',
        window: { rolling: { duration: '24h' } },
        groupBy: { user: {} },
      },
      identifier: `tags ${randomUUID()}`,
    };
    const { velocityControlId } = await root.run('create_velocity_control', control);
    for (const _ of [1, 2]) expect((await rename(alice)).status).toBe(200);
    const { usage } = (await alice.query('list_velocity_usage', {})).body;
    expect(usage).toEqual([
      {
        velocityControlId,
        name: 'Tags',
        aggregate: '2',
        threshold: '5',
        operator: control.aggregation.operator,
        windowSeconds: 86_400,
        groups: [{ key: alice.userId, name: expect.any(String), aggregate: '2' }],
        text: expect.stringMatching(/^2 of 5 activities used in the last 24 hours by .*, the user that used most$/),
      },
    ]);
  });
});
