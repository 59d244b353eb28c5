import { type AskedFacts, askedOf } from './asked.ts';
import type { MarkedTable } from './marked-table.ts';
import type { Row } from './row.ts';

/** What of the rows of an answer is verified. */
export interface Check {
  readonly table: MarkedTable;
  readonly mark: string;
  /** Under which names the answer has the table's columns, in their order. */
  readonly names: readonly string[];
  /** Of what tells rows apart; null where a join found nothing. */
  readonly present: string;
  /** What the rows were asked for by. */
  readonly asked: readonly AskedColumn[];
}

/** A column of an answer that is equal to one of these, wherever a row of its table is there. */
export interface AskedColumn {
  readonly name: string;
  readonly parameters: readonly number[];
  readonly texts: readonly string[];
  /** Other columns of the answer. */
  readonly columns: readonly string[];
  /** Of the joined table by whose row alone this is asked; not null where it is. */
  readonly within: string | undefined;
}

/** What a statement does with marked tables, read from its text once. */
export interface StatementFacts {
  /** Tables that it reads rows of to answer with them. */
  readonly reads: readonly MarkedTable[];
  /** Which rows it asks for. */
  readonly asked: AskedFacts;
  /** What is verified; known once there is a row. */
  checks?: readonly Check[];
}

const COMMENT = /\/\*.*?\*\//gs;
/** All tables of the statement, or those that it names. */
const PARTIAL = /\/\* partial( [a-z0-9_, ]+)?: /g;
/** Whoever asks verifies each row by itself (one-by-one.ts). */
const ONE_BY_ONE = /\/\* one by one: /;
const UNMARKED = /\/\* unmarked: /;
const SOURCE = /(?:\bfrom|\bjoin|,)\s*"?([a-z0-9_]+)"?/gi;
/** Not of `FOR UPDATE` and `DO UPDATE`, which name no table. */
const TARGET =
  /\b(insert(?:\s+or\s+[a-z]+)?\s+into|(?<!\bfor\s+(?:no key\s+)?|\bdo\s+)update(?:\s+or\s+[a-z]+)?|delete from)\s+"?([a-z0-9_]+)"?/gi;
const SELECTS = /^\s*\(?\s*(select|with)\b/i;

/**
 * Reads from the text of a statement which marked tables it concerns. A statement that writes such a table without a mark is
 * refused; it must go through `insertion` or `amend`.
 */
export function factsOf(text: string, tables: ReadonlyMap<string, MarkedTable>): StatementFacts {
  const bare = text.replace(COMMENT, ' ');
  let writes = false;
  for (const [, verb, name = ''] of bare.matchAll(TARGET)) {
    writes = true;
    const table = tables.get(name);
    if (table === undefined || verb?.toLowerCase() === 'delete from' || bare.includes(table.mark)) continue;
    if (!UNMARKED.test(text)) throw new Error(`rows of ${name} are written without their mark: ${text.slice(0, 200)}`);
  }
  const isRead = !writes && SELECTS.test(bare);
  const asked = askedOf(isRead ? bare : '');
  if (ONE_BY_ONE.test(text)) return { reads: [], checks: [], asked };
  const excused = new Set<string>();
  for (const [, names] of text.matchAll(PARTIAL)) {
    if (names === undefined) return { reads: [], asked };
    for (const name of names.split(',')) excused.add(name.trim());
  }
  if (!isRead) return { reads: [], asked };
  const reads = new Set<MarkedTable>();
  for (const [, name = ''] of bare.matchAll(SOURCE)) {
    const table = tables.get(name.toLowerCase());
    if (table !== undefined && !excused.has(table.name)) reads.add(table);
  }
  return { reads: [...reads], asked };
}

/**
 * Which tables' rows are whole in an answer, by the names of its columns: a mark may have a prefix, which the table's other
 * columns have then too. A statement that reads a marked table otherwise has to say why.
 */
export function checksOf(
  row: Row,
  text: string,
  { reads, asked }: StatementFacts,
  tables: readonly MarkedTable[],
): Check[] {
  const checks: Omit<Check, 'asked'>[] = [];
  for (const mark of Object.keys(row)) {
    if (!mark.endsWith('_mac')) continue;
    const table = tables.find((one) => mark.endsWith(one.mark));
    if (table === undefined) continue;
    const prefix = mark.slice(0, -table.mark.length);
    const names = table.columns.map((column) => prefix + column);
    const missing = names.filter((name) => !(name in row));
    if (missing.length > 0) throw new Error(`${missing.join(', ')} are missing beside ${mark}: ${text.slice(0, 200)}`);
    checks.push({ table, mark, names, present: prefix + table.key[0] });
  }
  const unread = reads.filter((table) => !checks.some((check) => check.table === table));
  if (unread.length > 0)
    throw new Error(`${unread.map(({ name }) => name).join(', ')} read without their marks: ${text.slice(0, 300)}`);
  return checks.map((check) => ({ ...check, asked: askedColumns(check, checks, asked) }));
}

type Found = Omit<Check, 'asked'>;

/** What a table's rows were asked for by, by the names that its columns have in the answer. */
function askedColumns(check: Found, checks: readonly Found[], { sources, asked }: AskedFacts): AskedColumn[] {
  // A subquery may be where the table's columns come from.
  if ([...sources.values()].includes('')) return [];
  const foundAs = (source: string): Found | undefined => {
    const table = sources.get(source);
    const isOnly = [...sources.values()].filter((name) => name === table).length === 1;
    const [found, ...others] = checks.filter((one) => one.table.name === table);
    return isOnly && others.length === 0 ? found : undefined;
  };
  const nameOf = ({ source, column }: { readonly source: string; readonly column: string }): string | undefined => {
    const found = foundAs(source);
    return found?.names[found.table.columns.indexOf(column)];
  };
  return asked.flatMap(({ source, column, operands, within }) => {
    const name = nameOf({ source, column });
    const present = within === undefined ? undefined : foundAs(within)?.present;
    if (foundAs(source) !== check || name === undefined || (within !== undefined && present === undefined)) return [];
    const parameters: number[] = [];
    const texts: string[] = [];
    const columns: string[] = [];
    for (const operand of operands) {
      if (operand.kind === 'parameter') parameters.push(operand.index);
      else if (operand.kind === 'text') texts.push(operand.value);
      else {
        const other = nameOf(operand.ref);
        // What is not in the answer cannot be compared.
        if (other === undefined) return [];
        columns.push(other);
      }
    }
    return [{ name, parameters, texts, columns, within: present }];
  });
}

/** Whether a row is one that was asked for. */
export function isAskedFor(row: Row, asked: readonly AskedColumn[], parameters: readonly unknown[]): boolean {
  for (const { name, parameters: indexes, texts, columns, within } of asked) {
    if (within !== undefined && row[within] === null) continue;
    const value = row[name];
    const isIt =
      indexes.some((index) => isSame(value, parameters[index])) ||
      columns.some((column) => isSame(value, row[column])) ||
      (texts.length > 0 && texts.includes(String(value)));
    if (!isIt) return false;
  }
  return true;
}

/** As a database compares them, which knows no difference between a number and its digits for a column of numbers. */
function isSame(value: unknown, wanted: unknown): boolean {
  if (value === wanted) return value !== null && value !== undefined;
  if (value === null || value === undefined || wanted === null || wanted === undefined) return false;
  if (value instanceof Uint8Array) return wanted instanceof Uint8Array && Buffer.compare(value, wanted) === 0;
  return String(value) === String(typeof wanted === 'boolean' ? Number(wanted) : wanted);
}
