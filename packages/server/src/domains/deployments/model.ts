import type {
  OrganizationId,
  TvcAppId,
  TvcApprovalId,
  TvcDeploymentId,
  TvcManifestId,
  TvcOperatorId,
  TvcOperatorSetId,
} from '../../lib/ids.ts';

/** Where an operator's keys are: with whoever told the public ones, or derived from a wallet of the organization. */
export type OperatorKeySource = 'EXTERNAL_KEY' | 'ORG_WALLET_ACCOUNT';

/** Somebody who approves manifests, or holds a share of a quorum key. Never changed once it is there. */
export interface TvcOperator {
  readonly id: TvcOperatorId;
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
}: Pick<TvcOperator, 'encryptPublicKey' | 'signPublicKey'>): string => `${encryptPublicKey}${signPublicKey}`;

/** Operators of whom so many have to agree. Never changed once it is there. */
export interface TvcOperatorSet {
  readonly id: TvcOperatorSetId;
  readonly name: string;
  readonly threshold: number;
  readonly operators: readonly TvcOperator[];
  readonly createdAtMs: number;
}

export interface TvcApp {
  readonly id: TvcAppId;
  readonly name: string;
  readonly quorumPublicKey: string;
  readonly manifestSetId: TvcOperatorSetId;
  readonly shareSetId: TvcOperatorSetId;
  readonly enableEgress: boolean;
  readonly enableDebugMode: boolean;
  readonly liveDeploymentId: TvcDeploymentId | undefined;
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
export interface TvcManifest {
  readonly version: 1;
  readonly organizationId: OrganizationId;
  readonly appId: TvcAppId;
  readonly deploymentId: TvcDeploymentId;
  readonly manifestId: TvcManifestId;
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

export interface TvcDeployment {
  readonly id: TvcDeploymentId;
  readonly appId: TvcAppId;
  readonly manifestId: TvcManifestId;
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
export type TvcDeploymentState = Pick<TvcDeployment, 'id' | 'replicas' | 'approvedAtMs' | 'updatedAtMs'>;

/** What the manifest of a deployment says. */
export const readManifest = ({ manifest }: Pick<TvcDeployment, 'manifest'>): TvcManifest =>
  JSON.parse(manifest) as TvcManifest;

/** An operator's signature of a manifest. */
export interface TvcApproval {
  readonly id: TvcApprovalId;
  readonly deploymentId: TvcDeploymentId;
  readonly operatorId: TvcOperatorId;
  /** r and s, 64 bytes. */
  readonly signature: Uint8Array;
  readonly createdAtMs: number;
}
