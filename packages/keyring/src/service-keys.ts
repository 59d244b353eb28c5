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

const WEBHOOK_ROLE = 'webhook-signer';

export function curveOfRole(role: ServiceRole): 'CURVE_ED25519' | 'CURVE_P256' {
  return role === WEBHOOK_ROLE ? 'CURVE_ED25519' : 'CURVE_P256';
}

/** The keys that calls of the keyring use. Those of roles that no call uses are checked and not kept. */
export class ServiceKeys {
  #signers: ReadonlyMap<SigningRole, ServiceSigner> = new Map();
  #webhookSigners: ReadonlyMap<string, KeyObject> = new Map();
  #oauthSecret: Uint8Array | undefined;

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
    const oauthSecret = keys.find(({ role }) => role === 'oauth-secret');
    this.clear();
    this.#signers = signers;
    this.#webhookSigners = webhookSigners;
    this.#oauthSecret = oauthSecret && new Uint8Array(oauthSecret.key);
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

  /** The private key to which OAuth 2.0 client secrets are encrypted, to be used before any await. */
  oauthSecretKey(): Uint8Array {
    if (this.#oauthSecret === undefined) throw notLoaded('oauth-secret');
    return this.#oauthSecret;
  }

  clear(): void {
    this.#signers = new Map();
    this.#webhookSigners = new Map();
    this.#oauthSecret?.fill(0);
    this.#oauthSecret = undefined;
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
