import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ActivityOperation } from '../../../src/engine/define.ts';
import { activities, pathOf } from '../../../src/registry.ts';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { type Answer, createSubOrganization, createUser, type TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import { World } from '../../hostile/world.ts';
import { caseFor } from '../../operations/all-cases.ts';
import type { Tenant } from '../../operations/tenant.ts';
import { addSessionKey, outcome, policyFor, Rows } from '../fixtures/access.ts';

const DENIED = [403, 'REQUEST_NOT_AUTHORIZED'];
const REJECTED = 'ACTIVITY_STATUS_REJECTED';

/** What these do concerns the caller alone, who needs nobody's leave. */
const OWN_BUSINESS = new Set(['stamp_login', 'create_read_only_session', 'create_read_write_session']);

/** Nobody has these: every id and every address is another one, of the same form. */
function unknownOf(value: unknown): unknown {
  if (typeof value === 'string') {
    if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value)) return randomUUID();
    if (/^0x[0-9a-fA-F]{40}$/.test(value)) return `0x${randomBytes(20).toString('hex')}`;
    return value;
  }
  if (Array.isArray(value)) return value.map(unknownOf);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, unknownOf(inner)]));
}

/** The answer without what names this one request. */
const words = ({ status, body }: Answer) =>
  JSON.parse(JSON.stringify({ status, body }), (key, value) => (key === 'activityId' ? undefined : value));

const activityIdOf = ({ body }: Answer): string =>
  body.details.find((entry: { activityId?: string }) => entry.activityId !== undefined)?.activityId;

// Who may do what is judged alike whatever the database.
describe('a user without rights', () => {
  let world: World;
  let other: Tenant;
  let subs: readonly [Tenant, Tenant];

  beforeAll(async () => {
    ({ world, other } = await World.openWithTwoParents('sqlite'));
    subs = [await world.addSubOrganization(world.parent, 'one'), await world.addSubOrganization(world.parent, 'two')];
  });
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
  });

  const tenantsFor = ({ scope }: ActivityOperation): readonly [Tenant, Tenant] =>
    scope === 'sub-organization' ? subs : [world.parent, other];

  const walked = activities.filter(({ name }) => !OWN_BUSINESS.has(name));

  test.each(walked.map((operation) => [operation.name, operation] as const))(
    '%s: the same words about what is there, unknown or foreign, and the refusal is kept',
    async (name, operation) => {
      const [home, foreign] = tenantsFor(operation);
      const { member, root } = home;
      const existing = (await caseFor(name, home)).parameters;
      const strangers = (await caseFor(name, foreign)).parameters;
      const answers: Answer[] = [];
      for (const parameters of [existing, unknownOf(existing), strangers]) {
        const body = member.submitBody(name, parameters as Record<string, unknown>);
        const answer = await member.sendStamped(pathOf(operation), body);
        expect(outcome(answer), JSON.stringify(answer.body)).toEqual(DENIED);
        const { activity } = (await root.query('get_activity', { activityId: activityIdOf(answer) })).body;
        expect(activity).toMatchObject({ status: REJECTED, type: JSON.parse(body).type });
        expect((await member.sendStamped(pathOf(operation), body)).body).toEqual(answer.body);
        answers.push(answer);
      }
      const [there, unknown, strange] = answers.map(words);
      expect(unknown).toEqual(there);
      expect(strange).toEqual(there);
    },
  );

  test('only what is the own business of a user is not walked over', () => {
    const own = activities.filter(({ managesCredentialsOf }) => managesCredentialsOf).map(({ name }) => name);
    for (const name of OWN_BUSINESS) expect(own).toContain(name);
  });

  test('is told nothing about a token, and an honest caller is', async () => {
    const [home] = subs;
    const { parameters } = await caseFor('oauth_login', home);
    const forged = { ...parameters, oidcToken: 'eyJhbGciOiJub25lIn0.e30.' };
    expect(outcome(await home.member.submit('oauth_login', forged))).toEqual(DENIED);
    expect(outcome(await home.root.submit('oauth_login', forged))).toEqual([400, 'INVALID_OIDC_TOKEN']);
  });

  test('does not see the state of a deployment, which its owner does', async () => {
    const { member, root, ids } = world.parent;
    const parameters = { deploymentId: ids.tvcDeployment };
    const state = await root.submit('restore_tvc_deployment', parameters);
    expect(outcome(state)).toEqual([400, 'FAILED_PRECONDITION']);
    expect(state.body.message).toContain('not deleted');
    const simulate = (submitterUserId: string) =>
      root.query('simulate_activity', {
        request: { type: 'ACTIVITY_TYPE_RESTORE_TVC_DEPLOYMENT', parameters },
        submitterUserId,
      });
    const simulated = await simulate(member.userId);
    expect(simulated.body.simulation, JSON.stringify(simulated.body)).toMatchObject({ status: REJECTED });
    expect(outcome(await simulate(root.userId))).toEqual([400, 'FAILED_PRECONDITION']);
    expect(outcome(await member.submit('restore_tvc_deployment', parameters))).toEqual(DENIED);
  });

  test('uses up no attempt at a code', async () => {
    const { member } = world.parent;
    const { client, parameters } = await caseFor('verify_otp', world.parent, 'ACTIVITY_TYPE_VERIFY_OTP');
    const type = 'ACTIVITY_TYPE_VERIFY_OTP';
    for (let attempt = 0; attempt < 8; attempt += 1) {
      const wrong = { ...parameters, otpCode: '000000' };
      expect(outcome(await member.submit('verify_otp', wrong, { type }))).toEqual(DENIED);
    }
    expect((await client.submit('verify_otp', parameters, { type })).status).toBe(200);
  });
});

