import { setImmediate } from 'node:timers/promises';
import type { AccountPlan } from '../check/keys.ts';
import type { Curve } from '../curve.ts';
import { childNode, masterNode } from '../derive/derive.ts';
import { seedOfEntropy } from '../derive/mnemonic.ts';
import type { KeyNode } from '../derive/node.ts';
import { parsePath } from '../derive/path.ts';
import type { Holder, SigningKey } from '../keyring.ts';
import { KIND, type Kind } from '../kinds.ts';
import * as material from '../material.ts';
import { NodeCache, walletName } from '../node-cache.ts';
import { Secret } from '../secret.ts';
import { TURN } from './turn.ts';

type WalletKey = Extract<SigningKey, { kind: 'wallet' }>;
type Location = Pick<AccountPlan, 'curve' | 'indices'>;

/** Who opens what was sealed, while the keyring is open. */
interface Opener {
  checkOpen(): void;
  /** Whether the organization's key is open now, under a root key that is there. */
  hasOpened(organizationKey: Uint8Array, organizationId: string): boolean;
  unseal<T>(holder: Holder, kind: Kind, sealed: Uint8Array, use: (plaintext: Uint8Array) => T): Promise<Awaited<T>>;
  withOrganizationKey<T>(organizationKey: Uint8Array, organizationId: string, use: () => T): Promise<T>;
}

/** The private keys of wallets, derived from what the cache holds. */
export class WalletKeys {
  readonly #opener: Opener;
  readonly #nodes = new NodeCache();
  readonly #loading = new Map<string, Promise<void>>();

  constructor(opener: Opener) {
    this.#opener = opener;
  }

  clear(): void {
    this.#nodes.clear();
  }

  /** Lends the account that signs, for one synchronous use, and keeps it. At once where it was kept before. */
  lendSigner<T>(holder: Holder, key: WalletKey, use: (node: KeyNode) => T): T | Promise<T> {
    const wallet = walletName(holder, key.sealed);
    // Also when the account is kept: a holder whose root key was removed has no access any more.
    if (this.#opener.hasOpened(holder.organizationKey, holder.organizationId)) {
      const node = this.#nodes.signer(wallet, key.curve, key.path);
      if (node !== undefined) return use(node);
    }
    return this.#deriveSigner(holder, wallet, key, use);
  }

  async #deriveSigner<T>(holder: Holder, wallet: string, key: WalletKey, use: (node: KeyNode) => T): Promise<T> {
    const { sealed, curve, path } = key;
    const indices = parsePath(path);
    for (;;) {
      await this.#opener.withOrganizationKey(holder.organizationKey, holder.organizationId, () => {});
      const node = this.#nodes.deriveSigner(wallet, curve, path, indices);
      if (node !== undefined) return use(node);
      await this.#loadMasters(wallet, holder, sealed, [curve]);
    }
  }

  /** Lends the private key at each location, for one synchronous use. */
  async lend<L extends Location, T>(
    holder: Holder,
    sealedSeed: Uint8Array,
    locations: readonly L[],
    use: (location: L, key: Uint8Array) => T,
  ): Promise<T[]> {
    const wallet = walletName(holder, sealedSeed);
    const curves = new Set(locations.map(({ curve }) => curve));
    const results: T[] = [];
    do {
      // Also when every node is cached: a holder whose root key was removed has no access any more.
      await this.#opener.withOrganizationKey(holder.organizationKey, holder.organizationId, () => {});
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
    if (locations.length === 0) await this.#opener.unseal(holder, KIND.walletSeed, sealedSeed, material.decodeSeed);
    return results;
  }

  /** The masters of a wallet, into the cache. Calls that need the same ones at the same time share the work. */
  async #loadMasters(wallet: string, holder: Holder, sealedSeed: Uint8Array, curves: readonly Curve[]): Promise<void> {
    const name = `${wallet} ${curves.join(' ')}`;
    const running = this.#loading.get(name);
    if (running !== undefined) return running;
    const loaded = this.#opener
      .unseal(holder, KIND.walletSeed, sealedSeed, async (bytes) => {
        const seed = material.decodeSeed(bytes);
        const stretched = await seedOfEntropy(seed.entropy, seed.language, material.passphraseText(seed));
        new Secret(stretched).use((secret) => {
          this.#opener.checkOpen();
          for (const curve of curves) this.#nodes.putMaster(wallet, curve, masterNode(curve, secret));
        });
      })
      .finally(() => this.#loading.delete(name));
    this.#loading.set(name, loaded);
    return loaded;
  }
}
