import { Buffer, isUtf8 } from 'node:buffer';
import { setImmediate } from 'node:timers/promises';
import { type AddressFormat, addressOfKey } from './address/index.ts';
import { type AppProof, signAppProof } from './bundle/app-proof.ts';
import { NONCE_BYTES, signCoinbaseToken } from './bundle/coinbase-token.ts';
import { sealCredentialBundle } from './bundle/credential-bundle.ts';
import { hexOf } from './bundle/encoding.ts';
import { keyPlaintext, sealExportBundle, walletPlaintext } from './bundle/export.ts';
import { open as openHpke, type Sealed } from './bundle/hpke.ts';
import { openHpkeJson, parseHpkeJson } from './bundle/hpke-json.ts';
import { signIdToken } from './bundle/id-token.ts';
import { type ImportedWallet as ImportedPhrase, parseKeyPlaintext, parseWalletPlaintext } from './bundle/import.ts';
import { signMoonpayQuery } from './bundle/moonpay-signature.ts';
import { openOnRampSecret } from './bundle/on-ramp.ts';
import { isOtpCode, otpHash, parseOtpPlaintext } from './bundle/otp.ts';
import {
  compressPoint,
  generatePrivateKey,
  importSigningKey,
  newAgreement,
  publicKeyOf as p256PublicKeyOf,
  type SigningKey as SignerKey,
  uncompressPoint,
} from './bundle/p256.ts';
import { openSealedBox } from './bundle/sealed-box.ts';
import { type Session, signSessionJwt } from './bundle/session-jwt.ts';
import { signImportTarget, signOtpTarget, signSecretsTarget } from './bundle/signed-bundle.ts';
import { signVerificationToken, type VerificationToken } from './bundle/verification-token.ts';
import { signWebhook } from './bundle/webhook-signature.ts';
import * as check from './check.ts';
import { checkCoinbaseCall, checkSearch } from './check-on-ramp.ts';
import { checkWebhooks } from './check-webhooks.ts';
import type { Curve } from './curve.ts';
import { childNode, masterNode } from './derive/derive.ts';
import { type MnemonicLanguage, parseMnemonic, phraseOf, seedOfEntropy } from './derive/mnemonic.ts';
import { generatePrivateKeyOf, publicKeyFormsOf, publicKeyOf } from './derive/public-key.ts';
import { closed, KeyringError } from './errors.ts';
import type * as api from './keyring.ts';
import { DEPLOYMENT_ID } from './keyring.ts';
import * as material from './material.ts';
import { KIND } from './material.ts';
import { NodeCache, walletName } from './node-cache.ts';
import * as envelope from './seal/envelope.ts';
import * as layout from './seal/layout.ts';
import { RootKeyRing } from './seal/root-key.ts';
import { Secret } from './secret.ts';
import { SecretCache } from './secret-cache.ts';
import { curveOfRole, type OpenedServiceKey, ServiceKeys } from './service-keys.ts';
import { signAll } from './sign/sign.ts';
import type { Signature } from './sign/signature.ts';

// Longer than other files, because it is the one place where every call of the interface meets its keys.

const ORGANIZATION_KEYS_MAX = 256;
/** So many derivations or signatures are done before others get their turn. */
const TURN = 32;
/** And after so many characters of webhooks. */
const TURN_LENGTH = 256 * 1024;
const WALLET_LANGUAGE: MnemonicLanguage = 'MNEMONIC_LANGUAGE_ENGLISH';
const OTP_HASH_KEY_BYTES = 32;
const NOTHING = new Uint8Array(0);

type Kind = (typeof KIND)[keyof typeof KIND];
type Location = Pick<check.AccountPlan, 'curve' | 'indices'>;