describe('a proposal that would wait', () => {
  test('is refused at once where it could not be done now, by the same words as without a quorum', async () => {
    await using world = await World.open('sqlite');
    const { root } = world.parent;
    const asked: { operation: ActivityOperation; parameters: unknown; alone: unknown[] }[] = [];
    // What names its object for policies or keys; the rest finds out when it is executed.
    const described = activities.filter(({ scope, describe: lookUp }) => scope !== 'sub-organization' && lookUp);
    for (const operation of described) {
      const parameters = unknownOf((await caseFor(operation.name, world.parent)).parameters);
      const answer = await root.sendStamped(pathOf(operation), root.submitBody(operation.name, parameters));
      if (answer.status !== 200) asked.push({ operation, parameters, alone: outcome(answer) });
    }
    expect(asked.length).toBeGreaterThan(30);
    const second = await createUser(root, 'another member');
    await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, second.userId] });
    for (const { operation, parameters, alone } of asked) {
      const answer = await root.sendStamped(pathOf(operation), root.submitBody(operation.name, parameters));
      expect.soft(outcome(answer), operation.name).toEqual(alone);
    }
  });
});

describe.each(databasesOf(import.meta.url))('refusals of rights on %s', (database) => {
  let service: TestApp;
  let parent: TestClient;
  let rows: Rows;

  beforeAll(async () => {
    service = await openTestApp(database);
    parent = service.root;
    rows = await Rows.open(service.app.config);
  });
  afterAll(async () => {
    await rows?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
  });
  const newOrg = () => createSubOrganization(parent, `Org ${randomUUID()}`);

  const countRejected = async (root: TestClient): Promise<number> =>
    (await root.query('list_activities', { filterByStatus: [REJECTED] })).body.activities.length;

  test('come before the state for a policy about the object, and after it for one that allows everything', async () => {
    const root = await newOrg();
    const [limited, trusted] = [await createUser(root, 'limited'), await createUser(root, 'trusted')];
    const { walletId } = await root.run('create_wallet', { walletName: 'w', accounts: [] });
    const { walletId: hers } = await root.run('create_wallet', { walletName: 'hers', accounts: [] });
    await policyFor(root, limited, { condition: `wallet.id == '${hers}'` });
    await policyFor(root, trusted);
    const rename = (client: TestClient, id: string) =>
      client.submit('update_wallet', { walletId: id, walletName: randomUUID() });
    expect((await rename(limited, hers)).status).toBe(200);
    expect(outcome(await rename(limited, walletId))).toEqual(DENIED);
    expect(outcome(await rename(limited, randomUUID()))).toEqual(DENIED);
    const before = await countRejected(root);
    expect((await rename(trusted, walletId)).status).toBe(200);
    expect(outcome(await rename(trusted, randomUUID()))).toEqual([404, 'RESOURCE_NOT_FOUND']);
    const sign = (client: TestClient, signWith: string) =>
      client.submit('sign_raw_payload', {
        signWith,
        payload: '00',
        encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
        hashFunction: 'HASH_FUNCTION_SHA256',
      });
    expect(outcome(await sign(trusted, randomUUID()))[0]).toBe(404);
    expect(await countRejected(root)).toBe(before);
    expect(outcome(await sign(limited, randomUUID()))).toEqual(DENIED);
    expect(await countRejected(root)).toBe(before + 1);
  });

  test('state is checked before an activity waits', async () => {
    const root = await newOrg();
    const second = await createUser(root, 'second');
    await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, second.userId] });
    const payload = {
      payload: '00',
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction: 'HASH_FUNCTION_SHA256',
    };
    const unknown = await root.submit('sign_raw_payload', { signWith: randomUUID(), ...payload });
    expect(outcome(unknown)[0]).toBe(404);
    const waiting = (await root.query('list_activities', { filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'] }))
      .body;
    expect(waiting.activities).toEqual([]);
  });

  test('that no policy knows of are kept too', async () => {
    const root = await newOrg();
    const other = await createUser(root, 'other');
    expect((await root.submit('init_import_wallet', { userId: root.userId })).status).toBe(200);
    const body = root.submitBody('init_import_wallet', { userId: other.userId });
    const path = '/public/v1/submit/init_import_wallet';
    const refused = await root.sendStamped(path, body);
    expect(outcome(refused)).toEqual(DENIED);
    expect(refused.body.message).toContain('userId must be the user who proposes the import');
    const { activity } = (await root.query('get_activity', { activityId: activityIdOf(refused) })).body;
    expect(activity.status).toBe(REJECTED);
    expect((await root.sendStamped(path, body)).body).toEqual(refused.body);
  });

  test('in the preparation of a login as well', async () => {
    const root = await newOrg();
    const profile = async () =>
      (await parent.run('create_session_profile', { sessionProfileName: randomUUID(), scope: 'true' }))
        .sessionProfileId;
    const [own, another] = [await profile(), await profile()];
    const session = await addSessionKey(rows, root, { sessionProfileId: own });
    const publicKey = root.key.publicKey;
    const refused = await session.submit('stamp_login', { publicKey, sessionProfileId: another });
    expect(outcome(refused)).toEqual(DENIED);
    const { activity } = (await root.query('get_activity', { activityId: activityIdOf(refused) })).body;
    expect(activity.status).toBe(REJECTED);
  });

  describe('of a large body', () => {
    const refuse = async (parameters: Record<string, unknown>, operation: string) => {
      const root = await newOrg();
      const plain = await createUser(root, 'plain');
      const body = plain.submitBody(operation, parameters);
      const answer = await plain.sendStamped(`/public/v1/submit/${operation}`, body);
      expect(outcome(answer)).toEqual(DENIED);
      const activityId = activityIdOf(answer);
      const { activity } = (await root.query('get_activity', { activityId })).body;
      const again = await plain.sendStamped(`/public/v1/submit/${operation}`, body);
      expect(again.body).toEqual(answer.body);
      const listed = (await root.query('list_activities', { filterByStatus: [REJECTED] })).body.activities;
      expect(listed).toEqual([activity]);
      return { activity, activityId, body };
    };
    const bigPolicy = (length: number) => ({
      policyName: 'p',
      effect: 'EFFECT_ALLOW',
      condition: `activity.type == '${'x'.repeat(length)}'`,
      consensus: 'true',
      notes: '',
    });

    test('size and digest stand in for it', async () => {
      const { activity, body } = await refuse(bigPolicy(5000), 'create_policy');
      const sha256 = activity.fingerprint.replace('sha256:', '');
      const omittedBody = { bytes: Buffer.byteLength(body), sha256 };
      expect(Object.values(activity.intent)).toEqual([{ omittedBody }]);
      expect(JSON.parse(activity.votes[0].message)).toEqual({ omittedBody });
    });

    test('nothing of it is kept sealed either', async () => {
      const parameters = { userId: randomUUID(), userEmail: 'a@example.com', verificationToken: 'v'.repeat(5000) };
      const { activityId } = await refuse(parameters, 'update_user_email');
      const [stored] = await rows.run('SELECT sealed_parameters, sealed_body, body FROM activity WHERE id = ?', [
        activityId,
      ]);
      expect(stored).toEqual({ sealed_parameters: null, sealed_body: null, body: null });
      const [vote] = await rows.run('SELECT sealed_message FROM vote WHERE activity_id = ?', [activityId]);
      expect(vote).toEqual({ sealed_message: null });
    });

    test('a smaller one is kept as it was sent', async () => {
      const parameters = bigPolicy(3000);
      const { activity, body } = await refuse(parameters, 'create_policy');
      expect(Object.values(activity.intent)).toEqual([parameters]);
      expect(activity.votes[0].message).toBe(body);
    });
  });
});
