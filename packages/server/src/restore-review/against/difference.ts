import type { SqliteFile, SqliteStatement } from '../../storage/sqlite-driver.ts';
import type { KnownActivity } from './activity-index.ts';
import type { ComparedKind } from './compared.ts';

/** `added`: there and not here. `removed`: here and not there any more. */
export type Change = 'added' | 'removed' | 'changed';

export interface ChangedValue {
  readonly what: string;
  readonly here: string | null;
  readonly there: string | null;
}

/** What another database, or a record of what was done, has otherwise than this one. */
export interface Difference {
  readonly organizationId: string | undefined;
  readonly kind: ComparedKind;
  readonly change: Change;
  /** In words: a policy, a wallet. */
  readonly what: string;
  readonly id: string;
  /** What a person calls it. */
  readonly name: string;
  /** Of what was changed all that is different; of the rest what there is. */
  readonly values: readonly ChangedValue[];
  readonly atMs: number | undefined;
  readonly activity: KnownActivity | undefined;
  /** False where the row that says so was not written by a service; undefined where nobody can tell. */
  readonly isGenuine: boolean | undefined;
}

/** Keeps differences on disk until all are known, and tells them by organization, the newest first. */
export class DifferenceSpool {
  readonly #db: SqliteFile;
  readonly #insert: SqliteStatement;
  #count = 0;

  constructor(db: SqliteFile) {
    this.#db = db;
    db.exec('CREATE TABLE difference (organization TEXT, at INTEGER, value TEXT)');
    this.#insert = db.prepare('INSERT INTO difference (organization, at, value) VALUES (?, ?, ?)');
  }

  get count(): number {
    return this.#count;
  }

  add(difference: Difference): void {
    this.#count += 1;
    this.#insert.run(difference.organizationId ?? '', difference.atMs ?? -1, JSON.stringify(difference));
  }

  *all(): Generator<Difference> {
    // What nobody knows the time of is last.
    this.#db.exec(`CREATE TABLE sorted (place INTEGER PRIMARY KEY, value TEXT);
      INSERT INTO sorted (value) SELECT value FROM difference ORDER BY organization, at DESC, rowid`);
    const page = this.#db.prepare('SELECT place, value FROM sorted WHERE place > ? ORDER BY place LIMIT 500');
    for (let after = 0; ; ) {
      const rows = page.all(after);
      if (rows.length === 0) return;
      for (const { place, value } of rows) {
        after = Number(place);
        yield JSON.parse(String(value)) as Difference;
      }
    }
  }
}
