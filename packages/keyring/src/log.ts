/** A line of the keyring's log, without its time. */
export type LogLine = Readonly<Record<string, string | number>> & { readonly msg: string };

export type Log = (line: LogLine) => void;

const EVERY_MS = 1000;

/** In the form of the service's own log. */
export function logToStandardError({ level = 30, msg, ...facts }: LogLine): void {
  process.stderr.write(`${JSON.stringify({ level, time: new Date().toISOString(), by: 'keyring', ...facts, msg })}\n`);
}

/** Logs refusals once a second at most, with their number: whoever is refused may try as often as it likes. */
export class RefusalLog {
  readonly #log: Log;
  readonly #nowMs: () => number;
  #count = 0;
  #loggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(log: Log, nowMs: () => number = () => performance.now()) {
    this.#log = log;
    this.#nowMs = nowMs;
  }

  note(msg: string, facts: Readonly<Record<string, string | number>>): void {
    this.#count += 1;
    const nowMs = this.#nowMs();
    if (nowMs - this.#loggedAtMs < EVERY_MS) return;
    this.#log({ level: 40, msg, refused: this.#count, ...facts });
    this.#count = 0;
    this.#loggedAtMs = nowMs;
  }
}

/** Far below what a supervisor takes before it drops lines of a service, also when every second has so many. */
const LINES_PER_SECOND_MAX = 50;

/** Logs so many lines a second, and of the others their number, once there is something to log in a later second. */
export class BoundedLog {
  readonly #msg: string;
  readonly #log: Log;
  readonly #nowMs: () => number;
  #lines = 0;
  #dropped = 0;
  #sinceMs = Number.NEGATIVE_INFINITY;

  constructor(msg: string, log: Log, nowMs: () => number = () => performance.now()) {
    this.#msg = msg;
    this.#log = log;
    this.#nowMs = nowMs;
  }

  write(line: LogLine): void {
    const nowMs = this.#nowMs();
    if (nowMs - this.#sinceMs >= EVERY_MS) {
      if (this.#dropped > 0) this.#log({ level: 40, msg: this.#msg, count: this.#dropped });
      this.#lines = 0;
      this.#dropped = 0;
      this.#sinceMs = nowMs;
    }
    if (this.#lines >= LINES_PER_SECOND_MAX) {
      this.#dropped += 1;
      return;
    }
    this.#lines += 1;
    this.#log(line);
  }
}
