import type { AddressFormat } from './address/formats.ts';
import type { AppProof } from './bundle/app-proof.ts';
import type { Session } from './bundle/session-jwt.ts';
import type { VerificationToken } from './bundle/verification-token.ts';
import type { Curve } from './curve.ts';
import type { MnemonicLanguage } from './derive/languages.ts';
import type { Binding } from './seal/layout.ts';
import type { Signature } from './sign/signature.ts';

/** Whose key material a call is about. What one holder sealed opens for no other. */
export interface Holder {
  /** The organization's wrapped key. */
  readonly organizationKey: Uint8Array;
  readonly organizationId: string;
  /** The wallet, private key, target, secret, one-time code or credential that owns the blob. */
  readonly ownerId: string;
}

export type WordCount = 12 | 15 | 18 | 21 | 24;

export interface AccountSpec {
  readonly curve: Curve;
  readonly path: string;
  readonly addressFormat: AddressFormat;
}

export interface DerivedAccount {
  /** The path in its one spelling, with `'` for hardened levels. */
  readonly path: string;
  /** The path whose key is really used: within a wallet and a curve, equal ones have the same key. */
  readonly pathKey: string;
  /** Hexadecimal: 33 bytes compressed, on Ed25519 32 bytes. */
  readonly publicKey: string;
  readonly address: string;
}

export interface CreatedWallet {
  readonly sealedSeed: Uint8Array;
  readonly accounts: DerivedAccount[];
}

export interface CreatedPrivateKey {
  readonly sealedKey: Uint8Array;
  /** Hexadecimal, as in DerivedAccount. */
  readonly publicKey: string;
  /** In the order of the formats. */
  readonly addresses: string[];
}

export type SigningKey =
  | { readonly kind: 'wallet'; readonly sealed: Uint8Array; readonly curve: Curve; readonly path: string }
  | { readonly kind: 'private-key'; readonly sealed: Uint8Array; readonly curve: Curve };

/** Something sealed, as whoever stores it knows it. */
export interface StoredSecret {
  readonly ownerId: string;
  /** As in SPEC.md, section 6. */
  readonly kind: string;
  readonly sealed: Uint8Array;
}

export interface SecretToImport {
  readonly ownerId: string;
  readonly target: SealedTarget;
  /** `{"encappedPublic","ciphertext"}`, encrypted to the target. */
  readonly secretPayload: string;
}

export interface SecretToExport {
  readonly ownerId: string;
  readonly sealedSecret: Uint8Array;
  readonly targetPublicKey: Uint8Array;
}

/** An account as it goes into a recovery kit. */
export interface AccountForKit extends AccountSpec {
  readonly name?: string;
  readonly address: string;
}

export interface WalletForKit {
  readonly walletId: string;
  readonly name: string;
  readonly sealedSeed: Uint8Array;
  readonly accounts: readonly AccountForKit[];
}

export interface PrivateKeyForKit {
  readonly privateKeyId: string;
  readonly name: string;
  readonly sealedKey: Uint8Array;
  readonly addresses: readonly Pick<AccountForKit, 'addressFormat' | 'address'>[];
}

/** What goes into a recovery kit: at least one wallet or private key. */
export interface RecoveryKitContents {
  readonly organizationName: string;
  readonly madeAtMs: number;
  readonly wallets: readonly WalletForKit[];
  readonly privateKeys: readonly PrivateKeyForKit[];
}

/** Of the packed arguments of `exportRecoveryKit`: some 40,000 wallets with two accounts each. */
export const RECOVERY_KIT_BYTES_MAX = 24 * 1024 * 1024;

/** `taproot` is BIP-340 with the key-path tweak of BIP-341, `schnorr` BIP-340 alone. Ed25519 has `eddsa` only. */
export type SigningScheme = 'ecdsa' | 'eddsa' | 'schnorr' | 'taproot';

/** A one-time key with the id that it was made for, which is its holder's `ownerId`. */
export interface SealedTarget {
  readonly id: string;
  readonly sealed: Uint8Array;
}

export interface ImportTarget {
  readonly sealedTarget: Uint8Array;
  /** Hexadecimal, uncompressed. */
  readonly targetPublicKey: string;
  /** Signed for the organization and the user. */
  readonly importBundle: string;
}

export interface SecretTarget {
  readonly sealedTarget: Uint8Array;
  /** Hexadecimal, uncompressed. */
  readonly targetPublicKey: string;
  /** Signed for the organization: one of `enclaveTargetMessages`. */
  readonly targetBundle: string;
}

export type ImportedWallet = CreatedWallet & { readonly targetId: string };
export type ImportedPrivateKey = CreatedPrivateKey & { readonly targetId: string };

