import * as bundles from '../check/bundles.ts';
import * as keys from '../check/keys.ts';
import { checkCoinbaseCall, checkSearch } from '../check/on-ramp.ts';
import { checkKitContents, checkRecipients } from '../check/recovery-kits.ts';
import * as seals from '../check/seals.ts';
import { bytesOf, nameOf } from '../check/shape.ts';
import * as tokens from '../check/tokens.ts';
import { checkWebhooks } from '../check/webhooks.ts';
import { RECOVERY_KIT_BYTES_MAX, WEBHOOKS_LENGTH_MAX, WEBHOOKS_MAX } from '../keyring.ts';
import { decodeSealedSecret } from '../seal/layout.ts';
import { flattenSignatures, unflattenSignatures } from '../sign/signature.ts';
import type { Call, Method, Route, Transport } from './call.ts';

// Every call of the keyring: where it goes and how its arguments are checked. The client's methods, the line between
// the processes and the dispatch inside the keyring follow from it. Both processes load this file, so nothing in it
// handles keys: the functions are in the folder `local`, by the names of the calls.

const { checkHolder, checkSealed } = keys;
const { checkTargetPublicKey } = bundles;

/** The largest call but one seals 4 MiB. */
const ANY: Route = { to: 'any', seconds: 10, bytesMax: 8 * 1024 * 1024 };
/** Lists of thousands, which let others in between. */
const LONG: Route = { ...ANY, seconds: 60 };
/** A character is packed in one byte or in two. The rest is far below 1 KiB for each. */
const WEBHOOKS: Route = { ...LONG, bytesMax: 2 * WEBHOOKS_LENGTH_MAX + 1024 * WEBHOOKS_MAX };
/** By the first thread, which counts them. */
const COUNTED = { to: 'first' } as const;
const EXPORT: Route = { ...ANY, ...COUNTED };
/** A passphrase is stretched for each key of the ring, and another process may hold the ring's lock. */
const RING_SECONDS = 120;
const RING: Route = { ...ANY, to: 'ring', seconds: RING_SECONDS };

