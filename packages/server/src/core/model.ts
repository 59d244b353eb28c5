import type {
  ActivityId,
  ApiKeyId,
  AuthenticatorId,
  ContractInterfaceId,
  MfaPolicyId,
  OauthProviderId,
  OrganizationId,
  PolicyId,
  SessionProfileId,
  TagId,
  UserId,
  VelocityControlId,
  VoteId,
} from '../lib/ids.ts';

export interface Organization {
  readonly id: OrganizationId;
  /** Undefined for a parent organization. */
  readonly parentId: OrganizationId | undefined;
  readonly name: string;
  readonly rootThreshold: number;
  readonly rootUserIds: readonly UserId[];
  /** Raised by every change that can alter a decision in this organization. */
  readonly authorityVersion: number;
  /** Raised with every change of policies, MFA policies, IP allowlists, velocity controls and contract interfaces. */
  readonly rulesVersion: number;
  readonly wrappedKey: Uint8Array;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly deletedAtMs: number | undefined;
  /** The restoration of the database that somebody accepted for it and its sub-organizations (docs/decisions/0063). */
  readonly acceptedRestoration?: string | undefined;
}

/** The organization whose tree this one belongs to: its parent, or itself. */
export const treeRoot = (organization: Pick<Organization, 'id' | 'parentId'>): OrganizationId =>
  organization.parentId ?? organization.id;

