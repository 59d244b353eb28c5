import Type from 'typebox';
import { nameOf, namesOf } from '../../../describe/names.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { countGenuine, verifyApprovals } from '../approvals.ts';
import { requireUndeleted } from '../lifecycle.ts';
import type { ManifestApproval } from '../model.ts';
import { ManifestApprovalParamsShape, OPERATORS_MAX } from '../shapes.ts';
import { TvcReader, TvcStore } from '../store.ts';

/** protocol/deployments 2.2. */
export const createTvcManifestApprovals = defineActivity({
  name: 'create_tvc_manifest_approvals',
  type: 'ACTIVITY_TYPE_CREATE_TVC_MANIFEST_APPROVALS',
  summary:
    "Add operators' signatures of a manifest. With enough of them the deployment can be live, and the first of an app is.",
  policy: { governedBy: 'policy', resource: 'TVC_DEPLOYMENT', action: 'UPDATE' },
  credentials: 'none',
  scope: 'parent',
  parameters: Type.Object({
    manifestId: IdShape,
    approvals: Type.Array(ManifestApprovalParamsShape, { minItems: 1, maxItems: OPERATORS_MAX }),
  }),
  sentence: ({ manifestId, approvals }, { names }) =>
    lookClosely(
      say`Approve the manifest of ${nameOf(names, 'tvcDeployment', manifestId)} as ${namesOf(
        names,
        'tvcOperator',
        approvals.map(({ operatorId }) => operatorId),
      )}.`,
      'lets code run with the keys of the app',
      'With enough approvals this code runs and can use the keys of the app. I want that.',
    ),
  result: Type.Object({ approvalIds: Type.Array(Type.String()) }),
  // Manifests and sets never change, so that a signature that was good once stays so.
  async describe({ read, actor }, { manifestId, approvals }) {
    const { organizationId } = actor;
    const deployment = await read(TvcReader).getDeploymentOfManifest(organizationId, manifestId);
    requireUndeleted(deployment);
    const app = await read(TvcReader).appOf(organizationId, deployment);
    const manifestSet = await read(TvcReader).getOperatorSet(organizationId, app.manifestSetId);
    return {
      deploymentId: deployment.id,
      manifestSet,
      verified: await verifyApprovals(deployment, manifestSet, approvals),
    };
  },
  prepare: async (_context, _parameters, described) => described,
  async execute({ store, actor, newId, nowMs }, _parameters, { deploymentId, manifestSet, verified }) {
    const { organizationId } = actor;
    const deployment = await store(TvcStore).getDeployment(organizationId, deploymentId);
    requireUndeleted(deployment);
    const approvalIds: string[] = [];
    for (const approval of verified) {
      const kept: ManifestApproval = { id: newId(), deploymentId, ...approval, createdAtMs: nowMs };
      approvalIds.push(await store(TvcStore).keepApproval(organizationId, kept));
    }
    const count = countGenuine(
      deployment,
      manifestSet,
      await store(TvcStore).approvals(organizationId, [deploymentId]),
    );
    // Only the approval that completes them makes anything live; a later one changes nothing.
    if (count >= manifestSet.threshold && (await store(TvcStore).markApproved(organizationId, deploymentId, nowMs))) {
      await store(TvcStore).setFirstLive(organizationId, deployment, nowMs);
    }
    return { approvalIds };
  },
});
