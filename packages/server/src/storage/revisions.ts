import type { SqliteFile, SqliteStatement } from './sqlite-driver.ts';
import type { OrganizationPart, Table } from './table.ts';

/** More at once are forgotten, and what was kept of them is read again. */
const REVISIONS_MAX = 100_000;
const VALUES_MAX = 20_000;

/**
 * Tells whether what was read is still so, on a database of which this process is the only writer (docs/decisions/0047). What
 * changes has a name, such as the id of a user; its revision is another one after each commit that changed it. Triggers on
 * the writing connection note the names, so that no statement can forget to; a commit of anybody else makes everything old.
 */
export class Revisions {
  readonly #dataVersion: SqliteStatement;
  readonly #revisions = new Map<string, number>();
  /** What the open transaction has changed. */
  readonly #touched = new Set<string>();
  /** It has changed more than is noted one by one. */
  #isAllTouched = false;
  readonly #kept: { forgetOld(): void }[] = [];
  /** The last revision when what was old was dropped. */
  #forgottenAt = 0;
  #last = 0;
  /** Of what did not change since everything became old. */
  #floor = 0;
  #seenVersion: unknown;
  /** In this turn of the event loop. */
  #hasLooked = false;

  constructor(writer: SqliteFile, tables: readonly Table[]) {
    this.#dataVersion = writer.prepare('PRAGMA data_version');
    this.#seenVersion = this.#dataVersion.get()?.['data_version'];
    writer.define('custos_touched', (name) => {
      if (!this.#isAllTouched) this.#touched.add(String(name));
      if (this.#touched.size > REVISIONS_MAX) {
        this.#isAllTouched = true;
        this.#touched.clear();
      }
      return null;
    });
    for (const table of tables) {
      const names = namesIn(table);
      if (names.length === 0) continue;
      const { name } = table;
      for (const [event, calling] of EVENTS) {
        const calls = names.map(calling);
        // Temporary: it is of this connection, and other programs that open the file know nothing of it.
        writer.exec(`CREATE TEMP TRIGGER touched_${name}_${event} AFTER ${event} ON main."${name}"
          BEGIN ${calls.join(' ')} END`);
      }
    }
  }

  of(name: string): number {
    this.#noticeOthers();
    return this.#revisions.get(name) ?? this.#floor;
  }

  /** Another one after each change of anything. */
  get latest(): number {
    this.#noticeOthers();
    return this.#last;
  }

  isTouched(name: string): boolean {
    return this.#isAllTouched || this.#touched.has(name);
  }

  add(kept: { forgetOld(): void }): void {
    this.#kept.push(kept);
  }

  /** Drops from memory what was kept and is no longer true; nobody may ask for it again. */
  forgetOld(): void {
    if (this.#forgottenAt === this.latest) return;
    this.#forgottenAt = this.#last;
    for (const kept of this.#kept) kept.forgetOld();
  }

  /** From here on nobody else can commit. */
  begun(): void {
    this.#hasLooked = false;
    this.#noticeOthers();
  }

  /** In the same turn as the commit, before anybody hears of it. */
  committed(): void {
    for (const name of this.#touched) {
      this.#last += 1;
      this.#revisions.set(name, this.#last);
    }
    this.#touched.clear();
    if (this.#isAllTouched || this.#revisions.size > REVISIONS_MAX) this.#forgetAll();
    this.#isAllTouched = false;
  }

  /** Where the transaction had ended by itself, nobody knows what became of it. */
  rolledBack(isKnown: boolean): void {
    this.#touched.clear();
    this.#isAllTouched = false;
    if (!isKnown) this.#forgetAll();
  }

  /**
   * The number differs as soon as another connection than the writing one has committed. Asked for once in a turn of the
   * event loop: no other service can have the file open, only tools.
   */
  #noticeOthers(): void {
    if (this.#hasLooked) return;
    const version = this.#readVersion();
    if (version === undefined || version !== this.#seenVersion) this.#forgetAll();
    if (version === undefined) return;
    this.#seenVersion = version;
    this.#hasLooked = true;
    setImmediate(() => {
      this.#hasLooked = false;
    });
  }

  /** Undefined where it cannot be told: then everything is read, which says what is wrong. */
  #readVersion(): unknown {
    try {
      return this.#dataVersion.get()?.['data_version'];
    } catch {
      return undefined;
    }
  }

  #forgetAll(): void {
    this.#last += 1;
    this.#floor = this.#last;
    this.#revisions.clear();
  }
}

/** SQL for a name of what a row changes, in the row before or after. */
type NameIn = (row: 'OLD' | 'NEW') => string;

const namesIn = ({ revises = [], isOf }: Table): NameIn[] => [
  ...revises.map(
    (column): NameIn =>
      (row) =>
        `${row}."${column}"`,
  ),
  ...(isOf === undefined ? [] : [((row) => `'${partName(isOf, '')}' || ${row}."organization_id"`) as NameIn]),
];

/** The name of a part of an organization. */
export const partName = (part: OrganizationPart, organizationId: string): string => `${part} ${organizationId}`;

const touch = (name: string): string => `SELECT custos_touched(${name});`;

/** An update may give a row another name; most do not. */
const EVENTS: readonly (readonly [string, (name: NameIn) => string])[] = [
  ['INSERT', (name) => touch(name('NEW'))],
  [
    'UPDATE',
    (name) => `${touch(name('NEW'))} SELECT custos_touched(${name('OLD')}) WHERE ${name('OLD')} IS NOT ${name('NEW')};`,
  ],
  ['DELETE', (name) => touch(name('OLD'))],
];

interface Entry<Value> {
  readonly value: Value;
  readonly size: number;
  /** Of everything that it depends on. */
  readonly revisions: ReadonlyMap<string, number>;
}

export interface KeptOptions<Value> {
  /** For what a transaction reads, which sees its own changes. */
  readonly isInside: boolean;
  /** What one takes, and what all may take together; by default each counts as one. */
  readonly sizeOf?: (key: string, value: Value) => number;
  readonly sizeMax?: number;
}

/** What was read and is kept while nothing that it depends on changes. */
export class KeptValues<Value> {
  readonly #revisions: Revisions;
  readonly #isInside: boolean;
  readonly #sizeOf: (key: string, value: Value) => number;
  readonly #sizeMax: number;
  readonly #entries = new Map<string, Entry<Value>>();
  #size = 0;

  constructor(revisions: Revisions, { isInside, sizeOf = () => 1, sizeMax = VALUES_MAX }: KeptOptions<Value>) {
    this.#revisions = revisions;
    this.#isInside = isInside;
    this.#sizeOf = sizeOf;
    this.#sizeMax = sizeMax;
    revisions.add(this);
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    for (const [name, revision] of entry.revisions) {
      if (revision !== this.#revisions.of(name) || this.#isOwnChange(name)) return undefined;
    }
    return entry.value;
  }

  /** Whatever it keeps was asked for after this; to be handed to `keep`. */
  get moment(): number {
    return this.#revisions.latest;
  }

  /**
   * Keeps what was read since a moment, unless something it depends on changed meanwhile: then nobody knows which side of
   * the change this is.
   */
  keep(key: string, value: Value, dependsOn: readonly string[], moment: number): void {
    const revisions = new Map<string, number>();
    for (const name of dependsOn) {
      const revision = this.#revisions.of(name);
      if (revision > moment || this.#isOwnChange(name)) return;
      revisions.set(name, revision);
    }
    this.#drop(key);
    const size = this.#sizeOf(key, value);
    if (this.#size + size > this.#sizeMax) {
      this.#entries.clear();
      this.#size = 0;
    }
    this.#entries.set(key, { value, size, revisions });
    this.#size += size;
  }

  forgetOld(): void {
    for (const [key, { revisions }] of this.#entries) {
      for (const [name, revision] of revisions) {
        if (revision === this.#revisions.of(name)) continue;
        this.#drop(key);
        break;
      }
    }
  }

  #drop(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#size -= entry.size;
  }

  #isOwnChange(name: string): boolean {
    return this.#isInside && this.#revisions.isTouched(name);
  }
}
