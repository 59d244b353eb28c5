import type { Row } from '../../storage/integrity/row.ts';
import type { SqliteFile, SqliteStatement } from '../../storage/sqlite-driver.ts';

/** An activity that this database does not know, or not as it ended. */
export interface KnownActivity {
  readonly id: string;
  readonly type: string;
  readonly atMs: number;
}

/** Ids, names of features, public keys: what activities call the objects that they change. */
const NAMES = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|FEATURE_NAME_[A-Z0-9_]+|[0-9a-f]{64,134}/gi;
const NAMES_MAX = 2000;
/** Of those that name an object, the newest. */
const LOOKED_AT = 200;

/** Finds the activity that changed an object. On disk: there may be very many. */
export class ActivityIndex {
  readonly #insert: SqliteStatement;
  readonly #byName: SqliteStatement;
  readonly #byTime: SqliteStatement;
  readonly #elsewhere: SqliteStatement;

  constructor(db: SqliteFile) {
    db.exec(`CREATE TABLE named (organization TEXT, name TEXT, id TEXT, type TEXT, at INTEGER);
      CREATE INDEX by_name ON named (organization, name, at);
      CREATE INDEX by_time ON named (organization, at);
      CREATE INDEX elsewhere ON named (name, at)`);
    this.#insert = db.prepare('INSERT INTO named (organization, name, id, type, at) VALUES (?, ?, ?, ?, ?)');
    this.#byName = db.prepare(
      `SELECT id, type, at FROM named WHERE organization = ? AND name = ? ORDER BY at DESC LIMIT ${LOOKED_AT}`,
    );
    this.#byTime = db.prepare('SELECT id, type, at FROM named WHERE organization = ? AND at = ? LIMIT 1');
    this.#elsewhere = db.prepare(
      "SELECT id, type, at FROM named WHERE name = ? AND type LIKE '%ORGANIZATION%' ORDER BY at DESC LIMIT 1",
    );
  }

  add(organizationId: string, { id, type, atMs }: KnownActivity, text: string): void {
    const names = new Set(text.match(NAMES)?.slice(0, NAMES_MAX));
    names.delete(organizationId);
    // By no name at all, so that each is also found by its type.
    for (const name of ['', ...names]) this.#insert.run(organizationId, name.toLowerCase(), id, type, atMs);
  }

  /**
   * The activity that wrote an object: one that ended in the moment in which the object was written, or else the last one of
   * the right type that names it.
   */
  find(
    organizationId: string,
    names: readonly string[],
    atMs: number | undefined,
    types: string,
  ): KnownActivity | undefined {
    const atOnce = atMs === undefined ? undefined : this.#byTime.get(organizationId, atMs);
    if (atOnce !== undefined) return toActivity(atOnce);
    const pattern = new RegExp(types);
    for (const name of names.length === 0 ? [''] : names) {
      const named = this.#byName.all(organizationId, name.toLowerCase());
      const fitting = named.find(({ type }) => pattern.test(String(type)));
      if (fitting !== undefined) return toActivity(fitting);
    }
    // What a sub-organization began with is the work of an activity of its parent.
    const made = this.#elsewhere.get(organizationId.toLowerCase());
    return made && toActivity(made);
  }
}

const toActivity = (row: Row): KnownActivity => ({
  id: String(row['id']),
  type: String(row['type']),
  atMs: Number(row['at']),
});
