import { uuidv7 } from 'uuidv7';

declare const brand: unique symbol;
type Id<Name extends string> = string & { readonly [brand]: Name };

export type OrganizationId = Id<'organization'>;
export type UserId = Id<'user'>;
export type ActivityId = Id<'activity'>;
export type VoteId = Id<'vote'>;
export type ApiKeyId = Id<'api-key'>;
export type AuthenticatorId = Id<'authenticator'>;
export type TagId = Id<'tag'>;
export type InvitationId = Id<'invitation'>;
export type WalletId = Id<'wallet'>;
export type WalletAccountId = Id<'wallet-account'>;
export type PrivateKeyId = Id<'private-key'>;
export type SecretId = Id<'secret'>;
export type PolicyId = Id<'policy'>;
export type MfaPolicyId = Id<'mfa-policy'>;
export type SessionProfileId = Id<'session-profile'>;
export type ContractInterfaceId = Id<'contract-interface'>;
export type OtpId = Id<'otp'>;
export type OauthProviderId = Id<'oauth-provider'>;
export type Oauth2CredentialId = Id<'oauth2-credential'>;
export type VelocityControlId = Id<'velocity-control'>;
export type FiatOnRampCredentialId = Id<'fiat-on-ramp-credential'>;
export type OnRampTransactionId = Id<'on-ramp-transaction'>;
export type WebhookEndpointId = Id<'webhook-endpoint'>;
export type WebhookEventId = Id<'webhook-event'>;
export type WebhookDeliveryId = Id<'webhook-delivery'>;
export type DeployedAppId = Id<'tvc-app'>;
export type DeploymentId = Id<'tvc-deployment'>;
export type ManifestId = Id<'tvc-manifest'>;
export type ManifestApprovalId = Id<'tvc-approval'>;
export type OperatorId = Id<'tvc-operator'>;
export type OperatorSetId = Id<'tvc-operator-set'>;
export type SendId = Id<'send'>;
export type EarnRequestId = Id<'earn-request'>;
export type GasUsageConfigId = Id<'gas-usage-config'>;

/** Makes identifiers. Version 7, so that rows made later sort later and lists can page by id alone. */
export type NewId = <Name extends string>() => Id<Name>;

export const randomId: NewId = <Name extends string>() => uuidv7() as Id<Name>;

export const UUID_PATTERN = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$';
const UUID = new RegExp(UUID_PATTERN);

export const isUuid = (text: string): boolean => UUID.test(text);
