import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../harness/app.ts';
import type { TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import {
  ALLOWED,
  allow,
  approve,
  DENIED,
  denialOf,
  deny,
  evaluationsOf,
  hasTag,
  isUser,
  newOrganization,
  newTag,
  outcome,
  outcomesOf,
  read,
  reject,
  rename,
  WAITS,
} from './fixtures/policy-flows.ts';

interface Tree {
  readonly text: string;
  readonly decisive: boolean;
  readonly value?: string;
  readonly error?: { code: string; message: string };
  readonly children: readonly Tree[];
}

/** The smallest parts that the result follows from. */
const decisive = (tree: Tree): string[] => {
  if (!tree.decisive) return [];
  const below = tree.children.flatMap(decisive);
  return below.length > 0 ? below : [tree.text];
};

/** Every part of a tree by its text. */
const parts = (tree: Tree): Tree[] => [tree, ...tree.children.flatMap(parts)];
const partOf = (tree: Tree, text: string): Tree | undefined => parts(tree).find((part) => part.text === text);

describe.each(databasesOf(import.meta.url))('explanations on %s', (database) => {
  let service: TestApp;
  let parent: TestClient;

  beforeAll(async () => {
    service = await openTestApp(database);
    parent = service.root;
  });
  afterAll(() => service[Symbol.asyncDispose]());

  describe('get_policy_evaluations', () => {
    test('has one record for each vote, in their order', async () => {
      const { root, alice, bob, carol } = await newOrganization(parent, 'alice', 'bob', 'carol');
      const tagId = await newTag(root, alice, bob, carol);
      const waiting = await allow(root, { condition: "activity.resource == 'USER'", consensus: hasTag(tagId, 3) });
      const other = await allow(root, { condition: "activity.resource == 'WALLET'" });
      const { fingerprint, id } = (await rename(alice)).body.activity;
      await approve(bob, fingerprint);
      const done = (await approve(carol, fingerprint)).body.activity;
      const records = await evaluationsOf(alice, id);
      expect(records.map((record) => outcomesOf(record.policyEvaluations))).toEqual([
        { [waiting]: 'OUTCOME_REQUIRES_CONSENSUS', [other]: 'OUTCOME_DENY_IMPLICIT' },
        { [waiting]: 'OUTCOME_REQUIRES_CONSENSUS', [other]: 'OUTCOME_DENY_IMPLICIT' },
        { [waiting]: 'OUTCOME_ALLOW', [other]: 'OUTCOME_DENY_IMPLICIT' },
      ]);
      for (const [index, vote] of done.votes.entries()) {
        expect(records[index]).toMatchObject({
          activityId: id,
          organizationId: alice.organizationId,
          voteId: vote.id,
          createdAt: vote.createdAt,
        });
        expect(records[index].id).toEqual(expect.any(String));
        // Policies by their time of creation.
        expect(records[index].policyEvaluations.map((entry: { policyId: string }) => entry.policyId)).toEqual([
          waiting,
          other,
        ]);
      }
      expect(new Set(records.map((record) => record.id)).size).toBe(3);
    });

    test('says nothing where the root quorum decided', async () => {
      const { root, alice } = await newOrganization(parent, 'alice');
      await deny(root);
      const { id } = (await rename(root)).body.activity;
      expect(await evaluationsOf(alice, id)).toMatchObject([{ activityId: id, policyEvaluations: [] }]);
    });

    test('keeps what was said then, whatever became of the policy', async () => {
      const { root, alice } = await newOrganization(parent, 'alice');
      const policyId = await allow(root, { name: 'As it was', condition: "activity.resource == 'USER'" });
      const { id } = (await rename(alice)).body.activity;
      const before = await evaluationsOf(alice, id);
      expect(before[0].policyEvaluations).toMatchObject([
        { policyId, policyName: 'As it was', effect: 'EFFECT_ALLOW' },
      ]);
      await root.run('update_policy', { policyId, policyName: 'As it is', policyEffect: 'EFFECT_DENY' });
      await root.run('delete_policy', { policyId });
      expect(await evaluationsOf(alice, id)).toEqual(before);
    });

    test('tells the same as the denial', async () => {
      const { root, alice } = await newOrganization(parent, 'alice');
      await allow(root, { condition: 'eth.tx.value > 1' });
      await deny(root);
      await allow(root, { time: "time.now < Timestamp('2020-01-01T00:00:00Z')" });
      const answer = await rename(alice);
      const { activityId, policyEvaluations } = denialOf(answer);
      expect(policyEvaluations.map((entry: { outcome: string }) => entry.outcome)).toEqual([
        'OUTCOME_ERROR',
        'OUTCOME_DENY_EXPLICIT',
        'OUTCOME_TIME_INACTIVE',
      ]);
      const [record, ...rest] = await evaluationsOf(alice, activityId);
      expect(rest).toEqual([]);
      expect(outcomesOf(record.policyEvaluations)).toEqual(outcomesOf(policyEvaluations));
      expect(record.policyEvaluations[0].error).toMatchObject({ expression: 'condition', code: 'R_MISSING_FIELD' });
    });

    test('of a rejected activity has a record for the rejection too, of what still waited', async () => {
      const { root, alice, bob } = await newOrganization(parent, 'alice', 'bob');
      await allow(root, { consensus: 'approvers.count() >= 2' });
      const { fingerprint, id } = (await rename(alice)).body.activity;
      await reject(bob, fingerprint);
      const records = await evaluationsOf(alice, id);
      expect(records.map((record) => Object.values(outcomesOf(record.policyEvaluations)))).toEqual([
        ['OUTCOME_REQUIRES_CONSENSUS'],
        ['OUTCOME_REJECTED'],
      ]);
      expect(records.map((record) => record.voteId)).toEqual(
        (await read(alice, id)).votes.map((vote: { id: string }) => vote.id),
      );
    });

    test('is for the users of the organization and of its parent', async () => {
      const { root, alice, bob } = await newOrganization(parent, 'alice', 'bob');
      const other = await newOrganization(parent, 'eve');
      await allow(root);
      const { id: activityId } = (await rename(alice)).body.activity;
      expect(await evaluationsOf(bob, activityId)).toHaveLength(1);
      const above = await parent.query('get_policy_evaluations', { organizationId: alice.organizationId, activityId });
      expect(above.body.policyEvaluations).toEqual(await evaluationsOf(alice, activityId));
      expect((await other.eve.query('get_policy_evaluations', { activityId })).status).toBe(404);
      const foreign = await other.eve.query('get_policy_evaluations', {
        organizationId: alice.organizationId,
        activityId,
      });
      expect(foreign.status).toBe(401);
      expect((await alice.query('get_policy_evaluations', { activityId: randomUUID() })).status).toBe(404);
      expect((await alice.query('get_policy_evaluations', {})).status).toBe(400);
    });
  });

  describe('the tree', () => {
    test('shows each part, its value, and which part decided', async () => {
      const { root, alice } = await newOrganization(parent, 'alice');
      const left = "activity.resource == 'USER'";
      const right = "activity.action == 'DELETE'";
      await allow(root, { condition: `${left} && ${right}`, consensus: isUser(alice) });
      const answer = await rename(alice);
      const [{ policyEvaluations }] = await evaluationsOf(alice, denialOf(answer).activityId);
      const { conditions, consensus } = policyEvaluations[0].trace;
      expect(conditions).toHaveLength(1);
      const tree: Tree = conditions[0];
      expect(tree).toMatchObject({ text: `${left} && ${right}`, value: 'false', decisive: true });
      expect(partOf(tree, left)).toMatchObject({ value: 'true', decisive: false });
      expect(partOf(tree, right)).toMatchObject({ value: 'false', decisive: true });
      expect(partOf(tree, 'activity.action')).toMatchObject({ value: "'UPDATE'" });
      expect(decisive(tree)).toEqual([right]);
      // Whose turn never came is not in the tree.
      expect(consensus).toBeUndefined();
    });

    test.each([
      ["activity.resource == 'X' || activity.action == 'UPDATE'", 'OUTCOME_ALLOW', ["activity.action == 'UPDATE'"]],
      [
        "activity.resource == 'USER' && activity.action == 'UPDATE'",
        'OUTCOME_ALLOW',
        ["activity.resource == 'USER'", "activity.action == 'UPDATE'"],
      ],
      ["!(activity.resource == 'USER')", 'OUTCOME_DENY_IMPLICIT', ["activity.resource == 'USER'"]],
      ["activity.resource == 'USER' || eth.tx.value > 1", 'OUTCOME_ERROR', undefined],
    ])('of %s', async (condition, said, reasons) => {
      const { root, alice } = await newOrganization(parent, 'alice');
      await allow(root, { condition });
      const answer = await rename(alice);
      expect(outcome(answer)).toEqual(said === 'OUTCOME_ALLOW' ? ALLOWED : DENIED);
      const activityId = answer.body.activity?.id ?? denialOf(answer).activityId;
      const [{ policyEvaluations }] = await evaluationsOf(alice, activityId);
      expect(policyEvaluations[0].outcome).toBe(said);
      const tree: Tree = policyEvaluations[0].trace.conditions[0];
      if (reasons !== undefined) {
        expect(decisive(tree)).toEqual(reasons);
        return;
      }
      expect(tree.error?.code).toBe('R_MISSING_FIELD');
      for (const text of decisive(tree)) expect(text).toContain('eth');
      expect(partOf(tree, "activity.resource == 'USER'")).toMatchObject({ decisive: false });
    });

    test('of a consensus shows why it is not met yet', async () => {
      const { root, alice, bob } = await newOrganization(parent, 'alice', 'bob');
      await allow(root, { consensus: `${isUser(alice)} && ${isUser(bob)}` });
      const pending = await rename(alice);
      expect(outcome(pending)).toEqual(WAITS);
      const { fingerprint, id } = pending.body.activity;
      await approve(bob, fingerprint);
      const records = await evaluationsOf(alice, id);
      const trees = records.map(({ policyEvaluations }): Tree => policyEvaluations[0].trace.consensus);
      expect(trees.map(({ value }) => value)).toEqual(['false', 'true']);
      expect(decisive(trees[0] as Tree)).toEqual([isUser(bob)]);
      expect(partOf(trees[0] as Tree, isUser(alice))).toMatchObject({ value: 'true' });
    });

    test('of a time expression that does not hold', async () => {
      const { root, alice } = await newOrganization(parent, 'alice');
      const time = "time.now < Timestamp('2020-01-01T00:00:00Z')";
      await allow(root, { condition: 'true', time });
      const [{ policyEvaluations }] = await evaluationsOf(alice, denialOf(await rename(alice)).activityId);
      expect(policyEvaluations[0]).toMatchObject({ outcome: 'OUTCOME_TIME_INACTIVE', reason: 'TIME_INACTIVE' });
      expect(policyEvaluations[0].trace).toMatchObject({ time: { text: time, value: 'false' }, conditions: [] });
    });

    test('of very many and very large policies keeps those that decided', async () => {
      const { root, alice } = await newOrganization(parent, 'alice');
      const large = (name: string) =>
        Array.from({ length: 100 }, (_, index) => `activity.kind == '${name} ${index}'`).join(' || ');
      for (const name of ['A', 'B', 'C', 'D', 'E', 'F']) await allow(root, { condition: large(name) });
      const denial = await deny(root, { condition: "activity.kind == 'UPDATE_USER_NAME'" });
      const answer = await rename(alice);
      const { activityId } = denialOf(answer);
      const [{ policyEvaluations }] = await evaluationsOf(alice, activityId);
      expect(policyEvaluations).toHaveLength(7);
      const deciding = policyEvaluations.find((entry: { policyId: string }) => entry.policyId === denial);
      expect(decisive(deciding.trace.conditions[0])).toEqual(["activity.kind == 'UPDATE_USER_NAME'"]);
      const size = policyEvaluations
        .flatMap((entry: { trace?: { conditions: Tree[] } }) => entry.trace?.conditions ?? [])
        .reduce((sum: number, tree: Tree) => sum + parts(tree).length, 0);
      expect(size).toBeLessThanOrEqual(400);
    });
  });

  describe('get_active_policies', () => {
    test('tells which policies count at this moment', async () => {
      const { root, alice } = await newOrganization(parent, 'alice');
      const always = await allow(root, { condition: 'false' });
      const past = await allow(root, { time: "time.now < Timestamp('2020-01-01T00:00:00Z')" });
      const future = await deny(root, { time: "time.now < Timestamp('2999-01-01T00:00:00Z')" });
      const { statuses, evaluatedAtMs, pageInfo } = (await alice.query('get_active_policies')).body;
      const { organizationId } = root;
      expect(statuses).toEqual([
        { organizationId, policyId: always, active: true },
        { organizationId, policyId: past, active: false, timeExpr: "time.now < Timestamp('2020-01-01T00:00:00Z')" },
        { organizationId, policyId: future, active: true, timeExpr: "time.now < Timestamp('2999-01-01T00:00:00Z')" },
      ]);
      expect(evaluatedAtMs).toMatch(/^\d{13}$/);
      expect(pageInfo).toMatchObject({ startCursor: always, endCursor: future });
      const page = await alice.query('get_active_policies', { paginationOptions: { limit: '1', after: always } });
      expect(page.body.statuses).toEqual([statuses[1]]);
      const above = await parent.query('get_active_policies', { organizationId });
      expect(above.body.statuses).toEqual(statuses);
    });
  });
});
