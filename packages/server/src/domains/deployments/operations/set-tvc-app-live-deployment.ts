import Type from 'typebox';
import { nameOf, shortId } from '../../../describe/names.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { say, strong } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { requireApproved, requireUndeleted } from '../lifecycle.ts';
import { TvcReader, TvcStore } from '../store.ts';

/** protocol/deployments 3. The name of the path and that of the type differ in the wire protocol. */
export const setTvcAppLiveDeployment = defineActivity({
  name: 'set_tvc_app_live_deployment',
  type: 'ACTIVITY_TYPE_UPDATE_TVC_APP_LIVE_DEPLOYMENT',
  summary: 'Make an approved deployment the live one of its app, in place of the one that was.',
  policy: { governedBy: 'policy', resource: 'TVC_APP', action: 'UPDATE' },
  credentials: 'none',
  scope: 'parent',
  parameters: Type.Object({ deploymentId: IdShape }),
  sentence: ({ deploymentId }, { names }) =>
    lookClosely(
      say`Send the traffic of app ${nameOf(names, 'tvcDeployment', deploymentId)} to deployment ${strong(shortId(deploymentId))}.`,
      'changes what runs',
      'Everybody who uses the app then meets this deployment. I want that.',
    ),
  result: Type.Object({}),
  async describe({ read, actor }, { deploymentId }) {
    const deployment = await read(TvcReader).getDeployment(actor.organizationId, deploymentId);
    requireUndeleted(deployment);
    requireApproved(deployment);
  },
  async execute({ store, actor, nowMs }, { deploymentId }) {
    const { organizationId } = actor;
    const deployment = await store(TvcStore).getDeployment(organizationId, deploymentId);
    requireUndeleted(deployment);
    requireApproved(deployment);
    await store(TvcStore).setLive(organizationId, deployment.appId, deployment.id, nowMs);
    return {};
  },
});
