import { createSecretKey, hash, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto';
import { KnownRows } from './known-rows.ts';
import type { MarkedTable } from './marked-table.ts';
import type { Row } from './row.ts';

/** Whose rows belong to no organization. */
const INSTALLATION = 'deployment';
const ORGANIZATIONS_MAX = 20_000;
/** 132 bits. */
const TAG_LENGTH = 22;

/** One generation of the integrity key. */
export interface IntegrityKey {
  /** Counts from 1. */
  readonly generation: number;
  readonly bytes: Uint8Array;
}

/** Computes and verifies marks (docs/decisions/0060). */
export class Marks {
  /** Copies: whoever was lent the bytes wipes them. */
  readonly #keys: ReadonlyMap<number, KeyObject>;
  readonly #marksWith: number;
  /** As text. */
  readonly #derived = new Map<string, string>();
  readonly #known = new KnownRows();

  /** All keys verify; rows are marked with the one of a generation, the newest unless told. */
  constructor(keys: readonly IntegrityKey[], marksWith?: number) {
    this.#keys = new Map(keys.map(({ generation, bytes }) => [generation, createSecretKey(bytes)]));
    this.#marksWith = marksWith ?? Math.max(...this.#keys.keys());
  }

  /** Whether a mark is under the key that rows are marked with; another one may verify all the same. */
  isCurrent(mark: unknown): boolean {
    return typeof mark === 'string' && mark.startsWith(`${this.#marksWith}.`);
  }

  get marksWith(): number {
    return this.#marksWith;
  }

  /** `before` is the mark of the row in whose place this one is written: what was read again and again will be. */
  of(table: MarkedTable, row: Row, before?: unknown, isReadSoon = false): string {
    const mark = this.#compute(table, row, table.columns, this.#marksWith);
    if (this.#known.drop(before) || isReadSoon) this.#known.keep(table, row, table.columns, mark);
    return mark;
  }

  /** `names` are those under which the result of a statement has the table's columns, in their order. */
  isGenuine(table: MarkedTable, row: Row, names: readonly string[], mark: unknown): boolean {
    if (typeof mark !== 'string') return false;
    const generation = Number(mark.slice(0, mark.indexOf('.')));
    if (!this.#keys.has(generation)) return false;
    if (this.#known.has(table, row, names, mark)) return true;
    const expected = this.#compute(table, row, names, generation);
    if (mark.length !== expected.length || !timingSafeEqual(Buffer.from(mark), Buffer.from(expected))) return false;
    this.#known.keep(table, row, names, mark);
    return true;
  }

  /** The row with this mark, where it was verified or written before and the mark covers all of it. */
  rowOf(table: MarkedTable, mark: string): Row | undefined {
    const isCovered = table.all.length === table.columns.length + 1;
    return isCovered ? this.#known.get(table, mark) : undefined;
  }

  #compute(table: MarkedTable, row: Row, names: readonly string[], generation: number): string {
    const key = this.#keyOf(organizationOf(table, row, names), generation);
    // A key before the message is a MAC with SHA-512/256: half of the state is not in the digest, so nobody can go on from it.
    const tag = hash('sha512-256', key + textOf(table, row, names), 'base64url');
    return `${generation}.${tag.slice(0, TAG_LENGTH)}`;
  }

  #keyOf(organizationId: string, generation: number): string {
    const name = `${generation} ${organizationId}`;
    let key = this.#derived.get(name);
    if (key === undefined) {
      if (this.#derived.size >= ORGANIZATIONS_MAX) this.#derived.clear();
      key = derive(this.#keys.get(generation) as KeyObject, name);
      this.#derived.set(name, key);
    }
    return key;
  }
}

/** As long as a block of SHA-512 in hex digits. */
function derive(secret: KeyObject, name: string): string {
  const bytes = Buffer.from(hkdfSync('sha256', secret, '', `custos.integrity.row ${name}`, 64));
  const key = bytes.toString('hex');
  bytes.fill(0);
  return key;
}

function organizationOf({ organization, columns }: MarkedTable, row: Row, names: readonly string[]): string {
  if (organization === undefined) return INSTALLATION;
  return String(row[names[columns.indexOf(organization)] as string]);
}

/**
 * The row as text, which no two rows have in common: each value behind the name of its column, its type and its length. What
 * is null is left out, so that a new column changes no mark.
 */
function textOf({ name, columns }: MarkedTable, row: Row, names: readonly string[]): string {
  let text = `${name}\n`;
  for (let index = 0; index < columns.length; index += 1) {
    const value = row[names[index] as string];
    // What is not given becomes null.
    if (value === null || value === undefined) continue;
    if (typeof value === 'string') text += `${columns[index]}=t${value.length}:${value}\n`;
    else if (typeof value === 'number' || typeof value === 'bigint') text += `${columns[index]}=n${value}\n`;
    else if (value instanceof Uint8Array)
      text += `${columns[index]}=b${value.length}:${hash('sha512-256', value, 'base64url')}\n`;
    else throw new Error(`${name}.${columns[index]} holds neither text, number nor bytes: ${typeof value}`);
  }
  return text;
}

/** What tells one state of a set of rows from another: their marks, in whichever order they came. */
export const digestOfMarks = (marks: readonly string[]): string =>
  hash('sha256', [...marks].sort().join('\n'), 'base64url').slice(0, TAG_LENGTH);
