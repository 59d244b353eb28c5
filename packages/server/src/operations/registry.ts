import { approveActivity } from './activities/approve-activity.ts';
import { getActivity } from './activities/get-activity.ts';
import { listActivities } from './activities/list-activities.ts';
import { listAppProofs } from './activities/list-app-proofs.ts';
import { rejectActivity } from './activities/reject-activity.ts';
import { createReadOnlySession } from './auth/create-read-only-session.ts';
import { createReadWriteSession } from './auth/create-read-write-session.ts';
import { emailAuth } from './auth/email-auth.ts';
import { initOtpAuth } from './auth/init-otp-auth.ts';
import { initUserEmailRecovery } from './auth/init-user-email-recovery.ts';
import { oauth } from './auth/oauth.ts';
import { oauthLogin } from './auth/oauth-login.ts';
import { otpAuth } from './auth/otp-auth.ts';
import { otpLogin } from './auth/otp-login.ts';
import { recoverUser } from './auth/recover-user.ts';
import { stampLogin } from './auth/stamp-login.ts';
import { disableAuthProxy } from './auth-proxy/disable-auth-proxy.ts';
import { enableAuthProxy } from './auth-proxy/enable-auth-proxy.ts';
import { getAuthProxyConfig } from './auth-proxy/get-auth-proxy-config.ts';
import { updateAuthProxyConfig } from './auth-proxy/update-auth-proxy-config.ts';
import { createSmartContractInterface } from './contracts/create-smart-contract-interface.ts';
import { deleteSmartContractInterface } from './contracts/delete-smart-contract-interface.ts';
import { getSmartContractInterface } from './contracts/get-smart-contract-interface.ts';
import { listSmartContractInterfaces } from './contracts/list-smart-contract-interfaces.ts';
import { createApiKeys } from './credentials/create-api-keys.ts';
import { createAuthenticators } from './credentials/create-authenticators.ts';
import { deleteApiKeys } from './credentials/delete-api-keys.ts';
import { deleteAuthenticators } from './credentials/delete-authenticators.ts';
import { getApiKey } from './credentials/get-api-key.ts';
import { getApiKeys } from './credentials/get-api-keys.ts';
import { getAuthenticator } from './credentials/get-authenticator.ts';
import { getAuthenticators } from './credentials/get-authenticators.ts';
import type { ActivityOperation, ActivityVersion, Operation, QueryOperation, VoteOperation } from './define.ts';
import { wireKeys } from './define.ts';
import { createTvcApp } from './deployments/create-tvc-app.ts';
import { createTvcDeployment } from './deployments/create-tvc-deployment.ts';
import { createTvcManifestApprovals } from './deployments/create-tvc-manifest-approvals.ts';
import { createTvcOperator } from './deployments/create-tvc-operator.ts';
import { deleteTvcAppAndDeployments } from './deployments/delete-tvc-app-and-deployments.ts';
import { deleteTvcDeployment } from './deployments/delete-tvc-deployment.ts';
import { getAppStatus } from './deployments/get-app-status.ts';
import { getTvcApp } from './deployments/get-tvc-app.ts';
import { getTvcDeployment } from './deployments/get-tvc-deployment.ts';
import { listTvcAppDeployments } from './deployments/list-tvc-app-deployments.ts';
import { listTvcApps } from './deployments/list-tvc-apps.ts';
import { listTvcOperators } from './deployments/list-tvc-operators.ts';
import { listTvcQuorumKeys } from './deployments/list-tvc-quorum-keys.ts';
import { restoreTvcDeployment } from './deployments/restore-tvc-deployment.ts';
import { setTvcAppLiveDeployment } from './deployments/set-tvc-app-live-deployment.ts';
import { claimEarnFees } from './earn/claim-earn-fees.ts';
import { earnDeployWrapper } from './earn/earn-deploy-wrapper.ts';
import { earnDeposit } from './earn/earn-deposit.ts';
import { earnSetWrapperState } from './earn/earn-set-wrapper-state.ts';
import { earnWithdraw } from './earn/earn-withdraw.ts';
import { getClaimEarnFeesStatus } from './earn/get-claim-earn-fees-status.ts';
import { getEarnDeployStatus } from './earn/get-earn-deploy-status.ts';
import { getEarnDepositStatus } from './earn/get-earn-deposit-status.ts';
import { getEarnWithdrawStatus } from './earn/get-earn-withdraw-status.ts';
import { listEarnEnabledVaults } from './earn/list-earn-enabled-vaults.ts';
import { listEarnPositions } from './earn/list-earn-positions.ts';
import { listEarnVaults } from './earn/list-earn-vaults.ts';
import { listEmailEvents } from './messages/list-email-events.ts';
import { recordEmailEvent } from './messages/record-email-event.ts';
import { createMfaPolicy } from './mfa/create-mfa-policy.ts';
import { createSessionProfile } from './mfa/create-session-profile.ts';
import { deleteMfaPolicy } from './mfa/delete-mfa-policy.ts';
import { getMfaPolicies } from './mfa/get-mfa-policies.ts';
import { getMfaPolicy } from './mfa/get-mfa-policy.ts';
import { getMfaStatus } from './mfa/get-mfa-status.ts';
import { getSessionProfile } from './mfa/get-session-profile.ts';
import { getSessionProfiles } from './mfa/get-session-profiles.ts';
import { updateMfaPolicy } from './mfa/update-mfa-policy.ts';
import { getIpAllowlist } from './networks/get-ip-allowlist.ts';
import { removeIpAllowlist } from './networks/remove-ip-allowlist.ts';
import { setIpAllowlist } from './networks/set-ip-allowlist.ts';
import { createOauthProviders } from './oauth/create-oauth-providers.ts';
import { createOauth2Credential } from './oauth/create-oauth2-credential.ts';
import { deleteOauthProviders } from './oauth/delete-oauth-providers.ts';
import { deleteOauth2Credential } from './oauth/delete-oauth2-credential.ts';
import { getOauthProviders } from './oauth/get-oauth-providers.ts';
import { getOauth2Credential } from './oauth/get-oauth2-credential.ts';
import { listOauth2Credentials } from './oauth/list-oauth2-credentials.ts';
import { oauth2Authenticate } from './oauth/oauth2-authenticate.ts';
import { updateOauth2Credential } from './oauth/update-oauth2-credential.ts';
import { createFiatOnRampCredential } from './onramp/create-fiat-on-ramp-credential.ts';
import { deleteFiatOnRampCredential } from './onramp/delete-fiat-on-ramp-credential.ts';
import { getOnrampTransactionStatus } from './onramp/get-onramp-transaction-status.ts';
import { initFiatOnRamp } from './onramp/init-fiat-on-ramp.ts';
import { listFiatOnRampCredentials } from './onramp/list-fiat-on-ramp-credentials.ts';
import { updateFiatOnRampCredential } from './onramp/update-fiat-on-ramp-credential.ts';
import { createInvitations } from './organizations/create-invitations.ts';
import { createSubOrganization } from './organizations/create-sub-organization.ts';
import { deleteInvitation } from './organizations/delete-invitation.ts';
import { deleteSubOrganization } from './organizations/delete-sub-organization.ts';
import { getOrganization } from './organizations/get-organization.ts';
import { getOrganizationConfigs } from './organizations/get-organization-configs.ts';
import { listSuborgs } from './organizations/list-suborgs.ts';
import { listVerifiedSuborgs } from './organizations/list-verified-suborgs.ts';
import { removeOrganizationFeature } from './organizations/remove-organization-feature.ts';
import { setOrganizationFeature } from './organizations/set-organization-feature.ts';
import { updateOrganizationName } from './organizations/update-organization-name.ts';
import { updateRootQuorum } from './organizations/update-root-quorum.ts';
import { whoami } from './organizations/whoami.ts';
import { initOtp } from './otp/init-otp.ts';
import { verifyOtp } from './otp/verify-otp.ts';
import { createPolicies } from './policies/create-policies.ts';
import { createPolicy } from './policies/create-policy.ts';
import { deletePolicies } from './policies/delete-policies.ts';
import { deletePolicy } from './policies/delete-policy.ts';
import { getActivePolicies } from './policies/get-active-policies.ts';
import { getPolicy } from './policies/get-policy.ts';
import { getPolicyEvaluations } from './policies/get-policy-evaluations.ts';
import { listPolicies } from './policies/list-policies.ts';
import { simulateActivity } from './policies/simulate-activity.ts';
import { updatePolicy } from './policies/update-policy.ts';
import { createPrivateKeyTag } from './private-keys/create-private-key-tag.ts';
import { createPrivateKeys } from './private-keys/create-private-keys.ts';
import { deletePrivateKeyTags } from './private-keys/delete-private-key-tags.ts';
import { deletePrivateKeys } from './private-keys/delete-private-keys.ts';
import { exportPrivateKey } from './private-keys/export-private-key.ts';
import { getPrivateKey } from './private-keys/get-private-key.ts';
import { importPrivateKey } from './private-keys/import-private-key.ts';
import { initImportPrivateKey } from './private-keys/init-import-private-key.ts';
import { listPrivateKeyTags } from './private-keys/list-private-key-tags.ts';
import { listPrivateKeys } from './private-keys/list-private-keys.ts';
import { updatePrivateKeyTag } from './private-keys/update-private-key-tag.ts';
import { deleteSecrets } from './secrets/delete-secrets.ts';
import { exportSecrets } from './secrets/export-secrets.ts';
import { importSecrets } from './secrets/import-secrets.ts';
import { initImportSecrets } from './secrets/init-import-secrets.ts';
import { listSecrets } from './secrets/list-secrets.ts';
import { ethSendRawTransaction } from './sends/eth-send-raw-transaction.ts';
import { ethSendTransaction } from './sends/eth-send-transaction.ts';
import { getGasUsage } from './sends/get-gas-usage.ts';
import { getNonces } from './sends/get-nonces.ts';
import { getSendTransactionStatus } from './sends/get-send-transaction-status.ts';
import { getWalletAddressBalances } from './sends/get-wallet-address-balances.ts';
import { listEthTransactionHistory } from './sends/list-eth-transaction-history.ts';
import { listSupportedAssets } from './sends/list-supported-assets.ts';
import { solSendTransaction } from './sends/sol-send-transaction.ts';
import { upsertGasUsageConfig } from './sends/upsert-gas-usage-config.ts';
import { signRawPayload } from './signing/sign-raw-payload.ts';
import { signRawPayloads } from './signing/sign-raw-payloads.ts';
import { signTransaction } from './signing/sign-transaction.ts';
import { createApiOnlyUsers } from './users/create-api-only-users.ts';
import { createUserTag } from './users/create-user-tag.ts';
import { createUsers } from './users/create-users.ts';
import { deleteUserTags } from './users/delete-user-tags.ts';
import { deleteUsers } from './users/delete-users.ts';
import { getUser } from './users/get-user.ts';
import { listUserTags } from './users/list-user-tags.ts';
import { listUsers } from './users/list-users.ts';
import { updateUser } from './users/update-user.ts';
import { updateUserEmail } from './users/update-user-email.ts';
import { updateUserName } from './users/update-user-name.ts';
import { updateUserPhoneNumber } from './users/update-user-phone-number.ts';
import { updateUserTag } from './users/update-user-tag.ts';
import { createVelocityControl } from './velocity/create-velocity-control.ts';
import { deleteVelocityControl } from './velocity/delete-velocity-control.ts';
import { getVelocityControl } from './velocity/get-velocity-control.ts';
import { listVelocityControls } from './velocity/list-velocity-controls.ts';
import { createWallet } from './wallets/create-wallet.ts';
import { createWalletAccounts } from './wallets/create-wallet-accounts.ts';
import { deleteWalletAccounts } from './wallets/delete-wallet-accounts.ts';
import { deleteWallets } from './wallets/delete-wallets.ts';
import { exportWallet } from './wallets/export-wallet.ts';
import { exportWalletAccount } from './wallets/export-wallet-account.ts';
import { getWallet } from './wallets/get-wallet.ts';
import { getWalletAccount } from './wallets/get-wallet-account.ts';
import { importWallet } from './wallets/import-wallet.ts';
import { initImportWallet } from './wallets/init-import-wallet.ts';
import { listWalletAccounts } from './wallets/list-wallet-accounts.ts';
import { listWallets } from './wallets/list-wallets.ts';
import { updateWallet } from './wallets/update-wallet.ts';
import { createWebhookEndpoint } from './webhooks/create-webhook-endpoint.ts';
import { deleteWebhookEndpoint } from './webhooks/delete-webhook-endpoint.ts';
import { listWebhookDeliveries } from './webhooks/list-webhook-deliveries.ts';
import { listWebhookEndpoints } from './webhooks/list-webhook-endpoints.ts';
import { replayWebhookDelivery } from './webhooks/replay-webhook-delivery.ts';
import { testWebhookEndpoint } from './webhooks/test-webhook-endpoint.ts';
import { updateWebhookEndpoint } from './webhooks/update-webhook-endpoint.ts';

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
