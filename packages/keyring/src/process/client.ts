import type { ChildProcess } from 'node:child_process';
import { dirname } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import type { AddressFormat } from '../address/formats.ts';
import type { AppProof } from '../bundle/app-proof.ts';
import type { Session } from '../bundle/session-jwt.ts';
import type { VerificationToken } from '../bundle/verification-token.ts';
import { checkWebhooks } from '../check-webhooks.ts';
import type { Curve } from '../curve.ts';
import type { MnemonicLanguage } from '../derive/mnemonic.ts';
import { closed, KeyringError } from '../errors.ts';
import type * as api from '../keyring.ts';
import type { Binding } from '../seal/layout.ts';
import { syncFolder } from '../seal/private-file.ts';
import { parseRootKeySetting } from '../seal/root-key-setting.ts';
import { type Signature, unflattenSignatures } from '../sign/signature.ts';
import { Line } from './line.ts';
import { detached, errorOf, gone, type Method, type Notice, ROUTES, type Settings } from './protocol.ts';
import { pipesOf, startKeyringProcess } from './start.ts';

const PENDING_MAX = 10_000;
const RESTART_DELAY_MS_MIN = 50;
const RESTART_DELAY_MS_MAX = 5_000;
/** A process that ran so long did not fail at its start, so that the next one may start at once. */
const STABLE_MS = 10_000;
/** A passphrase is stretched for each key and thread. */
const START_MS_MAX = 120_000;
const CLOSE_MS_MAX = 5_000;
/** Fewer signatures than this are not worth another thread. */
const SIGNATURES_PER_THREAD_MIN = 16;

type StartSettings = Omit<Settings, 'methods'>;

/** The keyring in a process of its own, which is started again whenever it ends. */
export class ProcessKeyring implements api.Keyring {
  #settings: StartSettings;
  #child: ChildProcess | undefined;
  /** One to each thread of the process. */
  #lines: readonly Line[] = [];
  /** Whether calls may be sent: the process is ready and has its service keys. */
  #isUp = false;
  readonly #closing = new AbortController();
  #ring: api.RingState = { active: '', ids: [] };
  #serviceKeys: readonly [Uint8Array, readonly api.SealedServiceKey[]] | undefined;
  #restartDelayMs = RESTART_DELAY_MS_MIN;
  #restartTimer: NodeJS.Timeout | undefined;
  /** Those who wait for the process to be back. */
  #waiting: (() => void)[] = [];

  private constructor(settings: StartSettings) {
    this.#settings = settings;
  }