export interface CreatedOtp {
  readonly sealedOtp: Uint8Array;
  /** The key to which the code may be encrypted, signed by the role otp: an `otpEncryptionTargetBundle`. */
  readonly targetBundle: string;
}

/** A code as somebody typed it, or encrypted to the target of the code together with a public key. */
export type OtpAttempt = { readonly code: string } | { readonly encryptedBundle: string };

export interface OtpCheck {
  readonly matches: boolean;
  /** The key beside the right code in an encrypted bundle: compressed, lower-case hexadecimal. */
  readonly publicKey?: string;
}

export interface CreatedCredential {
  /** Hexadecimal, compressed. */
  readonly publicKey: string;
  /** The private key, encrypted to the receiver. */
  readonly credentialBundle: string;
}

/** What the service signs with and is encrypted to, one pair each. */
export const SERVICE_ROLES = [
  'bundle-signer',
  'session-signer',
  'otp',
  'oauth-secret',
  'on-ramp-secret',
  'oidc-issuer',
  'webhook-signer',
] as const;
export type ServiceRole = (typeof SERVICE_ROLES)[number];

/** The pseudo-organization whose key seals service keys and integrity keys. */
export const INSTALLATION_ID = 'deployment';

export interface CreatedServiceKey {
  readonly keyId: string;
  readonly sealed: Uint8Array;
  /** In the one spelling that clients compare with: hexadecimal in the named encoding. */
  readonly publicKey: string;
  /** Two forms of a point of P-256, and the 32 bytes of an Ed25519 key. */
  readonly encoding: 'compressed' | 'uncompressed' | 'raw';
}

export interface SealedServiceKey {
  readonly role: ServiceRole;
  readonly keyId: string;
  readonly sealed: Uint8Array;
}

/** A key under which the service authenticates its rows. */
export interface CreatedIntegrityKey {
  readonly keyId: string;
  readonly sealed: Uint8Array;
}

/** What of a delivery is signed beside the key's id. */
export interface WebhookToSign {
  readonly timestampMs: number;
  /** A UUID in lower case. */
  readonly eventId: string;
  readonly body: string;
}

/** Deliveries in one call. */
export const WEBHOOKS_MAX = 256;
/** Of all bodies in one call, as the lengths of their strings. A call with a single body has the same bound. */
export const WEBHOOKS_LENGTH_MAX = 16 * 1024 * 1024;

/** A call to the on-ramp API of Coinbase, as its token is to name it. */
export interface CoinbaseCall {
  /** The provider's id of the key. */
  readonly keyId: string;
  readonly method: 'GET' | 'POST';
  /** With its port, where that is not the usual one. */
  readonly host: string;
  readonly path: string;
  /** The token is good from then on, for two minutes. */
  readonly nowMs: number;
}

export interface RingState {
  /** The key that new organization keys are wrapped under. */
  readonly active: string;
  /** Every key that can be used. */
  readonly ids: string[];
  /** Keys that are kept but open nothing; absent where there are none. */
  readonly retired?: readonly RetiredRootKey[];
  /** The integrity keys whose rows must be authenticated; absent where there are none. */
  readonly requiresIntegrity?: readonly string[];
}

export interface RetiredRootKey {
  readonly id: string;
  readonly retiredAtMs: number;
}

/** For so long a retired key can be brought back. */
export const RETIRED_KEY_KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** What was asked of the keyring process and is not answered. */
export interface KeyringLoad {
  readonly calls: number;
  readonly bytes: number;
}

/**
 * Bytes in, bytes out, nothing stored: the caller keeps what it is given and brings it back. Every refusal is a
 * KeyringError. No seed and no private key leaves it but inside a bundle or a kit that is encrypted to keys of the caller; two
 * calls, lendOauthSecret and lendIntegrityKey, give back a secret of another kind. Each call has an entry in
 * calls/table.ts.
 */
