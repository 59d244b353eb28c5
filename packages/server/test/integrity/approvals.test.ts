import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { approve, outcome, propose, reject } from '../flows/fixtures/access.ts';
import { loginParameters, REFUSED_TOKEN } from '../flows/fixtures/logins.ts';
import { API_KEY, enforce, KEY_THEN_PASSKEY, PASSKEY, step } from '../flows/mfa/support.ts';
import { newKeyPair, type TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { type Attack, Attacked, DONE, OWES, type Row, type Scenes, WAITS } from './attacks.ts';

// Somebody who can write to the database, and has no key of the service, changes what was asked for, approved and proven.

const NO_ACTIVITY = [404, 'ACTIVITY_NOT_FOUND'];

const proposed = (client: TestClient) => async (): Promise<Row> => (await propose(client)).body.activity;
const approved = (client: TestClient) => (activity: Row) => approve(client, String(activity['fingerprint']));

const SCENES: Scenes = {
  async activity(attacked) {
    const { root, second, works, id } = await attacked.newQuorum(2);
    const others = await attacked.newQuorum(2);
    const rows = attacked.rowsOf('activity', id);
    const row = await rows.find({ id: (await proposed(root)())['id'] });
    const hope = approved(second);
    const changed = (change: (row: Row) => Row): Attack => ({
      make: proposed(root),
      before: DONE,
      hope,
      forge: async ({ id }) => await rows.update(change(await rows.find({ id })), { id }),
    });
    return {
      rows,
      works,
      attacks: {
        'one is made': {
          make: async () => ({ fingerprint: `sha256:${randomBytes(32).toString('hex')}` }),
          before: NO_ACTIVITY,
          hope,
          forge: ({ fingerprint }) => rows.insert({ ...row, id: randomUUID(), fingerprint }),
        },
        'one of another organization': {
          make: proposed(others.root),
          before: NO_ACTIVITY,
          hope,
          forge: async (activity) => {
            const theirs = await attacked.rowsOf('activity', others.id).find({ id: activity['id'] });
            await rows.insert({ ...theirs, organization_id: id });
          },
        },
        'other parameters': changed(({ body }) => ({
          body: String(body).replace(/"userTagName":"./, '"userTagName":"x'),
        })),
        'another operation': changed(() => ({ operation: 'delete_user_tags' })),
        'another proposer': changed(() => ({ proposer_id: second.userId })),
        'another authority': changed(() => ({ authority_id: attacked.thief.organizationId })),
        'a later round': changed(() => ({ round_started_at_ms: Date.now() + 1 })),
        'open again': {
          ...changed(() => ({ status: WAITS[1] })),
          before: [400, 'ACTIVITY_ALREADY_DECIDED'],
          make: async () => {
            const { fingerprint } = await proposed(root)();
            return (await reject(second, String(fingerprint))).body.activity;
          },
        },
      },
    };
  },

  async vote(attacked) {
    const { root, second, third, works, id } = await attacked.newQuorum(3);
    const others = await attacked.newQuorum(2);
    const rows = attacked.rowsOf('vote', id);
    const { id: activity_id } = await proposed(others.root)();
    const theirs = await attacked.rowsOf('vote', others.id).find({ activity_id });
    const user_id = second.userId;
    /** Two have approved, as the thief has it. */
    const attack = (forge: Attack['forge']): Attack => ({
      make: proposed(root),
      before: WAITS,
      hope: approved(third),
      forge,
    });
    const made = (mark: Row) =>
      attack(async ({ id: activity_id }) =>
        rows.insert({ ...(await rows.find({ activity_id })), id: randomUUID(), user_id, ...mark }),
      );
    const changed = (change: Row) => attack(({ id: activity_id }) => rows.update(change, { activity_id }));
    return {
      rows,
      works,
      attacks: {
        'one is made': made({ vote_mac: null }),
        'one is made under the mark of another': made({}),
        'one of another organization': attack(({ id: activity_id }) =>
          rows.insert({ ...theirs, organization_id: id, activity_id, user_id }),
        ),
        'another user': changed({ user_id }),
        'another selection': changed({ selection: 'VOTE_SELECTION_REJECTED' }),
        'the user was another': changed({ user_snapshot: '{}' }),
        'another credential': changed({ credential_id: randomUUID() }),
        'one that does not count': changed({ counts: 0 }),
        'a later round': changed({ round_started_at_ms: Date.now() + 1 }),
      },
    };
  },

  async mfa_requirement(attacked) {
    const armed = () => attacked.newQuorum(2, (root, second) => enforce(root, second, KEY_THEN_PASSKEY));
    const [{ root, second, works, id }, others] = [await armed(), await armed()];
    /** One has approved with the first of two factors. */
    const begun = (proposer: TestClient, voter: TestClient) => async () => {
      const activity = await proposed(proposer)();
      expect(outcome(await approved(voter)(activity))).toEqual(OWES);
      return activity;
    };
    const rows = attacked.rowsOf('mfa_requirement', id);
    const own = await rows.find({ activity_id: (await begun(root, second)())['id'] });
    const { id: activity_id } = await begun(others.root, others.second)();
    const theirs = await attacked.rowsOf('mfa_requirement', others.id).find({ activity_id });
    const [proof] = JSON.parse(String(own['proofs']));
    const proofs = JSON.stringify([proof, { ...proof, method: PASSKEY, digest: randomUUID() }]);
    const proven = { proofs, satisfied_at_ms: Date.now() };
    const common = { before: OWES, hope: approved(second) };
    const made = (row: Row): Attack => ({
      ...common,
      make: proposed(root),
      forge: ({ id: activity_id }) => rows.insert({ ...row, ...proven, created_at_ms: Date.now(), activity_id }),
    });
    const changed = (change: Row): Attack => ({
      ...common,
      make: begun(root, second),
      forge: ({ id: activity_id }) => rows.update(change, { activity_id }),
    });
    return {
      rows,
      works,
      attacks: {
        'one is made': made({ ...own, mfa_requirement_mac: null }),
        'one is made under the mark of another': made(own),
        'one of another organization': made({ ...theirs, organization_id: id, user_id: second.userId }),
        'other steps': changed({ steps: JSON.stringify([step(API_KEY)]) }),
        'other proofs': changed(proven),
        'another policy': changed({ mfa_policy_id: randomUUID() }),
      },
    };
  },
};

describe.each(DATABASES)('approvals that nobody gave, on %s', (database) => {
  let attacked: Attacked;
  beforeAll(async () => {
    attacked = await Attacked.open(database, { CUSTOS_OTP_REQUESTS: '0' });
  });
  afterAll(async () => {
    await attacked?.[Symbol.asyncDispose]();
  });

  test.each(Object.entries(SCENES))('nothing comes of it: %s', async (_table, sceneOf) => {
    const scene = await sceneOf(attacked);
    for (const how of Object.keys(scene.attacks)) await attacked.expectRefused(scene, how);
  });

  // What would come of it without marks.
  test.each([
    ['activity', 'open again'],
    ['vote', 'one is made'],
    ['mfa_requirement', 'other proofs'],
  ])('the service would have believed %s: %s', async (table, how) => {
    const sceneOf = SCENES[table] as Scenes[string];
    await attacked.expectReal(await sceneOf(attacked), how);
  });

  // It counts by being there: a changed one is refused like a genuine one, and what its absence allows is in the threat model.
  test.each([
    ['activity_id', randomUUID()],
    ['expires_at_ms', Date.now() + 2 * 86_400_000],
    ['used_token_mac', null],
  ])('a used token stays used: %s becomes %s', async (column, value) => {
    const { logins } = attacked;
    const { byParent, email } = await logins.newPerson();
    const key = newKeyPair();
    const token = await logins.verify(byParent, email, key);
    const login = () => byParent.submit('otp_login', loginParameters(token, key, newKeyPair()));
    expect(outcome(await login())).toEqual(DONE);
    const rows = attacked.rowsOf('used_token', byParent.organizationId);
    await rows.find({ purpose: 'login' });
    await rows.update({ [column]: value });
    expect(outcome(await login())).toEqual(REFUSED_TOKEN);
  });
});
