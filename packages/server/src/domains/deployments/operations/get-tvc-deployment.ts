import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { renderDeployment } from '../render.ts';
import { TvcDeploymentShape } from '../shapes.ts';
import { TvcReader } from '../store.ts';

export const getTvcDeployment = defineQuery({
  name: 'get_tvc_deployment',
  summary: 'One deployment with its manifest and the approvals of it, deleted or not.',
  parameters: Type.Object({ organizationId: IdShape, deploymentId: IdShape }),
  response: Type.Object({ tvcDeployment: TvcDeploymentShape }),
  async run({ read, actor: { organizationId } }, { deploymentId }) {
    const deployment = await read(TvcReader).getDeployment(organizationId, deploymentId);
    const app = await read(TvcReader).appOf(organizationId, deployment);
    const [sets, approvals] = await Promise.all([
      read(TvcReader).operatorSets(organizationId, [app.manifestSetId, app.shareSetId]),
      read(TvcReader).approvals(organizationId, [deployment.id]),
    ]);
    return { tvcDeployment: renderDeployment(organizationId, deployment, app, sets, approvals) };
  },
});
