import { hexOf } from './bundle/encoding.ts';
import { importSigningKey, publicKeyOf, type SigningKey } from './bundle/p256.ts';
import { KeyringError } from './errors.ts';
import type { ServiceRole } from './keyring.ts';

export interface OpenedServiceKey {
  readonly role: ServiceRole;
  /** The holder of this object wipes it. */
  readonly key: Uint8Array;
}

/** The keys that the service signs with. Those of roles that no call uses are checked and not kept. */
export class ServiceKeys {
  #bundleSigner: SigningKey | undefined;

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
    const signer = keys.find(({ role }) => role === 'bundle-signer');
    this.#bundleSigner = signer && importSigningKey(signer.key);
  }

  bundleSigner(): SigningKey {
    if (this.#bundleSigner === undefined) {
      throw new KeyringError('UNAVAILABLE', 'the service key of the role bundle-signer is not loaded');
    }
    return this.#bundleSigner;
  }

  clear(): void {
    this.#bundleSigner = undefined;
  }
}
