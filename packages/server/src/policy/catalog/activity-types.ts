/** What policies call the things that activities touch (protocol/policy-facts 1.2). */
export type PolicyResource = keyof typeof KINDS;
export type PolicyAction = 'CREATE' | 'UPDATE' | 'DELETE' | 'SIGN' | 'EXPORT' | 'IMPORT' | 'VERIFY' | 'ENCRYPT';

type KindRow = readonly [action: PolicyAction, kind: string, versions?: number];

/**
 * Every governed kind by resource, with how many versions its type has had. Beyond the published table: the later versions
 * and missing types of the wire contract, and velocity controls and secrets.
 */
const KINDS = {
  ORGANIZATION: [
    ['DELETE', 'DELETE_ORGANIZATION'],
    ['CREATE', 'CREATE_SUB_ORGANIZATION', 8],
    ['DELETE', 'DELETE_SUB_ORGANIZATION'],
  ],
  INVITATION: [
    ['CREATE', 'CREATE_INVITATIONS'],
    ['UPDATE', 'ACCEPT_INVITATION', 2],
    ['DELETE', 'DELETE_INVITATION'],
  ],
  POLICY: [
    ['CREATE', 'CREATE_POLICY', 3],
    ['DELETE', 'DELETE_POLICY'],
    ['UPDATE', 'UPDATE_POLICY', 2],
    ['CREATE', 'CREATE_POLICIES'],
    ['DELETE', 'DELETE_POLICIES'],
    ['CREATE', 'CREATE_VELOCITY_CONTROL'],
    ['DELETE', 'DELETE_VELOCITY_CONTROL'],
  ],
  SMART_CONTRACT_INTERFACE: [
    ['CREATE', 'CREATE_SMART_CONTRACT_INTERFACE'],
    ['DELETE', 'DELETE_SMART_CONTRACT_INTERFACE'],
  ],
  WALLET: [
    ['CREATE', 'CREATE_WALLET'],
    ['CREATE', 'CREATE_WALLET_ACCOUNTS'],
    ['EXPORT', 'EXPORT_WALLET'],
    ['EXPORT', 'EXPORT_WALLET_ACCOUNT'],
    ['IMPORT', 'INIT_IMPORT_WALLET'],
    ['IMPORT', 'IMPORT_WALLET'],
    ['DELETE', 'DELETE_WALLETS'],
    ['UPDATE', 'UPDATE_WALLET'],
    ['DELETE', 'DELETE_WALLET_ACCOUNTS'],
    ['UPDATE', 'UPDATE_WALLET_ACCOUNT_NAME'],
  ],
  PRIVATE_KEY: [
    ['CREATE', 'CREATE_PRIVATE_KEYS', 2],
    ['SIGN', 'SIGN_RAW_PAYLOAD', 2],
    ['DELETE', 'DISABLE_PRIVATE_KEY'],
    ['SIGN', 'SIGN_TRANSACTION', 2],
    ['CREATE', 'CREATE_PRIVATE_KEY_TAG'],
    ['DELETE', 'DELETE_PRIVATE_KEY_TAGS'],
    ['UPDATE', 'UPDATE_PRIVATE_KEY_TAG'],
    ['EXPORT', 'EXPORT_PRIVATE_KEY'],
    ['IMPORT', 'INIT_IMPORT_PRIVATE_KEY'],
    ['IMPORT', 'IMPORT_PRIVATE_KEY'],
    ['SIGN', 'SIGN_RAW_PAYLOADS'],
    ['DELETE', 'DELETE_PRIVATE_KEYS'],
    ['SIGN', 'ETH_SEND_RAW_TRANSACTION'],
    ['SIGN', 'ETH_SEND_TRANSACTION', 2],
    ['SIGN', 'SOL_SEND_TRANSACTION', 2],
    ['SIGN', 'SPARK_SIGN_FROST'],
    ['SIGN', 'SPARK_PREPARE_TRANSFER'],
    ['SIGN', 'SPARK_CLAIM_TRANSFER'],
    ['SIGN', 'SPARK_PREPARE_LIGHTNING_RECEIVE'],
    ['SIGN', 'EARN_DEPOSIT'],
    ['SIGN', 'EARN_WITHDRAW'],
    ['SIGN', 'EXECUTE_SWAP', 3],
    ['SIGN', 'CLAIM_SWAP_FEES'],
    ['SIGN', 'CLAIM_EARN_FEES'],
    ['SIGN', 'ETH_UNDELEGATE_7702'],
    ['SIGN', 'EARN_CLAIM_REWARDS'],
  ],
  USER: [
    ['CREATE', 'CREATE_USERS', 4],
    ['DELETE', 'DELETE_USERS'],
    ['CREATE', 'CREATE_USER_TAG'],
    ['DELETE', 'DELETE_USER_TAGS'],
    ['CREATE', 'CREATE_API_ONLY_USERS'],
    ['UPDATE', 'UPDATE_USER_TAG'],
    ['UPDATE', 'UPDATE_USER'],
    ['UPDATE', 'UPDATE_USER_NAME'],
    ['UPDATE', 'UPDATE_USER_EMAIL'],
    ['UPDATE', 'UPDATE_USER_PHONE_NUMBER'],
  ],
  CREDENTIAL: [
    ['CREATE', 'CREATE_API_KEYS', 2],
    ['DELETE', 'DELETE_API_KEYS'],
    ['DELETE', 'DELETE_AUTHENTICATORS'],
    ['CREATE', 'CREATE_AUTHENTICATORS', 2],
    ['CREATE', 'CREATE_OAUTH_PROVIDERS', 2],
    ['DELETE', 'DELETE_OAUTH_PROVIDERS'],
  ],
  PAYMENT_METHOD: [
    ['UPDATE', 'SET_PAYMENT_METHOD', 2],
    ['DELETE', 'DELETE_PAYMENT_METHOD'],
    ['UPDATE', 'UPDATE_PAYMENT_METHOD'],
  ],
  SUBSCRIPTION: [['CREATE', 'ACTIVATE_BILLING_TIER']],
  CONFIG: [
    ['UPDATE', 'UPDATE_ALLOWED_ORIGINS'],
    ['UPDATE', 'SET_IP_ALLOWLIST'],
    ['DELETE', 'REMOVE_IP_ALLOWLIST'],
    ['CREATE', 'EARN_DEPLOY_WRAPPER'],
    ['UPDATE', 'UPSERT_SWAP_CONFIG'],
    ['UPDATE', 'EARN_SET_WRAPPER_STATE'],
    ['VERIFY', 'CREATE_SWAP_QUOTE', 2],
  ],
  RECOVERY: [
    ['CREATE', 'INIT_USER_EMAIL_RECOVERY', 2],
    ['UPDATE', 'RECOVER_USER'],
  ],
  AUTH: [
    ['CREATE', 'EMAIL_AUTH', 3],
    ['CREATE', 'CREATE_READ_ONLY_SESSION'],
    ['CREATE', 'OAUTH'],
    ['CREATE', 'CREATE_READ_WRITE_SESSION', 2],
    ['CREATE', 'INIT_OTP_AUTH', 3],
    ['CREATE', 'OTP_AUTH'],
    ['CREATE', 'OTP_LOGIN', 2],
    ['CREATE', 'STAMP_LOGIN'],
    ['CREATE', 'OAUTH_LOGIN'],
    ['CREATE', 'CREATE_OAUTH2_CREDENTIAL'],
    ['UPDATE', 'UPDATE_OAUTH2_CREDENTIAL'],
    ['DELETE', 'DELETE_OAUTH2_CREDENTIAL'],
    ['CREATE', 'OAUTH2_AUTHENTICATE'],
  ],
  OTP: [
    ['CREATE', 'INIT_OTP', 3],
    ['VERIFY', 'VERIFY_OTP', 2],
  ],
  AUTH_PROXY: [
    ['CREATE', 'ENABLE_AUTH_PROXY'],
    ['DELETE', 'DISABLE_AUTH_PROXY'],
    ['UPDATE', 'UPDATE_AUTH_PROXY_CONFIG'],
  ],
  WEBHOOK_ENDPOINT: [
    ['CREATE', 'CREATE_WEBHOOK_ENDPOINT'],
    ['UPDATE', 'UPDATE_WEBHOOK_ENDPOINT'],
    ['DELETE', 'DELETE_WEBHOOK_ENDPOINT'],
    ['UPDATE', 'REPLAY_WEBHOOK_DELIVERY'],
    ['VERIFY', 'TEST_WEBHOOK_ENDPOINT'],
  ],
  MFA_POLICY: [
    ['CREATE', 'CREATE_MFA_POLICY'],
    ['UPDATE', 'UPDATE_MFA_POLICY'],
    ['DELETE', 'DELETE_MFA_POLICY'],
  ],
  SESSION_PROFILE: [['CREATE', 'CREATE_SESSION_PROFILE']],
  ON_RAMP_CREDENTIALS: [
    ['CREATE', 'CREATE_FIAT_ON_RAMP_CREDENTIAL'],
    ['UPDATE', 'UPDATE_FIAT_ON_RAMP_CREDENTIAL'],
    ['DELETE', 'DELETE_FIAT_ON_RAMP_CREDENTIAL'],
  ],
  FIAT_TRANSACTION: [['CREATE', 'INIT_FIAT_ON_RAMP']],
  EMAIL_EVENT: [['CREATE', 'RECORD_EMAIL_EVENT']],
  SPONSORSHIP: [['UPDATE', 'UPSERT_GAS_USAGE_CONFIG']],
  TVC_APP: [
    ['CREATE', 'CREATE_TVC_APP'],
    ['UPDATE', 'UPDATE_TVC_APP_LIVE_DEPLOYMENT'],
    ['DELETE', 'DELETE_TVC_APP_AND_DEPLOYMENTS'],
  ],
  TVC_DEPLOYMENT: [
    ['CREATE', 'CREATE_TVC_DEPLOYMENT'],
    ['UPDATE', 'CREATE_TVC_MANIFEST_APPROVALS'],
    ['DELETE', 'DELETE_TVC_DEPLOYMENT'],
    ['UPDATE', 'RESTORE_TVC_DEPLOYMENT'],
    ['UPDATE', 'POST_TVC_QUORUM_KEY_SHARE'],
  ],
  TVC_OPERATOR: [['CREATE', 'CREATE_TVC_OPERATOR']],
  TVC_QUORUM_KEY: [
    ['CREATE', 'CREATE_TVC_QUORUM_KEY'],
    ['ENCRYPT', 'RE_ENCRYPT_TVC_QUORUM_KEY_SHARE'],
  ],
  SECRET: [
    ['IMPORT', 'INIT_IMPORT_SECRETS'],
    ['IMPORT', 'IMPORT_SECRETS'],
    ['EXPORT', 'EXPORT_SECRETS'],
    ['DELETE', 'DELETE_SECRETS'],
  ],
} as const satisfies Readonly<Record<string, readonly KindRow[]>>;