/** The keyring inside the calling process. */
export class LocalKeyring implements api.Keyring {
  readonly #ring: RootKeyRing;
  readonly #random: envelope.RandomBytes;
  readonly #organizationKeys = new SecretCache<envelope.OrganizationKey>(ORGANIZATION_KEYS_MAX, ({ key }) =>
    key.fill(0),
  );
  readonly #nodes = new NodeCache();
  readonly #loading = new Map<string, Promise<void>>();
  readonly #serviceKeys = new ServiceKeys();
  #proofKeys: { readonly signer: SignerKey; readonly encryptionPublicKey: Uint8Array } | undefined;
  readonly #closing = new AbortController();

  constructor(ring: RootKeyRing, random: envelope.RandomBytes) {
    this.#ring = ring;
    this.#random = random;
  }

  static async open(rootKey: string, create: boolean): Promise<LocalKeyring> {
    return new LocalKeyring(await RootKeyRing.open(rootKey, create, envelope.systemRandom), envelope.systemRandom);
  }

  get rootKeyId(): string {
    return this.#ring.activeId;
  }

  get ringState(): api.RingState {
    return this.#ring.state;
  }

  /** What is asked of it is done at once, or waits for nothing but this process. */
  get load(): api.KeyringLoad {
    return { calls: 0, bytes: 0 };
  }

  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  hasRootKey(id: string): boolean {
    return this.#ring.has(id);
  }

  async ping(): Promise<void> {
    this.#checkOpen();
  }

  async createOrganizationKey(organizationId: string): Promise<Uint8Array> {
    this.#checkOpen();
    layout.checkName(organizationId, 'organizationId');
    const root = this.#ring.get(this.#ring.activeId);
    return envelope.wrapNewOrganizationKey(root, organizationId, this.#random);
  }

  async rewrapOrganizationKey(organizationId: string, wrapped: Uint8Array): Promise<Uint8Array> {
    this.#checkOpen();
    layout.checkName(organizationId, 'organizationId');
    layout.checkBytes(wrapped, 'wrapped');
    const bytes = check.copyOf(wrapped);
    return this.#withOrganizationKey(bytes, organizationId, (key) => {
      const root = this.#ring.get(this.#ring.activeId);
      const isActive = layout.keyIdText(layout.decodeOrganizationKey(bytes).rootKeyId) === this.#ring.activeId;
      return isActive ? bytes : envelope.rewrapOrganizationKey(root, organizationId, key, this.#random);
    });
  }

  async addRootKey(): Promise<string> {
    this.#checkOpen();
    return this.#ring.add(this.#random);
  }

  async removeRootKey(id: string): Promise<void> {
    this.#checkOpen();
    layout.checkName(id, 'id');
    await this.#ring.remove(id);
  }

  async refreshRing(): Promise<api.RingState> {
    this.#checkOpen();
    return this.#ring.refresh();
  }

  async seal(organizationKey: Uint8Array, binding: layout.Binding, plaintext: Uint8Array): Promise<Uint8Array> {
    this.#checkOpen();
    const bound = checkCallerBinding(binding);
    layout.checkBytes(plaintext, 'plaintext');
    if (plaintext.length > layout.PLAINTEXT_BYTES_MAX) {
      throw new KeyringError('INVALID_INPUT', `plaintext is longer than ${layout.PLAINTEXT_BYTES_MAX} bytes`);
    }
    return this.#withOrganizationKey(organizationKey, bound.organizationId, (key) =>
      envelope.sealSecret(key, bound, plaintext, this.#random),
    );
  }

  async open(organizationKey: Uint8Array, binding: layout.Binding, blob: Uint8Array): Promise<Uint8Array> {
    this.#checkOpen();
    const bound = checkCallerBinding(binding);
    layout.checkBytes(blob, 'blob');
    const sealed = layout.decodeSealedSecret(blob);
    return this.#withOrganizationKey(organizationKey, bound.organizationId, (key) =>
      envelope.openSecret(key, bound, sealed),
    );
  }

  async canOpen(
    organizationKey: Uint8Array,
    organizationId: string,
    secrets: readonly api.StoredSecret[],
  ): Promise<boolean[]> {
    this.#checkOpen();
    layout.checkName(organizationId, 'organizationId');
    layout.checkBytes(organizationKey, 'organizationKey');
    const wrapped = check.copyOf(organizationKey);
    const list = check.checkStoredSecrets(secrets);
    await this.#withOrganizationKey(wrapped, organizationId, () => {});
    const answers: boolean[] = [];
    for (const { ownerId, kind, sealed } of list) {
      if (answers.length % TURN === TURN - 1) await setImmediate();
      const opened = await this.#withOrganizationKey(wrapped, organizationId, (key) =>
        tryOpen(() => {
          const parsed = layout.decodeSealedSecret(sealed);
          const plaintext = envelope.openSecret(key, { organizationId, ownerId, kind }, parsed);
          new Secret(plaintext).use((bytes) => material.checkLayout(kind, bytes));
          return true;
        }),
      );
      answers.push(opened === true);
    }
    return answers;
  }

  async createWallet(
    holder: api.Holder,
    words: api.WordCount,
    accounts: readonly api.AccountSpec[],
  ): Promise<api.CreatedWallet> {
    this.#checkOpen();
    const owner = check.checkHolder(holder);
    const count = check.checkWords(words);
    const plans = check.checkAccounts(accounts);
    return new Secret(this.#random((count * 4) / 3)).use((entropy) =>
      this.#newWallet(owner, { entropy, language: WALLET_LANGUAGE, passphrase: NOTHING }, plans),
    );
  }

  async deriveAccounts(
    holder: api.Holder,
    sealedSeed: Uint8Array,
    accounts: readonly api.AccountSpec[],
  ): Promise<api.DerivedAccount[]> {
    this.#checkOpen();
    const owner = check.checkHolder(holder);
    const sealed = check.checkSealed(sealedSeed, 'sealedSeed');
    return this.#derive(owner, sealed, check.checkAccounts(accounts));
  }

  async createPrivateKey(
    holder: api.Holder,
    curve: Curve,
    addressFormats: readonly AddressFormat[],
  ): Promise<api.CreatedPrivateKey> {
    this.#checkOpen();
    const owner = check.checkHolder(holder);
    const known = check.checkCurve(curve);
    const formats = check.checkFormats(known, addressFormats);
    return new Secret(generatePrivateKeyOf(known, this.#random)).use((key) =>
      this.#newPrivateKey(owner, known, key, formats),
    );
  }

  async sign(
    holder: api.Holder,
    key: api.SigningKey,
    scheme: api.SigningScheme,
    payloads: readonly Uint8Array[],
  ): Promise<Signature[]> {
    this.#checkOpen();
    const owner = check.checkHolder(holder);
    const signing = check.checkSigningKey(key);
    const { curve } = signing;
    const known = check.checkScheme(scheme, curve);
    const list = check.checkPayloads(payloads);
    const signatures: Signature[] = [];
    for (let start = 0; start < list.length; start += TURN) {
      if (start > 0) await setImmediate();
      const turn = list.slice(start, start + TURN);
      const made = await this.#withSigningKey(owner, signing, (bytes) => signAll(curve, known, bytes, turn));
      signatures.push(...made);
    }
    return signatures;
  }

  async exportWallet(
    holder: api.Holder,
    sealedSeed: Uint8Array,
    language: MnemonicLanguage | undefined,
    targetPublicKey: Uint8Array,
  ): Promise<string> {
    this.#checkOpen();
    const owner = check.checkHolder(holder);
    const sealed = check.checkSealed(sealedSeed, 'sealedSeed');
    const asked = check.checkLanguage(language);
    const target = checkTargetPublicKey(targetPublicKey);
    return this.#unseal(owner, KIND.walletSeed, sealed, (bytes) => {
      const seed = material.decodeSeed(bytes);
      return new Secret(phraseOf(seed.entropy, asked ?? seed.language)).use((phrase) =>
        new Secret(walletPlaintext(phrase, seed.passphrase)).use((plaintext) => this.#export(owner, target, plaintext)),
      );
    });
  }

  async exportAccount(
    holder: api.Holder,
    sealedSeed: Uint8Array,
    curve: Curve,
    path: string,
    targetPublicKey: Uint8Array,
  ): Promise<string> {
    this.#checkOpen();
    const owner = check.checkHolder(holder);
    const key = check.checkSigningKey({ kind: 'wallet', sealed: sealedSeed, curve, path });
    const target = checkTargetPublicKey(targetPublicKey);
    return this.#withSigningKey(owner, key, (bytes) => this.#export(owner, target, keyPlaintext(bytes)));
  }

  async exportPrivateKey(holder: api.Holder, sealedKey: Uint8Array, targetPublicKey: Uint8Array): Promise<string> {
    this.#checkOpen();
    const owner = check.checkHolder(holder);
    const sealed = check.checkSealed(sealedKey, 'sealedKey');
    const target = checkTargetPublicKey(targetPublicKey);
    return this.#unseal(owner, KIND.privateKey, sealed, (bytes) =>
      this.#export(owner, target, keyPlaintext(material.decodePrivateKey(bytes).key)),
    );
  }

  async createImportTarget(holder: api.Holder, userId: string): Promise<api.ImportTarget> {
    this.#checkOpen();
    const owner = check.checkHolder(holder);
    layout.checkName(userId, 'userId');
    const signer = this.#serviceKeys.signer('bundle-signer');
    const { sealedTarget, publicKey } = await this.#newTarget(owner, KIND.importTarget);
    return {
      sealedTarget,
      targetPublicKey: hexOf(publicKey),
      importBundle: signImportTarget(signer, publicKey, owner.organizationId, userId),
    };
  }

  async importWallet(
    wallet: api.Holder,
    targets: readonly api.SealedTarget[],
    encryptedBundle: string,
    accounts: readonly api.AccountSpec[],
  ): Promise<api.ImportedWallet> {
    this.#checkOpen();
    const owner = check.checkHolder(wallet);
    const known = check.checkTargets(targets);
    const sealed = parseBundle(encryptedBundle);
    const plans = check.checkAccounts(accounts);
    const { targetId, plaintext } = await this.#openImport(owner, KIND.importTarget, known, sealed);
    return plaintext.use(async (bytes) => {
      const { passphrase, ...mnemonic } = readMnemonic(parseWalletPlaintext(bytes));
      const seed = { ...mnemonic, passphrase: Uint8Array.from(Buffer.from(passphrase, 'utf8')) };
      try {
        return { targetId, ...(await this.#newWallet(owner, seed, plans)) };
      } finally {
        seed.entropy.fill(0);
        seed.passphrase.fill(0);
      }
    });
  }

  async importPrivateKey(
    key: api.Holder,
    targets: readonly api.SealedTarget[],
    encryptedBundle: string,
    curve: Curve,
    addressFormats: readonly AddressFormat[],
  ): Promise<api.ImportedPrivateKey> {
    this.#checkOpen();
    const owner = check.checkHolder(key);
    const known = check.checkTargets(targets);
    const sealed = parseBundle(encryptedBundle);
    const keyCurve = check.checkCurve(curve);
    const formats = check.checkFormats(keyCurve, addressFormats);
    const { targetId, plaintext } = await this.#openImport(owner, KIND.importTarget, known, sealed);
    return plaintext.use(async (bytes) => ({
      targetId,
      ...(await this.#newPrivateKey(owner, keyCurve, parseKeyPlaintext(bytes, keyCurve), formats)),
    }));
  }

  async createSecretTargets(holder: api.Holder, count: number): Promise<api.SecretTarget[]> {
    this.#checkOpen();
    const owner = check.checkHolder(holder);
    const number = check.checkTargetCount(count);
    const signer = this.#serviceKeys.signer('bundle-signer');
    const targets: api.SecretTarget[] = [];
    while (targets.length < number) {
      const { sealedTarget, publicKey } = await this.#newTarget(owner, KIND.secretTarget);
      targets.push({
        sealedTarget,
        targetPublicKey: hexOf(publicKey),
        targetBundle: signSecretsTarget(signer, publicKey, owner.organizationId),
      });
    }
    return targets;
  }

  async importSecret(secret: api.Holder, target: api.SealedTarget, secretPayload: string): Promise<Uint8Array> {
    this.#checkOpen();
    const owner = check.checkHolder(secret);
    const known = check.checkTarget(target);
    const sealed = parseBundle(secretPayload);
    const { plaintext } = await this.#openImport(owner, KIND.secretTarget, [known], sealed);
    return plaintext.use((bytes) => this.#seal(owner, KIND.secret, material.encodePlain(bytes)));
  }

  async exportSecret(secret: api.Holder, sealedSecret: Uint8Array, targetPublicKey: Uint8Array): Promise<string> {
    this.#checkOpen();
    const owner = check.checkHolder(secret);
    const sealed = check.checkSealed(sealedSecret, 'sealedSecret');
    const target = checkTargetPublicKey(targetPublicKey);
    return this.#unseal(owner, KIND.secret, sealed, (bytes) =>
      this.#export(owner, target, material.decodePlain(bytes)),
    );
  }

  async createOtp(holder: api.Holder, code: string): Promise<api.CreatedOtp> {
    this.#checkOpen();
    const owner = check.checkHolder(holder);
    const known = check.checkOtpCode(code);
    const signer = this.#serviceKeys.signer('otp');
    return new Secret(generatePrivateKey(this.#random)).use(async (target) => {
      const otp = new Secret(this.#random(OTP_HASH_KEY_BYTES)).use((hashKey) =>
        new Secret(otpHash(hashKey, known)).use((hash) => material.encodeOtp({ hashKey, hash, target })),
      );
      return {
        sealedOtp: await this.#seal(owner, KIND.otp, otp),
        targetBundle: signOtpTarget(signer, p256PublicKeyOf(target)),
      };
    });
  }

  async checkOtp(holder: api.Holder, sealedOtp: Uint8Array, attempt: api.OtpAttempt): Promise<api.OtpCheck> {
    this.#checkOpen();
    const owner = check.checkHolder(holder);
    const sealed = check.checkSealed(sealedOtp, 'sealedOtp');
    const given = check.checkOtpAttempt(attempt);
    return this.#unseal(owner, KIND.otp, sealed, (bytes) => {
      const { hashKey, hash, target } = material.decodeOtp(bytes);
      if ('code' in given) return { matches: isOtpCode(hash, hashKey, given.code) };
      const opened = tryOpen(() => new Secret(openHpkeJson(target, given.encryptedBundle)).use(parseOtpPlaintext));
      if (opened === undefined || !isOtpCode(hash, hashKey, opened.otpCode)) return { matches: false };
      return { matches: true, publicKey: opened.publicKey };
    });
  }

  async createCredential(targetPublicKey: Uint8Array): Promise<api.CreatedCredential> {
    this.#checkOpen();
    const target = checkTargetPublicKey(targetPublicKey);
    return new Secret(generatePrivateKey(this.#random)).use((key) => ({
      publicKey: hexOf(compressPoint(p256PublicKeyOf(key))),
      credentialBundle: sealCredentialBundle(target, key),
    }));
  }

  async signSession(session: Session): Promise<string> {
    this.#checkOpen();
    const known = check.checkSession(session);
    return signSessionJwt(this.#serviceKeys.signer('session-signer'), known);
  }

  async signVerificationToken(token: VerificationToken): Promise<string> {
    this.#checkOpen();
    const known = check.checkVerificationToken(token);
    return signVerificationToken(this.#serviceKeys.signer('otp'), known);
  }

  async signIdToken(claims: Readonly<Record<string, unknown>>): Promise<string> {
    this.#checkOpen();
    const known = check.checkClaims(claims);
    const signer = this.#serviceKeys.signer('oidc-issuer');
    return signIdToken(signer, signer.keyId, known);
  }

  async signWebhooks(keyId: string, webhooks: readonly api.WebhookToSign[]): Promise<string[]> {
    this.#checkOpen();
    const [known, list] = checkWebhooks(keyId, webhooks);
    const signatures: string[] = [];
    let length = 0;
    for (const [index, webhook] of list.entries()) {
      if (index > 0 && (index % TURN === 0 || length > TURN_LENGTH)) {
        await setImmediate();
        this.#checkOpen();
        length = 0;
      }
      length += webhook.body.length;
      // Asked for each time, since it may have been taken away between two turns.
      signatures.push(signWebhook(this.#serviceKeys.webhookSigner(known), known, webhook));
    }
    return signatures;
  }

  async importOauthSecret(holder: api.Holder, encryptedClientSecret: string): Promise<Uint8Array> {
    this.#checkOpen();
    const owner = check.checkHolder(holder);
    const box = check.checkEncryptedSecret(encryptedClientSecret);
    const key = this.#serviceKeys.decryptionKey('oauth-secret');
    const opened = tryOpen(() => new Secret(openSealedBox(key, box)));
    if (opened === undefined) throw secretNotOpened('client secret', 'uncompressed', 'oauth-secret');
    return opened.use((secret) => {
      // No provider gives out such a secret: whoever encrypted it made a mistake.
      if (secret.length === 0 || !isUtf8(secret)) {
        throw new KeyringError('INVALID_BUNDLE', 'the client secret is empty, or not text');
      }
      return this.#seal(owner, KIND.oauthSecret, material.encodePlain(secret));
    });
  }

  async lendOauthSecret(holder: api.Holder, sealedSecret: Uint8Array): Promise<Uint8Array> {
    this.#checkOpen();
    const owner = check.checkHolder(holder);
    const sealed = check.checkSealed(sealedSecret, 'sealedSecret');
    return this.#unseal(owner, KIND.oauthSecret, sealed, (bytes) => check.copyOf(material.decodeProviderSecret(bytes)));
  }

  async importOnRampSecret(holder: api.Holder, encryptedSecret: string): Promise<Uint8Array> {
    this.#checkOpen();
    const owner = check.checkHolder(holder);
    const bundle = check.checkEncryptedSecret(encryptedSecret);
    const key = this.#serviceKeys.decryptionKey('on-ramp-secret');
    const opened = tryOpen(() => new Secret(openOnRampSecret(key, bundle)));
    if (opened === undefined) throw secretNotOpened('secret', 'compressed', 'on-ramp-secret');
    return opened.use((secret) => {
      if (secret.length === 0) throw new KeyringError('INVALID_BUNDLE', 'the secret is empty');
      return this.#seal(owner, KIND.onRampSecret, material.encodePlain(secret));
    });
  }

  async signMoonpayQuery(holder: api.Holder, sealedSecret: Uint8Array, search: string): Promise<string> {
    this.#checkOpen();
    const owner = check.checkHolder(holder);
    const sealed = check.checkSealed(sealedSecret, 'sealedSecret');
    const query = checkSearch(search);
    return this.#unseal(owner, KIND.onRampSecret, sealed, (bytes) =>
      signMoonpayQuery(material.decodeProviderSecret(bytes), query),
    );
  }

  async signCoinbaseToken(holder: api.Holder, sealedSecret: Uint8Array, call: api.CoinbaseCall): Promise<string> {
    this.#checkOpen();
    const owner = check.checkHolder(holder);
    const sealed = check.checkSealed(sealedSecret, 'sealedSecret');
    const known = checkCoinbaseCall(call);
    return this.#unseal(owner, KIND.onRampSecret, sealed, (bytes) =>
      signCoinbaseToken(material.decodeProviderSecret(bytes), known, this.#random(NONCE_BYTES)),
    );
  }

  async createServiceKey(organizationKey: Uint8Array, role: api.ServiceRole): Promise<api.CreatedServiceKey> {
    this.#checkOpen();
    const known = check.checkRole(role);
    const keyId = layout.keyIdText(this.#random(layout.KEY_ID_BYTES));
    const holder = check.checkHolder({ organizationKey, organizationId: DEPLOYMENT_ID, ownerId: keyId });
    const curve = curveOfRole(known);
    const encoding = encodingOfRole(known);
    return new Secret(generatePrivateKeyOf(curve, this.#random)).use(async (key) => {
      const publicKey = hexOf(publicKeyOf(curve, key, encoding === 'raw' ? undefined : encoding));
      const sealed = await this.#seal(holder, KIND.serviceKey, material.encodeServiceKey(known, key));
      return { keyId, sealed, publicKey, encoding };
    });
  }

  async loadServiceKeys(organizationKey: Uint8Array, keys: readonly api.SealedServiceKey[]): Promise<void> {
    this.#checkOpen();
    layout.checkBytes(organizationKey, 'organizationKey');
    const wrapped = check.copyOf(organizationKey);
    const opened: OpenedServiceKey[] = [];
    try {
      for (const { role, keyId, sealed } of check.checkServiceKeys(keys)) {
        const holder = check.checkHolder({ organizationKey: wrapped, organizationId: DEPLOYMENT_ID, ownerId: keyId });
        await this.#unseal(holder, KIND.serviceKey, sealed, (bytes) => {
          const found = material.decodeServiceKey(bytes);
          if (found.role !== role) throw new KeyringError('INVALID_KEY', 'a service key has another role');
          opened.push({ role, keyId, key: check.copyOf(found.key) });
        });
      }
      this.#checkOpen();
      this.#serviceKeys.load(opened);
    } finally {
      for (const { key } of opened) key.fill(0);
    }
  }

  async signAppProof(payload: string): Promise<AppProof> {
    this.#checkOpen();
    const text = check.checkProofPayload(payload);
    // Nothing is ever encrypted to the first key, so its private half is not kept.
    this.#proofKeys ??= {
      signer: new Secret(generatePrivateKey(this.#random)).use(importSigningKey),
      encryptionPublicKey: newAgreement().publicKey,
    };
    return signAppProof(this.#proofKeys.signer, this.#proofKeys.encryptionPublicKey, text);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#organizationKeys.clear();
    this.#nodes.clear();
    this.#serviceKeys.clear();
    this.#proofKeys = undefined;
    this.#ring.wipe();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #newWallet(
    holder: api.Holder,
    seed: material.WalletSeed,
    plans: readonly check.AccountPlan[],
  ): Promise<api.CreatedWallet> {
    const sealedSeed = await this.#seal(holder, KIND.walletSeed, material.encodeSeed(seed));
    // From the sealed seed and not from the one in hand: what is given back is known to open.
    return { sealedSeed, accounts: await this.#derive(holder, sealedSeed, plans) };
  }

  async #newPrivateKey(
    holder: api.Holder,
    curve: Curve,
    key: Uint8Array,
    formats: readonly AddressFormat[],
  ): Promise<api.CreatedPrivateKey> {
    const publicKey = publicKeyFormsOf(curve, key);
    const addresses = formats.map((format) => addressOfKey(format, curve, publicKey));
    const sealedKey = await this.#seal(holder, KIND.privateKey, material.encodePrivateKey(curve, key));
    return { sealedKey, publicKey: hexOf(publicKey.bytes), addresses };
  }

  async #newTarget(
    holder: api.Holder,
    kind: typeof KIND.importTarget | typeof KIND.secretTarget,
  ): Promise<{ readonly sealedTarget: Uint8Array; readonly publicKey: Uint8Array }> {
    return new Secret(generatePrivateKey(this.#random)).use(async (key) => ({
      sealedTarget: await this.#seal(holder, kind, material.encodePlain(key)),
      publicKey: p256PublicKeyOf(key),
    }));
  }

  async #derive(
    holder: api.Holder,
    sealedSeed: Uint8Array,
    plans: readonly check.AccountPlan[],
  ): Promise<api.DerivedAccount[]> {
    return this.#withNodes(holder, sealedSeed, plans, ({ curve, path, pathKey, addressFormat }, key) => {
      const publicKey = publicKeyFormsOf(curve, key);
      return {
        path,
        pathKey,
        publicKey: hexOf(publicKey.bytes),
        address: addressOfKey(addressFormat, curve, publicKey),
      };
    });
  }

  /** Lends the private key at each location, for one synchronous use. */
  async #withNodes<L extends Location, T>(
    holder: api.Holder,
    sealedSeed: Uint8Array,
    locations: readonly L[],
    use: (location: L, key: Uint8Array) => T,
  ): Promise<T[]> {
    const wallet = walletName(holder, sealedSeed);
    const curves = new Set(locations.map(({ curve }) => curve));
    const results: T[] = [];
    do {
      // Also when every node is cached: a holder whose root key was removed has no access any more.
      await this.#withOrganizationKey(holder.organizationKey, holder.organizationId, () => {});
      for (const end = Math.min(results.length + TURN, locations.length); results.length < end; ) {
        const location = locations[results.length] as L;
        const { curve, indices } = location;
        const parent = this.#nodes.parentOf(wallet, curve, indices);
        if (parent === undefined) break;
        const node = childNode(curve, parent, indices.at(-1) as number);
        try {
          results.push(use(location, node.privateKey()));
        } finally {
          node.wipe();
        }
      }
      const missing = [...curves].filter((curve) => !this.#nodes.hasMaster(wallet, curve));
      if (results.length < locations.length && missing.length > 0) {
        await this.#loadMasters(wallet, holder, sealedSeed, missing);
      } else if (results.length < locations.length) await setImmediate();
    } while (results.length < locations.length);
    // A list without accounts is no reason to accept a blob that does not open.
    if (locations.length === 0) await this.#unseal(holder, KIND.walletSeed, sealedSeed, material.decodeSeed);
    return results;
  }

  /** The masters of a wallet, into the cache. Calls that need the same ones at the same time share the work. */
  async #loadMasters(
    wallet: string,
    holder: api.Holder,
    sealedSeed: Uint8Array,
    curves: readonly Curve[],
  ): Promise<void> {
    const name = `${wallet} ${curves.join(' ')}`;
    const running = this.#loading.get(name);
    if (running !== undefined) return running;
    const loaded = this.#unseal(holder, KIND.walletSeed, sealedSeed, async (bytes) => {
      const seed = material.decodeSeed(bytes);
      const stretched = await seedOfEntropy(seed.entropy, seed.language, material.passphraseText(seed));
      new Secret(stretched).use((secret) => {
        this.#checkOpen();
        for (const curve of curves) this.#nodes.putMaster(wallet, curve, masterNode(curve, secret));
      });
    }).finally(() => this.#loading.delete(name));
    this.#loading.set(name, loaded);
    return loaded;
  }

  async #withSigningKey<T>(holder: api.Holder, key: api.SigningKey, use: (key: Uint8Array) => T): Promise<T> {
    if (key.kind === 'wallet') {
      const [location] = check.checkAccounts([{ ...key, addressFormat: 'ADDRESS_FORMAT_COMPRESSED' }]);
      const [result] = await this.#withNodes(holder, key.sealed, [location as Location], (_, bytes) => use(bytes));
      return result as T;
    }
    return this.#unseal(holder, KIND.privateKey, key.sealed, (bytes) => {
      const found = material.decodePrivateKey(bytes);
      if (found.curve !== key.curve) throw new KeyringError('INVALID_KEY', `the key is not one of ${key.curve}`);
      return use(found.key);
    });
  }

  /** The first target that opens the bundle, with what was in it. */
  async #openImport(
    holder: api.Holder,
    kind: typeof KIND.importTarget | typeof KIND.secretTarget,
    targets: readonly api.SealedTarget[],
    bundle: Sealed,
  ): Promise<{ readonly targetId: string; readonly plaintext: Secret }> {
    for (const { id, sealed } of targets) {
      const plaintext = await this.#unseal({ ...holder, ownerId: id }, kind, sealed, (bytes) =>
        tryOpen(() => new Secret(openHpke(material.decodePlain(bytes), bundle))),
      );
      if (plaintext !== undefined) return { targetId: id, plaintext };
    }
    throw new KeyringError('INVALID_BUNDLE', 'the bundle opens with none of the targets');
  }

  #export(holder: api.Holder, targetPublicKey: Uint8Array, plaintext: Uint8Array): string {
    return sealExportBundle(
      this.#serviceKeys.signer('bundle-signer'),
      targetPublicKey,
      holder.organizationId,
      plaintext,
    );
  }

  /** Takes over the plaintext and wipes it. */
  #seal({ organizationKey, ...owner }: api.Holder, kind: Kind, plaintext: Uint8Array): Promise<Uint8Array> {
    return new Secret(plaintext).use(async (bytes) =>
      this.#withOrganizationKey(organizationKey, owner.organizationId, (key) =>
        envelope.sealSecret(key, { ...owner, kind }, bytes, this.#random),
      ),
    );
  }

  /** Lends what was sealed and wipes it after its use. */
  async #unseal<T>(
    { organizationKey, ...owner }: api.Holder,
    kind: Kind,
    sealed: Uint8Array,
    use: (plaintext: Uint8Array) => T,
  ): Promise<Awaited<T>> {
    const parsed = layout.decodeSealedSecret(sealed);
    return await this.#withOrganizationKey(organizationKey, owner.organizationId, (key) =>
      new Secret(envelope.openSecret(key, { ...owner, kind }, parsed)).use(use),
    );
  }

  /** Lends the opened key for one synchronous use, so that it cannot be wiped under its user. */
  async #withOrganizationKey<T>(
    organizationKey: Uint8Array,
    organizationId: string,
    use: (key: envelope.OrganizationKey) => T,
  ): Promise<T> {
    layout.checkBytes(organizationKey, 'organizationKey');
    // A copy, because the name in the cache and the bytes that are opened must be the same after the await.
    const bytes = check.copyOf(organizationKey);
    const wrapped = layout.decodeOrganizationKey(bytes);
    const rootKeyId = layout.keyIdText(wrapped.rootKeyId);
    await this.#ring.ensure(rootKeyId);
    this.#checkOpen();
    const root = this.#ring.get(rootKeyId);
    const name = `${Buffer.from(bytes.buffer).toString('latin1')}${organizationId}`;
    const known = this.#organizationKeys.get(name);
    const key =
      known ?? this.#organizationKeys.put(name, envelope.unwrapOrganizationKey(root, organizationId, wrapped));
    return use(key);
  }

  #checkOpen(): void {
    if (this.closing.aborted) throw closed();
  }
}

