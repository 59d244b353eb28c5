import { LIMITS } from './limits.ts';

/**
 * The name itself, or with the lowest number that makes it differ from those taken: `Phone`, `Phone (2)`, `Phone (3)`.
 */
export function freeName(wanted: string, taken: ReadonlySet<string>): string {
  if (!taken.has(wanted)) return wanted;
  for (let number = 2; ; number += 1) {
    const name = numbered(wanted, ` (${number})`);
    if (!taken.has(name)) return name;
  }
}

/** Names are bounded by code points, so that is what is cut. */
function numbered(name: string, suffix: string): string {
  const room = LIMITS.nameLength - suffix.length;
  return `${[...name].slice(0, room).join('').trimEnd()}${suffix}`;
}
