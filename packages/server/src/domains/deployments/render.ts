import type { Static } from 'typebox';
import { toTimestamp } from '../../lib/clock.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import {
  type DeployedApp,
  type Deployment,
  type DeploymentState,
  type ManifestApproval,
  type Operator,
  type OperatorSet,
  operatorPublicKey,
  readManifest,
} from './model.ts';
import type {
  AppStatusShape,
  TvcAppShape,
  TvcDeploymentShape,
  TvcOperatorSetShape,
  TvcOperatorShape,
} from './shapes.ts';

/** What was never changed was last changed when it was made. */
const madeAt = ({ createdAtMs }: { readonly createdAtMs: number }) => ({
  createdAt: toTimestamp(createdAtMs),
  updatedAt: toTimestamp(createdAtMs),
});

export const renderOperator = (operator: Operator): Static<typeof TvcOperatorShape> => ({
  id: operator.id,
  name: operator.name,
  publicKey: operatorPublicKey(operator),
  ...madeAt(operator),
  encryptPublicKey: operator.encryptPublicKey ?? '',
  signPublicKey: operator.signPublicKey,
  keySource: operator.keySource,
});

const renderSet = (
  organizationId: OrganizationId,
  { id, name, operators, threshold, createdAtMs }: OperatorSet,
): Static<typeof TvcOperatorSetShape> => ({
  id,
  name,
  organizationId,
  operators: operators.map(renderOperator),
  threshold,
  ...madeAt({ createdAtMs }),
});

/** Those of the app in question among others. */
export type OperatorSets = ReadonlyMap<string, OperatorSet>;

const setsOf = (organizationId: OrganizationId, { manifestSetId, shareSetId }: DeployedApp, sets: OperatorSets) => ({
  manifestSet: renderSet(organizationId, sets.get(manifestSetId) as OperatorSet),
  shareSet: renderSet(organizationId, sets.get(shareSetId) as OperatorSet),
});

export const renderApp = (
  organizationId: OrganizationId,
  app: DeployedApp,
  sets: OperatorSets,
  domain: string,
): Static<typeof TvcAppShape> => ({
  id: app.id,
  organizationId,
  name: app.name,
  quorumPublicKey: app.quorumPublicKey,
  ...setsOf(organizationId, app, sets),
  enableEgress: app.enableEgress,
  createdAt: toTimestamp(app.createdAtMs),
  updatedAt: toTimestamp(app.updatedAtMs),
  ...(app.liveDeploymentId !== undefined && { liveDeploymentId: app.liveDeploymentId }),
  publicDomain: `app-${app.id}.${domain}`,
  enableDebugModeDeployments: app.enableDebugMode,
});

/** All but the approvals comes out of the manifest, so that what is shown is what is approved. */
export function renderDeployment(
  organizationId: OrganizationId,
  deployment: Deployment,
  app: DeployedApp,
  sets: OperatorSets,
  approvals: readonly ManifestApproval[],
): Static<typeof TvcDeploymentShape> {
  const manifest = readManifest(deployment);
  const { instanceSizeCpus, instanceSizeRam } = manifest;
  const members = new Map(sets.get(app.manifestSetId)?.operators.map((operator) => [operator.id, operator]));
  return {
    id: deployment.id,
    organizationId,
    appId: deployment.appId,
    ...setsOf(organizationId, app, sets),
    manifest: {
      id: deployment.manifestId,
      manifest: Buffer.from(deployment.manifest).toString('base64'),
      ...madeAt(deployment),
    },
    manifestApprovals: approvals.map((approval) => ({
      id: approval.id,
      manifestId: deployment.manifestId,
      operator: renderOperator(members.get(approval.operatorId) as Operator),
      approval: Buffer.from(approval.signature).toString('base64'),
      ...madeAt(approval),
    })),
    qosVersion: manifest.qosVersion,
    pivotContainer: {
      containerUrl: manifest.pivotContainerImageUrl,
      path: manifest.pivotPath,
      args: [...manifest.pivotArgs],
      hasPullSecret: manifest.hasPullSecret,
      healthCheckType: manifest.healthCheckType,
      healthCheckPort: manifest.healthCheckPort,
      publicIngressPort: manifest.publicIngressPort,
    },
    createdAt: toTimestamp(deployment.createdAtMs),
    updatedAt: toTimestamp(deployment.updatedAtMs),
    delete: deployment.deletedAtMs !== undefined,
    debugMode: manifest.debugMode,
    ...(instanceSizeCpus !== undefined && { instanceSizeCpus }),
    ...(instanceSizeRam !== undefined && { instanceSizeRam }),
  };
}

/** Nothing runs here, so that nothing is ready: what would run is what was approved. */
export const renderStatus = (
  app: DeployedApp,
  deployments: readonly DeploymentState[],
): Static<typeof AppStatusShape> => ({
  appId: app.id,
  deployments: deployments.map((deployment) => ({
    deploymentId: deployment.id,
    readyReplicas: 0,
    desiredReplicas: deployment.approvedAtMs === undefined ? 0 : deployment.replicas,
    lastUpdatedTime: toTimestamp(deployment.updatedAtMs),
  })),
  targetedDeploymentId: app.liveDeploymentId ?? '',
});
