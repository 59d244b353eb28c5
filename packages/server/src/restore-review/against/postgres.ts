import { connectPostgres, explain, LONG_ANSWER_MS_MAX } from '../../keyring-admin/postgres-session.ts';
import { StartError } from '../../lib/start-error.ts';
import { COLUMN_QUERIES } from '../../storage/integrity/columns.ts';
import type { ColumnInfo } from '../../storage/integrity/marked-table.ts';
import type { Row } from '../../storage/integrity/row.ts';
import { types } from '../../storage/postgres/rows.ts';
import { pinnedSearchPath } from '../../storage/postgres/search-path.ts';
import type { OpenedDatabase } from './sqlite.ts';

export async function openPostgresUrl(url: string): Promise<OpenedDatabase> {
  const client = await connectPostgres(url, LONG_ANSWER_MS_MAX);
  const query = async (text: string, values: readonly unknown[]): Promise<readonly Row[]> => {
    let position = 0;
    const numbered = text.replaceAll('?', () => {
      position += 1;
      return `$${position}`;
    });
    const { rows } = await client.query({ text: numbered, values: [...values], types });
    return rows as Row[];
  };
  try {
    const path = await pinnedSearchPath(client, url);
    // What others commit meanwhile is not seen, so that all tables are of one moment; and nothing can be changed.
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    if (path !== undefined) await client.query("SELECT pg_catalog.set_config('search_path', $1, true)", [path]);
    const columns = (await query(COLUMN_QUERIES.postgres, [])) as unknown as readonly ColumnInfo[];
    if (!columns.some(({ table }) => table === 'organization'))
      throw new StartError('the PostgreSQL database that --against names holds no Custos service');
    return { query, columns, close: () => client.end() };
  } catch (error) {
    await client.end().catch(() => {});
    throw error instanceof StartError ? error : explain(error);
  }
}
