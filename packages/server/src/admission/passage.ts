import type { EventEmitter } from 'node:events';
import type { Body } from './bodies.ts';
import type { Gate, Turn, Waiting } from './gate.ts';
import { ClientLeft } from './refused.ts';

export interface Gates {
  /** Before anybody has vouched for a request: by client. */
  readonly clients: Gate;
  /** After: by tree, and by organization in it. */
  readonly tenants: Gate;
}

/** Where the answer goes; it closes when the client leaves. */
export interface AnswerTo extends EventEmitter {
  readonly destroyed: boolean;
}

const isTurn = (place: Turn | Waiting): place is Turn => 'end' in place;

/** The way of one request through the gates. It waits at each at most once, however often the request is tried again. */
export class Passage {
  readonly #gates: Gates;
  readonly #client: string;
  readonly #answerTo: AnswerTo;
  readonly #body: Body | undefined;
  readonly #sinceMs: number;
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
  enter(): Promise<void> | undefined {
    return this.#pass(this.#gates.clients, [this.#client]);
  }

  /** To be called when it is known who asks. From here on it counts as the tenant's. */
  asTenant(tree: string, organization: string): Promise<void> | undefined {
    if (this.#isTenant) return undefined;
    this.#isTenant = true;
    this.#turn?.end();
    return this.#pass(this.#gates.tenants, [tree, organization]);
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

  #pass(gate: Gate, path: readonly string[]): Promise<void> | undefined {
    const place = gate.enter(path, this.#sinceMs);
    if (!isTurn(place)) return this.#wait(place);
    this.#start(place);
    return undefined;
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
