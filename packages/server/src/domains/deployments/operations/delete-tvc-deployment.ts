import Type from 'typebox';
import { nameOf, shortId } from '../../../describe/names.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { say, strong } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import type { OrganizationId } from '../../../lib/ids.ts';
import { IdShape } from '../../../lib/shapes.ts';
import type { ReadStores } from '../../../storage/stores.ts';
import { requireDeletable, requireNotLive } from '../lifecycle.ts';
import type { Deployment } from '../model.ts';
import { TvcReader, TvcStore } from '../store.ts';

/** protocol/deployments 3. */
export const deleteTvcDeployment = defineActivity({
  name: 'delete_tvc_deployment',
  type: 'ACTIVITY_TYPE_DELETE_TVC_DEPLOYMENT',
  summary: 'Mark a deployment as deleted; its record stays. The live one can go only if it is the only one.',
  policy: { governedBy: 'policy', resource: 'TVC_DEPLOYMENT', action: 'DELETE' },
  credentials: 'none',
  scope: 'parent',
  parameters: Type.Object({ deploymentId: IdShape }),
  sentence: ({ deploymentId }, { names }) =>
    lookClosely(
      say`Delete deployment ${strong(shortId(deploymentId))} of app ${nameOf(names, 'tvcDeployment', deploymentId)}.`,
      'stops what runs',
      'Whoever uses this deployment loses it, until it is restored. I want that.',
    ),
  result: Type.Object({ deploymentId: Type.String() }),
  async describe({ read, actor }, { deploymentId }) {
    await judge(read, actor.organizationId, deploymentId);
  },
  async execute({ store, actor, nowMs }, { deploymentId }) {
    const { organizationId } = actor;
    const { deployment, isLive } = await judge(store, organizationId, deploymentId);
    await store(TvcStore).markDeployment(organizationId, deployment.id, nowMs, nowMs);
    if (isLive) await store(TvcStore).setLive(organizationId, deployment.appId, undefined, nowMs);
    return { deploymentId };
  },
});

async function judge(
  read: ReadStores,
  organizationId: OrganizationId,
  deploymentId: string,
): Promise<{ readonly deployment: Deployment; readonly isLive: boolean }> {
  const deployment = await read(TvcReader).getDeployment(organizationId, deploymentId);
  requireDeletable(deployment);
  const app = await read(TvcReader).appOf(organizationId, deployment);
  requireNotLive(deployment, app, await read(TvcReader).hasOtherDeployment(organizationId, deployment));
  return { deployment, isLive: app.liveDeploymentId === deployment.id };
}
