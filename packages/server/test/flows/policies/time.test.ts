import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { createUser, type TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import {
  ALLOWED,
  allow,
  approve,
  ClockClient,
  DENIED,
  denialOf,
  deny,
  outcome,
  read,
  rename,
  setClock,
  WAITS,
} from '../fixtures/policy-flows.ts';

describe.each(databasesOf(import.meta.url))('policies and time on %s', (database) => {
  let app: TestApp;
  let root: TestClient;
  let alice: TestClient;

  beforeAll(async () => {
    app = await openTestApp(database);
    root = new ClockClient(app.app.clock, app.root);
    alice = await createUser(root, 'alice');
  });
  afterAll(() => app[Symbol.asyncDispose]());

  const at = (text: string) => setClock(app, Date.parse(text));
  const HOURS = "CronSpan('0 9 * * 1-5', '8h', 'America/New_York')";

  test('business hours', async () => {
    at('2031-01-06T12:00:00Z');
    const policyId = await allow(root, { condition: "activity.kind == 'UPDATE_USER_NAME'", time: HOURS });
    for (const [text, isOpen] of [
      // A Monday in winter: 09:00 in New York is 14:00 UTC.
      ['2031-01-06T13:58:00Z', false],
      ['2031-01-06T14:00:00Z', true],
      ['2031-01-06T21:58:00Z', true],
      ['2031-01-06T22:00:00Z', false],
      // Friday, Saturday, Sunday.
      ['2031-01-10T15:00:00Z', true],
      ['2031-01-11T15:00:00Z', false],
      ['2031-01-12T15:00:00Z', false],
      // In summer it is 13:00 UTC.
      ['2031-07-07T12:58:00Z', false],
      ['2031-07-07T13:00:00Z', true],
      ['2031-07-07T20:58:00Z', true],
      ['2031-07-07T21:00:00Z', false],
    ] as const) {
      at(text);
      const answer = await rename(alice);
      expect(outcome(answer), text).toEqual(isOpen ? ALLOWED : DENIED);
      const { statuses } = (await root.query('get_active_policies')).body;
      expect(statuses, text).toMatchObject([{ policyId, active: isOpen, timeExpr: HOURS }]);
      if (isOpen) continue;
      expect(denialOf(answer).policyEvaluations, text).toMatchObject([
        { policyId, outcome: 'OUTCOME_TIME_INACTIVE', reason: 'TIME_INACTIVE' },
      ]);
    }
    await root.run('delete_policy', { policyId });
  });

  test('a denial outside of hours, written with a negation', async () => {
    at('2031-02-03T15:00:00Z');
    const policies = [await allow(root), await deny(root, { time: `!${HOURS}` })];
    expect(outcome(await rename(alice))).toEqual(ALLOWED);
    at('2031-02-03T23:00:00Z');
    const answer = await rename(alice);
    expect(outcome(answer)).toEqual(DENIED);
    expect(denialOf(answer).message).toContain(policies[1]);
    // The quorum is not bound to hours.
    expect(outcome(await rename(root))).toEqual(ALLOWED);
    await root.run('delete_policies', { policyIds: policies });
  });

  test('the hour of the vote counts, not that of the submission', async () => {
    const bob = await createUser(root, `bob ${randomUUID()}`);
    at('2031-03-03T21:00:00Z');
    const policyId = await allow(root, { consensus: 'approvers.count() >= 2', time: HOURS });
    const pending = await rename(alice);
    expect(outcome(pending)).toEqual(WAITS);
    const { fingerprint, id } = pending.body.activity;
    at('2031-03-03T23:00:00Z');
    expect(outcome(await approve(bob, fingerprint))).toEqual(DENIED);
    expect((await read(root, id)).votes).toHaveLength(1);
    at('2031-03-04T14:30:00Z');
    expect(outcome(await approve(bob, fingerprint))).toEqual(ALLOWED);
    await root.run('delete_policy', { policyId });
  });

  test('until a date', async () => {
    at('2031-04-01T00:00:00Z');
    const until = await allow(root, { time: "time.now < Timestamp('2031-04-02T00:00:00Z')" });
    expect(outcome(await rename(alice))).toEqual(ALLOWED);
    at('2031-04-02T00:00:00Z');
    expect(outcome(await rename(alice))).toEqual(DENIED);
    const timeless = await allow(root, { condition: 'false' });
    const { statuses, evaluatedAtMs } = (await root.query('get_active_policies')).body;
    expect(statuses).toMatchObject([
      { policyId: until, active: false },
      { policyId: timeless, active: true },
    ]);
    expect(statuses[1]).not.toHaveProperty('timeExpr');
    expect(Number(evaluatedAtMs)).toBeGreaterThanOrEqual(Date.parse('2031-04-02T00:00:00Z'));
    await root.run('delete_policies', { policyIds: [until, timeless] });
  });
});
