import { listInWords } from '../../lib/text.ts';

const DAY_MS = 86_400_000;
/** Not seen for so long: nobody should count on them. */
const AWAY_DAYS = 30;
const SETS_MAX = 6;

export interface RootUser {
  readonly userId: string;
  readonly userName: string;
  readonly isProgram: boolean;
  /** Unknown where the user could not be read. */
  readonly passkeyCount?: number;
  readonly credentialCount?: number;
  readonly lastSeenAt?: string;
}

/** Whole days since somebody was seen; undefined for never. */
export const daysAway = ({ lastSeenAt }: Pick<RootUser, 'lastSeenAt'>, nowMs: number): number | undefined =>
  lastSeenAt === undefined ? undefined : Math.max(0, Math.floor((nowMs - Date.parse(lastSeenAt)) / DAY_MS));

/** Never seen counts as away: nobody knows whether they can sign in at all. */
export const isAway = (user: Pick<RootUser, 'lastSeenAt'>, nowMs: number): boolean =>
  (daysAway(user, nowMs) ?? AWAY_DAYS) >= AWAY_DAYS;

/** How many sets of exactly so many people there are. */
export function countSets(total: number, threshold: number): number {
  let result = 1;
  for (let step = 1; step <= threshold; step += 1) result = (result * (total - threshold + step)) / step;
  return Math.round(result);
}

/** Every smallest set of people that suffices; undefined where there are too many to list. */
export function sufficientSets<Person>(
  people: readonly Person[],
  threshold: number,
): readonly (readonly Person[])[] | undefined {
  if (threshold < 1 || threshold > people.length || countSets(people.length, threshold) > SETS_MAX) return undefined;
  const sets: Person[][] = [];
  const extend = (from: number, chosen: readonly Person[]): void => {
    if (chosen.length === threshold) sets.push([...chosen]);
    else {
      for (let index = from; index < people.length; index += 1) extend(index + 1, [...chosen, people[index] as Person]);
    }
  };
  extend(0, []);
  return sets;
}

/** Of a set, whether all of it can be counted on. */
export function presenceOf(
  set: readonly RootUser[],
  nowMs: number,
): { readonly isGood: boolean; readonly text: string } {
  const away = set.filter((user) => isAway(user, nowMs));
  if (away.length > 0 && away.every(({ lastSeenAt }) => lastSeenAt === undefined)) {
    return { isGood: false, text: `${names(away)} never seen` };
  }
  if (away.length > 0) {
    const text = away.map((user) => {
      const days = daysAway(user, nowMs);
      return `${firstName(user)} ${days === undefined ? 'never seen' : `away ${days} days`}`;
    });
    return { isGood: false, text: listInWords(text) };
  }
  const longest = Math.max(...set.map((user) => daysAway(user, nowMs) ?? 0));
  const who = set.length === 1 ? '' : set.length === 2 ? 'both ' : 'all ';
  return { isGood: true, text: `${who}seen ${longest < 7 ? 'this week' : 'this month'}` };
}

export interface WeakPoint {
  readonly tone: 'deny' | 'wait' | 'allow';
  readonly title: string;
  readonly text: string;
  /** Another passkey of the one who reads would mend it. */
  readonly mendsByPasskey?: boolean;
}

/** Where the quorum breaks first, in words. `me` is who reads. */
export function weakestPoint(
  users: readonly RootUser[],
  threshold: number,
  nowMs: number,
  me: string,
): WeakPoint | undefined {
  if (users.length === 0) return undefined;
  const here = users.filter((user) => !isAway(user, nowMs));
  const away = users.filter((user) => isAway(user, nowMs));
  const without = away.length === 0 ? '' : `Without ${names(away)}, `;
  if (here.length < threshold) {
    return {
      tone: 'deny',
      title: 'Not enough people are there.',
      text: `${names(away)} ${away.length === 1 ? 'has' : 'have'} not been seen for 30 days, and ${threshold} must agree.`,
    };
  }
  if (threshold === 1) {
    return users.length === 1
      ? {
          tone: 'wait',
          title: 'One person alone.',
          text: `Whoever has a credential of ${names(users)} can do everything, and if all are lost, nobody can do anything.`,
          mendsByPasskey: users[0]?.userId === me && (users[0]?.passkeyCount ?? 2) < 2,
        }
      : {
          tone: 'wait',
          title: 'Any one of them is enough.',
          text: `A stolen credential of ${names(users, 'or')} can do everything.`,
        };
  }
  if (here.length > threshold) {
    const spare = here.length - threshold;
    return {
      tone: 'allow',
      title: spare === 1 ? 'One of them may be missing.' : `${spare} of them may be missing.`,
      text: `${names(here)} have been seen within 30 days, and ${threshold} suffice.`,
    };
  }
  // Everybody who is there is needed, so the one with the fewest devices is where it breaks.
  const [weakest] = [...here].sort((a, b) => (a.credentialCount ?? 9) - (b.credentialCount ?? 9));
  const count = weakest?.credentialCount;
  const must = `${without}${names(here)} must ${here.length === 2 ? 'both' : 'all'} be there`;
  if (weakest !== undefined && count !== undefined && count <= 1) {
    const what = count === 0 ? 'no credential' : weakest.passkeyCount === 1 ? 'one passkey' : 'one API key';
    return {
      tone: 'wait',
      title: count === 0 ? 'It may be stuck already.' : 'One lost device away from stuck.',
      text: `${must}, and ${firstName(weakest)} has ${what}.`,
      mendsByPasskey: weakest.userId === me,
    };
  }
  return { tone: 'wait', title: 'Nobody may be missing.', text: `${must}.` };
}

/** The first name reads better in sentences; the whole one is beside it. */
export const firstName = ({ userName }: Pick<RootUser, 'userName'>): string =>
  userName.trim().split(/\s+/u)[0] || userName;

export const names = (users: readonly RootUser[], word = 'and'): string => listInWords(users.map(firstName), word);