  static async start(settings: StartSettings): Promise<ProcessKeyring> {
    const keyring = new ProcessKeyring(settings);
    try {
      await keyring.#startChild();
      if (settings.create) await keyring.#syncRing();
      // A ring that is gone at a later start is a ring to wait for, never a reason for a new key.
      keyring.#settings = { ...settings, create: false };
      if (keyring.#child === undefined) throw gone();
    } catch (error) {
      await keyring.close();
      throw error;
    }
    keyring.#isUp = true;
    return keyring;
  }

  /** The id of the process, while there is one. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Resolves when the process is there and has its service keys; also when the keyring is closed. */
  ready(): Promise<void> {
    if (this.#isUp || this.closing.aborted) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  get rootKeyId(): string {
    return this.#ring.active;
  }

  hasRootKey(id: string): boolean {
    return this.#isUp && this.#ring.ids.includes(id);
  }

  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  createOrganizationKey(organizationId: string): Promise<Uint8Array> {
    return this.#call('createOrganizationKey', organizationId);
  }

  rewrapOrganizationKey(organizationId: string, wrapped: Uint8Array): Promise<Uint8Array> {
    return this.#call('rewrapOrganizationKey', organizationId, wrapped);
  }

  addRootKey(): Promise<string> {
    return this.#changeRing('addRootKey');
  }

  async removeRootKey(id: string): Promise<void> {
    await this.#changeRing('removeRootKey', id);
  }

  async refreshRing(): Promise<api.RingState> {
    await this.#call('refreshRing');
    // A thread that has read another one said so before it answered.
    return this.#ring;
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
    const idle = this.#lines.filter(({ pendingCount }) => pendingCount === 0).length;
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

  async loadServiceKeys(organizationKey: Uint8Array, keys: readonly api.SealedServiceKey[]): Promise<void> {
    // A copy that no caller can change.
    const copy = cloned<[Uint8Array, readonly api.SealedServiceKey[]]>([organizationKey, keys]);
    await this.#call('loadServiceKeys', ...copy);
    this.#serviceKeys = copy;
  }

  signAppProof(payload: string): Promise<AppProof> {
    return this.#call('signAppProof', payload);
  }

  /** Ends the process and waits for its end. */
  async close(): Promise<void> {
    this.#isUp = false;
    this.#closing.abort();
    clearTimeout(this.#restartTimer);
    this.#endLines(closed());
    this.#wakeWaiting();
    const child = this.#child;
    if (child === undefined) return;
    child.ref();
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    if (child.connected) child.disconnect();
    const timer = setTimeout(() => child.kill('SIGKILL'), CLOSE_MS_MAX);
    await ended;
    clearTimeout(timer);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #call<T>(method: Method, ...args: readonly unknown[]): Promise<T> {
    if (this.closing.aborted) throw closed();
    if (!this.#isUp) throw gone();
    return (await this.#send(method, args)) as T;
  }

  async #send(method: Method, args: readonly unknown[]): Promise<unknown> {
    const [first] = this.#lines;
    if (first === undefined) throw gone();
    if (this.#pendingCount >= PENDING_MAX) throw new KeyringError('UNAVAILABLE', 'the keyring has too much to do');
    switch (ROUTES[method]) {
      case 'any':
        return this.#idlest(first).call(method, args);
      case 'first':
        return first.call(method, args);
      case 'all':
        return this.#callAll(method, args);
    }
  }

  /** The thread with the fewest calls; of equal ones the first, whose caches are the warmest. */
  #idlest(first: Line): Line {
    return this.#lines.reduce((best, line) => (line.pendingCount < best.pendingCount ? line : best), first);
  }

  /** The answer of the first thread, when all have answered and none has refused. */
  async #callAll(method: Method, args: readonly unknown[]): Promise<unknown> {
    const outcomes = await Promise.allSettled(this.#lines.map((line) => line.call(method, args)));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    const [first] = outcomes as PromiseFulfilledResult<unknown>[];
    return first?.value;
  }

  /** What is written is synchronized whatever happens next. A thread that cannot read it now does so when it needs to. */
  async #changeRing<T>(method: 'addRootKey' | 'removeRootKey', ...args: readonly unknown[]): Promise<T> {
    const changed = await this.#call<T>(method, ...args);
    await this.#syncRing();
    await this.#callAll('refreshRing', []).catch(() => {});
    return changed;
  }

  get #pendingCount(): number {
    return this.#lines.reduce((sum, { pendingCount }) => sum + pendingCount, 0);
  }

  /** Settles when the process is ready, or has refused to start. */
  async #startChild(): Promise<void> {
    const child = startKeyringProcess(this.#settings);
    this.#child = child;
    const startedAtMs = performance.now();
    const pipes = pipesOf(child);
    const lines = pipes.map((pipe): Line => new Line(pipe, (ring) => this.#follow(lines, ring)));
    this.#lines = lines;
    // Whoever waits for an answer hears of the end, even if nothing else keeps this process alive.
    for (const pipe of pipes) pipe.once('close', () => child.ref());
    const timer = setTimeout(() => child.kill('SIGKILL'), START_MS_MAX);
    try {
      await new Promise<void>((resolve, reject) => {
        let refusal: KeyringError | undefined;
        child.on('message', (message: Notice) => {
          if (message.type === 'failed') {
            refusal = errorOf(message.refusal);
            return;
          }
          this.#ring = message.ring;
          resolve();
        });
        const ended = (): void => {
          reject(refusal ?? gone());
          this.#childEnded(child, performance.now() - startedAtMs);
        };
        child.once('exit', ended);
        // A process that could not be started has no end.
        child.once('error', () => child.pid === undefined && ended());
      });
    } finally {
      clearTimeout(timer);
    }
    child.unref();
    child.channel?.unref();
  }

  #childEnded(child: ChildProcess, lifetimeMs: number): void {
    if (this.#child !== child) return;
    const wasUp = this.#isUp;
    this.#child = undefined;
    this.#isUp = false;
    this.#endLines(gone());
    this.#lines = [];
    if (this.closing.aborted) return;
    if (lifetimeMs > STABLE_MS) this.#restartDelayMs = RESTART_DELAY_MS_MIN;
    if (wasUp) this.#restartLater();
  }

  /** Not before a first start has succeeded: until then whoever started it gets the reason. */
  #restartLater(): void {
    this.#restartTimer = setTimeout(() => void this.#restart(), this.#restartDelayMs);
    this.#restartTimer.unref();
    this.#restartDelayMs = Math.min(2 * this.#restartDelayMs, RESTART_DELAY_MS_MAX);
  }

  async #restart(): Promise<void> {
    try {
      await this.#startChild();
      if (this.#serviceKeys !== undefined) await this.#send('loadServiceKeys', this.#serviceKeys);
    } catch {
      // The process is gone again; or it refused its service keys, and everything else still works.
    }
    if (this.closing.aborted) return;
    this.#isUp = this.#child !== undefined;
    if (this.#isUp) this.#wakeWaiting();
    else this.#restartLater();
  }

  #wakeWaiting(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** A thread has found a changed ring, so that the others read it too. */
  #follow(lines: readonly Line[], ring: api.RingState): void {
    if (lines !== this.#lines || isSameRing(ring, this.#ring)) return;
    this.#ring = ring;
    // What cannot be read is told to whoever calls next.
    this.#callAll('refreshRing', []).catch(() => {});
  }

  #endLines(error: KeyringError): void {
    for (const line of this.#lines) line.end(error);
  }

  /** The process may write the ring but not open its folder, which is synchronized here. */
  #syncRing(): Promise<void> {
    return syncFolder(dirname(parseRootKeySetting(this.#settings.rootKey).ringPath));
  }
}

const isSameRing = (one: api.RingState, other: api.RingState): boolean => JSON.stringify(one) === JSON.stringify(other);

function cloned<T>(value: T): T {
  try {
    return detached(deserialize(serialize(value))) as T;
  } catch {
    throw new KeyringError('INVALID_INPUT', 'an argument cannot be sent to the keyring process');
  }
}
