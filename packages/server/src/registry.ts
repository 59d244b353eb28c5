import { approveActivity } from './domains/activities/operations/approve-activity.ts';
import { getActivity } from './domains/activities/operations/get-activity.ts';
import { listActivities } from './domains/activities/operations/list-activities.ts';
import { listAppProofs } from './domains/activities/operations/list-app-proofs.ts';
import { rejectActivity } from './domains/activities/operations/reject-activity.ts';
import { createTvcApp } from './domains/deployments/operations/create-tvc-app.ts';
import { createTvcDeployment } from './domains/deployments/operations/create-tvc-deployment.ts';
import { createTvcManifestApprovals } from './domains/deployments/operations/create-tvc-manifest-approvals.ts';
import { createTvcOperator } from './domains/deployments/operations/create-tvc-operator.ts';
import { deleteTvcAppAndDeployments } from './domains/deployments/operations/delete-tvc-app-and-deployments.ts';
import { deleteTvcDeployment } from './domains/deployments/operations/delete-tvc-deployment.ts';
import { getAppStatus } from './domains/deployments/operations/get-app-status.ts';
import { getTvcApp } from './domains/deployments/operations/get-tvc-app.ts';
import { getTvcDeployment } from './domains/deployments/operations/get-tvc-deployment.ts';
import { listTvcAppDeployments } from './domains/deployments/operations/list-tvc-app-deployments.ts';
import { listTvcApps } from './domains/deployments/operations/list-tvc-apps.ts';
import { listTvcOperators } from './domains/deployments/operations/list-tvc-operators.ts';
import { listTvcQuorumKeys } from './domains/deployments/operations/list-tvc-quorum-keys.ts';
import { restoreTvcDeployment } from './domains/deployments/operations/restore-tvc-deployment.ts';
import { setTvcAppLiveDeployment } from './domains/deployments/operations/set-tvc-app-live-deployment.ts';
import { claimEarnFees } from './domains/earn/operations/claim-earn-fees.ts';
import { earnDeployWrapper } from './domains/earn/operations/earn-deploy-wrapper.ts';
import { earnDeposit } from './domains/earn/operations/earn-deposit.ts';
import { earnSetWrapperState } from './domains/earn/operations/earn-set-wrapper-state.ts';
import { earnWithdraw } from './domains/earn/operations/earn-withdraw.ts';
import { getClaimEarnFeesStatus } from './domains/earn/operations/get-claim-earn-fees-status.ts';
import { getEarnDeployStatus } from './domains/earn/operations/get-earn-deploy-status.ts';
import { getEarnDepositStatus } from './domains/earn/operations/get-earn-deposit-status.ts';
import { getEarnWithdrawStatus } from './domains/earn/operations/get-earn-withdraw-status.ts';
import { listEarnEnabledVaults } from './domains/earn/operations/list-earn-enabled-vaults.ts';
import { listEarnPositions } from './domains/earn/operations/list-earn-positions.ts';
import { listEarnVaults } from './domains/earn/operations/list-earn-vaults.ts';
import { listSupportedAssets } from './domains/earn/operations/list-supported-assets.ts';
import { createOauth2Credential } from './domains/login/operations/create-oauth2-credential.ts';
import { createReadOnlySession } from './domains/login/operations/create-read-only-session.ts';
import { createReadWriteSession } from './domains/login/operations/create-read-write-session.ts';
import { createSessionProfile } from './domains/login/operations/create-session-profile.ts';
import { deleteOauth2Credential } from './domains/login/operations/delete-oauth2-credential.ts';
import { emailAuth } from './domains/login/operations/email-auth.ts';
import { getOauth2Credential } from './domains/login/operations/get-oauth2-credential.ts';
import { getSessionProfile } from './domains/login/operations/get-session-profile.ts';
import { getSessionProfiles } from './domains/login/operations/get-session-profiles.ts';
import { initOtp } from './domains/login/operations/init-otp.ts';
import { initOtpAuth } from './domains/login/operations/init-otp-auth.ts';
import { initUserEmailRecovery } from './domains/login/operations/init-user-email-recovery.ts';
import { listOauth2Credentials } from './domains/login/operations/list-oauth2-credentials.ts';
import { oauth } from './domains/login/operations/oauth.ts';
import { oauthLogin } from './domains/login/operations/oauth-login.ts';
import { oauth2Authenticate } from './domains/login/operations/oauth2-authenticate.ts';
import { otpAuth } from './domains/login/operations/otp-auth.ts';
import { otpLogin } from './domains/login/operations/otp-login.ts';
import { recoverUser } from './domains/login/operations/recover-user.ts';
import { stampLogin } from './domains/login/operations/stamp-login.ts';
import { updateOauth2Credential } from './domains/login/operations/update-oauth2-credential.ts';
import { verifyOtp } from './domains/login/operations/verify-otp.ts';
import { listEmailEvents } from './domains/messages/operations/list-email-events.ts';
import { recordEmailEvent } from './domains/messages/operations/record-email-event.ts';
import { createFiatOnRampCredential } from './domains/on-ramp/operations/create-fiat-on-ramp-credential.ts';
import { deleteFiatOnRampCredential } from './domains/on-ramp/operations/delete-fiat-on-ramp-credential.ts';
import { getOnrampTransactionStatus } from './domains/on-ramp/operations/get-onramp-transaction-status.ts';
import { initFiatOnRamp } from './domains/on-ramp/operations/init-fiat-on-ramp.ts';
import { listFiatOnRampCredentials } from './domains/on-ramp/operations/list-fiat-on-ramp-credentials.ts';
import { updateFiatOnRampCredential } from './domains/on-ramp/operations/update-fiat-on-ramp-credential.ts';
import { createInvitations } from './domains/organizations/operations/create-invitations.ts';
import { createSubOrganization } from './domains/organizations/operations/create-sub-organization.ts';
import { deleteInvitation } from './domains/organizations/operations/delete-invitation.ts';
import { deleteSubOrganization } from './domains/organizations/operations/delete-sub-organization.ts';
import { getOrganization } from './domains/organizations/operations/get-organization.ts';
import { getOrganizationConfigs } from './domains/organizations/operations/get-organization-configs.ts';
import { listSuborgs } from './domains/organizations/operations/list-suborgs.ts';
import { listVerifiedSuborgs } from './domains/organizations/operations/list-verified-suborgs.ts';
import { removeOrganizationFeature } from './domains/organizations/operations/remove-organization-feature.ts';
import { setOrganizationFeature } from './domains/organizations/operations/set-organization-feature.ts';
import { updateOrganizationName } from './domains/organizations/operations/update-organization-name.ts';
import { updateRootQuorum } from './domains/organizations/operations/update-root-quorum.ts';
import { whoami } from './domains/organizations/operations/whoami.ts';
import { createPolicies } from './domains/policies/operations/create-policies.ts';
import { createPolicy } from './domains/policies/operations/create-policy.ts';
import { createSmartContractInterface } from './domains/policies/operations/create-smart-contract-interface.ts';
import { createVelocityControl } from './domains/policies/operations/create-velocity-control.ts';
import { deletePolicies } from './domains/policies/operations/delete-policies.ts';
import { deletePolicy } from './domains/policies/operations/delete-policy.ts';
import { deleteSmartContractInterface } from './domains/policies/operations/delete-smart-contract-interface.ts';
import { deleteVelocityControl } from './domains/policies/operations/delete-velocity-control.ts';
import { getActivePolicies } from './domains/policies/operations/get-active-policies.ts';
import { getIpAllowlist } from './domains/policies/operations/get-ip-allowlist.ts';
import { getPolicy } from './domains/policies/operations/get-policy.ts';
import { getPolicyEvaluations } from './domains/policies/operations/get-policy-evaluations.ts';
import { getSmartContractInterface } from './domains/policies/operations/get-smart-contract-interface.ts';
import { getVelocityControl } from './domains/policies/operations/get-velocity-control.ts';
import { listPolicies } from './domains/policies/operations/list-policies.ts';
import { listSmartContractInterfaces } from './domains/policies/operations/list-smart-contract-interfaces.ts';
import { listVelocityControls } from './domains/policies/operations/list-velocity-controls.ts';
import { removeIpAllowlist } from './domains/policies/operations/remove-ip-allowlist.ts';
import { setIpAllowlist } from './domains/policies/operations/set-ip-allowlist.ts';
import { simulateActivity } from './domains/policies/operations/simulate-activity.ts';
import { updatePolicy } from './domains/policies/operations/update-policy.ts';
import { deleteSecrets } from './domains/secrets/operations/delete-secrets.ts';
import { exportSecrets } from './domains/secrets/operations/export-secrets.ts';
import { importSecrets } from './domains/secrets/operations/import-secrets.ts';
import { initImportSecrets } from './domains/secrets/operations/init-import-secrets.ts';
import { listSecrets } from './domains/secrets/operations/list-secrets.ts';
import { ethSendRawTransaction } from './domains/sends/operations/eth-send-raw-transaction.ts';
import { ethSendTransaction } from './domains/sends/operations/eth-send-transaction.ts';
import { getGasUsage } from './domains/sends/operations/get-gas-usage.ts';
import { getNonces } from './domains/sends/operations/get-nonces.ts';
import { getSendTransactionStatus } from './domains/sends/operations/get-send-transaction-status.ts';
import { getWalletAddressBalances } from './domains/sends/operations/get-wallet-address-balances.ts';
import { listEthTransactionHistory } from './domains/sends/operations/list-eth-transaction-history.ts';
import { solSendTransaction } from './domains/sends/operations/sol-send-transaction.ts';
import { upsertGasUsageConfig } from './domains/sends/operations/upsert-gas-usage-config.ts';
import { disableAuthProxy } from './domains/sign-up-proxy/operations/disable-auth-proxy.ts';
import { enableAuthProxy } from './domains/sign-up-proxy/operations/enable-auth-proxy.ts';
import { getAuthProxyConfig } from './domains/sign-up-proxy/operations/get-auth-proxy-config.ts';
import { updateAuthProxyConfig } from './domains/sign-up-proxy/operations/update-auth-proxy-config.ts';
import { signRawPayload } from './domains/signing/operations/sign-raw-payload.ts';
import { signRawPayloads } from './domains/signing/operations/sign-raw-payloads.ts';
import { signTransaction } from './domains/signing/operations/sign-transaction.ts';
import { createApiKeys } from './domains/users/operations/create-api-keys.ts';
import { createApiOnlyUsers } from './domains/users/operations/create-api-only-users.ts';
import { createAuthenticators } from './domains/users/operations/create-authenticators.ts';
import { createMfaPolicy } from './domains/users/operations/create-mfa-policy.ts';
import { createOauthProviders } from './domains/users/operations/create-oauth-providers.ts';
import { createUserTag } from './domains/users/operations/create-user-tag.ts';
import { createUsers } from './domains/users/operations/create-users.ts';
import { deleteApiKeys } from './domains/users/operations/delete-api-keys.ts';
import { deleteAuthenticators } from './domains/users/operations/delete-authenticators.ts';
import { deleteMfaPolicy } from './domains/users/operations/delete-mfa-policy.ts';
import { deleteOauthProviders } from './domains/users/operations/delete-oauth-providers.ts';
import { deleteUserTags } from './domains/users/operations/delete-user-tags.ts';
import { deleteUsers } from './domains/users/operations/delete-users.ts';
import { getApiKey } from './domains/users/operations/get-api-key.ts';
import { getApiKeys } from './domains/users/operations/get-api-keys.ts';
import { getAuthenticator } from './domains/users/operations/get-authenticator.ts';
import { getAuthenticators } from './domains/users/operations/get-authenticators.ts';
import { getMfaPolicies } from './domains/users/operations/get-mfa-policies.ts';
import { getMfaPolicy } from './domains/users/operations/get-mfa-policy.ts';
import { getMfaStatus } from './domains/users/operations/get-mfa-status.ts';
import { getOauthProviders } from './domains/users/operations/get-oauth-providers.ts';
import { getUser } from './domains/users/operations/get-user.ts';
import { listUserTags } from './domains/users/operations/list-user-tags.ts';
import { listUsers } from './domains/users/operations/list-users.ts';
import { updateMfaPolicy } from './domains/users/operations/update-mfa-policy.ts';
import { updateUser } from './domains/users/operations/update-user.ts';
import { updateUserEmail } from './domains/users/operations/update-user-email.ts';
import { updateUserName } from './domains/users/operations/update-user-name.ts';
import { updateUserPhoneNumber } from './domains/users/operations/update-user-phone-number.ts';
import { updateUserTag } from './domains/users/operations/update-user-tag.ts';
import { createPrivateKeyTag } from './domains/wallets/operations/create-private-key-tag.ts';
import { createPrivateKeys } from './domains/wallets/operations/create-private-keys.ts';
import { createWallet } from './domains/wallets/operations/create-wallet.ts';
import { createWalletAccounts } from './domains/wallets/operations/create-wallet-accounts.ts';
import { deletePrivateKeyTags } from './domains/wallets/operations/delete-private-key-tags.ts';
import { deletePrivateKeys } from './domains/wallets/operations/delete-private-keys.ts';
import { deleteWalletAccounts } from './domains/wallets/operations/delete-wallet-accounts.ts';
import { deleteWallets } from './domains/wallets/operations/delete-wallets.ts';
import { exportPrivateKey } from './domains/wallets/operations/export-private-key.ts';
import { exportWallet } from './domains/wallets/operations/export-wallet.ts';
import { exportWalletAccount } from './domains/wallets/operations/export-wallet-account.ts';
import { getPrivateKey } from './domains/wallets/operations/get-private-key.ts';
import { getWallet } from './domains/wallets/operations/get-wallet.ts';
import { getWalletAccount } from './domains/wallets/operations/get-wallet-account.ts';
import { importPrivateKey } from './domains/wallets/operations/import-private-key.ts';
import { importWallet } from './domains/wallets/operations/import-wallet.ts';
import { initImportPrivateKey } from './domains/wallets/operations/init-import-private-key.ts';
import { initImportWallet } from './domains/wallets/operations/init-import-wallet.ts';
import { listPrivateKeyTags } from './domains/wallets/operations/list-private-key-tags.ts';
import { listPrivateKeys } from './domains/wallets/operations/list-private-keys.ts';
import { listWalletAccounts } from './domains/wallets/operations/list-wallet-accounts.ts';
import { listWallets } from './domains/wallets/operations/list-wallets.ts';
import { updatePrivateKeyTag } from './domains/wallets/operations/update-private-key-tag.ts';
import { updateWallet } from './domains/wallets/operations/update-wallet.ts';
import { createWebhookEndpoint } from './domains/webhooks/operations/create-webhook-endpoint.ts';
import { deleteWebhookEndpoint } from './domains/webhooks/operations/delete-webhook-endpoint.ts';
import { listWebhookDeliveries } from './domains/webhooks/operations/list-webhook-deliveries.ts';
import { listWebhookEndpoints } from './domains/webhooks/operations/list-webhook-endpoints.ts';
import { replayWebhookDelivery } from './domains/webhooks/operations/replay-webhook-delivery.ts';
import { testWebhookEndpoint } from './domains/webhooks/operations/test-webhook-endpoint.ts';
import { updateWebhookEndpoint } from './domains/webhooks/operations/update-webhook-endpoint.ts';
import type { ActivityOperation, ActivityVersion, Operation, QueryOperation, VoteOperation } from './engine/define.ts';
import { wireKeys } from './engine/define.ts';

