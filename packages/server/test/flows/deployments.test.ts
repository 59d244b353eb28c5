import { createECDH, createHash, ECDH, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UNSERVED_REASONS, WIRE_SUBMITS } from '../../src/reference/wire-operations.ts';
import { openTestApp, type TestApp } from '../harness/app.ts';
import {
  type Answer,
  createSubOrganization,
  createUser,
  newKeyPair,
  send,
  type TestClient,
} from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import {
  type App,
  appParams,
  approvalsOf,
  deploymentParams,
  manifestOf,
  newApp,
  newApproved,
  newDeployment,
  newOperator,
  operatorParams,
  setParams,
  signBytes,
} from '../harness/deployments.ts';

const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/;
const anId = expect.stringMatching(UUID);
const TIMESTAMP = { seconds: expect.stringMatching(/^\d{10}$/), nanos: expect.stringMatching(/^\d{1,9}$/) };
const TIMES = { createdAt: TIMESTAMP, updatedAt: TIMESTAMP };

const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

function expectError({ status, body }: Answer, expected: number, code: string, message?: string | RegExp): void {
  expect({ status, errorCode: body.errorCode }, JSON.stringify(body)).toEqual({ status: expected, errorCode: code });
  if (message !== undefined) expect(body.message).toMatch(message);
}

const getApp = async (client: TestClient, { appId }: Pick<App, 'appId'>) =>
  (await client.query('get_tvc_app', { tvcAppId: appId })).body.tvcApp;
const getDeployment = async (client: TestClient, deploymentId: string) =>
  (await client.query('get_tvc_deployment', { deploymentId })).body.tvcDeployment;
const liveOf = async (client: TestClient, app: Pick<App, 'appId'>): Promise<string | undefined> =>
  (await getApp(client, app)).liveDeploymentId;
const statusOf = async (client: TestClient, { appId }: Pick<App, 'appId'>) =>
  (await client.query('get_app_status', { appId })).body.appStatus;
const listDeployments = async (client: TestClient, { appId }: Pick<App, 'appId'>) =>
  (await client.query('list_tvc_app_deployments', { appId })).body.tvcDeployments;

const shownOperator = (name: string, publicKey: string) => ({
  id: anId,
  name,
  publicKey,
  ...TIMES,
  encryptPublicKey: '',
  signPublicKey: publicKey,
  keySource: 'EXTERNAL_KEY',
});

/** Sorted by hand, so that the service's own sorting is not asked. */
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sorted((value as Record<string, unknown>)[name])]),
  );
};

