import { createHash } from 'node:crypto';
import type { Curve } from './curve.ts';
import { descend } from './derive/derive.ts';
import type { KeyNode } from './derive/node.ts';
import { formatPath, harden } from './derive/path.ts';
import type { Holder } from './keyring.ts';
import { SecretCache } from './secret-cache.ts';

const NODES_MAX = 1024;

/**
 * Masters and parents of the accounts that were used lately, so that the next use costs one step of derivation instead
 * of PBKDF2 and all steps. A node is found only with the name that it was put under.
 */
export class NodeCache {
  readonly #nodes = new SecretCache<KeyNode>(NODES_MAX, (node) => node.wipe());

  hasMaster(wallet: string, curve: Curve): boolean {
    return this.#nodes.get(`${wallet} ${curve} m`) !== undefined;
  }

  putMaster(wallet: string, curve: Curve, master: KeyNode): void {
    this.#nodes.put(`${wallet} ${curve} m`, master);
  }

  /** The node above the last level; undefined when neither it nor the master is there. To be used before any await. */
  parentOf(wallet: string, curve: Curve, indices: readonly number[]): KeyNode | undefined {
    const levels = indices.slice(0, -1);
    if (levels.length === 0) return this.#nodes.get(`${wallet} ${curve} m`);
    const used = curve === 'CURVE_ED25519' ? levels.map(harden) : levels;
    const name = `${wallet} ${curve} ${formatPath(used)}`;
    const known = this.#nodes.get(name);
    if (known !== undefined) return known;
    const master = this.#nodes.get(`${wallet} ${curve} m`);
    return master && this.#nodes.put(name, descend(curve, master, levels));
  }

  clear(): void {
    this.#nodes.clear();
  }
}

/** A name that no other holder and no other blob has: a hash of all of them, each behind its length. */
export function walletName({ organizationKey, organizationId, ownerId }: Holder, sealedSeed: Uint8Array): string {
  const hash = createHash('sha256');
  const length = new Uint8Array(4);
  for (const part of [organizationKey, organizationId, ownerId, sealedSeed]) {
    new DataView(length.buffer).setUint32(0, typeof part === 'string' ? Buffer.byteLength(part) : part.length);
    hash.update(length).update(part);
  }
  return hash.digest('base64');
}
