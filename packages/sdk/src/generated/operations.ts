// Written by `npm run generate` from the registry of the service. Do not edit.
import type { QueryOptions, SubmitOptions } from '../options.ts';

export type AccessType = 'ACCESS_TYPE_WEB' | 'ACCESS_TYPE_API' | 'ACCESS_TYPE_ALL';

export interface Activity {
  id: string;
  organizationId: string;
  status: ActivityStatus;
  type: string;
  intent: Record<string, unknown>;
  result: Record<string, unknown>;
  votes: Vote[];
  fingerprint: string;
  canApprove: boolean;
  canReject: boolean;
  createdAt: string;
  updatedAt: string;
  appProofs?: {
    scheme: string;
    publicKey: string;
    proofPayload: string;
    signature: string;
  }[];
  failure?: {
    code: number;
    message: string;
    details: unknown[];
  };
}

export type ActivityStatus =
  | 'ACTIVITY_STATUS_CREATED'
  | 'ACTIVITY_STATUS_PENDING'
  | 'ACTIVITY_STATUS_COMPLETED'
  | 'ACTIVITY_STATUS_FAILED'
  | 'ACTIVITY_STATUS_CONSENSUS_NEEDED'
  | 'ACTIVITY_STATUS_REJECTED'
  | 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED';

export interface ApiKey {
  apiKeyId: string;
  apiKeyName: string;
  credential: {
    publicKey: string;
    type:
      | 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR'
      | 'CREDENTIAL_TYPE_API_KEY_P256'
      | 'CREDENTIAL_TYPE_RECOVER_USER_KEY_P256'
      | 'CREDENTIAL_TYPE_API_KEY_SECP256K1'
      | 'CREDENTIAL_TYPE_EMAIL_AUTH_KEY_P256'
      | 'CREDENTIAL_TYPE_API_KEY_ED25519'
      | 'CREDENTIAL_TYPE_OTP_AUTH_KEY_P256'
      | 'CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256'
      | 'CREDENTIAL_TYPE_OAUTH_KEY_P256'
      | 'CREDENTIAL_TYPE_LOGIN';
    sessionProfileId?: string;
  };
  createdAt: Timestamp;
  updatedAt: Timestamp;
  expirationSeconds?: string;
}

export type ApiKeyCurve = 'API_KEY_CURVE_P256' | 'API_KEY_CURVE_SECP256K1' | 'API_KEY_CURVE_ED25519';

export interface ApiKeyParams {
  apiKeyName: string;
  publicKey: string;
  curveType: ApiKeyCurve;
  expirationSeconds?: string;
}

export interface Authenticator {
  authenticatorId: string;
  authenticatorName: string;
  transports: string[];
  attestationType: string;
  aaguid: string;
  credentialId: string;
  model: string;
  credential: {
    publicKey: string;
    type:
      | 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR'
      | 'CREDENTIAL_TYPE_API_KEY_P256'
      | 'CREDENTIAL_TYPE_RECOVER_USER_KEY_P256'
      | 'CREDENTIAL_TYPE_API_KEY_SECP256K1'
      | 'CREDENTIAL_TYPE_EMAIL_AUTH_KEY_P256'
      | 'CREDENTIAL_TYPE_API_KEY_ED25519'
      | 'CREDENTIAL_TYPE_OTP_AUTH_KEY_P256'
      | 'CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256'
      | 'CREDENTIAL_TYPE_OAUTH_KEY_P256'
      | 'CREDENTIAL_TYPE_LOGIN';
    sessionProfileId?: string;
  };
  createdAt: Timestamp;
  updatedAt: Timestamp;
}

export interface AuthenticatorParams {
  authenticatorName: string;
  challenge: string;
  attestation: {
    credentialId: string;
    clientDataJson: string;
    attestationObject: string;
    transports: (
      | 'AUTHENTICATOR_TRANSPORT_BLE'
      | 'AUTHENTICATOR_TRANSPORT_INTERNAL'
      | 'AUTHENTICATOR_TRANSPORT_NFC'
      | 'AUTHENTICATOR_TRANSPORT_USB'
      | 'AUTHENTICATOR_TRANSPORT_HYBRID'
    )[];
  };
}

export interface Feature {
  name?: string;
  value?: string;
}

export type FeatureName =
  | 'FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY'
  | 'FEATURE_NAME_WEBAUTHN_ORIGINS'
  | 'FEATURE_NAME_EMAIL_AUTH'
  | 'FEATURE_NAME_EMAIL_RECOVERY'
  | 'FEATURE_NAME_WEBHOOK'
  | 'FEATURE_NAME_SMS_AUTH'
  | 'FEATURE_NAME_OTP_EMAIL_AUTH'
  | 'FEATURE_NAME_AUTH_PROXY'
  | 'FEATURE_NAME_SOLANA_RENT_PREFUND_ENABLED'
  | 'FEATURE_NAME_SWAP_CONFIG'
  | 'FEATURE_NAME_EARN_CONFIG';

export interface Invitation {
  invitationId: string;
  receiverUserName: string;
  receiverEmail: string;
  receiverUserTags: string[];
  accessType: string;
  status: 'INVITATION_STATUS_CREATED' | 'INVITATION_STATUS_ACCEPTED' | 'INVITATION_STATUS_REVOKED';
  senderUserId: string;
  createdAt: Timestamp;
  updatedAt: Timestamp;
}

export interface OauthProviderParams {
  providerName: string;
  oidcToken?: string;
  oidcClaims?: {
    iss: string;
    sub: string;
    aud: string;
  };
}

export interface PageInfo {
  hasNextPage: boolean;
  hasPreviousPage: boolean;
  startCursor: string;
  endCursor: string;
}

export interface PaginationOptions {
  limit?: string;
  before?: string;
  after?: string;
}

export interface Quorum {
  threshold: number;
  userIds: string[];
}

export interface RootUserParams {
  userName: string;
  userEmail?: string;
  userPhoneNumber?: string;
  apiKeys: ApiKeyParams[];
  authenticators: AuthenticatorParams[];
  oauthProviders: OauthProviderParams[];
  userTagName?: string;
}

export interface Tag {
  tagId: string;
  tagName: string;
  tagType: 'TAG_TYPE_USER' | 'TAG_TYPE_PRIVATE_KEY';
  createdAt: Timestamp;
  updatedAt: Timestamp;
}

export interface Timestamp {
  seconds: string;
  nanos: string;
}

export interface TvcApp {
  id: string;
  organizationId: string;
  name: string;
  quorumPublicKey: string;
  manifestSet: TvcOperatorSet;
  shareSet: TvcOperatorSet;
  enableEgress: boolean;
  createdAt: Timestamp;
  updatedAt: Timestamp;
  liveDeploymentId?: string;
  publicDomain: string;
  enableDebugModeDeployments: boolean;
}

export interface TvcDeployment {
  id: string;
  organizationId: string;
  appId: string;
  manifestSet: TvcOperatorSet;
  shareSet: TvcOperatorSet;
  manifest: {
    id: string;
    manifest: string;
    createdAt: Timestamp;
    updatedAt: Timestamp;
  };
  manifestApprovals: {
    id: string;
    manifestId: string;
    operator: TvcOperator;
    approval: string;
    createdAt: Timestamp;
    updatedAt: Timestamp;
  }[];
  qosVersion: string;
  pivotContainer: {
    containerUrl: string;
    path: string;
    args: string[];
    hasPullSecret: boolean;
    healthCheckType: 'TVC_HEALTH_CHECK_TYPE_HTTP' | 'TVC_HEALTH_CHECK_TYPE_GRPC';
    healthCheckPort: number;
    publicIngressPort: number;
  };
  createdAt: Timestamp;
  updatedAt: Timestamp;
  delete: boolean;
  debugMode: boolean;
  instanceSizeCpus?: number;
  instanceSizeRam?: number;
}

export interface TvcOperator {
  id: string;
  name: string;
  publicKey: string;
  createdAt: Timestamp;
  updatedAt: Timestamp;
  encryptPublicKey: string;
  signPublicKey: string;
  keySource?: string;
}

export interface TvcOperatorSet {
  id: string;
  name: string;
  organizationId: string;
  operators: TvcOperator[];
  threshold: number;
  createdAt: Timestamp;
  updatedAt: Timestamp;
}

export interface User {
  userId: string;
  userName: string;
  userEmail?: string;
  userPhoneNumber?: string;
  authenticators: Authenticator[];
  apiKeys: ApiKey[];
  userTags: string[];
  oauthProviders: {
    providerId: string;
    providerName: string;
    issuer: string;
    audience: string;
    subject: string;
    createdAt: Timestamp;
    updatedAt: Timestamp;
  }[];
  createdAt: Timestamp;
  updatedAt: Timestamp;
  mfaPolicies: {
    mfaPolicyId: string;
    mfaPolicyName: string;
    condition: string;
    requiredAuthenticationMethods: {
      any: {
        type:
          | 'AUTHENTICATION_TYPE_EMAIL_OTP'
          | 'AUTHENTICATION_TYPE_SMS_OTP'
          | 'AUTHENTICATION_TYPE_PASSKEY'
          | 'AUTHENTICATION_TYPE_API_KEY'
          | 'AUTHENTICATION_TYPE_OAUTH'
          | 'AUTHENTICATION_TYPE_SESSION';
        id?: string;
      }[];
    }[];
    order: number;
    notes?: string;
    createdAt: Timestamp;
    updatedAt: Timestamp;
  }[];
}

export interface UserParams {
  userName: string;
  userEmail?: string;
  userPhoneNumber?: string;
  apiKeys: ApiKeyParams[];
  authenticators: AuthenticatorParams[];
  oauthProviders: OauthProviderParams[];
  userTags: string[];
}

export interface Vote {
  id: string;
  userId: string;
  user: User;
  activityId: string;
  selection: 'VOTE_SELECTION_APPROVED' | 'VOTE_SELECTION_REJECTED';
  message: string;
  publicKey: string;
  signature: string;
  scheme: string;
  createdAt: Timestamp;
  webauthn?: {
    credentialId: string;
    authenticatorData: string;
    clientDataJson: string;
  };
}

/** Parameters of approve_activity. */
export interface ApproveActivityParameters {
  fingerprint: string;
}

/** Parameters of claim_earn_fees. */
export interface ClaimEarnFeesParameters {
  wrapperAddress: string;
}

/** Result of claim_earn_fees. */
export interface ClaimEarnFeesResult {
  claimRequestId: string;
}

/** Parameters of create_api_keys. */
export interface CreateApiKeysParameters {
  userId: string;
  apiKeys: ApiKeyParams[];
}

/** Result of create_api_keys. */
export interface CreateApiKeysResult {
  apiKeyIds: string[];
}

/** Parameters of create_api_only_users. */
export interface CreateApiOnlyUsersParameters {
  apiOnlyUsers: {
    userName: string;
    userEmail?: string;
    userTags: string[];
    apiKeys: {
      apiKeyName: string;
      publicKey: string;
      expirationSeconds?: string;
    }[];
  }[];
}

/** Result of create_api_only_users. */
export interface CreateApiOnlyUsersResult {
  userIds: string[];
}

/** Parameters of create_authenticators. */
export interface CreateAuthenticatorsParameters {
  userId: string;
  authenticators: AuthenticatorParams[];
}

/** Result of create_authenticators. */
export interface CreateAuthenticatorsResult {
  authenticatorIds: string[];
}

/** Parameters of create_fiat_on_ramp_credential. */
export interface CreateFiatOnRampCredentialParameters {
  onrampProvider: 'FIAT_ON_RAMP_PROVIDER_COINBASE' | 'FIAT_ON_RAMP_PROVIDER_MOONPAY';
  projectId?: string;
  publishableApiKey: string;
  encryptedSecretApiKey: string;
  encryptedPrivateApiKey?: string;
  sandboxMode?: boolean;
}

/** Result of create_fiat_on_ramp_credential. */
export interface CreateFiatOnRampCredentialResult {
  fiatOnRampCredentialId: string;
}

/** Parameters of create_invitations. */
export interface CreateInvitationsParameters {
  invitations: {
    receiverUserName: string;
    receiverUserEmail: string;
    receiverUserTags: string[];
    accessType: AccessType;
    senderUserId: string;
  }[];
}

/** Result of create_invitations. */
export interface CreateInvitationsResult {
  invitationIds: string[];
}

/** Parameters of create_mfa_policy. */
export interface CreateMfaPolicyParameters {
  userId: string;
  mfaPolicyName: string;
  condition: string;
  requiredAuthenticationMethods: {
    any: {
      type:
        | 'AUTHENTICATION_TYPE_EMAIL_OTP'
        | 'AUTHENTICATION_TYPE_SMS_OTP'
        | 'AUTHENTICATION_TYPE_PASSKEY'
        | 'AUTHENTICATION_TYPE_API_KEY'
        | 'AUTHENTICATION_TYPE_OAUTH'
        | 'AUTHENTICATION_TYPE_SESSION';
      id?: string;
    }[];
  }[];
  order: number;
  notes?: string;
}

/** Result of create_mfa_policy. */
export interface CreateMfaPolicyResult {
  mfaPolicyId: string;
}

/** Parameters of create_oauth2_credential. */
export interface CreateOauth2CredentialParameters {
  provider: 'OAUTH2_PROVIDER_X' | 'OAUTH2_PROVIDER_DISCORD';
  clientId: string;
  encryptedClientSecret: string;
}

/** Result of create_oauth2_credential. */
export interface CreateOauth2CredentialResult {
  oauth2CredentialId: string;
}

/** Parameters of create_oauth_providers. */
export interface CreateOauthProvidersParameters {
  userId: string;
  oauthProviders: OauthProviderParams[];
}

/** Result of create_oauth_providers. */
export interface CreateOauthProvidersResult {
  providerIds: string[];
}

/** Parameters of create_policies. */
export interface CreatePoliciesParameters {
  policies: {
    policyName: string;
    effect: 'EFFECT_ALLOW' | 'EFFECT_DENY';
    condition?: string;
    consensus?: string;
    notes: string;
    time?: string;
  }[];
}

/** Result of create_policies. */
export interface CreatePoliciesResult {
  policyIds: string[];
  warnings: {
    code: string;
    policyId: string;
    message: string;
    expression?: string;
    otherPolicyIds?: string[];
  }[];
}

/** Parameters of create_policy. */
export interface CreatePolicyParameters {
  policyName: string;
  effect: 'EFFECT_ALLOW' | 'EFFECT_DENY';
  condition?: string;
  consensus?: string;
  notes: string;
  time?: string;
}

/** Result of create_policy. */
export interface CreatePolicyResult {
  policyId: string;
  warnings: {
    code: string;
    policyId: string;
    message: string;
    expression?: string;
    otherPolicyIds?: string[];
  }[];
}

/** Parameters of create_private_key_tag. */
export interface CreatePrivateKeyTagParameters {
  privateKeyTagName: string;
  privateKeyIds: string[];
}

/** Result of create_private_key_tag. */
export interface CreatePrivateKeyTagResult {
  privateKeyTagId: string;
  privateKeyIds: string[];
}

/** Parameters of create_private_keys. */
export interface CreatePrivateKeysParameters {
  privateKeys: {
    privateKeyName: string;
    curve: 'CURVE_SECP256K1' | 'CURVE_ED25519' | 'CURVE_P256';
    privateKeyTags: string[];
    addressFormats: (
      | 'ADDRESS_FORMAT_UNCOMPRESSED'
      | 'ADDRESS_FORMAT_COMPRESSED'
      | 'ADDRESS_FORMAT_ETHEREUM'
      | 'ADDRESS_FORMAT_SOLANA'
      | 'ADDRESS_FORMAT_COSMOS'
      | 'ADDRESS_FORMAT_TRON'
      | 'ADDRESS_FORMAT_SUI'
      | 'ADDRESS_FORMAT_APTOS'
      | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH'
      | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH'
      | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH'
      | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH'
      | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR'
      | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH'
      | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH'
      | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH'
      | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH'
      | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR'
      | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH'
      | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH'
      | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH'
      | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH'
      | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR'
      | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH'
      | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH'
      | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH'
      | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH'
      | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR'
      | 'ADDRESS_FORMAT_SEI'
      | 'ADDRESS_FORMAT_XLM'
      | 'ADDRESS_FORMAT_DOGE_MAINNET'
      | 'ADDRESS_FORMAT_DOGE_TESTNET'
      | 'ADDRESS_FORMAT_TON_V3R2'
      | 'ADDRESS_FORMAT_TON_V4R2'
      | 'ADDRESS_FORMAT_TON_V5R1'
      | 'ADDRESS_FORMAT_XRP'
      | 'ADDRESS_FORMAT_SPARK_MAINNET'
      | 'ADDRESS_FORMAT_SPARK_REGTEST'
    )[];
  }[];
}

/** Result of create_private_keys. */
export interface CreatePrivateKeysResult {
  privateKeys: {
    privateKeyId: string;
    addresses: {
      format: string;
      address: string;
    }[];
  }[];
}

/** Parameters of create_read_only_session. */
export interface CreateReadOnlySessionParameters {}

/** Result of create_read_only_session. */
export interface CreateReadOnlySessionResult {
  organizationId: string;
  organizationName: string;
  userId: string;
  username: string;
  session: string;
  sessionExpiry: string;
}

/** Parameters of create_read_write_session. */
export interface CreateReadWriteSessionParameters {
  targetPublicKey: string;
  apiKeyName?: string;
  expirationSeconds?: string;
  userId?: string;
  email?: string;
  invalidateExisting?: boolean;
}

/** Result of create_read_write_session. */
export interface CreateReadWriteSessionResult {
  organizationId: string;
  organizationName: string;
  userId: string;
  username: string;
  apiKeyId: string;
  credentialBundle: string;
}

/** Parameters of create_recovery_kit. */
export interface CreateRecoveryKitParameters {
  recipients: string[];
}

/** Result of create_recovery_kit. */
export interface CreateRecoveryKitResult {
  recoveryKitId: string;
  sha256: string;
  sizeBytes: number;
  pieceCount: number;
  walletCount: number;
  privateKeyCount: number;
  walletIds: string[];
  privateKeyIds: string[];
}

/** Parameters of create_session_profile. */
export interface CreateSessionProfileParameters {
  sessionProfileName: string;
  scope: string;
  expirationSeconds?: string;
  notes?: string;
}

/** Result of create_session_profile. */
export interface CreateSessionProfileResult {
  sessionProfileId: string;
}

/** Parameters of create_smart_contract_interface. */
export interface CreateSmartContractInterfaceParameters {
  smartContractAddress: string;
  smartContractInterface: string;
  type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM' | 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA';
  label: string;
  notes?: string;
}

/** Result of create_smart_contract_interface. */
export interface CreateSmartContractInterfaceResult {
  smartContractInterfaceId: string;
}

/** Parameters of create_sub_organization. */
export interface CreateSubOrganizationParameters {
  subOrganizationName: string;
  rootQuorumThreshold: number;
  rootUsers: RootUserParams[];
  wallet?: {
    walletName: string;
    accounts: {
      curve: 'CURVE_SECP256K1' | 'CURVE_ED25519' | 'CURVE_P256';
      pathFormat: 'PATH_FORMAT_BIP32';
      path: string;
      addressFormat:
        | 'ADDRESS_FORMAT_UNCOMPRESSED'
        | 'ADDRESS_FORMAT_COMPRESSED'
        | 'ADDRESS_FORMAT_ETHEREUM'
        | 'ADDRESS_FORMAT_SOLANA'
        | 'ADDRESS_FORMAT_COSMOS'
        | 'ADDRESS_FORMAT_TRON'
        | 'ADDRESS_FORMAT_SUI'
        | 'ADDRESS_FORMAT_APTOS'
        | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH'
        | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH'
        | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH'
        | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH'
        | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR'
        | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH'
        | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH'
        | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH'
        | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH'
        | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR'
        | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH'
        | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH'
        | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH'
        | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH'
        | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR'
        | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH'
        | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH'
        | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH'
        | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH'
        | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR'
        | 'ADDRESS_FORMAT_SEI'
        | 'ADDRESS_FORMAT_XLM'
        | 'ADDRESS_FORMAT_DOGE_MAINNET'
        | 'ADDRESS_FORMAT_DOGE_TESTNET'
        | 'ADDRESS_FORMAT_TON_V3R2'
        | 'ADDRESS_FORMAT_TON_V4R2'
        | 'ADDRESS_FORMAT_TON_V5R1'
        | 'ADDRESS_FORMAT_XRP'
        | 'ADDRESS_FORMAT_SPARK_MAINNET'
        | 'ADDRESS_FORMAT_SPARK_REGTEST';
      name?: string;
    }[];
    mnemonicLength?: 12 | 15 | 18 | 21 | 24;
  };
  disableEmailRecovery?: boolean;
  disableEmailAuth?: boolean;
  disableSmsAuth?: boolean;
  disableOtpEmailAuth?: boolean;
  verificationToken?: string;
  clientSignature?: {
    publicKey: string;
    scheme: 'CLIENT_SIGNATURE_SCHEME_API_P256';
    message: string;
    signature: string;
  };
}

/** Result of create_sub_organization. */
export interface CreateSubOrganizationResult {
  subOrganizationId: string;
  wallet?: {
    walletId: string;
    addresses: string[];
  };
  rootUserIds: string[];
}

/** Parameters of create_tvc_app. */
export interface CreateTvcAppParameters {
  name: string;
  quorumPublicKey: string;
  manifestSetId?: string;
  manifestSetParams?: {
    name: string;
    newOperators?: {
      name: string;
      publicKey: string;
    }[];
    existingOperatorIds?: string[];
    threshold: number;
  };
  shareSetId?: string;
  shareSetParams?: {
    name: string;
    newOperators?: {
      name: string;
      publicKey: string;
    }[];
    existingOperatorIds?: string[];
    threshold: number;
  };
  enableEgress?: boolean;
  enableDebugModeDeployments?: boolean;
}

/** Result of create_tvc_app. */
export interface CreateTvcAppResult {
  appId: string;
  manifestSetId: string;
  manifestSetOperatorIds: string[];
  manifestSetThreshold: number;
  shareSetId: string;
  shareSetOperatorIds: string[];
  shareSetThreshold: number;
}

/** Parameters of create_tvc_deployment. */
export interface CreateTvcDeploymentParameters {
  appId: string;
  qosVersion: string;
  pivotContainerImageUrl: string;
  pivotPath: string;
  pivotArgs: string[];
  expectedPivotDigest: string;
  nonce?: number;
  pivotContainerEncryptedPullSecret?: string;
  debugMode?: boolean;
  healthCheckType: 'TVC_HEALTH_CHECK_TYPE_HTTP' | 'TVC_HEALTH_CHECK_TYPE_GRPC';
  healthCheckPort: number;
  publicIngressPort: number;
  replicas?: number;
  instanceSizeCpus?: number;
  instanceSizeRam?: number;
}

/** Result of create_tvc_deployment. */
export interface CreateTvcDeploymentResult {
  deploymentId: string;
  manifestId: string;
}

/** Parameters of create_tvc_manifest_approvals. */
export interface CreateTvcManifestApprovalsParameters {
  manifestId: string;
  approvals: {
    operatorId: string;
    signature: string;
  }[];
}

/** Result of create_tvc_manifest_approvals. */
export interface CreateTvcManifestApprovalsResult {
  approvalIds: string[];
}

/** Parameters of create_tvc_operator. */
export interface CreateTvcOperatorParameters {
  walletName?: string;
  walletId?: string;
  path: string;
  operatorName: string;
}

/** Result of create_tvc_operator. */
export interface CreateTvcOperatorResult {
  walletId: string;
  operatorId: string;
  encryptPublicKey: string;
  signPublicKey: string;
}

/** Parameters of create_user_tag. */
export interface CreateUserTagParameters {
  userTagName: string;
  userIds: string[];
}

/** Result of create_user_tag. */
export interface CreateUserTagResult {
  userTagId: string;
  userIds: string[];
}

/** Parameters of create_users. */
export interface CreateUsersParameters {
  users: UserParams[];
}

/** Result of create_users. */
export interface CreateUsersResult {
  userIds: string[];
}

/** Parameters of create_velocity_control. */
export interface CreateVelocityControlParameters {
  name: string;
  dataSource: {
    chainAssetTransfer?: {
      definition: {
        caip19: string;
        decimals: string;
      }[];
      filter?: {
        activity?: {
          activityType: string;
        }[];
      };
      phase?: {
        signature?: {};
        submission?: {};
      };
    };
    activityExecution?: {
      filter?: {
        activity?: {
          activityType: string;
        }[];
      };
    };
  };
  aggregation: {
    method:
      | 'VELOCITY_CONTROL_AGGREGATION_METHOD_SUM'
      | 'VELOCITY_CONTROL_AGGREGATION_METHOD_COUNT';
    operator:
      | 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN'
      | 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL'
      | 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_EQUAL'
      | 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_GREATER_THAN_OR_EQUAL'
      | 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_GREATER_THAN';
    threshold: string;
    window: {
      rolling?: {
        duration: string;
      };
      infinite?: {};
    };
    groupBy: {
      organization?: {};
      user?: {};
      wallet?: {};
    };
  };
  identifier: string;
  refuseUncounted?: boolean;
}

/** Result of create_velocity_control. */
export interface CreateVelocityControlResult {
  velocityControlId: string;
}

/** Parameters of create_wallet. */
export interface CreateWalletParameters {
  walletName: string;
  accounts: {
    curve: 'CURVE_SECP256K1' | 'CURVE_ED25519' | 'CURVE_P256';
    pathFormat: 'PATH_FORMAT_BIP32';
    path: string;
    addressFormat:
      | 'ADDRESS_FORMAT_UNCOMPRESSED'
      | 'ADDRESS_FORMAT_COMPRESSED'
      | 'ADDRESS_FORMAT_ETHEREUM'
      | 'ADDRESS_FORMAT_SOLANA'
      | 'ADDRESS_FORMAT_COSMOS'
      | 'ADDRESS_FORMAT_TRON'
      | 'ADDRESS_FORMAT_SUI'
      | 'ADDRESS_FORMAT_APTOS'
      | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH'
      | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH'
      | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH'
      | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH'
      | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR'
      | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH'
      | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH'
      | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH'
      | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH'
      | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR'
      | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH'
      | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH'
      | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH'
      | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH'
      | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR'
      | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH'
      | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH'
      | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH'
      | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH'
      | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR'
      | 'ADDRESS_FORMAT_SEI'
      | 'ADDRESS_FORMAT_XLM'
      | 'ADDRESS_FORMAT_DOGE_MAINNET'
      | 'ADDRESS_FORMAT_DOGE_TESTNET'
      | 'ADDRESS_FORMAT_TON_V3R2'
      | 'ADDRESS_FORMAT_TON_V4R2'
      | 'ADDRESS_FORMAT_TON_V5R1'
      | 'ADDRESS_FORMAT_XRP'
      | 'ADDRESS_FORMAT_SPARK_MAINNET'
      | 'ADDRESS_FORMAT_SPARK_REGTEST';
    name?: string;
  }[];
  mnemonicLength?: 12 | 15 | 18 | 21 | 24;
}

/** Result of create_wallet. */
export interface CreateWalletResult {
  walletId: string;
  addresses: string[];
}

/** Parameters of create_wallet_accounts. */
export interface CreateWalletAccountsParameters {
  walletId: string;
  accounts: {
    curve: 'CURVE_SECP256K1' | 'CURVE_ED25519' | 'CURVE_P256';
    pathFormat: 'PATH_FORMAT_BIP32';
    path: string;
    addressFormat:
      | 'ADDRESS_FORMAT_UNCOMPRESSED'
      | 'ADDRESS_FORMAT_COMPRESSED'
      | 'ADDRESS_FORMAT_ETHEREUM'
      | 'ADDRESS_FORMAT_SOLANA'
      | 'ADDRESS_FORMAT_COSMOS'
      | 'ADDRESS_FORMAT_TRON'
      | 'ADDRESS_FORMAT_SUI'
      | 'ADDRESS_FORMAT_APTOS'
      | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH'
      | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH'
      | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH'
      | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH'
      | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR'
      | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH'
      | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH'
      | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH'
      | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH'
      | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR'
      | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH'
      | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH'
      | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH'
      | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH'
      | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR'
      | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH'
      | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH'
      | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH'
      | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH'
      | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR'
      | 'ADDRESS_FORMAT_SEI'
      | 'ADDRESS_FORMAT_XLM'
      | 'ADDRESS_FORMAT_DOGE_MAINNET'
      | 'ADDRESS_FORMAT_DOGE_TESTNET'
      | 'ADDRESS_FORMAT_TON_V3R2'
      | 'ADDRESS_FORMAT_TON_V4R2'
      | 'ADDRESS_FORMAT_TON_V5R1'
      | 'ADDRESS_FORMAT_XRP'
      | 'ADDRESS_FORMAT_SPARK_MAINNET'
      | 'ADDRESS_FORMAT_SPARK_REGTEST';
    name?: string;
  }[];
  persist?: boolean;
}

/** Result of create_wallet_accounts. */
export interface CreateWalletAccountsResult {
  addresses: string[];
}

/** Parameters of create_webhook_endpoint. */
export interface CreateWebhookEndpointParameters {
  url: string;
  name: string;
  subscriptions?: {
    eventType:
      | 'ACTIVITY_UPDATES'
      | 'BALANCE_CONFIRMED_UPDATES'
      | 'BALANCE_FINALIZED_UPDATES'
      | 'SEND_TRANSACTION_STATUS_UPDATES';
    filtersJson?: string;
    isActive?: boolean;
  }[];
  includeDescription?: boolean;
}

/** Result of create_webhook_endpoint. */
export interface CreateWebhookEndpointResult {
  endpointId: string;
  webhookEndpoint: {
    endpointId: string;
    organizationId: string;
    url: string;
    name: string;
    isActive: boolean;
    includeDescription: boolean;
    subscriptions: {
      eventType:
        | 'ACTIVITY_UPDATES'
        | 'BALANCE_CONFIRMED_UPDATES'
        | 'BALANCE_FINALIZED_UPDATES'
        | 'SEND_TRANSACTION_STATUS_UPDATES';
      filtersJson?: string;
      isActive?: boolean;
    }[];
  };
}

/** Parameters of delete_api_keys. */
export interface DeleteApiKeysParameters {
  userId: string;
  apiKeyIds: string[];
}

/** Result of delete_api_keys. */
export interface DeleteApiKeysResult {
  apiKeyIds: string[];
}