/** How an activity type is decided: by policies, by the root quorum alone, or not here at all. */
export type ActivityTypeFacts =
  | {
      readonly governedBy: 'policy';
      readonly type: string;
      readonly kind: string;
      readonly resource: PolicyResource;
      readonly action: PolicyAction;
    }
  | { readonly governedBy: 'rootQuorum' | 'none'; readonly type: string };

/** Policies can neither grant nor shorten these. */
const ROOT_QUORUM_TYPES = [
  'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM',
  'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE',
  'ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE',
  'ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME',
] as const;

/** Votes have rules of their own, and the operator makes parent organizations. */
const UNGOVERNED_TYPES = [
  'ACTIVITY_TYPE_APPROVE_ACTIVITY',
  'ACTIVITY_TYPE_REJECT_ACTIVITY',
  'ACTIVITY_TYPE_CREATE_ORGANIZATION',
  'ACTIVITY_TYPE_CREATE_ORGANIZATION_V2',
] as const;

const versionedTypes = (kind: string, versions: number): string[] => [
  `ACTIVITY_TYPE_${kind}`,
  ...Array.from({ length: versions - 1 }, (_, index) => `ACTIVITY_TYPE_${kind}_V${index + 2}`),
];

/** All activity types, the governed ones first. */
export const ACTIVITY_TYPES: readonly ActivityTypeFacts[] = [
  ...(Object.entries(KINDS) as [PolicyResource, readonly KindRow[]][]).flatMap(([resource, rows]) =>
    rows.flatMap(([action, kind, versions = 1]) =>
      versionedTypes(kind, versions).map((type) => ({ governedBy: 'policy' as const, type, kind, resource, action })),
    ),
  ),
  ...ROOT_QUORUM_TYPES.map((type) => ({ governedBy: 'rootQuorum' as const, type })),
  ...UNGOVERNED_TYPES.map((type) => ({ governedBy: 'none' as const, type })),
];

