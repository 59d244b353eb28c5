import type { Curve } from '../curve.ts';
import { invalid } from './check.ts';

/** Added to the index of a hardened child (BIP-32, extended keys). */
export const HARDENED = 0x8000_0000;

const LEVELS_MAX = 10;
const INDEX_MAX = HARDENED - 1;
const TEXT = /^m(?:\/(?:0|[1-9]\d{0,9})['hH]?)+$/;

/** The indices of `m/44'/60'/0'/0/0`, hardened ones with their top bit set. `h` and `H` mean the same as `'`. */
export function parsePath(text: string): number[] {
  if (typeof text !== 'string' || !TEXT.test(text)) {
    throw invalid("a path is m, then levels such as /44' or /0, in decimal without leading zeros");
  }
  const levels = text.split('/').slice(1);
  if (levels.length > LEVELS_MAX) throw invalid(`a path has at most ${LEVELS_MAX} levels`);
  return levels.map((level) => {
    const hardened = /\D$/.test(level);
    const number = Number(hardened ? level.slice(0, -1) : level);
    if (number > INDEX_MAX) throw invalid(`an index of a path is at most ${INDEX_MAX}`);
    return hardened ? number + HARDENED : number;
  });
}

/** The one spelling of a path: `formatPath(parsePath(text))` is the text with `h` and `H` as `'`. */
export function formatPath(indices: readonly number[]): string {
  if (indices.length < 1 || indices.length > LEVELS_MAX) throw invalid(`a path has 1 to ${LEVELS_MAX} levels`);
  return indices.reduce((text, index) => {
    checkIndex(index);
    return `${text}/${index >= HARDENED ? `${index - HARDENED}'` : index}`;
  }, 'm');
}

export function checkIndex(index: number): void {
  if (!Number.isInteger(index) || index < 0 || index >= 2 * HARDENED) throw invalid('an index has 32 bits');
}

export function isHardened(index: number): boolean {
  return index >= HARDENED;
}

/** The same level, hardened. */
export function harden(index: number): number {
  return index >= HARDENED ? index : index + HARDENED;
}

/** The path whose key is really used: two paths of one wallet and curve with the same answer are the same path. */
export function effectivePath(curve: Curve, path: string): string {
  const indices = parsePath(path);
  return formatPath(curve === 'CURVE_ED25519' ? indices.map(harden) : indices);
}