/** Parameters of delete_authenticators. */
export interface DeleteAuthenticatorsParameters {
  userId: string;
  authenticatorIds: string[];
}

/** Result of delete_authenticators. */
export interface DeleteAuthenticatorsResult {
  authenticatorIds: string[];
}

/** Parameters of delete_fiat_on_ramp_credential. */
export interface DeleteFiatOnRampCredentialParameters {
  fiatOnrampCredentialId: string;
}

/** Result of delete_fiat_on_ramp_credential. */
export interface DeleteFiatOnRampCredentialResult {
  fiatOnRampCredentialId: string;
}

/** Parameters of delete_invitation. */
export interface DeleteInvitationParameters {
  invitationId: string;
}

/** Result of delete_invitation. */
export interface DeleteInvitationResult {
  invitationId: string;
}

/** Parameters of delete_mfa_policy. */
export interface DeleteMfaPolicyParameters {
  userId: string;
  mfaPolicyId: string;
}

/** Result of delete_mfa_policy. */
export interface DeleteMfaPolicyResult {
  mfaPolicyId: string;
}

/** Parameters of delete_oauth2_credential. */
export interface DeleteOauth2CredentialParameters {
  oauth2CredentialId: string;
}

/** Result of delete_oauth2_credential. */
export interface DeleteOauth2CredentialResult {
  oauth2CredentialId: string;
}

/** Parameters of delete_oauth_providers. */
export interface DeleteOauthProvidersParameters {
  userId: string;
  providerIds: string[];
}

/** Result of delete_oauth_providers. */
export interface DeleteOauthProvidersResult {
  providerIds: string[];
}

/** Parameters of delete_policies. */
export interface DeletePoliciesParameters {
  policyIds: string[];
}

/** Result of delete_policies. */
export interface DeletePoliciesResult {
  policyIds: string[];
}

/** Parameters of delete_policy. */
export interface DeletePolicyParameters {
  policyId: string;
}

/** Result of delete_policy. */
export interface DeletePolicyResult {
  policyId: string;
}

/** Parameters of delete_private_key_tags. */
export interface DeletePrivateKeyTagsParameters {
  privateKeyTagIds: string[];
}

/** Result of delete_private_key_tags. */
export interface DeletePrivateKeyTagsResult {
  privateKeyTagIds: string[];
  privateKeyIds: string[];
}

/** Parameters of delete_private_keys. */
export interface DeletePrivateKeysParameters {
  privateKeyIds: string[];
  deleteWithoutExport?: boolean;
}

/** Result of delete_private_keys. */
export interface DeletePrivateKeysResult {
  privateKeyIds: string[];
}

/** Parameters of delete_recovery_kits. */
export interface DeleteRecoveryKitsParameters {
  recoveryKitIds: string[];
}

/** Result of delete_recovery_kits. */
export interface DeleteRecoveryKitsResult {
  recoveryKitIds: string[];
}

/** Parameters of delete_secrets. */
export interface DeleteSecretsParameters {
  secretIds: string[];
}

/** Result of delete_secrets. */
export interface DeleteSecretsResult {
  secretIds: string[];
}

/** Parameters of delete_smart_contract_interface. */
export interface DeleteSmartContractInterfaceParameters {
  smartContractInterfaceId: string;
}

/** Result of delete_smart_contract_interface. */
export interface DeleteSmartContractInterfaceResult {
  smartContractInterfaceId: string;
}

/** Parameters of delete_sub_organization. */
export interface DeleteSubOrganizationParameters {
  deleteWithoutExport?: boolean;
}

/** Result of delete_sub_organization. */
export interface DeleteSubOrganizationResult {
  subOrganizationUuid: string;
}

/** Parameters of delete_tvc_app_and_deployments. */
export interface DeleteTvcAppAndDeploymentsParameters {
  appId: string;
}

/** Result of delete_tvc_app_and_deployments. */
export interface DeleteTvcAppAndDeploymentsResult {
  appId: string;
}

/** Parameters of delete_tvc_deployment. */
export interface DeleteTvcDeploymentParameters {
  deploymentId: string;
}

/** Result of delete_tvc_deployment. */
export interface DeleteTvcDeploymentResult {
  deploymentId: string;
}

/** Parameters of delete_user_tags. */
export interface DeleteUserTagsParameters {
  userTagIds: string[];
}

/** Result of delete_user_tags. */
export interface DeleteUserTagsResult {
  userTagIds: string[];
  userIds: string[];
}

/** Parameters of delete_users. */
export interface DeleteUsersParameters {
  userIds: string[];
}

/** Result of delete_users. */
export interface DeleteUsersResult {
  userIds: string[];
}

/** Parameters of delete_velocity_control. */
export interface DeleteVelocityControlParameters {
  velocityControlId: string;
}

/** Result of delete_velocity_control. */
export interface DeleteVelocityControlResult {
  velocityControlId: string;
}

/** Parameters of delete_wallet_accounts. */
export interface DeleteWalletAccountsParameters {
  walletAccountIds: string[];
  deleteWithoutExport?: boolean;
}

/** Result of delete_wallet_accounts. */
export interface DeleteWalletAccountsResult {
  walletAccountIds: string[];
}

/** Parameters of delete_wallets. */
export interface DeleteWalletsParameters {
  walletIds: string[];
  deleteWithoutExport?: boolean;
}

/** Result of delete_wallets. */
export interface DeleteWalletsResult {
  walletIds: string[];
}

/** Parameters of delete_webhook_endpoint. */
export interface DeleteWebhookEndpointParameters {
  endpointId: string;
}

/** Result of delete_webhook_endpoint. */
export interface DeleteWebhookEndpointResult {
  endpointId: string;
}

/** Parameters of describe_activities. */
export interface DescribeActivitiesParameters {
  activityIds: string[];
}

/** Answer of describe_activities. */
export interface DescribeActivitiesResponse {
  descriptions: {
    activityId?: string;
    type: string;
    kind: string;
    sentence: {
      text: string;
      strong?: true;
      userText?: true;
      address?: string;
      caip2?: string;
    }[];
    text: string;
    risk: 'ROUTINE' | 'LOOK_CLOSELY' | 'DANGER' | 'UNREADABLE';
    marks: {
      risk: 'ROUTINE' | 'LOOK_CLOSELY' | 'DANGER' | 'UNREADABLE';
      text: string;
    }[];
    consequence?: string;
    steps: {
      sentence: {
        text: string;
        strong?: true;
        userText?: true;
        address?: string;
        caip2?: string;
      }[];
      risk: 'ROUTINE' | 'LOOK_CLOSELY' | 'DANGER' | 'UNREADABLE';
    }[];
    fields: {
      label: string;
      value: {
        text: string;
        strong?: true;
        userText?: true;
        address?: string;
        caip2?: string;
      }[];
      kind: 'TEXT' | 'ADDRESS' | 'AMOUNT' | 'ID' | 'TIME' | 'BYTES' | 'CODE';
      note?: string;
    }[];
    sender?: {
      address: string;
      name?: string;
      walletId?: string;
      caip2?: string;
    };
    recipients: {
      address: string;
      name?: string;
      paidCount: number;
      paidSince?: string;
      notLookedUp?: boolean;
      lookAlike?: {
        address: string;
        name?: string;
      };
    }[];
    bytes?: {
      algorithm: string;
      digest: string;
      unsigned: string;
    };
    quorumChange?: {
      before: {
        threshold: number;
        users: {
          userId: string;
          userName: string;
        }[];
      };
      after: {
        threshold: number;
        users: {
          userId: string;
          userName: string;
        }[];
      };
    };
    policyChange?: {
      direction: 'WIDEN' | 'NARROW' | 'CHANGE';
      before?: {
        policyName: string;
        effect: string;
        condition: string;
        consensus: string;
        time: string;
        notes: string;
      };
      after?: {
        policyName: string;
        effect: string;
        condition: string;
        consensus: string;
        time: string;
        notes: string;
      };
    };
  }[];
}

/** Parameters of describe_activity. */
export interface DescribeActivityParameters {
  activityId?: string;
  request?: {
    type: string;
    parameters: unknown;
  };
}

/** Answer of describe_activity. */
export interface DescribeActivityResponse {
  description: {
    activityId?: string;
    type: string;
    kind: string;
    sentence: {
      text: string;
      strong?: true;
      userText?: true;
      address?: string;
      caip2?: string;
    }[];
    text: string;
    risk: 'ROUTINE' | 'LOOK_CLOSELY' | 'DANGER' | 'UNREADABLE';
    marks: {
      risk: 'ROUTINE' | 'LOOK_CLOSELY' | 'DANGER' | 'UNREADABLE';
      text: string;
    }[];
    consequence?: string;
    steps: {
      sentence: {
        text: string;
        strong?: true;
        userText?: true;
        address?: string;
        caip2?: string;
      }[];
      risk: 'ROUTINE' | 'LOOK_CLOSELY' | 'DANGER' | 'UNREADABLE';
    }[];
    fields: {
      label: string;
      value: {
        text: string;
        strong?: true;
        userText?: true;
        address?: string;
        caip2?: string;
      }[];
      kind: 'TEXT' | 'ADDRESS' | 'AMOUNT' | 'ID' | 'TIME' | 'BYTES' | 'CODE';
      note?: string;
    }[];
    sender?: {
      address: string;
      name?: string;
      walletId?: string;
      caip2?: string;
    };
    recipients: {
      address: string;
      name?: string;
      paidCount: number;
      paidSince?: string;
      notLookedUp?: boolean;
      lookAlike?: {
        address: string;
        name?: string;
      };
    }[];
    bytes?: {
      algorithm: string;
      digest: string;
      unsigned: string;
    };
    quorumChange?: {
      before: {
        threshold: number;
        users: {
          userId: string;
          userName: string;
        }[];
      };
      after: {
        threshold: number;
        users: {
          userId: string;
          userName: string;
        }[];
      };
    };
    policyChange?: {
      direction: 'WIDEN' | 'NARROW' | 'CHANGE';
      before?: {
        policyName: string;
        effect: string;
        condition: string;
        consensus: string;
        time: string;
        notes: string;
      };
      after?: {
        policyName: string;
        effect: string;
        condition: string;
        consensus: string;
        time: string;
        notes: string;
      };
    };
  };
}

/** Parameters of describe_policies. */
export interface DescribePoliciesParameters {
  policyIds?: string[];
  paginationOptions?: PaginationOptions;
}

/** Answer of describe_policies. */
export interface DescribePoliciesResponse {
  descriptions: {
    policyId: string;
    sentence: {
      text: string;
      strong?: true;
      userText?: true;
      address?: string;
      caip2?: string;
    }[];
    text: string;
    risk: 'ROUTINE' | 'LOOK_CLOSELY' | 'DANGER' | 'UNREADABLE';
    errors: {
      expression: 'condition' | 'consensus' | 'time';
      code: string;
      message: string;
      start: number;
      end: number;
      suggestion?: string;
    }[];
    warnings: {
      code: string;
      message: string;
      expression?: 'condition' | 'consensus' | 'time';
      start?: number;
      end?: number;
    }[];
    marks: {
      expression: 'condition' | 'consensus' | 'time';
      start: number;
      end: number;
      text: string;
    }[];
    direction?: 'WIDEN' | 'NARROW' | 'CHANGE';
    changes: string[];
  }[];
  pageInfo: PageInfo;
}

/** Parameters of describe_policy. */
export interface DescribePolicyParameters {
  policyId?: string;
  draft?: {
    policyId?: string;
    policyName?: string;
    effect: 'EFFECT_ALLOW' | 'EFFECT_DENY';
    condition?: string;
    consensus?: string;
    time?: string;
  };
}

/** Answer of describe_policy. */
export interface DescribePolicyResponse {
  description: {
    sentence: {
      text: string;
      strong?: true;
      userText?: true;
      address?: string;
      caip2?: string;
    }[];
    text: string;
    risk: 'ROUTINE' | 'LOOK_CLOSELY' | 'DANGER' | 'UNREADABLE';
    errors: {
      expression: 'condition' | 'consensus' | 'time';
      code: string;
      message: string;
      start: number;
      end: number;
      suggestion?: string;
    }[];
    warnings: {
      code: string;
      message: string;
      expression?: 'condition' | 'consensus' | 'time';
      start?: number;
      end?: number;
    }[];
    marks: {
      expression: 'condition' | 'consensus' | 'time';
      start: number;
      end: number;
      text: string;
    }[];
    direction?: 'WIDEN' | 'NARROW' | 'CHANGE';
    changes: string[];
  };
}

/** Parameters of disable_auth_proxy. */
export interface DisableAuthProxyParameters {}

/** Result of disable_auth_proxy. */
export interface DisableAuthProxyResult {}

/** Parameters of earn_deploy_wrapper. */
export interface EarnDeployWrapperParameters {
  vaultAddress: string;
  chainCaip2: string;
  clientFeeBps: string;
  clientFeeWallet: string;
}

/** Result of earn_deploy_wrapper. */
export interface EarnDeployWrapperResult {
  wrapperAddress: string;
  splitterAddress: string;
  deployRequestId: string;
}

/** Parameters of earn_deposit. */
export interface EarnDepositParameters {
  wrapperAddress: string;
  signWith: string;
  assets: string;
  chainCaip2: string;
  sponsor?: boolean;
}

/** Result of earn_deposit. */
export interface EarnDepositResult {
  depositRequestId: string;
}

/** Parameters of earn_set_wrapper_state. */
export interface EarnSetWrapperStateParameters {
  wrapperAddress: string;
  depositsDisabled: boolean;
}

/** Result of earn_set_wrapper_state. */
export interface EarnSetWrapperStateResult {
  wrapperAddress: string;
  depositsDisabled: boolean;
}

/** Parameters of earn_withdraw. */
export interface EarnWithdrawParameters {
  wrapperAddress: string;
  signWith: string;
  amountValue: string;
  chainCaip2: string;
  sponsor?: boolean;
}

/** Result of earn_withdraw. */
export interface EarnWithdrawResult {
  withdrawRequestId: string;
}

/** Parameters of email_auth. */
export interface EmailAuthParameters {
  email: string;
  targetPublicKey: string;
  apiKeyName?: string;
  expirationSeconds?: string;
  invalidateExisting?: boolean;
  sendFromEmailAddress?: string;
  sendFromEmailSenderName?: string;
  replyToEmailAddress?: string;
  emailCustomization: {
    appName: string;
    logoUrl?: string;
    magicLinkTemplate?: string;
    templateVariables?: string;
    templateId?: string;
  };
}

/** Result of email_auth. */
export interface EmailAuthResult {
  userId: string;
  apiKeyId: string;
}

/** Parameters of enable_auth_proxy. */
export interface EnableAuthProxyParameters {}

/** Result of enable_auth_proxy. */
export interface EnableAuthProxyResult {
  userId: string;
}

/** Parameters of eth_send_raw_transaction. */
export interface EthSendRawTransactionParameters {
  signedTransaction: string;
  caip2: string;
}

/** Result of eth_send_raw_transaction. */
export interface EthSendRawTransactionResult {
  transactionHash: string;
  sendTransactionStatusId: string;
}

/** Parameters of eth_send_transaction. */
export interface EthSendTransactionParameters {
  from: string;
  caip2: string;
  sponsor?: boolean;
  nonce?: string;
  gasLimit?: string;
  maxFeePerGas?: string;
  maxPriorityFeePerGas?: string;
  deadline?: string;
  gasStationNonce?: string;
  calls: {
    to: string;
    value?: string;
    data?: string;
  }[];
}

/** Result of eth_send_transaction. */
export interface EthSendTransactionResult {
  sendTransactionStatusId: string;
}

/** Parameters of export_private_key. */
export interface ExportPrivateKeyParameters {
  privateKeyId: string;
  targetPublicKey: string;
}

/** Result of export_private_key. */
export interface ExportPrivateKeyResult {
  privateKeyId: string;
  exportBundle: string;
}

/** Parameters of export_secrets. */
export interface ExportSecretsParameters {
  secrets: {
    secretId: string;
    targetPublicKey: string;
    encryptionSuite: 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1';
    requestContext?: {
      key?: string;
      value?: string;
    }[];
  }[];
}

/** Result of export_secrets. */
export interface ExportSecretsResult {
  secretPayloads: string[];
}

/** Parameters of export_wallet. */
export interface ExportWalletParameters {
  walletId: string;
  targetPublicKey: string;
  language?:
    | 'MNEMONIC_LANGUAGE_ENGLISH'
    | 'MNEMONIC_LANGUAGE_SIMPLIFIED_CHINESE'
    | 'MNEMONIC_LANGUAGE_TRADITIONAL_CHINESE'
    | 'MNEMONIC_LANGUAGE_CZECH'
    | 'MNEMONIC_LANGUAGE_FRENCH'
    | 'MNEMONIC_LANGUAGE_ITALIAN'
    | 'MNEMONIC_LANGUAGE_JAPANESE'
    | 'MNEMONIC_LANGUAGE_KOREAN'
    | 'MNEMONIC_LANGUAGE_SPANISH';
}

/** Result of export_wallet. */
export interface ExportWalletResult {
  walletId: string;
  exportBundle: string;
}

/** Parameters of export_wallet_account. */
export interface ExportWalletAccountParameters {
  address: string;
  targetPublicKey: string;
}

/** Result of export_wallet_account. */
export interface ExportWalletAccountResult {
  address: string;
  exportBundle: string;
}

/** Parameters of get_active_policies. */
export interface GetActivePoliciesParameters {
  paginationOptions?: PaginationOptions;
}

/** Answer of get_active_policies. */
export interface GetActivePoliciesResponse {
  statuses: {
    organizationId: string;
    policyId: string;
    active: boolean;
    timeExpr?: string;
    error?: string;
  }[];
  evaluatedAtMs: string;
  pageInfo: PageInfo;
}

/** Parameters of get_activity. */
export interface GetActivityParameters {
  activityId: string;
}

/** Answer of get_activity. */
export interface GetActivityResponse {
  activity: Activity;
}

/** Parameters of get_activity_votes. */
export interface GetActivityVotesParameters {
  activityId: string;
  paginationOptions?: PaginationOptions;
}

/** Answer of get_activity_votes. */
export interface GetActivityVotesResponse {
  votes: {
    id: string;
    userId: string;
    user: User;
    activityId: string;
    selection: 'VOTE_SELECTION_APPROVED' | 'VOTE_SELECTION_REJECTED';
    message: string;
    publicKey: string;
    signature: string;
    scheme: string;
    createdAt: Timestamp;
    webauthn?: {
      credentialId: string;
      authenticatorData: string;
      clientDataJson: string;
    };
    redacted?: boolean;
  }[];
  pageInfo: PageInfo;
}

/** Parameters of get_api_key. */
export interface GetApiKeyParameters {
  apiKeyId: string;
}

/** Answer of get_api_key. */
export interface GetApiKeyResponse {
  apiKey: ApiKey;
}

/** Parameters of get_api_keys. */
export interface GetApiKeysParameters {
  userId?: string;
  paginationOptions?: PaginationOptions;
}

/** Answer of get_api_keys. */
export interface GetApiKeysResponse {
  apiKeys: ApiKey[];
  pageInfo: PageInfo;
}

/** Parameters of get_app_status. */
export interface GetAppStatusParameters {
  appId: string;
}

/** Answer of get_app_status. */
export interface GetAppStatusResponse {
  appStatus: {
    appId: string;
    deployments: {
      deploymentId: string;
      readyReplicas: number;
      desiredReplicas: number;
      lastUpdatedTime: Timestamp;
    }[];
    targetedDeploymentId: string;
  };
}

/** Parameters of get_approval. */
export interface GetApprovalParameters {
  activityId: string;
}

/** Answer of get_approval. */
export interface GetApprovalResponse {
  approval: {
    activity: Activity;
    progress: {
      waitsForMe: boolean;
      myVote?: 'APPROVED' | 'REJECTED';
      given: number;
      required: number;
      ways: {
        kind: 'ROOT_QUORUM' | 'POLICY';
        policyId?: string;
        policyName?: string;
        given: number;
        required?: number;
        missing: {
          anyone: boolean;
          userIds: string[];
        };
        text: string;
      }[];
      authentication?: {
        isMine: boolean;
        userId: string;
        factors: {
          any: {
            type: string;
            id?: string;
          }[];
          isProven: boolean;
          isNext: boolean;
        }[];
        text: string;
      };
      lapsesAt?: string;
      isLapsed?: boolean;
      completes: boolean;
      submitter?: {
        userId: string;
        userName: string;
        isProgram: boolean;
        credentialName?: string;
        credentialKind?: 'PASSKEY' | 'API_KEY' | 'SESSION' | 'RECOVERY' | 'TOKEN';
        sourceAddress?: string;
      };
      votes: {
        voteId: string;
        userId: string;
        userName: string;
        isProgram: boolean;
        credentialName?: string;
        credentialKind?: 'PASSKEY' | 'API_KEY' | 'SESSION' | 'RECOVERY' | 'TOKEN';
        sourceAddress?: string;
        selection: 'APPROVED' | 'REJECTED';
        at: string;
      }[];
      decidedAt?: string;
      outcome?: ActivityStatus;
    };
    description: {
      activityId?: string;
      type: string;
      kind: string;
      sentence: {
        text: string;
        strong?: true;
        userText?: true;
        address?: string;
        caip2?: string;
      }[];
      text: string;
      risk: 'ROUTINE' | 'LOOK_CLOSELY' | 'DANGER' | 'UNREADABLE';
      marks: {
        risk: 'ROUTINE' | 'LOOK_CLOSELY' | 'DANGER' | 'UNREADABLE';
        text: string;
      }[];
      consequence?: string;
      steps: {
        sentence: {
          text: string;
          strong?: true;
          userText?: true;
          address?: string;
          caip2?: string;
        }[];
        risk: 'ROUTINE' | 'LOOK_CLOSELY' | 'DANGER' | 'UNREADABLE';
      }[];
      fields: {
        label: string;
        value: {
          text: string;
          strong?: true;
          userText?: true;
          address?: string;
          caip2?: string;
        }[];
        kind: 'TEXT' | 'ADDRESS' | 'AMOUNT' | 'ID' | 'TIME' | 'BYTES' | 'CODE';
        note?: string;
      }[];
      sender?: {
        address: string;
        name?: string;
        walletId?: string;
        caip2?: string;
      };
      recipients: {
        address: string;
        name?: string;
        paidCount: number;
        paidSince?: string;
        notLookedUp?: boolean;
        lookAlike?: {
          address: string;
          name?: string;
        };
      }[];
      bytes?: {
        algorithm: string;
        digest: string;
        unsigned: string;
      };
      quorumChange?: {
        before: {
          threshold: number;
          users: {
            userId: string;
            userName: string;
          }[];
        };
        after: {
          threshold: number;
          users: {
            userId: string;
            userName: string;
          }[];
        };
      };
      policyChange?: {
        direction: 'WIDEN' | 'NARROW' | 'CHANGE';
        before?: {
          policyName: string;
          effect: string;
          condition: string;
          consensus: string;
          time: string;
          notes: string;
        };
        after?: {
          policyName: string;
          effect: string;
          condition: string;
          consensus: string;
          time: string;
          notes: string;
        };
      };
    };
  };
}

/** Parameters of get_auth_proxy_config. */
export interface GetAuthProxyConfigParameters {}

/** Answer of get_auth_proxy_config. */
export interface GetAuthProxyConfigResponse {
  authProxyConfig: {
    configId: string;
    organizationId: string;
    enabled: boolean;
    userId?: string;
    allowedOrigins?: string[];
    allowedAuthMethods?: (
      | 'email'
      | 'sms'
      | 'passkey'
      | 'wallet'
      | 'google'
      | 'apple'
      | 'facebook'
      | 'x'
      | 'discord'
      | 'oidc'
    )[];
    sendFromEmailAddress?: string;
    replyToEmailAddress?: string;
    sendFromEmailSenderName?: string;
    emailAuthTemplateId?: string;
    otpTemplateId?: string;
    emailCustomizationParams?: {
      appName?: string;
      logoUrl?: string;
      magicLinkTemplate?: string;
      templateVariables?: string;
      templateId?: string;
    };
    smsCustomizationParams?: {
      template?: string;
    };
    walletKitSettings?: {
      enabledSocialProviders?: ('google' | 'apple' | 'facebook' | 'x' | 'discord')[];
      oauthClientIds?: {
        google?: string;
        apple?: string;
        facebook?: string;
        x?: string;
        discord?: string;
      };
      oauthRedirectUrl?: string;
    };
    otpExpirationSeconds?: number;
    verificationTokenExpirationSeconds?: number;
    sessionExpirationSeconds?: number;
    otpAlphanumeric?: boolean;
    otpLength?: number;
    verificationTokenRequiredForGetAccountPii?: boolean;
    socialLinkingClientIds?: string[];
    oidcIssuers?: string[];
    captchaEnabled?: boolean;
    createdAt: Timestamp;
    updatedAt: Timestamp;
  };
}

/** Parameters of get_authenticator. */
export interface GetAuthenticatorParameters {
  authenticatorId: string;
}

/** Answer of get_authenticator. */
export interface GetAuthenticatorResponse {
  authenticator: Authenticator;
}

/** Parameters of get_authenticators. */
export interface GetAuthenticatorsParameters {
  userId: string;
  paginationOptions?: PaginationOptions;
}

/** Answer of get_authenticators. */
export interface GetAuthenticatorsResponse {
  authenticators: Authenticator[];
  pageInfo: PageInfo;
}

/** Parameters of get_claim_earn_fees_status. */
export interface GetClaimEarnFeesStatusParameters {
  claimRequestId: string;
}

/** Answer of get_claim_earn_fees_status. */
export interface GetClaimEarnFeesStatusResponse {
  status: 'PENDING' | 'COMPLETED' | 'FAILED';
  claimTxHash?: string;
  error?: string;
}

/** Parameters of get_earn_deploy_status. */
export interface GetEarnDeployStatusParameters {
  deployRequestId: string;
}

/** Answer of get_earn_deploy_status. */
export interface GetEarnDeployStatusResponse {
  status: 'PENDING' | 'COMPLETED' | 'FAILED';
  deployTxHash?: string;
  error?: string;
}

/** Parameters of get_earn_deposit_status. */
export interface GetEarnDepositStatusParameters {
  depositRequestId: string;
}

/** Answer of get_earn_deposit_status. */
export interface GetEarnDepositStatusResponse {
  status: 'PENDING' | 'COMPLETED' | 'FAILED';
  depositTxHash?: string;
  error?: string;
}

/** Parameters of get_earn_withdraw_status. */
export interface GetEarnWithdrawStatusParameters {
  withdrawRequestId: string;
}

/** Answer of get_earn_withdraw_status. */
export interface GetEarnWithdrawStatusResponse {
  status: 'PENDING' | 'COMPLETED' | 'FAILED';
  withdrawTxHash?: string;
  error?: string;
}

/** Parameters of get_gas_usage. */
export interface GetGasUsageParameters {}

/** Answer of get_gas_usage. */
export interface GetGasUsageResponse {
  windowDurationMinutes: number;
  windowLimitUsd: string;
  usageUsd: string;
}

/** Parameters of get_ip_allowlist. */
export interface GetIpAllowlistParameters {
  publicKey?: string;
}

/** Answer of get_ip_allowlist. */
export interface GetIpAllowlistResponse {
  allowlist: {
    organizationId: string;
    rules: {
      cidr: string;
      label?: string;
      createdAt: string;
    }[];
    publicKey?: string;
    enabled?: boolean;
    onEvaluationError: string;
  };
}

/** Parameters of get_mfa_policies. */
export interface GetMfaPoliciesParameters {
  userId: string;
  paginationOptions?: PaginationOptions;
}

/** Answer of get_mfa_policies. */
export interface GetMfaPoliciesResponse {
  mfaPolicies: {
    mfaPolicyId: string;
    mfaPolicyName: string;
    condition: string;
    requiredAuthenticationMethods: {
      any: {
        type:
          | 'AUTHENTICATION_TYPE_EMAIL_OTP'
          | 'AUTHENTICATION_TYPE_SMS_OTP'
          | 'AUTHENTICATION_TYPE_PASSKEY'
          | 'AUTHENTICATION_TYPE_API_KEY'
          | 'AUTHENTICATION_TYPE_OAUTH'
          | 'AUTHENTICATION_TYPE_SESSION';
        id?: string;
      }[];
    }[];
    order: number;
    notes?: string;
    createdAt: Timestamp;
    updatedAt: Timestamp;
  }[];
  pageInfo: PageInfo;
}

/** Parameters of get_mfa_policy. */
export interface GetMfaPolicyParameters {
  userId: string;
  mfaPolicyId: string;
}

/** Answer of get_mfa_policy. */
export interface GetMfaPolicyResponse {
  mfaPolicy: {
    mfaPolicyId: string;
    mfaPolicyName: string;
    condition: string;
    requiredAuthenticationMethods: {
      any: {
        type:
          | 'AUTHENTICATION_TYPE_EMAIL_OTP'
          | 'AUTHENTICATION_TYPE_SMS_OTP'
          | 'AUTHENTICATION_TYPE_PASSKEY'
          | 'AUTHENTICATION_TYPE_API_KEY'
          | 'AUTHENTICATION_TYPE_OAUTH'
          | 'AUTHENTICATION_TYPE_SESSION';
        id?: string;
      }[];
    }[];
    order: number;
    notes?: string;
    createdAt: Timestamp;
    updatedAt: Timestamp;
  };
}

/** Parameters of get_mfa_status. */
export interface GetMfaStatusParameters {
  activityId: string;
  userId?: string;
  paginationOptions?: PaginationOptions;
}

/** Answer of get_mfa_status. */
export interface GetMfaStatusResponse {
  mfaStatuses: {
    mfaPolicyId: string;
    userId: string;
    satisfied: boolean;
    satisfiedMethods: {
      type:
        | 'AUTHENTICATION_TYPE_EMAIL_OTP'
        | 'AUTHENTICATION_TYPE_SMS_OTP'
        | 'AUTHENTICATION_TYPE_PASSKEY'
        | 'AUTHENTICATION_TYPE_API_KEY'
        | 'AUTHENTICATION_TYPE_OAUTH'
        | 'AUTHENTICATION_TYPE_SESSION';
      id?: string;
    }[];
    requiredMethods: {
      any: {
        type:
          | 'AUTHENTICATION_TYPE_EMAIL_OTP'
          | 'AUTHENTICATION_TYPE_SMS_OTP'
          | 'AUTHENTICATION_TYPE_PASSKEY'
          | 'AUTHENTICATION_TYPE_API_KEY'
          | 'AUTHENTICATION_TYPE_OAUTH'
          | 'AUTHENTICATION_TYPE_SESSION';
        id?: string;
      }[];
    }[];
  }[];
  pageInfo: PageInfo;
}