export interface KeyringCalls {
  /** Resolves when everything that holds keys has answered, however much it has to do. */
  ping(): Promise<void>;
  /** A new key for an organization, wrapped under the active root key. */
  createOrganizationKey(organizationId: string): Promise<Uint8Array>;
  /** The same organization key under the active root key, with its id kept, so that what it sealed still opens. */
  rewrapOrganizationKey(organizationId: string, wrapped: Uint8Array): Promise<Uint8Array>;
  /**
   * A new organization key in front of the one that it is given, which still opens what it sealed; both under the active
   * root key. Two keys are answered as they are.
   */
  renewOrganizationKey(organizationId: string, wrapped: Uint8Array): Promise<Uint8Array>;
  /**
   * The first 94 bytes of sealed secrets, with their data keys under the first of the organization's keys; null for each
   * that does not open. What follows these bytes stays as it is.
   */
  rewrapDataKeys(
    organizationKey: Uint8Array,
    organizationId: string,
    heads: readonly StoredSecret[],
  ): Promise<(Uint8Array | null)[]>;
  /** Adds a new root key to the ring file and makes it the active one. Answers with its id. */
  addRootKey(): Promise<string>;
  /** Takes a root key out of the ring file: what is still wrapped under it is lost. The active key stays. */
  removeRootKey(id: string): Promise<void>;
  /**
   * Keeps a root key in the ring file, from where it opens nothing any more. The active key stays. It counts as retired
   * now, or at a later moment that the caller knows of, if the clock here is behind.
   */
  retireRootKey(id: string, notBeforeMs?: number): Promise<void>;
  /** Lets a retired root key be used again. */
  restoreRootKey(id: string): Promise<void>;
  /** Takes those of the keys out of the ring file that were retired 30 days ago or earlier. Answers with them. */
  removeExpiredRootKeys(ids: readonly string[]): Promise<string[]>;
  /** Reads the ring file again. */
  refreshRing(): Promise<RingState>;
  /** Seals the plaintext for its owner, under a data key of its own. The kind must be one of the callers' own. */
  seal(organizationKey: Uint8Array, binding: Binding, plaintext: Uint8Array): Promise<Uint8Array>;
  /** Opens what `seal` made. NOT_OPENED when any byte or any part of the binding differs. */
  open(organizationKey: Uint8Array, binding: Binding, blob: Uint8Array): Promise<Uint8Array>;
  /**
   * Which of the secrets open, each for its owner and as what it is said to be; in their order, and nothing else of
   * them. An organization key that does not open is refused, also with an empty list.
   */
  canOpen(organizationKey: Uint8Array, organizationId: string, secrets: readonly StoredSecret[]): Promise<boolean[]>;

  /** A new English mnemonic without a passphrase, and accounts of it. */
  createWallet(holder: Holder, words: WordCount, accounts: readonly AccountSpec[]): Promise<CreatedWallet>;
  deriveAccounts(holder: Holder, sealedSeed: Uint8Array, accounts: readonly AccountSpec[]): Promise<DerivedAccount[]>;
  createPrivateKey(holder: Holder, curve: Curve, addressFormats: readonly AddressFormat[]): Promise<CreatedPrivateKey>;
  /** Digests of 32 bytes, whole messages for `eddsa`. The answers are in the order of the payloads. */
  sign(holder: Holder, key: SigningKey, scheme: SigningScheme, payloads: readonly Uint8Array[]): Promise<Signature[]>;

  /** The mnemonic, in its own language when none is given, as a bundle signed for the holder's organization. */
  exportWallet(
    holder: Holder,
    sealedSeed: Uint8Array,
    language: MnemonicLanguage | undefined,
    targetPublicKey: Uint8Array,
  ): Promise<string>;
  exportAccount(
    holder: Holder,
    sealedSeed: Uint8Array,
    curve: Curve,
    path: string,
    targetPublicKey: Uint8Array,
  ): Promise<string>;
  exportPrivateKey(holder: Holder, sealedKey: Uint8Array, targetPublicKey: Uint8Array): Promise<string>;

  /** A one-time key to which a wallet or a private key is to be encrypted. */
  createImportTarget(holder: Holder, userId: string): Promise<ImportTarget>;
  /** Tries the targets in their order. The caller deletes the one that opened the bundle. */
  importWallet(
    wallet: Holder,
    targets: readonly SealedTarget[],
    encryptedBundle: string,
    accounts: readonly AccountSpec[],
  ): Promise<ImportedWallet>;
  importPrivateKey(
    key: Holder,
    targets: readonly SealedTarget[],
    encryptedBundle: string,
    curve: Curve,
    addressFormats: readonly AddressFormat[],
  ): Promise<ImportedPrivateKey>;

  /** One-time keys to which one secret each is to be encrypted. All of them belong to the holder's `ownerId`. */
  createSecretTargets(holder: Holder, count: number): Promise<SecretTarget[]>;
  /** Seals each secret for its owner; all or none. */
  importSecrets(
    organizationKey: Uint8Array,
    organizationId: string,
    secrets: readonly SecretToImport[],
  ): Promise<Uint8Array[]>;
  /** Each secret as a bundle signed for the organization; all or none. */
  exportSecrets(
    organizationKey: Uint8Array,
    organizationId: string,
    secrets: readonly SecretToExport[],
  ): Promise<string[]>;