/** Everything the service serves, as a list a person can read. A new operation is its own file and a line here. */
export const activities: readonly ActivityOperation[] = [
  createApiKeys,
  createAuthenticators,
  deleteApiKeys,
  deleteAuthenticators,
  createInvitations,
  createSubOrganization,
  deleteInvitation,
  deleteSubOrganization,
  removeOrganizationFeature,
  setOrganizationFeature,
  updateOrganizationName,
  updateRootQuorum,
  createPrivateKeyTag,
  createPrivateKeys,
  deletePrivateKeyTags,
  deletePrivateKeys,
  exportPrivateKey,
  importPrivateKey,
  initImportPrivateKey,
  updatePrivateKeyTag,
  deleteSecrets,
  exportSecrets,
  importSecrets,
  initImportSecrets,
  ethSendRawTransaction,
  ethSendTransaction,
  solSendTransaction,
  upsertGasUsageConfig,
  recordEmailEvent,
  signRawPayload,
  signRawPayloads,
  signTransaction,
  createApiOnlyUsers,
  createUserTag,
  createUsers,
  deleteUserTags,
  deleteUsers,
  updateUserEmail,
  updateUserName,
  updateUserPhoneNumber,
  updateUserTag,
  updateUser,
  createWalletAccounts,
  createWallet,
  deleteWalletAccounts,
  deleteWallets,
  exportWalletAccount,
  exportWallet,
  importWallet,
  initImportWallet,
  updateWallet,
  createSmartContractInterface,
  deleteSmartContractInterface,
  createMfaPolicy,
  createSessionProfile,
  deleteMfaPolicy,
  updateMfaPolicy,
  disableAuthProxy,
  enableAuthProxy,
  updateAuthProxyConfig,
  removeIpAllowlist,
  setIpAllowlist,
  createPolicies,
  createPolicy,
  deletePolicies,
  deletePolicy,
  updatePolicy,
  createVelocityControl,
  deleteVelocityControl,
  createReadOnlySession,
  createReadWriteSession,
  emailAuth,
  initOtpAuth,
  initUserEmailRecovery,
  otpAuth,
  otpLogin,
  recoverUser,
  stampLogin,
  initOtp,
  verifyOtp,
  oauth,
  oauthLogin,
  createOauth2Credential,
  createOauthProviders,
  deleteOauth2Credential,
  deleteOauthProviders,
  oauth2Authenticate,
  updateOauth2Credential,
  createFiatOnRampCredential,
  deleteFiatOnRampCredential,
  initFiatOnRamp,
  updateFiatOnRampCredential,
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  replayWebhookDelivery,
  testWebhookEndpoint,
  updateWebhookEndpoint,
  createTvcApp,
  createTvcDeployment,
  createTvcManifestApprovals,
  createTvcOperator,
  deleteTvcAppAndDeployments,
  deleteTvcDeployment,
  restoreTvcDeployment,
  setTvcAppLiveDeployment,
  claimEarnFees,
  earnDeployWrapper,
  earnDeposit,
  earnSetWrapperState,
  earnWithdraw,
];