/** Parameters of get_nonces. */
export interface GetNoncesParameters {
  address: string;
  caip2: string;
  nonce?: boolean;
  gasStationNonce?: boolean;
}

/** Answer of get_nonces. */
export interface GetNoncesResponse {
  nonce?: string;
  gasStationNonce?: string;
}

/** Parameters of get_oauth2_credential. */
export interface GetOauth2CredentialParameters {
  oauth2CredentialId: string;
}

/** Answer of get_oauth2_credential. */
export interface GetOauth2CredentialResponse {
  oauth2Credential: {
    oauth2CredentialId: string;
    organizationId: string;
    provider: 'OAUTH2_PROVIDER_X' | 'OAUTH2_PROVIDER_DISCORD';
    clientId: string;
    encryptedClientSecret: string;
    createdAt: Timestamp;
    updatedAt: Timestamp;
  };
}

/** Parameters of get_oauth_providers. */
export interface GetOauthProvidersParameters {
  userId?: string;
  paginationOptions?: PaginationOptions;
}

/** Answer of get_oauth_providers. */
export interface GetOauthProvidersResponse {
  oauthProviders: {
    providerId: string;
    providerName: string;
    issuer: string;
    audience: string;
    subject: string;
    createdAt: Timestamp;
    updatedAt: Timestamp;
  }[];
  pageInfo: PageInfo;
}

/** Parameters of get_onramp_transaction_status. */
export interface GetOnrampTransactionStatusParameters {
  transactionId: string;
  refresh?: boolean;
}

/** Answer of get_onramp_transaction_status. */
export interface GetOnrampTransactionStatusResponse {
  transactionStatus: string;
}

/** Parameters of get_operations. */
export interface GetOperationsParameters {}

/** Answer of get_operations. */
export interface GetOperationsResponse {
  service: {
    version: string;
    node: string;
    processId: number;
    startedAt: string;
    baseUrl: string;
    database: 'sqlite' | 'postgresql';
    databaseVersion: string;
    connections: {
      pool: string;
      busy: number;
      idle: number;
      waiting: number;
      timeouts: number;
    }[];
    ready: boolean;
    reasons: Record<string, string>;
  };
  counters: {
    requests: number;
    errors5xx: number;
    signatures: number;
  };
  latency: {
    buckets: {
      leSeconds: number;
      count: number;
    }[];
    count: number;
    sumSeconds: number;
  };
  queues: {
    name: 'webhooks' | 'sends' | 'messages';
    waiting: number;
    isMore?: boolean;
    oldestAt?: string;
  }[];
  keys: {
    protection: 'file' | 'passphrase-file' | 'keyring';
    keyring: 'process' | 'inline' | 'socket';
    keyringUser: 'same' | 'own';
    rootKeyId: string;
    isRotating: boolean;
    retiredRootKeys: number;
    keyringMs?: number;
  };
  chains: {
    caip2: string;
    head?: number;
    behind?: number;
    nodes: {
      host: string;
      answers: boolean;
      head?: number;
      at: string;
    }[];
  }[];
  mail: {
    email: 'PROVIDER' | 'INBOX' | 'NONE';
    sms: 'PROVIDER' | 'INBOX' | 'NONE';
    host?: string;
    lastSentAt?: string;
    failed24h: number;
  };
  backup: {
    lastAt?: string;
    text: string;
  };
  disk?: {
    usedBytes: number;
    totalBytes: number;
    freeBytes: number;
  };
  fence: {
    up: boolean;
    isWhole: boolean;
    restoredAt?: string;
    doubt?: 'not-loaded' | 'not-genuine' | 'restored-meanwhile';
  };
  now: string;
}

/** Parameters of get_organization. */
export interface GetOrganizationParameters {}

/** Answer of get_organization. */
export interface GetOrganizationResponse {
  organizationData: {
    organizationId: string;
    name: string;
    users: User[];
    policies: {
      policyId: string;
      policyName: string;
      effect: 'EFFECT_ALLOW' | 'EFFECT_DENY';
      createdAt: Timestamp;
      updatedAt: Timestamp;
      notes: string;
      consensus: string;
      condition: string;
      time?: string;
    }[];
    privateKeys: {
      privateKeyId: string;
      publicKey: string;
      privateKeyName: string;
      curve: string;
      addresses: {
        format: string;
        address: string;
      }[];
      privateKeyTags: string[];
      createdAt: Timestamp;
      updatedAt: Timestamp;
      exported: boolean;
      imported: boolean;
    }[];
    invitations: Invitation[];
    tags: Tag[];
    rootQuorum: Quorum;
    features: Feature[];
    wallets: {
      walletId: string;
      walletName: string;
      createdAt: Timestamp;
      updatedAt: Timestamp;
      exported: boolean;
      imported: boolean;
    }[];
    smartContractInterfaceReferences: {
      smartContractInterfaceId: string;
      smartContractAddress: string;
      digest: string;
    }[];
  };
}

/** Parameters of get_organization_configs. */
export interface GetOrganizationConfigsParameters {}

/** Answer of get_organization_configs. */
export interface GetOrganizationConfigsResponse {
  configs: {
    features: Feature[];
    quorum: Quorum;
  };
}

/** Parameters of get_policy. */
export interface GetPolicyParameters {
  policyId: string;
}

/** Answer of get_policy. */
export interface GetPolicyResponse {
  policy: {
    policyId: string;
    policyName: string;
    effect: 'EFFECT_ALLOW' | 'EFFECT_DENY';
    createdAt: Timestamp;
    updatedAt: Timestamp;
    notes: string;
    consensus: string;
    condition: string;
    time?: string;
  };
}

/** Parameters of get_policy_evaluations. */
export interface GetPolicyEvaluationsParameters {
  activityId: string;
  paginationOptions?: PaginationOptions;
}

/** Answer of get_policy_evaluations. */
export interface GetPolicyEvaluationsResponse {
  policyEvaluations: {
    id: string;
    activityId: string;
    organizationId: string;
    voteId: string;
    policyEvaluations: {
      policyId: string;
      outcome:
        | 'OUTCOME_ALLOW'
        | 'OUTCOME_DENY_EXPLICIT'
        | 'OUTCOME_DENY_IMPLICIT'
        | 'OUTCOME_REQUIRES_CONSENSUS'
        | 'OUTCOME_ERROR'
        | 'OUTCOME_TIME_INACTIVE'
        | 'OUTCOME_REQUIRES_AUTHENTICATORS'
        | 'OUTCOME_REJECTED';
      policyName?: string;
      effect: 'EFFECT_ALLOW' | 'EFFECT_DENY';
      reason: string;
      error?: {
        expression: string;
        code: string;
        message: string;
        start: number;
        end: number;
      };
      element?: number;
      trace?: {
        time?: unknown;
        conditions: unknown[];
        consensus?: unknown;
      };
      explanation?: {
        sentence: {
          text: string;
          strong?: true;
          userText?: true;
          address?: string;
          caip2?: string;
        }[];
        parts: {
          text: string;
          holds: boolean | null;
          decides?: true;
          depth: number;
        }[];
        whatWouldPass?: string;
      };
    }[];
    explanation?: {
      sentence: {
        text: string;
        strong?: true;
        userText?: true;
        address?: string;
        caip2?: string;
      }[];
      whatWouldPass?: string;
    };
    createdAt: Timestamp;
  }[];
  pageInfo: PageInfo;
}

/** Parameters of get_private_key. */
export interface GetPrivateKeyParameters {
  privateKeyId: string;
}

/** Answer of get_private_key. */
export interface GetPrivateKeyResponse {
  privateKey: {
    privateKeyId: string;
    publicKey: string;
    privateKeyName: string;
    curve: string;
    addresses: {
      format: string;
      address: string;
    }[];
    privateKeyTags: string[];
    createdAt: Timestamp;
    updatedAt: Timestamp;
    exported: boolean;
    imported: boolean;
  };
}

/** Parameters of get_recovery_kit. */
export interface GetRecoveryKitParameters {
  recoveryKitId: string;
  piece?: number;
}

/** Answer of get_recovery_kit. */
export interface GetRecoveryKitResponse {
  recoveryKit: {
    recoveryKitId: string;
    activityId: string;
    recipients: string[];
    sha256: string;
    sizeBytes: number;
    pieceCount: number;
    walletCount: number;
    privateKeyCount: number;
    createdAt: string;
  };
  piece?: {
    position: number;
    content: string;
  };
}

/** Parameters of get_send_transaction_status. */
export interface GetSendTransactionStatusParameters {
  sendTransactionStatusId: string;
}

/** Answer of get_send_transaction_status. */
export interface GetSendTransactionStatusResponse {
  txStatus: 'INITIALIZED' | 'BROADCASTING' | 'INCLUDED' | 'FAILED';
  eth?: {
    txHash?: string;
  };
  solana?: {
    signature?: string;
  };
  txError?: string;
  error?: {
    message: string;
    revertChain?: {
      address?: string;
      errorType?: string;
      displayMessage?: string;
      unknown?: {
        selector?: string;
        data?: string;
      };
      native?: {
        nativeType?: string;
        message?: string;
        panicCode?: string;
      };
      custom?: {
        errorName?: string;
        paramsJson?: string;
      };
    }[];
    eth?: {
      revertChain: {
        address?: string;
        errorType?: string;
        displayMessage?: string;
        unknown?: {
          selector?: string;
          data?: string;
        };
        native?: {
          nativeType?: string;
          message?: string;
          panicCode?: string;
        };
        custom?: {
          errorName?: string;
          paramsJson?: string;
        };
      }[];
    };
    solana?: {
      source?: string;
      rpcCode?: number;
      rpcMessage?: string;
      transactionErrorJson?: string;
      logs?: string[];
      unitsConsumed?: string;
      innerInstructionsJson?: string;
    };
  };
}

/** Parameters of get_session_profile. */
export interface GetSessionProfileParameters {
  sessionProfileId: string;
}

/** Answer of get_session_profile. */
export interface GetSessionProfileResponse {
  sessionProfile: {
    sessionProfileId: string;
    sessionProfileName: string;
    scope: string;
    expirationSeconds?: string;
    notes?: string;
    createdAt: Timestamp;
    updatedAt: Timestamp;
  };
}

/** Parameters of get_session_profiles. */
export interface GetSessionProfilesParameters {
  paginationOptions?: PaginationOptions;
}

/** Answer of get_session_profiles. */
export interface GetSessionProfilesResponse {
  sessionProfiles: {
    sessionProfileId: string;
    sessionProfileName: string;
    scope: string;
    expirationSeconds?: string;
    notes?: string;
    createdAt: Timestamp;
    updatedAt: Timestamp;
  }[];
  pageInfo: PageInfo;
}

/** Parameters of get_smart_contract_interface. */
export interface GetSmartContractInterfaceParameters {
  smartContractInterfaceId: string;
}

/** Answer of get_smart_contract_interface. */
export interface GetSmartContractInterfaceResponse {
  smartContractInterface: {
    organizationId: string;
    smartContractInterfaceId: string;
    smartContractAddress: string;
    smartContractInterface: string;
    type: string;
    label: string;
    notes: string;
    createdAt: Timestamp;
    updatedAt: Timestamp;
  };
}

/** Parameters of get_tvc_app. */
export interface GetTvcAppParameters {
  tvcAppId: string;
}

/** Answer of get_tvc_app. */
export interface GetTvcAppResponse {
  tvcApp: TvcApp;
}

/** Parameters of get_tvc_deployment. */
export interface GetTvcDeploymentParameters {
  deploymentId: string;
}

/** Answer of get_tvc_deployment. */
export interface GetTvcDeploymentResponse {
  tvcDeployment: TvcDeployment;
}

/** Parameters of get_user. */
export interface GetUserParameters {
  userId: string;
}

/** Answer of get_user. */
export interface GetUserResponse {
  user: User;
}

/** Parameters of get_velocity_control. */
export interface GetVelocityControlParameters {
  velocityControlId: string;
}

/** Answer of get_velocity_control. */
export interface GetVelocityControlResponse {
  velocityControl: {
    velocityControlId: string;
    organizationId: string;
    name: string;
    dataSource: {
      chainAssetTransfer?: {
        definition: {
          caip19: string;
          decimals: string;
        }[];
        filter?: {
          activity?: {
            activityType: string;
          }[];
        };
        phase?: {
          signature?: {};
          submission?: {};
        };
      };
      activityExecution?: {
        filter?: {
          activity?: {
            activityType: string;
          }[];
        };
      };
    };
    aggregation: {
      method:
        | 'VELOCITY_CONTROL_AGGREGATION_METHOD_SUM'
        | 'VELOCITY_CONTROL_AGGREGATION_METHOD_COUNT';
      operator:
        | 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN'
        | 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL'
        | 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_EQUAL'
        | 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_GREATER_THAN_OR_EQUAL'
        | 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_GREATER_THAN';
      threshold: string;
      window: {
        rolling?: {
          duration: string;
        };
        infinite?: {};
      };
      groupBy: {
        organization?: {};
        user?: {};
        wallet?: {};
      };
    };
    refuseUncounted?: boolean;
    createdAt: Timestamp;
    updatedAt: Timestamp;
    identifier: string;
  };
}

/** Parameters of get_wallet. */
export interface GetWalletParameters {
  walletId: string;
}

/** Answer of get_wallet. */
export interface GetWalletResponse {
  wallet: {
    walletId: string;
    walletName: string;
    createdAt: Timestamp;
    updatedAt: Timestamp;
    exported: boolean;
    imported: boolean;
  };
}

/** Parameters of get_wallet_account. */
export interface GetWalletAccountParameters {
  walletId: string;
  address?: string;
  path?: string;
}

/** Answer of get_wallet_account. */
export interface GetWalletAccountResponse {
  account: {
    walletAccountId: string;
    organizationId: string;
    walletId: string;
    curve: string;
    pathFormat: 'PATH_FORMAT_BIP32';
    path: string;
    addressFormat: string;
    address: string;
    createdAt: Timestamp;
    updatedAt: Timestamp;
    publicKey?: string;
    walletDetails?: {
      walletId: string;
      walletName: string;
      createdAt: Timestamp;
      updatedAt: Timestamp;
      exported: boolean;
      imported: boolean;
    };
    name?: string;
    caip2Prefix?: string;
  };
}

/** Parameters of get_wallet_address_balances. */
export interface GetWalletAddressBalancesParameters {
  address: string;
  caip2: string;
  paginationOptions?: PaginationOptions;
}

/** Answer of get_wallet_address_balances. */
export interface GetWalletAddressBalancesResponse {
  balances: {
    caip19: string;
    symbol: string;
    name: string;
    balance: string;
    decimals: number;
    display: {
      usd: string;
      crypto: string;
    };
    tokenProgram?: string;
  }[];
  pageInfo: PageInfo;
}

/** Parameters of get_webhook_delivery. */
export interface GetWebhookDeliveryParameters {
  deliveryId: string;
}

/** Answer of get_webhook_delivery. */
export interface GetWebhookDeliveryResponse {
  webhookDelivery: {
    deliveryId: string;
    endpointId: string;
    eventId: string;
    eventType: string;
    organizationId: string;
    state:
      | 'WEBHOOK_DELIVERY_STATE_PENDING'
      | 'WEBHOOK_DELIVERY_STATE_DELIVERED'
      | 'WEBHOOK_DELIVERY_STATE_FAILED'
      | 'WEBHOOK_DELIVERY_STATE_DEAD_LETTERED';
    attempts: {
      attemptedAt: string;
      latencyMs: number;
      status?: number;
      error?: string;
      answer?: string;
    }[];
    nextAttemptAt?: string;
    createdAt: string;
    updatedAt: string;
    payload: string;
    headers: Record<string, string>;
    headersPerAttempt: string[];
  };
}

/** Parameters of get_webhook_statistics. */
export interface GetWebhookStatisticsParameters {
  endpointId?: string;
  sinceMs: string;
  bucketMs: string;
}

/** Answer of get_webhook_statistics. */
export interface GetWebhookStatisticsResponse {
  buckets: {
    startsAt: string;
    succeeded: number;
    failed: number;
  }[];
  succeeded: number;
  failed: number;
  waiting: number;
  failedForGood: number;
  isPartial?: boolean;
}

/** Parameters of import_private_key. */
export interface ImportPrivateKeyParameters {
  userId: string;
  privateKeyName: string;
  encryptedBundle: string;
  curve: 'CURVE_SECP256K1' | 'CURVE_ED25519' | 'CURVE_P256';
  addressFormats: (
    | 'ADDRESS_FORMAT_UNCOMPRESSED'
    | 'ADDRESS_FORMAT_COMPRESSED'
    | 'ADDRESS_FORMAT_ETHEREUM'
    | 'ADDRESS_FORMAT_SOLANA'
    | 'ADDRESS_FORMAT_COSMOS'
    | 'ADDRESS_FORMAT_TRON'
    | 'ADDRESS_FORMAT_SUI'
    | 'ADDRESS_FORMAT_APTOS'
    | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH'
    | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH'
    | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH'
    | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH'
    | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR'
    | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH'
    | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH'
    | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH'
    | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH'
    | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR'
    | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH'
    | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH'
    | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH'
    | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH'
    | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR'
    | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH'
    | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH'
    | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH'
    | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH'
    | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR'
    | 'ADDRESS_FORMAT_SEI'
    | 'ADDRESS_FORMAT_XLM'
    | 'ADDRESS_FORMAT_DOGE_MAINNET'
    | 'ADDRESS_FORMAT_DOGE_TESTNET'
    | 'ADDRESS_FORMAT_TON_V3R2'
    | 'ADDRESS_FORMAT_TON_V4R2'
    | 'ADDRESS_FORMAT_TON_V5R1'
    | 'ADDRESS_FORMAT_XRP'
    | 'ADDRESS_FORMAT_SPARK_MAINNET'
    | 'ADDRESS_FORMAT_SPARK_REGTEST'
  )[];
}

/** Result of import_private_key. */
export interface ImportPrivateKeyResult {
  privateKeyId: string;
  addresses: {
    format: string;
    address: string;
  }[];
}

/** Parameters of import_secrets. */
export interface ImportSecretsParameters {
  secrets: {
    name?: string;
    secretPayload: string;
    targetPublicKey: string;
    encryptionSuite: 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1';
    staticProperties?: {
      key?: string;
      value?: string;
    }[];
  }[];
}

/** Result of import_secrets. */
export interface ImportSecretsResult {
  secretIds: string[];
}

/** Parameters of import_wallet. */
export interface ImportWalletParameters {
  userId: string;
  walletName: string;
  encryptedBundle: string;
  accounts: {
    curve: 'CURVE_SECP256K1' | 'CURVE_ED25519' | 'CURVE_P256';
    pathFormat: 'PATH_FORMAT_BIP32';
    path: string;
    addressFormat:
      | 'ADDRESS_FORMAT_UNCOMPRESSED'
      | 'ADDRESS_FORMAT_COMPRESSED'
      | 'ADDRESS_FORMAT_ETHEREUM'
      | 'ADDRESS_FORMAT_SOLANA'
      | 'ADDRESS_FORMAT_COSMOS'
      | 'ADDRESS_FORMAT_TRON'
      | 'ADDRESS_FORMAT_SUI'
      | 'ADDRESS_FORMAT_APTOS'
      | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH'
      | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH'
      | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH'
      | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH'
      | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR'
      | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH'
      | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH'
      | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH'
      | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH'
      | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR'
      | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH'
      | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH'
      | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH'
      | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH'
      | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR'
      | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH'
      | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH'
      | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH'
      | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH'
      | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR'
      | 'ADDRESS_FORMAT_SEI'
      | 'ADDRESS_FORMAT_XLM'
      | 'ADDRESS_FORMAT_DOGE_MAINNET'
      | 'ADDRESS_FORMAT_DOGE_TESTNET'
      | 'ADDRESS_FORMAT_TON_V3R2'
      | 'ADDRESS_FORMAT_TON_V4R2'
      | 'ADDRESS_FORMAT_TON_V5R1'
      | 'ADDRESS_FORMAT_XRP'
      | 'ADDRESS_FORMAT_SPARK_MAINNET'
      | 'ADDRESS_FORMAT_SPARK_REGTEST';
    name?: string;
  }[];
}

/** Result of import_wallet. */
export interface ImportWalletResult {
  walletId: string;
  addresses: string[];
}

/** Parameters of init_fiat_on_ramp. */
export interface InitFiatOnRampParameters {
  onrampProvider: 'FIAT_ON_RAMP_PROVIDER_COINBASE' | 'FIAT_ON_RAMP_PROVIDER_MOONPAY';
  walletAddress: string;
  network:
    | 'FIAT_ON_RAMP_BLOCKCHAIN_NETWORK_BITCOIN'
    | 'FIAT_ON_RAMP_BLOCKCHAIN_NETWORK_ETHEREUM'
    | 'FIAT_ON_RAMP_BLOCKCHAIN_NETWORK_SOLANA'
    | 'FIAT_ON_RAMP_BLOCKCHAIN_NETWORK_BASE';
  cryptoCurrencyCode:
    | 'FIAT_ON_RAMP_CRYPTO_CURRENCY_BTC'
    | 'FIAT_ON_RAMP_CRYPTO_CURRENCY_ETH'
    | 'FIAT_ON_RAMP_CRYPTO_CURRENCY_SOL'
    | 'FIAT_ON_RAMP_CRYPTO_CURRENCY_USDC';
  fiatCurrencyCode?:
    | 'FIAT_ON_RAMP_CURRENCY_AUD'
    | 'FIAT_ON_RAMP_CURRENCY_BGN'
    | 'FIAT_ON_RAMP_CURRENCY_BRL'
    | 'FIAT_ON_RAMP_CURRENCY_CAD'
    | 'FIAT_ON_RAMP_CURRENCY_CHF'
    | 'FIAT_ON_RAMP_CURRENCY_COP'
    | 'FIAT_ON_RAMP_CURRENCY_CZK'
    | 'FIAT_ON_RAMP_CURRENCY_DKK'
    | 'FIAT_ON_RAMP_CURRENCY_DOP'
    | 'FIAT_ON_RAMP_CURRENCY_EGP'
    | 'FIAT_ON_RAMP_CURRENCY_EUR'
    | 'FIAT_ON_RAMP_CURRENCY_GBP'
    | 'FIAT_ON_RAMP_CURRENCY_HKD'
    | 'FIAT_ON_RAMP_CURRENCY_IDR'
    | 'FIAT_ON_RAMP_CURRENCY_ILS'
    | 'FIAT_ON_RAMP_CURRENCY_JOD'
    | 'FIAT_ON_RAMP_CURRENCY_KES'
    | 'FIAT_ON_RAMP_CURRENCY_KWD'
    | 'FIAT_ON_RAMP_CURRENCY_LKR'
    | 'FIAT_ON_RAMP_CURRENCY_MXN'
    | 'FIAT_ON_RAMP_CURRENCY_NGN'
    | 'FIAT_ON_RAMP_CURRENCY_NOK'
    | 'FIAT_ON_RAMP_CURRENCY_NZD'
    | 'FIAT_ON_RAMP_CURRENCY_OMR'
    | 'FIAT_ON_RAMP_CURRENCY_PEN'
    | 'FIAT_ON_RAMP_CURRENCY_PLN'
    | 'FIAT_ON_RAMP_CURRENCY_RON'
    | 'FIAT_ON_RAMP_CURRENCY_SEK'
    | 'FIAT_ON_RAMP_CURRENCY_THB'
    | 'FIAT_ON_RAMP_CURRENCY_TRY'
    | 'FIAT_ON_RAMP_CURRENCY_TWD'
    | 'FIAT_ON_RAMP_CURRENCY_USD'
    | 'FIAT_ON_RAMP_CURRENCY_VND'
    | 'FIAT_ON_RAMP_CURRENCY_ZAR';
  fiatCurrencyAmount?: string;
  paymentMethod?:
    | 'FIAT_ON_RAMP_PAYMENT_METHOD_CREDIT_DEBIT_CARD'
    | 'FIAT_ON_RAMP_PAYMENT_METHOD_APPLE_PAY'
    | 'FIAT_ON_RAMP_PAYMENT_METHOD_GBP_BANK_TRANSFER'
    | 'FIAT_ON_RAMP_PAYMENT_METHOD_GBP_OPEN_BANKING_PAYMENT'
    | 'FIAT_ON_RAMP_PAYMENT_METHOD_GOOGLE_PAY'
    | 'FIAT_ON_RAMP_PAYMENT_METHOD_SEPA_BANK_TRANSFER'
    | 'FIAT_ON_RAMP_PAYMENT_METHOD_PIX_INSTANT_PAYMENT'
    | 'FIAT_ON_RAMP_PAYMENT_METHOD_PAYPAL'
    | 'FIAT_ON_RAMP_PAYMENT_METHOD_VENMO'
    | 'FIAT_ON_RAMP_PAYMENT_METHOD_MOONPAY_BALANCE'
    | 'FIAT_ON_RAMP_PAYMENT_METHOD_CRYPTO_ACCOUNT'
    | 'FIAT_ON_RAMP_PAYMENT_METHOD_FIAT_WALLET'
    | 'FIAT_ON_RAMP_PAYMENT_METHOD_ACH_BANK_ACCOUNT';
  countryCode?: string;
  countrySubdivisionCode?: string;
  sandboxMode?: boolean;
  urlForSignature?: string;
}

/** Result of init_fiat_on_ramp. */
export interface InitFiatOnRampResult {
  onRampUrl: string;
  onRampTransactionId: string;
  onRampUrlSignature?: string;
}

/** Parameters of init_import_private_key. */
export interface InitImportPrivateKeyParameters {
  userId: string;
}

/** Result of init_import_private_key. */
export interface InitImportPrivateKeyResult {
  importBundle: string;
}

/** Parameters of init_import_secrets. */
export interface InitImportSecretsParameters {
  encryptionSuite: 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1';
  numSecrets: number;
}

/** Result of init_import_secrets. */
export interface InitImportSecretsResult {
  enclaveTargetMessages: string[];
}

/** Parameters of init_import_wallet. */
export interface InitImportWalletParameters {
  userId: string;
}

/** Result of init_import_wallet. */
export interface InitImportWalletResult {
  importBundle: string;
}

/** Parameters of init_otp. */
export interface InitOtpParameters {
  otpType: 'OTP_TYPE_EMAIL' | 'OTP_TYPE_SMS';
  contact: string;
  smsCustomization?: {
    template?: string;
  };
  userIdentifier?: string;
  sendFromEmailAddress?: string;
  sendFromEmailSenderName?: string;
  replyToEmailAddress?: string;
  otpLength?: number;
  alphanumeric?: boolean;
  expirationSeconds?: string;
  appName: string;
  emailCustomization?: {
    logoUrl?: string;
    magicLinkTemplate?: string;
    templateVariables?: string;
    templateId?: string;
  };
}

/** Result of init_otp. */
export interface InitOtpResult {
  otpId: string;
  otpEncryptionTargetBundle: string;
}

/** Parameters of init_otp_auth. */
export interface InitOtpAuthParameters {
  otpType: 'OTP_TYPE_EMAIL' | 'OTP_TYPE_SMS';
  contact: string;
  smsCustomization?: {
    template?: string;
  };
  userIdentifier?: string;
  sendFromEmailAddress?: string;
  sendFromEmailSenderName?: string;
  replyToEmailAddress?: string;
  otpLength?: number;
  alphanumeric?: boolean;
  expirationSeconds?: string;
  appName: string;
  emailCustomization?: {
    logoUrl?: string;
    magicLinkTemplate?: string;
    templateVariables?: string;
    templateId?: string;
  };
}

/** Result of init_otp_auth. */
export interface InitOtpAuthResult {
  otpId: string;
}

/** Parameters of init_user_email_recovery. */
export interface InitUserEmailRecoveryParameters {
  email: string;
  targetPublicKey: string;
  expirationSeconds?: string;
  sendFromEmailAddress?: string;
  sendFromEmailSenderName?: string;
  replyToEmailAddress?: string;
  emailCustomization: {
    appName: string;
    logoUrl?: string;
    magicLinkTemplate?: string;
    templateVariables?: string;
    templateId?: string;
  };
}

/** Result of init_user_email_recovery. */
export interface InitUserEmailRecoveryResult {
  userId: string;
}

/** Parameters of list_activities. */
export interface ListActivitiesParameters {
  filterByStatus?: ActivityStatus[];
  filterByType?: string[];
  filterByUserId?: string;
  createdAfterMs?: string;
  createdBeforeMs?: string;
  paginationOptions?: PaginationOptions;
}

/** Answer of list_activities. */
export interface ListActivitiesResponse {
  activities: Activity[];
  pageInfo: PageInfo;
}

/** Parameters of list_app_proofs. */
export interface ListAppProofsParameters {
  activityId: string;
  paginationOptions?: PaginationOptions;
}

/** Answer of list_app_proofs. */
export interface ListAppProofsResponse {
  appProofs: {
    scheme: string;
    publicKey: string;
    proofPayload: string;
    signature: string;
  }[];
  pageInfo: PageInfo;
}

/** Parameters of list_approvals. */
export interface ListApprovalsParameters {
  filter?: 'FOR_ME' | 'FOR_OTHERS' | 'DECIDED';
  paginationOptions?: PaginationOptions;
}

