import { type KeyObject, timingSafeEqual } from 'node:crypto';
import { importSigningKey, type SigningKey } from './bundle/p256.ts';
import { isPrivateKeyOf } from './derive/public-key.ts';
import { KeyringError } from './errors.ts';
import type { ServiceRole } from './keyring.ts';
import { importEd25519Key } from './sign/ed25519.ts';

export interface OpenedServiceKey {
  readonly role: ServiceRole;
  readonly keyId: string;
  /** The holder of this object wipes it. */
  readonly key: Uint8Array;
}

export type ServiceSigner = SigningKey & { readonly keyId: string };

const SIGNING_ROLES = ['bundle-signer', 'session-signer', 'otp', 'oidc-issuer'] as const;
export type SigningRole = (typeof SIGNING_ROLES)[number];

/** To what clients encrypt secrets of providers. */
const DECRYPTION_ROLES = ['oauth-secret', 'on-ramp-secret'] as const;
export type DecryptionRole = (typeof DECRYPTION_ROLES)[number];

const WEBHOOK_ROLE = 'webhook-signer';

export function curveOfRole(role: ServiceRole): 'CURVE_ED25519' | 'CURVE_P256' {
  return role === WEBHOOK_ROLE ? 'CURVE_ED25519' : 'CURVE_P256';
}

/** The keys that calls of the keyring use. */
export class ServiceKeys {
  #signers: ReadonlyMap<SigningRole, ServiceSigner> = new Map();
  #webhookSigners: ReadonlyMap<string, KeyObject> = new Map();
  #decryptionKeys: ReadonlyMap<DecryptionRole, readonly Uint8Array[]> = new Map();

  /** Replaces all keys, or none when one of them is refused. Does not keep the bytes. */
  load(keys: readonly OpenedServiceKey[]): void {
    checkKeys(keys);
    const signers = new Map<SigningRole, ServiceSigner>();
    for (const role of SIGNING_ROLES) {
      const found = keys.find((each) => each.role === role);
      if (found !== undefined) signers.set(role, { ...importSigningKey(found.key), keyId: found.keyId });
    }
    const webhookSigners = new Map<string, KeyObject>();
    for (const { role, keyId, key } of keys) {
      if (role === WEBHOOK_ROLE) webhookSigners.set(keyId, importEd25519Key(key));
    }
    const decryptionKeys = new Map<DecryptionRole, readonly Uint8Array[]>();
    for (const role of DECRYPTION_ROLES) {
      const found = keys.filter((each) => each.role === role);
      if (found.length > 0)
        decryptionKeys.set(
          role,
          found.map(({ key }) => new Uint8Array(key)),
        );
    }
    this.clear();
    this.#signers = signers;
    this.#webhookSigners = webhookSigners;
    this.#decryptionKeys = decryptionKeys;
  }

  signer(role: SigningRole): ServiceSigner {
    const signer = this.#signers.get(role);
    if (signer === undefined) throw notLoaded(role);
    return signer;
  }

  webhookSigner(keyId: string): KeyObject {
    const key = this.#webhookSigners.get(keyId);
    if (key === undefined) throw notLoaded(WEBHOOK_ROLE);
    return key;
  }

  /** The private keys to which secrets of providers are encrypted, to be used before any await. */
  decryptionKeys(role: DecryptionRole): readonly Uint8Array[] {
    const keys = this.#decryptionKeys.get(role);
    if (keys === undefined) throw notLoaded(role);
    return keys;
  }

  clear(): void {
    this.#signers = new Map();
    this.#webhookSigners = new Map();
    for (const keys of this.#decryptionKeys.values()) for (const key of keys) key.fill(0);
    this.#decryptionKeys = new Map();
  }
}

/** By their bytes and not by their public keys, which differ where the same bytes are a key of both curves. */
function checkKeys(keys: readonly OpenedServiceKey[]): void {
  for (const [index, { role, key }] of keys.entries()) {
    if (!isPrivateKeyOf(curveOfRole(role), key)) {
      throw new KeyringError('INVALID_KEY', 'a service key is no key of its curve');
    }
    const others = keys.slice(0, index).filter((other) => other.role !== role);
    if (others.some((other) => timingSafeEqual(other.key, key))) {
      throw new KeyringError('INVALID_KEY', 'one key cannot have two roles');
    }
  }
}

function notLoaded(role: ServiceRole): KeyringError {
  return new KeyringError('UNAVAILABLE', `the service key of the role ${role} is not loaded`);
}
