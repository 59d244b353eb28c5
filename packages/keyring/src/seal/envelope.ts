import { createCipheriv, createDecipheriv, randomFillSync } from 'node:crypto';
import { KeyringError, notOpened } from '../errors.ts';
import { Secret } from '../secret.ts';
import * as layout from './layout.ts';

/** Where random bytes come from. Only tests pass another source, to reproduce the vectors of SPEC.md. */
export type RandomBytes = (length: number) => Uint8Array;

/** Fills an array of its own: the shared pool behind small buffers could not be wiped. */
export const systemRandom: RandomBytes = (length) => randomFillSync(new Uint8Array(length));

export interface RootKey {
  readonly id: Uint8Array;
  readonly key: Uint8Array;
}

export interface OrganizationKey {
  readonly id: Uint8Array;
  readonly key: Uint8Array;
  /** Opens what was sealed before this key took its place. */
  readonly earlier?: OrganizationKey;
}

/** A new organization key, known only wrapped under the root key. */
export function wrapNewOrganizationKey(root: RootKey, organizationId: string, random: RandomBytes): Uint8Array {
  const organizationKeyId = random(layout.KEY_ID_BYTES);
  const nonce = random(layout.NONCE_BYTES);
  const associated = layout.organizationKeyData(organizationId, root.id, organizationKeyId);
  const box = new Secret(random(layout.KEY_BYTES)).use((key) => encrypt(root.key, nonce, associated, key));
  return layout.encodeOrganizationKey({ rootKeyId: root.id, organizationKeyId, nonce, box });
}

/** The same key with its id, wrapped under another root key. */
export function rewrapOrganizationKey(
  root: RootKey,
  organizationId: string,
  { id, key }: OrganizationKey,
  random: RandomBytes,
): Uint8Array {
  const nonce = random(layout.NONCE_BYTES);
  const associated = layout.organizationKeyData(organizationId, root.id, id);
  const box = encrypt(root.key, nonce, associated, key);
  return layout.encodeOrganizationKey({ rootKeyId: root.id, organizationKeyId: id, nonce, box });
}

/** The caller owns the opened key and wipes it. */
export function unwrapOrganizationKey(
  root: RootKey,
  organizationId: string,
  wrapped: layout.WrappedOrganizationKey,
): OrganizationKey {
  const associated = layout.organizationKeyData(organizationId, wrapped.rootKeyId, wrapped.organizationKeyId);
  return {
    id: new Uint8Array(wrapped.organizationKeyId),
    key: decrypt(root.key, wrapped.nonce, associated, wrapped.box),
  };
}

export function sealSecret(
  organizationKey: OrganizationKey,
  binding: layout.Binding,
  plaintext: Uint8Array,
  random: RandomBytes,
): Uint8Array {
  const dataKeyId = random(layout.KEY_ID_BYTES);
  const dataKeyNonce = random(layout.NONCE_BYTES);
  const secretNonce = random(layout.NONCE_BYTES);
  const dataKeyAssociated = layout.dataKeyData(binding, organizationKey.id, dataKeyId);
  return new Secret(random(layout.KEY_BYTES)).use((dataKey) =>
    layout.encodeSealedSecret({
      organizationKeyId: organizationKey.id,
      dataKeyId,
      dataKeyNonce,
      dataKeyBox: encrypt(organizationKey.key, dataKeyNonce, dataKeyAssociated, dataKey),
      secretNonce,
      secretBox: encrypt(dataKey, secretNonce, layout.secretData(binding, dataKeyId), plaintext),
    }),
  );
}

export function openSecret(
  organizationKey: OrganizationKey,
  binding: layout.Binding,
  sealed: layout.SealedSecret,
): Uint8Array {
  return new Secret(openDataKey(organizationKey, binding, sealed)).use((key) =>
    decrypt(key, sealed.secretNonce, layout.secretData(binding, sealed.dataKeyId), sealed.secretBox),
  );
}

/** What is in front of a secret, with its data key under the organization key that is in use; as it is where it is so. */
export function rewrapDataKey(
  organizationKey: OrganizationKey,
  binding: layout.Binding,
  head: Uint8Array,
  random: RandomBytes,
): Uint8Array {
  const sealed = layout.decodeSealedHead(head);
  return new Secret(openDataKey(organizationKey, binding, sealed)).use((dataKey) => {
    if (isSameId(sealed.organizationKeyId, organizationKey.id)) return head;
    const { dataKeyId } = sealed;
    const dataKeyNonce = random(layout.NONCE_BYTES);
    const associated = layout.dataKeyData(binding, organizationKey.id, dataKeyId);
    return layout.encodeSealedSecret({
      organizationKeyId: organizationKey.id,
      dataKeyId,
      dataKeyNonce,
      dataKeyBox: encrypt(organizationKey.key, dataKeyNonce, associated, dataKey),
      secretNonce: new Uint8Array(0),
      secretBox: new Uint8Array(0),
    });
  });
}

function openDataKey(
  organizationKey: OrganizationKey,
  binding: layout.Binding,
  { organizationKeyId, dataKeyId, dataKeyNonce, dataKeyBox }: Omit<layout.SealedSecret, 'secretNonce' | 'secretBox'>,
): Uint8Array {
  const { earlier } = organizationKey;
  const isEarlier = earlier !== undefined && isSameId(organizationKeyId, earlier.id);
  const { id, key } = isEarlier ? earlier : organizationKey;
  if (!isSameId(organizationKeyId, id)) throw notOpened();
  return decrypt(key, dataKeyNonce, layout.dataKeyData(binding, organizationKeyId, dataKeyId), dataKeyBox);
}

const isSameId = (one: Uint8Array, other: Uint8Array): boolean => layout.keyIdText(one) === layout.keyIdText(other);

/** AES-256-GCM (NIST SP 800-38D) with a tag of 128 bits, which follows the ciphertext. */
export function encrypt(key: Uint8Array, nonce: Uint8Array, associated: Uint8Array, plaintext: Uint8Array): Uint8Array {
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: layout.TAG_BYTES });
  cipher.setAAD(associated);
  const box = new Uint8Array(plaintext.length + layout.TAG_BYTES);
  box.set(cipher.update(plaintext));
  cipher.final();
  box.set(cipher.getAuthTag(), plaintext.length);
  return box;
}

export function decrypt(key: Uint8Array, nonce: Uint8Array, associated: Uint8Array, box: Uint8Array): Uint8Array {
  const length = box.length - layout.TAG_BYTES;
  if (length < 0) throw new KeyringError('INVALID_INPUT', 'a box is shorter than its tag');
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: layout.TAG_BYTES });
  decipher.setAAD(associated);
  decipher.setAuthTag(box.subarray(length));
  const plaintext = decipher.update(box.subarray(0, length));
  try {
    decipher.final();
  } catch {
    // What was decrypted is not authentic, and may still resemble the secret.
    plaintext.fill(0);
    throw notOpened();
  }
  return new Uint8Array(plaintext.buffer, plaintext.byteOffset, plaintext.length);
}
