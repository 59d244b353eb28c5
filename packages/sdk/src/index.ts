/** The client of the Custos API for Node, browsers and edge runtimes. */
export { type ApiKeyPair, generateApiKey } from './api-key.ts';
export { ApiKeyStamper } from './api-key-stamper.ts';
export {
  type OpenBearerTokenOptions,
  type OpenCredentialBundleOptions,
  openBearerToken,
  openCredentialBundle,
} from './bundle/credential-bundle.ts';
export {
  type OpenBundleOptions,
  type OpenedWallet,
  openKeyBundle,
  openSecretBundle,
  openWalletBundle,
} from './bundle/open.ts';
export {
  type SealedSecret,
  type SealMnemonicOptions,
  type SealPrivateKeyOptions,
  type SealSecretOptions,
  sealMnemonic,
  sealPrivateKey,
  sealSecret,
} from './bundle/seal.ts';
export type { BundleTrust } from './bundle/signed-bundle.ts';
export { generateTargetKey, type TargetKey } from './bundle/target-key.ts';
export { type CustosClient, createClient } from './client.ts';
export { type CreatePasskeyOptions, createPasskey } from './create-passkey.ts';
export {
  ActivityError,
  ActivityFailedError,
  ActivityPendingError,
  ActivityRejectedError,
  type BundleCheck,
  BundleError,
  type ClientErrorCode,
  CustosError,
  type ErrorCode,
  errorOfAnswer,
  type FieldViolation,
  NetworkError,
} from './errors.ts';
export type {
  ActivityEvent,
  FeedEvent,
  FeedOptions,
  GapEvent,
  SendEvent,
  WebhookDeliveryEvent,
} from './feed.ts';
export { fingerprintOf } from './fingerprint.ts';
export type * from './generated/operations.ts';
export { ERROR_CODES, OPERATIONS } from './generated/operations.ts';
export { AttestedStamper, type AttestedStamperOptions } from './login/attested-stamper.ts';
export { type SealClientSecretOptions, sealClientSecret } from './login/client-secret.ts';
export {
  type ClientSignature,
  type LoginSignatureOptions,
  loginClientSignature,
  type SignupSignatureOptions,
  signupClientSignature,
} from './login/client-signature.ts';
export { type EncryptOtpCodeOptions, encryptOtpCode } from './login/encrypt-otp-code.ts';
export { oidcNonceOf } from './login/oidc-nonce.ts';
export { type SessionClaims, type VerifySessionOptions, verifySession } from './login/session.ts';
export {
  type VerificationClaims,
  type VerifyVerificationTokenOptions,
  verifyVerificationToken,
} from './login/verification-token.ts';
export { type SealOnRampSecretOptions, sealOnRampSecret } from './on-ramp/on-ramp-secret.ts';
export type { ClientOptions, QueryOptions, RawOptions, SubmitOptions } from './options.ts';
export { PasskeyStamper, type PasskeyStamperOptions } from './passkey-stamper.ts';
export { type ProxyCallOptions, type ProxyClient, type ProxyClientOptions, proxyClient } from './proxy/proxy-client.ts';
export type * from './proxy/requests.ts';
export { type FetchServiceKeysOptions, fetchServiceKeys, type ServiceKey } from './service-keys.ts';
export { SessionKey } from './session-key.ts';
export { SessionStamper } from './session-stamper.ts';
export type { SignedRequest } from './signed-request-type.ts';
export type { Signer } from './signer.ts';
export type { Stamp, Stamper, StampOptions } from './stamper.ts';
export { type AppProof, verifyAppProof } from './verify-app-proof.ts';
export { verifyVote } from './verify-vote.ts';
export type { WebhookHeaders } from './webhook/headers.ts';
export type { WebhookJwk, WebhookKey, WebhookKeys } from './webhook/keys.ts';
export {
  WEBHOOK_FAILURE_REASONS,
  type WebhookFailure,
  type WebhookFailureReason,
  type WebhookSuccess,
  type WebhookVerification,
} from './webhook/result.ts';
export { type VerifyWebhookOptions, verifyWebhook, type WebhookBody } from './webhook/verify-webhook.ts';
export {
  createWebhookVerifier,
  type WebhookVerifier,
  type WebhookVerifierOptions,
} from './webhook/webhook-verifier.ts';
