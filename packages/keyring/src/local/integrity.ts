import { copyOf } from '../check/shape.ts';
import type { CreatedIntegrityKey, Holder } from '../keyring.ts';
import { KIND } from '../kinds.ts';
import * as material from '../material.ts';
import * as layout from '../seal/layout.ts';
import { Secret } from '../secret.ts';
import { installationHolder } from './installation-holder.ts';
import type { Keys } from './keys.ts';

/** The generation is bound with the id: a key that the database gives another one does not open. */
const holder = (organizationKey: Uint8Array, keyId: string, generation: number): Holder =>
  installationHolder(organizationKey, `${keyId}/${generation}`);

export async function createIntegrityKey(
  keys: Keys,
  organizationKey: Uint8Array,
  generation: number,
): Promise<CreatedIntegrityKey> {
  const keyId = layout.keyIdText(keys.random(layout.KEY_ID_BYTES));
  const plaintext = new Secret(keys.random(material.INTEGRITY_KEY_BYTES)).use(material.encodePlain);
  const sealed = await keys.seal(holder(organizationKey, keyId, generation), KIND.integrityKey, plaintext);
  return { keyId, sealed };
}

/** The kind is bound, so nothing but an integrity key leaves the keyring here, and no other call opens one. */
export async function lendIntegrityKey(
  keys: Keys,
  organizationKey: Uint8Array,
  keyId: string,
  generation: number,
  sealed: Uint8Array,
): Promise<Uint8Array> {
  return keys.unseal(holder(organizationKey, keyId, generation), KIND.integrityKey, sealed, (bytes) =>
    copyOf(material.decodeIntegrityKey(bytes)),
  );
}

export async function requireIntegrity({ ring }: Keys, keyId: string): Promise<void> {
  await ring.requireIntegrity(keyId);
}

/** Refused where the file cannot be looked at: an answer from memory might lack what was required since. */
export async function integrityRequired({ ring }: Keys): Promise<string[]> {
  await ring.follow();
  return [...ring.requiresIntegrity];
}
