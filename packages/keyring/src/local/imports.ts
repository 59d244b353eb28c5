import { Buffer } from 'node:buffer';
import type { AddressFormat } from '../address/index.ts';
import { hexOf } from '../bundle/encoding.ts';
import { open as openHpke, type Sealed } from '../bundle/hpke.ts';
import { type ImportedWallet as ImportedPhrase, parseKeyPlaintext, parseWalletPlaintext } from '../bundle/import.ts';
import { generatePrivateKey, publicKeyOf } from '../bundle/p256.ts';
import { signImportTarget, signSecretsTarget } from '../bundle/signed-bundle.ts';
import type { EncryptedSecret } from '../check/bundles.ts';
import type { AccountPlan } from '../check/keys.ts';
import type { Curve } from '../curve.ts';
import type { MnemonicLanguage } from '../derive/languages.ts';
import { parseMnemonic } from '../derive/mnemonic.ts';
import { KeyringError } from '../errors.ts';
import {
  type Holder,
  type ImportedPrivateKey,
  type ImportedWallet,
  type ImportTarget,
  INSTALLATION_ID,
  type SealedTarget,
  type SecretTarget,
} from '../keyring.ts';
import { KIND } from '../kinds.ts';
import * as material from '../material.ts';
import { Secret } from '../secret.ts';
import type { Keys } from './keys.ts';
import { newPrivateKey, newWallet } from './new-keys.ts';
import { tryOpen } from './try-open.ts';

type TargetKind = typeof KIND.importTarget | typeof KIND.secretTarget;

export async function createImportTarget(keys: Keys, owner: Holder, userId: string): Promise<ImportTarget> {
  const signer = keys.service.signer('bundle-signer');
  const { sealedTarget, publicKey } = await newTarget(keys, owner, KIND.importTarget);
  return {
    sealedTarget,
    targetPublicKey: hexOf(publicKey),
    importBundle: signImportTarget(signer, publicKey, owner.organizationId, userId),
  };
}

export async function importWallet(
  keys: Keys,
  owner: Holder,
  targets: readonly SealedTarget[],
  bundle: Sealed,
  plans: readonly AccountPlan[],
): Promise<ImportedWallet> {
  await admit(keys, 'importWallet', owner.organizationId, [owner.ownerId]);
  const { targetId, plaintext } = await openBundle(keys, owner, KIND.importTarget, targets, bundle);
  return plaintext.use(async (bytes) => {
    const { passphrase, ...mnemonic } = readMnemonic(parseWalletPlaintext(bytes));
    const seed = { ...mnemonic, passphrase: Uint8Array.from(Buffer.from(passphrase, 'utf8')) };
    try {
      return { targetId, ...(await newWallet(keys, owner, seed, plans)) };
    } finally {
      seed.entropy.fill(0);
      seed.passphrase.fill(0);
    }
  });
}

export async function importPrivateKey(
  keys: Keys,
  owner: Holder,
  targets: readonly SealedTarget[],
  bundle: Sealed,
  curve: Curve,
  formats: readonly AddressFormat[],
): Promise<ImportedPrivateKey> {
  await admit(keys, 'importPrivateKey', owner.organizationId, [owner.ownerId]);
  const { targetId, plaintext } = await openBundle(keys, owner, KIND.importTarget, targets, bundle);
  return plaintext.use(async (bytes) => ({
    targetId,
    ...(await newPrivateKey(keys, owner, curve, parseKeyPlaintext(bytes, curve), formats)),
  }));
}

export async function createSecretTargets(keys: Keys, owner: Holder, count: number): Promise<SecretTarget[]> {
  const signer = keys.service.signer('bundle-signer');
  const targets: SecretTarget[] = [];
  while (targets.length < count) {
    const { sealedTarget, publicKey } = await newTarget(keys, owner, KIND.secretTarget);
    targets.push({
      sealedTarget,
      targetPublicKey: hexOf(publicKey),
      targetBundle: signSecretsTarget(signer, publicKey, owner.organizationId),
    });
  }
  return targets;
}

/** Counted together, so that a part of them is never counted for nothing. */
export async function importSecrets(
  keys: Keys,
  organizationKey: Uint8Array,
  organizationId: string,
  secrets: readonly EncryptedSecret[],
): Promise<Uint8Array[]> {
  const ownerIds = secrets.map(({ ownerId }) => ownerId);
  await admit(keys, 'importSecrets', organizationId, ownerIds);
  const sealed: Uint8Array[] = [];
  for (const { ownerId, target, payload } of secrets) {
    const owner = { organizationKey, organizationId, ownerId };
    const { plaintext } = await openBundle(keys, owner, KIND.secretTarget, [target], payload);
    sealed.push(await plaintext.use((bytes) => keys.seal(owner, KIND.secret, material.encodePlain(bytes))));
  }
  return sealed;
}

/**
 * Keys of the deployment are its operator's, who imports them with a command. What is sealed for it opens for no organization,
 * so that nobody gains an import by naming it.
 */
async function admit(keys: Keys, what: string, organizationId: string, ownerIds: readonly string[]): Promise<void> {
  if (organizationId === INSTALLATION_ID) return;
  await keys.transfers.admit({ kind: 'import', what, organizationId, ownerIds });
}

async function newTarget(
  keys: Keys,
  holder: Holder,
  kind: TargetKind,
): Promise<{ readonly sealedTarget: Uint8Array; readonly publicKey: Uint8Array }> {
  return new Secret(generatePrivateKey(keys.random)).use(async (key) => ({
    sealedTarget: await keys.seal(holder, kind, material.encodePlain(key)),
    publicKey: publicKeyOf(key),
  }));
}

/** The first target that opens the bundle, with what was in it. */
async function openBundle(
  keys: Keys,
  holder: Holder,
  kind: TargetKind,
  targets: readonly SealedTarget[],
  bundle: Sealed,
): Promise<{ readonly targetId: string; readonly plaintext: Secret }> {
  for (const { id, sealed } of targets) {
    const plaintext = await keys.unseal({ ...holder, ownerId: id }, kind, sealed, (bytes) =>
      tryOpen(() => new Secret(openHpke(material.decodePlain(bytes), bundle))),
    );
    if (plaintext !== undefined) return { targetId: id, plaintext };
  }
  throw new KeyringError('INVALID_BUNDLE', 'the bundle opens with none of the targets');
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