/** In the order of their numbers on a line (SPEC.md, section 8). What is not here does not exist. */
export const CALLS = {
  createOrganizationKey: {
    route: ANY,
    check: (organizationId) => [nameOf(organizationId, 'organizationId')],
  },
  rewrapOrganizationKey: {
    route: ANY,
    check: (organizationId, wrapped) => [nameOf(organizationId, 'organizationId'), bytesOf(wrapped, 'wrapped')],
  },
  renewOrganizationKey: {
    route: ANY,
    check: (organizationId, wrapped) => [nameOf(organizationId, 'organizationId'), bytesOf(wrapped, 'wrapped')],
  },
  rewrapDataKeys: {
    route: ANY,
    check: (organizationKey, organizationId, heads) => [
      bytesOf(organizationKey, 'organizationKey'),
      nameOf(organizationId, 'organizationId'),
      seals.checkStoredSecrets(heads),
    ],
  },
  seal: {
    route: ANY,
    check: (organizationKey, binding, plaintext) => [
      bytesOf(organizationKey, 'organizationKey'),
      seals.checkCallerBinding(binding),
      seals.checkPlaintext(plaintext),
    ],
  },
  open: {
    route: ANY,
    check: (organizationKey, binding, blob) => [
      bytesOf(organizationKey, 'organizationKey'),
      seals.checkCallerBinding(binding),
      decodeSealedSecret(bytesOf(blob, 'blob')),
    ],
  },
  canOpen: {
    route: LONG,
    check: (organizationKey, organizationId, secrets) => [
      bytesOf(organizationKey, 'organizationKey'),
      nameOf(organizationId, 'organizationId'),
      seals.checkStoredSecrets(secrets),
    ],
  },
  createWallet: {
    route: LONG,
    check: (holder, words, accounts) => [checkHolder(holder), keys.checkWords(words), keys.checkAccounts(accounts)],
  },
  deriveAccounts: {
    route: LONG,
    check: (holder, sealedSeed, accounts) => [
      checkHolder(holder),
      checkSealed(sealedSeed, 'sealedSeed'),
      keys.checkAccounts(accounts),
    ],
  },
  createPrivateKey: {
    route: ANY,
    check: (holder, curve, formats) => [checkHolder(holder), ...keys.checkKeyFormats(curve, formats)],
  },
  sign: {
    route: ANY,
    check: (holder, key, scheme, payloads) => [
      checkHolder(holder),
      ...keys.checkSigning(key, scheme),
      keys.checkPayloads(payloads),
    ],
    sharing: { list: 3, perThreadMin: 16, pack: flattenSignatures, unpack: unflattenSignatures },
  },
  exportWallet: {
    route: EXPORT,
    check: (holder, sealedSeed, language, targetPublicKey) => [
      checkHolder(holder),
      checkSealed(sealedSeed, 'sealedSeed'),
      keys.checkLanguage(language),
      checkTargetPublicKey(targetPublicKey),
    ],
  },
  exportAccount: {
    route: EXPORT,
    check: (holder, sealedSeed, curve, path, targetPublicKey) => [
      checkHolder(holder),
      keys.checkSigningKey({ kind: 'wallet', sealed: sealedSeed, curve, path }),
      checkTargetPublicKey(targetPublicKey),
    ],
  },
  exportPrivateKey: {
    route: EXPORT,
    check: (holder, sealedKey, targetPublicKey) => [
      checkHolder(holder),
      checkSealed(sealedKey, 'sealedKey'),
      checkTargetPublicKey(targetPublicKey),
    ],
  },
  createImportTarget: {
    route: ANY,
    check: (holder, userId) => [checkHolder(holder), nameOf(userId, 'userId')],
  },
  importWallet: {
    route: LONG,
    check: (wallet, targets, encryptedBundle, accounts) => [
      checkHolder(wallet),
      bundles.checkTargets(targets),
      bundles.checkBundle(encryptedBundle),
      keys.checkAccounts(accounts),
    ],
  },
  importPrivateKey: {
    route: ANY,
    check: (key, targets, encryptedBundle, curve, formats) => [
      checkHolder(key),
      bundles.checkTargets(targets),
      bundles.checkBundle(encryptedBundle),
      ...keys.checkKeyFormats(curve, formats),
    ],
  },
  createSecretTargets: {
    route: ANY,
    check: (holder, count) => [checkHolder(holder), bundles.checkTargetCount(count)],
  },
  importSecrets: {
    route: ANY,
    check: (organizationKey, organizationId, secrets) => [
      bytesOf(organizationKey, 'organizationKey'),
      nameOf(organizationId, 'organizationId'),
      bundles.checkSecretsToImport(secrets),
    ],
  },
  exportSecrets: {
    route: EXPORT,
    check: (organizationKey, organizationId, secrets) => [
      bytesOf(organizationKey, 'organizationKey'),
      nameOf(organizationId, 'organizationId'),
      bundles.checkSecretsToExport(secrets),
    ],
  },
  createOtp: {
    route: ANY,
    check: (holder, code) => [checkHolder(holder), bundles.checkOtpCode(code)],
  },
  checkOtp: {
    route: ANY,
    check: (holder, sealedOtp, attempt) => [
      checkHolder(holder),
      checkSealed(sealedOtp, 'sealedOtp'),
      bundles.checkOtpAttempt(attempt),
    ],
  },
  createCredential: { route: ANY, check: (targetPublicKey) => [checkTargetPublicKey(targetPublicKey)] },
  signSession: { route: ANY, check: (session) => [tokens.checkSession(session)] },
  signVerificationToken: { route: ANY, check: (token) => [tokens.checkVerificationToken(token)] },
  signIdToken: { route: ANY, check: (claims) => [tokens.checkClaims(claims)] },
  /** By one thread: deliveries can wait, and what waits for a signature of a wallet has the others. */
  signWebhooks: { route: WEBHOOKS, check: checkWebhooks, isCheckedByClient: true },
  importOauthSecret: {
    route: ANY,
    check: (holder, encrypted) => [checkHolder(holder), bundles.checkEncryptedSecret(encrypted)],
  },
  lendOauthSecret: {
    route: ANY,
    check: (holder, sealedSecret) => [checkHolder(holder), checkSealed(sealedSecret, 'sealedSecret')],
  },
  importOnRampSecret: {
    route: ANY,
    check: (holder, encrypted) => [checkHolder(holder), bundles.checkEncryptedSecret(encrypted)],
  },
  signMoonpayQuery: {
    route: ANY,
    check: (holder, sealedSecret, search) => [
      checkHolder(holder),
      checkSealed(sealedSecret, 'sealedSecret'),
      checkSearch(search),
    ],
  },
  signCoinbaseToken: {
    route: ANY,
    check: (holder, sealedSecret, call) => [
      checkHolder(holder),
      checkSealed(sealedSecret, 'sealedSecret'),
      checkCoinbaseCall(call),
    ],
  },
  createServiceKey: {
    route: ANY,
    check: (organizationKey, role) => [bytesOf(organizationKey, 'organizationKey'), seals.checkRole(role)],
  },
  /** By the first thread, since the pair that signs is made once for each process. */
  signAppProof: { route: { ...ANY, to: 'first' }, check: (payload) => [tokens.checkProofPayload(payload)] },
  addRootKey: { route: RING, check: () => [] },
  removeRootKey: { route: RING, check: (id) => [nameOf(id, 'id')] },
  retireRootKey: {
    route: RING,
    check: (id, notBeforeMs = 0) => [nameOf(id, 'id'), seals.checkRetirementTime(notBeforeMs)],
  },
  restoreRootKey: { route: RING, check: (id) => [nameOf(id, 'id')] },
  removeExpiredRootKeys: { route: RING, check: (ids) => [seals.checkKeyIds(ids)] },
  loadServiceKeys: {
    route: { ...ANY, to: 'all', seconds: RING_SECONDS },
    check: (organizationKey, serviceKeys) => [
      bytesOf(organizationKey, 'organizationKey'),
      seals.checkServiceKeys(serviceKeys),
    ],
  },
  refreshRing: { route: { ...ANY, to: 'all', seconds: RING_SECONDS }, check: () => [] },
  ping: { route: { ...ANY, to: 'all', seconds: 2 }, check: () => [] },
  createIntegrityKey: {
    route: ANY,
    check: (organizationKey, generation) => [
      bytesOf(organizationKey, 'organizationKey'),
      seals.checkGeneration(generation),
    ],
  },
  lendIntegrityKey: {
    route: ANY,
    check: (organizationKey, keyId, generation, sealed) => [
      bytesOf(organizationKey, 'organizationKey'),
      seals.checkKeyId(keyId),
      seals.checkGeneration(generation),
      checkSealed(sealed, 'sealed'),
    ],
  },
  /** It can only make a service stricter. */
  requireIntegrity: { route: { ...RING, isForServices: true }, check: (keyId) => [seals.checkKeyId(keyId)] },
  integrityRequired: { route: ANY, check: () => [] },
  exportRecoveryKit: {
    route: { ...LONG, ...COUNTED, bytesMax: RECOVERY_KIT_BYTES_MAX },
    check: (organizationKey, organizationId, contents, recipients) => [
      bytesOf(organizationKey, 'organizationKey'),
      nameOf(organizationId, 'organizationId'),
      checkKitContents(contents),
      checkRecipients(recipients),
    ],
  },
} as const satisfies { readonly [M in Method]: Call<M> };

/** By the numbers that they have on a line. */
export const METHODS = Object.keys(CALLS) as readonly Method[];

/** What a call's function is given. */
export type Checked<M extends Method> = ReturnType<(typeof CALLS)[M]['check']>;

export const transportOf = (method: Method): Transport => CALLS[method];

export function checkArguments<M extends Method>(method: M, args: readonly unknown[]): Checked<M> {
  const check = CALLS[method].check as (...args: readonly unknown[]) => Checked<M>;
  return check(...args);
}
