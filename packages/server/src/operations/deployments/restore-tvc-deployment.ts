import Type from 'typebox';
import { defineActivity } from '../define.ts';
import { IdShape } from '../shapes/basic.ts';
import { requireRestorable, requireRoom } from './lifecycle.ts';

export const restoreTvcDeployment = defineActivity({
  name: 'restore_tvc_deployment',
  type: 'ACTIVITY_TYPE_RESTORE_TVC_DEPLOYMENT',
  summary: 'Restore a deleted deployment, with its approvals. It is not made live.',
  policy: { governedBy: 'policy', resource: 'TVC_DEPLOYMENT', action: 'UPDATE' },
  credentials: 'none',
  scope: 'parent',
  parameters: Type.Object({ deploymentId: IdShape }),
  result: Type.Object({ deploymentId: Type.String() }),
  async describe({ read, actor }, { deploymentId }) {
    const deployment = await read.tvc.getDeployment(actor.organizationId, deploymentId);
    requireRestorable(deployment, await read.tvc.appOf(actor.organizationId, deployment));
  },
  async execute({ store, actor, nowMs, config }, { deploymentId }) {
    const { organizationId } = actor;
    const deployment = await store.tvc.getDeployment(organizationId, deploymentId);
    const app = await store.tvc.appOf(organizationId, deployment);
    requireRestorable(deployment, app);
    await requireRoom(store, organizationId, app, config);
    await store.tvc.markDeployment(organizationId, deployment.id, undefined, nowMs);
    return { deploymentId };
  },
});
