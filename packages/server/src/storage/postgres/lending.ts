/** Connections that are opened when they are first needed, and kept: a pool of the driver. */
export interface Connections<Connection> {
  readonly totalCount: number;
  readonly idleCount: number;
  /** An idle connection, or a new one. */
  connect(): Promise<Connection>;
}

export interface LendingOptions<Connection> {
  readonly connections: Connections<Connection>;
  readonly max: number;
  /** How long somebody waits for a connection. */
  readonly waitMs: number;
  /** Leaves a connection that nobody waits for with the others. */
  readonly giveBack: (connection: Connection) => void;
  /** Hears why a connection could not be opened that nobody waited for alone. */
  readonly onFailure: (error: Error) => void;
}

interface Waiting<Connection> {
  readonly lend: (connection: Connection | Promise<Connection>) => void;
  readonly refuse: (error: Error) => void;
}

/**
 * So many connections are opened at once. To open one costs the database more than to serve a request: many at once would take
 * its time from those that are open.
 */
const OPENING_MAX = 2;

/**
 * Who gets which connection. Nobody waits for a connection of its own to be opened: whichever is free first goes to
 * whoever is next, and organizations take turns (docs/decisions/0057).
 */
export class Lending<Connection> {
  readonly #options: LendingOptions<Connection>;
  /** By whose turn it is. */
  readonly #lines = new Map<string, Waiting<Connection>[]>();
  #waiting = 0;
  /** Idle connections that are on their way to somebody. */
  #taken = 0;
  #opening = 0;

  constructor(options: LendingOptions<Connection>) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiting;
  }

  async borrow(organizationId: string): Promise<Connection> {
    if (this.#waiting === 0 && this.#hasIdle) return await this.#take();
    return await new Promise<Connection>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#leave(organizationId, waiting);
        reject(new Error('timeout exceeded when trying to connect'));
      }, this.#options.waitMs);
      const waiting: Waiting<Connection> = {
        lend: (connection) => {
          clearTimeout(timer);
          resolve(connection);
        },
        refuse: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      };
      const line = this.#lines.get(organizationId);
      if (line === undefined) this.#lines.set(organizationId, [waiting]);
      else line.push(waiting);
      this.#waiting += 1;
      this.serve();
    });
  }

  /** Takes a connection back, for whoever is next. */
  giveBack(connection: Connection): void {
    const next = this.#next();
    if (next === undefined) this.#options.giveBack(connection);
    else next.lend(connection);
  }

  /** To be called when a connection is gone. */
  serve(): void {
    const { connections, max } = this.#options;
    while (this.#hasIdle) {
      const next = this.#next();
      if (next === undefined) return;
      next.lend(this.#take());
    }
    const openingMax = Math.min(OPENING_MAX, this.#waiting);
    while (this.#opening < openingMax && connections.totalCount < max) void this.#open();
  }

  get #hasIdle(): boolean {
    return this.#options.connections.idleCount > this.#taken;
  }

  async #take(): Promise<Connection> {
    this.#taken += 1;
    try {
      return await this.#options.connections.connect();
    } finally {
      this.#taken -= 1;
      // Another may have been given back meanwhile, which this one was taken for.
      this.serve();
    }
  }

  async #open(): Promise<void> {
    const { connections, onFailure, waitMs } = this.#options;
    this.#opening += 1;
    let counts = true;
    const end = (): void => {
      clearTimeout(patience);
      if (counts) this.#opening -= 1;
      counts = false;
    };
    // One that takes so long may lead nowhere. It is still used once it is there.
    const patience = setTimeout(() => {
      end();
      this.serve();
    }, waitMs);
    try {
      const connection = await connections.connect();
      end();
      this.giveBack(connection);
      this.serve();
    } catch (error) {
      end();
      // Where others are open, or are being opened, they serve those who wait.
      if (connections.totalCount === 0) this.#refuseAll(error as Error);
      else onFailure(error as Error);
    }
  }

  #next(): Waiting<Connection> | undefined {
    const [first] = this.#lines;
    if (first === undefined) return undefined;
    const [organizationId, line] = first;
    const next = line.shift();
    this.#waiting -= 1;
    this.#lines.delete(organizationId);
    // The others first.
    if (line.length > 0) this.#lines.set(organizationId, line);
    return next;
  }

  #leave(organizationId: string, waiting: Waiting<Connection>): void {
    const line = this.#lines.get(organizationId) ?? [];
    line.splice(line.indexOf(waiting), 1);
    this.#waiting -= 1;
    if (line.length === 0) this.#lines.delete(organizationId);
  }

  #refuseAll(error: Error): void {
    const all = [...this.#lines.values()].flat();
    this.#lines.clear();
    this.#waiting = 0;
    for (const { refuse } of all) refuse(error);
  }
}
