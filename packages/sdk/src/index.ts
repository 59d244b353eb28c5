/** The client of the Custos API for Node and browsers. */
export { type ApiKeyPair, generateApiKey } from './api-key.ts';
export { ApiKeyStamper } from './api-key-stamper.ts';
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
  type FieldViolation,
  NetworkError,
} from './errors.ts';
export { fingerprintOf } from './fingerprint.ts';
export type * from './generated/operations.ts';
export { ERROR_CODES, OPERATIONS } from './generated/operations.ts';
export type { ClientOptions, QueryOptions, RawOptions, SubmitOptions } from './options.ts';
export { PasskeyStamper, type PasskeyStamperOptions } from './passkey-stamper.ts';
export { type FetchServiceKeysOptions, fetchServiceKeys, type ServiceKey } from './service-keys.ts';
export { SessionStamper } from './session-stamper.ts';
export type { Stamp, Stamper } from './stamper.ts';
export { type AppProof, verifyAppProof } from './verify-app-proof.ts';
export { verifyVote } from './verify-vote.ts';
