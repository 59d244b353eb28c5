import { ApiError } from '../lib/errors.ts';
import type { LockMode } from './authority.ts';

/** Who is let in before its turn, so that it stands right behind whoever holds the organization and loses no time. */
const AHEAD_MAX = 1;
const WAITING_MAX = 4096;

/** A transaction that is going to hold an organization. */
export interface Turn {
  readonly organizationId: string;
  readonly mode: LockMode;
}

interface Waiting {
  readonly mode: LockMode;
  enter(): void;
}

interface Gate {
  /** In the order in which they came in. */
  readonly inside: LockMode[];
  readonly waiting: Waiting[];
}

/**
 * Lets transactions of this process that will wait for the same organization's lock wait here, in the order in which they
 * came, instead of with a connection each. The lock in the database decides; this only keeps the queue for it short.
 * Nobody waits here who is inside already, so that none waits for another.
 */
export class Turnstile {
  readonly #gates = new Map<string, Gate>();
  #waiting = 0;

  get waiting(): number {
    return this.#waiting;
  }

  /** Answers, once it is this one's turn, with how to leave. Refuses when the deadline comes first or too many wait. */
  async enter({ organizationId, mode }: Turn, deadlineMs: number): Promise<() => void> {
    const gate = this.#gates.get(organizationId) ?? { inside: [], waiting: [] };
    this.#gates.set(organizationId, gate);
    if (gate.waiting.length > 0 || !hasRoom(gate.inside, mode)) await this.#wait(gate, mode, deadlineMs);
    else gate.inside.push(mode);
    return () => this.#leave(organizationId, gate, mode);
  }

  async #wait(gate: Gate, mode: LockMode, deadlineMs: number): Promise<void> {
    if (this.#waiting >= WAITING_MAX) throw busy();
    this.#waiting += 1;
    try {
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(
          () => {
            gate.waiting.splice(gate.waiting.indexOf(waiting), 1);
            // Whoever stood behind may fit where this one did not.
            admit(gate);
            reject(busy());
          },
          Math.max(0, deadlineMs - performance.now()),
        );
        const waiting: Waiting = {
          mode,
          enter: () => {
            clearTimeout(timer);
            resolve();
          },
        };
        gate.waiting.push(waiting);
      });
    } finally {
      this.#waiting -= 1;
    }
  }

  #leave(organizationId: string, gate: Gate, mode: LockMode): void {
    gate.inside.splice(gate.inside.indexOf(mode), 1);
    admit(gate);
    if (gate.inside.length === 0) this.#gates.delete(organizationId);
  }
}

function admit({ inside, waiting }: Gate): void {
  for (let [next] = waiting; next !== undefined && hasRoom(inside, next.mode); [next] = waiting) {
    waiting.shift();
    inside.push(next.mode);
    next.enter();
  }
}

/** Those who can hold the organization together with the first, and few who wait for them. */
function hasRoom(inside: readonly LockMode[], mode: LockMode): boolean {
  if (inside.length === 0) return true;
  const exclusive = inside.indexOf('exclusive');
  if (exclusive === -1 && mode === 'shared') return true;
  const holding = inside[0] === 'exclusive' ? 1 : exclusive === -1 ? inside.length : exclusive;
  return inside.length - holding < AHEAD_MAX;
}

const busy = (): ApiError =>
  new ApiError('UNAVAILABLE', 'too many changes of this organization wait for each other, try again', {
    retryAfterSeconds: 1,
  });
