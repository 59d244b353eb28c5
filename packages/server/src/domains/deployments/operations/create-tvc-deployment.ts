import Type from 'typebox';
import { nameOf } from '../../../describe/names.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { named, say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import type { DeploymentId, ManifestId } from '../../../lib/ids.ts';
import { requireRoom } from '../lifecycle.ts';
import { buildManifest, checkDeployment, requireDebugMode } from '../manifest.ts';
import { type Deployment, readManifest } from '../model.ts';
import { DeploymentParamsShape } from '../shapes.ts';
import { TvcReader, TvcStore } from '../store.ts';

/** protocol/deployments 2.1. */
export const createTvcDeployment = defineActivity({
  name: 'create_tvc_deployment',
  type: 'ACTIVITY_TYPE_CREATE_TVC_DEPLOYMENT',
  summary: 'Create a deployment of an app with its manifest, which operators have to approve before it can be live.',
  bodyLimit: 128 * 1024,
  policy: { governedBy: 'policy', resource: 'TVC_DEPLOYMENT', action: 'CREATE' },
  credentials: 'none',
  scope: 'parent',
  parameters: DeploymentParamsShape,
  sentence: ({ appId, pivotContainerImageUrl, expectedPivotDigest, debugMode }, { names }) => {
    const said = say`Prepare a deployment of app ${nameOf(names, 'tvcApp', appId)} from ${named(pivotContainerImageUrl)}: operators decide on its manifest, with digest ${named(expectedPivotDigest)}.`;
    return debugMode === true
      ? lookClosely(said, 'debug mode', 'Whoever debugs it can read its secrets. I want that.')
      : said;
  },
  result: Type.Object({ deploymentId: Type.String(), manifestId: Type.String() }),
  check: checkDeployment,
  async describe({ read, actor }, parameters) {
    requireDebugMode(parameters, await read(TvcReader).getApp(actor.organizationId, parameters.appId));
  },
  async execute({ store, actor, newId, nowMs, config }, parameters) {
    const { organizationId } = actor;
    const app = await store(TvcStore).getApp(organizationId, parameters.appId);
    requireDebugMode(parameters, app);
    await requireRoom(store, organizationId, app, config);
    const manifestSet = await store(TvcStore).getOperatorSet(organizationId, app.manifestSetId);
    const shareSet = await store(TvcStore).getOperatorSet(organizationId, app.shareSetId);
    const deploymentId: DeploymentId = newId();
    const manifestId: ManifestId = newId();
    const subject = { organizationId, app, manifestSet, shareSet, deploymentId, manifestId, nowMs };
    const manifest = buildManifest(subject, parameters);
    const deployment: Deployment = {
      id: deploymentId,
      appId: app.id,
      manifestId,
      manifest,
      replicas: readManifest({ manifest }).replicas,
      encryptedPullSecret: parameters.pivotContainerEncryptedPullSecret || undefined,
      approvedAtMs: undefined,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
      deletedAtMs: undefined,
    };
    await store(TvcStore).insertDeployment(organizationId, deployment);
    return { deploymentId, manifestId };
  },
});
