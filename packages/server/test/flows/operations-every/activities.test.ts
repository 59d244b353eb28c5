import { createHash, createPublicKey, randomUUID, verify } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ActivityVersion } from '../../../src/engine/define.ts';
import { activities, votes } from '../../../src/registry.ts';
import { type Answer, createUser, currentType, TestClient } from '../../harness/client.ts';
import { DATABASES } from '../../harness/databases.ts';
import { activityCase } from '../../operations/all-cases.ts';
import {
  type ActivityCase,
  type Arranged,
  anId,
  PAGE_INFO,
  TIMESTAMP,
  UUID,
  type VersionCase,
  type World,
} from '../../operations/every-case.ts';
import { expectError, fingerprintOf, openEvery } from './support.ts';

// Every operation of the registry against the same questions; rules of single operations are in the files beside.

const ACTIVITY_KEYS = [
  'canApprove',
  'canReject',
  'createdAt',
  'fingerprint',
  'id',
  'intent',
  'organizationId',
  'result',
  'status',
  'type',
  'updatedAt',
  'votes',
];

const USER_KEYS = [
  'apiKeys',
  'authenticators',
  'createdAt',
  'mfaPolicies',
  'oauthProviders',
  'updatedAt',
  'userId',
  'userName',
  'userTags',
];

