import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { createSubOrganization, createUser, type TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import {
  addPasskey,
  approve,
  Caller,
  COMPLETED,
  outcome,
  PENDING,
  policyFor,
  propose,
  REJECTED,
  read,
  reject,
  UNPROVEN,
} from '../fixtures/access.ts';
import { enforce, KEY_THEN_PASSKEY, proven } from './support.ts';

const DAY = 24 * 60 * 60 * 1000;

describe.each(databasesOf(import.meta.url))('MFA and time on %s', (database) => {
  let app: TestApp;
  let root: TestClient;
  let offset = 0;

  beforeAll(async () => {
    app = await openTestApp(database);
    root = new Caller(app.root, { offsetMs: () => offset });
  });
  afterAll(() => app?.[Symbol.asyncDispose]());

  const advance = (milliseconds: number) => {
    offset += milliseconds;
    app.advance(milliseconds);
  };

  async function armedUser() {
    const user = await createUser(root, `user ${randomUUID()}`);
    await policyFor(root, user);
    const passkey = await addPasskey(user);
    await enforce(root, user, KEY_THEN_PASSKEY);
    return { user, passkey };
  }

  test('proofs hold for a day', async () => {
    const { user, passkey } = await armedUser();
    const { fingerprint } = (await propose(user)).body.activity;
    advance(DAY - 60_000);
    expect(outcome(await approve(passkey, fingerprint))).toEqual([200, COMPLETED]);
  });

  test('after a day they lapse: all steps are proven again, from the first', async () => {
    const { user, passkey } = await armedUser();
    const { id, fingerprint } = (await propose(user)).body.activity;
    advance(DAY);
    // The missing factor of the old round comes too early in the new one.
    expect(outcome(await approve(passkey, fingerprint))).toEqual([200, UNPROVEN]);
    expect(await proven(user, id)).toBe(0);
    expect(outcome(await approve(user, fingerprint))).toEqual([200, UNPROVEN]);
    expect(await proven(user, id)).toBe(1);
    expect(outcome(await approve(passkey, fingerprint))).toEqual([200, COMPLETED]);
  });

  test('the steps of a lapsed activity stay those it began with', async () => {
    const { user, passkey } = await armedUser();
    const { fingerprint } = (await propose(user)).body.activity;
    const { mfaPolicies } = (await root.query('get_mfa_policies', { userId: user.userId })).body;
    await root.run('delete_mfa_policy', { userId: user.userId, mfaPolicyId: mfaPolicies[0].mfaPolicyId });
    advance(DAY);
    expect(outcome(await approve(user, fingerprint))).toEqual([200, UNPROVEN]);
    expect(outcome(await approve(passkey, fingerprint))).toEqual([200, COMPLETED]);
  });

  test('when approvals lapse, so do the proofs behind them, of proposer and approver', async () => {
    const sub = new Caller(await createSubOrganization(root, `Org ${randomUUID()}`), { offsetMs: () => offset });
    const other = await createUser(sub, 'other');
    const third = await createUser(sub, 'third');
    const [subPasskey, otherPasskey] = [await addPasskey(sub), await addPasskey(other, sub)];
    const condition = "activity.type == 'ACTIVITY_TYPE_CREATE_USER_TAG'";
    for (const client of [sub, other]) await enforce(sub, client, KEY_THEN_PASSKEY, { condition });
    await sub.run('update_root_quorum', { threshold: 3, userIds: [sub, other, third].map(({ userId }) => userId) });
    const { id, fingerprint } = (await propose(sub)).body.activity;
    expect(outcome(await approve(subPasskey, fingerprint))).toEqual([200, PENDING]);
    await approve(other, fingerprint);
    expect(outcome(await approve(otherPasskey, fingerprint))).toEqual([200, PENDING]);
    advance(DAY + 1);
    // A new round begins with the one who has nothing to prove.
    expect(outcome(await approve(third, fingerprint))).toEqual([200, PENDING]);
    for (const [key, passkey, status] of [
      [other, otherPasskey, PENDING],
      [sub, subPasskey, COMPLETED],
    ] as const) {
      expect(outcome(await approve(passkey, fingerprint))).toEqual([200, UNPROVEN]);
      expect(outcome(await approve(key, fingerprint))).toEqual([200, UNPROVEN]);
      expect((await read(third, id)).status).toBe(PENDING);
      expect(outcome(await approve(passkey, fingerprint))).toEqual([200, status]);
    }
  });

  test('a lapsed approval can be given again, and the flags say so', async () => {
    const [a, b] = [await createUser(root, randomUUID()), await createUser(root, randomUUID())];
    const consensus = [a, b].map(({ userId }) => `approvers.any(user, user.id == '${userId}')`).join(' && ');
    await policyFor(root, a, { consensus });
    const { id, fingerprint } = (await propose(a)).body.activity;
    expect(await read(a, id)).toMatchObject({ canApprove: false, canReject: true });
    advance(DAY);
    for (const client of [a, b]) expect(await read(client, id)).toMatchObject({ canApprove: true, canReject: true });
    expect(outcome(await approve(a, fingerprint))).toEqual([200, PENDING]);
    expect(outcome(await approve(b, fingerprint))).toEqual([200, COMPLETED]);
  });

  test('a lapsed submission can still be withdrawn', async () => {
    const { user, passkey } = await armedUser();
    const { fingerprint } = (await propose(user)).body.activity;
    advance(3 * DAY);
    expect(outcome(await reject(user, fingerprint))).toEqual([200, REJECTED]);
    expect(outcome(await approve(passkey, fingerprint))).toEqual([200, REJECTED]);
  });
});
