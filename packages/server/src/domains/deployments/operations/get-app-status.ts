import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { renderStatus } from '../render.ts';
import { AppStatusShape } from '../shapes.ts';
import { TvcReader } from '../store.ts';

export const getAppStatus = defineQuery({
  name: 'get_app_status',
  summary: 'Which deployment of an app is targeted. No replica is ever ready: this service runs no enclaves.',
  parameters: Type.Object({ organizationId: IdShape, appId: IdShape }),
  response: Type.Object({ appStatus: AppStatusShape }),
  async run({ read, actor: { organizationId }, config }, { appId }) {
    const app = await read(TvcReader).getApp(organizationId, appId);
    return {
      appStatus: renderStatus(app, await read(TvcReader).deploymentStates(organizationId, appId, config.listMax)),
    };
  },
});