export const votes: readonly VoteOperation[] = [approveActivity, rejectActivity];

export const queries: readonly QueryOperation[] = [
  getActivity,
  listActivities,
  listAppProofs,
  getApiKey,
  getApiKeys,
  getAuthenticator,
  getAuthenticators,
  getOrganizationConfigs,
  getOrganization,
  listSuborgs,
  listVerifiedSuborgs,
  whoami,
  getPrivateKey,
  listPrivateKeyTags,
  listPrivateKeys,
  listSecrets,
  getUser,
  listUserTags,
  listUsers,
  getWalletAccount,
  getWallet,
  listWalletAccounts,
  listWallets,
  getSmartContractInterface,
  listSmartContractInterfaces,
  getMfaPolicies,
  getMfaPolicy,
  getMfaStatus,
  getSessionProfile,
  getSessionProfiles,
  getAuthProxyConfig,
  getIpAllowlist,
  getActivePolicies,
  getPolicyEvaluations,
  getPolicy,
  listPolicies,
  simulateActivity,
  getVelocityControl,
  listVelocityControls,
  listEmailEvents,
  getOauth2Credential,
  getOauthProviders,
  listOauth2Credentials,
  getOnrampTransactionStatus,
  listFiatOnRampCredentials,
  getGasUsage,
  getNonces,
  getSendTransactionStatus,
  getWalletAddressBalances,
  listEthTransactionHistory,
  listSupportedAssets,
  listWebhookDeliveries,
  listWebhookEndpoints,
  getAppStatus,
  getTvcApp,
  getTvcDeployment,
  listTvcAppDeployments,
  listTvcApps,
  listTvcOperators,
  listTvcQuorumKeys,
  getClaimEarnFeesStatus,
  getEarnDeployStatus,
  getEarnDepositStatus,
  getEarnWithdrawStatus,
  listEarnEnabledVaults,
  listEarnPositions,
  listEarnVaults,
];

export const operations: readonly Operation[] = [...activities, ...votes, ...queries];

const byType = new Map(
  activities.flatMap((operation) =>
    operation.versions.map((version) => [version.type, { operation, version }] as const),
  ),
);

/** Types that no path serves but that the history of an organization holds. */
export const BOOTSTRAP_TYPE = 'ACTIVITY_TYPE_CREATE_ORGANIZATION_V2';

/** The operation and version that serve a type. */
export const versionOfType = (
  type: string,
): { readonly operation: ActivityOperation; readonly version: ActivityVersion } | undefined => byType.get(type);

export function operationOfType(type: string): ActivityOperation {
  const found = byType.get(type);
  if (found === undefined) throw new Error(`no operation for ${type}`);
  return found.operation;
}

export function wireKeysOfType(type: string): { readonly intentKey: string; readonly resultKey: string } {
  return byType.get(type)?.version ?? wireKeys(type);
}

export const pathOf = (operation: Operation): string =>
  `/public/v1/${operation.kind === 'query' ? 'query' : 'submit'}/${operation.name}`;
