import { hexOf } from './bundle/encoding.ts';
import { importSigningKey, publicKeyOf, type SigningKey } from './bundle/p256.ts';
import { KeyringError } from './errors.ts';
import type { ServiceRole } from './keyring.ts';

export interface OpenedServiceKey {
  readonly role: ServiceRole;
  readonly keyId: string;
  /** The holder of this object wipes it. */
  readonly key: Uint8Array;
}

export type ServiceSigner = SigningKey & { readonly keyId: string };

const SIGNING_ROLES = ['bundle-signer', 'session-signer', 'otp', 'oidc-issuer'] as const;
export type SigningRole = (typeof SIGNING_ROLES)[number];

/** The keys that calls of the keyring use. Those of roles that no call uses are checked and not kept. */
export class ServiceKeys {
  #signers: ReadonlyMap<SigningRole, ServiceSigner> = new Map();
  #oauthSecret: Uint8Array | undefined;

  /** Replaces all keys, or none when one of them is refused. Does not keep the bytes. */
  load(keys: readonly OpenedServiceKey[]): void {
    const roles = new Map<string, ServiceRole>();
    for (const { role, key } of keys) {
      const publicKey = hexOf(publicKeyOf(key));
      if ((roles.get(publicKey) ?? role) !== role) {
        throw new KeyringError('INVALID_KEY', 'one key cannot have two roles');
      }
      roles.set(publicKey, role);
    }
    const signers = new Map<SigningRole, ServiceSigner>();
    for (const role of SIGNING_ROLES) {
      const found = keys.find((each) => each.role === role);
      if (found !== undefined) signers.set(role, { ...importSigningKey(found.key), keyId: found.keyId });
    }
    const oauthSecret = keys.find(({ role }) => role === 'oauth-secret');
    this.clear();
    this.#signers = signers;
    this.#oauthSecret = oauthSecret && new Uint8Array(oauthSecret.key);
  }

  signer(role: SigningRole): ServiceSigner {
    const signer = this.#signers.get(role);
    if (signer === undefined) throw notLoaded(role);
    return signer;
  }

  /** The private key to which OAuth 2.0 client secrets are encrypted, to be used before any await. */
  oauthSecretKey(): Uint8Array {
    if (this.#oauthSecret === undefined) throw notLoaded('oauth-secret');
    return this.#oauthSecret;
  }

  clear(): void {
    this.#signers = new Map();
    this.#oauthSecret?.fill(0);
    this.#oauthSecret = undefined;
  }
}

function notLoaded(role: ServiceRole): KeyringError {
  return new KeyringError('UNAVAILABLE', `the service key of the role ${role} is not loaded`);
}
