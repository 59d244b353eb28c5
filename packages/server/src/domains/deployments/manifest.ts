import type { Static } from 'typebox';
import { type CanonicalObject, canonicalJson } from '../../lib/canonical-json.ts';
import { invalidField } from '../../lib/errors.ts';
import type { DeploymentId, ManifestId, OrganizationId } from '../../lib/ids.ts';
import { type DeployedApp, type Manifest, type ManifestSet, type OperatorSet, operatorPublicKey } from './model.ts';
import { type DeploymentParamsShape, PIVOT_ARGS_LENGTH_MAX } from './shapes.ts';

type DeploymentParams = Static<typeof DeploymentParamsShape>;

const REPLICAS_DEFAULT = 3;

export function checkDeployment({ pivotArgs, debugMode, replicas }: DeploymentParams): void {
  if (pivotArgs.reduce((length, argument) => length + argument.length, 0) > PIVOT_ARGS_LENGTH_MAX) {
    throw invalidField('parameters.pivotArgs', `must be at most ${PIVOT_ARGS_LENGTH_MAX} characters together`);
  }
  if (debugMode && replicas !== undefined && replicas !== 1) {
    throw invalidField('parameters.replicas', 'must be 1 or absent in debug mode');
  }
}

/** What debug mode shows makes the quorum key worthless, so that an app has to have been made for it. */
export function requireDebugMode({ debugMode }: DeploymentParams, app: DeployedApp): void {
  if (!debugMode || app.enableDebugMode) return;
  throw invalidField('parameters.debugMode', 'needs an app that was created with enableDebugModeDeployments');
}

const toManifestSet = ({ id, name, operators, threshold }: OperatorSet): ManifestSet => ({
  id,
  name,
  operators: operators.map((operator) => ({
    id: operator.id,
    name: operator.name,
    publicKey: operatorPublicKey(operator),
  })),
  threshold,
});

export interface ManifestSubject {
  readonly organizationId: OrganizationId;
  readonly app: DeployedApp;
  readonly manifestSet: OperatorSet;
  readonly shareSet: OperatorSet;
  readonly deploymentId: DeploymentId;
  readonly manifestId: ManifestId;
  readonly nowMs: number;
}

/**
 * The text that operators sign (protocol/deployments 2.1). Ids are in it, so that no approval serves for another
 * deployment.
 */
export function buildManifest(
  { organizationId, app, manifestSet, shareSet, deploymentId, manifestId, nowMs }: ManifestSubject,
  parameters: DeploymentParams,
): string {
  const { pivotContainerEncryptedPullSecret, debugMode = false, nonce, replicas, ...given } = parameters;
  const manifest: Manifest = {
    ...given,
    version: 1,
    organizationId,
    appId: app.id,
    deploymentId,
    manifestId,
    nonce: nonce ?? Math.floor(nowMs / 1000),
    hasPullSecret: Boolean(pivotContainerEncryptedPullSecret),
    replicas: replicas ?? (debugMode ? 1 : REPLICAS_DEFAULT),
    debugMode,
    enableEgress: app.enableEgress,
    quorumPublicKey: app.quorumPublicKey,
    manifestSet: toManifestSet(manifestSet),
    shareSet: toManifestSet(shareSet),
  };
  return canonicalJson(manifest as unknown as CanonicalObject);
}
