import { describe, expect, test } from 'vitest';
import { openTestApp } from '../../harness/app.ts';
import { createUser, type TestClient } from '../../harness/client.ts';
import { DATABASES } from '../../harness/databases.ts';
import {
  appParams,
  approvalsOf,
  deploymentParams,
  newApp,
  newApproved,
  newDeployment,
  newOperator,
} from '../../harness/deployments.ts';
import { expectError, getDeployment, listDeployments, liveOf, many, openDeployments, statusOf } from './support.ts';

describe.each(DATABASES)('deployments on %s', (database) => {
  const suite = openDeployments(database);

  describe('at the same time', () => {
    test('each approval counts once, and one deployment becomes live', async () => {
      const app = await newApp(suite.root, many(5, newOperator), 3);
      const { deploymentId, manifestId } = await newDeployment(suite.root, app);
      // Each of the five three times, with a signature of its own each time.
      const requests = await Promise.all(
        many(15, async (index) => (await approvalsOf(suite.root, app, deploymentId, index % 5))[0]!),
      );
      const answers = await Promise.all(
        requests.map(async (approval) => {
          const { approvalIds } = await suite.root.run('create_tvc_manifest_approvals', {
            manifestId,
            approvals: [approval],
          });
          return [approval.operatorId, approvalIds[0]] as const;
        }),
      );
      const { manifestApprovals } = await getDeployment(suite.root, deploymentId);
      const kept = manifestApprovals.map((one: { id: string; operator: { id: string } }) => [one.operator.id, one.id]);
      expect(new Map(kept)).toEqual(new Map(answers));
      expect(new Set(answers.map(([, id]) => id)).size).toBe(5);
      expect(kept).toHaveLength(5);
      expect(await liveOf(suite.root, app)).toBe(deploymentId);
    });

    test('of several deployments that become approved the first is live', async () => {
      const app = await newApp(suite.root, many(2, newOperator), 2);
      const made = await Promise.all(many(4, () => newDeployment(suite.root, app)));
      const calls = await Promise.all(
        made.flatMap(({ deploymentId, manifestId }) =>
          [0, 1].map(async (place) => ({
            manifestId,
            approvals: await approvalsOf(suite.root, app, deploymentId, place),
          })),
        ),
      );
      await Promise.all(calls.map((call) => suite.root.run('create_tvc_manifest_approvals', call)));
      const live = await liveOf(suite.root, app);
      expect(made.map(({ deploymentId }) => deploymentId)).toContain(live);
      const { deployments, targetedDeploymentId } = await statusOf(suite.root, app);
      expect(targetedDeploymentId).toBe(live);
      expect(deployments.map((one: { desiredReplicas: number }) => one.desiredReplicas)).toEqual([3, 3, 3, 3]);
      // Any of them can be chosen: all are approved.
      for (const { deploymentId } of made) await suite.root.run('set_tvc_app_live_deployment', { deploymentId });
    });

    test('what is deleted is never live', async () => {
      const outcomes = new Set<string>();
      for (let round = 0; round < 6; round += 1) {
        const app = await newApp(suite.root);
        const [first, second] = [await newApproved(suite.root, app), await newApproved(suite.root, app)];
        const choose = () => suite.root.submit('set_tvc_app_live_deployment', { deploymentId: second.deploymentId });
        const remove = () => suite.root.submit('delete_tvc_deployment', { deploymentId: second.deploymentId });
        // Whoever is sent first has the better chance.
        const [removedFirst, chosenFirst] = round % 2 === 0 ? [remove(), undefined] : [undefined, choose()];
        const [removed, chosen] = await Promise.all([removedFirst ?? remove(), chosenFirst ?? choose()]);
        const [live, { delete: isDeleted }] = [
          await liveOf(suite.root, app),
          await getDeployment(suite.root, second.deploymentId),
        ];
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
        const app = await newApp(suite.root);
        const only = await newApproved(suite.root, app);
        const next = await newDeployment(suite.root, app);
        await suite.root.run('delete_tvc_deployment', { deploymentId: next.deploymentId });
        // The only one goes while another comes back.
        const [gone, back] = await Promise.all([
          suite.root.submit('delete_tvc_deployment', { deploymentId: only.deploymentId }),
          suite.root.submit('restore_tvc_deployment', { deploymentId: next.deploymentId }),
        ]);
        expect(back.status).toBe(200);
        const isGone = gone.status === 200;
        expect((await getDeployment(suite.root, only.deploymentId)).delete).toBe(isGone);
        expect(await liveOf(suite.root, app)).toBe(isGone ? undefined : only.deploymentId);
        // The app goes while one of its deployments comes back, is approved and is chosen.
        if (!isGone) await suite.root.run('set_tvc_app_live_deployment', { deploymentId: only.deploymentId });
        const approvals = await approvalsOf(suite.root, app, next.deploymentId, 0);
        await Promise.all([
          suite.root.submit('restore_tvc_deployment', { deploymentId: only.deploymentId }),
          suite.root.submit('create_tvc_manifest_approvals', { manifestId: next.manifestId, approvals }),
          suite.root.run('delete_tvc_app_and_deployments', { appId: app.appId }),
          suite.root.submit('set_tvc_app_live_deployment', { deploymentId: only.deploymentId }),
          suite.root.submit('create_tvc_deployment', deploymentParams(app.appId)),
        ]);
        for (const { delete: isDeleted } of await listDeployments(suite.root, app)) expect(isDeleted).toBe(true);
        expectError(await suite.root.query('get_tvc_app', { tvcAppId: app.appId }), 404, 'RESOURCE_NOT_FOUND');
      }
    });

    test('the same sets and operators are made once', async () => {
      const params = appParams(many(3, newOperator), 2);
      const made = await Promise.all(
        many(6, (index) => suite.root.run('create_tvc_app', { ...params, name: `App ${index}` })),
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
