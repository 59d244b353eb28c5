import type { NameContext, NameKind, NameRecords, NameSource, Names } from './names.ts';

/** What an answer may look up, so that requests full of ids cost a bounded number of reads. */
interface Limits {
  readonly keys: number;
  /** Each of these takes a few look-ups of its own. */
  readonly payments: number;
}

const REQUEST_MAX: Limits = { keys: 5_000, payments: 400 };
const ANSWER_MAX: Limits = { keys: 20_000, payments: 2_000 };

class Budget {
  #keysLeft: number;
  #paymentsLeft: number;

  constructor({ keys, payments }: Limits) {
    this.#keysLeft = keys;
    this.#paymentsLeft = payments;
  }

  has(kind: NameKind): boolean {
    return this.#keysLeft > 0 && (kind !== 'payment' || this.#paymentsLeft > 0);
  }

  take(kind: NameKind): void {
    this.#keysLeft -= 1;
    if (kind === 'payment') this.#paymentsLeft -= 1;
  }
}

/**
 * Names for sentences, which read nothing themselves: a sentence is made with what is known, notes what it lacked, and is
 * made again when that was read, all of it in one go for each kind. What is beyond a limit stays unknown.
 */
export class Lookup {
  readonly #known = new Map<NameKind, Map<string, unknown>>();
  readonly #all = new Budget(ANSWER_MAX);
  #missing = new Map<NameKind, Set<string>>();

  /** The names of one request. It has a limit of its own, so that no request uses up what the others look up. */
  forRequest(): Names {
    const own = new Budget(REQUEST_MAX);
    return { get: (kind, key) => this.#get(kind, key, own) };
  }

  #get<Kind extends NameKind>(kind: Kind, key: string, own: Budget): NameRecords[Kind] | undefined {
    const known = this.#known.get(kind);
    if (known?.has(key)) return known.get(key) as NameRecords[Kind] | undefined;
    const missing = this.#missing.get(kind) ?? new Set();
    if (!missing.has(key) && own.has(kind) && this.#all.has(kind)) {
      own.take(kind);
      this.#all.take(kind);
      this.#missing.set(kind, missing.add(key));
    }
    return undefined;
  }

  /** Reads what was asked for and not known; says whether there was any. */
  async load(context: NameContext, sources: ReadonlyMap<NameKind, NameSource>): Promise<boolean> {
    const wanted = [...this.#missing];
    this.#missing = new Map();
    await Promise.all(
      wanted.map(async ([kind, keys]) => {
        const found = await sources.get(kind)?.load(context, [...keys]);
        const known = this.#known.get(kind) ?? new Map<string, unknown>();
        for (const key of keys) known.set(key, found?.get(key));
        this.#known.set(kind, known);
      }),
    );
    return wanted.length > 0;
  }
}
