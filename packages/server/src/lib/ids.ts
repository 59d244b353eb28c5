import { randomFillSync } from 'node:crypto';
import { V7Generator } from 'uuidv7';

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
export type RecoveryKitId = Id<'recovery-kit'>;
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

/** Random numbers of the operating system, fetched many at a time: to ask for a few takes as long. */
class RandomNumbers {
  readonly #numbers = new Uint32Array(1024);
  #used = this.#numbers.length;

  nextUint32(): number {
    if (this.#used === this.#numbers.length) {
      randomFillSync(this.#numbers);
      this.#used = 0;
    }
    const number = this.#numbers[this.#used] as number;
    this.#used += 1;
    return number;
  }
}

const ids = new V7Generator(new RandomNumbers());

export const randomId: NewId = <Name extends string>() => ids.generate().toString() as Id<Name>;

export const UUID_PATTERN = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$';
const UUID = new RegExp(UUID_PATTERN);

export const isUuid = (text: string): boolean => UUID.test(text);

/** The first 48 bits of an id of ours are the milliseconds when it was made; undefined for another text. */
export const madeAtMs = (id: string): number | undefined =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-7/.test(id) ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined;
