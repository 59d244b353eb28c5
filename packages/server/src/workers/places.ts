import type { Topic } from './claim.ts';
import type { Strategy } from './strategy.ts';

type Limits = Strategy<Topic, Topic, unknown>['limits'];

/** Counts the places that are taken, in all and of each group. */
export class Places {
  readonly #limits: Limits;
  readonly #takenByGroup = new Map<string, number>();
  #taken = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  get free(): number {
    return this.#limits.all - this.#taken;
  }

  /** How many more of a group there may be, as far as that is limited. */
  freeOf(group: string | undefined): number {
    if (group === undefined) return Number.POSITIVE_INFINITY;
    return (this.#limits.groups?.[group] ?? Number.POSITIVE_INFINITY) - (this.#takenByGroup.get(group) ?? 0);
  }

  take(group: string | undefined, count: number): void {
    this.#taken += count;
    if (group !== undefined) this.#takenByGroup.set(group, (this.#takenByGroup.get(group) ?? 0) + count);
  }

  give(group: string | undefined, count: number): void {
    this.take(group, -count);
  }
}
