import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { databasesOf } from '../../harness/databases.ts';
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
  signBytes,
} from '../../harness/deployments.ts';
import {
  anId,
  expectError,
  getApp,
  getDeployment,
  listDeployments,
  liveOf,
  many,
  openDeployments,
  shownOperator,
  statusOf,
  TIMES,
  TIMESTAMP,
} from './support.ts';

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
describe.each(databasesOf(import.meta.url))('deployments on %s', (database) => {
  const suite = openDeployments(database);
  const { approve } = suite;

  test('an app is made, approved, live, replaced, deleted and restored', async () => {
    const operators = many(3, newOperator);
    const params = { ...appParams(operators, 2), enableEgress: true };
    const app: App = { ...(await suite.root.run('create_tvc_app', params)), operators };
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
    const { organizationId } = suite.root;
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
    const shown = await getApp(suite.root, app);
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
    expect(await statusOf(suite.root, app)).toEqual({ appId: app.appId, deployments: [], targetedDeploymentId: '' });

    const pullSecret = 'ciphertext-of-a-pull-secret';
    const first = await newDeployment(suite.root, app, {
      nonce: 7,
      pivotContainerEncryptedPullSecret: pullSecret,
      instanceSizeCpus: 4,
      instanceSizeRam: 16,
    });
    const made = await getDeployment(suite.root, first.deploymentId);
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
    expect(await statusOf(suite.root, app)).toMatchObject({
      deployments: [{ deploymentId: first.deploymentId, readyReplicas: 0, desiredReplicas: 0 }],
      targetedDeploymentId: '',
    });

    // One of two, in DER; then the other, as r and s.
    const manifest = await manifestOf(suite.root, first.deploymentId);
    const [one, two, three] = app.manifestSetOperatorIds as [string, string, string];
    const inDer = signBytes(operators[0]!.key, manifest, 'der');
    const early = await approve(first.manifestId, [{ operatorId: one, signature: inDer.toUpperCase() }]);
    expect(early.body.activity.result).toEqual({ createTvcManifestApprovalsResult: { approvalIds: [anId] } });
    expect(await liveOf(suite.root, app)).toBeUndefined();
    const raw = signBytes(operators[1]!.key, manifest);
    const { approvalIds } = await suite.root.run('create_tvc_manifest_approvals', {
      manifestId: first.manifestId,
      approvals: [{ operatorId: two, signature: raw }],
    });
    expect(await liveOf(suite.root, app)).toBe(first.deploymentId);
    const approved = await getDeployment(suite.root, first.deploymentId);
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
    expect(await statusOf(suite.root, app)).toEqual({
      appId: app.appId,
      deployments: [
        { deploymentId: first.deploymentId, readyReplicas: 0, desiredReplicas: 3, lastUpdatedTime: TIMESTAMP },
      ],
      targetedDeploymentId: first.deploymentId,
    });

    // A further approval is kept, and a second deployment waits to be chosen.
    await suite.root.run('create_tvc_manifest_approvals', {
      manifestId: first.manifestId,
      approvals: [{ operatorId: three, signature: signBytes(operators[2]!.key, manifest) }],
    });
    const second = await newApproved(suite.root, app, 0, 2);
    expect(await liveOf(suite.root, app)).toBe(first.deploymentId);
    const chosen = await suite.root.submit('set_tvc_app_live_deployment', { deploymentId: second.deploymentId });
    expect(chosen.body.activity).toMatchObject({
      type: 'ACTIVITY_TYPE_UPDATE_TVC_APP_LIVE_DEPLOYMENT',
      status: 'ACTIVITY_STATUS_COMPLETED',
      intent: { updateTvcAppLiveDeploymentIntent: { deploymentId: second.deploymentId } },
      result: { updateTvcAppLiveDeploymentResult: {} },
    });
    expect(await liveOf(suite.root, app)).toBe(second.deploymentId);
    expect((await statusOf(suite.root, app)).targetedDeploymentId).toBe(second.deploymentId);

    // The live one stays while there is another one; the other one goes and comes back.
    const refused = await suite.root.submit('delete_tvc_deployment', { deploymentId: second.deploymentId });
    expectError(refused, 400, 'FAILED_PRECONDITION', /is live/);
    const { deploymentId: gone } = await suite.root.run('delete_tvc_deployment', { deploymentId: first.deploymentId });
    expect(gone).toBe(first.deploymentId);
    expect(await listDeployments(suite.root, app)).toMatchObject([
      { id: first.deploymentId, delete: true, manifestApprovals: [{}, {}, {}] },
      { id: second.deploymentId, delete: false, manifestApprovals: [{}, {}] },
    ]);
    expect(
      (await statusOf(suite.root, app)).deployments.map((one: { deploymentId: string }) => one.deploymentId),
    ).toEqual([second.deploymentId]);
    const back = await suite.root.submit('restore_tvc_deployment', { deploymentId: first.deploymentId });
    expect(back.body.activity.result).toEqual({ restoreTvcDeploymentResult: { deploymentId: first.deploymentId } });
    const restored = await getDeployment(suite.root, first.deploymentId);
    expect(restored).toEqual({ ...approved, manifestApprovals: restored.manifestApprovals, updatedAt: TIMESTAMP });
    expect(restored.manifestApprovals).toHaveLength(3);
    expect(await liveOf(suite.root, app)).toBe(second.deploymentId);

    // The only one that is left may go although it is live, and what comes back is not live.
    await suite.root.run('delete_tvc_deployment', { deploymentId: first.deploymentId });
    await suite.root.run('delete_tvc_deployment', { deploymentId: second.deploymentId });
    expect(await liveOf(suite.root, app)).toBeUndefined();
    await suite.root.run('restore_tvc_deployment', { deploymentId: second.deploymentId });
    expect(await liveOf(suite.root, app)).toBeUndefined();
    // Nor does a further signature of what was approved before make it live.
    await suite.root.run('create_tvc_manifest_approvals', {
      manifestId: second.manifestId,
      approvals: await approvalsOf(suite.root, app, second.deploymentId, 1),
    });
    expect(await liveOf(suite.root, app)).toBeUndefined();
    await suite.root.run('set_tvc_app_live_deployment', { deploymentId: second.deploymentId });
    expect(await liveOf(suite.root, app)).toBe(second.deploymentId);

    // With the app go all its deployments; their records stay.
    const { appId } = await suite.root.run('delete_tvc_app_and_deployments', { appId: app.appId });
    expect(appId).toBe(app.appId);
    expect((await listDeployments(suite.root, app)).map((one: { delete: boolean }) => one.delete)).toEqual([
      true,
      true,
    ]);
    expect(await getDeployment(suite.root, second.deploymentId)).toMatchObject({ delete: true, ...sets });
    for (const answer of [
      await suite.root.query('get_tvc_app', { tvcAppId: app.appId }),
      await suite.root.query('get_app_status', { appId: app.appId }),
      await suite.root.submit('delete_tvc_app_and_deployments', { appId: app.appId }),
      await suite.root.submit('create_tvc_deployment', deploymentParams(app.appId)),
    ]) {
      expectError(answer, 404, 'RESOURCE_NOT_FOUND');
    }
    const ids = (await suite.root.query('list_tvc_apps')).body.tvcApps.map(({ id }: { id: string }) => id);
    expect(ids).not.toContain(app.appId);
    for (const { deploymentId } of [first, second]) {
      expectError(
        await suite.root.submit('restore_tvc_deployment', { deploymentId }),
        400,
        'FAILED_PRECONDITION',
        /app of this deployment was deleted/,
      );
    }
  });

  test('a manifest is the canonical JSON of all that is approved', async () => {
    const operators = [newOperator(), newOperator()];
    const params = appParams(operators, 2);
    const app: App = { ...(await suite.root.run('create_tvc_app', params)), operators };
    const given = {
      ...deploymentParams(app.appId),
      pivotArgs: ['', 'ä\u2028"\\\u0007😀', '</script>'],
      nonce: 9_007_199_254_740_991,
      replicas: 5,
      instanceSizeCpus: 2,
    };
    const { deploymentId, manifestId } = await suite.root.run('create_tvc_deployment', given);
    const bytes = await manifestOf(suite.root, deploymentId);
    const members = operators.map(({ name, key }, place) => ({
      id: app.manifestSetOperatorIds[place],
      name,
      publicKey: key.publicKey,
    }));
    const expected = {
      ...given,
      version: 1,
      organizationId: suite.root.organizationId,
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
    await suite.root.run('create_tvc_manifest_approvals', {
      manifestId,
      approvals: await approvalsOf(suite.root, app, deploymentId, 0, 1),
    });
    await suite.root.run('delete_tvc_deployment', { deploymentId });
    expect(digest(await manifestOf(suite.root, deploymentId))).toBe(digest(bytes));

    // What is left out has the value that the guide names.
    const plain = await newDeployment(suite.root, app);
    const { nonce, replicas, ...rest } = JSON.parse(
      (await manifestOf(suite.root, plain.deploymentId)).toString('utf8'),
    );
    expect(replicas).toBe(3);
    expect(Math.abs(nonce - Date.now() / 1000)).toBeLessThan(600);
    expect(rest).not.toHaveProperty('instanceSizeCpus');
  });

  test('approvals that come twice count once, and keep their first signature', async () => {
    const app = await newApp(suite.root, many(2, newOperator), 2);
    const { deploymentId, manifestId } = await newDeployment(suite.root, app);
    const [first] = await approvalsOf(suite.root, app, deploymentId, 0);
    const [again] = await approvalsOf(suite.root, app, deploymentId, 0);
    expect(again).not.toEqual(first);
    const run = async (approvals: unknown) =>
      (await suite.root.run('create_tvc_manifest_approvals', { manifestId, approvals })).approvalIds;
    const [id] = await run([first]);
    expect(await run([again])).toEqual([id]);
    // Twice in one request as well.
    expect(await run([again, first])).toEqual([id, id]);
    const { manifestApprovals } = await getDeployment(suite.root, deploymentId);
    expect(manifestApprovals).toMatchObject([
      { id, approval: Buffer.from(first!.signature, 'hex').toString('base64') },
    ]);
    expect(await liveOf(suite.root, app)).toBeUndefined();
    expectError(
      await suite.root.submit('set_tvc_app_live_deployment', { deploymentId }),
      400,
      'FAILED_PRECONDITION',
      /needs more approvals/,
    );
    expect(await run(await approvalsOf(suite.root, app, deploymentId, 0, 1))).toEqual([id, anId]);
    expect(await liveOf(suite.root, app)).toBe(deploymentId);
  });
});
