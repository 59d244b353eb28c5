import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WebhookEndpoint } from '../../../src/domains/webhooks/model.ts';
import { WebhookStore } from '../../../src/domains/webhooks/store/webhooks.ts';
import type { OrganizationId } from '../../../src/lib/ids.ts';
import type { Answer, TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import { deploymentParams, newApp } from '../../harness/deployments.ts';
import { COMPLETED, outcome, times } from '../fixtures/access.ts';
import { BATCHED, EarnWorld, VAULT } from '../fixtures/earn.ts';
import { LOOPBACK } from '../fixtures/oauth.ts';
import { newWallet } from '../fixtures/wallets.ts';

const DONE = [200, COMPLETED];
const FULL = [429, 'RESOURCE_LIMIT_EXCEEDED'];

const endpoint = () => ({ url: 'http://127.0.0.1:9/hook', name: randomUUID() });
const mfaPolicy = (userId: string) => ({
  userId,
  mfaPolicyName: randomUUID(),
  condition: 'false',
  requiredAuthenticationMethods: [{ any: [{ type: 'AUTHENTICATION_TYPE_API_KEY' }] }],
  order: 0,
});

/** So many of the requests at once are done; the others are told the limit. */
async function expectRoomFor(count: number, sentence: string, requests: readonly (() => Promise<Answer>)[]) {
  const answers = await Promise.all(requests.map((request) => request()));
  const outcomes = answers.map(outcome);
  expect(outcomes.filter(([status]) => status === 200)).toEqual(times(count, () => DONE));
  expect(outcomes.filter(([status]) => status !== 200)).toEqual(times(requests.length - count, () => FULL));
  for (const { body } of answers.filter(({ status }) => status !== 200)) expect(body.message).toBe(sentence);
}

describe.each(databasesOf(import.meta.url))('counts that an operator sets on %s', (database) => {
  let world: EarnWorld;
  let root: TestClient;

  beforeAll(async () => {
    world = await EarnWorld.open(database, {
      ...LOOPBACK,
      CUSTOS_LIMIT_WEBHOOK_ENDPOINTS: '2',
      CUSTOS_LIMIT_MFA_POLICIES: '2',
      CUSTOS_LIMIT_EARN_WRAPPERS: '2',
      CUSTOS_LIMIT_DEPLOYMENTS: '2',
    });
    root = world.test.root;
  });
  afterAll(async () => await world[Symbol.asyncDispose]());

  test('webhook endpoints of an organization, the one of the feature aside', async () => {
    const name = 'FEATURE_NAME_WEBHOOK';
    await root.run('set_organization_feature', { name, value: 'http://127.0.0.1:9/feature' });
    const create = () => root.submit('create_webhook_endpoint', endpoint());
    await expectRoomFor(
      2,
      'an organization can have at most 2 webhook endpoints',
      times(5, () => create),
    );
    const { webhookEndpoints } = (await root.query('list_webhook_endpoints')).body;
    expect(webhookEndpoints).toHaveLength(3);
    await root.run('delete_webhook_endpoint', { endpointId: webhookEndpoints[1].endpointId });
    expect(outcome(await create())).toEqual(DONE);
  });

  test('MFA policies of a user', async () => {
    const create = () => root.submit('create_mfa_policy', mfaPolicy(root.userId));
    await expectRoomFor(
      2,
      'a user can have at most 2 MFA policies',
      times(5, () => create),
    );
  });

  test('fee wrappers of an organization', async () => {
    const [clientFeeWallet] = (await newWallet(root)).addresses;
    const deploy = (clientFeeBps: string) => () =>
      root.submit('earn_deploy_wrapper', { vaultAddress: VAULT, chainCaip2: BATCHED, clientFeeBps, clientFeeWallet });
    const requests = ['1', '2', '3', '4'].map(deploy);
    await expectRoomFor(2, 'an organization can have at most 2 fee wrappers', requests);
  });

  test('deployments of an app, deleted ones aside', async () => {
    const app = await newApp(root);
    const create = () => root.submit('create_tvc_deployment', deploymentParams(app.appId));
    const sentence = 'an app can have at most 2 deployments; delete those that nobody needs';
    await expectRoomFor(
      2,
      sentence,
      times(5, () => create),
    );
    const { tvcDeployments } = (await root.query('list_tvc_app_deployments', { appId: app.appId })).body;
    const deploymentId = tvcDeployments[0].id;
    await root.run('delete_tvc_deployment', { deploymentId });
    expect(outcome(await create())).toEqual(DONE);
    const restored = await root.submit('restore_tvc_deployment', { deploymentId });
    expect(outcome(restored)).toEqual(FULL);
    expect(restored.body.message).toBe(sentence);
  });
});

describe.each(databasesOf(import.meta.url))('without a setting on %s', (database) => {
  test('there is no count, and deliveries of many endpoints are listed', async () => {
    await using world = await EarnWorld.open(database, LOOPBACK);
    const { root, app } = world.test;
    for (const made of times(25, endpoint)) await root.run('create_webhook_endpoint', made);
    const add = (count: number) =>
      app.storage.write(async (store) => {
        const [like] = await store(WebhookStore).endpoints(root.organizationId as OrganizationId);
        for (const { name } of times(count, endpoint)) {
          await store(WebhookStore).insertEndpoint({ ...(like as WebhookEndpoint), id: app.newId(), name });
        }
      });
    await add(35);
    expect((await root.query('list_webhook_endpoints')).body.webhookEndpoints).toHaveLength(60);
    const deliveries = await root.query('list_webhook_deliveries', { paginationOptions: { limit: '5' } });
    expect([deliveries.status, deliveries.body.webhookDeliveries]).toEqual([200, []]);
    const failed = await root.query('list_webhook_deliveries', { state: 'WEBHOOK_DELIVERY_STATE_FAILED' });
    expect(failed.status).toBe(200);
    // One event must not become thousands of deliveries, by whom it may be.
    await add(40);
    const answer = await root.submit('create_webhook_endpoint', endpoint());
    expect(outcome(answer)).toEqual(FULL);
    expect(answer.body.message).toContain('4000000 bytes');
  });
});
