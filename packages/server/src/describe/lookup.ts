import type { NameContext, NameKind, NameRecords, NameSource, Names } from './names.ts';

/** What one answer may look up, so that a request full of ids costs a bounded number of reads. */
const KEYS_MAX = 5_000;

/**
 * Names for sentences, which read nothing themselves: a sentence is made with what is known, notes what it lacked, and is
 * made again when that was read, all of it in one go for each kind.
 */
export class Lookup implements Names {
  readonly #known = new Map<NameKind, Map<string, unknown>>();
  #missing = new Map<NameKind, Set<string>>();
  #keysLeft = KEYS_MAX;

  get<Kind extends NameKind>(kind: Kind, key: string): NameRecords[Kind] | undefined {
    const known = this.#known.get(kind);
    if (known?.has(key)) return known.get(key) as NameRecords[Kind] | undefined;
    const missing = this.#missing.get(kind) ?? new Set();
    if (!missing.has(key) && this.#keysLeft > 0) {
      this.#keysLeft -= 1;
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