/** Answer of list_approvals. */
export interface ListApprovalsResponse {
  approvals: {
    activity: Activity;
    progress: {
      waitsForMe: boolean;
      myVote?: 'APPROVED' | 'REJECTED';
      given: number;
      required: number;
      ways: {
        kind: 'ROOT_QUORUM' | 'POLICY';
        policyId?: string;
        policyName?: string;
        given: number;
        required?: number;
        missing: {
          anyone: boolean;
          userIds: string[];
        };
        text: string;
      }[];
      authentication?: {
        isMine: boolean;
        userId: string;
        factors: {
          any: {
            type: string;
            id?: string;
          }[];
          isProven: boolean;
          isNext: boolean;
        }[];
        text: string;
      };
      lapsesAt?: string;
      isLapsed?: boolean;
      completes: boolean;
      submitter?: {
        userId: string;
        userName: string;
        isProgram: boolean;
        credentialName?: string;
        credentialKind?: 'PASSKEY' | 'API_KEY' | 'SESSION' | 'RECOVERY' | 'TOKEN';
        sourceAddress?: string;
      };
      votes: {
        voteId: string;
        userId: string;
        userName: string;
        isProgram: boolean;
        credentialName?: string;
        credentialKind?: 'PASSKEY' | 'API_KEY' | 'SESSION' | 'RECOVERY' | 'TOKEN';
        sourceAddress?: string;
        selection: 'APPROVED' | 'REJECTED';
        at: string;
      }[];
      decidedAt?: string;
      outcome?: ActivityStatus;
    };
    description: {
      activityId?: string;
      type: string;
      kind: string;
      sentence: {
        text: string;
        strong?: true;
        userText?: true;
        address?: string;
        caip2?: string;
      }[];
      text: string;
      risk: 'ROUTINE' | 'LOOK_CLOSELY' | 'DANGER' | 'UNREADABLE';
      marks: {
        risk: 'ROUTINE' | 'LOOK_CLOSELY' | 'DANGER' | 'UNREADABLE';
        text: string;
      }[];
      consequence?: string;
      steps: {
        sentence: {
          text: string;
          strong?: true;
          userText?: true;
          address?: string;
          caip2?: string;
        }[];
        risk: 'ROUTINE' | 'LOOK_CLOSELY' | 'DANGER' | 'UNREADABLE';
      }[];
      fields: {
        label: string;
        value: {
          text: string;
          strong?: true;
          userText?: true;
          address?: string;
          caip2?: string;
        }[];
        kind: 'TEXT' | 'ADDRESS' | 'AMOUNT' | 'ID' | 'TIME' | 'BYTES' | 'CODE';
        note?: string;
      }[];
      sender?: {
        address: string;
        name?: string;
        walletId?: string;
        caip2?: string;
      };
      recipients: {
        address: string;
        name?: string;
        paidCount: number;
        paidSince?: string;
        notLookedUp?: boolean;
        lookAlike?: {
          address: string;
          name?: string;
        };
      }[];
      bytes?: {
        algorithm: string;
        digest: string;
        unsigned: string;
      };
      quorumChange?: {
        before: {
          threshold: number;
          users: {
            userId: string;
            userName: string;
          }[];
        };
        after: {
          threshold: number;
          users: {
            userId: string;
            userName: string;
          }[];
        };
      };
      policyChange?: {
        direction: 'WIDEN' | 'NARROW' | 'CHANGE';
        before?: {
          policyName: string;
          effect: string;
          condition: string;
          consensus: string;
          time: string;
          notes: string;
        };
        after?: {
          policyName: string;
          effect: string;
          condition: string;
          consensus: string;
          time: string;
          notes: string;
        };
      };
    };
  }[];
  counts: {
    forMe: number;
    forOthers: number;
    isComplete: boolean;
  };
  pageInfo: PageInfo;
}

/** Parameters of list_chains. */
export interface ListChainsParameters {}

/** Answer of list_chains. */
export interface ListChainsResponse {
  chains: {
    caip2: string;
    nativeAsset: {
      caip19: string;
      symbol: string;
      name: string;
      decimals: number;
    };
    batches: boolean;
    sponsors: boolean;
    hasVaults: boolean;
  }[];
}

/** Parameters of list_credentials. */
export interface ListCredentialsParameters {
  userId?: string;
  paginationOptions?: PaginationOptions;
}

/** Answer of list_credentials. */
export interface ListCredentialsResponse {
  credentials: {
    credentialId: string;
    userId: string;
    kind: 'API_KEY' | 'PASSKEY' | 'SESSION' | 'OAUTH';
    name: string;
    publicKey?: string;
    createdAt: string;
    expiresAt?: string;
    lastUsedAt?: string;
  }[];
  pageInfo: PageInfo;
}

/** Parameters of list_earn_enabled_vaults. */
export interface ListEarnEnabledVaultsParameters {
  provider?: 'EARN_PROVIDER_MORPHO' | 'EARN_PROVIDER_AAVE' | 'EARN_PROVIDER_UNSPECIFIED';
  caip19?: string;
  includeExposure?: boolean;
  paginationOptions?: PaginationOptions;
}

/** Answer of list_earn_enabled_vaults. */
export interface ListEarnEnabledVaultsResponse {
  enabledVaults: {
    vaultAddress: string;
    wrapperAddress: string;
    provider?: 'EARN_PROVIDER_MORPHO' | 'EARN_PROVIDER_AAVE';
    caip19: string;
    apyPct: string;
    netApyPct: string;
    totalDeposited: string;
    display: {
      usd: string;
      crypto: string;
    };
    clientFeeBps: string;
    depositsDisabled: boolean;
    name: string;
    curator: string;
    claimableClientFee?: string;
    claimableClientFeeDisplay?: {
      usd: string;
      crypto: string;
    };
    clientFeeWallet?: string;
    liquidity: string;
    liquidityDisplay: {
      usd: string;
      crypto: string;
    };
    exposures?: {
      marketId: string;
      collateralSymbol: string;
      collateralCaip19?: string;
      lltvPct: string;
      supplied: string;
      display: {
        usd: string;
        crypto: string;
      };
      sharePct: string;
    }[];
    deployStatus: string;
    deployRequestId: string;
    deployError?: string;
  }[];
  pageInfo: PageInfo;
}

/** Parameters of list_earn_position_history. */
export interface ListEarnPositionHistoryParameters {
  walletAddress: string;
  wrapperAddress?: string;
}

/** Answer of list_earn_position_history. */
export interface ListEarnPositionHistoryResponse {
  points: {
    caip2: string;
    vaultAddress: string;
    wrapperAddress: string;
    address: string;
    caip19: string;
    at: string;
    kind: 'DEPOSIT' | 'WITHDRAWAL' | 'NOW';
    amount?: string;
    principal?: string;
    assets?: string;
    txHash?: string;
  }[];
  isPartial?: boolean;
}

/** Parameters of list_earn_positions. */
export interface ListEarnPositionsParameters {
  walletAddress: string;
  paginationOptions?: PaginationOptions;
}

/** Answer of list_earn_positions. */
export interface ListEarnPositionsResponse {
  positions: {
    vaultAddress: string;
    wrapperAddress: string;
    provider?: 'EARN_PROVIDER_MORPHO' | 'EARN_PROVIDER_AAVE';
    caip19: string;
    currentValue: string;
    totalDeposited: string;
    totalWithdrawn: string;
    display: {
      currentValueUsd: string;
      totalDepositedUsd: string;
      totalWithdrawnUsd: string;
      currentValueCrypto: string;
      totalDepositedCrypto: string;
      totalWithdrawnCrypto: string;
    };
    depositsDisabled: boolean;
  }[];
  pageInfo: PageInfo;
}

/** Parameters of list_earn_vaults. */
export interface ListEarnVaultsParameters {
  caip19: string;
  provider?: 'EARN_PROVIDER_MORPHO' | 'EARN_PROVIDER_AAVE' | 'EARN_PROVIDER_UNSPECIFIED';
  paginationOptions?: PaginationOptions;
}

/** Answer of list_earn_vaults. */
export interface ListEarnVaultsResponse {
  vaults: {
    vaultAddress: string;
    provider?: 'EARN_PROVIDER_MORPHO' | 'EARN_PROVIDER_AAVE';
    caip19: string;
    tvl: string;
    apyPct: string;
    enabled: boolean;
    display: {
      usd: string;
      crypto: string;
    };
    name: string;
    curator: string;
    liquidity: string;
    liquidityDisplay: {
      usd: string;
      crypto: string;
    };
  }[];
  pageInfo: PageInfo;
}

/** Parameters of list_email_events. */
export interface ListEmailEventsParameters {
  email: string;
  eventType?: string;
  paginationOptions?: PaginationOptions;
}

/** Answer of list_email_events. */
export interface ListEmailEventsResponse {
  emailEvents: {
    id: string;
    organizationId: string;
    messageId: string;
    eventType: 'sent' | 'deferred' | 'refused' | 'expired' | 'bounced' | 'complained';
    fromAddress: string;
    toAddress: string;
    timestamp: string;
    createdAt: string;
    details: {
      diagnosticCode?: string;
      deliverySmtpResponse?: string;
      deliveryProcessingTimeMillis?: string;
      bounceType?: string;
      bounceSubType?: string;
      complaintFeedbackType?: string;
    };
  }[];
  pageInfo: PageInfo;
}

/** Parameters of list_eth_transaction_history. */
export interface ListEthTransactionHistoryParameters {
  address: string;
  caip2: string;
  paginationOptions?: PaginationOptions;
}

/** Answer of list_eth_transaction_history. */
export interface ListEthTransactionHistoryResponse {
  transactions: {
    transactionHash: string;
    block: {
      number: string;
      hash: string;
      timestamp: string;
    };
    status: 'CONFIRMED' | 'FINALIZED';
    origin: string;
    from: string;
    to?: string;
    fee: {
      amount: string;
      caip19: string;
    };
    transfers: {
      direction: 'IN' | 'OUT';
      asset: {
        caip19: string;
        symbol: string;
        name: string;
        decimals: number;
      };
      amount: string;
      counterparty: string;
      display: {
        usd: string;
        crypto: string;
      };
    }[];
    turnkey?: {
      sponsored: boolean;
      activityFingerprint?: string;
      submittedAt?: string;
    };
    executionFailed?: boolean;
  }[];
  pageInfo: PageInfo;
}

/** Parameters of list_fiat_on_ramp_credentials. */
export interface ListFiatOnRampCredentialsParameters {
  paginationOptions?: PaginationOptions;
}

/** Answer of list_fiat_on_ramp_credentials. */
export interface ListFiatOnRampCredentialsResponse {
  fiatOnRampCredentials: {
    fiatOnrampCredentialId: string;
    organizationId: string;
    onrampProvider: 'FIAT_ON_RAMP_PROVIDER_COINBASE' | 'FIAT_ON_RAMP_PROVIDER_MOONPAY';
    projectId?: string;
    publishableApiKey: string;
    encryptedSecretApiKey: string;
    encryptedPrivateApiKey?: string;
    sandboxMode?: boolean;
    createdAt: Timestamp;
    updatedAt: Timestamp;
  }[];
  pageInfo: PageInfo;
}

/** Parameters of list_invitations. */
export interface ListInvitationsParameters {
  paginationOptions?: PaginationOptions;
}

/** Answer of list_invitations. */
export interface ListInvitationsResponse {
  invitations: {
    invitationId: string;
    receiverUserName: string;
    receiverEmail: string;
    receiverUserTags: string[];
    accessType: string;
    senderUserId: string;
    status:
      | 'INVITATION_STATUS_CREATED'
      | 'INVITATION_STATUS_ACCEPTED'
      | 'INVITATION_STATUS_REVOKED';
    expiresAt?: string;
    createdAt: string;
    updatedAt: string;
  }[];
  pageInfo: PageInfo;
}

/** Parameters of list_oauth2_credentials. */
export interface ListOauth2CredentialsParameters {
  paginationOptions?: PaginationOptions;
}

/** Answer of list_oauth2_credentials. */
export interface ListOauth2CredentialsResponse {
  oauth2Credentials: {
    oauth2CredentialId: string;
    organizationId: string;
    provider: 'OAUTH2_PROVIDER_X' | 'OAUTH2_PROVIDER_DISCORD';
    clientId: string;
    encryptedClientSecret: string;
    createdAt: Timestamp;
    updatedAt: Timestamp;
  }[];
  pageInfo: PageInfo;
}

/** Parameters of list_policies. */
export interface ListPoliciesParameters {
  paginationOptions?: PaginationOptions;
}

/** Answer of list_policies. */
export interface ListPoliciesResponse {
  policies: {
    policyId: string;
    policyName: string;
    effect: 'EFFECT_ALLOW' | 'EFFECT_DENY';
    createdAt: Timestamp;
    updatedAt: Timestamp;
    notes: string;
    consensus: string;
    condition: string;
    time?: string;
  }[];
  pageInfo: PageInfo;
}

/** Parameters of list_private_key_tags. */
export interface ListPrivateKeyTagsParameters {
  paginationOptions?: PaginationOptions;
}

/** Answer of list_private_key_tags. */
export interface ListPrivateKeyTagsResponse {
  privateKeyTags: Tag[];
  pageInfo: PageInfo;
}

/** Parameters of list_private_keys. */
export interface ListPrivateKeysParameters {
  paginationOptions?: PaginationOptions;
}

/** Answer of list_private_keys. */
export interface ListPrivateKeysResponse {
  privateKeys: {
    privateKeyId: string;
    publicKey: string;
    privateKeyName: string;
    curve: string;
    addresses: {
      format: string;
      address: string;
    }[];
    privateKeyTags: string[];
    createdAt: Timestamp;
    updatedAt: Timestamp;
    exported: boolean;
    imported: boolean;
  }[];
  pageInfo: PageInfo;
}

/** Parameters of list_recovery_kits. */
export interface ListRecoveryKitsParameters {
  paginationOptions?: PaginationOptions;
}

/** Answer of list_recovery_kits. */
export interface ListRecoveryKitsResponse {
  recoveryKits: {
    recoveryKitId: string;
    activityId: string;
    recipients: string[];
    sha256: string;
    sizeBytes: number;
    pieceCount: number;
    walletCount: number;
    privateKeyCount: number;
    createdAt: string;
  }[];
  pageInfo: PageInfo;
}

/** Parameters of list_secrets. */
export interface ListSecretsParameters {
  paginationOptions?: PaginationOptions;
}

/** Answer of list_secrets. */
export interface ListSecretsResponse {
  secrets: {
    secretId: string;
    name?: string;
    staticProperties: {
      key?: string;
      value?: string;
    }[];
    createdAtUnixMs: string;
  }[];
  pageInfo: PageInfo;
}

/** Parameters of list_sends. */
export interface ListSendsParameters {
  filterByState?: ('INITIALIZED' | 'BROADCASTING' | 'INCLUDED' | 'FAILED')[];
  activityId?: string;
  senderAddress?: string;
  caip2?: string;
  paginationOptions?: PaginationOptions;
}

/** Answer of list_sends. */
export interface ListSendsResponse {
  sends: {
    sendTransactionStatusId: string;
    activityId: string;
    caip2: string;
    from: string;
    to?: string;
    value?: string;
    callCount?: number;
    purpose:
      | 'SEND'
      | 'RAW'
      | 'EARN_DEPLOY'
      | 'EARN_APPROVE'
      | 'EARN_DEPOSIT'
      | 'EARN_WITHDRAW'
      | 'EARN_CLAIM';
    state: 'INITIALIZED' | 'BROADCASTING' | 'INCLUDED' | 'FAILED';
    txHash?: string;
    blockNumber?: string;
    blockTime?: string;
    attempts: {
      txHash: string;
      at: string;
      nonce?: string;
      maxFeePerGas?: string;
      maxPriorityFeePerGas?: string;
      gasLimit?: string;
      replaced?: boolean;
    }[];
    gasUsed?: string;
    feePaid?: string;
    error?: string;
    sponsored: boolean;
    createdAt: string;
    updatedAt: string;
  }[];
  pageInfo: PageInfo;
}

/** Parameters of list_smart_contract_interfaces. */
export interface ListSmartContractInterfacesParameters {
  paginationOptions?: PaginationOptions;
}

/** Answer of list_smart_contract_interfaces. */
export interface ListSmartContractInterfacesResponse {
  smartContractInterfaces: {
    organizationId: string;
    smartContractInterfaceId: string;
    smartContractAddress: string;
    smartContractInterface: string;
    type: string;
    label: string;
    notes: string;
    createdAt: Timestamp;
    updatedAt: Timestamp;
  }[];
  pageInfo: PageInfo;
}

/** Parameters of list_suborgs. */
export interface ListSuborgsParameters {
  filterType?:
    | ''
    | 'NAME'
    | 'USERNAME'
    | 'EMAIL'
    | 'PHONE_NUMBER'
    | 'CREDENTIAL_ID'
    | 'PUBLIC_KEY'
    | 'WALLET_ACCOUNT_ADDRESS'
    | 'OIDC_TOKEN';
  filterValue?: string;
  paginationOptions?: PaginationOptions;
}

/** Answer of list_suborgs. */
export interface ListSuborgsResponse {
  organizationIds: string[];
  pageInfo: PageInfo;
}

/** Parameters of list_supported_assets. */
export interface ListSupportedAssetsParameters {
  caip2: string;
  paginationOptions?: PaginationOptions;
}

/** Answer of list_supported_assets. */
export interface ListSupportedAssetsResponse {
  assets: {
    caip19: string;
    symbol: string;
    name: string;
    decimals: number;
    logoUrl?: string;
    stable?: boolean;
    earnProviders: ('EARN_PROVIDER_MORPHO' | 'EARN_PROVIDER_AAVE')[];
  }[];
  pageInfo: PageInfo;
}

/** Parameters of list_tvc_app_deployments. */
export interface ListTvcAppDeploymentsParameters {
  appId: string;
  paginationOptions?: PaginationOptions;
}

/** Answer of list_tvc_app_deployments. */
export interface ListTvcAppDeploymentsResponse {
  tvcDeployments: TvcDeployment[];
  pageInfo: PageInfo;
}

/** Parameters of list_tvc_apps. */
export interface ListTvcAppsParameters {
  paginationOptions?: PaginationOptions;
}

/** Answer of list_tvc_apps. */
export interface ListTvcAppsResponse {
  tvcApps: TvcApp[];
  pageInfo: PageInfo;
}

/** Parameters of list_tvc_operators. */
export interface ListTvcOperatorsParameters {
  paginationOptions?: PaginationOptions;
}

/** Answer of list_tvc_operators. */
export interface ListTvcOperatorsResponse {
  tvcOperators: TvcOperator[];
  pageInfo: PageInfo;
}

/** Parameters of list_tvc_quorum_keys. */
export interface ListTvcQuorumKeysParameters {
  paginationOptions?: PaginationOptions;
}

/** Answer of list_tvc_quorum_keys. */
export interface ListTvcQuorumKeysResponse {
  tvcQuorumKeys: {
    id: string;
    publicKey: string;
    threshold: number;
    operatorIds: string[];
    createdAt: Timestamp;
    updatedAt: Timestamp;
  }[];
  pageInfo: PageInfo;
}

/** Parameters of list_user_summaries. */
export interface ListUserSummariesParameters {
  text?: string;
  paginationOptions?: PaginationOptions;
}

/** Answer of list_user_summaries. */
export interface ListUserSummariesResponse {
  users: {
    userId: string;
    userName: string;
    userEmail?: string;
    isRoot: boolean;
    isProgram: boolean;
    tagIds: string[];
    passkeyCount: number;
    apiKeyCount: number;
    sessionCount: number;
    oauthCount: number;
    mfaPolicyCount: number;
    lastSeenAt?: string;
    credentialExpiresAt?: string;
  }[];
  isPartial?: boolean;
  pageInfo: PageInfo;
}

/** Parameters of list_user_tags. */
export interface ListUserTagsParameters {
  paginationOptions?: PaginationOptions;
}

/** Answer of list_user_tags. */
export interface ListUserTagsResponse {
  userTags: Tag[];
  pageInfo: PageInfo;
}

/** Parameters of list_users. */
export interface ListUsersParameters {
  paginationOptions?: PaginationOptions;
}

/** Answer of list_users. */
export interface ListUsersResponse {
  users: User[];
  pageInfo: PageInfo;
}

/** Parameters of list_velocity_controls. */
export interface ListVelocityControlsParameters {
  paginationOptions?: PaginationOptions;
}

/** Answer of list_velocity_controls. */
export interface ListVelocityControlsResponse {
  velocityControls: {
    velocityControlId: string;
    organizationId: string;
    name: string;
    dataSource: {
      chainAssetTransfer?: {
        definition: {
          caip19: string;
          decimals: string;
        }[];
        filter?: {
          activity?: {
            activityType: string;
          }[];
        };
        phase?: {
          signature?: {};
          submission?: {};
        };
      };
      activityExecution?: {
        filter?: {
          activity?: {
            activityType: string;
          }[];
        };
      };
    };
    aggregation: {
      method:
        | 'VELOCITY_CONTROL_AGGREGATION_METHOD_SUM'
        | 'VELOCITY_CONTROL_AGGREGATION_METHOD_COUNT';
      operator:
        | 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN'
        | 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL'
        | 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_EQUAL'
        | 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_GREATER_THAN_OR_EQUAL'
        | 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_GREATER_THAN';
      threshold: string;
      window: {
        rolling?: {
          duration: string;
        };
        infinite?: {};
      };
      groupBy: {
        organization?: {};
        user?: {};
        wallet?: {};
      };
    };
    refuseUncounted?: boolean;
    createdAt: Timestamp;
    updatedAt: Timestamp;
    identifier: string;
  }[];
  pageInfo: PageInfo;
}

/** Parameters of list_velocity_usage. */
export interface ListVelocityUsageParameters {
  paginationOptions?: PaginationOptions;
}

/** Answer of list_velocity_usage. */
export interface ListVelocityUsageResponse {
  usage: {
    velocityControlId: string;
    name: string;
    aggregate: string;
    threshold: string;
    operator: string;
    windowSeconds?: number;
    groups?: {
      key: string;
      name?: string;
      aggregate: string;
    }[];
    groupsAreCut?: boolean;
    text: string;
  }[];
  pageInfo: PageInfo;
}

/** Parameters of list_verified_suborgs. */
export interface ListVerifiedSuborgsParameters {
  filterType?: '' | 'EMAIL' | 'PHONE_NUMBER';
  filterValue?: string;
  paginationOptions?: PaginationOptions;
}

/** Answer of list_verified_suborgs. */
export interface ListVerifiedSuborgsResponse {
  organizationIds: string[];
  pageInfo: PageInfo;
}

/** Parameters of list_wallet_accounts. */
export interface ListWalletAccountsParameters {
  walletId?: string;
  includeWalletDetails?: boolean;
  paginationOptions?: PaginationOptions;
}

/** Answer of list_wallet_accounts. */
export interface ListWalletAccountsResponse {
  accounts: {
    walletAccountId: string;
    organizationId: string;
    walletId: string;
    curve: string;
    pathFormat: 'PATH_FORMAT_BIP32';
    path: string;
    addressFormat: string;
    address: string;
    createdAt: Timestamp;
    updatedAt: Timestamp;
    publicKey?: string;
    walletDetails?: {
      walletId: string;
      walletName: string;
      createdAt: Timestamp;
      updatedAt: Timestamp;
      exported: boolean;
      imported: boolean;
    };
    name?: string;
    caip2Prefix?: string;
  }[];
  pageInfo: PageInfo;
}

/** Parameters of list_wallets. */
export interface ListWalletsParameters {
  paginationOptions?: PaginationOptions;
}

/** Answer of list_wallets. */
export interface ListWalletsResponse {
  wallets: {
    walletId: string;
    walletName: string;
    createdAt: Timestamp;
    updatedAt: Timestamp;
    exported: boolean;
    imported: boolean;
  }[];
  pageInfo: PageInfo;
}

/** Parameters of list_webhook_deliveries. */
export interface ListWebhookDeliveriesParameters {
  endpointId?: string;
  eventId?: string;
  filterByActivityId?: string;
  state?:
    | 'WEBHOOK_DELIVERY_STATE_PENDING'
    | 'WEBHOOK_DELIVERY_STATE_DELIVERED'
    | 'WEBHOOK_DELIVERY_STATE_FAILED'
    | 'WEBHOOK_DELIVERY_STATE_DEAD_LETTERED';
  paginationOptions?: PaginationOptions;
}

/** Answer of list_webhook_deliveries. */
export interface ListWebhookDeliveriesResponse {
  webhookDeliveries: {
    deliveryId: string;
    endpointId: string;
    eventId: string;
    eventType: string;
    organizationId: string;
    state:
      | 'WEBHOOK_DELIVERY_STATE_PENDING'
      | 'WEBHOOK_DELIVERY_STATE_DELIVERED'
      | 'WEBHOOK_DELIVERY_STATE_FAILED'
      | 'WEBHOOK_DELIVERY_STATE_DEAD_LETTERED';
    attempts: {
      attemptedAt: string;
      latencyMs: number;
      status?: number;
      error?: string;
      answer?: string;
    }[];
    nextAttemptAt?: string;
    createdAt: string;
    updatedAt: string;
  }[];
  pageInfo: PageInfo;
}

/** Parameters of list_webhook_endpoints. */
export interface ListWebhookEndpointsParameters {
  paginationOptions?: PaginationOptions;
}

/** Answer of list_webhook_endpoints. */
export interface ListWebhookEndpointsResponse {
  webhookEndpoints: {
    endpointId: string;
    organizationId: string;
    url: string;
    name: string;
    isActive: boolean;
    includeDescription: boolean;
    subscriptions: {
      eventType:
        | 'ACTIVITY_UPDATES'
        | 'BALANCE_CONFIRMED_UPDATES'
        | 'BALANCE_FINALIZED_UPDATES'
        | 'SEND_TRANSACTION_STATUS_UPDATES';
      filtersJson?: string;
      isActive?: boolean;
    }[];
  }[];
  pageInfo: PageInfo;
}

/** Parameters of oauth. */
export interface OauthParameters {
  oidcToken: string;
  targetPublicKey: string;
  apiKeyName?: string;
  expirationSeconds?: string;
  invalidateExisting?: boolean;
}

/** Result of oauth. */
export interface OauthResult {
  userId: string;
  apiKeyId: string;
  credentialBundle: string;
}

/** Parameters of oauth2_authenticate. */
export interface Oauth2AuthenticateParameters {
  oauth2CredentialId: string;
  authCode: string;
  redirectUri: string;
  codeVerifier: string;
  nonce: string;
  bearerTokenTargetPublicKey?: string;
}

/** Result of oauth2_authenticate. */
export interface Oauth2AuthenticateResult {
  oidcToken: string;
}

/** Parameters of oauth_login. */
export interface OauthLoginParameters {
  oidcToken: string;
  publicKey: string;
  expirationSeconds?: string;
  invalidateExisting?: boolean;
  sessionProfileId?: string;
}

/** Result of oauth_login. */
export interface OauthLoginResult {
  session: string;
}

/** Parameters of otp_auth. */
export interface OtpAuthParameters {
  otpId: string;
  otpCode: string;
  targetPublicKey: string;
  apiKeyName?: string;
  expirationSeconds?: string;
  invalidateExisting?: boolean;
}

/** Result of otp_auth. */
export interface OtpAuthResult {
  userId: string;
  apiKeyId: string;
  credentialBundle: string;
}

/** Parameters of otp_login. */
export interface OtpLoginParameters {
  verificationToken: string;
  publicKey: string;
  expirationSeconds?: string;
  invalidateExisting?: boolean;
  sessionProfileId?: string;
  clientSignature: {
    publicKey: string;
    scheme: 'CLIENT_SIGNATURE_SCHEME_API_P256';
    message: string;
    signature: string;
  };
}

/** Result of otp_login. */
export interface OtpLoginResult {
  session: string;
}

/** Parameters of record_email_event. */
export interface RecordEmailEventParameters {
  messageId: string;
  eventType: 'bounced' | 'complained';
  bounceType?: 'Permanent' | 'Transient' | 'Undetermined';
  bounceSubType?: string;
  diagnosticCode?: string;
  complaintFeedbackType?: 'abuse' | 'auth-failure' | 'fraud' | 'not-spam' | 'other' | 'virus';
}

/** Result of record_email_event. */
export interface RecordEmailEventResult {
  emailEventId: string;
}

/** Parameters of recover_user. */
export interface RecoverUserParameters {
  authenticator: AuthenticatorParams;
  userId: string;
}

/** Result of recover_user. */
export interface RecoverUserResult {
  authenticatorId: string[];
}

/** Parameters of reject_activity. */
export interface RejectActivityParameters {
  fingerprint: string;
}

/** Parameters of remove_ip_allowlist. */
export interface RemoveIpAllowlistParameters {
  publicKey?: string;
  allowLockout?: boolean;
}

/** Result of remove_ip_allowlist. */
export interface RemoveIpAllowlistResult {}

/** Parameters of remove_organization_feature. */
export interface RemoveOrganizationFeatureParameters {
  name: FeatureName;
}

/** Result of remove_organization_feature. */
export interface RemoveOrganizationFeatureResult {
  features: Feature[];
}

/** Parameters of replay_webhook_delivery. */
export interface ReplayWebhookDeliveryParameters {
  endpointId: string;
  deliveryId?: string;
  sinceMs?: string;
  untilMs?: string;
}

/** Result of replay_webhook_delivery. */
export interface ReplayWebhookDeliveryResult {
  endpointId: string;
  replayedCount: number;
  hasMore: boolean;
}

/** Parameters of restore_tvc_deployment. */
export interface RestoreTvcDeploymentParameters {
  deploymentId: string;
}

/** Result of restore_tvc_deployment. */
export interface RestoreTvcDeploymentResult {
  deploymentId: string;
}

/** Parameters of search. */
export interface SearchParameters {
  text: string;
  limit?: number;
}

/** Answer of search. */
export interface SearchResponse {
  matches: {
    kind:
      | 'USER'
      | 'WALLET'
      | 'WALLET_ACCOUNT'
      | 'PRIVATE_KEY'
      | 'POLICY'
      | 'TAG'
      | 'WEBHOOK_ENDPOINT'
      | 'ACTIVITY'
      | 'SEND'
      | 'SUB_ORGANIZATION';
    id: string;
    name: string;
    detail?: string;
    parentId?: string;
  }[];
  isPartial?: boolean;
}

/** Parameters of search_sub_organizations. */
export interface SearchSubOrganizationsParameters {
  text?: string;
  paginationOptions?: PaginationOptions;
}

/** Answer of search_sub_organizations. */
export interface SearchSubOrganizationsResponse {
  subOrganizations: {
    organizationId: string;
    name: string;
    createdAt: string;
    userCount: number;
    walletCount: number;
  }[];
  isPartial?: boolean;
  pageInfo: PageInfo;
}

/** Parameters of set_ip_allowlist. */
export interface SetIpAllowlistParameters {
  publicKey?: string;
  enabled?: boolean;
  rules?: {
    cidr: string;
    label?: string;
  }[];
  onEvaluationError?: 'ALLOW' | 'DENY';
  allowLockout?: boolean;
}

/** Result of set_ip_allowlist. */
export interface SetIpAllowlistResult {}

/** Parameters of set_organization_feature. */
export interface SetOrganizationFeatureParameters {
  name: FeatureName;
  value: string;
}

/** Result of set_organization_feature. */
export interface SetOrganizationFeatureResult {
  features: Feature[];
}

