import { keyPlaintext, sealExportBundle, walletPlaintext } from '../bundle/export.ts';
import type { MnemonicLanguage } from '../derive/languages.ts';
import { phraseOf } from '../derive/mnemonic.ts';
import type { Holder, SecretToExport, SigningKey } from '../keyring.ts';
import { KIND } from '../kinds.ts';
import * as material from '../material.ts';
import { Secret } from '../secret.ts';
import type { Keys } from './keys.ts';
import { withSigningKey } from './signing-key.ts';

export async function exportWallet(
  keys: Keys,
  owner: Holder,
  sealedSeed: Uint8Array,
  language: MnemonicLanguage | undefined,
  target: Uint8Array,
): Promise<string> {
  await admit(keys, 'exportWallet', owner);
  return keys.unseal(owner, KIND.walletSeed, sealedSeed, (bytes) => {
    const seed = material.decodeSeed(bytes);
    return new Secret(phraseOf(seed.entropy, language ?? seed.language)).use((phrase) =>
      new Secret(walletPlaintext(phrase, seed.passphrase)).use((plaintext) => bundle(keys, owner, target, plaintext)),
    );
  });
}

export async function exportAccount(keys: Keys, owner: Holder, key: SigningKey, target: Uint8Array): Promise<string> {
  await admit(keys, 'exportAccount', owner);
  return withSigningKey(keys, owner, key, (bytes) => bundle(keys, owner, target, keyPlaintext(bytes)));
}

export async function exportPrivateKey(
  keys: Keys,
  owner: Holder,
  sealedKey: Uint8Array,
  target: Uint8Array,
): Promise<string> {
  await admit(keys, 'exportPrivateKey', owner);
  return keys.unseal(owner, KIND.privateKey, sealedKey, (bytes) =>
    bundle(keys, owner, target, keyPlaintext(material.decodePrivateKey(bytes).key)),
  );
}

/** Counted together, so that a part of them is never counted for nothing. */
export async function exportSecrets(
  keys: Keys,
  organizationKey: Uint8Array,
  organizationId: string,
  secrets: readonly SecretToExport[],
): Promise<string[]> {
  await keys.transfers.admit({
    kind: 'export',
    what: 'exportSecrets',
    organizationId,
    ownerIds: secrets.map(({ ownerId }) => ownerId),
  });
  const bundles: string[] = [];
  for (const { ownerId, sealedSecret, targetPublicKey } of secrets) {
    const owner = { organizationKey, organizationId, ownerId };
    const exported = await keys.unseal(owner, KIND.secret, sealedSecret, (bytes) =>
      bundle(keys, owner, targetPublicKey, material.decodePlain(bytes)),
    );
    bundles.push(exported);
  }
  return bundles;
}

function bundle({ service }: Keys, { organizationId }: Holder, target: Uint8Array, plaintext: Uint8Array): string {
  return sealExportBundle(service.signer('bundle-signer'), target, organizationId, plaintext);
}

const admit = ({ transfers }: Keys, what: string, { organizationId, ownerId }: Holder): Promise<void> =>
  transfers.admit({ kind: 'export', what, organizationId, ownerIds: [ownerId] });