describe.each(DATABASES)('deployments on %s', (database) => {
  let service: TestApp;
  let root: TestClient;

  beforeAll(async () => {
    service = await openTestApp(database, { CUSTOS_APP_DOMAIN: 'apps.example' });
    root = service.root;
  });
  afterAll(() => service?.[Symbol.asyncDispose]());

  /** What is judged before the database is asked need not be asked on both. */
  const testOnce = database === DATABASES[0] ? test : () => {};

  const approve = (manifestId: string, approvals: unknown) =>
    root.submit('create_tvc_manifest_approvals', { manifestId, approvals });

  test('an app is made, approved, live, replaced, deleted and restored', async () => {
    const operators = many(3, newOperator);
    const params = { ...appParams(operators, 2), enableEgress: true };
    const app: App = { ...(await root.run('create_tvc_app', params)), operators };
    expect(app).toEqual({
      appId: anId,
      manifestSetId: anId,
      manifestSetOperatorIds: [anId, anId, anId],
      manifestSetThreshold: 2,
      shareSetId: anId,
      shareSetOperatorIds: app.manifestSetOperatorIds,
      shareSetThreshold: 2,
      operators,
    });
    const { organizationId } = root;
    const set = (name: string, id: string) => ({
      id,
      name,
      organizationId,
      operators: operators.map(({ name: operator, key }) => shownOperator(operator, key.publicKey)),
      threshold: 2,
      ...TIMES,
    });
    const sets = {
      manifestSet: set(params.manifestSetParams.name, app.manifestSetId),
      shareSet: set(params.shareSetParams.name, app.shareSetId),
    };
    const shown = await getApp(root, app);
    expect(shown).toEqual({
      id: app.appId,
      organizationId,
      name: params.name,
      quorumPublicKey: params.quorumPublicKey,
      ...sets,
      enableEgress: true,
      ...TIMES,
      publicDomain: `app-${app.appId}.apps.example`,
      enableDebugModeDeployments: false,
    });
    expect(shown.manifestSet.operators.map(({ id }: { id: string }) => id)).toEqual(app.manifestSetOperatorIds);
    expect(await statusOf(root, app)).toEqual({ appId: app.appId, deployments: [], targetedDeploymentId: '' });

    const pullSecret = 'ciphertext-of-a-pull-secret';
    const first = await newDeployment(root, app, {
      nonce: 7,
      pivotContainerEncryptedPullSecret: pullSecret,
      instanceSizeCpus: 4,
      instanceSizeRam: 16,
    });
    const made = await getDeployment(root, first.deploymentId);
    const container = {
      containerUrl: deploymentParams('').pivotContainerImageUrl,
      path: '/app/pivot',
      args: ['--port', '3000'],
      hasPullSecret: true,
      healthCheckType: 'TVC_HEALTH_CHECK_TYPE_HTTP',
      healthCheckPort: 3000,
      publicIngressPort: 3001,
    };
    expect(made).toEqual({
      id: first.deploymentId,
      organizationId,
      appId: app.appId,
      ...sets,
      manifest: { id: first.manifestId, manifest: expect.any(String), ...TIMES },
      manifestApprovals: [],
      qosVersion: '0.15.0',
      pivotContainer: container,
      ...TIMES,
      delete: false,
      debugMode: false,
      instanceSizeCpus: 4,
      instanceSizeRam: 16,
    });
    expect(JSON.stringify(made)).not.toContain(pullSecret);
    expect(await statusOf(root, app)).toMatchObject({
      deployments: [{ deploymentId: first.deploymentId, readyReplicas: 0, desiredReplicas: 0 }],
      targetedDeploymentId: '',
    });

    // One of two, in DER; then the other, as r and s.
    const manifest = await manifestOf(root, first.deploymentId);
    const [one, two, three] = app.manifestSetOperatorIds as [string, string, string];
    const inDer = signBytes(operators[0]!.key, manifest, 'der');
    const early = await approve(first.manifestId, [{ operatorId: one, signature: inDer.toUpperCase() }]);
    expect(early.body.activity.result).toEqual({ createTvcManifestApprovalsResult: { approvalIds: [anId] } });
    expect(await liveOf(root, app)).toBeUndefined();
    const raw = signBytes(operators[1]!.key, manifest);
    const { approvalIds } = await root.run('create_tvc_manifest_approvals', {
      manifestId: first.manifestId,
      approvals: [{ operatorId: two, signature: raw }],
    });
    expect(await liveOf(root, app)).toBe(first.deploymentId);
    const approved = await getDeployment(root, first.deploymentId);
    expect(approved.manifestApprovals).toEqual([
      expect.objectContaining({ operator: expect.objectContaining({ id: one }) }),
      {
        id: approvalIds[0],
        manifestId: first.manifestId,
        operator: { ...shownOperator(operators[1]!.name, operators[1]!.key.publicKey), id: two },
        approval: Buffer.from(raw, 'hex').toString('base64'),
        ...TIMES,
      },
    ]);
    for (const { approval } of approved.manifestApprovals) expect(Buffer.from(approval, 'base64')).toHaveLength(64);
    expect(await statusOf(root, app)).toEqual({
      appId: app.appId,
      deployments: [
        { deploymentId: first.deploymentId, readyReplicas: 0, desiredReplicas: 3, lastUpdatedTime: TIMESTAMP },
      ],
      targetedDeploymentId: first.deploymentId,
    });

    // A further approval is kept, and a second deployment waits to be chosen.
    await root.run('create_tvc_manifest_approvals', {
      manifestId: first.manifestId,
      approvals: [{ operatorId: three, signature: signBytes(operators[2]!.key, manifest) }],
    });
    const second = await newApproved(root, app, 0, 2);
    expect(await liveOf(root, app)).toBe(first.deploymentId);
    const chosen = await root.submit('set_tvc_app_live_deployment', { deploymentId: second.deploymentId });
    expect(chosen.body.activity).toMatchObject({
      type: 'ACTIVITY_TYPE_UPDATE_TVC_APP_LIVE_DEPLOYMENT',
      status: 'ACTIVITY_STATUS_COMPLETED',
      intent: { updateTvcAppLiveDeploymentIntent: { deploymentId: second.deploymentId } },
      result: { updateTvcAppLiveDeploymentResult: {} },
    });
    expect(await liveOf(root, app)).toBe(second.deploymentId);
    expect((await statusOf(root, app)).targetedDeploymentId).toBe(second.deploymentId);

    // The live one stays while there is another one; the other one goes and comes back.
    const refused = await root.submit('delete_tvc_deployment', { deploymentId: second.deploymentId });
    expectError(refused, 400, 'FAILED_PRECONDITION', /is live/);
    const { deploymentId: gone } = await root.run('delete_tvc_deployment', { deploymentId: first.deploymentId });
    expect(gone).toBe(first.deploymentId);
    expect(await listDeployments(root, app)).toMatchObject([
      { id: first.deploymentId, delete: true, manifestApprovals: [{}, {}, {}] },
      { id: second.deploymentId, delete: false, manifestApprovals: [{}, {}] },
    ]);
    expect((await statusOf(root, app)).deployments.map((one: { deploymentId: string }) => one.deploymentId)).toEqual([
      second.deploymentId,
    ]);
    const back = await root.submit('restore_tvc_deployment', { deploymentId: first.deploymentId });
    expect(back.body.activity.result).toEqual({ restoreTvcDeploymentResult: { deploymentId: first.deploymentId } });
    const restored = await getDeployment(root, first.deploymentId);
    expect(restored).toEqual({ ...approved, manifestApprovals: restored.manifestApprovals, updatedAt: TIMESTAMP });
    expect(restored.manifestApprovals).toHaveLength(3);
    expect(await liveOf(root, app)).toBe(second.deploymentId);

    // The only one that is left may go although it is live, and what comes back is not live.
    await root.run('delete_tvc_deployment', { deploymentId: first.deploymentId });
    await root.run('delete_tvc_deployment', { deploymentId: second.deploymentId });
    expect(await liveOf(root, app)).toBeUndefined();
    await root.run('restore_tvc_deployment', { deploymentId: second.deploymentId });
    expect(await liveOf(root, app)).toBeUndefined();
    // Nor does a further signature of what was approved before make it live.
    await root.run('create_tvc_manifest_approvals', {
      manifestId: second.manifestId,
      approvals: await approvalsOf(root, app, second.deploymentId, 1),
    });
    expect(await liveOf(root, app)).toBeUndefined();
    await root.run('set_tvc_app_live_deployment', { deploymentId: second.deploymentId });
    expect(await liveOf(root, app)).toBe(second.deploymentId);

    // With the app go all its deployments; their records stay.
    const { appId } = await root.run('delete_tvc_app_and_deployments', { appId: app.appId });
    expect(appId).toBe(app.appId);
    expect((await listDeployments(root, app)).map((one: { delete: boolean }) => one.delete)).toEqual([true, true]);
    expect(await getDeployment(root, second.deploymentId)).toMatchObject({ delete: true, ...sets });
    for (const answer of [
      await root.query('get_tvc_app', { tvcAppId: app.appId }),
      await root.query('get_app_status', { appId: app.appId }),
      await root.submit('delete_tvc_app_and_deployments', { appId: app.appId }),
      await root.submit('create_tvc_deployment', deploymentParams(app.appId)),
    ]) {
      expectError(answer, 404, 'RESOURCE_NOT_FOUND');
    }
    const ids = (await root.query('list_tvc_apps')).body.tvcApps.map(({ id }: { id: string }) => id);
    expect(ids).not.toContain(app.appId);
    for (const { deploymentId } of [first, second]) {
      expectError(
        await root.submit('restore_tvc_deployment', { deploymentId }),
        400,
        'FAILED_PRECONDITION',
        /app of this deployment was deleted/,
      );
    }
  });

  test('a manifest is the canonical JSON of all that is approved', async () => {
    const operators = [newOperator(), newOperator()];
    const params = appParams(operators, 2);
    const app: App = { ...(await root.run('create_tvc_app', params)), operators };
    const given = {
      ...deploymentParams(app.appId),
      pivotArgs: ['', 'ä\u2028"\\\u0007😀', '</script>'],
      nonce: 9_007_199_254_740_991,
      replicas: 5,
      instanceSizeCpus: 2,
    };
    const { deploymentId, manifestId } = await root.run('create_tvc_deployment', given);
    const bytes = await manifestOf(root, deploymentId);
    const members = operators.map(({ name, key }, place) => ({
      id: app.manifestSetOperatorIds[place],
      name,
      publicKey: key.publicKey,
    }));
    const expected = {
      ...given,
      version: 1,
      organizationId: root.organizationId,
      deploymentId,
      manifestId,
      hasPullSecret: false,
      debugMode: false,
      enableEgress: false,
      quorumPublicKey: params.quorumPublicKey,
      manifestSet: { id: app.manifestSetId, name: params.manifestSetParams.name, operators: members, threshold: 2 },
      shareSet: { id: app.shareSetId, name: params.shareSetParams.name, operators: members, threshold: 2 },
    };
    expect(bytes.toString('utf8')).toBe(JSON.stringify(sorted(expected)));
    // Nothing that happens later changes it.
    const digest = (data: Uint8Array) => createHash('sha256').update(data).digest('hex');
    await root.run('create_tvc_manifest_approvals', {
      manifestId,
      approvals: await approvalsOf(root, app, deploymentId, 0, 1),
    });
    await root.run('delete_tvc_deployment', { deploymentId });
    expect(digest(await manifestOf(root, deploymentId))).toBe(digest(bytes));

    // What is left out has the value that the guide names.
    const plain = await newDeployment(root, app);
    const { nonce, replicas, ...rest } = JSON.parse((await manifestOf(root, plain.deploymentId)).toString('utf8'));
    expect(replicas).toBe(3);
    expect(Math.abs(nonce - Date.now() / 1000)).toBeLessThan(600);
    expect(rest).not.toHaveProperty('instanceSizeCpus');
  });

  test('approvals that come twice count once, and keep their first signature', async () => {
    const app = await newApp(root, many(2, newOperator), 2);
    const { deploymentId, manifestId } = await newDeployment(root, app);
    const [first] = await approvalsOf(root, app, deploymentId, 0);
    const [again] = await approvalsOf(root, app, deploymentId, 0);
    expect(again).not.toEqual(first);
    const run = async (approvals: unknown) =>
      (await root.run('create_tvc_manifest_approvals', { manifestId, approvals })).approvalIds;
    const [id] = await run([first]);
    expect(await run([again])).toEqual([id]);
    // Twice in one request as well.
    expect(await run([again, first])).toEqual([id, id]);
    const { manifestApprovals } = await getDeployment(root, deploymentId);
    expect(manifestApprovals).toMatchObject([
      { id, approval: Buffer.from(first!.signature, 'hex').toString('base64') },
    ]);
    expect(await liveOf(root, app)).toBeUndefined();
    expectError(
      await root.submit('set_tvc_app_live_deployment', { deploymentId }),
      400,
      'FAILED_PRECONDITION',
      /needs more approvals/,
    );
    expect(await run(await approvalsOf(root, app, deploymentId, 0, 1))).toEqual([id, anId]);
    expect(await liveOf(root, app)).toBe(deploymentId);
  });

  testOnce('wrong signatures and strangers are refused, and nothing of such a request is kept', async () => {
    const operators = many(2, newOperator);
    const stranger = newOperator();
    const app = await newApp(root, operators, 1, { shareSetParams: setParams([stranger, newOperator()], 2) });
    const { deploymentId, manifestId } = await newDeployment(root, app);
    const other = await newDeployment(root, app);
    const manifest = await manifestOf(root, deploymentId);
    const [operatorId, secondId] = app.manifestSetOperatorIds as [string, string];
    const key = operators[0]!.key;
    const good = signBytes(key, manifest);
    const goodDer = signBytes(key, manifest, 'der');
    const altered = Buffer.from(manifest);
    altered[altered.length - 2]! ^= 1;
    const WRONG: readonly (readonly [string, string, string, RegExp])[] = [
      [
        'another key',
        operatorId,
        signBytes(operators[1]!.key, manifest),
        /approvals\.0\.signature: must be a signature/,
      ],
      ['another deployment', operatorId, signBytes(key, await manifestOf(root, other.deploymentId)), /signature/],
      ['altered bytes', operatorId, signBytes(key, altered), /signature/],
      ['the base64 text', operatorId, signBytes(key, Buffer.from(manifest.toString('base64'))), /signature/],
      ['the digest', operatorId, signBytes(key, createHash('sha256').update(manifest).digest()), /signature/],
      ['r and s swapped', operatorId, good.slice(64) + good.slice(0, 64), /signature/],
      ['zeros', operatorId, '00'.repeat(64), /signature/],
      ['DER with a byte more', operatorId, `${goodDer}00`, /hexadecimal/],
      ['not hex', operatorId, `0x${good}`, /hexadecimal/],
      ['half a byte', operatorId, good.slice(1), /hexadecimal/],
      ['empty', operatorId, '', /hexadecimal/],
      ['somebody else’s id', secondId, good, /signature/],
      [
        'a holder of shares',
        app.shareSetOperatorIds[0]!,
        signBytes(stranger.key, manifest),
        /approvals\.0\.operatorId/,
      ],
      ['nobody', randomUUID(), good, /approvals\.0\.operatorId: must be an operator of the manifest set/],
    ];
    for (const [what, id, signature, reason] of WRONG) {
      const answer = await approve(manifestId, [{ operatorId: id, signature }]);
      expectError(answer, 400, 'REQUEST_INVALID', reason);
      expect(answer.body.code, what).toBe(3);
      // One that is good does not carry a bad one in, whichever comes first.
      const mixed = await approve(manifestId, [
        { operatorId, signature: good },
        { operatorId: id, signature },
      ]);
      expectError(mixed, 400, 'REQUEST_INVALID');
    }
    expect((await getDeployment(root, deploymentId)).manifestApprovals).toEqual([]);
    expect(await liveOf(root, app)).toBeUndefined();
    expectError(await approve(randomUUID(), [{ operatorId, signature: good }]), 404, 'RESOURCE_NOT_FOUND');
    expectError(await approve(deploymentId, [{ operatorId, signature: good }]), 404, 'RESOURCE_NOT_FOUND');
    expectError(await approve(manifestId, []), 400, 'REQUEST_INVALID');
    expect((await approve(manifestId, [{ operatorId, signature: goodDer }])).status).toBe(200);
    expect(await liveOf(root, app)).toBe(deploymentId);
  });

  testOnce('what is deleted is neither approved nor live, and what is not is not restored', async () => {
    const app = await newApp(root, many(2, newOperator), 2);
    const { deploymentId, manifestId } = await newDeployment(root, app);
    const approvals = await approvalsOf(root, app, deploymentId, 0, 1);
    const act = (operation: string, id = deploymentId) => root.submit(operation, { deploymentId: id });
    expectError(await act('restore_tvc_deployment'), 400, 'FAILED_PRECONDITION', /is not deleted/);
    expect((await act('restore_tvc_deployment')).body.code).toBe(9);
    await root.run('delete_tvc_deployment', { deploymentId });
    expectError(await act('delete_tvc_deployment'), 400, 'FAILED_PRECONDITION', /already deleted/);
    expectError(await approve(manifestId, approvals), 400, 'FAILED_PRECONDITION', /deleted; restore it first/);
    expectError(await act('set_tvc_app_live_deployment'), 400, 'FAILED_PRECONDITION', /deleted; restore it first/);
    expect((await getDeployment(root, deploymentId)).manifestApprovals).toEqual([]);
    await root.run('restore_tvc_deployment', { deploymentId });
    await root.run('create_tvc_manifest_approvals', { manifestId, approvals });
    expect(await liveOf(root, app)).toBe(deploymentId);
    // To choose what is live already changes nothing.
    await root.run('set_tvc_app_live_deployment', { deploymentId });
    expect(await liveOf(root, app)).toBe(deploymentId);
    for (const operation of ['restore_tvc_deployment', 'delete_tvc_deployment', 'set_tvc_app_live_deployment']) {
      expectError(await act(operation, randomUUID()), 404, 'RESOURCE_NOT_FOUND', /deployment not found/);
      expectError(await act(operation, app.appId), 404, 'RESOURCE_NOT_FOUND');
    }
  });

  testOnce('debug mode needs an app that was made for it, and one replica', async () => {
    const strict = await newApp(root);
    const create = (app: App, extra: object) =>
      root.submit('create_tvc_deployment', { ...deploymentParams(app.appId), ...extra });
    expect((await create(strict, { debugMode: false, replicas: 2 })).status).toBe(200);
    expectError(await create(strict, { debugMode: true }), 400, 'REQUEST_INVALID', /parameters\.debugMode/);
    const open = await newApp(root, undefined, 1, { enableDebugModeDeployments: true });
    expect(await getApp(root, open)).toMatchObject({ enableDebugModeDeployments: true });
    expectError(await create(open, { debugMode: true, replicas: 2 }), 400, 'REQUEST_INVALID', /parameters\.replicas/);
    for (const [extra, replicas] of [
      [{ debugMode: true }, 1],
      [{ debugMode: true, replicas: 1 }, 1],
      [{}, 3],
    ] as const) {
      const { body } = await create(open, extra);
      const { deploymentId } = body.activity.result.createTvcDeploymentResult;
      const manifest = JSON.parse((await manifestOf(root, deploymentId)).toString('utf8'));
      expect(manifest).toMatchObject({ debugMode: 'debugMode' in extra, replicas });
      expect(await getDeployment(root, deploymentId)).toMatchObject({ debugMode: 'debugMode' in extra });
    }
  });

  testOnce('deployments that make no sense are refused by field', async () => {
    const { appId } = await newApp(root);
    const good = deploymentParams(appId);
    const create = (extra: object) => root.submit('create_tvc_deployment', { ...good, ...extra });
    expect((await create({})).status).toBe(200);
    for (const [field, ...values] of [
      ['qosVersion', '', 'a\nb', 'x'.repeat(101), 1],
      ['pivotContainerImageUrl', '', 'x'.repeat(2049), 'a\u0000b'],
      ['pivotPath', '', '/a\u0007'],
      ['pivotArgs', 'text', [1], ['\u0000'], many(5, () => 'x'.repeat(4096)), many(1001, () => '')],
      ['expectedPivotDigest', '', 'x'.repeat(256)],
      ['nonce', -1, 1.5, '7', 2 ** 53],
      ['pivotContainerEncryptedPullSecret', 'x'.repeat(16_385), 1],
      ['debugMode', 'true'],
      ['healthCheckType', 'TVC_HEALTH_CHECK_TYPE_TCP', 'http'],
      ['healthCheckPort', 0, 65_536, '3000', 30.5],
      ['publicIngressPort', 0, 65_536, null],
      ['replicas', 0, 1001, '3'],
      ['instanceSizeCpus', 0, 2.5],
      ['instanceSizeRam', 0],
      ['appId', 'mine'],
    ] as const) {
      for (const value of values) {
        const { status, body } = await create({ [field]: value });
        expect({ status, value }, JSON.stringify(body)).toEqual({ status: 400, value });
        // A number that no double holds is refused before its field is known.
        if (value !== 2 ** 53) expect(body.message).toMatch(new RegExp(`parameters\\.${field}`));
      }
    }
    expectError(await create({ appId: randomUUID() }), 404, 'RESOURCE_NOT_FOUND', /app not found/);
    // An empty pull secret is none.
    const { body } = await create({ pivotContainerEncryptedPullSecret: '' });
    const { deploymentId } = body.activity.result.createTvcDeploymentResult;
    expect((await getDeployment(root, deploymentId)).pivotContainer.hasPullSecret).toBe(false);
  });

  test('a set with the same name, threshold and members is the same set', async () => {
    const operators = many(3, newOperator);
    const params = appParams(operators, 2);
    const first = await root.run('create_tvc_app', params);
    const again = await root.run('create_tvc_app', { ...params, name: 'Another app' });
    expect(again).toEqual({ ...first, appId: anId });
    expect(again.appId).not.toBe(first.appId);
    const ids: string[] = first.manifestSetOperatorIds;
    const { manifestSetParams, shareSetParams, ...rest } = params;
    // The same members by their ids and in another order; the same set by its id.
    const byIds = {
      name: manifestSetParams.name,
      threshold: 2,
      newOperators: [operatorParams(operators[1]!)],
      existingOperatorIds: [ids[2], ids[0]],
    };
    const third = await root.run('create_tvc_app', {
      ...rest,
      manifestSetParams: byIds,
      shareSetId: first.shareSetId,
    });
    expect(third).toEqual({ ...first, appId: anId });
    // Another name, threshold or member makes another set, of the same operators.
    for (const change of [{ name: 'Another set' }, { threshold: 3 }, { existingOperatorIds: [ids[0]], threshold: 2 }]) {
      const other = await root.run('create_tvc_app', {
        ...rest,
        manifestSetParams: { ...byIds, ...change },
        shareSetId: first.shareSetId,
      });
      expect(other.manifestSetId).not.toBe(first.manifestSetId);
      expect(ids).toEqual(expect.arrayContaining(other.manifestSetOperatorIds));
    }
    // One set can be both, and an operator is listed once.
    const both = await root.run('create_tvc_app', {
      ...rest,
      manifestSetId: first.shareSetId,
      shareSetId: first.shareSetId,
    });
    expect([both.manifestSetId, both.shareSetId]).toEqual([first.shareSetId, first.shareSetId]);
    const { tvcOperators } = (await root.query('list_tvc_operators')).body;
    for (const { name, key } of operators) {
      expect(tvcOperators.filter((one: { name: string }) => one.name === name)).toEqual([
        shownOperator(name, key.publicKey),
      ]);
    }
  });

  testOnce('operator sets that cannot be are refused', async () => {
    const operators = many(3, newOperator);
    const good = appParams(operators, 2);
    const { manifestSetId, manifestSetOperatorIds, shareSetId } = await root.run('create_tvc_app', good);
    const { manifestSetParams, shareSetParams, ...rest } = good;
    const create = (change: object) => root.submit('create_tvc_app', { ...good, ...change });
    const manifestSet = (change: object) => create({ manifestSetParams: { ...manifestSetParams, ...change } });
    const shareSet = (change: object) => create({ shareSetParams: { ...shareSetParams, ...change } });
    expect((await manifestSet({})).status).toBe(200);
    const invalid = async (answer: Promise<Answer>, field: RegExp) =>
      expectError(await answer, 400, 'REQUEST_INVALID', field);
    // Exactly one of id and parameters.
    await invalid(root.submit('create_tvc_app', { ...rest, shareSetId }), /manifestSetParams: give manifestSetId or/);
    await invalid(root.submit('create_tvc_app', { ...rest, manifestSetId }), /shareSetParams/);
    await invalid(create({ manifestSetId }), /manifestSetId/);
    await invalid(create({ shareSetId }), /shareSetId/);
    // Thresholds.
    await invalid(manifestSet({ threshold: 4 }), /manifestSetParams\.threshold: must be from 1 to .* \(3\)/);
    await invalid(manifestSet({ threshold: 0 }), /manifestSetParams\.threshold/);
    await invalid(shareSet({ threshold: 1 }), /shareSetParams\.threshold: must be from 2/);
    const single = await root.run('create_tvc_app', {
      ...good,
      manifestSetParams: { ...manifestSetParams, threshold: 1 },
    });
    await invalid(
      root.submit('create_tvc_app', { ...rest, manifestSetId, shareSetId: single.manifestSetId }),
      /shareSetId: must be a set with a threshold of 2/,
    );
    // Members.
    await invalid(manifestSet({ newOperators: [] }), /must have 1 to 50 operators/);
    await invalid(manifestSet({ newOperators: [], existingOperatorIds: [] }), /must have 1 to 50 operators/);
    await invalid(manifestSet({ newOperators: many(51, () => operatorParams(newOperator())) }), /newOperators/);
    const fifty = many(50, () => operatorParams(newOperator()));
    await invalid(
      manifestSet({ newOperators: fifty, existingOperatorIds: [manifestSetOperatorIds[0]] }),
      /must have 1 to 50 operators/,
    );
    expect((await manifestSet({ newOperators: fifty, threshold: 50 })).status).toBe(200);
    const [one] = manifestSetParams.newOperators;
    const twice = [
      one,
      { ...one, publicKey: ECDH.convertKey(one!.publicKey, 'prime256v1', 'hex', 'hex', 'uncompressed') },
    ];
    await invalid(manifestSet({ newOperators: twice }), /names the same public key twice/);
    const [id] = manifestSetOperatorIds;
    await invalid(manifestSet({ existingOperatorIds: [id, id] }), /existingOperatorIds: names the same operator twice/);
    await invalid(manifestSet({ existingOperatorIds: [id] }), /names the same operator twice/);
    const renamed = { ...one, name: 'Somebody else' };
    expectError(
      await manifestSet({ newOperators: [renamed], threshold: 1 }),
      400,
      'REQUEST_INVALID',
      /the same key has in the other/,
    );
    expectError(
      await root.submit('create_tvc_app', {
        ...rest,
        shareSetId,
        manifestSetParams: { ...manifestSetParams, newOperators: [renamed], threshold: 1 },
      }),
      409,
      'ALREADY_EXISTS',
      /under another name; give its id in existingOperatorIds/,
    );
    // What there is not.
    for (const change of [{ manifestSetParams: { ...manifestSetParams, existingOperatorIds: [randomUUID()] } }]) {
      expectError(await create(change), 404, 'RESOURCE_NOT_FOUND', /operator not found/);
    }
    expectError(
      await root.submit('create_tvc_app', { ...rest, manifestSetId: randomUUID(), shareSetId }),
      404,
      'RESOURCE_NOT_FOUND',
      /operator set not found/,
    );
  });

  testOnce('keys are P-256 points, in one spelling, alone or as a pair', async () => {
    const [encrypt, sign, alone] = many(3, newKeyPair);
    const spelled = (hex: string) => ECDH.convertKey(hex, 'prime256v1', 'hex', 'hex', 'uncompressed') as string;
    const set = { name: 'Pairs', threshold: 2 };
    const pair = { name: 'Pair', publicKey: `${spelled(encrypt!.publicKey)}${spelled(sign!.publicKey)}`.toUpperCase() };
    const single = { name: 'Single', publicKey: spelled(alone!.publicKey) };
    const manifestSetParams = { ...set, newOperators: [pair, single] };
    const given = { ...appParams(), quorumPublicKey: pair.publicKey, manifestSetParams };
    const app = await root.run('create_tvc_app', given);
    const shown = await getApp(root, app);
    expect(shown.quorumPublicKey).toBe(`${encrypt!.publicKey}${sign!.publicKey}`);
    expect(shown.manifestSet.operators).toEqual([
      {
        ...shownOperator('Pair', sign!.publicKey),
        publicKey: `${encrypt!.publicKey}${sign!.publicKey}`,
        encryptPublicKey: encrypt!.publicKey,
      },
      shownOperator('Single', alone!.publicKey),
    ]);
    // The second key of a pair signs.
    const { deploymentId, manifestId } = await newDeployment(root, app);
    const manifest = await manifestOf(root, deploymentId);
    const [operatorId] = app.manifestSetOperatorIds;
    const answers = [encrypt!, sign!].map(
      async (key) => (await approve(manifestId, [{ operatorId, signature: signBytes(key, manifest) }])).status,
    );
    expect(await Promise.all(answers)).toEqual([400, 200]);

    const secp256k1 = createECDH('secp256k1').generateKeys('hex', 'compressed');
    const offCurve = `02${'ff'.repeat(32)}`;
    for (const key of [
      '',
      'x',
      secp256k1,
      offCurve,
      `${alone!.publicKey}00`,
      `04${alone!.publicKey.slice(2)}`,
      `0x${alone!.publicKey}`,
      alone!.publicKey + offCurve,
      alone!.publicKey.repeat(2),
    ]) {
      const asQuorumKey = await root.submit('create_tvc_app', { ...appParams(), quorumPublicKey: key });
      // A point of another curve may happen to be one of this curve too.
      if (key !== secp256k1) expectError(asQuorumKey, 400, 'INVALID_PUBLIC_KEY', /parameters\.quorumPublicKey/);
      const wrong = setParams([], 1);
      const newOperators = [{ name: 'Wrong', publicKey: key }];
      const asOperator = await root.submit('create_tvc_app', {
        ...appParams(),
        manifestSetParams: { ...wrong, newOperators },
      });
      if (key !== secp256k1) expectError(asOperator, 400, 'INVALID_PUBLIC_KEY', /newOperators\.0\.publicKey/);
    }
  });

  test('an operator of a wallet signs with an account of it', async () => {
    const path = "m/5527107'/0'/0'";
    const created = await root.run('create_tvc_operator', {
      walletName: `Operators ${randomUUID()}`,
      path,
      operatorName: 'Hosted',
    });
    expect(created).toEqual({
      walletId: anId,
      operatorId: anId,
      encryptPublicKey: expect.stringMatching(/^0[23][0-9a-f]{64}$/),
      signPublicKey: expect.stringMatching(/^0[23][0-9a-f]{64}$/),
    });
    const { walletId, operatorId, encryptPublicKey, signPublicKey } = created;
    expect(encryptPublicKey).not.toBe(signPublicKey);
    const { accounts } = (await root.query('list_wallet_accounts', { walletId })).body;
    expect(accounts).toMatchObject([
      { path: `${path}/0`, curve: 'CURVE_P256', address: encryptPublicKey, publicKey: encryptPublicKey },
      { path: `${path}/1`, curve: 'CURVE_P256', address: signPublicKey, publicKey: signPublicKey },
    ]);
    const { tvcOperators } = (await root.query('list_tvc_operators')).body;
    expect(tvcOperators.find(({ id }: { id: string }) => id === operatorId)).toEqual({
      id: operatorId,
      name: 'Hosted',
      publicKey: `${encryptPublicKey}${signPublicKey}`,
      ...TIMES,
      encryptPublicKey,
      signPublicKey,
      keySource: 'ORG_WALLET_ACCOUNT',
    });

    // A second one in the same wallet, under another path.
    const second = await root.run('create_tvc_operator', {
      walletId,
      path: "m/5527107'/0'/1h",
      operatorName: 'Second',
    });
    expect(second.walletId).toBe(walletId);
    expect(new Set([encryptPublicKey, signPublicKey, second.encryptPublicKey, second.signPublicKey]).size).toBe(4);
    const again = await root.submit('create_tvc_operator', { walletId, path, operatorName: 'Third' });
    expectError(again, 409, 'ALREADY_EXISTS');

    const app = await root.run('create_tvc_app', {
      ...appParams(),
      manifestSetParams: { name: 'Hosted', existingOperatorIds: [operatorId, second.operatorId], threshold: 2 },
    });
    const { deploymentId, manifestId } = await newDeployment(root, app);
    const payload = (await manifestOf(root, deploymentId)).toString('hex');
    const approvals = [];
    for (const signer of [created, second]) {
      const { r, s } = await root.run('sign_raw_payload', {
        signWith: signer.signPublicKey,
        payload,
        encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
        hashFunction: 'HASH_FUNCTION_SHA256',
      });
      approvals.push({ operatorId: signer.operatorId, signature: `${r}${s}` });
    }
    await root.run('create_tvc_manifest_approvals', { manifestId, approvals });
    expect(await liveOf(root, app)).toBe(deploymentId);
  });

  testOnce('operators of wallets that cannot be are refused', async () => {
    const walletName = `Operators ${randomUUID()}`;
    const good = { walletName, path: "m/1'", operatorName: 'Hosted' };
    const create = (change: object) => root.submit('create_tvc_operator', { ...good, ...change });
    const { walletId } = await root.run('create_tvc_operator', good);
    const nine = `m${'/1'.repeat(9)}`;
    expect((await create({ walletName: `${walletName} 9`, path: nine })).status).toBe(200);
    for (const path of ['', 'm', 'm/', '1/2', "m/1''", 'm/4294967296', 'm/01', `${nine}/1`, ' m/1']) {
      expectError(await create({ walletName: randomUUID(), path }), 400, 'INVALID_PATH', /parameters\.path/);
    }
    expectError(await create({ walletName: null }), 400, 'REQUEST_INVALID', /walletName/);
    expectError(await create({ walletId }), 400, 'REQUEST_INVALID', /not both/);
    expectError(await create({}), 409, 'ALREADY_EXISTS', /wallet with this name/);
    expectError(
      await create({ walletName: null, walletId: randomUUID() }),
      404,
      'RESOURCE_NOT_FOUND',
      /wallet not found/,
    );
    const names = (await root.query('list_tvc_operators')).body.tvcOperators.filter(
      ({ name }: { name: string }) => name === 'Hosted',
    );
    expect(names.length).toBeGreaterThanOrEqual(2);
  });

  testOnce('what needs an enclave or a registry says so', async () => {
    expect([...UNSERVED_REASONS.keys()].sort()).toEqual([
      'create_tvc_quorum_key',
      'get_tvc_deployment_debug_logs',
      'get_tvc_deployment_provisioning_details',
      'get_tvc_qos_versions',
      'post_tvc_quorum_key_share',
      're_encrypt_tvc_quorum_key_share',
      'validate_tvc_image',
    ]);
    for (const [name, reason] of UNSERVED_REASONS) {
      const kind = WIRE_SUBMITS.includes(name) ? 'submit' : 'query';
      const answer = await send(root.baseUrl, `/public/v1/${kind}/${name}`, '{}');
      expectError(answer, 501, 'UNIMPLEMENTED');
      expect(answer.body.message).toBe(`${name} is not available in this version: ${reason}`);
    }
    expect((await root.query('list_tvc_quorum_keys')).body).toEqual({
      tvcQuorumKeys: [],
      pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: '', endCursor: '' },
    });
    expectError(
      await root.query('list_tvc_quorum_keys', { paginationOptions: { after: randomUUID() } }),
      400,
      'REQUEST_INVALID',
    );
  });

  test('lists are paged, deleted things among them', async () => {
    const app = await newApp(root, many(3, newOperator), 1);
    const made: string[] = [];
    for (let count = 0; count < 4; count += 1) made.push((await newApproved(root, app, 0, 2)).deploymentId);
    await root.run('delete_tvc_deployment', { deploymentId: made[2] });
    const page = async (paginationOptions?: object) =>
      (await root.query('list_tvc_app_deployments', { appId: app.appId, paginationOptions })).body;
    const idsOf = (items: readonly { id: string }[]) => items.map(({ id }) => id);
    expect(idsOf((await page()).tvcDeployments)).toEqual(made);
    const middle = await page({ limit: '2', after: made[0] });
    expect(idsOf(middle.tvcDeployments)).toEqual(made.slice(1, 3));
    expect(middle.pageInfo).toEqual({
      hasNextPage: true,
      hasPreviousPage: true,
      startCursor: made[1],
      endCursor: made[2],
    });
    for (const { manifestApprovals } of middle.tvcDeployments) expect(manifestApprovals).toHaveLength(2);
    // A deleted app is no more in the list, and still a place in it.
    const [one, two] = [await newApp(root), await newApp(root)];
    await root.run('delete_tvc_app_and_deployments', { appId: one.appId });
    const after = await root.query('list_tvc_apps', { paginationOptions: { limit: '1', after: one.appId } });
    expect(idsOf(after.body.tvcApps)).toEqual([two.appId]);
    const operators = await root.query('list_tvc_operators', {
      paginationOptions: { limit: '2', after: app.manifestSetOperatorIds[0] },
    });
    expect(idsOf(operators.body.tvcOperators)).toEqual(app.manifestSetOperatorIds.slice(1));
  });

  testOnce('lists are bounded by their bytes, whether they come in pages or not', async () => {
    const operators = many(50, newOperator);
    const app = await newApp(root, operators, 2, { shareSetParams: setParams(many(50, newOperator), 2) });
    for (let count = 0; count < 31; count += 1) await newDeployment(root, app);
    const list = (paginationOptions?: object) =>
      root.query('list_tvc_app_deployments', { appId: app.appId, paginationOptions });
    const whole = await list();
    expectError(whole, 400, 'RESULT_TOO_LARGE', /a limit of [0-9]+ fits/);
    const limit = /a limit of ([0-9]+) fits/.exec(whole.body.message)?.[1];
    expectError(await list({ limit: '100' }), 400, 'RESULT_TOO_LARGE', /a limit of [0-9]+ fits/);
    const page = await list({ limit });
    expect(page.body.tvcDeployments).toHaveLength(Number(limit));
    expect(page.body.pageInfo.hasNextPage).toBe(true);
    expect((await statusOf(root, app)).deployments).toHaveLength(31);
  });

  testOnce('what operators cannot see is not put before them', async () => {
    const app = await newApp(root);
    const submit = (change: object) =>
      root.submit('create_tvc_deployment', { ...deploymentParams(app.appId), ...change });
    expect((await submit({ pivotPath: '/app/pivöt é', pivotArgs: ['line\nline', '😀'] })).status).toBe(200);
    for (const unseen of ['\u202e', '\u2066', '\u200b', '\u200d', '\u2060', '\ufeff', '\u00ad']) {
      for (const field of ['qosVersion', 'pivotContainerImageUrl', 'pivotPath', 'expectedPivotDigest']) {
        expectError(await submit({ [field]: `a${unseen}b` }), 400, 'REQUEST_INVALID', new RegExp(field));
      }
      expectError(await submit({ pivotArgs: ['fine', `a${unseen}b`] }), 400, 'REQUEST_INVALID', /pivotArgs\.1/);
      const named = appParams([{ ...newOperator(), name: `a${unseen}b` }, newOperator()]);
      expectError(await root.submit('create_tvc_app', named), 400, 'REQUEST_INVALID', /newOperators\.0\.name/);
    }
  });

  test('deployments are for parents, and their own', async () => {
    const app = await newApp(root);
    const { deploymentId, manifestId } = await newApproved(root, app);
    const child = await createSubOrganization(root, 'child');
    const { walletId } = await child.run('create_wallet', { walletName: 'w', accounts: [] });
    for (const [operation, parameters] of [
      ['create_tvc_app', appParams()],
      ['create_tvc_deployment', deploymentParams(app.appId)],
      ['create_tvc_manifest_approvals', { manifestId, approvals: await approvalsOf(root, app, deploymentId, 0) }],
      ['set_tvc_app_live_deployment', { deploymentId }],
      ['delete_tvc_deployment', { deploymentId }],
      ['restore_tvc_deployment', { deploymentId }],
      ['delete_tvc_app_and_deployments', { appId: app.appId }],
      ['create_tvc_operator', { walletId, path: 'm/1', operatorName: 'Operator' }],
    ] as const) {
      expectError(await child.submit(operation, parameters), 400, 'INVALID_ACTIVITY_CALLER');
      const mismatch = await root.submit(operation, parameters, { organizationId: child.organizationId });
      expectError(mismatch, 400, 'ORGANIZATION_MISMATCH');
    }
    for (const [operation, parameters] of [
      ['get_tvc_app', { tvcAppId: app.appId }],
      ['get_tvc_deployment', { deploymentId }],
      ['list_tvc_app_deployments', { appId: app.appId }],
      ['get_app_status', { appId: app.appId }],
    ] as const) {
      expect((await root.query(operation, parameters)).status).toBe(200);
      const mine = await child.query(operation, parameters);
      expectError(mine, 404, 'RESOURCE_NOT_FOUND');
      const name = Object.keys(parameters)[0] as string;
      expect((await child.query(operation, { [name]: randomUUID() })).body).toEqual(mine.body);
    }
    for (const [operation, list] of [
      ['list_tvc_apps', 'tvcApps'],
      ['list_tvc_operators', 'tvcOperators'],
    ] as const) {
      expect((await child.query(operation)).body[list]).toEqual([]);
    }
    expect(await liveOf(root, app)).toBe(deploymentId);
  });

  test('a policy lets a user approve and nothing else', async () => {
    const app = await newApp(root);
    const clerk = await createUser(root, 'Clerk');
    const { deploymentId, manifestId } = await newDeployment(root, app);
    const approvals = await approvalsOf(root, app, deploymentId, 0);
    const denied = await clerk.submit('create_tvc_manifest_approvals', { manifestId, approvals });
    expectError(denied, 403, 'REQUEST_NOT_AUTHORIZED');
    expect(await liveOf(root, app)).toBeUndefined();
    const { policyId } = await root.run('create_policy', {
      policyName: `Clerk ${randomUUID()}`,
      effect: 'EFFECT_ALLOW',
      condition: "activity.type == 'ACTIVITY_TYPE_CREATE_TVC_MANIFEST_APPROVALS'",
      consensus: `approvers.any(user, user.id == '${clerk.userId}')`,
      notes: '',
    });
    await clerk.run('create_tvc_manifest_approvals', { manifestId, approvals });
    expect(await liveOf(root, app)).toBe(deploymentId);
    const others = await clerk.submit('delete_tvc_deployment', { deploymentId });
    expectError(others, 403, 'REQUEST_NOT_AUTHORIZED');
    expectError(
      await clerk.submit('create_tvc_deployment', deploymentParams(app.appId)),
      403,
      'REQUEST_NOT_AUTHORIZED',
    );
    await root.run('delete_policy', { policyId });
  });

  describe('at the same time', () => {
    test('each approval counts once, and one deployment becomes live', async () => {
      const app = await newApp(root, many(5, newOperator), 3);
      const { deploymentId, manifestId } = await newDeployment(root, app);
      // Each of the five three times, with a signature of its own each time.
      const requests = await Promise.all(
        many(15, async (index) => (await approvalsOf(root, app, deploymentId, index % 5))[0]!),
      );
      const answers = await Promise.all(
        requests.map(async (approval) => {
          const { approvalIds } = await root.run('create_tvc_manifest_approvals', {
            manifestId,
            approvals: [approval],
          });
          return [approval.operatorId, approvalIds[0]] as const;
        }),
      );
      const { manifestApprovals } = await getDeployment(root, deploymentId);
      const kept = manifestApprovals.map((one: { id: string; operator: { id: string } }) => [one.operator.id, one.id]);
      expect(new Map(kept)).toEqual(new Map(answers));
      expect(new Set(answers.map(([, id]) => id)).size).toBe(5);
      expect(kept).toHaveLength(5);
      expect(await liveOf(root, app)).toBe(deploymentId);
    });

    test('of several deployments that become approved the first is live', async () => {
      const app = await newApp(root, many(2, newOperator), 2);
      const made = await Promise.all(many(4, () => newDeployment(root, app)));
      const calls = await Promise.all(
        made.flatMap(({ deploymentId, manifestId }) =>
          [0, 1].map(async (place) => ({ manifestId, approvals: await approvalsOf(root, app, deploymentId, place) })),
        ),
      );
      await Promise.all(calls.map((call) => root.run('create_tvc_manifest_approvals', call)));
      const live = await liveOf(root, app);
      expect(made.map(({ deploymentId }) => deploymentId)).toContain(live);
      const { deployments, targetedDeploymentId } = await statusOf(root, app);
      expect(targetedDeploymentId).toBe(live);
      expect(deployments.map((one: { desiredReplicas: number }) => one.desiredReplicas)).toEqual([3, 3, 3, 3]);
      // Any of them can be chosen: all are approved.
      for (const { deploymentId } of made) await root.run('set_tvc_app_live_deployment', { deploymentId });
    });

    test('what is deleted is never live', async () => {
      const outcomes = new Set<string>();
      for (let round = 0; round < 6; round += 1) {
        const app = await newApp(root);
        const [first, second] = [await newApproved(root, app), await newApproved(root, app)];
        const choose = () => root.submit('set_tvc_app_live_deployment', { deploymentId: second.deploymentId });
        const remove = () => root.submit('delete_tvc_deployment', { deploymentId: second.deploymentId });
        // Whoever is sent first has the better chance.
        const [removedFirst, chosenFirst] = round % 2 === 0 ? [remove(), undefined] : [undefined, choose()];
        const [removed, chosen] = await Promise.all([removedFirst ?? remove(), chosenFirst ?? choose()]);
        const [live, { delete: isDeleted }] = [await liveOf(root, app), await getDeployment(root, second.deploymentId)];
        outcomes.add(`${chosen.status} ${removed.status}`);
        // Exactly one of the two can have happened.
        if (isDeleted) {
          expect(live).toBe(first.deploymentId);
          expectError(chosen, 400, 'FAILED_PRECONDITION', /deleted/);
        } else {
          expect(live).toBe(second.deploymentId);
          expectError(removed, 400, 'FAILED_PRECONDITION', /is live/);
        }
      }
      for (const outcome of outcomes) expect(['200 400', '400 200']).toContain(outcome);
    });

    test('the last one and its successor, the app and what is restored', async () => {
      for (let round = 0; round < 4; round += 1) {
        const app = await newApp(root);
        const only = await newApproved(root, app);
        const next = await newDeployment(root, app);
        await root.run('delete_tvc_deployment', { deploymentId: next.deploymentId });
        // The only one goes while another comes back.
        const [gone, back] = await Promise.all([
          root.submit('delete_tvc_deployment', { deploymentId: only.deploymentId }),
          root.submit('restore_tvc_deployment', { deploymentId: next.deploymentId }),
        ]);
        expect(back.status).toBe(200);
        const isGone = gone.status === 200;
        expect((await getDeployment(root, only.deploymentId)).delete).toBe(isGone);
        expect(await liveOf(root, app)).toBe(isGone ? undefined : only.deploymentId);
        // The app goes while one of its deployments comes back, is approved and is chosen.
        if (!isGone) await root.run('set_tvc_app_live_deployment', { deploymentId: only.deploymentId });
        const approvals = await approvalsOf(root, app, next.deploymentId, 0);
        await Promise.all([
          root.submit('restore_tvc_deployment', { deploymentId: only.deploymentId }),
          root.submit('create_tvc_manifest_approvals', { manifestId: next.manifestId, approvals }),
          root.run('delete_tvc_app_and_deployments', { appId: app.appId }),
          root.submit('set_tvc_app_live_deployment', { deploymentId: only.deploymentId }),
          root.submit('create_tvc_deployment', deploymentParams(app.appId)),
        ]);
        for (const { delete: isDeleted } of await listDeployments(root, app)) expect(isDeleted).toBe(true);
        expectError(await root.query('get_tvc_app', { tvcAppId: app.appId }), 404, 'RESOURCE_NOT_FOUND');
      }
    });

    test('the same sets and operators are made once', async () => {
      const params = appParams(many(3, newOperator), 2);
      const made = await Promise.all(
        many(6, (index) => root.run('create_tvc_app', { ...params, name: `App ${index}` })),
      );
      const { appId: _first, ...sets } = made[0];
      for (const { appId: _id, ...others } of made) expect(others).toEqual(sets);
      expect(new Set(made.map(({ appId }) => appId)).size).toBe(6);
    });
  });
});