/** Callers seal and open their own kinds: nobody gets key material by naming its kind, nor puts some in its place. */
function checkCallerBinding(binding: unknown): layout.Binding {
  const bound = layout.checkBinding(binding);
  if (material.CALLER_KINDS.has(bound.kind)) return bound;
  throw new KeyringError('INVALID_INPUT', 'this kind is not one that callers seal and open');
}

/** Undefined for what is refused. */
function tryOpen<T>(attempt: () => T): T | undefined {
  try {
    return attempt();
  } catch (error) {
    if (error instanceof KeyringError) return undefined;
    throw error;
  }
}

function encodingOfRole(role: api.ServiceRole): api.CreatedServiceKey['encoding'] {
  if (curveOfRole(role) === 'CURVE_ED25519') return 'raw';
  return role === 'on-ramp-secret' ? 'compressed' : 'uncompressed';
}

function secretNotOpened(name: string, encoding: string, role: api.ServiceRole): KeyringError {
  return new KeyringError(
    'INVALID_BUNDLE',
    `the ${name} does not open: it must be text, encrypted to the ${encoding} key of the role ${role}`,
  );
}

function checkTargetPublicKey(publicKey: unknown): Uint8Array {
  layout.checkBytes(publicKey, 'targetPublicKey');
  return uncompressPoint(publicKey);
}

function parseBundle(bundle: unknown): Sealed {
  const text = check.checkBundle(bundle);
  try {
    return parseHpkeJson(text);
  } catch (error) {
    if (error instanceof KeyringError) throw new KeyringError('INVALID_BUNDLE', error.message);
    throw error;
  }
}

/** A phrase on several lines is read as one when its first line alone is no phrase, and refused when both are. */
function readMnemonic({ mnemonic, passphrase, wholePhrase }: ImportedPhrase): {
  readonly entropy: Uint8Array;
  readonly language: MnemonicLanguage;
  readonly passphrase: string;
} {
  const whole = wholePhrase === undefined ? undefined : tryOpen(() => parseMnemonic(wholePhrase));
  if (whole === undefined) return { ...parseMnemonic(mnemonic), passphrase };
  const first = tryOpen(() => parseMnemonic(mnemonic));
  if (first === undefined) return { ...whole, passphrase: '' };
  for (const { entropy } of [whole, first]) entropy.fill(0);
  throw new KeyringError('INVALID_MNEMONIC', 'invalid mnemonic: all lines are one, and the first line is another');
}
