import { DAY_MS, MINUTE_MS } from '../lib/clock.ts';
import type { ServiceKey } from '../storage/service-key.ts';

/** The moments in the life of the keys of a role. */
export interface ServiceKeyTimes {
  /** How long a new key is published before it is used. */
  readonly publishedMs: number;
  /** How long a key stays after the next one came into use. */
  readonly keptMs: number;
}

/** Clients fetch these, and keep them for five minutes: clocks differ, and a cache may just have been filled. */
const FETCHED_MS = 15 * MINUTE_MS;
/** Applications pin these keys, and their users update them when they do. */
const PINNED_MS = 7 * DAY_MS;
/**
 * Longer than the longest session and verification token live. Activities wait for votes without an end: what one of them
 * encrypted to a key that is gone does not open.
 */
const SIGNED_MS = 31 * DAY_MS;

/** By what clients hold of each role (docs/decisions/0058). */
const TIMES: Readonly<Record<string, ServiceKeyTimes>> = {
  'bundle-signer': { publishedMs: PINNED_MS, keptMs: SIGNED_MS },
  'session-signer': { publishedMs: PINNED_MS, keptMs: SIGNED_MS },
  otp: { publishedMs: PINNED_MS, keptMs: SIGNED_MS },
  'oauth-secret': { publishedMs: PINNED_MS, keptMs: SIGNED_MS },
  'on-ramp-secret': { publishedMs: PINNED_MS, keptMs: SIGNED_MS },
  'oidc-issuer': { publishedMs: FETCHED_MS, keptMs: DAY_MS },
  // Deliveries may wait in a receiver's own queue.
  'webhook-signer': { publishedMs: FETCHED_MS, keptMs: DAY_MS },
};

export const serviceKeyTimes = (role: string): ServiceKeyTimes =>
  TIMES[role] ?? { publishedMs: PINNED_MS, keptMs: SIGNED_MS };

type Key = Pick<ServiceKey, 'role' | 'keyId' | 'signsFromMs'>;

/** The keys of a role, in the order in which they come into use. */
export const keysOfRole = <K extends Key>(keys: readonly K[], role: string): K[] =>
  keys
    .filter((key) => key.role === role)
    .sort((one, other) => one.signsFromMs - other.signsFromMs || (one.keyId < other.keyId ? -1 : 1));

/** The key of a role that is used at a moment: the last one whose time has come. */
export function keyInUse<K extends Key>(keys: readonly K[], role: string, nowMs: number): K | undefined {
  const ordered = keysOfRole(keys, role);
  return ordered.findLast(({ signsFromMs }) => signsFromMs <= nowMs) ?? ordered[0];
}

/** Keys that were replaced for so long that nothing of theirs is accepted any more. */
export function expiredKeys<K extends Key>(keys: readonly K[], nowMs: number): K[] {
  return keys.filter((key) => {
    const ordered = keysOfRole(keys, key.role);
    const next = ordered[ordered.indexOf(key) + 1];
    return next !== undefined && next.signsFromMs + serviceKeyTimes(key.role).keptMs <= nowMs;
  });
}

/** All keys that are not expired: of each role first the one in use, and then the others, the newest first. */
export function byUse<K extends Key>(keys: readonly K[], nowMs: number): K[] {
  const expired = new Set(expiredKeys(keys, nowMs));
  return [...new Set(keys.map(({ role }) => role))].flatMap((role) => {
    const used = keyInUse(keys, role, nowMs);
    const others = keysOfRole(keys, role).filter((key) => key !== used && !expired.has(key));
    return used === undefined ? others : [used, ...others.reverse()];
  });
}