  /**
   * Seals a keyed hash of the code, and a key to which attempts can be encrypted. The holder's `ownerId` is the otpId.
   * How often it may be tried is for the caller to count.
   */
  createOtp(holder: Holder, code: string): Promise<CreatedOtp>;
  /** Whether the attempt is the code. A bundle that does not open, or holds something else, is as wrong as any. */
  checkOtp(holder: Holder, sealedOtp: Uint8Array, attempt: OtpAttempt): Promise<OtpCheck>;
  /** A new P-256 key whose private half exists only in the bundle. */
  createCredential(targetPublicKey: Uint8Array): Promise<CreatedCredential>;
  /** By the role session-signer, over the hash of the hash. */
  signSession(session: Session): Promise<string>;
  /** By the role otp. */
  signVerificationToken(token: VerificationToken): Promise<string>;
  /** By the role oidc-issuer, with its key id. Claims are texts, whole numbers, truth values and lists of texts. */
  signIdToken(claims: Readonly<Record<string, unknown>>): Promise<string>;
  /**
   * Ed25519 by one key of the role webhook-signer over `v1.ed25519.<keyId>.<timestampMs>.<eventId>.<body>` in UTF-8, for
   * each webhook in their order: lower-case hexadecimal. UNAVAILABLE while no key of this id and role is loaded.
   */
  signWebhooks(keyId: string, webhooks: readonly WebhookToSign[]): Promise<string[]>;
  /** Seals for its owner the client secret that was encrypted to the role oauth-secret. */
  importOauthSecret(holder: Holder, encryptedClientSecret: string): Promise<Uint8Array>;
  /** The client secret itself, for the one request that needs it. The caller wipes it after. */
  lendOauthSecret(holder: Holder, sealedSecret: Uint8Array): Promise<Uint8Array>;
  /** Seals for its owner a secret of an on-ramp provider that was encrypted to the role on-ramp-secret. */
  importOnRampSecret(holder: Holder, encryptedSecret: string): Promise<Uint8Array>;
  /** HMAC-SHA-256 of the query of a URL, with its leading `?`, under such a secret: base64. */
  signMoonpayQuery(holder: Holder, sealedSecret: Uint8Array, search: string): Promise<string>;
  /** The bearer token of one call, by such a secret: ES256 or EdDSA. INVALID_KEY for a secret that is no key. */
  signCoinbaseToken(holder: Holder, sealedSecret: Uint8Array, call: CoinbaseCall): Promise<string>;

  /** A new key pair for a role, sealed under the key of the pseudo-organization INSTALLATION_ID. */
  createServiceKey(organizationKey: Uint8Array, role: ServiceRole): Promise<CreatedServiceKey>;
  /**
   * The service keys to use from now on, in place of all before. Of several for a role the first is the active one; of
   * webhook-signer all are in use, each by its id.
   */
  loadServiceKeys(organizationKey: Uint8Array, keys: readonly SealedServiceKey[]): Promise<void>;
  /** Signed by a pair that was made when the keyring started and is nowhere else. */
  signAppProof(payload: string): Promise<AppProof>;

  /** A new integrity key, sealed under the key of the pseudo-organization INSTALLATION_ID for this generation. */
  createIntegrityKey(organizationKey: Uint8Array, generation: number): Promise<CreatedIntegrityKey>;
  /**
   * The 32 bytes of an integrity key, with which the service authenticates its rows. It opens only as the generation that it
   * was made for. The caller wipes them.
   */
  lendIntegrityKey(
    organizationKey: Uint8Array,
    keyId: string,
    generation: number,
    sealed: Uint8Array,
  ): Promise<Uint8Array>;
  /**
   * Writes into the ring file that rows under this integrity key must be authenticated from now on. No call takes it
   * back. The ring holds 16 of these ids; a further one is INVALID_INPUT. UNAVAILABLE while another process changes the
   * ring: later, again.
   */
  requireIntegrity(keyId: string): Promise<void>;
  /**
   * The integrity keys whose rows must be authenticated, by the ring file as it is now. Refused while the file cannot be
   * looked at, or was replaced by a ring that lacks one of them or the active root key.
   */
  integrityRequired(): Promise<string[]>;

  /**
   * Wallets and private keys of the organization as one file in the format of age, which only the recipients (1 to 16, of
   * X25519) can open; all or none. It counts as one export.
   */
  exportRecoveryKit(
    organizationKey: Uint8Array,
    organizationId: string,
    contents: RecoveryKitContents,
    recipients: readonly string[],
  ): Promise<Uint8Array>;
}

export interface Keyring extends KeyringCalls, AsyncDisposable {
  /** The id of the root key that new organization keys are wrapped under. It changes when a changed ring is read. */
  readonly rootKeyId: string;
  /** Whether the ring, as last read, holds this key; false while no keys can be used, as after the process died. */
  hasRootKey(id: string): boolean;
  readonly load: KeyringLoad;
  /** Aborted when the keyring is closed. */
  readonly closing: AbortSignal;
  /** Wipes every key in memory. Calls made later are refused. */
  close(): Promise<void>;
}
