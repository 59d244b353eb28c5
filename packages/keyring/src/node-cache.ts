import { hash } from 'node:crypto';
import type { Curve } from './curve.ts';
import { childNode, descend } from './derive/derive.ts';
import type { KeyNode } from './derive/node.ts';
import { formatPath, harden } from './derive/path.ts';
import type { Holder } from './keyring.ts';
import { SecretCache } from './secret-cache.ts';

const NODES_MAX = 1024;

/**
 * Masters and parents of the accounts that were used lately, so that the next use costs one step of derivation instead
 * of PBKDF2 and all steps, and those accounts that signed, which costs none. A parent leads to all its accounts, so that to
 * keep one of them for as long gives nothing more away. A node is found only with the name that it was put under.
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
    const name = parentName(wallet, curve, indices);
    const known = this.#nodes.get(name);
    if (known !== undefined) return known;
    const master = this.#nodes.get(`${wallet} ${curve} m`);
    return master && this.#nodes.put(name, descend(curve, master, indices.slice(0, -1)));
  }

  /** An account that has signed lately, by its path as it was written. To be used before any await. */
  signer(wallet: string, curve: Curve, path: string): KeyNode | undefined {
    return this.#nodes.get(`${wallet} ${curve} ${path}`);
  }

  /** The same, derived where that is needed; undefined when neither its parent nor the master is there. */
  deriveSigner(wallet: string, curve: Curve, path: string, indices: readonly number[]): KeyNode | undefined {
    const known = this.signer(wallet, curve, path);
    if (known !== undefined) return known;
    const parent = this.parentOf(wallet, curve, indices);
    if (parent === undefined) return undefined;
    const leavesAtMs = this.#nodes.expiryOf(parentName(wallet, curve, indices));
    const child = childNode(curve, parent, indices.at(-1) as number);
    return this.#nodes.put(`${wallet} ${curve} ${path}`, child, leavesAtMs);
  }

  clear(): void {
    this.#nodes.clear();
  }
}

/** The name of the node above the last level: the master's where there is none between. */
function parentName(wallet: string, curve: Curve, indices: readonly number[]): string {
  const levels = indices.slice(0, -1);
  if (levels.length === 0) return `${wallet} ${curve} m`;
  return `${wallet} ${curve} ${formatPath(curve === 'CURVE_ED25519' ? levels.map(harden) : levels)}`;
}

/** A name that no other holder and no other blob has: a hash of all of them, each behind its length. */
export function walletName({ organizationKey, organizationId, ownerId }: Holder, sealedSeed: Uint8Array): string {
  const parts = [organizationKey, Buffer.from(organizationId), Buffer.from(ownerId), sealedSeed];
  const bytes = Buffer.allocUnsafe(parts.reduce((length, part) => length + 4 + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.writeUInt32BE(part.length, at);
    bytes.set(part, at + 4);
    at += 4 + part.length;
  }
  return hash('sha256', bytes, 'base64');
}
