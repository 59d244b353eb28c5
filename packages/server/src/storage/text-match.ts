import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { OrganizationId } from '../lib/ids.ts';
import type { DatabaseKind } from './dialect.ts';
import type { Schema } from './schema.ts';

/** No index finds a piece of a text, so that a search looks at so many rows of an organization, the newest ones. */
export const SEARCHED_MAX = 10_000;

/**
 * Whether one of the columns has the text, somewhere or at its beginning. Letters of ASCII match in any case; a text with
 * others matches as it was typed, in small letters, in capitals, and with a capital at the beginning of each word. Databases
 * fold other letters in different ways or not at all, so neither is left to do it.
 */
export function hasText(
  kind: DatabaseKind,
  columns: readonly string[],
  text: string,
  where: 'anywhere' | 'beginning' = 'anywhere',
): RawBuilder<boolean> {
  const patterns = spellingsOf(text).map((spelling) => {
    const escaped = spelling.replace(/[\\%_]/g, (character) => `\\${character}`);
    return `${where === 'anywhere' ? '%' : ''}${escaped}%`;
  });
  const found = columns.flatMap((column) => {
    const folded = kind === 'postgres' ? sql`lower(${sql.ref(column)} COLLATE "C")` : sql`lower(${sql.ref(column)})`;
    return patterns.map((pattern) => sql`${folded} LIKE ${pattern} ESCAPE '\\'`);
  });
  return sql`(${sql.join(found, sql` OR `)})`;
}

/** How a text may be written, with the letters of ASCII in small; one for a text that has no others. */
function spellingsOf(text: string): readonly string[] {
  const small = text.toLowerCase();
  const titled = small.replace(/(?<![\p{L}\p{M}\p{N}])\p{L}/gu, (letter) => letter.toUpperCase());
  return [...new Set([text, small, text.toUpperCase(), titled].map(foldAscii))];
}

const foldAscii = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** So much of an id or an address at least: less is the beginning of too many. */
export const PREFIX_MIN = 6;

/** Above every character that ids, addresses, names and contacts have. */
const LAST = '\u{10ffff}';

/** Whether a column begins with the text, as a range of an index; the column must compare bytes. */
export const valuesBeginWith = (column: string, text: string): RawBuilder<boolean> =>
  sql`(${sql.ref(column)} >= ${text} AND ${sql.ref(column)} < ${text + LAST})`;

/** Whether an id begins with the text; undefined where none can, or too many would. */
export function idsBeginWith(column: string, text: string): RawBuilder<boolean> | undefined {
  const id = text.toLowerCase();
  return id.length >= PREFIX_MIN && /^[0-9a-f-]{1,36}$/.test(id) ? valuesBeginWith(column, id) : undefined;
}

/** The oldest row that a search looks at; undefined where it looks at all of them. */
export async function oldestSearched(
  db: Kysely<Schema>,
  table: keyof Schema,
  organizationId: OrganizationId,
  rowsMax: number = SEARCHED_MAX,
): Promise<string | undefined> {
  const { rows } = await sql<{
    id: string;
  }>`SELECT /* partial: an id, down to which is searched */ id FROM ${sql.table(table)}
    WHERE organization_id = ${organizationId} ORDER BY id DESC LIMIT 2 OFFSET ${rowsMax - 1}`.execute(db);
  // Only a row behind the last one says that there are more.
  return rows.length < 2 ? undefined : rows[0]?.id;
}
