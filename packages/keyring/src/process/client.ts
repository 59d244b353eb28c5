import type { AddressFormat } from '../address/formats.ts';
import type { AppProof } from '../bundle/app-proof.ts';
import type { Session } from '../bundle/session-jwt.ts';
import type { VerificationToken } from '../bundle/verification-token.ts';
import { checkWebhooks } from '../check-webhooks.ts';
import type { Curve } from '../curve.ts';
import type { MnemonicLanguage } from '../derive/mnemonic.ts';
import { closed } from '../errors.ts';
import type * as api from '../keyring.ts';
import type { Binding } from '../seal/layout.ts';
import { type Signature, unflattenSignatures } from '../sign/signature.ts';
import { KeyringProcess, type StartSettings } from './keyring-process.ts';
import type { Method } from './protocol.ts';

/** Fewer signatures than this are not worth another thread. */
const SIGNATURES_PER_THREAD_MIN = 16;

/** The keyring in a process of its own. */
export class ProcessKeyring implements api.Keyring {
  readonly #process: KeyringProcess;

  private constructor(process: KeyringProcess) {
    this.#process = process;
  }

  static async start(settings: StartSettings): Promise<ProcessKeyring> {
    return new ProcessKeyring(await KeyringProcess.start(settings));
  }

  /** The id of the process, while there is one. */
  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Resolves when the process is there and has its service keys; also when the keyring is closed. */
  ready(): Promise<void> {
    return this.#process.ready();
  }

  get rootKeyId(): string {
    return this.#process.ring.active;
  }

  hasRootKey(id: string): boolean {
    return this.#process.isUp && this.#process.ring.ids.includes(id);
  }

  ping(): Promise<void> {
    return this.#process.ping();
  }

  get load(): api.KeyringLoad {
    return this.#process.load;
  }

  get closing(): AbortSignal {
    return this.#process.closing;
  }

  createOrganizationKey(organizationId: string): Promise<Uint8Array> {
    return this.#call('createOrganizationKey', organizationId);
  }

  rewrapOrganizationKey(organizationId: string, wrapped: Uint8Array): Promise<Uint8Array> {
    return this.#call('rewrapOrganizationKey', organizationId, wrapped);
  }

  addRootKey(): Promise<string> {
    return this.#process.changeRing('addRootKey');
  }

  async removeRootKey(id: string): Promise<void> {
    await this.#process.changeRing('removeRootKey', id);
  }

  async refreshRing(): Promise<api.RingState> {
    await this.#call('refreshRing');
    // A thread that has read another one said so before it answered.
    return this.#process.ring;
  }

  seal(organizationKey: Uint8Array, binding: Binding, plaintext: Uint8Array): Promise<Uint8Array> {
    return this.#call('seal', organizationKey, binding, plaintext);
  }

  open(organizationKey: Uint8Array, binding: Binding, blob: Uint8Array): Promise<Uint8Array> {
    return this.#call('open', organizationKey, binding, blob);
  }

  canOpen(
    organizationKey: Uint8Array,
    organizationId: string,
    secrets: readonly api.StoredSecret[],
  ): Promise<boolean[]> {
    return this.#call('canOpen', organizationKey, organizationId, secrets);
  }

  createWallet(
    holder: api.Holder,
    words: api.WordCount,
    accounts: readonly api.AccountSpec[],
  ): Promise<api.CreatedWallet> {
    return this.#call('createWallet', holder, words, accounts);
  }

  deriveAccounts(
    holder: api.Holder,
    sealedSeed: Uint8Array,
    accounts: readonly api.AccountSpec[],
  ): Promise<api.DerivedAccount[]> {
    return this.#call('deriveAccounts', holder, sealedSeed, accounts);
  }

  createPrivateKey(
    holder: api.Holder,
    curve: Curve,
    addressFormats: readonly AddressFormat[],
  ): Promise<api.CreatedPrivateKey> {
    return this.#call('createPrivateKey', holder, curve, addressFormats);
  }

