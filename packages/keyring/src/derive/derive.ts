import type { Curve } from '../curve.ts';
import { bip32Child, bip32Master } from './bip32.ts';
import { invalid } from './check.ts';
import type { KeyNode } from './node.ts';
import { parsePath } from './path.ts';
import { ed25519Child, ed25519Master, p256Child, p256Master } from './slip10.ts';

interface Steps {
  readonly master: (seed: Uint8Array) => KeyNode;
  readonly child: (parent: KeyNode, index: number) => KeyNode;
}

const STEPS: ReadonlyMap<Curve, Steps> = new Map([
  ['CURVE_SECP256K1', { master: bip32Master, child: bip32Child }],
  ['CURVE_ED25519', { master: ed25519Master, child: ed25519Child }],
  ['CURVE_P256', { master: p256Master, child: p256Child }],
]);

/** The root of the seed's tree on a curve. The caller wipes it. */
export function masterNode(curve: Curve, seed: Uint8Array): KeyNode {
  return stepsOf(curve).master(seed);
}

/** One step down. The parent stays as it is; the caller wipes the child. */
export function childNode(curve: Curve, parent: KeyNode, index: number): KeyNode {
  return stepsOf(curve).child(parent, index);
}

/** Several steps down, from a master or from a parent that a cache holds. Nodes between are wiped, the start is not. */
export function descend(curve: Curve, start: KeyNode, indices: readonly number[]): KeyNode {
  if (indices.length === 0) throw invalid('a path has at least one level');
  let node = start;
  for (const index of indices) {
    try {
      const child = childNode(curve, node, index);
      if (node !== start) node.wipe();
      node = child;
    } catch (error) {
      if (node !== start) node.wipe();
      throw error;
    }
  }
  return node;
}

/** The private key at a path of the seed's tree. The caller wipes it. */
export function deriveKey(seed: Uint8Array, curve: Curve, path: string): Uint8Array {
  const indices = parsePath(path);
  const master = masterNode(curve, seed);
  try {
    const node = descend(curve, master, indices);
    const key = new Uint8Array(node.privateKey());
    node.wipe();
    return key;
  } finally {
    master.wipe();
  }
}

function stepsOf(curve: Curve): Steps {
  const steps = STEPS.get(curve);
  if (steps === undefined) throw invalid('unknown curve');
  return steps;
}
