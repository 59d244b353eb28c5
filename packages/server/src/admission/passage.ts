import type { EventEmitter } from 'node:events';
import type { Body } from './bodies.ts';
import type { Gate, Turn, Waiting } from './gate.ts';
import { ClientLeft } from './refused.ts';

export interface Gates {
  /** Before anybody has vouched for a request: by client. */
  readonly clients: Gate;
  /** After: by tree, and by organization in it. */
  readonly tenants: Gate;
  /**
   * The same for requests that may wait for others, outside: there are more slots for them, and they take no other
   * ones.
   */
  readonly outside: Gate;
  /** The same for requests with large bodies: they take time and memory, so few of them run at once. */
  readonly large: Gate;
  readonly known: KnownTenants;
}

/** Which clients have requests of which organizations in the line of tenants. */
export class KnownTenants {
  readonly #waiting = new Map<string, { readonly path: readonly string[]; count: number }>();

  /** The place in the gate of an organization of which this client has requests waiting there. */
  pathOf(client: string, organization: string): readonly string[] | undefined {
    return this.#waiting.get(`${client} ${organization}`)?.path;
  }

  async during<T>(client: string, path: readonly string[], waiting: Promise<T>): Promise<T> {
    const key = `${client} ${path.at(-1)}`;
    const known = this.#waiting.get(key) ?? { path, count: 0 };
    this.#waiting.set(key, known);
    known.count += 1;
    try {
      return await waiting;
    } finally {
      known.count -= 1;
      if (known.count === 0) this.#waiting.delete(key);
    }
  }
}

/** Where the answer goes; it closes when the client leaves. */
export interface AnswerTo extends EventEmitter {
  readonly destroyed: boolean;
}

/** A body from which on a request is large, in bytes. */
const LARGE_BYTES = 256 * 1024;

const isTurn = (place: Turn | Waiting): place is Turn => 'end' in place;

/**
 * The way of one request through the gates. It waits at each at most once, however often the request is tried again.
 */
export class Passage {
  readonly #gates: Gates;
  readonly #client: string;
  readonly #answerTo: AnswerTo;
  readonly #body: Body | undefined;
  readonly #sinceMs: number;
  #bodyBytes = 0;
  #turn: Turn | undefined;
  #isTenant = false;
  #isOver = false;

  constructor(gates: Gates, client: string, answerTo: AnswerTo, body: Body | undefined, sinceMs: number) {
    this.#gates = gates;
    this.#client = client;
    this.#answerTo = answerTo;
    this.#body = body;
    this.#sinceMs = sinceMs;
  }

  /** To be called when the request has arrived; a promise only where it has to wait. */
  enter(bodyBytes: number): Promise<void> | undefined {
    this.#bodyBytes = bodyBytes;
    return this.#pass(this.#gates.clients, [this.#client]);
  }

  /**
   * To be called when it is known which organization a request says it is for, which may not be true. Where others of the
   * same client wait for that organization and this one would be refused once it were verified, it is refused at once.
   */
  requireHope(organization: string, waitsOutside: boolean): void {
    if (this.#isTenant) return;
    const path = this.#gates.known.pathOf(this.#client, organization);
    const refusal = path && this.#gateFor(waitsOutside).refusalFor(path, this.#sinceMs);
    if (refusal !== undefined) throw refusal;
  }

  /** To be called when it is known who asks. From here on it counts as the tenant's. */
  asTenant(tree: string, organization: string, waitsOutside: boolean): Promise<void> | undefined {
    if (this.#isTenant) return undefined;
    this.#isTenant = true;
    this.#turn?.end();
    return this.#pass(this.#gateFor(waitsOutside), [tree, organization]);
  }

  /** Whether the client is gone, so that nothing more needs to be begun for it. */
  get hasClientLeft(): boolean {
    return this.#answerTo.destroyed;
  }

  requireClient(): void {
    if (this.hasClientLeft) throw new ClientLeft();
  }

  end(): void {
    this.#isOver = true;
    this.#turn?.end();
    this.#body?.release();
  }

  #gateFor(waitsOutside: boolean): Gate {
    if (this.#bodyBytes > LARGE_BYTES) return this.#gates.large;
    return waitsOutside ? this.#gates.outside : this.#gates.tenants;
  }

  #pass(gate: Gate, path: readonly string[]): Promise<void> | undefined {
    const place = gate.enter(path, this.#sinceMs);
    if (isTurn(place)) {
      this.#start(place);
      return undefined;
    }
    const waiting = this.#wait(place);
    return this.#isTenant ? this.#gates.known.during(this.#client, path, waiting) : waiting;
  }

  async #wait({ turn, leave }: Waiting): Promise<void> {
    this.#answerTo.once('close', leave);
    try {
      this.#start(await turn);
    } finally {
      this.#answerTo.removeListener('close', leave);
    }
  }

  #start(turn: Turn): void {
    this.#turn = turn;
    if (this.#isTenant) this.#body?.release();
    if (this.#isOver) turn.end();
  }
}
