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
        type: string;
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

/** Parameters of create_sub_organization. */
export interface CreateSubOrganizationParameters {
  subOrganizationName: string;
  rootQuorumThreshold: number;
  rootUsers: RootUserParams[];
  wallet?: {
    walletName: string;
    accounts: unknown[];
  };
  disableEmailRecovery?: boolean;
  disableEmailAuth?: boolean;
  disableSmsAuth?: boolean;
  disableOtpEmailAuth?: boolean;
  verificationToken?: string;
  clientSignature?: {
    publicKey: string;
    scheme: string;
    message: string;
    signature: string;
  };
}

/** Result of create_sub_organization. */
export interface CreateSubOrganizationResult {
  subOrganizationId: string;
  rootUserIds: string[];
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

/** Parameters of delete_invitation. */
export interface DeleteInvitationParameters {
  invitationId: string;
}

/** Result of delete_invitation. */
export interface DeleteInvitationResult {
  invitationId: string;
}

/** Parameters of delete_sub_organization. */
export interface DeleteSubOrganizationParameters {
  deleteWithoutExport?: boolean;
}

/** Result of delete_sub_organization. */
export interface DeleteSubOrganizationResult {
  subOrganizationUuid: string;
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

/** Parameters of get_activity. */
export interface GetActivityParameters {
  activityId: string;
}

/** Answer of get_activity. */
export interface GetActivityResponse {
  activity: Activity;
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

/** Parameters of get_organization. */
export interface GetOrganizationParameters {}

/** Answer of get_organization. */
export interface GetOrganizationResponse {
  organizationData: {
    organizationId: string;
    name: string;
    users: User[];
    policies: unknown[];
    privateKeys: unknown[];
    invitations: Invitation[];
    tags: Tag[];
    rootQuorum: Quorum;
    features: Feature[];
    wallets: unknown[];
    smartContractInterfaceReferences: unknown[];
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

/** Parameters of get_user. */
export interface GetUserParameters {
  userId: string;
}

/** Answer of get_user. */
export interface GetUserResponse {
  user: User;
}

/** Parameters of list_activities. */
export interface ListActivitiesParameters {
  filterByStatus?: ActivityStatus[];
  filterByType?: string[];
  paginationOptions?: PaginationOptions;
}

/** Answer of list_activities. */
export interface ListActivitiesResponse {
  activities: Activity[];
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
    | 'OIDC_TOKEN'
    | 'WALLET_ACCOUNT_ADDRESS';
  filterValue?: string;
  paginationOptions?: PaginationOptions;
}

/** Answer of list_suborgs. */
export interface ListSuborgsResponse {
  organizationIds: string[];
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

/** Parameters of reject_activity. */
export interface RejectActivityParameters {
  fingerprint: string;
}

/** Parameters of remove_organization_feature. */
export interface RemoveOrganizationFeatureParameters {
  name: FeatureName;
}

/** Result of remove_organization_feature. */
export interface RemoveOrganizationFeatureResult {
  features: Feature[];
}

/** Parameters of set_organization_feature. */
export interface SetOrganizationFeatureParameters {
  name: FeatureName;
  value: string;
}

/** Result of set_organization_feature. */
export interface SetOrganizationFeatureResult {
  features: Feature[];
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
  /** Record invitations to the organization. The sender is the user who proposes the activity. */
  createInvitations(
    parameters: CreateInvitationsParameters,
    options?: SubmitOptions,
  ): Promise<CreateInvitationsResult & { activity: Activity }>;
  /** Create an isolated sub-organization with its own root users. */
  createSubOrganization(
    parameters: CreateSubOrganizationParameters,
    options?: SubmitOptions,
  ): Promise<CreateSubOrganizationResult & { activity: Activity }>;
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
  /** Revoke an invitation that nobody has accepted. */
  deleteInvitation(
    parameters: DeleteInvitationParameters,
    options?: SubmitOptions,
  ): Promise<DeleteInvitationResult & { activity: Activity }>;
  /** Delete this sub-organization; its own users decide, its parent cannot. Activities stay readable to the parent. */
  deleteSubOrganization(
    parameters?: DeleteSubOrganizationParameters,
    options?: SubmitOptions,
  ): Promise<DeleteSubOrganizationResult & { activity: Activity }>;
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
  /** One activity of the organization, or of one of its sub-organizations. */
  getActivity(parameters: GetActivityParameters, options?: QueryOptions): Promise<GetActivityResponse>;
  /** One API key. */
  getApiKey(parameters: GetApiKeyParameters, options?: QueryOptions): Promise<GetApiKeyResponse>;
  /** API keys of a user, or of the whole organization; oldest first. */
  getApiKeys(parameters?: GetApiKeysParameters, options?: QueryOptions): Promise<GetApiKeysResponse>;
  /** One passkey. */
  getAuthenticator(parameters: GetAuthenticatorParameters, options?: QueryOptions): Promise<GetAuthenticatorResponse>;
  /** Passkeys of a user, oldest first. */
  getAuthenticators(
    parameters: GetAuthenticatorsParameters,
    options?: QueryOptions,
  ): Promise<GetAuthenticatorsResponse>;
  /** Everything in the organization at once; large ones are read through the lists. */
  getOrganization(parameters?: GetOrganizationParameters, options?: QueryOptions): Promise<GetOrganizationResponse>;
  /** Features and root quorum of the organization. */
  getOrganizationConfigs(
    parameters?: GetOrganizationConfigsParameters,
    options?: QueryOptions,
  ): Promise<GetOrganizationConfigsResponse>;
  /** One user with its credentials and tags. */
  getUser(parameters: GetUserParameters, options?: QueryOptions): Promise<GetUserResponse>;
  /** Activities of the organization, newest first. */
  listActivities(parameters?: ListActivitiesParameters, options?: QueryOptions): Promise<ListActivitiesResponse>;
  /** Ids of sub-organizations, oldest first; optionally those that hold a name, contact or credential. */
  listSuborgs(parameters?: ListSuborgsParameters, options?: QueryOptions): Promise<ListSuborgsResponse>;
  /** User tags of the organization, oldest first. */
  listUserTags(parameters?: ListUserTagsParameters, options?: QueryOptions): Promise<ListUserTagsResponse>;
  /** Users of the organization, oldest first. */
  listUsers(parameters?: ListUsersParameters, options?: QueryOptions): Promise<ListUsersResponse>;
  /** Ids of sub-organizations whose email or phone number is verified, oldest first. */
  listVerifiedSuborgs(
    parameters?: ListVerifiedSuborgsParameters,
    options?: QueryOptions,
  ): Promise<ListVerifiedSuborgsResponse>;
  /** Reject a pending activity by its fingerprint; one rejection is final. The answer is that activity. */
  rejectActivity(parameters: RejectActivityParameters, options?: SubmitOptions): Promise<{ activity: Activity }>;
  /** Remove a feature of the organization. Needs the root quorum. */
  removeOrganizationFeature(
    parameters: RemoveOrganizationFeatureParameters,
    options?: SubmitOptions,
  ): Promise<RemoveOrganizationFeatureResult & { activity: Activity }>;
  /** Set a feature of the organization. Needs the root quorum. */
  setOrganizationFeature(
    parameters: SetOrganizationFeatureParameters,
    options?: SubmitOptions,
  ): Promise<SetOrganizationFeatureResult & { activity: Activity }>;
  /** Change the name of the organization. Needs the root quorum. */
  updateOrganizationName(
    parameters: UpdateOrganizationNameParameters,
    options?: SubmitOptions,
  ): Promise<UpdateOrganizationNameResult & { activity: Activity }>;
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
  /** Change the email of a user; the empty string removes it. */
  updateUserEmail(
    parameters: UpdateUserEmailParameters,
    options?: SubmitOptions,
  ): Promise<UpdateUserEmailResult & { activity: Activity }>;
  /** Change the display name of a user. */
  updateUserName(
    parameters: UpdateUserNameParameters,
    options?: SubmitOptions,
  ): Promise<UpdateUserNameResult & { activity: Activity }>;
  /** Change the phone number of a user; the empty string removes it. */
  updateUserPhoneNumber(
    parameters: UpdateUserPhoneNumberParameters,
    options?: SubmitOptions,
  ): Promise<UpdateUserPhoneNumberResult & { activity: Activity }>;
  /** Rename a user tag, and give it to or take it from users. */
  updateUserTag(
    parameters: UpdateUserTagParameters,
    options?: SubmitOptions,
  ): Promise<UpdateUserTagResult & { activity: Activity }>;
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
  createInvitations: {
    kind: 'activity',
    name: 'create_invitations',
    path: '/public/v1/submit/create_invitations',
    type: 'ACTIVITY_TYPE_CREATE_INVITATIONS',
    intentKey: 'createInvitationsIntent',
    resultKey: 'createInvitationsResult',
  },
  createSubOrganization: {
    kind: 'activity',
    name: 'create_sub_organization',
    path: '/public/v1/submit/create_sub_organization',
    type: 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8',
    intentKey: 'createSubOrganizationIntentV8',
    resultKey: 'createSubOrganizationResultV8',
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
  deleteInvitation: {
    kind: 'activity',
    name: 'delete_invitation',
    path: '/public/v1/submit/delete_invitation',
    type: 'ACTIVITY_TYPE_DELETE_INVITATION',
    intentKey: 'deleteInvitationIntent',
    resultKey: 'deleteInvitationResult',
  },
  deleteSubOrganization: {
    kind: 'activity',
    name: 'delete_sub_organization',
    path: '/public/v1/submit/delete_sub_organization',
    type: 'ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION',
    intentKey: 'deleteSubOrganizationIntent',
    resultKey: 'deleteSubOrganizationResult',
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
  getActivity: {
    kind: 'query',
    name: 'get_activity',
    path: '/public/v1/query/get_activity',
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
  getUser: {
    kind: 'query',
    name: 'get_user',
    path: '/public/v1/query/get_user',
  },
  listActivities: {
    kind: 'query',
    name: 'list_activities',
    path: '/public/v1/query/list_activities',
  },
  listSuborgs: {
    kind: 'query',
    name: 'list_suborgs',
    path: '/public/v1/query/list_suborgs',
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
  listVerifiedSuborgs: {
    kind: 'query',
    name: 'list_verified_suborgs',
    path: '/public/v1/query/list_verified_suborgs',
  },
  rejectActivity: {
    kind: 'vote',
    name: 'reject_activity',
    path: '/public/v1/submit/reject_activity',
    type: 'ACTIVITY_TYPE_REJECT_ACTIVITY',
  },
  removeOrganizationFeature: {
    kind: 'activity',
    name: 'remove_organization_feature',
    path: '/public/v1/submit/remove_organization_feature',
    type: 'ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE',
    intentKey: 'removeOrganizationFeatureIntent',
    resultKey: 'removeOrganizationFeatureResult',
  },
  setOrganizationFeature: {
    kind: 'activity',
    name: 'set_organization_feature',
    path: '/public/v1/submit/set_organization_feature',
    type: 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE',
    intentKey: 'setOrganizationFeatureIntent',
    resultKey: 'setOrganizationFeatureResult',
  },
  updateOrganizationName: {
    kind: 'activity',
    name: 'update_organization_name',
    path: '/public/v1/submit/update_organization_name',
    type: 'ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME',
    intentKey: 'updateOrganizationNameIntent',
    resultKey: 'updateOrganizationNameResult',
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
  INVALID_FEATURE_VALUE: { grpcCode: 3, httpStatus: 400 },
  INVALID_PATH: { grpcCode: 3, httpStatus: 400 },
  INVALID_ADDRESS_FORMAT: { grpcCode: 3, httpStatus: 400 },
  INVALID_TRANSACTION: { grpcCode: 3, httpStatus: 400 },
  UNSUPPORTED_TRANSACTION_TYPE: { grpcCode: 3, httpStatus: 400 },
  INVALID_PAYLOAD_ENCODING: { grpcCode: 3, httpStatus: 400 },
  INVALID_HASH_FUNCTION: { grpcCode: 3, httpStatus: 400 },
  INVALID_BUNDLE: { grpcCode: 3, httpStatus: 400 },
  WALLET_ACCOUNT_NOT_EXPORTED: { grpcCode: 3, httpStatus: 400 },
  RESULT_TOO_LARGE: { grpcCode: 3, httpStatus: 400 },
  FAILED_PRECONDITION: { grpcCode: 9, httpStatus: 400 },
  ACTIVITY_ALREADY_DECIDED: { grpcCode: 9, httpStatus: 400 },
  SIGNATURE_MISSING: { grpcCode: 16, httpStatus: 401 },
  SIGNATURE_INVALID: { grpcCode: 16, httpStatus: 401 },
  PUBLIC_KEY_NOT_FOUND: { grpcCode: 16, httpStatus: 401 },
  CREDENTIAL_NOT_FOUND: { grpcCode: 16, httpStatus: 401 },
  CREDENTIAL_CONFLICT: { grpcCode: 16, httpStatus: 401 },
  API_KEY_EXPIRED: { grpcCode: 16, httpStatus: 401 },
  UNAUTHENTICATED: { grpcCode: 16, httpStatus: 401 },
  REQUEST_NOT_AUTHORIZED: { grpcCode: 7, httpStatus: 403 },
  ORGANIZATION_NOT_FOUND: { grpcCode: 5, httpStatus: 404 },
  ACTIVITY_NOT_FOUND: { grpcCode: 5, httpStatus: 404 },
  RESOURCE_NOT_FOUND: { grpcCode: 5, httpStatus: 404 },
  PATH_NOT_FOUND: { grpcCode: 5, httpStatus: 404 },
  ALREADY_EXISTS: { grpcCode: 6, httpStatus: 409 },
  CONFLICT: { grpcCode: 10, httpStatus: 409 },
  RESOURCE_LIMIT_EXCEEDED: { grpcCode: 8, httpStatus: 429 },
  RATE_LIMIT_EXCEEDED: { grpcCode: 8, httpStatus: 429 },
  UNIMPLEMENTED: { grpcCode: 12, httpStatus: 501 },
  UNAVAILABLE: { grpcCode: 14, httpStatus: 503 },
  BODY_TOO_LARGE: { grpcCode: 3, httpStatus: 413 },
  HEADER_TOO_LARGE: { grpcCode: 3, httpStatus: 431 },
  UNSUPPORTED_MEDIA_TYPE: { grpcCode: 3, httpStatus: 415 },
  METHOD_NOT_ALLOWED: { grpcCode: 3, httpStatus: 405 },
  INTERNAL: { grpcCode: 13, httpStatus: 500 },
} as const;
