import type pg from 'pg';

/**
 * Where sessions look for tables, operators and functions: among those of PostgreSQL itself, then in the schema that holds the
 * tables, and in that of temporary ones last. Somebody who may create objects elsewhere, or change settings of the database or
 * of a role, puts nothing in front of them. Undefined where the URL or PGOPTIONS says something else, which then holds.
 */
export async function pinnedSearchPath(client: pg.Client, url: string): Promise<string | undefined> {
  if (namesSearchPath(url)) return undefined;
  // Operators and functions are named in full: whatever is in force now may have been changed by somebody.
  const { rows } = await client.query<Schemas>(`SELECT
    (SELECT coalesce(pg_catalog.json_agg(n.nspname), '[]') FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n
      ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
      WHERE c.relname OPERATOR(pg_catalog.=) 'schema_migration' AND c.relkind OPERATOR(pg_catalog.=) 'r'
        AND pg_catalog.pg_get_userbyid(c.relowner) OPERATOR(pg_catalog.=) current_user) AS own,
    pg_catalog.to_json(pg_catalog.current_schemas(false)) AS path,
    (SELECT n.nspname FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n
      ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
      WHERE c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass('schema_migration')) AS found,
    pg_catalog.current_schema() AS current`);
  const schema = schemaIn(rows[0] as Schemas);
  // What is not listed of PostgreSQL's own is searched first.
  return schema && `"${schema.replaceAll('"', '""')}", pg_temp`;
}

interface Schemas {
  /** Schemas with tables of a service that the role of this session owns. */
  readonly own: readonly string[];
  /** As it is in force. */
  readonly path: readonly string[];
  readonly found: string | null;
  readonly current: string | null;
}

/**
 * Nobody else can make a table that this role owns, so a copy elsewhere does not count, wherever the path in force looks first.
 * Of several own ones, such as those that a restore has kept, it is the first of the path.
 */
function schemaIn({ own, path, found, current }: Schemas): string | undefined {
  const [only, ...others] = own;
  const listed = path.find((schema) => own.includes(schema));
  return (
    listed ?? (others.length === 0 ? only : own.find((schema) => schema === 'public')) ?? found ?? current ?? undefined
  );
}

function namesSearchPath(url: string): boolean {
  let options = process.env['PGOPTIONS'] ?? '';
  try {
    options += ` ${new URL(url).searchParams.get('options') ?? ''}`;
  } catch {
    // A URL that only the driver understands names what it names.
    options += ` ${url}`;
  }
  return options.includes('search_path');
}
