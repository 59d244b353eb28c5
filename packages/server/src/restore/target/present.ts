import { sql } from 'kysely';
import { BACKUP } from '../../core/store/installation.ts';
import { TIME_MS_MAX } from '../../key-rotation/clock-doubt.ts';
import { printable } from '../../lib/printable.ts';
import { StartError } from '../../lib/start-error.ts';
import { MIGRATION_NAMES } from '../../storage/migrate.ts';
import { Reader } from '../../storage/store.ts';

/** Runs a statement without values and answers with its rows. */
export type Ask = (text: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;

/** What a database says of itself, for a person who is asked whether it is to be replaced. */
export interface Described {
  /** The first organization that it had. Two databases with the same one are of one deployment. */
  readonly organizationId: string | undefined;
  readonly organizationName: string | undefined;
  readonly organizations: number;
  /** When a request last stored anything. */
  readonly lastAtMs: number | undefined;
}

/** By plain SQL: what is replaced may be of an older version, and its rows are believed only as far as a question needs them. */
export async function describe(ask: Ask): Promise<Described> {
  const [first] = await ask("SELECT value FROM deployment WHERE name = 'bootstrap'");
  const organizationId = first === undefined ? undefined : printable(first['value']);
  const [count] = await ask('SELECT /* partial: a count */ count(*) AS count FROM organization');
  const named = await ask(
    'SELECT /* partial: told to a person */ id, name FROM organization WHERE parent_id IS NULL ORDER BY created_at_ms LIMIT 100',
  );
  const organization = named.find(({ id }) => id === organizationId) ?? named[0];
  const [last] = await ask(`SELECT /* partial: a time */ max(moment) AS last FROM (
    SELECT updated_at_ms AS moment FROM organization
    UNION ALL
    SELECT (SELECT max(created_at_ms) FROM activity WHERE activity.organization_id = organization.id) FROM organization
  ) AS times`);
  const lastAtMs = Number(last?.['last'] ?? Number.NaN);
  return {
    organizationId: organizationId ?? (organization === undefined ? undefined : printable(organization['id'])),
    organizationName: organization === undefined ? undefined : printable(organization['name']),
    organizations: Number(count?.['count'] ?? 0),
    // Somebody may have written a time that no clock has, which nobody could show.
    lastAtMs: Math.abs(lastAtMs) <= TIME_MS_MAX ? lastAtMs : undefined,
  };
}

/** The same of a database that is open. */
export class DescribedReader extends Reader {
  async describe(): Promise<Described> {
    return await describe(async (text) => (await sql.raw<Record<string, unknown>>(text).execute(this.db)).rows);
  }
}

/** What a newer program added would be left behind, in the way of the next upgrade. */
export async function requireKnownTables(ask: Ask, what: string): Promise<void> {
  const applied = (await ask('SELECT name FROM schema_migration ORDER BY name')).map(({ name }) => String(name));
  const unknown = applied.filter((name) => !MIGRATION_NAMES.includes(name));
  if (unknown.length === 0) return;
  throw new StartError(
    `${what} was used by a newer version of Custos (it has ${unknown.map((name) => printable(name)).join(', ')}): restore with that version; nothing was changed`,
  );
}

export interface StoredFact {
  readonly name: string;
  readonly value: string;
}

/** Records of backups that were taken at a moment or after it: a restore must not forget that they need their keys. */
export async function backupsSince(ask: Ask, sinceMs: number): Promise<readonly StoredFact[]> {
  const rows = await ask(`SELECT name, value FROM deployment WHERE name LIKE '${BACKUP}%'`);
  return rows
    .map(({ name, value }) => ({ name: String(name), value: String(value) }))
    .filter(({ value }) => takenAtOf(value) >= sinceMs);
}

/** One that cannot be read is kept: it may be of a backup that is newer. */
function takenAtOf(value: string): number {
  try {
    const { takenAtMs } = JSON.parse(value) as { readonly takenAtMs?: unknown };
    return typeof takenAtMs === 'number' ? takenAtMs : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
