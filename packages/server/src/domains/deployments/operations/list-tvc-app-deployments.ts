import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { groupBy } from '../../../lib/collections.ts';
import type { DeployedAppId } from '../../../lib/ids.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { renderDeployment } from '../render.ts';
import { TvcDeploymentShape } from '../shapes.ts';
import { TvcReader } from '../store.ts';

export const listTvcAppDeployments = defineQuery({
  name: 'list_tvc_app_deployments',
  summary: 'Deployments of an app, deleted ones too, oldest first.',
  parameters: Type.Object({
    organizationId: IdShape,
    appId: IdShape,
    paginationOptions: Type.Optional(PaginationShape),
  }),
  response: Type.Object({ tvcDeployments: Type.Array(TvcDeploymentShape), pageInfo: PageInfoShape }),
  async run({ read, actor: { organizationId }, config }, { appId, paginationOptions }) {
    // The records of a deleted app stay readable.
    const app = await read(TvcReader).appOf(organizationId, { appId: appId as DeployedAppId });
    const request = toPageRequest(paginationOptions, config.listMax);
    const { items, pageInfo } = await read(TvcReader).deployments(organizationId, appId, request);
    const [sets, approvals] = await Promise.all([
      read(TvcReader).operatorSets(organizationId, [app.manifestSetId, app.shareSetId]),
      read(TvcReader).approvals(
        organizationId,
        items.map(({ id }) => id),
      ),
    ]);
    const byDeployment = groupBy(approvals, ({ deploymentId }) => deploymentId);
    return {
      tvcDeployments: items.map((deployment) =>
        renderDeployment(organizationId, deployment, app, sets, byDeployment.get(deployment.id) ?? []),
      ),
      pageInfo,
    };
  },
});