const BY_TYPE: ReadonlyMap<string, ActivityTypeFacts> = new Map(ACTIVITY_TYPES.map((row) => [row.type, row]));

/** How policies see an activity type; undefined for one that is in no table. */
export const activityType = (type: string): ActivityTypeFacts | undefined => BY_TYPE.get(type);

/** What a user may do to its own account without a policy (protocol/policies 8.3, step 7). */
export const OWN_ACCOUNT_KINDS: ReadonlySet<string> = new Set([
  'CREATE_API_KEYS',
  'DELETE_API_KEYS',
  'CREATE_AUTHENTICATORS',
  'DELETE_AUTHENTICATORS',
  'CREATE_OAUTH_PROVIDERS',
  'DELETE_OAUTH_PROVIDERS',
  'STAMP_LOGIN',
  'CREATE_READ_ONLY_SESSION',
  'CREATE_READ_WRITE_SESSION',
]);

/** As above, but only with a credential that was made for it. */
export const RECOVERY_KIND = 'RECOVER_USER';
export const RECOVERY_CREDENTIAL_TYPE = 'CREDENTIAL_TYPE_RECOVER_USER_KEY_P256';

const PARENT_RUN_KINDS: ReadonlySet<string> = new Set([
  'EMAIL_AUTH',
  'INIT_OTP',
  'VERIFY_OTP',
  'INIT_OTP_AUTH',
  'OTP_AUTH',
  'OTP_LOGIN',
  'OAUTH',
  'OAUTH_LOGIN',
  'INIT_USER_EMAIL_RECOVERY',
]);

/** What the sign-up proxy does with its own key (protocol/sign-up-proxy 4.2). */
const PROXY_RUN_KINDS: ReadonlySet<string> = new Set([
  'INIT_OTP',
  'VERIFY_OTP',
  'OTP_LOGIN',
  'OAUTH_LOGIN',
  'OAUTH2_AUTHENTICATE',
  'CREATE_SUB_ORGANIZATION',
]);

/** Whether a rule of the service allows it to the sign-up proxy (protocol/sign-up-proxy 4.2). */
export function isProxyRun(type: string): boolean {
  const row = activityType(type);
  return row?.governedBy === 'policy' && PROXY_RUN_KINDS.has(row.kind);
}

/**
 * Whether a parent may run it in a sub-organization; then quorum, users and policies of the parent decide
 * (protocol/consensus 5.2).
 */
export function isParentRun(type: string): boolean {
  const row = activityType(type);
  return row?.governedBy === 'policy' && PARENT_RUN_KINDS.has(row.kind);
}