/** Parameters of set_tvc_app_live_deployment. */
export interface SetTvcAppLiveDeploymentParameters {
  deploymentId: string;
}

/** Result of set_tvc_app_live_deployment. */
export interface SetTvcAppLiveDeploymentResult {}

/** Parameters of sign_raw_payload. */
export interface SignRawPayloadParameters {
  signWith: string;
  payload: string;
  encoding:
    | 'PAYLOAD_ENCODING_HEXADECIMAL'
    | 'PAYLOAD_ENCODING_TEXT_UTF8'
    | 'PAYLOAD_ENCODING_EIP712'
    | 'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION';
  hashFunction:
    | 'HASH_FUNCTION_NO_OP'
    | 'HASH_FUNCTION_SHA256'
    | 'HASH_FUNCTION_KECCAK256'
    | 'HASH_FUNCTION_NOT_APPLICABLE';
}

/** Result of sign_raw_payload. */
export interface SignRawPayloadResult {
  r: string;
  s: string;
  v: string;
}

/** Parameters of sign_raw_payloads. */
export interface SignRawPayloadsParameters {
  signWith: string;
  payloads: string[];
  encoding:
    | 'PAYLOAD_ENCODING_HEXADECIMAL'
    | 'PAYLOAD_ENCODING_TEXT_UTF8'
    | 'PAYLOAD_ENCODING_EIP712'
    | 'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION';
  hashFunction:
    | 'HASH_FUNCTION_NO_OP'
    | 'HASH_FUNCTION_SHA256'
    | 'HASH_FUNCTION_KECCAK256'
    | 'HASH_FUNCTION_NOT_APPLICABLE';
}

/** Result of sign_raw_payloads. */
export interface SignRawPayloadsResult {
  signatures: {
    r: string;
    s: string;
    v: string;
  }[];
}

/** Parameters of sign_transaction. */
export interface SignTransactionParameters {
  signWith: string;
  unsignedTransaction: string;
  type:
    | 'TRANSACTION_TYPE_ETHEREUM'
    | 'TRANSACTION_TYPE_SOLANA'
    | 'TRANSACTION_TYPE_TRON'
    | 'TRANSACTION_TYPE_BITCOIN'
    | 'TRANSACTION_TYPE_TEMPO';
}

/** Result of sign_transaction. */
export interface SignTransactionResult {
  signedTransaction: string;
}

/** Parameters of simulate_activity. */
export interface SimulateActivityParameters {
  request: {
    type: string;
    organizationId?: string;
    parameters: Record<string, unknown>;
  };
  submitterUserId?: string;
  approverUserIds?: string[];
  atMs?: string;
  sourceAddress?: string;
  draftPolicies?: {
    policyId?: string;
    policyName?: string;
    effect: 'EFFECT_ALLOW' | 'EFFECT_DENY';
    condition?: string;
    consensus?: string;
    time?: string;
    notes?: string;
  }[];
}

/** Answer of simulate_activity. */
export interface SimulateActivityResponse {
  simulation: {
    status: string;
    outcome: string;
    reason: string;
    decidingPolicyIds: string[];
    policyEvaluations: {
      policyId: string;
      outcome:
        | 'OUTCOME_ALLOW'
        | 'OUTCOME_DENY_EXPLICIT'
        | 'OUTCOME_DENY_IMPLICIT'
        | 'OUTCOME_REQUIRES_CONSENSUS'
        | 'OUTCOME_ERROR'
        | 'OUTCOME_TIME_INACTIVE';
      policyName?: string;
      effect: 'EFFECT_ALLOW' | 'EFFECT_DENY';
      reason: string;
      error?: {
        expression: string;
        code: string;
        message: string;
        start: number;
        end: number;
      };
      element?: number;
      trace?: {
        time?: unknown;
        conditions: unknown[];
        consensus?: unknown;
      };
      explanation?: {
        sentence: {
          text: string;
          strong?: true;
          userText?: true;
          address?: string;
          caip2?: string;
        }[];
        parts: {
          text: string;
          holds: boolean | null;
          decides?: true;
          depth: number;
        }[];
        whatWouldPass?: string;
      };
    }[];
    explanation: {
      sentence: {
        text: string;
        strong?: true;
        userText?: true;
        address?: string;
        caip2?: string;
      }[];
      whatWouldPass?: string;
    };
    unconcernedCount: number;
    ownAccountRule: string;
    rootQuorum: {
      required: number;
      given: number;
      isReachable: boolean;
    };
    openTo: {
      rootUserIds: string[];
      policies: {
        policyId: string;
        anyone: boolean;
        userIds: string[];
      }[];
    };
    refusedApproverUserIds: string[];
    mfa: {
      userId: string;
      mfaPolicy: {
        mfaPolicyId: string;
        mfaPolicyName: string;
        condition: string;
        requiredAuthenticationMethods: {
          any: {
            type:
              | 'AUTHENTICATION_TYPE_EMAIL_OTP'
              | 'AUTHENTICATION_TYPE_SMS_OTP'
              | 'AUTHENTICATION_TYPE_PASSKEY'
              | 'AUTHENTICATION_TYPE_API_KEY'
              | 'AUTHENTICATION_TYPE_OAUTH'
              | 'AUTHENTICATION_TYPE_SESSION';
            id?: string;
          }[];
        }[];
        order: number;
        notes?: string;
        createdAt: Timestamp;
        updatedAt: Timestamp;
      };
      satisfied: boolean;
    }[];
    session?: {
      sessionProfileId: string;
      covers: boolean;
    };
    network: {
      isLimited: boolean;
      allowed?: boolean;
    };
    velocity: {
      velocityControlId: string;
      name: string;
      aggregate: string;
      threshold: string;
      operator: string;
      satisfied: boolean;
      uncounted?: string;
    }[];
  };
}

/** Parameters of sol_send_transaction. */
export interface SolSendTransactionParameters {
  unsignedTransaction: string;
  caip2: string;
  sponsor?: boolean;
  recentBlockhash?: string;
  signWiths: string[];
}

/** Result of sol_send_transaction. */
export interface SolSendTransactionResult {
  sendTransactionStatusId: string;
}

/** Parameters of stamp_login. */
export interface StampLoginParameters {
  publicKey: string;
  expirationSeconds?: string;
  invalidateExisting?: boolean;
  sessionProfileId?: string;
}

/** Result of stamp_login. */
export interface StampLoginResult {
  session: string;
}

/** Parameters of test_webhook_endpoint. */
export interface TestWebhookEndpointParameters {
  endpointId: string;
}

/** Result of test_webhook_endpoint. */
export interface TestWebhookEndpointResult {
  endpointId: string;
  deliveryId: string;
  eventId: string;
  delivered: boolean;
  attempt: {
    attemptedAt: string;
    latencyMs: number;
    status?: number;
    error?: string;
    answer?: string;
  };
}

/** Parameters of update_auth_proxy_config. */
export interface UpdateAuthProxyConfigParameters {
  allowedOrigins?: string[];
  allowedAuthMethods?: (
    | 'email'
    | 'sms'
    | 'passkey'
    | 'wallet'
    | 'google'
    | 'apple'
    | 'facebook'
    | 'x'
    | 'discord'
    | 'oidc'
  )[];
  sendFromEmailAddress?: string;
  replyToEmailAddress?: string;
  sendFromEmailSenderName?: string;
  emailAuthTemplateId?: string;
  otpTemplateId?: string;
  emailCustomizationParams?: {
    appName?: string;
    logoUrl?: string;
    magicLinkTemplate?: string;
    templateVariables?: string;
    templateId?: string;
  };
  smsCustomizationParams?: {
    template?: string;
  };
  walletKitSettings?: {
    enabledSocialProviders?: ('google' | 'apple' | 'facebook' | 'x' | 'discord')[];
    oauthClientIds?: {
      google?: string;
      apple?: string;
      facebook?: string;
      x?: string;
      discord?: string;
    };
    oauthRedirectUrl?: string;
  };
  otpExpirationSeconds?: number;
  verificationTokenExpirationSeconds?: number;
  sessionExpirationSeconds?: number;
  otpAlphanumeric?: boolean;
  otpLength?: number;
  verificationTokenRequiredForGetAccountPii?: boolean;
  socialLinkingClientIds?: string[];
  oidcIssuers?: string[];
  captchaEnabled?: boolean;
}

/** Result of update_auth_proxy_config. */
export interface UpdateAuthProxyConfigResult {
  configId?: string;
}

/** Parameters of update_fiat_on_ramp_credential. */
export interface UpdateFiatOnRampCredentialParameters {
  fiatOnrampCredentialId: string;
  onrampProvider: 'FIAT_ON_RAMP_PROVIDER_COINBASE' | 'FIAT_ON_RAMP_PROVIDER_MOONPAY';
  projectId?: string;
  publishableApiKey: string;
  encryptedSecretApiKey: string;
  encryptedPrivateApiKey?: string;
}

/** Result of update_fiat_on_ramp_credential. */
export interface UpdateFiatOnRampCredentialResult {
  fiatOnRampCredentialId: string;
}

/** Parameters of update_mfa_policy. */
export interface UpdateMfaPolicyParameters {
  userId: string;
  mfaPolicyId: string;
  mfaPolicyName?: string;
  condition?: string;
  requiredAuthenticationMethods?: {
    any: {
      type:
        | 'AUTHENTICATION_TYPE_EMAIL_OTP'
        | 'AUTHENTICATION_TYPE_SMS_OTP'
        | 'AUTHENTICATION_TYPE_PASSKEY'
        | 'AUTHENTICATION_TYPE_API_KEY'
        | 'AUTHENTICATION_TYPE_OAUTH'
        | 'AUTHENTICATION_TYPE_SESSION';
      id?: string;
    }[];
  }[];
  order?: number;
  notes?: string;
}

/** Result of update_mfa_policy. */
export interface UpdateMfaPolicyResult {
  mfaPolicyId: string;
}

/** Parameters of update_oauth2_credential. */
export interface UpdateOauth2CredentialParameters {
  oauth2CredentialId: string;
  provider: 'OAUTH2_PROVIDER_X' | 'OAUTH2_PROVIDER_DISCORD';
  clientId: string;
  encryptedClientSecret: string;
}

/** Result of update_oauth2_credential. */
export interface UpdateOauth2CredentialResult {
  oauth2CredentialId: string;
}

/** Parameters of update_organization_name. */
export interface UpdateOrganizationNameParameters {
  organizationName: string;
}

/** Result of update_organization_name. */
export interface UpdateOrganizationNameResult {
  organizationId: string;
  organizationName: string;
}

/** Parameters of update_policy. */
export interface UpdatePolicyParameters {
  policyId: string;
  policyName?: string;
  policyEffect?: 'EFFECT_ALLOW' | 'EFFECT_DENY';
  policyCondition?: string;
  policyConsensus?: string;
  policyNotes?: string;
  time?: string;
}

/** Result of update_policy. */
export interface UpdatePolicyResult {
  policyId: string;
  warnings: {
    code: string;
    policyId: string;
    message: string;
    expression?: string;
    otherPolicyIds?: string[];
  }[];
}

/** Parameters of update_private_key_tag. */
export interface UpdatePrivateKeyTagParameters {
  privateKeyTagId: string;
  newPrivateKeyTagName?: string;
  addPrivateKeyIds: string[];
  removePrivateKeyIds: string[];
}

/** Result of update_private_key_tag. */
export interface UpdatePrivateKeyTagResult {
  privateKeyTagId: string;
}

/** Parameters of update_root_quorum. */
export interface UpdateRootQuorumParameters {
  threshold: number;
  userIds: string[];
}

/** Result of update_root_quorum. */
export interface UpdateRootQuorumResult {}

/** Parameters of update_user. */
export interface UpdateUserParameters {
  userId: string;
  userName?: string;
  userEmail?: string;
  userTagIds?: string[];
  userPhoneNumber?: string;
}

/** Result of update_user. */
export interface UpdateUserResult {
  userId: string;
}

/** Parameters of update_user_email. */
export interface UpdateUserEmailParameters {
  userId: string;
  userEmail: string;
  verificationToken?: string;
}

/** Result of update_user_email. */
export interface UpdateUserEmailResult {
  userId: string;
}

/** Parameters of update_user_name. */
export interface UpdateUserNameParameters {
  userId: string;
  userName: string;
}

/** Result of update_user_name. */
export interface UpdateUserNameResult {
  userId: string;
}

/** Parameters of update_user_phone_number. */
export interface UpdateUserPhoneNumberParameters {
  userId: string;
  userPhoneNumber: string;
  verificationToken?: string;
}

/** Result of update_user_phone_number. */
export interface UpdateUserPhoneNumberResult {
  userId: string;
}

/** Parameters of update_user_tag. */
export interface UpdateUserTagParameters {
  userTagId: string;
  newUserTagName?: string;
  addUserIds: string[];
  removeUserIds: string[];
}

/** Result of update_user_tag. */
export interface UpdateUserTagResult {
  userTagId: string;
}

/** Parameters of update_wallet. */
export interface UpdateWalletParameters {
  walletId: string;
  walletName?: string;
}

/** Result of update_wallet. */
export interface UpdateWalletResult {
  walletId: string;
}

/** Parameters of update_webhook_endpoint. */
export interface UpdateWebhookEndpointParameters {
  endpointId: string;
  url?: string;
  name?: string;
  isActive?: boolean;
  includeDescription?: boolean;
}

/** Result of update_webhook_endpoint. */
export interface UpdateWebhookEndpointResult {
  endpointId: string;
  webhookEndpoint: {
    endpointId: string;
    organizationId: string;
    url: string;
    name: string;
    isActive: boolean;
    includeDescription: boolean;
    subscriptions: {
      eventType:
        | 'ACTIVITY_UPDATES'
        | 'BALANCE_CONFIRMED_UPDATES'
        | 'BALANCE_FINALIZED_UPDATES'
        | 'SEND_TRANSACTION_STATUS_UPDATES';
      filtersJson?: string;
      isActive?: boolean;
    }[];
  };
}

/** Parameters of upsert_gas_usage_config. */
export interface UpsertGasUsageConfigParameters {
  orgWindowLimitUsd: string;
  subOrgWindowLimitUsd: string;
  windowDurationMinutes: string;
  enabled?: boolean;
  solanaConfig?: {
    rentPrefundEnabled?: boolean;
  };
}

/** Result of upsert_gas_usage_config. */
export interface UpsertGasUsageConfigResult {
  gasUsageConfigId: string;
}

/** Parameters of verify_otp. */
export interface VerifyOtpParameters {
  otpId: string;
  expirationSeconds?: string;
  encryptedOtpBundle: string;
}

/** Result of verify_otp. */
export interface VerifyOtpResult {
  verificationToken: string;
}

/** Parameters of whoami. */
export interface WhoamiParameters {}

/** Answer of whoami. */
export interface WhoamiResponse {
  organizationId: string;
  organizationName: string;
  userId: string;
  username: string;
}

