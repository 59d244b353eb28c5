import Type from 'typebox';
import { LIMITS } from '../../lib/limits.ts';
import { IdShape, integerShape, TimestampShape, textShape } from '../../lib/shapes.ts';
import { HEALTH_CHECK_TYPES } from './model.ts';

export const OPERATORS_MAX = 50;
/** Characters of all arguments together: the manifest has them all. */
export const PIVOT_ARGS_LENGTH_MAX = 16_384;

/** Hex of one P-256 point, or of two of them. */
const KEY_LENGTH_MAX = 2 * 130;

/** What is not seen, or makes text look like another one: operators approve what they read. */
const UNSEEN = '\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff';

/** Also those that begin a new line. */
const CONTROLS = '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029';

/** A text that says something, in one line. */
const lineShape = (maxLength: number) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: `^[^${CONTROLS}${UNSEEN}]*$`,
    'x-message': `must be 1 to ${maxLength} characters without control characters or invisible ones`,
  });

/** An argument, which may have several lines. */
const argumentShape = (maxLength: number) =>
  Type.String({
    maxLength,
    pattern: `^[^\\u0000${UNSEEN}]*$`,
    'x-message': `must be at most ${maxLength} characters without U+0000 or invisible ones`,
  });

/** A name that stands in manifests. */
export const ManifestNameShape = Type.String({
  pattern: `^[^${CONTROLS}${UNSEEN}]{1,${LIMITS.nameLength}}$`,
  'x-trim': true,
  'x-message': `must be 1 to ${LIMITS.nameLength} characters without control characters or invisible ones`,
});

export const KeysShape = Type.String({
  maxLength: KEY_LENGTH_MAX,
  pattern: '^[^\\u0000]*$',
  'x-message': 'must be a P-256 public key in hex, or two in a row: the one to encrypt to and the one to sign with',
});
export const OperatorPathShape = textShape(255);

export const OperatorSetParamsShape = Type.Object({
  name: ManifestNameShape,
  newOperators: Type.Optional(
    Type.Array(Type.Object({ name: ManifestNameShape, publicKey: KeysShape }), { maxItems: OPERATORS_MAX }),
  ),
  existingOperatorIds: Type.Optional(Type.Array(IdShape, { maxItems: OPERATORS_MAX })),
  threshold: integerShape(1, OPERATORS_MAX),
});

export const HealthCheckTypeShape = Type.Enum([...HEALTH_CHECK_TYPES]);

const PortShape = integerShape(1, 65_535);

export const DeploymentParamsShape = Type.Object({
  appId: IdShape,
  qosVersion: lineShape(100),
  pivotContainerImageUrl: lineShape(2048),
  pivotPath: lineShape(4096),
  pivotArgs: Type.Array(argumentShape(4096), { maxItems: LIMITS.listItems }),
  expectedPivotDigest: lineShape(255),
  nonce: Type.Optional(integerShape(0)),
  pivotContainerEncryptedPullSecret: Type.Optional(textShape(16_384)),
  debugMode: Type.Optional(Type.Boolean()),
  healthCheckType: HealthCheckTypeShape,
  healthCheckPort: PortShape,
  publicIngressPort: PortShape,
  replicas: Type.Optional(integerShape(1, 1000)),
  instanceSizeCpus: Type.Optional(integerShape(1, 10_000)),
  instanceSizeRam: Type.Optional(integerShape(1, 1_000_000)),
});

export const ManifestApprovalParamsShape = Type.Object({ operatorId: IdShape, signature: textShape(200) });

export const TvcOperatorShape = Type.Object({
  id: Type.String(),
  name: Type.String(),
  publicKey: Type.String(),
  createdAt: TimestampShape,
  updatedAt: TimestampShape,
  encryptPublicKey: Type.String(),
  signPublicKey: Type.String(),
  keySource: Type.Optional(Type.String()),
});

export const TvcOperatorSetShape = Type.Object({
  id: Type.String(),
  name: Type.String(),
  organizationId: Type.String(),
  operators: Type.Array(TvcOperatorShape),
  threshold: Type.Integer(),
  createdAt: TimestampShape,
  updatedAt: TimestampShape,
});

export const TvcAppShape = Type.Object({
  id: Type.String(),
  organizationId: Type.String(),
  name: Type.String(),
  quorumPublicKey: Type.String(),
  manifestSet: TvcOperatorSetShape,
  shareSet: TvcOperatorSetShape,
  enableEgress: Type.Boolean(),
  createdAt: TimestampShape,
  updatedAt: TimestampShape,
  liveDeploymentId: Type.Optional(Type.String()),
  publicDomain: Type.String(),
  enableDebugModeDeployments: Type.Boolean(),
});

export const TvcDeploymentShape = Type.Object({
  id: Type.String(),
  organizationId: Type.String(),
  appId: Type.String(),
  manifestSet: TvcOperatorSetShape,
  shareSet: TvcOperatorSetShape,
  manifest: Type.Object({
    id: Type.String(),
    /** Base64 of the bytes that are signed. */
    manifest: Type.String(),
    createdAt: TimestampShape,
    updatedAt: TimestampShape,
  }),
  manifestApprovals: Type.Array(
    Type.Object({
      id: Type.String(),
      manifestId: Type.String(),
      operator: TvcOperatorShape,
      /** Base64 of r and s. */
      approval: Type.String(),
      createdAt: TimestampShape,
      updatedAt: TimestampShape,
    }),
  ),
  qosVersion: Type.String(),
  pivotContainer: Type.Object({
    containerUrl: Type.String(),
    path: Type.String(),
    args: Type.Array(Type.String()),
    hasPullSecret: Type.Boolean(),
    healthCheckType: HealthCheckTypeShape,
    healthCheckPort: Type.Integer(),
    publicIngressPort: Type.Integer(),
  }),
  createdAt: TimestampShape,
  updatedAt: TimestampShape,
  delete: Type.Boolean(),
  debugMode: Type.Boolean(),
  instanceSizeCpus: Type.Optional(Type.Integer()),
  instanceSizeRam: Type.Optional(Type.Integer()),
});

export const TvcQuorumKeyShape = Type.Object({
  id: Type.String(),
  publicKey: Type.String(),
  threshold: Type.Integer(),
  operatorIds: Type.Array(Type.String()),
  createdAt: TimestampShape,
  updatedAt: TimestampShape,
});

export const AppStatusShape = Type.Object({
  appId: Type.String(),
  deployments: Type.Array(
    Type.Object({
      deploymentId: Type.String(),
      readyReplicas: Type.Integer(),
      desiredReplicas: Type.Integer(),
      lastUpdatedTime: TimestampShape,
    }),
  ),
  /** Empty while none is live. */
  targetedDeploymentId: Type.String(),
});
