import type {
  DeployedAppId,
  DeploymentId,
  ManifestApprovalId,
  ManifestId,
  OperatorId,
  OperatorSetId,
  OrganizationId,
} from '../../lib/ids.ts';

/** Where an operator's keys are: with whoever told the public ones, or derived from a wallet of the organization. */
export type OperatorKeySource = 'EXTERNAL_KEY' | 'ORG_WALLET_ACCOUNT';

/** Somebody who approves manifests, or holds a share of a quorum key. Never changed once it is there. */
export interface Operator {
  readonly id: OperatorId;
  readonly name: string;
  /** Compressed lower-case hex of a P-256 key, like the other one. */
  readonly signPublicKey: string;
  /** Undefined where only the signing key is known. */
  readonly encryptPublicKey: string | undefined;
  readonly keySource: OperatorKeySource;
  readonly createdAtMs: number;
}

/** Both keys as one: the one to encrypt to, if it is known, and then the signing key. */
export const operatorPublicKey = ({
  encryptPublicKey = '',
  signPublicKey,
}: Pick<Operator, 'encryptPublicKey' | 'signPublicKey'>): string => `${encryptPublicKey}${signPublicKey}`;

/** Operators of whom so many have to agree. Never changed once it is there. */
export interface OperatorSet {
  readonly id: OperatorSetId;
  readonly name: string;
  readonly threshold: number;
  readonly operators: readonly Operator[];
  readonly createdAtMs: number;
}

export interface DeployedApp {
  readonly id: DeployedAppId;
  readonly name: string;
  readonly quorumPublicKey: string;
  readonly manifestSetId: OperatorSetId;
  readonly shareSetId: OperatorSetId;
  readonly enableEgress: boolean;
  readonly enableDebugMode: boolean;
  readonly liveDeploymentId: DeploymentId | undefined;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly deletedAtMs: number | undefined;
}

export const HEALTH_CHECK_TYPES = ['TVC_HEALTH_CHECK_TYPE_HTTP', 'TVC_HEALTH_CHECK_TYPE_GRPC'] as const;
export type HealthCheckType = (typeof HEALTH_CHECK_TYPES)[number];

/** A set as a manifest names it. */
export interface ManifestSet {
  readonly id: string;
  readonly name: string;
  readonly operators: readonly { readonly id: string; readonly name: string; readonly publicKey: string }[];
  readonly threshold: number;
}

/** All that operators approve; docs/guides/deployments.md has it byte for byte. */
export interface Manifest {
  readonly version: 1;
  readonly organizationId: OrganizationId;
  readonly appId: DeployedAppId;
  readonly deploymentId: DeploymentId;
  readonly manifestId: ManifestId;
  readonly nonce: number;
  readonly qosVersion: string;
  readonly pivotContainerImageUrl: string;
  readonly pivotPath: string;
  readonly pivotArgs: readonly string[];
  readonly expectedPivotDigest: string;
  readonly hasPullSecret: boolean;
  readonly healthCheckType: HealthCheckType;
  readonly healthCheckPort: number;
  readonly publicIngressPort: number;
  readonly replicas: number;
  readonly instanceSizeCpus?: number;
  readonly instanceSizeRam?: number;
  readonly debugMode: boolean;
  readonly enableEgress: boolean;
  readonly quorumPublicKey: string;
  readonly manifestSet: ManifestSet;
  readonly shareSet: ManifestSet;
}

export interface Deployment {
  readonly id: DeploymentId;
  readonly appId: DeployedAppId;
  readonly manifestId: ManifestId;
  /** The manifest as it is signed. */
  readonly manifest: string;
  readonly encryptedPullSecret: string | undefined;
  /** As the manifest says. */
  readonly replicas: number;
  /** When the approvals became enough. */
  readonly approvedAtMs: number | undefined;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly deletedAtMs: number | undefined;
}

/** As much of a deployment as its status needs. */
export type DeploymentState = Pick<Deployment, 'id' | 'replicas' | 'approvedAtMs' | 'updatedAtMs'>;

/** What the manifest of a deployment says. */
export const readManifest = ({ manifest }: Pick<Deployment, 'manifest'>): Manifest => JSON.parse(manifest) as Manifest;

/** An operator's signature of a manifest. */
export interface ManifestApproval {
  readonly id: ManifestApprovalId;
  readonly deploymentId: DeploymentId;
  readonly operatorId: OperatorId;
  /** r and s, 64 bytes. */
  readonly signature: Uint8Array;
  readonly createdAtMs: number;
}