  async sign(
    holder: api.Holder,
    key: api.SigningKey,
    scheme: api.SigningScheme,
    payloads: readonly Uint8Array[],
  ): Promise<Signature[]> {
    const count = Array.isArray(payloads) ? payloads.length : 0;
    // Where all threads have work, parts would only cost more calls.
    const idle = this.#process.idleThreads;
    const parts = Math.min(idle, Math.floor(count / SIGNATURES_PER_THREAD_MIN));
    const size = Math.ceil(count / Math.max(1, parts));
    const lists =
      parts <= 1
        ? [payloads]
        : Array.from({ length: parts }, (_, part) => payloads.slice(part * size, (part + 1) * size));
    const calls = lists.map((list) => this.#call<Uint8Array>('sign', holder, key, scheme, list));
    return (await Promise.all(calls)).flatMap(unflattenSignatures);
  }

  exportWallet(
    holder: api.Holder,
    sealedSeed: Uint8Array,
    language: MnemonicLanguage | undefined,
    targetPublicKey: Uint8Array,
  ): Promise<string> {
    return this.#call('exportWallet', holder, sealedSeed, language, targetPublicKey);
  }

  exportAccount(
    holder: api.Holder,
    sealedSeed: Uint8Array,
    curve: Curve,
    path: string,
    targetPublicKey: Uint8Array,
  ): Promise<string> {
    return this.#call('exportAccount', holder, sealedSeed, curve, path, targetPublicKey);
  }

  exportPrivateKey(holder: api.Holder, sealedKey: Uint8Array, targetPublicKey: Uint8Array): Promise<string> {
    return this.#call('exportPrivateKey', holder, sealedKey, targetPublicKey);
  }

  createImportTarget(holder: api.Holder, userId: string): Promise<api.ImportTarget> {
    return this.#call('createImportTarget', holder, userId);
  }

  importWallet(
    wallet: api.Holder,
    targets: readonly api.SealedTarget[],
    encryptedBundle: string,
    accounts: readonly api.AccountSpec[],
  ): Promise<api.ImportedWallet> {
    return this.#call('importWallet', wallet, targets, encryptedBundle, accounts);
  }

  importPrivateKey(
    key: api.Holder,
    targets: readonly api.SealedTarget[],
    encryptedBundle: string,
    curve: Curve,
    addressFormats: readonly AddressFormat[],
  ): Promise<api.ImportedPrivateKey> {
    return this.#call('importPrivateKey', key, targets, encryptedBundle, curve, addressFormats);
  }

  createSecretTargets(holder: api.Holder, count: number): Promise<api.SecretTarget[]> {
    return this.#call('createSecretTargets', holder, count);
  }

  importSecret(secret: api.Holder, target: api.SealedTarget, secretPayload: string): Promise<Uint8Array> {
    return this.#call('importSecret', secret, target, secretPayload);
  }

  exportSecret(secret: api.Holder, sealedSecret: Uint8Array, targetPublicKey: Uint8Array): Promise<string> {
    return this.#call('exportSecret', secret, sealedSecret, targetPublicKey);
  }

  createOtp(holder: api.Holder, code: string): Promise<api.CreatedOtp> {
    return this.#call('createOtp', holder, code);
  }

  checkOtp(holder: api.Holder, sealedOtp: Uint8Array, attempt: api.OtpAttempt): Promise<api.OtpCheck> {
    return this.#call('checkOtp', holder, sealedOtp, attempt);
  }

  createCredential(targetPublicKey: Uint8Array): Promise<api.CreatedCredential> {
    return this.#call('createCredential', targetPublicKey);
  }

  signSession(session: Session): Promise<string> {
    return this.#call('signSession', session);
  }

  signVerificationToken(token: VerificationToken): Promise<string> {
    return this.#call('signVerificationToken', token);
  }

  signIdToken(claims: Readonly<Record<string, unknown>>): Promise<string> {
    return this.#call('signIdToken', claims);
  }

  /** By one thread: deliveries can wait, and what waits for a signature of a wallet has the others. */
  async signWebhooks(keyId: string, webhooks: readonly api.WebhookToSign[]): Promise<string[]> {
    if (this.closing.aborted) throw closed();
    return this.#call('signWebhooks', ...checkWebhooks(keyId, webhooks));
  }

  importOauthSecret(holder: api.Holder, encryptedClientSecret: string): Promise<Uint8Array> {
    return this.#call('importOauthSecret', holder, encryptedClientSecret);
  }

  lendOauthSecret(holder: api.Holder, sealedSecret: Uint8Array): Promise<Uint8Array> {
    return this.#call('lendOauthSecret', holder, sealedSecret);
  }

  importOnRampSecret(holder: api.Holder, encryptedSecret: string): Promise<Uint8Array> {
    return this.#call('importOnRampSecret', holder, encryptedSecret);
  }

  signMoonpayQuery(holder: api.Holder, sealedSecret: Uint8Array, search: string): Promise<string> {
    return this.#call('signMoonpayQuery', holder, sealedSecret, search);
  }

  signCoinbaseToken(holder: api.Holder, sealedSecret: Uint8Array, call: api.CoinbaseCall): Promise<string> {
    return this.#call('signCoinbaseToken', holder, sealedSecret, call);
  }

  createServiceKey(organizationKey: Uint8Array, role: api.ServiceRole): Promise<api.CreatedServiceKey> {
    return this.#call('createServiceKey', organizationKey, role);
  }

  loadServiceKeys(organizationKey: Uint8Array, keys: readonly api.SealedServiceKey[]): Promise<void> {
    return this.#process.loadServiceKeys(organizationKey, keys);
  }

  signAppProof(payload: string): Promise<AppProof> {
    return this.#call('signAppProof', payload);
  }

  /** Ends the process and waits for its end. */
  close(): Promise<void> {
    return this.#process.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #call<T>(method: Method, ...args: readonly unknown[]): Promise<T> {
    return this.#process.call(method, ...args);
  }
}