/** One method per operation of the service. */
export interface OperationMethods {
  /** Approve a pending activity by its fingerprint. The answer is that activity. */
  approveActivity(parameters: ApproveActivityParameters, options?: SubmitOptions): Promise<{ activity: Activity }>;
  /** Pay the fees that a wrapper has earned for the organization to their wallet. Completed means accepted; get_claim_earn_fees_status tells the rest. */
  claimEarnFees(
    parameters: ClaimEarnFeesParameters,
    options?: SubmitOptions,
  ): Promise<ClaimEarnFeesResult & { activity: Activity }>;
  /** Add API keys to a user. An eleventh expiring key replaces the oldest. */
  createApiKeys(
    parameters: CreateApiKeysParameters,
    options?: SubmitOptions,
  ): Promise<CreateApiKeysResult & { activity: Activity }>;
  /** Create users that authenticate by P-256 API keys only. */
  createApiOnlyUsers(
    parameters: CreateApiOnlyUsersParameters,
    options?: SubmitOptions,
  ): Promise<CreateApiOnlyUsersResult & { activity: Activity }>;
  /** Add passkeys to a user; each registration is verified. */
  createAuthenticators(
    parameters: CreateAuthenticatorsParameters,
    options?: SubmitOptions,
  ): Promise<CreateAuthenticatorsResult & { activity: Activity }>;
  /** Keep the keys of a fiat on-ramp provider; the secret ones come encrypted to the service. */
  createFiatOnRampCredential(
    parameters: CreateFiatOnRampCredentialParameters,
    options?: SubmitOptions,
  ): Promise<CreateFiatOnRampCredentialResult & { activity: Activity }>;
  /** Mail invitations to the organization, each with a link that its receiver can accept once. The sender is the user who proposes the activity. */
  createInvitations(
    parameters: CreateInvitationsParameters,
    options?: SubmitOptions,
  ): Promise<CreateInvitationsResult & { activity: Activity }>;
  /** Require further proofs of a user for the activities that a condition selects. */
  createMfaPolicy(
    parameters: CreateMfaPolicyParameters,
    options?: SubmitOptions,
  ): Promise<CreateMfaPolicyResult & { activity: Activity }>;
  /** Keep the client id and secret of an OAuth 2.0 provider; the secret comes encrypted to the service. */
  createOauth2Credential(
    parameters: CreateOauth2CredentialParameters,
    options?: SubmitOptions,
  ): Promise<CreateOauth2CredentialResult & { activity: Activity }>;
  /** Let a user log in by OpenID tokens of an issuer. oidcClaims alone are taken for further client ids of somebody whom a token proves. */
  createOauthProviders(
    parameters: CreateOauthProvidersParameters,
    options?: SubmitOptions,
  ): Promise<CreateOauthProvidersResult & { activity: Activity }>;
  /** Create several policies, all or nothing. */
  createPolicies(
    parameters: CreatePoliciesParameters,
    options?: SubmitOptions,
  ): Promise<CreatePoliciesResult & { activity: Activity }>;
  /** Create a policy. Its expressions are checked; nothing is stored when one is wrong. */
  createPolicy(
    parameters: CreatePolicyParameters,
    options?: SubmitOptions,
  ): Promise<CreatePolicyResult & { activity: Activity }>;
  /** Create a private key tag and give it to private keys. */
  createPrivateKeyTag(
    parameters: CreatePrivateKeyTagParameters,
    options?: SubmitOptions,
  ): Promise<CreatePrivateKeyTagResult & { activity: Activity }>;
  /** Create private keys that stand alone, all or nothing. */
  createPrivateKeys(
    parameters: CreatePrivateKeysParameters,
    options?: SubmitOptions,
  ): Promise<CreatePrivateKeysResult & { activity: Activity }>;
  /** Make a token that reads, and nothing else, as yourself for an hour. */
  createReadOnlySession(
    parameters?: CreateReadOnlySessionParameters,
    options?: SubmitOptions,
  ): Promise<CreateReadOnlySessionResult & { activity: Activity }>;
  /** Make a session key for a user, oneself unless told otherwise, encrypted to the target key. */
  createReadWriteSession(
    parameters: CreateReadWriteSessionParameters,
    options?: SubmitOptions,
  ): Promise<CreateReadWriteSessionResult & { activity: Activity }>;
  /** Export all wallets and private keys of the organization, encrypted to age recipients: one file that opens without this service. They are marked as exported. Needs the root quorum. */
  createRecoveryKit(
    parameters: CreateRecoveryKitParameters,
    options?: SubmitOptions,
  ): Promise<CreateRecoveryKitResult & { activity: Activity }>;
  /** Create a profile that narrows what sessions may do, here and in sub-organizations. It never changes. */
  createSessionProfile(
    parameters: CreateSessionProfileParameters,
    options?: SubmitOptions,
  ): Promise<CreateSessionProfileResult & { activity: Activity }>;
  /** Upload the ABI or IDL of a contract, so that policies can speak of its functions and arguments. */
  createSmartContractInterface(
    parameters: CreateSmartContractInterfaceParameters,
    options?: SubmitOptions,
  ): Promise<CreateSmartContractInterfaceResult & { activity: Activity }>;
  /** Create an isolated sub-organization with its own root users. */
  createSubOrganization(
    parameters: CreateSubOrganizationParameters,
    options?: SubmitOptions,
  ): Promise<CreateSubOrganizationResult & { activity: Activity }>;
  /** Create an app with the operators who approve its manifests and those who hold shares of its quorum key. */
  createTvcApp(
    parameters: CreateTvcAppParameters,
    options?: SubmitOptions,
  ): Promise<CreateTvcAppResult & { activity: Activity }>;
  /** Create a deployment of an app with its manifest, which operators have to approve before it can be live. */
  createTvcDeployment(
    parameters: CreateTvcDeploymentParameters,
    options?: SubmitOptions,
  ): Promise<CreateTvcDeploymentResult & { activity: Activity }>;
  /** Add operators' signatures of a manifest. With enough of them the deployment can be live, and the first of an app is. */
  createTvcManifestApprovals(
    parameters: CreateTvcManifestApprovalsParameters,
    options?: SubmitOptions,
  ): Promise<CreateTvcManifestApprovalsResult & { activity: Activity }>;
  /** Create an operator whose signing and encryption keys are derived from a wallet, a new one or one there is. */
  createTvcOperator(
    parameters: CreateTvcOperatorParameters,
    options?: SubmitOptions,
  ): Promise<CreateTvcOperatorResult & { activity: Activity }>;
  /** Create a user tag and give it to users. */
  createUserTag(
    parameters: CreateUserTagParameters,
    options?: SubmitOptions,
  ): Promise<CreateUserTagResult & { activity: Activity }>;
  /** Create users with their credentials and tags, all or nothing. */
  createUsers(
    parameters: CreateUsersParameters,
    options?: SubmitOptions,
  ): Promise<CreateUsersResult & { activity: Activity }>;
  /** Limit how much, or how often, may be done in a window of time, whatever policies allow. */
  createVelocityControl(
    parameters: CreateVelocityControlParameters,
    options?: SubmitOptions,
  ): Promise<CreateVelocityControlResult & { activity: Activity }>;
  /** Create an HD wallet from a new mnemonic, with accounts. */
  createWallet(
    parameters: CreateWalletParameters,
    options?: SubmitOptions,
  ): Promise<CreateWalletResult & { activity: Activity }>;
  /** Derive accounts of a wallet; with persist false only their addresses are computed. */
  createWalletAccounts(
    parameters: CreateWalletAccountsParameters,
    options?: SubmitOptions,
  ): Promise<CreateWalletAccountsResult & { activity: Activity }>;
  /** Register a URL that signed events are sent to, with what it subscribes to. */
  createWebhookEndpoint(
    parameters: CreateWebhookEndpointParameters,
    options?: SubmitOptions,
  ): Promise<CreateWebhookEndpointResult & { activity: Activity }>;
  /** Delete API keys of a user, all or nothing; also the key that stamps the request. */
  deleteApiKeys(
    parameters: DeleteApiKeysParameters,
    options?: SubmitOptions,
  ): Promise<DeleteApiKeysResult & { activity: Activity }>;
  /** Delete passkeys of a user, all or nothing. */
  deleteAuthenticators(
    parameters: DeleteAuthenticatorsParameters,
    options?: SubmitOptions,
  ): Promise<DeleteAuthenticatorsResult & { activity: Activity }>;
  /** Delete a fiat on-ramp credential with its secrets. */
  deleteFiatOnRampCredential(
    parameters: DeleteFiatOnRampCredentialParameters,
    options?: SubmitOptions,
  ): Promise<DeleteFiatOnRampCredentialResult & { activity: Activity }>;
  /** Revoke an invitation that nobody has accepted; its link ends with it. */
  deleteInvitation(
    parameters: DeleteInvitationParameters,
    options?: SubmitOptions,
  ): Promise<DeleteInvitationResult & { activity: Activity }>;
  /** Delete an MFA policy of a user; the deletion is itself subject to it. */
  deleteMfaPolicy(
    parameters: DeleteMfaPolicyParameters,
    options?: SubmitOptions,
  ): Promise<DeleteMfaPolicyResult & { activity: Activity }>;
  /** Delete an OAuth 2.0 credential with its secret. */
  deleteOauth2Credential(
    parameters: DeleteOauth2CredentialParameters,
    options?: SubmitOptions,
  ): Promise<DeleteOauth2CredentialResult & { activity: Activity }>;
  /** Delete OAuth providers of a user, all or nothing. */
  deleteOauthProviders(
    parameters: DeleteOauthProvidersParameters,
    options?: SubmitOptions,
  ): Promise<DeleteOauthProvidersResult & { activity: Activity }>;
  /** Delete several policies, all or nothing. */
  deletePolicies(
    parameters: DeletePoliciesParameters,
    options?: SubmitOptions,
  ): Promise<DeletePoliciesResult & { activity: Activity }>;
  /** Delete a policy. */
  deletePolicy(
    parameters: DeletePolicyParameters,
    options?: SubmitOptions,
  ): Promise<DeletePolicyResult & { activity: Activity }>;
  /** Delete private key tags. Policies that name them keep the name and no longer match. */
  deletePrivateKeyTags(
    parameters: DeletePrivateKeyTagsParameters,
    options?: SubmitOptions,
  ): Promise<DeletePrivateKeyTagsResult & { activity: Activity }>;
  /** Delete private keys, all or nothing. */
  deletePrivateKeys(
    parameters: DeletePrivateKeysParameters,
    options?: SubmitOptions,
  ): Promise<DeletePrivateKeysResult & { activity: Activity }>;
  /** Delete the service's copies of recovery kits, all or nothing. Files that were fetched stay as they are. Needs the root quorum. */
  deleteRecoveryKits(
    parameters: DeleteRecoveryKitsParameters,
    options?: SubmitOptions,
  ): Promise<DeleteRecoveryKitsResult & { activity: Activity }>;
  /** Delete secrets, all or nothing. */
  deleteSecrets(
    parameters: DeleteSecretsParameters,
    options?: SubmitOptions,
  ): Promise<DeleteSecretsResult & { activity: Activity }>;
  /** Delete the interface of a contract. Policies that need it no longer match. */
  deleteSmartContractInterface(
    parameters: DeleteSmartContractInterfaceParameters,
    options?: SubmitOptions,
  ): Promise<DeleteSmartContractInterfaceResult & { activity: Activity }>;
  /** Delete this sub-organization; its own users decide, its parent cannot. Activities stay readable to the parent. */
  deleteSubOrganization(
    parameters?: DeleteSubOrganizationParameters,
    options?: SubmitOptions,
  ): Promise<DeleteSubOrganizationResult & { activity: Activity }>;
  /** Delete an app for good; its deployments stay as records that are marked as deleted. */
  deleteTvcAppAndDeployments(
    parameters: DeleteTvcAppAndDeploymentsParameters,
    options?: SubmitOptions,
  ): Promise<DeleteTvcAppAndDeploymentsResult & { activity: Activity }>;
  /** Mark a deployment as deleted; its record stays. The live one can go only if it is the only one. */
  deleteTvcDeployment(
    parameters: DeleteTvcDeploymentParameters,
    options?: SubmitOptions,
  ): Promise<DeleteTvcDeploymentResult & { activity: Activity }>;
  /** Delete user tags. Policies that name them keep the name and no longer match. */
  deleteUserTags(
    parameters: DeleteUserTagsParameters,
    options?: SubmitOptions,
  ): Promise<DeleteUserTagsResult & { activity: Activity }>;
  /** Delete users with their credentials and tag memberships, all or nothing. Root quorum members must leave the quorum first. */
  deleteUsers(
    parameters: DeleteUsersParameters,
    options?: SubmitOptions,
  ): Promise<DeleteUsersResult & { activity: Activity }>;
  /** Delete a velocity control with what it has counted. */
  deleteVelocityControl(
    parameters: DeleteVelocityControlParameters,
    options?: SubmitOptions,
  ): Promise<DeleteVelocityControlResult & { activity: Activity }>;
  /** Delete wallet accounts, all or nothing; the wallet stays, and a deleted path can be derived again. */
  deleteWalletAccounts(
    parameters: DeleteWalletAccountsParameters,
    options?: SubmitOptions,
  ): Promise<DeleteWalletAccountsResult & { activity: Activity }>;
  /** Delete wallets with their seeds and accounts, all or nothing. */
  deleteWallets(
    parameters: DeleteWalletsParameters,
    options?: SubmitOptions,
  ): Promise<DeleteWalletsResult & { activity: Activity }>;
  /** Delete a webhook endpoint with all its deliveries, also those that wait. */
  deleteWebhookEndpoint(
    parameters: DeleteWebhookEndpointParameters,
    options?: SubmitOptions,
  ): Promise<DeleteWebhookEndpointResult & { activity: Activity }>;
  /** Activities of the organization in words, as describe_activity has them but without the bytes that are signed. Ids that it does not know are left out. */
  describeActivities(
    parameters: DescribeActivitiesParameters,
    options?: QueryOptions,
  ): Promise<DescribeActivitiesResponse>;
  /** An activity in words: one sentence, how much care it asks for and why, every field, and the bytes that are signed. Also of a request that nobody has sent yet. */
  describeActivity(parameters?: DescribeActivityParameters, options?: QueryOptions): Promise<DescribeActivityResponse>;
  /** The policies of the organization as sentences, oldest first, or those of the given ids; unknown ids are left out. */
  describePolicies(parameters?: DescribePoliciesParameters, options?: QueryOptions): Promise<DescribePoliciesResponse>;
  /** A policy, stored or a draft, as one sentence: what it allows or denies and to whom, with the mistakes and names in its expressions, and what a draft changes in the stored policy. */
  describePolicy(parameters?: DescribePolicyParameters, options?: QueryOptions): Promise<DescribePolicyResponse>;
  /** Turn the sign-up proxy off; its configuration, its user and its key stay. */
  disableAuthProxy(
    parameters?: DisableAuthProxyParameters,
    options?: SubmitOptions,
  ): Promise<DisableAuthProxyResult & { activity: Activity }>;
  /** Put a fee wrapper with its splitter around a vault, at an address that follows from the terms. The same terms again answer the same wrapper. */
  earnDeployWrapper(
    parameters: EarnDeployWrapperParameters,
    options?: SubmitOptions,
  ): Promise<EarnDeployWrapperResult & { activity: Activity }>;
  /** Put some of an asset into the vault behind a fee wrapper. Completed means accepted; get_earn_deposit_status tells the rest. */
  earnDeposit(
    parameters: EarnDepositParameters,
    options?: SubmitOptions,
  ): Promise<EarnDepositResult & { activity: Activity }>;
  /** Disable deposits into a fee wrapper, or enable them again. Withdrawals always go on. */
  earnSetWrapperState(
    parameters: EarnSetWrapperStateParameters,
    options?: SubmitOptions,
  ): Promise<EarnSetWrapperStateResult & { activity: Activity }>;
  /** Take some of an asset, or with MAX all of it, out of a fee wrapper. Completed means accepted; get_earn_withdraw_status tells the rest. */
  earnWithdraw(
    parameters: EarnWithdrawParameters,
    options?: SubmitOptions,
  ): Promise<EarnWithdrawResult & { activity: Activity }>;
  /** Mail an API key to a user, encrypted to the target key. */
  emailAuth(
    parameters: EmailAuthParameters,
    options?: SubmitOptions,
  ): Promise<EmailAuthResult & { activity: Activity }>;
  /** Turn the sign-up proxy on; makes its configuration, its user and its key where they are missing. */
  enableAuthProxy(
    parameters?: EnableAuthProxyParameters,
    options?: SubmitOptions,
  ): Promise<EnableAuthProxyResult & { activity: Activity }>;
  /** Send a transaction of an EVM chain that is signed already, by a key of this organization or by any other. */
  ethSendRawTransaction(
    parameters: EthSendRawTransactionParameters,
    options?: SubmitOptions,
  ): Promise<EthSendRawTransactionResult & { activity: Activity }>;
  /** Sign a transaction of an EVM chain and send it. It is accepted when the activity is; get_send_transaction_status tells what became of it. */
  ethSendTransaction(
    parameters: EthSendTransactionParameters,
    options?: SubmitOptions,
  ): Promise<EthSendTransactionResult & { activity: Activity }>;
  /** Export a private key, encrypted to the target key. It is marked as exported. */
  exportPrivateKey(
    parameters: ExportPrivateKeyParameters,
    options?: SubmitOptions,
  ): Promise<ExportPrivateKeyResult & { activity: Activity }>;
  /** Export secrets, each encrypted to its target key; all or nothing. */
  exportSecrets(
    parameters: ExportSecretsParameters,
    options?: SubmitOptions,
  ): Promise<ExportSecretsResult & { activity: Activity }>;
  /** Export the mnemonic of a wallet, encrypted to the target key. The wallet is marked as exported. */
  exportWallet(
    parameters: ExportWalletParameters,
    options?: SubmitOptions,
  ): Promise<ExportWalletResult & { activity: Activity }>;
  /** Export the private key of one account, encrypted to the target key. Every account with the address is marked as exported. */
  exportWalletAccount(
    parameters: ExportWalletAccountParameters,
    options?: SubmitOptions,
  ): Promise<ExportWalletAccountResult & { activity: Activity }>;
  /** Which policies are active at this moment: those without a time expression, and those whose expression holds. */
  getActivePolicies(
    parameters?: GetActivePoliciesParameters,
    options?: QueryOptions,
  ): Promise<GetActivePoliciesResponse>;
  /** One activity of the organization, or of one of its sub-organizations. */
  getActivity(parameters: GetActivityParameters, options?: QueryOptions): Promise<GetActivityResponse>;
  /** The votes on an activity with the bytes that each voter signed, to be verified without the service. */
  getActivityVotes(parameters: GetActivityVotesParameters, options?: QueryOptions): Promise<GetActivityVotesResponse>;
  /** One API key. */
  getApiKey(parameters: GetApiKeyParameters, options?: QueryOptions): Promise<GetApiKeyResponse>;
  /** API keys of a user, or of the whole organization; oldest first. */
  getApiKeys(parameters?: GetApiKeysParameters, options?: QueryOptions): Promise<GetApiKeysResponse>;
  /** Which deployment of an app is targeted. No replica is ever ready: this service runs no enclaves. */
  getAppStatus(parameters: GetAppStatusParameters, options?: QueryOptions): Promise<GetAppStatusResponse>;
  /** One activity with how far it is: who voted, what is missing, and whether it waits for the caller. */
  getApproval(parameters: GetApprovalParameters, options?: QueryOptions): Promise<GetApprovalResponse>;
  /** The configuration of the sign-up proxy, with the id that its clients send. */
  getAuthProxyConfig(
    parameters?: GetAuthProxyConfigParameters,
    options?: QueryOptions,
  ): Promise<GetAuthProxyConfigResponse>;
  /** One passkey. */
  getAuthenticator(parameters: GetAuthenticatorParameters, options?: QueryOptions): Promise<GetAuthenticatorResponse>;
  /** Passkeys of a user, oldest first. */
  getAuthenticators(
    parameters: GetAuthenticatorsParameters,
    options?: QueryOptions,
  ): Promise<GetAuthenticatorsResponse>;
  /** What became of a claim of fees: PENDING, COMPLETED or FAILED. */
  getClaimEarnFeesStatus(
    parameters: GetClaimEarnFeesStatusParameters,
    options?: QueryOptions,
  ): Promise<GetClaimEarnFeesStatusResponse>;
  /** Whether a fee wrapper is on its chain: PENDING, COMPLETED or FAILED. */
  getEarnDeployStatus(
    parameters: GetEarnDeployStatusParameters,
    options?: QueryOptions,
  ): Promise<GetEarnDeployStatusResponse>;
  /** What became of a deposit into a fee wrapper: PENDING, COMPLETED or FAILED. */
  getEarnDepositStatus(
    parameters: GetEarnDepositStatusParameters,
    options?: QueryOptions,
  ): Promise<GetEarnDepositStatusResponse>;
  /** What became of a withdrawal from a fee wrapper: PENDING, COMPLETED or FAILED. */
  getEarnWithdrawStatus(
    parameters: GetEarnWithdrawStatusParameters,
    options?: QueryOptions,
  ): Promise<GetEarnWithdrawStatusResponse>;
  /** What sponsored sends have cost in the window of the limits: of a parent with its sub-organizations, or of a sub-organization. */
  getGasUsage(parameters?: GetGasUsageParameters, options?: QueryOptions): Promise<GetGasUsageResponse>;
  /** The IP allowlist of the organization, or of one of its API keys. */
  getIpAllowlist(parameters?: GetIpAllowlistParameters, options?: QueryOptions): Promise<GetIpAllowlistResponse>;
  /** The MFA policies of a user, in the order in which they are asked. */
  getMfaPolicies(parameters: GetMfaPoliciesParameters, options?: QueryOptions): Promise<GetMfaPoliciesResponse>;
  /** One MFA policy of a user. */
  getMfaPolicy(parameters: GetMfaPolicyParameters, options?: QueryOptions): Promise<GetMfaPolicyResponse>;
  /** Which proofs an activity needs of its voters, and which it has. */
  getMfaStatus(parameters: GetMfaStatusParameters, options?: QueryOptions): Promise<GetMfaStatusResponse>;
  /** The next nonce of an address on an EVM chain, what is under way here included, and an unused nonce for its sponsored sends. */
  getNonces(parameters: GetNoncesParameters, options?: QueryOptions): Promise<GetNoncesResponse>;
  /** One OAuth 2.0 credential, its secret encrypted as it was submitted. */
  getOauth2Credential(
    parameters: GetOauth2CredentialParameters,
    options?: QueryOptions,
  ): Promise<GetOauth2CredentialResponse>;
  /** OAuth providers of a user, or of the whole organization; oldest first. */
  getOauthProviders(
    parameters?: GetOauthProvidersParameters,
    options?: QueryOptions,
  ): Promise<GetOauthProvidersResponse>;
  /** What became of a purchase: PENDING, COMPLETED, FAILED or CANCELLED. With `refresh` the provider is asked. */
  getOnrampTransactionStatus(
    parameters: GetOnrampTransactionStatusParameters,
    options?: QueryOptions,
  ): Promise<GetOnrampTransactionStatusResponse>;
  /** How the service does: health, counters, queues, chains, keys and mail. For root users of the operator. */
  getOperations(parameters?: GetOperationsParameters, options?: QueryOptions): Promise<GetOperationsResponse>;
  /** Everything in the organization at once; large ones are read through the lists. */
  getOrganization(parameters?: GetOrganizationParameters, options?: QueryOptions): Promise<GetOrganizationResponse>;
  /** Features and root quorum of the organization. */
  getOrganizationConfigs(
    parameters?: GetOrganizationConfigsParameters,
    options?: QueryOptions,
  ): Promise<GetOrganizationConfigsResponse>;
  /** One policy. */
  getPolicy(parameters: GetPolicyParameters, options?: QueryOptions): Promise<GetPolicyResponse>;
  /** What each policy said at each vote of an activity, and why. A vote that the root quorum decided has none; a rejection has the policies that still waited. */
  getPolicyEvaluations(
    parameters: GetPolicyEvaluationsParameters,
    options?: QueryOptions,
  ): Promise<GetPolicyEvaluationsResponse>;
  /** The public side of one private key. */
  getPrivateKey(parameters: GetPrivateKeyParameters, options?: QueryOptions): Promise<GetPrivateKeyResponse>;
  /** A recovery kit, and with `piece` (from 0) one piece of its file in base64, for members of the root quorum. The pieces one after the other are the file. */
  getRecoveryKit(parameters: GetRecoveryKitParameters, options?: QueryOptions): Promise<GetRecoveryKitResponse>;
  /** What became of a transaction that was sent: whether a node has it, a block, or why it failed. */
  getSendTransactionStatus(
    parameters: GetSendTransactionStatusParameters,
    options?: QueryOptions,
  ): Promise<GetSendTransactionStatusResponse>;
  /** One session profile of the organization or of its parent. */
  getSessionProfile(
    parameters: GetSessionProfileParameters,
    options?: QueryOptions,
  ): Promise<GetSessionProfileResponse>;
  /** The session profiles of the organization, or of its parent, oldest first. */
  getSessionProfiles(
    parameters?: GetSessionProfilesParameters,
    options?: QueryOptions,
  ): Promise<GetSessionProfilesResponse>;
  /** The uploaded interface of one contract. */
  getSmartContractInterface(
    parameters: GetSmartContractInterfaceParameters,
    options?: QueryOptions,
  ): Promise<GetSmartContractInterfaceResponse>;
  /** One app with its operator sets and the deployment that is live. */
  getTvcApp(parameters: GetTvcAppParameters, options?: QueryOptions): Promise<GetTvcAppResponse>;
  /** One deployment with its manifest and the approvals of it, deleted or not. */
  getTvcDeployment(parameters: GetTvcDeploymentParameters, options?: QueryOptions): Promise<GetTvcDeploymentResponse>;
  /** One user with its credentials and tags. */
  getUser(parameters: GetUserParameters, options?: QueryOptions): Promise<GetUserResponse>;
  /** One velocity control. */
  getVelocityControl(
    parameters: GetVelocityControlParameters,
    options?: QueryOptions,
  ): Promise<GetVelocityControlResponse>;
  /** One wallet. */
  getWallet(parameters: GetWalletParameters, options?: QueryOptions): Promise<GetWalletResponse>;
  /** One account of a wallet, by address or path; both given must agree. */
  getWalletAccount(parameters: GetWalletAccountParameters, options?: QueryOptions): Promise<GetWalletAccountResponse>;
  /** What an address holds on a chain: its native asset, and of the configured ones those that it has any of. */
  getWalletAddressBalances(
    parameters: GetWalletAddressBalancesParameters,
    options?: QueryOptions,
  ): Promise<GetWalletAddressBalancesResponse>;
  /** One delivery with the exact bytes and headers that are posted, and what was answered. */
  getWebhookDelivery(
    parameters: GetWebhookDeliveryParameters,
    options?: QueryOptions,
  ): Promise<GetWebhookDeliveryResponse>;
  /** How attempts to deliver went since a time, in stretches of equal length, at one endpoint or at all. */
  getWebhookStatistics(
    parameters: GetWebhookStatisticsParameters,
    options?: QueryOptions,
  ): Promise<GetWebhookStatisticsResponse>;
  /** Import a private key that was encrypted to the key of init_import_private_key. */
  importPrivateKey(
    parameters: ImportPrivateKeyParameters,
    options?: SubmitOptions,
  ): Promise<ImportPrivateKeyResult & { activity: Activity }>;
  /** Import secrets that were encrypted to keys of init_import_secrets, all or nothing. */
  importSecrets(
    parameters: ImportSecretsParameters,
    options?: SubmitOptions,
  ): Promise<ImportSecretsResult & { activity: Activity }>;
  /** Import a mnemonic that was encrypted to the key of init_import_wallet. */
  importWallet(
    parameters: ImportWalletParameters,
    options?: SubmitOptions,
  ): Promise<ImportWalletResult & { activity: Activity }>;
  /** Make a link to the page of an on-ramp provider, on which somebody buys crypto currency into a wallet. */
  initFiatOnRamp(
    parameters: InitFiatOnRampParameters,
    options?: SubmitOptions,
  ): Promise<InitFiatOnRampResult & { activity: Activity }>;
  /** Get a one-time key to encrypt a private key to. It lives an hour and works once. */
  initImportPrivateKey(
    parameters: InitImportPrivateKeyParameters,
    options?: SubmitOptions,
  ): Promise<InitImportPrivateKeyResult & { activity: Activity }>;
  /** Get one-time keys to encrypt secrets to, one per secret. They live an hour and work once. */
  initImportSecrets(
    parameters: InitImportSecretsParameters,
    options?: SubmitOptions,
  ): Promise<InitImportSecretsResult & { activity: Activity }>;
  /** Get a one-time key to encrypt a mnemonic to. It lives an hour and works once. */
  initImportWallet(
    parameters: InitImportWalletParameters,
    options?: SubmitOptions,
  ): Promise<InitImportWalletResult & { activity: Activity }>;
  /** Send a one-time code to an email address or a phone number. */
  initOtp(parameters: InitOtpParameters, options?: SubmitOptions): Promise<InitOtpResult & { activity: Activity }>;
  /** Send a one-time code for otp_auth to the email address or phone number of a user. */
  initOtpAuth(
    parameters: InitOtpAuthParameters,
    options?: SubmitOptions,
  ): Promise<InitOtpAuthResult & { activity: Activity }>;
  /** Mail a key to a user that serves to register a new passkey and for nothing else. */
  initUserEmailRecovery(
    parameters: InitUserEmailRecoveryParameters,
    options?: SubmitOptions,
  ): Promise<InitUserEmailRecoveryResult & { activity: Activity }>;
  /** Activities of the organization, newest first. */
  listActivities(parameters?: ListActivitiesParameters, options?: QueryOptions): Promise<ListActivitiesResponse>;
  /** The app proofs of an activity that asked for them. */
  listAppProofs(parameters: ListAppProofsParameters, options?: QueryOptions): Promise<ListAppProofsResponse>;
  /** Activities that wait for approvals, least time left first, with how far each is and whether it waits for the caller; or those that were decided by votes, newest first. At most 100 at once. */
  listApprovals(parameters?: ListApprovalsParameters, options?: QueryOptions): Promise<ListApprovalsResponse>;
  /** The chains that the operator has configured, with their native assets and what they are set up for. */
  listChains(parameters?: ListChainsParameters, options?: QueryOptions): Promise<ListChainsResponse>;
  /** API keys, sessions, passkeys and OAuth identities of a user, or of the whole organization, with their last use; oldest first. */
  listCredentials(parameters?: ListCredentialsParameters, options?: QueryOptions): Promise<ListCredentialsResponse>;
  /** The organization's fee wrappers or its parent's, oldest first, with what their vaults tell. Fees are shown to the parent alone. */
  listEarnEnabledVaults(
    parameters?: ListEarnEnabledVaultsParameters,
    options?: QueryOptions,
  ): Promise<ListEarnEnabledVaultsResponse>;
  /** What a wallet put into fee wrappers and took out of them over time, and what its positions are worth now; oldest first. */
  listEarnPositionHistory(
    parameters: ListEarnPositionHistoryParameters,
    options?: QueryOptions,
  ): Promise<ListEarnPositionHistoryResponse>;
  /** What a wallet of the organization or of its sub-organizations has in fee wrappers, its own or its parent's, on the configured chains. */
  listEarnPositions(
    parameters: ListEarnPositionsParameters,
    options?: QueryOptions,
  ): Promise<ListEarnPositionsResponse>;
  /** Vaults of an asset that take deposits, by value descending, and whether the organization has enabled them. */
  listEarnVaults(parameters: ListEarnVaultsParameters, options?: QueryOptions): Promise<ListEarnVaultsResponse>;
  /** What became of the mails to an address in the last 90 days, newest first: sent, deferred, refused or expired, and what was recorded with record_email_event: bounced or complained. */
  listEmailEvents(parameters: ListEmailEventsParameters, options?: QueryOptions): Promise<ListEmailEventsResponse>;
  /** Transactions of an address on an EVM chain, the newest first: what this organization sent from it, and transfers of configured tokens from and to it. A page may be short or empty while more follow. */
  listEthTransactionHistory(
    parameters: ListEthTransactionHistoryParameters,
    options?: QueryOptions,
  ): Promise<ListEthTransactionHistoryResponse>;
  /** Fiat on-ramp credentials of the organization, oldest first, with their secrets as they were submitted. */
  listFiatOnRampCredentials(
    parameters?: ListFiatOnRampCredentialsParameters,
    options?: QueryOptions,
  ): Promise<ListFiatOnRampCredentialsResponse>;
  /** Invitations to the organization, whatever became of them; newest first. */
  listInvitations(parameters?: ListInvitationsParameters, options?: QueryOptions): Promise<ListInvitationsResponse>;
  /** OAuth 2.0 credentials of the organization, oldest first. */
  listOauth2Credentials(
    parameters?: ListOauth2CredentialsParameters,
    options?: QueryOptions,
  ): Promise<ListOauth2CredentialsResponse>;
  /** Policies of the organization, oldest first. */
  listPolicies(parameters?: ListPoliciesParameters, options?: QueryOptions): Promise<ListPoliciesResponse>;
  /** Private key tags of the organization, oldest first. */
  listPrivateKeyTags(
    parameters?: ListPrivateKeyTagsParameters,
    options?: QueryOptions,
  ): Promise<ListPrivateKeyTagsResponse>;
  /** The public sides of the private keys of the organization, oldest first. */
  listPrivateKeys(parameters?: ListPrivateKeysParameters, options?: QueryOptions): Promise<ListPrivateKeysResponse>;
  /** The recovery kits that the service still has, newest first, without their contents. */
  listRecoveryKits(parameters?: ListRecoveryKitsParameters, options?: QueryOptions): Promise<ListRecoveryKitsResponse>;
  /** What is known of the secrets of the organization, newest first; never the secrets. */
  listSecrets(parameters?: ListSecretsParameters, options?: QueryOptions): Promise<ListSecretsResponse>;
  /** Transactions that were sent for the organization, with every attempt and what they cost; newest first. */
  listSends(parameters?: ListSendsParameters, options?: QueryOptions): Promise<ListSendsResponse>;
  /** The uploaded contract interfaces of the organization, oldest first. */
  listSmartContractInterfaces(
    parameters?: ListSmartContractInterfacesParameters,
    options?: QueryOptions,
  ): Promise<ListSmartContractInterfacesResponse>;
  /** Ids of sub-organizations, oldest first; optionally those that hold a name, contact or credential. */
  listSuborgs(parameters?: ListSuborgsParameters, options?: QueryOptions): Promise<ListSuborgsResponse>;
  /** The assets of a chain that the operator has configured, its native one first. */
  listSupportedAssets(
    parameters: ListSupportedAssetsParameters,
    options?: QueryOptions,
  ): Promise<ListSupportedAssetsResponse>;
  /** Deployments of an app, deleted ones too, oldest first. */
  listTvcAppDeployments(
    parameters: ListTvcAppDeploymentsParameters,
    options?: QueryOptions,
  ): Promise<ListTvcAppDeploymentsResponse>;
  /** Apps of the organization that are not deleted, oldest first. */
  listTvcApps(parameters?: ListTvcAppsParameters, options?: QueryOptions): Promise<ListTvcAppsResponse>;
  /** Operators of the organization with their public keys, oldest first. */
  listTvcOperators(parameters?: ListTvcOperatorsParameters, options?: QueryOptions): Promise<ListTvcOperatorsResponse>;
  /** Always empty: quorum keys are made and split inside enclaves, and this service has none. */
  listTvcQuorumKeys(
    parameters?: ListTvcQuorumKeysParameters,
    options?: QueryOptions,
  ): Promise<ListTvcQuorumKeysResponse>;
  /** Users of the organization with what they have and when they were last seen, oldest first; with a text, those that have it in their name or email. */
  listUserSummaries(
    parameters?: ListUserSummariesParameters,
    options?: QueryOptions,
  ): Promise<ListUserSummariesResponse>;
  /** User tags of the organization, oldest first. */
  listUserTags(parameters?: ListUserTagsParameters, options?: QueryOptions): Promise<ListUserTagsResponse>;
  /** Users of the organization, oldest first. */
  listUsers(parameters?: ListUsersParameters, options?: QueryOptions): Promise<ListUsersResponse>;
  /** Velocity controls of the organization, oldest first. */
  listVelocityControls(
    parameters?: ListVelocityControlsParameters,
    options?: QueryOptions,
  ): Promise<ListVelocityControlsResponse>;
  /** How much of each velocity control is used at this moment, counted as the controls count. */
  listVelocityUsage(
    parameters?: ListVelocityUsageParameters,
    options?: QueryOptions,
  ): Promise<ListVelocityUsageResponse>;
  /** Ids of sub-organizations whose email or phone number is verified, oldest first. */
  listVerifiedSuborgs(
    parameters?: ListVerifiedSuborgsParameters,
    options?: QueryOptions,
  ): Promise<ListVerifiedSuborgsResponse>;
  /** Accounts of a wallet, or of the whole organization; oldest first. */
  listWalletAccounts(
    parameters?: ListWalletAccountsParameters,
    options?: QueryOptions,
  ): Promise<ListWalletAccountsResponse>;
  /** Wallets of the organization, oldest first. */
  listWallets(parameters?: ListWalletsParameters, options?: QueryOptions): Promise<ListWalletsResponse>;
  /** What was sent to the webhook endpoints of the organization, and what was answered; newest first. */
  listWebhookDeliveries(
    parameters?: ListWebhookDeliveriesParameters,
    options?: QueryOptions,
  ): Promise<ListWebhookDeliveriesResponse>;
  /** The webhook endpoints of the organization with what they subscribe to, oldest first. */
  listWebhookEndpoints(
    parameters?: ListWebhookEndpointsParameters,
    options?: QueryOptions,
  ): Promise<ListWebhookEndpointsResponse>;
  /** Make an API key for a user of a sub-organization by an OpenID token, encrypted to the key it is bound to. */
  oauth(parameters: OauthParameters, options?: SubmitOptions): Promise<OauthResult & { activity: Activity }>;
  /** Exchange an authorization code of an OAuth 2.0 provider for an OpenID token of this service. */
  oauth2Authenticate(
    parameters: Oauth2AuthenticateParameters,
    options?: SubmitOptions,
  ): Promise<Oauth2AuthenticateResult & { activity: Activity }>;
  /** Log a user of a sub-organization in by an OpenID token that is bound to the session key. */
  oauthLogin(
    parameters: OauthLoginParameters,
    options?: SubmitOptions,
  ): Promise<OauthLoginResult & { activity: Activity }>;
  /** Turn a one-time code of init_otp_auth into an API key of its user, encrypted to the target key. */
  otpAuth(parameters: OtpAuthParameters, options?: SubmitOptions): Promise<OtpAuthResult & { activity: Activity }>;
  /** Log in the user whose contact a verification token proves: registers a session key. */
  otpLogin(parameters: OtpLoginParameters, options?: SubmitOptions): Promise<OtpLoginResult & { activity: Activity }>;
  /** Record that a mail of the tree bounced or was complained about, as the operator's mail server tells; list_email_events shows it. The same again changes nothing. */
  recordEmailEvent(
    parameters: RecordEmailEventParameters,
    options?: SubmitOptions,
  ): Promise<RecordEmailEventResult & { activity: Activity }>;
  /** Complete the recovery of a user: adds a passkey and ends the recovery. */
  recoverUser(
    parameters: RecoverUserParameters,
    options?: SubmitOptions,
  ): Promise<RecoverUserResult & { activity: Activity }>;
  /** Reject a pending activity by its fingerprint; one rejection is final. The answer is that activity. */
  rejectActivity(parameters: RejectActivityParameters, options?: SubmitOptions): Promise<{ activity: Activity }>;
  /** Delete an IP allowlist with its rules. A key then follows the list of the organization, and an organization without one accepts all addresses. */
  removeIpAllowlist(
    parameters?: RemoveIpAllowlistParameters,
    options?: SubmitOptions,
  ): Promise<RemoveIpAllowlistResult & { activity: Activity }>;
  /** Remove a feature of the organization. Needs the root quorum. */
  removeOrganizationFeature(
    parameters: RemoveOrganizationFeatureParameters,
    options?: SubmitOptions,
  ): Promise<RemoveOrganizationFeatureResult & { activity: Activity }>;
  /** Send a delivery again, whatever became of it, or all failed and dead-lettered ones of an endpoint since a time, or between two. Event ids stay. */
  replayWebhookDelivery(
    parameters: ReplayWebhookDeliveryParameters,
    options?: SubmitOptions,
  ): Promise<ReplayWebhookDeliveryResult & { activity: Activity }>;
  /** Restore a deleted deployment, with its approvals. It is not made live. */
  restoreTvcDeployment(
    parameters: RestoreTvcDeploymentParameters,
    options?: SubmitOptions,
  ): Promise<RestoreTvcDeploymentResult & { activity: Activity }>;
  /** What the organization has by a name or a piece of it, or by the beginning of an id, an address or a transaction hash; of a parent also its sub-organizations. */
  search(parameters: SearchParameters, options?: QueryOptions): Promise<SearchResponse>;
  /** Sub-organizations by name, contact, user name, address or id; without a text all of them. Newest first. */
  searchSubOrganizations(
    parameters?: SearchSubOrganizationsParameters,
    options?: QueryOptions,
  ): Promise<SearchSubOrganizationsResponse>;
  /** Replace the IP allowlist of the organization or of one API key. One that would lock its caller out is refused unless allowLockout is true. */
  setIpAllowlist(
    parameters?: SetIpAllowlistParameters,
    options?: SubmitOptions,
  ): Promise<SetIpAllowlistResult & { activity: Activity }>;
  /** Set a feature of the organization. Needs the root quorum. */
  setOrganizationFeature(
    parameters: SetOrganizationFeatureParameters,
    options?: SubmitOptions,
  ): Promise<SetOrganizationFeatureResult & { activity: Activity }>;
  /** Make an approved deployment the live one of its app, in place of the one that was. */
  setTvcAppLiveDeployment(
    parameters: SetTvcAppLiveDeploymentParameters,
    options?: SubmitOptions,
  ): Promise<SetTvcAppLiveDeploymentResult & { activity: Activity }>;
  /** Sign a payload with a wallet account or private key. */
  signRawPayload(
    parameters: SignRawPayloadParameters,
    options?: SubmitOptions,
  ): Promise<SignRawPayloadResult & { activity: Activity }>;
  /** Sign up to 100 payloads with one key, all or nothing. */
  signRawPayloads(
    parameters: SignRawPayloadsParameters,
    options?: SubmitOptions,
  ): Promise<SignRawPayloadsResult & { activity: Activity }>;
  /** Sign an Ethereum, Solana, Tron, Bitcoin or Tempo transaction. One that does not parse or fit the signer is refused. */
  signTransaction(
    parameters: SignTransactionParameters,
    options?: SubmitOptions,
  ): Promise<SignTransactionResult & { activity: Activity }>;
  /** What would become of a submit request, and why: the decision with the reason of every policy, who could still approve, and what MFA, session, IP and velocity rules say. Nothing is changed. */
  simulateActivity(parameters: SimulateActivityParameters, options?: QueryOptions): Promise<SimulateActivityResponse>;
  /** Sign a Solana transaction and send it. It is accepted when the activity is; get_send_transaction_status tells what became of it. */
  solSendTransaction(
    parameters: SolSendTransactionParameters,
    options?: SubmitOptions,
  ): Promise<SolSendTransactionResult & { activity: Activity }>;
  /** Log in with a stamp of one of your own credentials: registers a session key. */
  stampLogin(
    parameters: StampLoginParameters,
    options?: SubmitOptions,
  ): Promise<StampLoginResult & { activity: Activity }>;
  /** Send a signed test event to an endpoint, also one that is switched off, and tell what it answered. */
  testWebhookEndpoint(
    parameters: TestWebhookEndpointParameters,
    options?: SubmitOptions,
  ): Promise<TestWebhookEndpointResult & { activity: Activity }>;
  /** Change what the sign-up proxy may do and how; what is absent stays as it is, empty text takes a value away. */
  updateAuthProxyConfig(
    parameters?: UpdateAuthProxyConfigParameters,
    options?: SubmitOptions,
  ): Promise<UpdateAuthProxyConfigResult & { activity: Activity }>;
  /** Replace everything in a fiat on-ramp credential but its mode. */
  updateFiatOnRampCredential(
    parameters: UpdateFiatOnRampCredentialParameters,
    options?: SubmitOptions,
  ): Promise<UpdateFiatOnRampCredentialResult & { activity: Activity }>;
  /** Change an MFA policy. Activities that already wait for proofs keep the steps they began with. */
  updateMfaPolicy(
    parameters: UpdateMfaPolicyParameters,
    options?: SubmitOptions,
  ): Promise<UpdateMfaPolicyResult & { activity: Activity }>;
  /** Replace provider, client id and secret of an OAuth 2.0 credential. */
  updateOauth2Credential(
    parameters: UpdateOauth2CredentialParameters,
    options?: SubmitOptions,
  ): Promise<UpdateOauth2CredentialResult & { activity: Activity }>;
  /** Change the name of the organization. Needs the root quorum. */
  updateOrganizationName(
    parameters: UpdateOrganizationNameParameters,
    options?: SubmitOptions,
  ): Promise<UpdateOrganizationNameResult & { activity: Activity }>;
  /** Change a policy. What is absent stays, an empty expression is cleared and then counts as true. */
  updatePolicy(
    parameters: UpdatePolicyParameters,
    options?: SubmitOptions,
  ): Promise<UpdatePolicyResult & { activity: Activity }>;
  /** Rename a private key tag, and give it to or take it from private keys. */
  updatePrivateKeyTag(
    parameters: UpdatePrivateKeyTagParameters,
    options?: SubmitOptions,
  ): Promise<UpdatePrivateKeyTagResult & { activity: Activity }>;
  /** Set the members and the threshold of the root quorum. Needs the current root quorum. */
  updateRootQuorum(
    parameters: UpdateRootQuorumParameters,
    options?: SubmitOptions,
  ): Promise<UpdateRootQuorumResult & { activity: Activity }>;
  /** Change a user. An absent field stays; a non-empty userTagIds replaces the tags; an empty contact removes it. */
  updateUser(
    parameters: UpdateUserParameters,
    options?: SubmitOptions,
  ): Promise<UpdateUserResult & { activity: Activity }>;
  /** Change the email of a user; the empty string removes it. A verificationToken for it marks it as verified. */
  updateUserEmail(
    parameters: UpdateUserEmailParameters,
    options?: SubmitOptions,
  ): Promise<UpdateUserEmailResult & { activity: Activity }>;
  /** Change the display name of a user. */
  updateUserName(
    parameters: UpdateUserNameParameters,
    options?: SubmitOptions,
  ): Promise<UpdateUserNameResult & { activity: Activity }>;
  /** Change the phone number of a user; the empty string removes it. A verificationToken for it marks it as verified. */
  updateUserPhoneNumber(
    parameters: UpdateUserPhoneNumberParameters,
    options?: SubmitOptions,
  ): Promise<UpdateUserPhoneNumberResult & { activity: Activity }>;
  /** Rename a user tag, and give it to or take it from users. */
  updateUserTag(
    parameters: UpdateUserTagParameters,
    options?: SubmitOptions,
  ): Promise<UpdateUserTagResult & { activity: Activity }>;
  /** Rename a wallet. */
  updateWallet(
    parameters: UpdateWalletParameters,
    options?: SubmitOptions,
  ): Promise<UpdateWalletResult & { activity: Activity }>;
  /** Change the URL or the name of a webhook endpoint, switch it off and on, or have activities described to it. What waits for it goes on. */
  updateWebhookEndpoint(
    parameters: UpdateWebhookEndpointParameters,
    options?: SubmitOptions,
  ): Promise<UpdateWebhookEndpointResult & { activity: Activity }>;
  /** Limit what sponsored sends of a parent organization and of its sub-organizations cost in a window of time, together and each. */
  upsertGasUsageConfig(
    parameters: UpsertGasUsageConfigParameters,
    options?: SubmitOptions,
  ): Promise<UpsertGasUsageConfigResult & { activity: Activity }>;
  /** Turn a one-time code into a token that says whose contact it was sent to. */
  verifyOtp(
    parameters: VerifyOtpParameters,
    options?: SubmitOptions,
  ): Promise<VerifyOtpResult & { activity: Activity }>;
  /** The user and organization that the stamp belongs to; a parent id finds the one sub-organization that holds the credential. */
  whoami(parameters?: WhoamiParameters, options?: QueryOptions): Promise<WhoamiResponse>;
}

