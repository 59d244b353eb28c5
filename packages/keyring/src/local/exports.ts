import { keyPlaintext, sealExportBundle, walletPlaintext } from '../bundle/export.ts';
import type { MnemonicLanguage } from '../derive/languages.ts';
import { phraseOf } from '../derive/mnemonic.ts';
import type { Holder, SigningKey } from '../keyring.ts';
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
  return keys.unseal(owner, KIND.walletSeed, sealedSeed, (bytes) => {
    const seed = material.decodeSeed(bytes);
    return new Secret(phraseOf(seed.entropy, language ?? seed.language)).use((phrase) =>
      new Secret(walletPlaintext(phrase, seed.passphrase)).use((plaintext) => bundle(keys, owner, target, plaintext)),
    );
  });
}

export async function exportAccount(keys: Keys, owner: Holder, key: SigningKey, target: Uint8Array): Promise<string> {
  return withSigningKey(keys, owner, key, (bytes) => bundle(keys, owner, target, keyPlaintext(bytes)));
}

export async function exportPrivateKey(
  keys: Keys,
  owner: Holder,
  sealedKey: Uint8Array,
  target: Uint8Array,
): Promise<string> {
  return keys.unseal(owner, KIND.privateKey, sealedKey, (bytes) =>
    bundle(keys, owner, target, keyPlaintext(material.decodePrivateKey(bytes).key)),
  );
}

export async function exportSecret(
  keys: Keys,
  owner: Holder,
  sealedSecret: Uint8Array,
  target: Uint8Array,
): Promise<string> {
  return keys.unseal(owner, KIND.secret, sealedSecret, (bytes) =>
    bundle(keys, owner, target, material.decodePlain(bytes)),
  );
}

function bundle({ service }: Keys, { organizationId }: Holder, target: Uint8Array, plaintext: Uint8Array): string {
  return sealExportBundle(service.signer('bundle-signer'), target, organizationId, plaintext);
}