export interface User {
  readonly id: UserId;
  readonly name: string;
  readonly email: string | undefined;
  readonly emailVerified: boolean;
  readonly phone: string | undefined;
  readonly phoneVerified: boolean;
  /** Raised by every change to the user, its credentials or its tags. */
  readonly revision: number;
  /** Of its credentials, tags and MFA policies; undefined where some have no mark yet (docs/decisions/0060). */
  readonly ownedDigest: string | undefined;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export const API_KEY_TYPES = [
  'CREDENTIAL_TYPE_API_KEY_P256',
  'CREDENTIAL_TYPE_API_KEY_SECP256K1',
  'CREDENTIAL_TYPE_API_KEY_ED25519',
  'CREDENTIAL_TYPE_RECOVER_USER_KEY_P256',
  'CREDENTIAL_TYPE_EMAIL_AUTH_KEY_P256',
  'CREDENTIAL_TYPE_OTP_AUTH_KEY_P256',
  'CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256',
  'CREDENTIAL_TYPE_OAUTH_KEY_P256',
  'CREDENTIAL_TYPE_LOGIN',
] as const;
export type ApiKeyType = (typeof API_KEY_TYPES)[number];

export interface ApiKey {
  readonly id: ApiKeyId;
  readonly userId: UserId;
  readonly name: string;
  readonly type: ApiKeyType;
  /** Canonical: compressed lower-case hex, or 32 bytes for Ed25519. */
  readonly publicKey: string;
  readonly sessionProfileId: string | undefined;
  readonly expirationSeconds: number | undefined;
  readonly expiresAtMs: number | undefined;
  readonly firstUsedAtMs: number | undefined;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface Authenticator {
  readonly id: AuthenticatorId;
  readonly userId: UserId;
  readonly name: string;
  /** Base64url of the raw id. */
  readonly credentialId: string;
  /** COSE key. */
  readonly publicKey: Uint8Array;
  readonly rpIdHash: Uint8Array;
  readonly aaguid: string;
  readonly attestationType: string;
  readonly transports: readonly string[];
  readonly signCount: number;
  readonly firstUsedAtMs: number | undefined;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface Feature {
  readonly name: string;
  readonly value: string;
}

export const ACTIVITY_STATUSES = [
  'ACTIVITY_STATUS_CREATED',
  'ACTIVITY_STATUS_PENDING',
  'ACTIVITY_STATUS_COMPLETED',
  'ACTIVITY_STATUS_FAILED',
  'ACTIVITY_STATUS_CONSENSUS_NEEDED',
  'ACTIVITY_STATUS_REJECTED',
  'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED',
] as const;
export type ActivityStatus = (typeof ACTIVITY_STATUSES)[number];

/** An error as it is stored with a failed or denied activity. */
export interface StoredError {
  readonly errorCode: string;
  readonly message: string;
}

export interface Activity {
  readonly id: ActivityId;
  readonly organizationId: OrganizationId;
  readonly fingerprint: string;
  readonly operation: string;
  readonly type: string;
  readonly status: ActivityStatus;
  /** Undefined for the bootstrap of an organization, which nobody proposed. */
  readonly proposerId: UserId | undefined;
  /**
   * The organization whose users propose and approve, where it is the parent of the one acted on
   * (protocol/consensus 5.2).
   */
  readonly authorityId: OrganizationId | undefined;
  /** Parameters as received, secrets replaced by their digests. */
  readonly parameters: unknown;
  /**
   * The signed body, secrets replaced by their digests; votes over the same bytes have no copy of their own. Undefined
   * where no body was kept, and in what older versions stored.
   */
  readonly body: string | undefined;
  /** The signed body with its secrets. */
  readonly sealedBody: Uint8Array | undefined;
  /** The parameters with their secrets, as older versions kept them. */
  readonly sealedParameters: Uint8Array | undefined;
  readonly result: unknown;
  readonly failure: StoredError | undefined;
  readonly denial: StoredError | undefined;
  /** Whether the request asked for app proofs. */
  readonly wantsProofs: boolean;
  /** Who could approve it when it was last judged; undefined unless approvals are awaited. */
  readonly openTo: OpenTo | undefined;
  /** Whether some voter had to meet an MFA policy. */
  readonly hasMfa: boolean;
  readonly roundStartedAtMs: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export type VoteSelection = 'VOTE_SELECTION_APPROVED' | 'VOTE_SELECTION_REJECTED';

/** What a passkey signature covers besides the body; with it anyone can verify the vote. */
export interface WebauthnEvidence {
  readonly credentialId: string;
  readonly authenticatorData: string;
  readonly clientDataJson: string;
}

export interface Vote {
  readonly id: VoteId;
  readonly activityId: ActivityId;
  readonly userId: UserId;
  readonly selection: VoteSelection;
  readonly messageDigest: string;
  readonly message: string;
  readonly sealedMessage: Uint8Array | undefined;
  readonly publicKey: string;
  readonly signature: string;
  readonly scheme: string;
  /** The API key or authenticator that stamped. */
  readonly credentialId: string;
  readonly webauthn: WebauthnEvidence | undefined;
  /** The wire record of the user at vote time. */
  readonly userSnapshot: unknown;
  /** False for a second approval by the same user, which adds only its credential. */
  readonly counts: boolean;
  readonly roundStartedAtMs: number;
  readonly createdAtMs: number;
  /** The organization of the user. */
  readonly homeId: OrganizationId | undefined;
  /** What stamped; undefined where an older version did not keep it. */
  readonly credentialKind: CredentialKind | undefined;
  /** The type of the API key or passkey, as policies know it; empty for a key that a token attests. */
  readonly credentialType: string;
  /** The profile of the session that stamped. */
  readonly sessionProfileId: string | undefined;
  /** Where it came from; undefined where that is not known. */
  readonly sourceAddress: string | undefined;
  /** Whether the user was deleted since, or somebody else took the credential away. */
  readonly revoked: boolean;
}

export type CredentialKind = 'api-key' | 'passkey' | 'attested';

export type Curve = 'CURVE_SECP256K1' | 'CURVE_ED25519' | 'CURVE_P256';

export interface AppProof {
  readonly scheme: string;
  readonly publicKey: string;
  readonly proofPayload: string;
  readonly signature: string;
}

export type PolicyEffect = 'EFFECT_ALLOW' | 'EFFECT_DENY';

/** Expressions as their author wrote them; an empty one counts as true. */
export interface Policy {
  readonly id: PolicyId;
  readonly name: string;
  readonly effect: PolicyEffect;
  readonly condition: string;
  readonly consensus: string;
  readonly time: string;
  readonly notes: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export type AuthenticationType =
  | 'AUTHENTICATION_TYPE_EMAIL_OTP'
  | 'AUTHENTICATION_TYPE_SMS_OTP'
  | 'AUTHENTICATION_TYPE_PASSKEY'
  | 'AUTHENTICATION_TYPE_API_KEY'
  | 'AUTHENTICATION_TYPE_OAUTH'
  | 'AUTHENTICATION_TYPE_SESSION';

export interface AuthenticationMethod {
  readonly type: AuthenticationType;
  readonly id?: string;
}

/** Any one of the methods meets the step. */
export interface MfaStep {
  readonly any: readonly AuthenticationMethod[];
}

export interface MfaPolicy {
  readonly id: MfaPolicyId;
  readonly userId: UserId;
  readonly name: string;
  readonly condition: string;
  readonly steps: readonly MfaStep[];
  /** Lower first; the first whose condition is true is the one enforced. */
  readonly order: number;
  readonly notes: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface SessionProfile {
  readonly id: SessionProfileId;
  readonly name: string;
  readonly scope: string;
  readonly expirationSeconds: number | undefined;
  readonly notes: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface IpRule {
  readonly cidr: string;
  readonly label?: string;
  readonly createdAtMs: number;
}

export interface IpAllowlist {
  /** The API key that the list is for; undefined for the organization's. */
  readonly publicKey: string | undefined;
  readonly enabled: boolean;
  /** What to do when the caller's address cannot be told. */
  readonly onEvaluationError: 'ALLOW' | 'DENY';
  readonly rules: readonly IpRule[];
}

export type ContractInterfaceType = 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM' | 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA';

export interface ContractInterface {
  readonly id: ContractInterfaceId;
  readonly type: ContractInterfaceType;
  readonly address: string;
  /** ABI or IDL, JSON text as it was uploaded. */
  readonly definition: string;
  readonly label: string;
  readonly notes: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** A proof that was credited to one step of an MFA policy. */
export interface MfaProof {
  readonly method: AuthenticationMethod;
  readonly credentialId: string;
  /** Digest of the signed body, so that none counts twice. */
  readonly digest: string;
  readonly atMs: number;
}

/** The MFA policy that one user has to meet for one activity, frozen when it began to apply. */
export interface MfaRequirement {
  readonly activityId: ActivityId;
  readonly userId: UserId;
  readonly mfaPolicyId: MfaPolicyId;
  readonly steps: readonly MfaStep[];
  readonly proofs: readonly MfaProof[];
  readonly satisfiedAtMs: number | undefined;
  readonly createdAtMs: number;
}

interface ActivityFilter {
  readonly activity?: { readonly activityType: string }[];
}

/** Exactly one of the two. */
export interface VelocityDataSource {
  readonly chainAssetTransfer?: {
    readonly definition: { readonly caip19: string; readonly decimals: string }[];
    readonly filter?: ActivityFilter;
    readonly phase?: { readonly signature?: object; readonly submission?: object };
  };
  readonly activityExecution?: { readonly filter?: ActivityFilter };
}

export interface VelocityAggregation {
  readonly method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_SUM' | 'VELOCITY_CONTROL_AGGREGATION_METHOD_COUNT';
  readonly operator:
    | 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN'
    | 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL'
    | 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_EQUAL'
    | 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_GREATER_THAN_OR_EQUAL'
    | 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_GREATER_THAN';
  readonly threshold: string;
  readonly window: { readonly rolling?: { readonly duration: string }; readonly infinite?: object };
  readonly groupBy: { readonly organization?: object; readonly user?: object; readonly wallet?: object };
}

export interface VelocityControl {
  readonly id: VelocityControlId;
  readonly name: string;
  readonly identifier: string;
  readonly dataSource: VelocityDataSource;
  readonly aggregation: VelocityAggregation;
  /** Whether it refuses what no control counts, and not only what is known to move its assets. */
  readonly refuseUncounted: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** Whose approval a pending activity would count, besides that of the root quorum. */
export interface OpenTo {
  readonly anyone: boolean;
  readonly userIds: readonly string[];
}

/** Who somebody is to an issuer, as one of its clients sees it. */
export interface OauthIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly audience: string;
}

/** A user with what decisions read of it. */
export interface MemberRecord {
  readonly id: UserId;
  readonly user: User;
  readonly apiKeys: readonly ApiKey[];
  readonly authenticators: readonly Authenticator[];
  readonly tagIds: readonly TagId[];
}

export interface OauthProvider extends OauthIdentity {
  readonly id: OauthProviderId;
  readonly userId: UserId;
  readonly name: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}