/** What the client needs to know of each operation, by the name of its method. */
export const OPERATIONS = {
  approveActivity: {
    kind: 'vote',
    name: 'approve_activity',
    path: '/public/v1/submit/approve_activity',
    type: 'ACTIVITY_TYPE_APPROVE_ACTIVITY',
  },
  claimEarnFees: {
    kind: 'activity',
    name: 'claim_earn_fees',
    path: '/public/v1/submit/claim_earn_fees',
    type: 'ACTIVITY_TYPE_CLAIM_EARN_FEES',
    intentKey: 'claimEarnFeesIntent',
    resultKey: 'claimEarnFeesResult',
  },
  createApiKeys: {
    kind: 'activity',
    name: 'create_api_keys',
    path: '/public/v1/submit/create_api_keys',
    type: 'ACTIVITY_TYPE_CREATE_API_KEYS_V2',
    intentKey: 'createApiKeysIntentV2',
    resultKey: 'createApiKeysResult',
  },
  createApiOnlyUsers: {
    kind: 'activity',
    name: 'create_api_only_users',
    path: '/public/v1/submit/create_api_only_users',
    type: 'ACTIVITY_TYPE_CREATE_API_ONLY_USERS',
    intentKey: 'createApiOnlyUsersIntent',
    resultKey: 'createApiOnlyUsersResult',
  },
  createAuthenticators: {
    kind: 'activity',
    name: 'create_authenticators',
    path: '/public/v1/submit/create_authenticators',
    type: 'ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2',
    intentKey: 'createAuthenticatorsIntentV2',
    resultKey: 'createAuthenticatorsResult',
  },
  createFiatOnRampCredential: {
    kind: 'activity',
    name: 'create_fiat_on_ramp_credential',
    path: '/public/v1/submit/create_fiat_on_ramp_credential',
    type: 'ACTIVITY_TYPE_CREATE_FIAT_ON_RAMP_CREDENTIAL',
    intentKey: 'createFiatOnRampCredentialIntent',
    resultKey: 'createFiatOnRampCredentialResult',
  },
  createInvitations: {
    kind: 'activity',
    name: 'create_invitations',
    path: '/public/v1/submit/create_invitations',
    type: 'ACTIVITY_TYPE_CREATE_INVITATIONS',
    intentKey: 'createInvitationsIntent',
    resultKey: 'createInvitationsResult',
  },
  createMfaPolicy: {
    kind: 'activity',
    name: 'create_mfa_policy',
    path: '/public/v1/submit/create_mfa_policy',
    type: 'ACTIVITY_TYPE_CREATE_MFA_POLICY',
    intentKey: 'createMfaPolicyIntent',
    resultKey: 'createMfaPolicyResult',
  },
  createOauth2Credential: {
    kind: 'activity',
    name: 'create_oauth2_credential',
    path: '/public/v1/submit/create_oauth2_credential',
    type: 'ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL',
    intentKey: 'createOauth2CredentialIntent',
    resultKey: 'createOauth2CredentialResult',
  },
  createOauthProviders: {
    kind: 'activity',
    name: 'create_oauth_providers',
    path: '/public/v1/submit/create_oauth_providers',
    type: 'ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2',
    intentKey: 'createOauthProvidersIntentV2',
    resultKey: 'createOauthProvidersResultV2',
  },
  createPolicies: {
    kind: 'activity',
    name: 'create_policies',
    path: '/public/v1/submit/create_policies',
    type: 'ACTIVITY_TYPE_CREATE_POLICIES',
    intentKey: 'createPoliciesIntent',
    resultKey: 'createPoliciesResult',
  },
  createPolicy: {
    kind: 'activity',
    name: 'create_policy',
    path: '/public/v1/submit/create_policy',
    type: 'ACTIVITY_TYPE_CREATE_POLICY_V3',
    intentKey: 'createPolicyIntentV3',
    resultKey: 'createPolicyResult',
  },
  createPrivateKeyTag: {
    kind: 'activity',
    name: 'create_private_key_tag',
    path: '/public/v1/submit/create_private_key_tag',
    type: 'ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG',
    intentKey: 'createPrivateKeyTagIntent',
    resultKey: 'createPrivateKeyTagResult',
  },
  createPrivateKeys: {
    kind: 'activity',
    name: 'create_private_keys',
    path: '/public/v1/submit/create_private_keys',
    type: 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2',
    intentKey: 'createPrivateKeysIntentV2',
    resultKey: 'createPrivateKeysResultV2',
  },
  createReadOnlySession: {
    kind: 'activity',
    name: 'create_read_only_session',
    path: '/public/v1/submit/create_read_only_session',
    type: 'ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION',
    intentKey: 'createReadOnlySessionIntent',
    resultKey: 'createReadOnlySessionResult',
  },
  createReadWriteSession: {
    kind: 'activity',
    name: 'create_read_write_session',
    path: '/public/v1/submit/create_read_write_session',
    type: 'ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2',
    intentKey: 'createReadWriteSessionIntentV2',
    resultKey: 'createReadWriteSessionResultV2',
  },
  createRecoveryKit: {
    kind: 'activity',
    name: 'create_recovery_kit',
    path: '/public/v1/submit/create_recovery_kit',
    type: 'ACTIVITY_TYPE_CREATE_RECOVERY_KIT',
    intentKey: 'createRecoveryKitIntent',
    resultKey: 'createRecoveryKitResult',
  },
  createSessionProfile: {
    kind: 'activity',
    name: 'create_session_profile',
    path: '/public/v1/submit/create_session_profile',
    type: 'ACTIVITY_TYPE_CREATE_SESSION_PROFILE',
    intentKey: 'createSessionProfileIntent',
    resultKey: 'createSessionProfileResult',
  },
  createSmartContractInterface: {
    kind: 'activity',
    name: 'create_smart_contract_interface',
    path: '/public/v1/submit/create_smart_contract_interface',
    type: 'ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE',
    intentKey: 'createSmartContractInterfaceIntent',
    resultKey: 'createSmartContractInterfaceResult',
  },
  createSubOrganization: {
    kind: 'activity',
    name: 'create_sub_organization',
    path: '/public/v1/submit/create_sub_organization',
    type: 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8',
    intentKey: 'createSubOrganizationIntentV8',
    resultKey: 'createSubOrganizationResultV8',
  },
  createTvcApp: {
    kind: 'activity',
    name: 'create_tvc_app',
    path: '/public/v1/submit/create_tvc_app',
    type: 'ACTIVITY_TYPE_CREATE_TVC_APP',
    intentKey: 'createTvcAppIntent',
    resultKey: 'createTvcAppResult',
  },
  createTvcDeployment: {
    kind: 'activity',
    name: 'create_tvc_deployment',
    path: '/public/v1/submit/create_tvc_deployment',
    type: 'ACTIVITY_TYPE_CREATE_TVC_DEPLOYMENT',
    intentKey: 'createTvcDeploymentIntent',
    resultKey: 'createTvcDeploymentResult',
  },
  createTvcManifestApprovals: {
    kind: 'activity',
    name: 'create_tvc_manifest_approvals',
    path: '/public/v1/submit/create_tvc_manifest_approvals',
    type: 'ACTIVITY_TYPE_CREATE_TVC_MANIFEST_APPROVALS',
    intentKey: 'createTvcManifestApprovalsIntent',
    resultKey: 'createTvcManifestApprovalsResult',
  },
  createTvcOperator: {
    kind: 'activity',
    name: 'create_tvc_operator',
    path: '/public/v1/submit/create_tvc_operator',
    type: 'ACTIVITY_TYPE_CREATE_TVC_OPERATOR',
    intentKey: 'createTvcOperatorIntent',
    resultKey: 'createTvcOperatorResult',
  },
  createUserTag: {
    kind: 'activity',
    name: 'create_user_tag',
    path: '/public/v1/submit/create_user_tag',
    type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
    intentKey: 'createUserTagIntent',
    resultKey: 'createUserTagResult',
  },
  createUsers: {
    kind: 'activity',
    name: 'create_users',
    path: '/public/v1/submit/create_users',
    type: 'ACTIVITY_TYPE_CREATE_USERS_V4',
    intentKey: 'createUsersIntentV4',
    resultKey: 'createUsersResult',
  },
  createVelocityControl: {
    kind: 'activity',
    name: 'create_velocity_control',
    path: '/public/v1/submit/create_velocity_control',
    type: 'ACTIVITY_TYPE_CREATE_VELOCITY_CONTROL',
    intentKey: 'createVelocityControlIntent',
    resultKey: 'createVelocityControlResult',
  },
  createWallet: {
    kind: 'activity',
    name: 'create_wallet',
    path: '/public/v1/submit/create_wallet',
    type: 'ACTIVITY_TYPE_CREATE_WALLET',
    intentKey: 'createWalletIntent',
    resultKey: 'createWalletResult',
  },
  createWalletAccounts: {
    kind: 'activity',
    name: 'create_wallet_accounts',
    path: '/public/v1/submit/create_wallet_accounts',
    type: 'ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS',
    intentKey: 'createWalletAccountsIntent',
    resultKey: 'createWalletAccountsResult',
  },
  createWebhookEndpoint: {
    kind: 'activity',
    name: 'create_webhook_endpoint',
    path: '/public/v1/submit/create_webhook_endpoint',
    type: 'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT',
    intentKey: 'createWebhookEndpointIntent',
    resultKey: 'createWebhookEndpointResult',
  },
  deleteApiKeys: {
    kind: 'activity',
    name: 'delete_api_keys',
    path: '/public/v1/submit/delete_api_keys',
    type: 'ACTIVITY_TYPE_DELETE_API_KEYS',
    intentKey: 'deleteApiKeysIntent',
    resultKey: 'deleteApiKeysResult',
  },
  deleteAuthenticators: {
    kind: 'activity',
    name: 'delete_authenticators',
    path: '/public/v1/submit/delete_authenticators',
    type: 'ACTIVITY_TYPE_DELETE_AUTHENTICATORS',
    intentKey: 'deleteAuthenticatorsIntent',
    resultKey: 'deleteAuthenticatorsResult',
  },
  deleteFiatOnRampCredential: {
    kind: 'activity',
    name: 'delete_fiat_on_ramp_credential',
    path: '/public/v1/submit/delete_fiat_on_ramp_credential',
    type: 'ACTIVITY_TYPE_DELETE_FIAT_ON_RAMP_CREDENTIAL',
    intentKey: 'deleteFiatOnRampCredentialIntent',
    resultKey: 'deleteFiatOnRampCredentialResult',
  },
  deleteInvitation: {
    kind: 'activity',
    name: 'delete_invitation',
    path: '/public/v1/submit/delete_invitation',
    type: 'ACTIVITY_TYPE_DELETE_INVITATION',
    intentKey: 'deleteInvitationIntent',
    resultKey: 'deleteInvitationResult',
  },
  deleteMfaPolicy: {
    kind: 'activity',
    name: 'delete_mfa_policy',
    path: '/public/v1/submit/delete_mfa_policy',
    type: 'ACTIVITY_TYPE_DELETE_MFA_POLICY',
    intentKey: 'deleteMfaPolicyIntent',
    resultKey: 'deleteMfaPolicyResult',
  },
  deleteOauth2Credential: {
    kind: 'activity',
    name: 'delete_oauth2_credential',
    path: '/public/v1/submit/delete_oauth2_credential',
    type: 'ACTIVITY_TYPE_DELETE_OAUTH2_CREDENTIAL',
    intentKey: 'deleteOauth2CredentialIntent',
    resultKey: 'deleteOauth2CredentialResult',
  },
  deleteOauthProviders: {
    kind: 'activity',
    name: 'delete_oauth_providers',
    path: '/public/v1/submit/delete_oauth_providers',
    type: 'ACTIVITY_TYPE_DELETE_OAUTH_PROVIDERS',
    intentKey: 'deleteOauthProvidersIntent',
    resultKey: 'deleteOauthProvidersResult',
  },
  deletePolicies: {
    kind: 'activity',
    name: 'delete_policies',
    path: '/public/v1/submit/delete_policies',
    type: 'ACTIVITY_TYPE_DELETE_POLICIES',
    intentKey: 'deletePoliciesIntent',
    resultKey: 'deletePoliciesResult',
  },
  deletePolicy: {
    kind: 'activity',
    name: 'delete_policy',
    path: '/public/v1/submit/delete_policy',
    type: 'ACTIVITY_TYPE_DELETE_POLICY',
    intentKey: 'deletePolicyIntent',
    resultKey: 'deletePolicyResult',
  },
  deletePrivateKeyTags: {
    kind: 'activity',
    name: 'delete_private_key_tags',
    path: '/public/v1/submit/delete_private_key_tags',
    type: 'ACTIVITY_TYPE_DELETE_PRIVATE_KEY_TAGS',
    intentKey: 'deletePrivateKeyTagsIntent',
    resultKey: 'deletePrivateKeyTagsResult',
  },
  deletePrivateKeys: {
    kind: 'activity',
    name: 'delete_private_keys',
    path: '/public/v1/submit/delete_private_keys',
    type: 'ACTIVITY_TYPE_DELETE_PRIVATE_KEYS',
    intentKey: 'deletePrivateKeysIntent',
    resultKey: 'deletePrivateKeysResult',
  },
  deleteRecoveryKits: {
    kind: 'activity',
    name: 'delete_recovery_kits',
    path: '/public/v1/submit/delete_recovery_kits',
    type: 'ACTIVITY_TYPE_DELETE_RECOVERY_KITS',
    intentKey: 'deleteRecoveryKitsIntent',
    resultKey: 'deleteRecoveryKitsResult',
  },
  deleteSecrets: {
    kind: 'activity',
    name: 'delete_secrets',
    path: '/public/v1/submit/delete_secrets',
    type: 'ACTIVITY_TYPE_DELETE_SECRETS',
    intentKey: 'deleteSecretsIntent',
    resultKey: 'deleteSecretsResult',
  },
  deleteSmartContractInterface: {
    kind: 'activity',
    name: 'delete_smart_contract_interface',
    path: '/public/v1/submit/delete_smart_contract_interface',
    type: 'ACTIVITY_TYPE_DELETE_SMART_CONTRACT_INTERFACE',
    intentKey: 'deleteSmartContractInterfaceIntent',
    resultKey: 'deleteSmartContractInterfaceResult',
  },
  deleteSubOrganization: {
    kind: 'activity',
    name: 'delete_sub_organization',
    path: '/public/v1/submit/delete_sub_organization',
    type: 'ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION',
    intentKey: 'deleteSubOrganizationIntent',
    resultKey: 'deleteSubOrganizationResult',
  },
  deleteTvcAppAndDeployments: {
    kind: 'activity',
    name: 'delete_tvc_app_and_deployments',
    path: '/public/v1/submit/delete_tvc_app_and_deployments',
    type: 'ACTIVITY_TYPE_DELETE_TVC_APP_AND_DEPLOYMENTS',
    intentKey: 'deleteTvcAppAndDeploymentsIntent',
    resultKey: 'deleteTvcAppAndDeploymentsResult',
  },
  deleteTvcDeployment: {
    kind: 'activity',
    name: 'delete_tvc_deployment',
    path: '/public/v1/submit/delete_tvc_deployment',
    type: 'ACTIVITY_TYPE_DELETE_TVC_DEPLOYMENT',
    intentKey: 'deleteTvcDeploymentIntent',
    resultKey: 'deleteTvcDeploymentResult',
  },
  deleteUserTags: {
    kind: 'activity',
    name: 'delete_user_tags',
    path: '/public/v1/submit/delete_user_tags',
    type: 'ACTIVITY_TYPE_DELETE_USER_TAGS',
    intentKey: 'deleteUserTagsIntent',
    resultKey: 'deleteUserTagsResult',
  },
  deleteUsers: {
    kind: 'activity',
    name: 'delete_users',
    path: '/public/v1/submit/delete_users',
    type: 'ACTIVITY_TYPE_DELETE_USERS',
    intentKey: 'deleteUsersIntent',
    resultKey: 'deleteUsersResult',
  },
  deleteVelocityControl: {
    kind: 'activity',
    name: 'delete_velocity_control',
    path: '/public/v1/submit/delete_velocity_control',
    type: 'ACTIVITY_TYPE_DELETE_VELOCITY_CONTROL',
    intentKey: 'deleteVelocityControlIntent',
    resultKey: 'deleteVelocityControlResult',
  },
  deleteWalletAccounts: {
    kind: 'activity',
    name: 'delete_wallet_accounts',
    path: '/public/v1/submit/delete_wallet_accounts',
    type: 'ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS',
    intentKey: 'deleteWalletAccountsIntent',
    resultKey: 'deleteWalletAccountsResult',
  },
  deleteWallets: {
    kind: 'activity',
    name: 'delete_wallets',
    path: '/public/v1/submit/delete_wallets',
    type: 'ACTIVITY_TYPE_DELETE_WALLETS',
    intentKey: 'deleteWalletsIntent',
    resultKey: 'deleteWalletsResult',
  },
  deleteWebhookEndpoint: {
    kind: 'activity',
    name: 'delete_webhook_endpoint',
    path: '/public/v1/submit/delete_webhook_endpoint',
    type: 'ACTIVITY_TYPE_DELETE_WEBHOOK_ENDPOINT',
    intentKey: 'deleteWebhookEndpointIntent',
    resultKey: 'deleteWebhookEndpointResult',
  },
  describeActivities: {
    kind: 'query',
    name: 'describe_activities',
    path: '/public/v1/query/describe_activities',
  },
  describeActivity: {
    kind: 'query',
    name: 'describe_activity',
    path: '/public/v1/query/describe_activity',
  },
  describePolicies: {
    kind: 'query',
    name: 'describe_policies',
    path: '/public/v1/query/describe_policies',
  },
  describePolicy: {
    kind: 'query',
    name: 'describe_policy',
    path: '/public/v1/query/describe_policy',
  },
  disableAuthProxy: {
    kind: 'activity',
    name: 'disable_auth_proxy',
    path: '/public/v1/submit/disable_auth_proxy',
    type: 'ACTIVITY_TYPE_DISABLE_AUTH_PROXY',
    intentKey: 'disableAuthProxyIntent',
    resultKey: 'disableAuthProxyResult',
  },
  earnDeployWrapper: {
    kind: 'activity',
    name: 'earn_deploy_wrapper',
    path: '/public/v1/submit/earn_deploy_wrapper',
    type: 'ACTIVITY_TYPE_EARN_DEPLOY_WRAPPER',
    intentKey: 'earnDeployWrapperIntent',
    resultKey: 'earnDeployWrapperResult',
  },
  earnDeposit: {
    kind: 'activity',
    name: 'earn_deposit',
    path: '/public/v1/submit/earn_deposit',
    type: 'ACTIVITY_TYPE_EARN_DEPOSIT',
    intentKey: 'earnDepositIntent',
    resultKey: 'earnDepositResult',
  },
  earnSetWrapperState: {
    kind: 'activity',
    name: 'earn_set_wrapper_state',
    path: '/public/v1/submit/earn_set_wrapper_state',
    type: 'ACTIVITY_TYPE_EARN_SET_WRAPPER_STATE',
    intentKey: 'earnSetWrapperStateIntent',
    resultKey: 'earnSetWrapperStateResult',
  },
  earnWithdraw: {
    kind: 'activity',
    name: 'earn_withdraw',
    path: '/public/v1/submit/earn_withdraw',
    type: 'ACTIVITY_TYPE_EARN_WITHDRAW',
    intentKey: 'earnWithdrawIntent',
    resultKey: 'earnWithdrawResult',
  },
  emailAuth: {
    kind: 'activity',
    name: 'email_auth',
    path: '/public/v1/submit/email_auth',
    type: 'ACTIVITY_TYPE_EMAIL_AUTH_V3',
    intentKey: 'emailAuthIntentV3',
    resultKey: 'emailAuthResult',
  },
  enableAuthProxy: {
    kind: 'activity',
    name: 'enable_auth_proxy',
    path: '/public/v1/submit/enable_auth_proxy',
    type: 'ACTIVITY_TYPE_ENABLE_AUTH_PROXY',
    intentKey: 'enableAuthProxyIntent',
    resultKey: 'enableAuthProxyResult',
  },
  ethSendRawTransaction: {
    kind: 'activity',
    name: 'eth_send_raw_transaction',
    path: '/public/v1/submit/eth_send_raw_transaction',
    type: 'ACTIVITY_TYPE_ETH_SEND_RAW_TRANSACTION',
    intentKey: 'ethSendRawTransactionIntent',
    resultKey: 'ethSendRawTransactionResult',
  },
  ethSendTransaction: {
    kind: 'activity',
    name: 'eth_send_transaction',
    path: '/public/v1/submit/eth_send_transaction',
    type: 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION_V2',
    intentKey: 'ethSendTransactionIntentV2',
    resultKey: 'ethSendTransactionResultV2',
  },
  exportPrivateKey: {
    kind: 'activity',
    name: 'export_private_key',
    path: '/public/v1/submit/export_private_key',
    type: 'ACTIVITY_TYPE_EXPORT_PRIVATE_KEY',
    intentKey: 'exportPrivateKeyIntent',
    resultKey: 'exportPrivateKeyResult',
  },
  exportSecrets: {
    kind: 'activity',
    name: 'export_secrets',
    path: '/public/v1/submit/export_secrets',
    type: 'ACTIVITY_TYPE_EXPORT_SECRETS',
    intentKey: 'exportSecretsIntent',
    resultKey: 'exportSecretsResult',
  },
  exportWallet: {
    kind: 'activity',
    name: 'export_wallet',
    path: '/public/v1/submit/export_wallet',
    type: 'ACTIVITY_TYPE_EXPORT_WALLET',
    intentKey: 'exportWalletIntent',
    resultKey: 'exportWalletResult',
  },
  exportWalletAccount: {
    kind: 'activity',
    name: 'export_wallet_account',
    path: '/public/v1/submit/export_wallet_account',
    type: 'ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT',
    intentKey: 'exportWalletAccountIntent',
    resultKey: 'exportWalletAccountResult',
  },
  getActivePolicies: {
    kind: 'query',
    name: 'get_active_policies',
    path: '/public/v1/query/get_active_policies',
  },
  getActivity: {
    kind: 'query',
    name: 'get_activity',
    path: '/public/v1/query/get_activity',
  },
  getActivityVotes: {
    kind: 'query',
    name: 'get_activity_votes',
    path: '/public/v1/query/get_activity_votes',
  },
  getApiKey: {
    kind: 'query',
    name: 'get_api_key',
    path: '/public/v1/query/get_api_key',
  },
  getApiKeys: {
    kind: 'query',
    name: 'get_api_keys',
    path: '/public/v1/query/get_api_keys',
  },
  getAppStatus: {
    kind: 'query',
    name: 'get_app_status',
    path: '/public/v1/query/get_app_status',
  },
  getApproval: {
    kind: 'query',
    name: 'get_approval',
    path: '/public/v1/query/get_approval',
  },
  getAuthProxyConfig: {
    kind: 'query',
    name: 'get_auth_proxy_config',
    path: '/public/v1/query/get_auth_proxy_config',
  },
  getAuthenticator: {
    kind: 'query',
    name: 'get_authenticator',
    path: '/public/v1/query/get_authenticator',
  },
  getAuthenticators: {
    kind: 'query',
    name: 'get_authenticators',
    path: '/public/v1/query/get_authenticators',
  },
  getClaimEarnFeesStatus: {
    kind: 'query',
    name: 'get_claim_earn_fees_status',
    path: '/public/v1/query/get_claim_earn_fees_status',
  },
  getEarnDeployStatus: {
    kind: 'query',
    name: 'get_earn_deploy_status',
    path: '/public/v1/query/get_earn_deploy_status',
  },
  getEarnDepositStatus: {
    kind: 'query',
    name: 'get_earn_deposit_status',
    path: '/public/v1/query/get_earn_deposit_status',
  },
  getEarnWithdrawStatus: {
    kind: 'query',
    name: 'get_earn_withdraw_status',
    path: '/public/v1/query/get_earn_withdraw_status',
  },
  getGasUsage: {
    kind: 'query',
    name: 'get_gas_usage',
    path: '/public/v1/query/get_gas_usage',
  },
  getIpAllowlist: {
    kind: 'query',
    name: 'get_ip_allowlist',
    path: '/public/v1/query/get_ip_allowlist',
  },
  getMfaPolicies: {
    kind: 'query',
    name: 'get_mfa_policies',
    path: '/public/v1/query/get_mfa_policies',
  },
  getMfaPolicy: {
    kind: 'query',
    name: 'get_mfa_policy',
    path: '/public/v1/query/get_mfa_policy',
  },
  getMfaStatus: {
    kind: 'query',
    name: 'get_mfa_status',
    path: '/public/v1/query/get_mfa_status',
  },
  getNonces: {
    kind: 'query',
    name: 'get_nonces',
    path: '/public/v1/query/get_nonces',
  },
  getOauth2Credential: {
    kind: 'query',
    name: 'get_oauth2_credential',
    path: '/public/v1/query/get_oauth2_credential',
  },
  getOauthProviders: {
    kind: 'query',
    name: 'get_oauth_providers',
    path: '/public/v1/query/get_oauth_providers',
  },
  getOnrampTransactionStatus: {
    kind: 'query',
    name: 'get_onramp_transaction_status',
    path: '/public/v1/query/get_onramp_transaction_status',
  },
  getOperations: {
    kind: 'query',
    name: 'get_operations',
    path: '/public/v1/query/get_operations',
  },
  getOrganization: {
    kind: 'query',
    name: 'get_organization',
    path: '/public/v1/query/get_organization',
  },
  getOrganizationConfigs: {
    kind: 'query',
    name: 'get_organization_configs',
    path: '/public/v1/query/get_organization_configs',
  },
  getPolicy: {
    kind: 'query',
    name: 'get_policy',
    path: '/public/v1/query/get_policy',
  },
  getPolicyEvaluations: {
    kind: 'query',
    name: 'get_policy_evaluations',
    path: '/public/v1/query/get_policy_evaluations',
  },
  getPrivateKey: {
    kind: 'query',
    name: 'get_private_key',
    path: '/public/v1/query/get_private_key',
  },
  getRecoveryKit: {
    kind: 'query',
    name: 'get_recovery_kit',
    path: '/public/v1/query/get_recovery_kit',
  },
  getSendTransactionStatus: {
    kind: 'query',
    name: 'get_send_transaction_status',
    path: '/public/v1/query/get_send_transaction_status',
  },
  getSessionProfile: {
    kind: 'query',
    name: 'get_session_profile',
    path: '/public/v1/query/get_session_profile',
  },
  getSessionProfiles: {
    kind: 'query',
    name: 'get_session_profiles',
    path: '/public/v1/query/get_session_profiles',
  },
  getSmartContractInterface: {
    kind: 'query',
    name: 'get_smart_contract_interface',
    path: '/public/v1/query/get_smart_contract_interface',
  },
  getTvcApp: {
    kind: 'query',
    name: 'get_tvc_app',
    path: '/public/v1/query/get_tvc_app',
  },
  getTvcDeployment: {
    kind: 'query',
    name: 'get_tvc_deployment',
    path: '/public/v1/query/get_tvc_deployment',
  },
  getUser: {
    kind: 'query',
    name: 'get_user',
    path: '/public/v1/query/get_user',
  },
  getVelocityControl: {
    kind: 'query',
    name: 'get_velocity_control',
    path: '/public/v1/query/get_velocity_control',
  },
  getWallet: {
    kind: 'query',
    name: 'get_wallet',
    path: '/public/v1/query/get_wallet',
  },
  getWalletAccount: {
    kind: 'query',
    name: 'get_wallet_account',
    path: '/public/v1/query/get_wallet_account',
  },
  getWalletAddressBalances: {
    kind: 'query',
    name: 'get_wallet_address_balances',
    path: '/public/v1/query/get_wallet_address_balances',
  },
  getWebhookDelivery: {
    kind: 'query',
    name: 'get_webhook_delivery',
    path: '/public/v1/query/get_webhook_delivery',
  },
  getWebhookStatistics: {
    kind: 'query',
    name: 'get_webhook_statistics',
    path: '/public/v1/query/get_webhook_statistics',
  },
  importPrivateKey: {
    kind: 'activity',
    name: 'import_private_key',
    path: '/public/v1/submit/import_private_key',
    type: 'ACTIVITY_TYPE_IMPORT_PRIVATE_KEY',
    intentKey: 'importPrivateKeyIntent',
    resultKey: 'importPrivateKeyResult',
  },
  importSecrets: {
    kind: 'activity',
    name: 'import_secrets',
    path: '/public/v1/submit/import_secrets',
    type: 'ACTIVITY_TYPE_IMPORT_SECRETS',
    intentKey: 'importSecretsIntent',
    resultKey: 'importSecretsResult',
  },
  importWallet: {
    kind: 'activity',
    name: 'import_wallet',
    path: '/public/v1/submit/import_wallet',
    type: 'ACTIVITY_TYPE_IMPORT_WALLET',
    intentKey: 'importWalletIntent',
    resultKey: 'importWalletResult',
  },
  initFiatOnRamp: {
    kind: 'activity',
    name: 'init_fiat_on_ramp',
    path: '/public/v1/submit/init_fiat_on_ramp',
    type: 'ACTIVITY_TYPE_INIT_FIAT_ON_RAMP',
    intentKey: 'initFiatOnRampIntent',
    resultKey: 'initFiatOnRampResult',
  },
  initImportPrivateKey: {
    kind: 'activity',
    name: 'init_import_private_key',
    path: '/public/v1/submit/init_import_private_key',
    type: 'ACTIVITY_TYPE_INIT_IMPORT_PRIVATE_KEY',
    intentKey: 'initImportPrivateKeyIntent',
    resultKey: 'initImportPrivateKeyResult',
  },
  initImportSecrets: {
    kind: 'activity',
    name: 'init_import_secrets',
    path: '/public/v1/submit/init_import_secrets',
    type: 'ACTIVITY_TYPE_INIT_IMPORT_SECRETS',
    intentKey: 'initImportSecretsIntent',
    resultKey: 'initImportSecretsResult',
  },
  initImportWallet: {
    kind: 'activity',
    name: 'init_import_wallet',
    path: '/public/v1/submit/init_import_wallet',
    type: 'ACTIVITY_TYPE_INIT_IMPORT_WALLET',
    intentKey: 'initImportWalletIntent',
    resultKey: 'initImportWalletResult',
  },
  initOtp: {
    kind: 'activity',
    name: 'init_otp',
    path: '/public/v1/submit/init_otp',
    type: 'ACTIVITY_TYPE_INIT_OTP_V3',
    intentKey: 'initOtpIntentV3',
    resultKey: 'initOtpResultV2',
  },
  initOtpAuth: {
    kind: 'activity',
    name: 'init_otp_auth',
    path: '/public/v1/submit/init_otp_auth',
    type: 'ACTIVITY_TYPE_INIT_OTP_AUTH_V3',
    intentKey: 'initOtpAuthIntentV3',
    resultKey: 'initOtpAuthResultV2',
  },
  initUserEmailRecovery: {
    kind: 'activity',
    name: 'init_user_email_recovery',
    path: '/public/v1/submit/init_user_email_recovery',
    type: 'ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY_V2',
    intentKey: 'initUserEmailRecoveryIntentV2',
    resultKey: 'initUserEmailRecoveryResult',
  },
  listActivities: {
    kind: 'query',
    name: 'list_activities',
    path: '/public/v1/query/list_activities',
  },
  listAppProofs: {
    kind: 'query',
    name: 'list_app_proofs',
    path: '/public/v1/query/list_app_proofs',
  },
  listApprovals: {
    kind: 'query',
    name: 'list_approvals',
    path: '/public/v1/query/list_approvals',
  },
  listChains: {
    kind: 'query',
    name: 'list_chains',
    path: '/public/v1/query/list_chains',
  },
  listCredentials: {
    kind: 'query',
    name: 'list_credentials',
    path: '/public/v1/query/list_credentials',
  },
  listEarnEnabledVaults: {
    kind: 'query',
    name: 'list_earn_enabled_vaults',
    path: '/public/v1/query/list_earn_enabled_vaults',
  },
  listEarnPositionHistory: {
    kind: 'query',
    name: 'list_earn_position_history',
    path: '/public/v1/query/list_earn_position_history',
  },
  listEarnPositions: {
    kind: 'query',
    name: 'list_earn_positions',
    path: '/public/v1/query/list_earn_positions',
  },
  listEarnVaults: {
    kind: 'query',
    name: 'list_earn_vaults',
    path: '/public/v1/query/list_earn_vaults',
  },
  listEmailEvents: {
    kind: 'query',
    name: 'list_email_events',
    path: '/public/v1/query/list_email_events',
  },
  listEthTransactionHistory: {
    kind: 'query',
    name: 'list_eth_transaction_history',
    path: '/public/v1/query/list_eth_transaction_history',
  },
  listFiatOnRampCredentials: {
    kind: 'query',
    name: 'list_fiat_on_ramp_credentials',
    path: '/public/v1/query/list_fiat_on_ramp_credentials',
  },
  listInvitations: {
    kind: 'query',
    name: 'list_invitations',
    path: '/public/v1/query/list_invitations',
  },
  listOauth2Credentials: {
    kind: 'query',
    name: 'list_oauth2_credentials',
    path: '/public/v1/query/list_oauth2_credentials',
  },
  listPolicies: {
    kind: 'query',
    name: 'list_policies',
    path: '/public/v1/query/list_policies',
  },
  listPrivateKeyTags: {
    kind: 'query',
    name: 'list_private_key_tags',
    path: '/public/v1/query/list_private_key_tags',
  },
  listPrivateKeys: {
    kind: 'query',
    name: 'list_private_keys',
    path: '/public/v1/query/list_private_keys',
  },
  listRecoveryKits: {
    kind: 'query',
    name: 'list_recovery_kits',
    path: '/public/v1/query/list_recovery_kits',
  },
  listSecrets: {
    kind: 'query',
    name: 'list_secrets',
    path: '/public/v1/query/list_secrets',
  },
  listSends: {
    kind: 'query',
    name: 'list_sends',
    path: '/public/v1/query/list_sends',
  },
  listSmartContractInterfaces: {
    kind: 'query',
    name: 'list_smart_contract_interfaces',
    path: '/public/v1/query/list_smart_contract_interfaces',
  },
  listSuborgs: {
    kind: 'query',
    name: 'list_suborgs',
    path: '/public/v1/query/list_suborgs',
  },
  listSupportedAssets: {
    kind: 'query',
    name: 'list_supported_assets',
    path: '/public/v1/query/list_supported_assets',
  },
  listTvcAppDeployments: {
    kind: 'query',
    name: 'list_tvc_app_deployments',
    path: '/public/v1/query/list_tvc_app_deployments',
  },
  listTvcApps: {
    kind: 'query',
    name: 'list_tvc_apps',
    path: '/public/v1/query/list_tvc_apps',
  },
  listTvcOperators: {
    kind: 'query',
    name: 'list_tvc_operators',
    path: '/public/v1/query/list_tvc_operators',
  },
  listTvcQuorumKeys: {
    kind: 'query',
    name: 'list_tvc_quorum_keys',
    path: '/public/v1/query/list_tvc_quorum_keys',
  },
  listUserSummaries: {
    kind: 'query',
    name: 'list_user_summaries',
    path: '/public/v1/query/list_user_summaries',
  },
  listUserTags: {
    kind: 'query',
    name: 'list_user_tags',
    path: '/public/v1/query/list_user_tags',
  },
  listUsers: {
    kind: 'query',
    name: 'list_users',
    path: '/public/v1/query/list_users',
  },
  listVelocityControls: {
    kind: 'query',
    name: 'list_velocity_controls',
    path: '/public/v1/query/list_velocity_controls',
  },
  listVelocityUsage: {
    kind: 'query',
    name: 'list_velocity_usage',
    path: '/public/v1/query/list_velocity_usage',
  },
  listVerifiedSuborgs: {
    kind: 'query',
    name: 'list_verified_suborgs',
    path: '/public/v1/query/list_verified_suborgs',
  },
  listWalletAccounts: {
    kind: 'query',
    name: 'list_wallet_accounts',
    path: '/public/v1/query/list_wallet_accounts',
  },
  listWallets: {
    kind: 'query',
    name: 'list_wallets',
    path: '/public/v1/query/list_wallets',
  },
  listWebhookDeliveries: {
    kind: 'query',
    name: 'list_webhook_deliveries',
    path: '/public/v1/query/list_webhook_deliveries',
  },
  listWebhookEndpoints: {
    kind: 'query',
    name: 'list_webhook_endpoints',
    path: '/public/v1/query/list_webhook_endpoints',
  },
  oauth: {
    kind: 'activity',
    name: 'oauth',
    path: '/public/v1/submit/oauth',
    type: 'ACTIVITY_TYPE_OAUTH',
    intentKey: 'oauthIntent',
    resultKey: 'oauthResult',
  },
  oauth2Authenticate: {
    kind: 'activity',
    name: 'oauth2_authenticate',
    path: '/public/v1/submit/oauth2_authenticate',
    type: 'ACTIVITY_TYPE_OAUTH2_AUTHENTICATE',
    intentKey: 'oauth2AuthenticateIntent',
    resultKey: 'oauth2AuthenticateResult',
  },
  oauthLogin: {
    kind: 'activity',
    name: 'oauth_login',
    path: '/public/v1/submit/oauth_login',
    type: 'ACTIVITY_TYPE_OAUTH_LOGIN',
    intentKey: 'oauthLoginIntent',
    resultKey: 'oauthLoginResult',
  },
  otpAuth: {
    kind: 'activity',
    name: 'otp_auth',
    path: '/public/v1/submit/otp_auth',
    type: 'ACTIVITY_TYPE_OTP_AUTH',
    intentKey: 'otpAuthIntent',
    resultKey: 'otpAuthResult',
  },
  otpLogin: {
    kind: 'activity',
    name: 'otp_login',
    path: '/public/v1/submit/otp_login',
    type: 'ACTIVITY_TYPE_OTP_LOGIN_V2',
    intentKey: 'otpLoginIntentV2',
    resultKey: 'otpLoginResult',
  },
  recordEmailEvent: {
    kind: 'activity',
    name: 'record_email_event',
    path: '/public/v1/submit/record_email_event',
    type: 'ACTIVITY_TYPE_RECORD_EMAIL_EVENT',
    intentKey: 'recordEmailEventIntent',
    resultKey: 'recordEmailEventResult',
  },
  recoverUser: {
    kind: 'activity',
    name: 'recover_user',
    path: '/public/v1/submit/recover_user',
    type: 'ACTIVITY_TYPE_RECOVER_USER',
    intentKey: 'recoverUserIntent',
    resultKey: 'recoverUserResult',
  },
  rejectActivity: {
    kind: 'vote',
    name: 'reject_activity',
    path: '/public/v1/submit/reject_activity',
    type: 'ACTIVITY_TYPE_REJECT_ACTIVITY',
  },
  removeIpAllowlist: {
    kind: 'activity',
    name: 'remove_ip_allowlist',
    path: '/public/v1/submit/remove_ip_allowlist',
    type: 'ACTIVITY_TYPE_REMOVE_IP_ALLOWLIST',
    intentKey: 'removeIpAllowlistIntent',
    resultKey: 'removeIpAllowlistResult',
  },
  removeOrganizationFeature: {
    kind: 'activity',
    name: 'remove_organization_feature',
    path: '/public/v1/submit/remove_organization_feature',
    type: 'ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE',
    intentKey: 'removeOrganizationFeatureIntent',
    resultKey: 'removeOrganizationFeatureResult',
  },
  replayWebhookDelivery: {
    kind: 'activity',
    name: 'replay_webhook_delivery',
    path: '/public/v1/submit/replay_webhook_delivery',
    type: 'ACTIVITY_TYPE_REPLAY_WEBHOOK_DELIVERY',
    intentKey: 'replayWebhookDeliveryIntent',
    resultKey: 'replayWebhookDeliveryResult',
  },
  restoreTvcDeployment: {
    kind: 'activity',
    name: 'restore_tvc_deployment',
    path: '/public/v1/submit/restore_tvc_deployment',
    type: 'ACTIVITY_TYPE_RESTORE_TVC_DEPLOYMENT',
    intentKey: 'restoreTvcDeploymentIntent',
    resultKey: 'restoreTvcDeploymentResult',
  },
  search: {
    kind: 'query',
    name: 'search',
    path: '/public/v1/query/search',
  },
  searchSubOrganizations: {
    kind: 'query',
    name: 'search_sub_organizations',
    path: '/public/v1/query/search_sub_organizations',
  },
  setIpAllowlist: {
    kind: 'activity',
    name: 'set_ip_allowlist',
    path: '/public/v1/submit/set_ip_allowlist',
    type: 'ACTIVITY_TYPE_SET_IP_ALLOWLIST',
    intentKey: 'setIpAllowlistIntent',
    resultKey: 'setIpAllowlistResult',
  },
  setOrganizationFeature: {
    kind: 'activity',
    name: 'set_organization_feature',
    path: '/public/v1/submit/set_organization_feature',
    type: 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE',
    intentKey: 'setOrganizationFeatureIntent',
    resultKey: 'setOrganizationFeatureResult',
  },
  setTvcAppLiveDeployment: {
    kind: 'activity',
    name: 'set_tvc_app_live_deployment',
    path: '/public/v1/submit/set_tvc_app_live_deployment',
    type: 'ACTIVITY_TYPE_UPDATE_TVC_APP_LIVE_DEPLOYMENT',
    intentKey: 'updateTvcAppLiveDeploymentIntent',
    resultKey: 'updateTvcAppLiveDeploymentResult',
  },
  signRawPayload: {
    kind: 'activity',
    name: 'sign_raw_payload',
    path: '/public/v1/submit/sign_raw_payload',
    type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
    intentKey: 'signRawPayloadIntentV2',
    resultKey: 'signRawPayloadResult',
  },
  signRawPayloads: {
    kind: 'activity',
    name: 'sign_raw_payloads',
    path: '/public/v1/submit/sign_raw_payloads',
    type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOADS',
    intentKey: 'signRawPayloadsIntent',
    resultKey: 'signRawPayloadsResult',
  },
  signTransaction: {
    kind: 'activity',
    name: 'sign_transaction',
    path: '/public/v1/submit/sign_transaction',
    type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
    intentKey: 'signTransactionIntentV2',
    resultKey: 'signTransactionResult',
  },
  simulateActivity: {
    kind: 'query',
    name: 'simulate_activity',
    path: '/public/v1/query/simulate_activity',
  },
  solSendTransaction: {
    kind: 'activity',
    name: 'sol_send_transaction',
    path: '/public/v1/submit/sol_send_transaction',
    type: 'ACTIVITY_TYPE_SOL_SEND_TRANSACTION_V2',
    intentKey: 'solSendTransactionIntentV2',
    resultKey: 'solSendTransactionResultV2',
  },
  stampLogin: {
    kind: 'activity',
    name: 'stamp_login',
    path: '/public/v1/submit/stamp_login',
    type: 'ACTIVITY_TYPE_STAMP_LOGIN',
    intentKey: 'stampLoginIntent',
    resultKey: 'stampLoginResult',
  },
  testWebhookEndpoint: {
    kind: 'activity',
    name: 'test_webhook_endpoint',
    path: '/public/v1/submit/test_webhook_endpoint',
    type: 'ACTIVITY_TYPE_TEST_WEBHOOK_ENDPOINT',
    intentKey: 'testWebhookEndpointIntent',
    resultKey: 'testWebhookEndpointResult',
  },
  updateAuthProxyConfig: {
    kind: 'activity',
    name: 'update_auth_proxy_config',
    path: '/public/v1/submit/update_auth_proxy_config',
    type: 'ACTIVITY_TYPE_UPDATE_AUTH_PROXY_CONFIG',
    intentKey: 'updateAuthProxyConfigIntent',
    resultKey: 'updateAuthProxyConfigResult',
  },
  updateFiatOnRampCredential: {
    kind: 'activity',
    name: 'update_fiat_on_ramp_credential',
    path: '/public/v1/submit/update_fiat_on_ramp_credential',
    type: 'ACTIVITY_TYPE_UPDATE_FIAT_ON_RAMP_CREDENTIAL',
    intentKey: 'updateFiatOnRampCredentialIntent',
    resultKey: 'updateFiatOnRampCredentialResult',
  },
  updateMfaPolicy: {
    kind: 'activity',
    name: 'update_mfa_policy',
    path: '/public/v1/submit/update_mfa_policy',
    type: 'ACTIVITY_TYPE_UPDATE_MFA_POLICY',
    intentKey: 'updateMfaPolicyIntent',
    resultKey: 'updateMfaPolicyResult',
  },
  updateOauth2Credential: {
    kind: 'activity',
    name: 'update_oauth2_credential',
    path: '/public/v1/submit/update_oauth2_credential',
    type: 'ACTIVITY_TYPE_UPDATE_OAUTH2_CREDENTIAL',
    intentKey: 'updateOauth2CredentialIntent',
    resultKey: 'updateOauth2CredentialResult',
  },
  updateOrganizationName: {
    kind: 'activity',
    name: 'update_organization_name',
    path: '/public/v1/submit/update_organization_name',
    type: 'ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME',
    intentKey: 'updateOrganizationNameIntent',
    resultKey: 'updateOrganizationNameResult',
  },
  updatePolicy: {
    kind: 'activity',
    name: 'update_policy',
    path: '/public/v1/submit/update_policy',
    type: 'ACTIVITY_TYPE_UPDATE_POLICY_V2',
    intentKey: 'updatePolicyIntentV2',
    resultKey: 'updatePolicyResultV2',
  },
  updatePrivateKeyTag: {
    kind: 'activity',
    name: 'update_private_key_tag',
    path: '/public/v1/submit/update_private_key_tag',
    type: 'ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG',
    intentKey: 'updatePrivateKeyTagIntent',
    resultKey: 'updatePrivateKeyTagResult',
  },
  updateRootQuorum: {
    kind: 'activity',
    name: 'update_root_quorum',
    path: '/public/v1/submit/update_root_quorum',
    type: 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM',
    intentKey: 'updateRootQuorumIntent',
    resultKey: 'updateRootQuorumResult',
  },
  updateUser: {
    kind: 'activity',
    name: 'update_user',
    path: '/public/v1/submit/update_user',
    type: 'ACTIVITY_TYPE_UPDATE_USER',
    intentKey: 'updateUserIntent',
    resultKey: 'updateUserResult',
  },
  updateUserEmail: {
    kind: 'activity',
    name: 'update_user_email',
    path: '/public/v1/submit/update_user_email',
    type: 'ACTIVITY_TYPE_UPDATE_USER_EMAIL',
    intentKey: 'updateUserEmailIntent',
    resultKey: 'updateUserEmailResult',
  },
  updateUserName: {
    kind: 'activity',
    name: 'update_user_name',
    path: '/public/v1/submit/update_user_name',
    type: 'ACTIVITY_TYPE_UPDATE_USER_NAME',
    intentKey: 'updateUserNameIntent',
    resultKey: 'updateUserNameResult',
  },
  updateUserPhoneNumber: {
    kind: 'activity',
    name: 'update_user_phone_number',
    path: '/public/v1/submit/update_user_phone_number',
    type: 'ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER',
    intentKey: 'updateUserPhoneNumberIntent',
    resultKey: 'updateUserPhoneNumberResult',
  },
  updateUserTag: {
    kind: 'activity',
    name: 'update_user_tag',
    path: '/public/v1/submit/update_user_tag',
    type: 'ACTIVITY_TYPE_UPDATE_USER_TAG',
    intentKey: 'updateUserTagIntent',
    resultKey: 'updateUserTagResult',
  },
  updateWallet: {
    kind: 'activity',
    name: 'update_wallet',
    path: '/public/v1/submit/update_wallet',
    type: 'ACTIVITY_TYPE_UPDATE_WALLET',
    intentKey: 'updateWalletIntent',
    resultKey: 'updateWalletResult',
  },
  updateWebhookEndpoint: {
    kind: 'activity',
    name: 'update_webhook_endpoint',
    path: '/public/v1/submit/update_webhook_endpoint',
    type: 'ACTIVITY_TYPE_UPDATE_WEBHOOK_ENDPOINT',
    intentKey: 'updateWebhookEndpointIntent',
    resultKey: 'updateWebhookEndpointResult',
  },
  upsertGasUsageConfig: {
    kind: 'activity',
    name: 'upsert_gas_usage_config',
    path: '/public/v1/submit/upsert_gas_usage_config',
    type: 'ACTIVITY_TYPE_UPSERT_GAS_USAGE_CONFIG',
    intentKey: 'upsertGasUsageConfigIntent',
    resultKey: 'upsertGasUsageConfigResult',
  },
  verifyOtp: {
    kind: 'activity',
    name: 'verify_otp',
    path: '/public/v1/submit/verify_otp',
    type: 'ACTIVITY_TYPE_VERIFY_OTP_V2',
    intentKey: 'verifyOtpIntentV2',
    resultKey: 'verifyOtpResult',
  },
  whoami: {
    kind: 'query',
    name: 'whoami',
    path: '/public/v1/query/whoami',
  },
} as const;

