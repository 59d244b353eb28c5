const GROUP = 4;
const SHORT = 6;

export interface AddressGroups {
  /** `0x`, or nothing. */
  readonly prefix: string;
  readonly groups: readonly string[];
}

/** Groups of four, so that two people can read an address to each other. */
export function groupAddress(address: string): AddressGroups {
  const prefix = address.startsWith('0x') ? '0x' : '';
  return { prefix, groups: address.slice(prefix.length).match(/.{1,4}/gsu) ?? [] };
}

/** Two lines of equal length. */
export function linesOf(groups: readonly string[]): readonly (readonly string[])[] {
  if (groups.length <= GROUP) return [groups];
  const half = Math.ceil(groups.length / 2);
  return [groups.slice(0, half), groups.slice(half)];
}

/** For lists: the prefix, six, dots, six. */
export function shortAddress(address: string): string {
  const prefix = address.startsWith('0x') ? '0x' : '';
  const rest = address.slice(prefix.length);
  return rest.length <= 2 * SHORT + 1 ? address : `${prefix}${rest.slice(0, SHORT)}…${rest.slice(-SHORT)}`;
}

/** Ids and hashes: six and six, whatever stands before a colon stays. */
export function shortHash(hash: string): string {
  const [, prefix = '', rest = ''] = /^((?:[a-z0-9-]+:)?(?:0x)?)(.*)$/su.exec(hash) ?? [];
  return rest.length <= 2 * SHORT + 1 ? hash : `${prefix}${rest.slice(0, SHORT)}…${rest.slice(-SHORT)}`;
}

/** Which groups of an address differ from those of another that looks like it. */
export function differingGroups(address: string, other: string): readonly boolean[] {
  const theirs = groupAddress(other).groups;
  return groupAddress(address).groups.map((group, index) => group.toLowerCase() !== theirs[index]?.toLowerCase());
}
