import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { ActivityOperation, Operation } from './engine/define.ts';
import { WIRE_PROXY_CALLS, WIRE_QUERIES, WIRE_SUBMITS } from './reference/wire-operations.ts';
import {
  activities,
  BOOTSTRAP_TYPE,
  operationOfType,
  operations,
  pathOf,
  queries,
  votes,
  wireKeysOfType,
} from './registry.ts';

const folder = fileURLToPath(new URL('./domains/', import.meta.url));
const allTypes = activities.flatMap((operation) => [
  ...operation.versions.map((version) => version.type),
  ...operation.unserved,
]);

/** The files in the domains' folders of operations. */
const files = readdirSync(folder).flatMap((domain) => {
  const operationFolder = join(folder, domain, 'operations');
  if (!existsSync(operationFolder)) return [];
  return readdirSync(operationFolder)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => ({ area: `${domain}/operations`, file, text: readFileSync(join(operationFolder, file), 'utf8') }));
});

describe('the list and the folder', () => {
  test('hold the same operations', () => {
    const defined = files.map(({ file }) => file.replace(/\.ts$/, '').replaceAll('-', '_'));
    expect(defined.sort()).toEqual(operations.map((operation) => operation.name).sort());
  });

  test.each(files.map(({ area, file, text }) => [`${area}/${file}`, text] as const))(
    '%s defines one operation, named after it',
    async (path, text) => {
      expect(text.match(/= define(Activity|Query|Vote)\(/g)).toHaveLength(1);
      const name = path.replace(/^.*\//, '').replace(/\.ts$/, '').replaceAll('-', '_');
      const variable = name.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
      const module = (await import(`./domains/${path}`)) as Record<string, Operation>;
      expect(Object.keys(module)).toEqual([variable]);
      expect(module[variable]?.name).toBe(name);
      expect(operations).toContain(module[variable]);
    },
  );
});

const namesOf = (has: (operation: ActivityOperation) => boolean): string[] =>
  activities
    .filter(has)
    .map(({ name }) => name)
    .sort();

describe('names', () => {
  test('are unique', () => {
    const names = operations.map((operation) => operation.name);
    expect(new Set(names).size).toBe(names.length);
    const paths = operations.map(pathOf);
    expect(new Set(paths).size).toBe(paths.length);
    const types = [...allTypes, ...votes.map((vote) => vote.type)];
    expect(new Set(types).size).toBe(types.length);
    expect(types).not.toContain(BOOTSTRAP_TYPE);
  });

  test('every operation of the wire protocol is in the list of known ones, ours is marked', () => {
    for (const operation of operations) {
      const known = operation.kind === 'query' ? WIRE_QUERIES : WIRE_SUBMITS;
      expect(known.includes(operation.name) || operation.ours, operation.name).toBe(true);
    }
    for (const list of [WIRE_QUERIES, WIRE_SUBMITS, WIRE_PROXY_CALLS]) expect(new Set(list).size).toBe(list.length);
  });

  test('lead to a path', () => {
    for (const operation of [...activities, ...votes]) {
      expect(pathOf(operation)).toBe(`/public/v1/submit/${operation.name}`);
    }
    for (const operation of queries) expect(pathOf(operation)).toBe(`/public/v1/query/${operation.name}`);
    expect(operations).toHaveLength(activities.length + votes.length + queries.length);
  });
});

/** Those whose path has another name in the wire protocol. */
const OTHER_TYPES: ReadonlyMap<string, string> = new Map([
  ['set_tvc_app_live_deployment', 'ACTIVITY_TYPE_UPDATE_TVC_APP_LIVE_DEPLOYMENT'],
]);

describe('types', () => {
  test.each(activities.map((operation) => [operation.name, operation] as const))('of %s', (name, operation) => {
    const base = OTHER_TYPES.get(name) ?? `ACTIVITY_TYPE_${name.toUpperCase()}`;
    for (const { type } of operation.versions) {
      expect(type.replace(/_V[0-9]+$/, '')).toBe(base);
      expect(operationOfType(type)).toBe(operation);
    }
    // The newest first: it is the one that the documents show.
    const versions = operation.versions.map(({ type }) => Number(/_V([0-9]+)$/.exec(type)?.[1] ?? 1));
    expect(versions).toEqual([...versions].sort((a, b) => b - a));
  });

  test('an unknown one is a bug', () => {
    expect(() => operationOfType('ACTIVITY_TYPE_NOTHING')).toThrow();
  });
});

describe('intent and result keys', () => {
  // protocol/activities 2.2, written out: a rule that is computed here as there would prove nothing.
  const EXPECTED: Readonly<Record<string, readonly [string, string]>> = {
    ACTIVITY_TYPE_CREATE_API_KEYS: ['createApiKeysIntent', 'createApiKeysResult'],
    ACTIVITY_TYPE_CREATE_API_KEYS_V2: ['createApiKeysIntentV2', 'createApiKeysResult'],
    ACTIVITY_TYPE_CREATE_API_ONLY_USERS: ['createApiOnlyUsersIntent', 'createApiOnlyUsersResult'],
    ACTIVITY_TYPE_CREATE_AUTHENTICATORS: ['createAuthenticatorsIntent', 'createAuthenticatorsResult'],
    ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2: ['createAuthenticatorsIntentV2', 'createAuthenticatorsResult'],
    ACTIVITY_TYPE_CREATE_INVITATIONS: ['createInvitationsIntent', 'createInvitationsResult'],
    ACTIVITY_TYPE_CREATE_RECOVERY_KIT: ['createRecoveryKitIntent', 'createRecoveryKitResult'],
    ACTIVITY_TYPE_DELETE_RECOVERY_KITS: ['deleteRecoveryKitsIntent', 'deleteRecoveryKitsResult'],
    ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION: ['createSubOrganizationIntent', 'createSubOrganizationResult'],
    ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V2: ['createSubOrganizationIntentV2', 'createSubOrganizationResult'],
    ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V3: ['createSubOrganizationIntentV3', 'createSubOrganizationResultV3'],
    ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V4: ['createSubOrganizationIntentV4', 'createSubOrganizationResultV4'],
    ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V5: ['createSubOrganizationIntentV5', 'createSubOrganizationResultV5'],
    ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V6: ['createSubOrganizationIntentV6', 'createSubOrganizationResultV6'],
    ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7: ['createSubOrganizationIntentV7', 'createSubOrganizationResultV7'],
    ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8: ['createSubOrganizationIntentV8', 'createSubOrganizationResultV8'],
    ACTIVITY_TYPE_CREATE_USERS: ['createUsersIntent', 'createUsersResult'],
    ACTIVITY_TYPE_CREATE_USERS_V2: ['createUsersIntentV2', 'createUsersResult'],
    ACTIVITY_TYPE_CREATE_USERS_V3: ['createUsersIntentV3', 'createUsersResult'],
    ACTIVITY_TYPE_CREATE_USERS_V4: ['createUsersIntentV4', 'createUsersResult'],
    ACTIVITY_TYPE_CREATE_USER_TAG: ['createUserTagIntent', 'createUserTagResult'],
    ACTIVITY_TYPE_DELETE_API_KEYS: ['deleteApiKeysIntent', 'deleteApiKeysResult'],
    ACTIVITY_TYPE_DELETE_AUTHENTICATORS: ['deleteAuthenticatorsIntent', 'deleteAuthenticatorsResult'],
    ACTIVITY_TYPE_DELETE_INVITATION: ['deleteInvitationIntent', 'deleteInvitationResult'],
    ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION: ['deleteSubOrganizationIntent', 'deleteSubOrganizationResult'],
    ACTIVITY_TYPE_DELETE_USERS: ['deleteUsersIntent', 'deleteUsersResult'],
    ACTIVITY_TYPE_DELETE_USER_TAGS: ['deleteUserTagsIntent', 'deleteUserTagsResult'],
    ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE: ['removeOrganizationFeatureIntent', 'removeOrganizationFeatureResult'],
    ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE: ['setOrganizationFeatureIntent', 'setOrganizationFeatureResult'],
    ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME: ['updateOrganizationNameIntent', 'updateOrganizationNameResult'],
    ACTIVITY_TYPE_UPDATE_ROOT_QUORUM: ['updateRootQuorumIntent', 'updateRootQuorumResult'],
    ACTIVITY_TYPE_UPDATE_USER: ['updateUserIntent', 'updateUserResult'],
    ACTIVITY_TYPE_UPDATE_USER_EMAIL: ['updateUserEmailIntent', 'updateUserEmailResult'],
    ACTIVITY_TYPE_UPDATE_USER_NAME: ['updateUserNameIntent', 'updateUserNameResult'],
    ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER: ['updateUserPhoneNumberIntent', 'updateUserPhoneNumberResult'],
    ACTIVITY_TYPE_UPDATE_USER_TAG: ['updateUserTagIntent', 'updateUserTagResult'],
    ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2: ['createPrivateKeysIntentV2', 'createPrivateKeysResultV2'],
    ACTIVITY_TYPE_CREATE_PRIVATE_KEYS: ['createPrivateKeysIntent', 'createPrivateKeysResult'],
    ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG: ['createPrivateKeyTagIntent', 'createPrivateKeyTagResult'],
    ACTIVITY_TYPE_CREATE_WALLET: ['createWalletIntent', 'createWalletResult'],
    ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS: ['createWalletAccountsIntent', 'createWalletAccountsResult'],
    ACTIVITY_TYPE_DELETE_PRIVATE_KEYS: ['deletePrivateKeysIntent', 'deletePrivateKeysResult'],
    ACTIVITY_TYPE_DELETE_PRIVATE_KEY_TAGS: ['deletePrivateKeyTagsIntent', 'deletePrivateKeyTagsResult'],
    ACTIVITY_TYPE_DELETE_SECRETS: ['deleteSecretsIntent', 'deleteSecretsResult'],
    ACTIVITY_TYPE_DELETE_WALLETS: ['deleteWalletsIntent', 'deleteWalletsResult'],
    ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS: ['deleteWalletAccountsIntent', 'deleteWalletAccountsResult'],
    ACTIVITY_TYPE_EXPORT_PRIVATE_KEY: ['exportPrivateKeyIntent', 'exportPrivateKeyResult'],
    ACTIVITY_TYPE_EXPORT_SECRETS: ['exportSecretsIntent', 'exportSecretsResult'],
    ACTIVITY_TYPE_EXPORT_WALLET: ['exportWalletIntent', 'exportWalletResult'],
    ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT: ['exportWalletAccountIntent', 'exportWalletAccountResult'],
    ACTIVITY_TYPE_IMPORT_PRIVATE_KEY: ['importPrivateKeyIntent', 'importPrivateKeyResult'],
    ACTIVITY_TYPE_IMPORT_SECRETS: ['importSecretsIntent', 'importSecretsResult'],
    ACTIVITY_TYPE_IMPORT_WALLET: ['importWalletIntent', 'importWalletResult'],
    ACTIVITY_TYPE_INIT_IMPORT_PRIVATE_KEY: ['initImportPrivateKeyIntent', 'initImportPrivateKeyResult'],
    ACTIVITY_TYPE_INIT_IMPORT_SECRETS: ['initImportSecretsIntent', 'initImportSecretsResult'],
    ACTIVITY_TYPE_INIT_IMPORT_WALLET: ['initImportWalletIntent', 'initImportWalletResult'],
    ACTIVITY_TYPE_SIGN_RAW_PAYLOAD: ['signRawPayloadIntent', 'signRawPayloadResult'],
    ACTIVITY_TYPE_SIGN_RAW_PAYLOADS: ['signRawPayloadsIntent', 'signRawPayloadsResult'],
    ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2: ['signRawPayloadIntentV2', 'signRawPayloadResult'],
    ACTIVITY_TYPE_SIGN_TRANSACTION: ['signTransactionIntent', 'signTransactionResult'],
    ACTIVITY_TYPE_SIGN_TRANSACTION_V2: ['signTransactionIntentV2', 'signTransactionResult'],
    ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG: ['updatePrivateKeyTagIntent', 'updatePrivateKeyTagResult'],
    ACTIVITY_TYPE_UPDATE_WALLET: ['updateWalletIntent', 'updateWalletResult'],
    ACTIVITY_TYPE_CREATE_MFA_POLICY: ['createMfaPolicyIntent', 'createMfaPolicyResult'],
    ACTIVITY_TYPE_CREATE_POLICIES: ['createPoliciesIntent', 'createPoliciesResult'],
    ACTIVITY_TYPE_CREATE_POLICY_V3: ['createPolicyIntentV3', 'createPolicyResult'],
    ACTIVITY_TYPE_CREATE_SESSION_PROFILE: ['createSessionProfileIntent', 'createSessionProfileResult'],
    ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE: [
      'createSmartContractInterfaceIntent',
      'createSmartContractInterfaceResult',
    ],
    ACTIVITY_TYPE_CREATE_VELOCITY_CONTROL: ['createVelocityControlIntent', 'createVelocityControlResult'],
    ACTIVITY_TYPE_DELETE_MFA_POLICY: ['deleteMfaPolicyIntent', 'deleteMfaPolicyResult'],
    ACTIVITY_TYPE_DELETE_POLICIES: ['deletePoliciesIntent', 'deletePoliciesResult'],
    ACTIVITY_TYPE_DELETE_POLICY: ['deletePolicyIntent', 'deletePolicyResult'],
    ACTIVITY_TYPE_DELETE_SMART_CONTRACT_INTERFACE: [
      'deleteSmartContractInterfaceIntent',
      'deleteSmartContractInterfaceResult',
    ],
    ACTIVITY_TYPE_DELETE_VELOCITY_CONTROL: ['deleteVelocityControlIntent', 'deleteVelocityControlResult'],
    ACTIVITY_TYPE_REMOVE_IP_ALLOWLIST: ['removeIpAllowlistIntent', 'removeIpAllowlistResult'],
    ACTIVITY_TYPE_SET_IP_ALLOWLIST: ['setIpAllowlistIntent', 'setIpAllowlistResult'],
    ACTIVITY_TYPE_UPDATE_MFA_POLICY: ['updateMfaPolicyIntent', 'updateMfaPolicyResult'],
    ACTIVITY_TYPE_UPDATE_POLICY: ['updatePolicyIntent', 'updatePolicyResult'],
    ACTIVITY_TYPE_UPDATE_POLICY_V2: ['updatePolicyIntentV2', 'updatePolicyResultV2'],
    ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION: ['createReadOnlySessionIntent', 'createReadOnlySessionResult'],
    ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION: ['createReadWriteSessionIntent', 'createReadWriteSessionResult'],
    ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2: ['createReadWriteSessionIntentV2', 'createReadWriteSessionResultV2'],
    ACTIVITY_TYPE_EMAIL_AUTH: ['emailAuthIntent', 'emailAuthResult'],
    ACTIVITY_TYPE_EMAIL_AUTH_V2: ['emailAuthIntentV2', 'emailAuthResult'],
    ACTIVITY_TYPE_EMAIL_AUTH_V3: ['emailAuthIntentV3', 'emailAuthResult'],
    ACTIVITY_TYPE_INIT_OTP: ['initOtpIntent', 'initOtpResult'],
    ACTIVITY_TYPE_INIT_OTP_V2: ['initOtpIntentV2', 'initOtpResult'],
    ACTIVITY_TYPE_INIT_OTP_V3: ['initOtpIntentV3', 'initOtpResultV2'],
    ACTIVITY_TYPE_INIT_OTP_AUTH: ['initOtpAuthIntent', 'initOtpAuthResult'],
    ACTIVITY_TYPE_INIT_OTP_AUTH_V2: ['initOtpAuthIntentV2', 'initOtpAuthResultV2'],
    ACTIVITY_TYPE_INIT_OTP_AUTH_V3: ['initOtpAuthIntentV3', 'initOtpAuthResultV2'],
    ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY: ['initUserEmailRecoveryIntent', 'initUserEmailRecoveryResult'],
    ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY_V2: ['initUserEmailRecoveryIntentV2', 'initUserEmailRecoveryResult'],
    ACTIVITY_TYPE_OTP_AUTH: ['otpAuthIntent', 'otpAuthResult'],
    ACTIVITY_TYPE_OTP_LOGIN: ['otpLoginIntent', 'otpLoginResult'],
    ACTIVITY_TYPE_OTP_LOGIN_V2: ['otpLoginIntentV2', 'otpLoginResult'],
    ACTIVITY_TYPE_RECOVER_USER: ['recoverUserIntent', 'recoverUserResult'],
    ACTIVITY_TYPE_STAMP_LOGIN: ['stampLoginIntent', 'stampLoginResult'],
    ACTIVITY_TYPE_VERIFY_OTP: ['verifyOtpIntent', 'verifyOtpResult'],
    ACTIVITY_TYPE_VERIFY_OTP_V2: ['verifyOtpIntentV2', 'verifyOtpResult'],
    ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL: ['createOauth2CredentialIntent', 'createOauth2CredentialResult'],
    ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS: ['createOauthProvidersIntent', 'createOauthProvidersResult'],
    ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2: ['createOauthProvidersIntentV2', 'createOauthProvidersResultV2'],
    ACTIVITY_TYPE_DELETE_OAUTH2_CREDENTIAL: ['deleteOauth2CredentialIntent', 'deleteOauth2CredentialResult'],
    ACTIVITY_TYPE_DELETE_OAUTH_PROVIDERS: ['deleteOauthProvidersIntent', 'deleteOauthProvidersResult'],
    ACTIVITY_TYPE_OAUTH: ['oauthIntent', 'oauthResult'],
    ACTIVITY_TYPE_OAUTH2_AUTHENTICATE: ['oauth2AuthenticateIntent', 'oauth2AuthenticateResult'],
    ACTIVITY_TYPE_OAUTH_LOGIN: ['oauthLoginIntent', 'oauthLoginResult'],
    ACTIVITY_TYPE_UPDATE_OAUTH2_CREDENTIAL: ['updateOauth2CredentialIntent', 'updateOauth2CredentialResult'],
    ACTIVITY_TYPE_CREATE_FIAT_ON_RAMP_CREDENTIAL: [
      'createFiatOnRampCredentialIntent',
      'createFiatOnRampCredentialResult',
    ],
    ACTIVITY_TYPE_DELETE_FIAT_ON_RAMP_CREDENTIAL: [
      'deleteFiatOnRampCredentialIntent',
      'deleteFiatOnRampCredentialResult',
    ],
    ACTIVITY_TYPE_INIT_FIAT_ON_RAMP: ['initFiatOnRampIntent', 'initFiatOnRampResult'],
    ACTIVITY_TYPE_UPDATE_FIAT_ON_RAMP_CREDENTIAL: [
      'updateFiatOnRampCredentialIntent',
      'updateFiatOnRampCredentialResult',
    ],
    ACTIVITY_TYPE_DISABLE_AUTH_PROXY: ['disableAuthProxyIntent', 'disableAuthProxyResult'],
    ACTIVITY_TYPE_ENABLE_AUTH_PROXY: ['enableAuthProxyIntent', 'enableAuthProxyResult'],
    ACTIVITY_TYPE_UPDATE_AUTH_PROXY_CONFIG: ['updateAuthProxyConfigIntent', 'updateAuthProxyConfigResult'],
    ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT: ['createWebhookEndpointIntent', 'createWebhookEndpointResult'],
    ACTIVITY_TYPE_DELETE_WEBHOOK_ENDPOINT: ['deleteWebhookEndpointIntent', 'deleteWebhookEndpointResult'],
    ACTIVITY_TYPE_RECORD_EMAIL_EVENT: ['recordEmailEventIntent', 'recordEmailEventResult'],
    ACTIVITY_TYPE_REPLAY_WEBHOOK_DELIVERY: ['replayWebhookDeliveryIntent', 'replayWebhookDeliveryResult'],
    ACTIVITY_TYPE_TEST_WEBHOOK_ENDPOINT: ['testWebhookEndpointIntent', 'testWebhookEndpointResult'],
    ACTIVITY_TYPE_UPDATE_WEBHOOK_ENDPOINT: ['updateWebhookEndpointIntent', 'updateWebhookEndpointResult'],
    ACTIVITY_TYPE_CREATE_TVC_APP: ['createTvcAppIntent', 'createTvcAppResult'],
    ACTIVITY_TYPE_CREATE_TVC_DEPLOYMENT: ['createTvcDeploymentIntent', 'createTvcDeploymentResult'],
    ACTIVITY_TYPE_CREATE_TVC_MANIFEST_APPROVALS: [
      'createTvcManifestApprovalsIntent',
      'createTvcManifestApprovalsResult',
    ],
    ACTIVITY_TYPE_CREATE_TVC_OPERATOR: ['createTvcOperatorIntent', 'createTvcOperatorResult'],
    ACTIVITY_TYPE_DELETE_TVC_APP_AND_DEPLOYMENTS: [
      'deleteTvcAppAndDeploymentsIntent',
      'deleteTvcAppAndDeploymentsResult',
    ],
    ACTIVITY_TYPE_DELETE_TVC_DEPLOYMENT: ['deleteTvcDeploymentIntent', 'deleteTvcDeploymentResult'],
    ACTIVITY_TYPE_RESTORE_TVC_DEPLOYMENT: ['restoreTvcDeploymentIntent', 'restoreTvcDeploymentResult'],
    ACTIVITY_TYPE_CLAIM_EARN_FEES: ['claimEarnFeesIntent', 'claimEarnFeesResult'],
    ACTIVITY_TYPE_EARN_DEPLOY_WRAPPER: ['earnDeployWrapperIntent', 'earnDeployWrapperResult'],
    ACTIVITY_TYPE_EARN_DEPOSIT: ['earnDepositIntent', 'earnDepositResult'],
    ACTIVITY_TYPE_EARN_SET_WRAPPER_STATE: ['earnSetWrapperStateIntent', 'earnSetWrapperStateResult'],
    ACTIVITY_TYPE_EARN_WITHDRAW: ['earnWithdrawIntent', 'earnWithdrawResult'],
    ACTIVITY_TYPE_ETH_SEND_RAW_TRANSACTION: ['ethSendRawTransactionIntent', 'ethSendRawTransactionResult'],
    ACTIVITY_TYPE_ETH_SEND_TRANSACTION: ['ethSendTransactionIntent', 'ethSendTransactionResult'],
    ACTIVITY_TYPE_ETH_SEND_TRANSACTION_V2: ['ethSendTransactionIntentV2', 'ethSendTransactionResultV2'],
    ACTIVITY_TYPE_SOL_SEND_TRANSACTION: ['solSendTransactionIntent', 'solSendTransactionResult'],
    ACTIVITY_TYPE_SOL_SEND_TRANSACTION_V2: ['solSendTransactionIntentV2', 'solSendTransactionResultV2'],
    ACTIVITY_TYPE_UPSERT_GAS_USAGE_CONFIG: ['upsertGasUsageConfigIntent', 'upsertGasUsageConfigResult'],
    ACTIVITY_TYPE_UPDATE_TVC_APP_LIVE_DEPLOYMENT: [
      'updateTvcAppLiveDeploymentIntent',
      'updateTvcAppLiveDeploymentResult',
    ],
  };

  test('are those of the wire protocol, for every type that is served', () => {
    const served = activities.flatMap((operation) => operation.versions);
    const keys = Object.fromEntries(served.map(({ type }) => [type, wireKeysOfType(type)]));
    const expected = Object.fromEntries(
      Object.entries(EXPECTED).map(([type, [intentKey, resultKey]]) => [type, { intentKey, resultKey }]),
    );
    const shown = Object.fromEntries(
      Object.entries(keys).map(([type, { intentKey, resultKey }]) => [type, { intentKey, resultKey }]),
    );
    expect(shown).toEqual(expected);
  });

  test('of the creation of an organization, which no path serves', () => {
    expect(wireKeysOfType(BOOTSTRAP_TYPE)).toEqual({
      intentKey: 'createOrganizationIntentV2',
      resultKey: 'createOrganizationResult',
    });
  });
});

test('root-quorum operations are exactly those of protocol/consensus 5.1', () => {
  const names = activities
    .filter((operation) => operation.policy.governedBy === 'root-quorum')
    .map((operation) => operation.name);
  expect(names.sort()).toEqual([
    'create_recovery_kit',
    'delete_recovery_kits',
    'remove_organization_feature',
    'set_organization_feature',
    'update_organization_name',
    'update_root_quorum',
  ]);
});

test('whatever a decision may rest on takes the organization for itself', () => {
  // Users, quorum, tags, every rule and what goes away; a new credential, wallet or key alters no decision, nor does
  // its use. A session profile never changes, so nothing that was decided before can rest on a new one.
  const locked = (lock: string) => activities.filter((operation) => operation.lock === lock).map(({ name }) => name);
  // Names, and whether something was exported, are for policies to read.
  expect(locked('exclusive-with-rules').sort()).toEqual([
    'create_recovery_kit',
    'export_private_key',
    'export_wallet',
    'export_wallet_account',
    'update_user_name',
    'update_wallet',
  ]);
  expect(locked('shared').sort()).toEqual([
    'claim_earn_fees',
    'create_api_keys',
    'create_authenticators',
    'create_fiat_on_ramp_credential',
    'create_oauth2_credential',
    'create_oauth_providers',
    'create_private_keys',
    'create_read_only_session',
    'create_read_write_session',
    'create_session_profile',
    'create_sub_organization',
    'create_wallet',
    'create_wallet_accounts',
    'delete_recovery_kits',
    'earn_deposit',
    'earn_withdraw',
    'email_auth',
    'eth_send_raw_transaction',
    'eth_send_transaction',
    'export_secrets',
    'import_private_key',
    'import_secrets',
    'import_wallet',
    'init_fiat_on_ramp',
    'init_import_private_key',
    'init_import_secrets',
    'init_import_wallet',
    'init_otp',
    'init_otp_auth',
    'init_user_email_recovery',
    'oauth',
    'oauth2_authenticate',
    'oauth_login',
    'otp_auth',
    'otp_login',
    'recover_user',
    'replay_webhook_delivery',
    'sign_raw_payload',
    'sign_raw_payloads',
    'sign_transaction',
    'sol_send_transaction',
    'stamp_login',
    'test_webhook_endpoint',
    'verify_otp',
  ]);
});

test('only a user’s own credentials are its own business', () => {
  const own = activities.filter((operation) => operation.managesCredentialsOf).map((operation) => operation.name);
  expect(own.sort()).toEqual([
    'create_api_keys',
    'create_authenticators',
    'create_oauth_providers',
    'create_read_only_session',
    'create_read_write_session',
    'delete_api_keys',
    'delete_authenticators',
    'delete_oauth_providers',
    'recover_user',
    'stamp_login',
  ]);
});

test('a parent runs authentication in its sub-organizations, and nothing else', () => {
  expect(namesOf(({ parentRuns }) => parentRuns)).toEqual([
    'email_auth',
    'init_otp',
    'init_otp_auth',
    'init_user_email_recovery',
    'oauth',
    'oauth_login',
    'otp_auth',
    'otp_login',
    'verify_otp',
  ]);
});

test('the sign-up proxy signs up and logs in, and nothing else', () => {
  expect(namesOf(({ proxyRuns }) => proxyRuns)).toEqual([
    'create_sub_organization',
    'init_otp',
    'oauth2_authenticate',
    'oauth_login',
    'otp_login',
    'verify_otp',
  ]);
});

test('an operation on one’s own account says whose account it is, and no other does', () => {
  expect(namesOf(({ ownAccount }) => ownAccount !== 'none')).toEqual(
    namesOf(({ managesCredentialsOf }) => managesCredentialsOf !== undefined),
  );
  expect(namesOf(({ ownAccount }) => ownAccount === 'recovery-key')).toEqual(['recover_user']);
});

test('secret parameters of protocol/activities 5.2 are declared wherever a version has them', () => {
  const SECRET = /^(otpCode|oidcToken|verificationToken|authCode|codeVerifier)$/;
  const paths = (schema: unknown, at: string): string[] => {
    const node = schema as { properties?: Record<string, unknown>; items?: unknown };
    return [
      ...Object.entries(node.properties ?? {}).flatMap(([name, inner]) => {
        const path = at === '' ? name : `${at}.${name}`;
        return SECRET.test(name) ? [path] : paths(inner, path);
      }),
      ...(node.items === undefined ? [] : paths(node.items, `${at}.*`)),
    ];
  };
  for (const { versions } of activities) {
    for (const { type, schema, secrets } of versions) {
      for (const path of paths(schema, '')) expect(secrets, `${type} ${path}`).toContain(path);
    }
  }
});

test('what can be used by whoever reads it is shown in the direct answer only', () => {
  const shown = activities.flatMap(({ name, versions }) =>
    versions.flatMap(({ secretResults }) => secretResults.map((path) => `${name} ${path}`)),
  );
  expect([...new Set(shown)].sort()).toEqual([
    'create_read_only_session session',
    'oauth2_authenticate oidcToken',
    'verify_otp verificationToken',
  ]);
});

test('the user of a login that somebody else asks for is named, wherever a code, a token or a mailed key logs in', () => {
  const named = activities.filter(({ subject }) => subject).map(({ name }) => name);
  expect(named.sort()).toEqual(['email_auth', 'oauth', 'oauth_login', 'otp_auth', 'otp_login']);
});

test('attempts are counted wherever there is something to guess, or a request of ours for the asking', () => {
  const counted = activities.filter(({ attempt }) => attempt).map(({ name }) => name);
  expect(counted.sort()).toEqual(['otp_auth', 'replay_webhook_delivery', 'test_webhook_endpoint', 'verify_otp']);
});

test('whatever sends a message says so', () => {
  const sending = activities.filter(({ sendsMessages }) => sendsMessages).map(({ name }) => name);
  expect(sending.sort()).toEqual([
    'create_invitations',
    'email_auth',
    'init_otp',
    'init_otp_auth',
    'init_user_email_recovery',
  ]);
});

test('whatever leaves transactions for chains says so', () => {
  const broadcasting = activities.filter(({ sendsTransactions }) => sendsTransactions).map(({ name }) => name);
  expect(broadcasting.sort()).toEqual([
    'claim_earn_fees',
    'earn_deploy_wrapper',
    'earn_deposit',
    'earn_withdraw',
    'eth_send_raw_transaction',
    'eth_send_transaction',
    'sol_send_transaction',
  ]);
});

test('stamps of attested keys and of recoveries serve where they are meant to and nowhere else', () => {
  const taking = (kind: 'attested' | 'recovery') =>
    activities.filter(({ accepts }) => accepts[kind]).map(({ name }) => name);
  expect(taking('attested')).toEqual(['stamp_login']);
  expect(taking('recovery')).toEqual(['recover_user']);
});

test('a credential leads from the parent to its sub-organization in what is about its own user only', () => {
  const leading = operations.filter((operation) => operation.kind !== 'vote' && operation.findsSubOrganization);
  expect(leading.map(({ name }) => name).sort()).toEqual([
    'create_read_only_session',
    'create_read_write_session',
    'stamp_login',
    'whoami',
  ]);
});

test('what may wait for others takes no turn of those who do not', () => {
  const waiting = operations.filter((operation) => operation.kind !== 'vote' && operation.waitsOutside);
  expect(waiting.map(({ name }) => name).sort()).toEqual([
    'claim_earn_fees',
    'create_oauth_providers',
    'create_webhook_endpoint',
    'earn_deploy_wrapper',
    'earn_deposit',
    'earn_set_wrapper_state',
    'earn_withdraw',
    'eth_send_raw_transaction',
    'eth_send_transaction',
    'get_claim_earn_fees_status',
    'get_earn_deploy_status',
    'get_earn_deposit_status',
    'get_earn_withdraw_status',
    'get_nonces',
    'get_onramp_transaction_status',
    'get_operations',
    'get_wallet_address_balances',
    'init_fiat_on_ramp',
    'list_earn_enabled_vaults',
    'list_earn_position_history',
    'list_earn_positions',
    'list_earn_vaults',
    'list_eth_transaction_history',
    'oauth',
    'oauth2_authenticate',
    'oauth_login',
    'sol_send_transaction',
    'test_webhook_endpoint',
    'update_webhook_endpoint',
  ]);
});

test('each operation says what it does to credentials, and a session with a profile never mints, redirects or removes one', () => {
  const named = (effect: string) =>
    activities
      .filter(({ credentials }) => credentials === effect)
      .map(({ name }) => name)
      .sort();
  expect(named('mints')).toEqual([
    'create_api_keys',
    'create_api_only_users',
    'create_authenticators',
    'create_invitations',
    'create_oauth_providers',
    'create_read_only_session',
    'create_read_write_session',
    'create_sub_organization',
    'create_users',
    'email_auth',
    'enable_auth_proxy',
    'init_user_email_recovery',
    'oauth',
    'oauth2_authenticate',
    'otp_auth',
    'recover_user',
    'verify_otp',
  ]);
  expect(named('redirects')).toEqual([
    'create_mfa_policy',
    'create_oauth2_credential',
    'delete_mfa_policy',
    'delete_oauth2_credential',
    'disable_auth_proxy',
    'remove_organization_feature',
    'set_organization_feature',
    'update_auth_proxy_config',
    'update_mfa_policy',
    'update_oauth2_credential',
    'update_user',
    'update_user_email',
    'update_user_phone_number',
  ]);
  expect(named('removes')).toEqual([
    'delete_api_keys',
    'delete_authenticators',
    'delete_invitation',
    'delete_oauth_providers',
    'delete_sub_organization',
    'delete_users',
  ]);
  expect(named('inherits')).toEqual(['oauth_login', 'otp_login', 'stamp_login']);
  const others = activities.filter(({ credentials }) => credentials === 'none');
  // Whatever the policy language calls a credential, a recovery or a factor is one.
  const resources = others.map(({ policy }) => (policy.governedBy === 'policy' ? policy.resource : ''));
  expect(
    resources.filter((resource) => ['CREDENTIAL', 'RECOVERY', 'MFA_POLICY', 'INVITATION'].includes(resource)),
  ).toEqual([]);
});