/** Every error code of the service, with its gRPC number and HTTP status. */
export const ERROR_CODES = {
  REQUEST_INVALID: { grpcCode: 3, httpStatus: 400 },
  INVALID_ORGANIZATION_ID: { grpcCode: 3, httpStatus: 400 },
  ORGANIZATION_MISMATCH: { grpcCode: 3, httpStatus: 400 },
  INVALID_ACTIVITY_CALLER: { grpcCode: 3, httpStatus: 400 },
  INVALID_QUORUM: { grpcCode: 3, httpStatus: 400 },
  INVALID_API_KEY_EXPIRATION: { grpcCode: 3, httpStatus: 400 },
  INVALID_PUBLIC_KEY: { grpcCode: 3, httpStatus: 400 },
  INVALID_ATTESTATION: { grpcCode: 3, httpStatus: 400 },
  INVALID_EMAIL: { grpcCode: 3, httpStatus: 400 },
  INVALID_FQDN: { grpcCode: 3, httpStatus: 400 },
  INVALID_FEATURE_VALUE: { grpcCode: 3, httpStatus: 400 },
  INVALID_CURVE: { grpcCode: 3, httpStatus: 400 },
  INVALID_PATH_FORMAT: { grpcCode: 3, httpStatus: 400 },
  INVALID_PATH: { grpcCode: 3, httpStatus: 400 },
  INVALID_ADDRESS_FORMAT: { grpcCode: 3, httpStatus: 400 },
  INVALID_TRANSACTION: { grpcCode: 3, httpStatus: 400 },
  UNSUPPORTED_TRANSACTION_TYPE: { grpcCode: 3, httpStatus: 400 },
  INVALID_PAYLOAD_ENCODING: { grpcCode: 3, httpStatus: 400 },
  INVALID_HASH_FUNCTION: { grpcCode: 3, httpStatus: 400 },
  INVALID_BUNDLE: { grpcCode: 3, httpStatus: 400 },
  WALLET_ACCOUNT_NOT_EXPORTED: { grpcCode: 3, httpStatus: 400 },
  INVALID_POLICY_CONDITION: { grpcCode: 3, httpStatus: 400 },
  INVALID_POLICY_CONSENSUS: { grpcCode: 3, httpStatus: 400 },
  POLICY_LABEL_NOT_UNIQUE: { grpcCode: 3, httpStatus: 400 },
  INVALID_TIME: { grpcCode: 3, httpStatus: 400 },
  INVALID_EXPRESSION: { grpcCode: 3, httpStatus: 400 },
  INVALID_CONTRACT_INTERFACE: { grpcCode: 3, httpStatus: 400 },
  INVALID_OTP_CODE: { grpcCode: 3, httpStatus: 400 },
  INVALID_VERIFICATION_TOKEN: { grpcCode: 3, httpStatus: 400 },
  INVALID_CLIENT_SIGNATURE: { grpcCode: 3, httpStatus: 400 },
  INVALID_OIDC_TOKEN: { grpcCode: 3, httpStatus: 400 },
  INVALID_OAUTH2_PROVIDER: { grpcCode: 9, httpStatus: 400 },
  OAUTH2_PROVIDER_NOT_CONFIGURED: { grpcCode: 9, httpStatus: 400 },
  OAUTH2_EXCHANGE_FAILED: { grpcCode: 3, httpStatus: 400 },
  ON_RAMP_PROVIDER_FAILED: { grpcCode: 3, httpStatus: 400 },
  INVALID_CAPTCHA: { grpcCode: 3, httpStatus: 400 },
  INVALID_WEBHOOK_URL: { grpcCode: 3, httpStatus: 400 },
  INVALID_WEBHOOK_FILTER: { grpcCode: 3, httpStatus: 400 },
  ON_RAMP_NOT_CONFIGURED: { grpcCode: 9, httpStatus: 400 },
  CHAIN_NOT_CONFIGURED: { grpcCode: 9, httpStatus: 400 },
  CREDENTIALS_IN_USE: { grpcCode: 9, httpStatus: 400 },
  SPONSORSHIP_NOT_CONFIGURED: { grpcCode: 9, httpStatus: 400 },
  EARN_SETUP_REQUIRED: { grpcCode: 9, httpStatus: 400 },
  EARN_DEPOSITS_DISABLED: { grpcCode: 9, httpStatus: 400 },
  EARN_NOTHING_TO_CLAIM: { grpcCode: 9, httpStatus: 400 },
  EARN_NOTHING_TO_WITHDRAW: { grpcCode: 9, httpStatus: 400 },
  EARN_VAULT_NOT_SERVED: { grpcCode: 3, httpStatus: 400 },
  IP_LOCKOUT: { grpcCode: 9, httpStatus: 400 },
  RESULT_TOO_LARGE: { grpcCode: 3, httpStatus: 400 },
  FAILED_PRECONDITION: { grpcCode: 9, httpStatus: 400 },
  ACTIVITY_ALREADY_DECIDED: { grpcCode: 9, httpStatus: 400 },
  FENCED: { grpcCode: 9, httpStatus: 400 },
  ISSUED_BEFORE_RESTORE: { grpcCode: 9, httpStatus: 400 },
  SIGNATURE_MISSING: { grpcCode: 16, httpStatus: 401 },
  SIGNATURE_INVALID: { grpcCode: 16, httpStatus: 401 },
  PUBLIC_KEY_NOT_FOUND: { grpcCode: 16, httpStatus: 401 },
  CREDENTIAL_NOT_FOUND: { grpcCode: 16, httpStatus: 401 },
  CREDENTIAL_CONFLICT: { grpcCode: 16, httpStatus: 401 },
  API_KEY_EXPIRED: { grpcCode: 16, httpStatus: 401 },
  UNAUTHENTICATED: { grpcCode: 16, httpStatus: 401 },
  LINK_INVALID: { grpcCode: 16, httpStatus: 401 },
  LINK_USED: { grpcCode: 16, httpStatus: 401 },
  LINK_EXPIRED: { grpcCode: 16, httpStatus: 401 },
  REQUEST_NOT_AUTHORIZED: { grpcCode: 7, httpStatus: 403 },
  IP_NOT_ALLOWED: { grpcCode: 7, httpStatus: 403 },
  FEATURE_DISABLED: { grpcCode: 7, httpStatus: 403 },
  VELOCITY_EXCEEDED: { grpcCode: 7, httpStatus: 403 },
  VELOCITY_UNCOUNTED: { grpcCode: 7, httpStatus: 403 },
  AUTH_METHOD_DISALLOWED: { grpcCode: 7, httpStatus: 403 },
  ORIGIN_NOT_ALLOWED: { grpcCode: 7, httpStatus: 403 },
  AUTH_PROXY_CONFIG_MISSING: { grpcCode: 16, httpStatus: 401 },
  AUTH_PROXY_CONFIG_NOT_FOUND: { grpcCode: 5, httpStatus: 404 },
  OAUTH2_CREDENTIAL_NOT_FOUND: { grpcCode: 5, httpStatus: 404 },
  WEBHOOK_ENDPOINT_NOT_FOUND: { grpcCode: 5, httpStatus: 404 },
  WEBHOOK_DELIVERY_NOT_FOUND: { grpcCode: 5, httpStatus: 404 },
  ORGANIZATION_NOT_FOUND: { grpcCode: 5, httpStatus: 404 },
  ACTIVITY_NOT_FOUND: { grpcCode: 5, httpStatus: 404 },
  RESOURCE_NOT_FOUND: { grpcCode: 5, httpStatus: 404 },
  PATH_NOT_FOUND: { grpcCode: 5, httpStatus: 404 },
  ALREADY_EXISTS: { grpcCode: 6, httpStatus: 409 },
  OAUTH_PROVIDER_ALREADY_EXISTS: { grpcCode: 6, httpStatus: 409 },
  CONFLICT: { grpcCode: 10, httpStatus: 409 },
  RESOURCE_LIMIT_EXCEEDED: { grpcCode: 8, httpStatus: 429 },
  RATE_LIMIT_EXCEEDED: { grpcCode: 8, httpStatus: 429 },
  MAX_OTP_INITIATED: { grpcCode: 8, httpStatus: 429 },
  UNIMPLEMENTED: { grpcCode: 12, httpStatus: 501 },
  UNAVAILABLE: { grpcCode: 14, httpStatus: 503 },
  RPC_CALL_ERROR: { grpcCode: 14, httpStatus: 503 },
  EMAIL_SENDING_DISABLED: { grpcCode: 14, httpStatus: 503 },
  SMS_SENDING_DISABLED: { grpcCode: 14, httpStatus: 503 },
  BODY_TOO_LARGE: { grpcCode: 3, httpStatus: 413 },
  HEADER_TOO_LARGE: { grpcCode: 3, httpStatus: 431 },
  UNSUPPORTED_MEDIA_TYPE: { grpcCode: 3, httpStatus: 415 },
  METHOD_NOT_ALLOWED: { grpcCode: 3, httpStatus: 405 },
  INTEGRITY_VIOLATION: { grpcCode: 13, httpStatus: 500 },
  INTERNAL: { grpcCode: 13, httpStatus: 500 },
} as const;
