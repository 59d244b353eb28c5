import type { Prospect } from '../../../kit/policy-preview.tsx';

/** One request, by the stored policies and with the draft. */
export interface Tried {
  readonly activityId: string;
  readonly before: Prospect;
  readonly after: Prospect;
}

export interface Change {
  readonly before: Prospect;
  readonly after: Prospect;
  readonly count: number;
}

/** How many are decided otherwise, most first. */
export function changesIn(tried: readonly Tried[]): readonly Change[] {
  const counts = new Map<string, Change>();
  for (const { before, after } of tried) {
    if (before === after) continue;
    const key = `${before} ${after}`;
    counts.set(key, { before, after, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts.values()].sort((one, other) => other.count - one.count);
}

const STATES: Readonly<Record<Prospect, string>> = {
  completes: 'allowed',
  waits: 'waiting for approvals',
  proof: 'waiting for a further proof',
  denied: 'denied',
};

/** "9 denied become allowed". */
export const changeWords = ({ before, after, count }: Change): string =>
  `${count} ${STATES[before]} ${count === 1 ? 'becomes' : 'become'} ${STATES[after]}`;
