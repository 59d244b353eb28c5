import Type from 'typebox';
import { nameOf, shortId } from '../../../describe/names.ts';
import { say, strong } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { requireRestorable, requireRoom } from '../lifecycle.ts';
import { TvcReader, TvcStore } from '../store.ts';

export const restoreTvcDeployment = defineActivity({
  name: 'restore_tvc_deployment',
  type: 'ACTIVITY_TYPE_RESTORE_TVC_DEPLOYMENT',
  summary: 'Restore a deleted deployment, with its approvals. It is not made live.',
  policy: { governedBy: 'policy', resource: 'TVC_DEPLOYMENT', action: 'UPDATE' },
  credentials: 'none',
  scope: 'parent',
  parameters: Type.Object({ deploymentId: IdShape }),
  sentence: ({ deploymentId }, { names }) =>
    say`Restore deployment ${strong(shortId(deploymentId))} of app ${nameOf(names, 'tvcDeployment', deploymentId)}.`,
  result: Type.Object({ deploymentId: Type.String() }),
  async describe({ read, actor }, { deploymentId }) {
    const deployment = await read(TvcReader).getDeployment(actor.organizationId, deploymentId);
    requireRestorable(deployment, await read(TvcReader).appOf(actor.organizationId, deployment));
  },
  async execute({ store, actor, nowMs, config }, { deploymentId }) {
    const { organizationId } = actor;
    const deployment = await store(TvcStore).getDeployment(organizationId, deploymentId);
    const app = await store(TvcStore).appOf(organizationId, deployment);
    requireRestorable(deployment, app);
    await requireRoom(store, organizationId, app, config);
    await store(TvcStore).markDeployment(organizationId, deployment.id, undefined, nowMs);
    return { deploymentId };
  },
});
