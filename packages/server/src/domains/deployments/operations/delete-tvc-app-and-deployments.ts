import Type from 'typebox';
import { nameOf } from '../../../describe/names.ts';
import { danger } from '../../../describe/sentence.ts';
import { say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { TvcReader, TvcStore } from '../store.ts';

/** protocol/deployments 3. */
export const deleteTvcAppAndDeployments = defineActivity({
  name: 'delete_tvc_app_and_deployments',
  type: 'ACTIVITY_TYPE_DELETE_TVC_APP_AND_DEPLOYMENTS',
  summary: 'Delete an app for good; its deployments stay as records that are marked as deleted.',
  policy: { governedBy: 'policy', resource: 'TVC_APP', action: 'DELETE' },
  credentials: 'none',
  scope: 'parent',
  parameters: Type.Object({ appId: IdShape }),
  sentence: ({ appId }, { names }) =>
    danger(
      say`Delete app ${nameOf(names, 'tvcApp', appId)} with all its deployments.`,
      'stops everything of the app',
      'Everything that this app runs stops. I want that.',
    ),
  result: Type.Object({ appId: Type.String() }),
  describe: ({ read, actor }, { appId }) => read(TvcReader).getApp(actor.organizationId, appId),
  async execute({ store, actor, nowMs }, { appId }) {
    const app = await store(TvcStore).getApp(actor.organizationId, appId);
    await store(TvcStore).deleteApp(actor.organizationId, app.id, nowMs);
    return { appId };
  },
});
