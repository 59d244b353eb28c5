import Type from 'typebox';
import { renderApp } from '../../wire/deployments.ts';
import { defineQuery } from '../define.ts';
import { IdShape } from '../shapes/basic.ts';
import { TvcAppShape } from '../shapes/deployments.ts';

export const getTvcApp = defineQuery({
  name: 'get_tvc_app',
  summary: 'One app with its operator sets and the deployment that is live.',
  parameters: Type.Object({ organizationId: IdShape, tvcAppId: IdShape }),
  response: Type.Object({ tvcApp: TvcAppShape }),
  async run({ read, actor: { organizationId }, config }, { tvcAppId }) {
    const app = await read.tvc.getApp(organizationId, tvcAppId);
    const sets = await read.tvc.operatorSets(organizationId, [app.manifestSetId, app.shareSetId]);
    return { tvcApp: renderApp(organizationId, app, sets, config.appDomain) };
  },
});
