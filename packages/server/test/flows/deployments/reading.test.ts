import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createSubOrganization, createUser } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import {
  appParams,
  approvalsOf,
  deploymentParams,
  newApp,
  newApproved,
  newDeployment,
  newOperator,
  setParams,
} from '../../harness/deployments.ts';
import { expectError, liveOf, many, openDeployments, statusOf } from './support.ts';

describe.each(databasesOf(import.meta.url))('deployments on %s', (database) => {
  const suite = openDeployments(database);

  test('lists are paged, deleted things among them', async () => {
    const app = await newApp(suite.root, many(3, newOperator), 1);
    const made: string[] = [];
    for (let count = 0; count < 4; count += 1) made.push((await newApproved(suite.root, app, 0, 2)).deploymentId);
    await suite.root.run('delete_tvc_deployment', { deploymentId: made[2] });
    const page = async (paginationOptions?: object) =>
      (await suite.root.query('list_tvc_app_deployments', { appId: app.appId, paginationOptions })).body;
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
    const [one, two] = [await newApp(suite.root), await newApp(suite.root)];
    await suite.root.run('delete_tvc_app_and_deployments', { appId: one.appId });
    const after = await suite.root.query('list_tvc_apps', { paginationOptions: { limit: '1', after: one.appId } });
    expect(idsOf(after.body.tvcApps)).toEqual([two.appId]);
    const operators = await suite.root.query('list_tvc_operators', {
      paginationOptions: { limit: '2', after: app.manifestSetOperatorIds[0] },
    });
    expect(idsOf(operators.body.tvcOperators)).toEqual(app.manifestSetOperatorIds.slice(1));
  });

  test('lists are bounded by their bytes, whether they come in pages or not', async () => {
    const operators = many(50, newOperator);
    const app = await newApp(suite.root, operators, 2, { shareSetParams: setParams(many(50, newOperator), 2) });
    for (let count = 0; count < 31; count += 1) await newDeployment(suite.root, app);
    const list = (paginationOptions?: object) =>
      suite.root.query('list_tvc_app_deployments', { appId: app.appId, paginationOptions });
    const whole = await list();
    expectError(whole, 400, 'RESULT_TOO_LARGE', /a limit of [0-9]+ fits/);
    const limit = /a limit of ([0-9]+) fits/.exec(whole.body.message)?.[1];
    expectError(await list({ limit: '100' }), 400, 'RESULT_TOO_LARGE', /a limit of [0-9]+ fits/);
    const page = await list({ limit });
    expect(page.body.tvcDeployments).toHaveLength(Number(limit));
    expect(page.body.pageInfo.hasNextPage).toBe(true);
    expect((await statusOf(suite.root, app)).deployments).toHaveLength(31);
  });

  test('what operators cannot see is not put before them', async () => {
    const app = await newApp(suite.root);
    const submit = (change: object) =>
      suite.root.submit('create_tvc_deployment', { ...deploymentParams(app.appId), ...change });
    expect((await submit({ pivotPath: '/app/pivöt é', pivotArgs: ['line\nline', '😀'] })).status).toBe(200);
    for (const unseen of ['\u202e', '\u2066', '\u200b', '\u200d', '\u2060', '\ufeff', '\u00ad']) {
      for (const field of ['qosVersion', 'pivotContainerImageUrl', 'pivotPath', 'expectedPivotDigest']) {
        expectError(await submit({ [field]: `a${unseen}b` }), 400, 'REQUEST_INVALID', new RegExp(field));
      }
      expectError(await submit({ pivotArgs: ['fine', `a${unseen}b`] }), 400, 'REQUEST_INVALID', /pivotArgs\.1/);
      const named = appParams([{ ...newOperator(), name: `a${unseen}b` }, newOperator()]);
      expectError(await suite.root.submit('create_tvc_app', named), 400, 'REQUEST_INVALID', /newOperators\.0\.name/);
    }
  });

  test('deployments are for parents, and their own', async () => {
    const app = await newApp(suite.root);
    const { deploymentId, manifestId } = await newApproved(suite.root, app);
    const child = await createSubOrganization(suite.root, 'child');
    const { walletId } = await child.run('create_wallet', { walletName: 'w', accounts: [] });
    for (const [operation, parameters] of [
      ['create_tvc_app', appParams()],
      ['create_tvc_deployment', deploymentParams(app.appId)],
      ['create_tvc_manifest_approvals', { manifestId, approvals: await approvalsOf(suite.root, app, deploymentId, 0) }],
      ['set_tvc_app_live_deployment', { deploymentId }],
      ['delete_tvc_deployment', { deploymentId }],
      ['restore_tvc_deployment', { deploymentId }],
      ['delete_tvc_app_and_deployments', { appId: app.appId }],
      ['create_tvc_operator', { walletId, path: 'm/1', operatorName: 'Operator' }],
    ] as const) {
      expectError(await child.submit(operation, parameters), 400, 'INVALID_ACTIVITY_CALLER');
      const mismatch = await suite.root.submit(operation, parameters, { organizationId: child.organizationId });
      expectError(mismatch, 400, 'ORGANIZATION_MISMATCH');
    }
    for (const [operation, parameters] of [
      ['get_tvc_app', { tvcAppId: app.appId }],
      ['get_tvc_deployment', { deploymentId }],
      ['list_tvc_app_deployments', { appId: app.appId }],
      ['get_app_status', { appId: app.appId }],
    ] as const) {
      expect((await suite.root.query(operation, parameters)).status).toBe(200);
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
    expect(await liveOf(suite.root, app)).toBe(deploymentId);
  });

  test('a policy lets a user approve and nothing else', async () => {
    const app = await newApp(suite.root);
    const clerk = await createUser(suite.root, 'Clerk');
    const { deploymentId, manifestId } = await newDeployment(suite.root, app);
    const approvals = await approvalsOf(suite.root, app, deploymentId, 0);
    const denied = await clerk.submit('create_tvc_manifest_approvals', { manifestId, approvals });
    expectError(denied, 403, 'REQUEST_NOT_AUTHORIZED');
    expect(await liveOf(suite.root, app)).toBeUndefined();
    const { policyId } = await suite.root.run('create_policy', {
      policyName: `Clerk ${randomUUID()}`,
      effect: 'EFFECT_ALLOW',
      condition: "activity.type == 'ACTIVITY_TYPE_CREATE_TVC_MANIFEST_APPROVALS'",
      consensus: `approvers.any(user, user.id == '${clerk.userId}')`,
      notes: '',
    });
    await clerk.run('create_tvc_manifest_approvals', { manifestId, approvals });
    expect(await liveOf(suite.root, app)).toBe(deploymentId);
    const others = await clerk.submit('delete_tvc_deployment', { deploymentId });
    expectError(others, 403, 'REQUEST_NOT_AUTHORIZED');
    expectError(
      await clerk.submit('create_tvc_deployment', deploymentParams(app.appId)),
      403,
      'REQUEST_NOT_AUTHORIZED',
    );
    await suite.root.run('delete_policy', { policyId });
  });
});