/** The request in words: a template of its own, and what approving it means where it is not routine. */
function expectSentence({ status, body }: Answer, activityId: string, type: string): void {
  expect(status, JSON.stringify(body)).toBe(200);
  const { description } = body;
  expect(description).toMatchObject({ activityId, type });
  expect(description.text).toMatch(/^[A-Z].*\.$/s);
  expect(description.text).not.toMatch(/no sentence for it|cannot be read|is missing|undefined|\[object|NaN/);
  expect(description.sentence.map(({ text }: { text: string }) => text).join('')).toBe(description.text);
  if (description.risk !== 'ROUTINE') expect(description.consequence).toMatch(/\.$/);
}

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** All fields of the activity object with their types, and nothing else. */
function expectActivity(activity: Answer['body'], body: string, status: string, client: TestClient): void {
  const sent = JSON.parse(body);
  expect(Object.keys(activity).sort()).toEqual(ACTIVITY_KEYS);
  expect(activity.id).toMatch(UUID);
  expect(activity.organizationId).toBe(client.organizationId);
  expect(activity.status).toBe(status);
  expect(activity.type).toBe(sent.type);
  expect(activity.fingerprint).toBe(fingerprintOf(body));
  expect(activity.createdAt).toMatch(RFC_3339);
  expect(activity.updatedAt).toMatch(RFC_3339);
  expect(typeof activity.canApprove).toBe('boolean');
  expect(typeof activity.canReject).toBe('boolean');
  expect(activity.votes).toHaveLength(1);
  const [vote] = activity.votes;
  expect(vote).toEqual({
    id: anId,
    userId: client.userId,
    user: expect.objectContaining({ userId: client.userId }),
    activityId: activity.id,
    selection: 'VOTE_SELECTION_APPROVED',
    message: shownMessage(body, versionOf(activity.type).secrets),
    publicKey: client.key.publicKey,
    signature: expect.stringMatching(/^30[0-9a-f]+$/),
    scheme: 'SIGNATURE_SCHEME_TK_API_P256',
    createdAt: TIMESTAMP,
  });
  expect(
    Object.keys(vote.user)
      .filter((key) => !/^user(Email|PhoneNumber)$/.test(key))
      .sort(),
  ).toEqual(USER_KEYS);
  expect(verifies({ ...vote, message: body })).toBe(true);
}

const versionOf = (type: string): ActivityVersion =>
  activities.flatMap(({ versions }) => versions).find((version) => version.type === type)!;

const digest = (value: unknown): string =>
  `sha256:${createHash('sha256')
    .update(typeof value === 'string' ? value : JSON.stringify(value))
    .digest('hex')}`;

/** Puts digests where a dotted path leads, with `*` for every element of a list. */
function digestAt(holder: unknown, [step = '', ...rest]: readonly string[]): void {
  if (typeof holder !== 'object' || holder === null) return;
  const object = holder as Record<string, unknown>;
  for (const key of step === '*' ? Object.keys(object) : [step]) {
    if (rest.length > 0) digestAt(object[key], rest);
    else if (object[key] !== undefined && object[key] !== null) object[key] = digest(object[key]);
  }
}

/** The signed bytes as votes show them: with digests in place of secrets (protocol/activities 5.2). */
function shownMessage(message: string, secrets: readonly string[]): string {
  if (secrets.length === 0) return message;
  const body = JSON.parse(message);
  for (const path of secrets) digestAt(body.parameters, path.split('.'));
  return JSON.stringify(body);
}

/** What is shown of an activity when the credential that proposed it reads it again. */
function later(activity: Answer['body'], version: ActivityVersion): Answer['body'] {
  const { intentKey, secrets } = version;
  const copy = structuredClone(activity);
  for (const path of secrets) digestAt(copy.intent[intentKey], path.split('.'));
  return copy;
}

/** Whether a P-256 vote can be verified by anyone who has only the vote. */
function verifies(vote: { publicKey: string; signature: string; message: string }): boolean {
  const spki = Buffer.concat([
    Buffer.from('3039301306072a8648ce3d020106082a8648ce3d030107032200', 'hex'),
    Buffer.from(vote.publicKey, 'hex'),
  ]);
  const key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
  return verify('sha256', Buffer.from(vote.message), key, Buffer.from(vote.signature, 'hex'));
}

/** The payload of an app proof; its signature is by the second of its keys (protocol/bundles 6). */
function readProof({ scheme, publicKey, proofPayload, signature }: Record<string, string>) {
  expect(scheme).toBe('SIGNATURE_SCHEME_EPHEMERAL_KEY_P256');
  const point = Buffer.from(publicKey ?? '', 'hex').subarray(65);
  const [x, y] = [point.toString('base64url', 1, 33), point.toString('base64url', 33)];
  const key = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
  const signed = { key, dsaEncoding: 'ieee-p1363' } as const;
  expect(verify('sha256', Buffer.from(proofPayload ?? ''), signed, Buffer.from(signature ?? '', 'hex'))).toBe(true);
  return JSON.parse(proofPayload ?? '');
}

/** The addresses that a result tells of, those of wallets only: private keys are not derived. */
function newAddresses({ addresses, wallet, encryptPublicKey, signPublicKey }: Result): unknown[] {
  const told = wallet?.addresses ?? addresses ?? [encryptPublicKey, signPublicKey];
  return told.filter((address) => typeof address === 'string');
}

interface Result {
  readonly addresses?: unknown[];
  readonly wallet?: { readonly addresses: string[] };
  /** Of an operator: keys that are addresses at the same time. */
  readonly encryptPublicKey?: string;
  readonly signPublicKey?: string;
}
describe.each(DATABASES)('every operation on %s', (database) => {
  const suite = openEvery(database, import.meta.url);
  const { path, newWorld, testIf, isChosen } = suite;

  const readerOf = ({ endsOrganization }: ActivityCase, { root }: World): TestClient =>
    endsOrganization
      ? new TestClient(suite.parent.baseUrl, root.organizationId, suite.parent.key, suite.parent.userId)
      : root;

  async function expectCompleted(
    spec: ActivityCase,
    world: World,
    type: string,
    keys: Pick<VersionCase, 'intentKey' | 'resultKey'>,
    { parameters, result, holds, absent }: Arranged,
    name: string,
  ): Promise<void> {
    const { root } = world;
    await absent(root);
    const body = root.submitBody(name, parameters, { type });
    const answer = await root.sendStamped(path(name), body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(Object.keys(answer.body)).toEqual(['activity']);
    const { activity } = answer.body;
    expectActivity(activity, body, 'ACTIVITY_STATUS_COMPLETED', root);
    expect(activity.intent).toEqual({ [keys.intentKey]: parameters });
    expect(activity.result).toEqual({ [keys.resultKey]: result });
    const shown = later(activity, versionOf(type));
    expect([activity.canApprove, activity.canReject]).toEqual([false, false]);
    const reader = readerOf(spec, world);
    await holds(reader);
    const stored = await reader.query('get_activity', { activityId: activity.id });
    expect(stored.body.activity).toEqual(shown);
    const told = await reader.query('describe_activity', { activityId: activity.id });
    expectSentence(told, activity.id, type);

    // The same bytes again: the same activity, no second effect.
    const again = await root.sendStamped(path(name), body);
    if (spec.endsOrganization) {
      expectError(again, 404, 'ORGANIZATION_NOT_FOUND', 5);
    } else {
      expect(again.status).toBe(200);
      expect(again.body.activity).toEqual(shown);
    }
    await holds(reader);
  }

  describe.each(activities.map(({ name }) => name))('%s', (name) => {
    const spec = activityCase(name);
    const operation = activities.find((candidate) => candidate.name === name)!;

    test('does what it says, and only once', async () => {
      const world = await newWorld(spec.place);
      await expectCompleted(spec, world, currentType(name), spec, await spec.arrange(world), name);
    });

    testIf(isChosen)('takes each older version of its type', async () => {
      for (const [type, older] of Object.entries(spec.legacy ?? {})) {
        const world = await newWorld(spec.place);
        await expectCompleted(spec, world, type, older, await older.arrange(world), name);
      }
    });

    testIf(isChosen && spec.isOwnBusiness)('needs nobody else, unless a policy denies it', async () => {
      const world = await newWorld(spec.place);
      const { root, plain } = world;
      const second = await createUser(root, 'second');
      const { parameters, result } = await spec.arrange(world);
      await root.run('create_policy', {
        policyName: 'Not for the plain',
        effect: 'EFFECT_DENY',
        condition: `activity.type == '${currentType(name)}'`,
        consensus: `approvers.any(user, user.id == '${plain.userId}')`,
        notes: '',
      });
      await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, second.userId] });
      const done = await root.submit(name, parameters);
      expect(done.body.activity).toMatchObject({ status: 'ACTIVITY_STATUS_COMPLETED' });
      expect(done.body.activity.result).toEqual({ [spec.resultKey]: result });
      const others = async () => (await spec.arrange(world)).parameters;
      expect((await second.submit(name, await others())).body.activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
      expectError(await plain.submit(name, await others()), 403, 'REQUEST_NOT_AUTHORIZED', 7);
    });

    testIf(isChosen && !spec.isOwnBusiness)('waits for the rest of the quorum', async () => {
      const world = await newWorld(spec.place);
      const { root } = world;
      const second = await createUser(root, 'second');
      const { parameters, result, holds, absent } = await spec.arrange(world);
      await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, second.userId] });
      try {
        const body = root.submitBody(name, parameters);
        const { status, body: answer } = await root.sendStamped(path(name), body);
        expect(status).toBe(200);
        expectActivity(answer.activity, body, 'ACTIVITY_STATUS_CONSENSUS_NEEDED', root);
        expect(answer.activity.result).toEqual({});
        expect(answer.activity.intent).toEqual({ [spec.intentKey]: parameters });
        // What a request proves is used up when it is proposed.
        const isProven = activities.find((operation) => operation.name === name)?.useProof !== undefined;
        if (!isProven) await absent(root);
        const approved = await second.submit('approve_activity', { fingerprint: answer.activity.fingerprint });
        expect(approved.status, JSON.stringify(approved.body)).toBe(200);
        const { activity } = approved.body;
        expect(activity).toMatchObject({ id: answer.activity.id, status: 'ACTIVITY_STATUS_COMPLETED' });
        // Secrets of the result are for the credential that proposed; it sends the same bytes again.
        const { secretResults } = versionOf(currentType(name));
        for (const secret of secretResults) expect(activity.result[spec.resultKey]).not.toHaveProperty(secret);
        const shown = secretResults.length === 0 ? approved : await root.sendStamped(path(name), body);
        expect(shown.body.activity.result).toEqual({ [spec.resultKey]: result });
        expect(activity.votes.map((vote: { userId: string }) => vote.userId)).toEqual([root.userId, second.userId]);
        await holds(readerOf(spec, world));
      } finally {
        if (spec.place === 'parent') {
          const back = await root.submit('update_root_quorum', { threshold: 1, userIds: [root.userId] });
          await second.submit('approve_activity', { fingerprint: back.body.activity.fingerprint });
        }
      }
    });

    testIf(isChosen && !spec.isOwnBusiness)('is denied to a user without rights, and the denial is kept', async () => {
      const world = await newWorld(spec.place);
      const { root, plain } = world;
      const { parameters, absent } = await spec.arrange(world);
      const own = spec.isForProposer ? { ...parameters, userId: plain.userId } : parameters;
      const body = plain.submitBody(name, own);
      const denied = await plain.sendStamped(path(name), body);
      expectError(denied, 403, 'REQUEST_NOT_AUTHORIZED', 7);
      expect(denied.body.message).toMatch(/^You don't have sufficient permissions to take this action\./);
      const detail = denied.body.details.find(
        (entry: { '@type': string }) => entry['@type'] === 'type.googleapis.com/errors.v1.PolicyEnginePermissionError',
      );
      const message =
        operation.policy.governedBy === 'policy'
          ? 'No policies evaluated to outcome: Allow'
          : 'Only the root quorum can take this action';
      // No policy reaches what is the root quorum's; otherwise every one of the organization has its say.
      const { policies } = (await root.query('list_policies')).body;
      const policyEvaluations = policies.map(({ policyId }: { policyId: string }) => ({
        policyId,
        outcome: 'OUTCOME_DENY_IMPLICIT',
        reason: 'CONDITION_FALSE',
      }));
      expect(detail).toEqual({ '@type': detail['@type'], message, policyEvaluations, activityId: anId });
      await absent(root);

      const stored = await root.query('get_activity', { activityId: detail.activityId });
      expectActivity(stored.body.activity, body, 'ACTIVITY_STATUS_REJECTED', plain);
      expect(stored.body.activity.result).toEqual({});
      const rejected = await root.query('list_activities', { filterByStatus: ['ACTIVITY_STATUS_REJECTED'] });
      expect(rejected.body.activities.map((activity: { id: string }) => activity.id)).toContain(detail.activityId);

      const again = await plain.sendStamped(path(name), body);
      expect(again.status).toBe(403);
      expect(again.body).toEqual(denied.body);
    });

    testIf(isChosen)('is not for another organization', async () => {
      const world = await newWorld(spec.place);
      const other = await newWorld();
      const { parameters, absent, holds } = await spec.arrange(world);
      const { organizationId } = world.root;
      const stranger = new TestClient(suite.parent.baseUrl, organizationId, other.root.key, other.root.userId);
      expectError(await stranger.submit(name, parameters), 401, 'PUBLIC_KEY_NOT_FOUND', 16);
      const above = new TestClient(suite.parent.baseUrl, organizationId, suite.parent.key, suite.parent.userId);
      if (spec.place !== 'parent' && !operation.parentRuns) {
        expectError(await above.submit(name, parameters), 400, 'ORGANIZATION_MISMATCH', 3);
      }
      await absent(world.root);
      expectError(
        await world.root.submit(name, parameters, { organizationId: randomUUID() }),
        404,
        'ORGANIZATION_NOT_FOUND',
        5,
      );
      if (spec.foreign !== undefined) {
        const { parameters: foreign, status, code } = await spec.foreign(world, other);
        expectError(await world.root.submit(name, foreign), status, code);
      }
      if (operation.parentRuns) {
        const powerless = await createUser(suite.parent, 'powerless');
        const without = new TestClient(suite.parent.baseUrl, organizationId, powerless.key);
        expectError(await without.submit(name, parameters), 403, 'REQUEST_NOT_AUTHORIZED', 7);
        await absent(world.root);
        const { body } = await above.submit(name, parameters);
        expect(body.activity, JSON.stringify(body)).toMatchObject({
          organizationId,
          status: 'ACTIVITY_STATUS_COMPLETED',
          votes: [{ userId: suite.parent.userId }],
        });
        await holds(world.root);
      }
    });

    testIf(isChosen)('proves what it did where it is asked to', async () => {
      const world = await newWorld(spec.place);
      const { parameters, result } = await spec.arrange(world);
      const { status, body } = await world.root.submit(name, parameters, { generateAppProofs: true });
      expect(status, JSON.stringify(body)).toBe(200);
      const { activity } = body;
      expect(activity.result).toEqual({ [spec.resultKey]: result });
      const [outcome, ...derivations] = activity.appProofs.map(readProof);
      expect(outcome).toMatchObject({
        type: 'APP_PROOF_TYPE_POLICY_OUTCOME',
        policyOutcomeProof: {
          organizationId: world.root.organizationId,
          outcome: 'OUTCOME_ALLOW',
          userRequestApprovals: [
            { userId: world.root.userId, signature: activity.votes[0].signature, messageDigest: activity.fingerprint },
          ],
        },
      });
      const proven = derivations.map(({ type, addressDerivationProof }: ReturnType<typeof readProof>) => {
        expect(type).toBe('APP_PROOF_TYPE_ADDRESS_DERIVATION');
        return addressDerivationProof.address;
      });
      expect(proven).toEqual(newAddresses(activity.result[spec.resultKey]));
      const stored = await readerOf(spec, world).query('list_app_proofs', { activityId: activity.id });
      expect(stored.body).toEqual({ appProofs: activity.appProofs, pageInfo: PAGE_INFO });
    });

    testIf(isChosen)('ignores unknown fields and null in optional ones, and keeps what was signed', async () => {
      const world = await newWorld(spec.place);
      const { parameters, holds } = await spec.arrange(world);
      const { properties = {}, required = [] } = operation.versions[0]!.schema as unknown as {
        properties?: object;
        required?: string[];
      };
      const nulls = Object.fromEntries(
        Object.keys(properties)
          .filter((key) => !required.includes(key) && !(key in parameters))
          .map((key) => [key, null]),
      );
      const odd = { ...parameters, ...nulls, unknown: { deep: [1] } };
      const body = world.root.submitBody(name, odd, { generateAppProofs: false, extra: 'kept' });
      const { status, body: answer } = await world.root.sendStamped(path(name), body);
      expect(status, JSON.stringify(answer)).toBe(200);
      expect(answer.activity.intent).toEqual({ [spec.intentKey]: odd });
      expect(answer.activity.votes[0].message).toBe(shownMessage(body, operation.versions[0]!.secrets));
      await holds(readerOf(spec, world));
    });
  });
});

test('every version of every activity has a case, and there are two votes', () => {
  expect(votes.map((operation) => operation.name).sort()).toEqual(['approve_activity', 'reject_activity']);
  for (const { name, versions } of activities) {
    const older = versions.slice(1).map((version) => version.type);
    expect(Object.keys(activityCase(name).legacy ?? {}), name).toEqual(older);
  }
});
