import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { renderApp } from '../render.ts';
import { TvcAppShape } from '../shapes.ts';
import { TvcReader } from '../store.ts';

export const getTvcApp = defineQuery({
  name: 'get_tvc_app',
  summary: 'One app with its operator sets and the deployment that is live.',
  parameters: Type.Object({ organizationId: IdShape, tvcAppId: IdShape }),
  response: Type.Object({ tvcApp: TvcAppShape }),
  async run({ read, actor: { organizationId }, config }, { tvcAppId }) {
    const app = await read(TvcReader).getApp(organizationId, tvcAppId);
    const sets = await read(TvcReader).operatorSets(organizationId, [app.manifestSetId, app.shareSetId]);
    return { tvcApp: renderApp(organizationId, app, sets, config.appDomain) };
  },
});
