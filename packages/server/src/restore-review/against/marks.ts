import { type Keyring, KeyringError } from '@custos/keyring';
import { dataModel } from '../../domains.ts';
import { notesUnder } from '../../integrity/notes.ts';
import { Marks } from '../../storage/integrity/mark.ts';
import { type ColumnInfo, type MarkedTable, markColumn, markedTables } from '../../storage/integrity/marked-table.ts';
import type { Row } from '../../storage/integrity/row.ts';
import type { Query, Verify } from './rows.ts';

export interface Verifier {
  readonly verify: Verify;
  /** Why nobody can tell; undefined where it is told. */
  readonly doubt: string | undefined;
}

/** Tells whether rows of another database are as its service wrote them, where the key ring of this machine opens its key. */
export async function openVerifier(query: Query, columns: readonly ColumnInfo[], keyring: Keyring): Promise<Verifier> {
  const unable = (doubt: string): Verifier => ({ verify: () => undefined, doubt });
  if (!columns.some(({ table }) => table === 'integrity_key')) return unable('it is from before rows had marks');
  const keys = await query('SELECT key_id, generation, sealed_key FROM integrity_key ORDER BY generation', []);
  const facts = await query("SELECT name, value FROM deployment WHERE name IN ('deployment_key', 'integrity')", []);
  const factOf = (name: string): unknown => facts.find((fact) => fact['name'] === name)?.['value'];
  const wrappedKey = factOf('deployment_key');
  if (keys.length === 0 || wrappedKey === undefined) return unable('it has no integrity key');
  const wrapped = Buffer.from(String(wrappedKey), 'hex');
  let isRequired = false;
  const lent: { generation: number; bytes: Uint8Array }[] = [];
  try {
    for (const { key_id: keyId, generation, sealed_key: sealed } of keys) {
      const number = Number(generation);
      const bytes = await keyring.lendIntegrityKey(wrapped, String(keyId), number, sealed as Uint8Array);
      lent.push({ generation: number, bytes });
      isRequired ||= factOf('integrity') === notesUnder(String(keyId), bytes).required;
    }
    return { verify: verifierWith(new Marks(lent), columns, isRequired), doubt: undefined };
  } catch (error) {
    if (!(error instanceof KeyringError)) throw error;
    return unable(`the key ring of this machine does not open its integrity key (${error.message})`);
  } finally {
    for (const { bytes } of lent) bytes.fill(0);
  }
}

/** By the columns that the other database has: a newer version may mark more than this one knows. */
function verifierWith(marks: Marks, columns: readonly ColumnInfo[], isRequired: boolean): Verify {
  const present = dataModel.tables.filter(({ name }) =>
    columns.some(({ table, column }) => table === name && column === markColumn(name)),
  );
  const tables: ReadonlyMap<string, MarkedTable> = markedTables(present, columns);
  return ({ name }: MarkedTable, row: Row): boolean | undefined => {
    const table = tables.get(name);
    if (table === undefined) return undefined;
    const mark = row[table.mark];
    if (mark === null || mark === undefined) return isRequired ? false : undefined;
    return marks.isGenuine(table, row, table.columns, mark);
  };
}