test('what changed while approvals were awaited is judged again', async () => {
  await using service = await openTestApp('sqlite');
  const { root } = service;
  const second = await createUser(root, 'Second');
  const app = await newApp(root);
  const made = await newDeployment(root, app);
  const approvals = await approvalsOf(root, app, made.deploymentId, 0);
  const quorum = (client: TestClient, threshold: number, userIds: readonly string[]) =>
    client.submit('update_root_quorum', { threshold, userIds });
  await quorum(root, 2, [root.userId, second.userId]);
  const submit = async (operation: string, parameters: unknown) => {
    const { body } = await root.submit(operation, parameters);
    expect(body.activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    return body.activity.fingerprint as string;
  };
  const vote = async (fingerprint: string) => (await second.submit('approve_activity', { fingerprint })).body.activity;
  const approval = await submit('create_tvc_manifest_approvals', { manifestId: made.manifestId, approvals });
  const removal = await submit('delete_tvc_deployment', { deploymentId: made.deploymentId });
  expect(await liveOf(root, app)).toBeUndefined();
  expect((await vote(removal)).status).toBe('ACTIVITY_STATUS_COMPLETED');
  expect(await vote(approval)).toMatchObject({
    status: 'ACTIVITY_STATUS_FAILED',
    failure: { code: 9, message: expect.stringMatching(/deleted/) },
  });
  const restored = await submit('restore_tvc_deployment', { deploymentId: made.deploymentId });
  expect((await vote(restored)).status).toBe('ACTIVITY_STATUS_COMPLETED');
  const again = await submit('create_tvc_manifest_approvals', { manifestId: made.manifestId, approvals });
  expect((await vote(again)).status).toBe('ACTIVITY_STATUS_COMPLETED');
  expect(await liveOf(root, app)).toBe(made.deploymentId);
});
