import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import type { TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import { addPasskey, outcome, UNPROVEN } from '../fixtures/access.ts';
import {
  ALLOWED,
  allow,
  approve,
  DENIED,
  deny,
  evaluationsOf,
  hasTag,
  newOrganization,
  newTag,
  outcomesOf,
  REJECTED,
  reject,
  rename,
  WAITS,
} from '../fixtures/policy-flows.ts';

// Every outcome that get_policy_evaluations names is one that it produces.

const USER = "activity.resource == 'USER'";
const PAST = "time.now < Timestamp('2020-01-01T00:00:00Z')";

const said = async (client: TestClient, activityId: string) =>
  (await evaluationsOf(client, activityId)).map((record) => outcomesOf(record.policyEvaluations));

describe.each(databasesOf(import.meta.url))('the outcomes of policies on %s', (database) => {
  let app: TestApp;
  let parent: TestClient;

  beforeAll(async () => {
    app = await openTestApp(database);
    parent = app.root;
  });
  afterAll(async () => app?.[Symbol.asyncDispose]());

  test('allowed, not applicable, failed and inactive; then denied', async () => {
    const { root, alice } = await newOrganization(parent, 'alice');
    const allowing = await allow(root, { condition: USER });
    const other = await allow(root, { condition: "activity.resource == 'WALLET'" });
    const failing = await allow(root, { condition: 'eth.tx.value > 1' });
    const inactive = await allow(root, { condition: USER, time: PAST });
    const done = await rename(alice);
    expect(outcome(done)).toEqual(ALLOWED);
    const first = {
      [allowing]: 'OUTCOME_ALLOW',
      [other]: 'OUTCOME_DENY_IMPLICIT',
      [failing]: 'OUTCOME_ERROR',
      [inactive]: 'OUTCOME_TIME_INACTIVE',
    };
    expect(await said(alice, done.body.activity.id)).toEqual([first]);

    const denying = await deny(root, { condition: USER });
    const denied = await rename(alice);
    expect(outcome(denied)).toEqual(DENIED);
    const { activities } = (await root.query('list_activities', { filterByStatus: [REJECTED] })).body;
    expect(await said(alice, activities[0].id)).toEqual([{ ...first, [denying]: 'OUTCOME_DENY_EXPLICIT' }]);
  });

  test('waiting for approvals, and rejected', async () => {
    const { root, alice, bob } = await newOrganization(parent, 'alice', 'bob');
    const tagId = await newTag(root, alice, bob);
    const waiting = await allow(root, { condition: USER, consensus: hasTag(tagId, 2) });
    const other = await allow(root, { condition: "activity.resource == 'WALLET'" });
    const proposed = await rename(alice);
    expect(outcome(proposed)).toEqual(WAITS);
    const { id, fingerprint } = proposed.body.activity;
    const first = { [waiting]: 'OUTCOME_REQUIRES_CONSENSUS', [other]: 'OUTCOME_DENY_IMPLICIT' };
    expect(await said(alice, id)).toEqual([first]);
    expect(outcome(await reject(bob, fingerprint))).toEqual([200, REJECTED]);
    expect(await said(alice, id)).toEqual([first, { [waiting]: 'OUTCOME_REJECTED' }]);
  });

  test('waiting for a factor, and then allowed', async () => {
    const { root, alice } = await newOrganization(parent, 'alice');
    const allowing = await allow(root, { condition: USER });
    const other = await allow(root, { condition: "activity.resource == 'WALLET'" });
    const passkey = await addPasskey(alice, root);
    await root.run('create_mfa_policy', {
      userId: alice.userId,
      mfaPolicyName: randomUUID(),
      condition: 'true',
      requiredAuthenticationMethods: [
        { any: [{ type: 'AUTHENTICATION_TYPE_API_KEY' }] },
        { any: [{ type: 'AUTHENTICATION_TYPE_PASSKEY' }] },
      ],
      order: 1,
    });
    const proposed = await rename(alice);
    expect(outcome(proposed)).toEqual([200, UNPROVEN]);
    const { id, fingerprint } = proposed.body.activity;
    const first = { [allowing]: 'OUTCOME_REQUIRES_AUTHENTICATORS', [other]: 'OUTCOME_DENY_IMPLICIT' };
    expect(await said(root, id)).toEqual([first]);
    expect(outcome(await approve(passkey, fingerprint))).toEqual(ALLOWED);
    expect(await said(root, id)).toEqual([first, { ...first, [allowing]: 'OUTCOME_ALLOW' }]);
  });
});
