import { type RawBuilder, sql } from 'kysely';
import { sha256Hex } from '../../lib/encoding.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import { jsonRows } from '../../storage/json-rows.ts';
import { type Connection, Reader, type Transaction } from '../../storage/store.ts';
import type { Followed } from '../../storage/table.ts';

/**
 * Which changes a moment has seen: those with a number below `below`, save for those that were still under way. Of two marks
 * the later one has seen everything that the earlier one has.
 */
export interface Mark {
  readonly below: number;
  readonly underWay: readonly number[];
}

/** A moment of the database: what it has seen, and the number that comes next. */
export interface Now {
  readonly mark: Mark;
  readonly next: number;
}

/**
 * A time in which numbers only rose, up to the beginning of the next era. A restored backup begins one: it has numbers again
 * that were given before, for other changes.
 */
export interface Era {
  readonly id: string;
  /** Numbers from here on are of this era or of later ones. */
  readonly begins: number;
}

/** Where a change stands among those between two marks: in which table, and the number of the change. */
export interface Place {
  readonly source: number;
  readonly number: number;
  readonly id: string;
}

/** One row as it is now. */
export interface Change {
  readonly kind: string;
  readonly place: Place;
  readonly updatedAtMs: number;
  /** What is told of it, by the names of the wire. */
  readonly fields: Readonly<Record<string, string>>;
}

/** What streams depend on of an organization. */
export interface Standing {
  readonly id: OrganizationId;
  readonly authorityVersion: number;
  readonly rulesVersion: number;
  readonly isDeleted: boolean;
  /** Whether something changed between the two marks. */
  readonly hasChanged: boolean;
}

interface Span {
  readonly from: Mark;
  readonly to: Mark;
}

/** A mark with more of them is not worth its length; then it has seen only what is older than all of them. */
export const UNDER_WAY_MAX = 200;
/** A service that starts more often within a day tells clients of a gap. */
const ERAS_MAX = 50;

interface Source {
  readonly table: string;
  readonly followed: Followed;
}

interface Row {
  readonly source: number;
  readonly id: string;
  readonly changed_in: number;
  readonly updated_at_ms: number;
  readonly [column: `field${number}`]: string;
}

/** What changed in an organization between two marks (docs/decisions/0045). */
export class ChangeReader extends Reader {
  readonly #sources: readonly Source[];

  constructor(connection: Connection) {
    super(connection);
    this.#sources = connection.tables.flatMap(({ name, followed }) =>
      followed === undefined ? [] : [{ table: name, followed }],
    );
  }

  /** The eras of this database that are remembered, the present one last. */
  async eras(): Promise<readonly [Era, ...Era[]]> {
    return this.kind === 'sqlite' ? await this.sqliteEras() : [{ id: await this.#identity(), begins: 0 }];
  }

  protected async sqliteEras(): Promise<[Era, ...Era[]]> {
    const row = await this.db
      .selectFrom('deployment')
      .select('value')
      .where('name', '=', 'feed_eras')
      .executeTakeFirst();
    return row === undefined ? [{ id: 'first', begins: 0 }] : JSON.parse(row.value);
  }

  /**
   * What becomes another with a restore: a dump makes tables anew, and a server that recovers to a moment of its past begins
   * a new timeline. Some hosts tell neither of the latter two to a user of the database.
   */
  async #identity(): Promise<string> {
    const value = async (expression: RawBuilder<unknown>): Promise<string> => {
      const { rows } = await sql<{ value: string }>`SELECT (${expression})::text AS value`.execute(this.db);
      return rows[0]?.value ?? '';
    };
    const parts = await Promise.all([
      value(sql`SELECT oid FROM pg_database WHERE datname = current_database()`),
      value(sql`'activity'::regclass::oid`),
      value(sql`SELECT system_identifier FROM pg_control_system()`).catch(unlessRefused),
      value(sql`substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)`).catch(unlessRefused),
    ]);
    return sha256Hex(parts.join()).slice(0, 16);
  }

  async now(): Promise<Now> {
    if (this.kind === 'sqlite') {
      const { rows } = await sql<{ value: string }>`SELECT value FROM deployment WHERE name = 'change_number'`.execute(
        this.db,
      );
      const next = Number(rows[0]?.value ?? 0) + 1;
      return { mark: { below: next, underWay: [] }, next };
    }
    const { rows } = await sql<{ snapshot: string }>`SELECT pg_current_snapshot()::text AS snapshot`.execute(this.db);
    const [xmin = '', xmax = '', running = ''] = (rows[0]?.snapshot ?? '').split(':');
    const underWay = running === '' ? [] : running.split(',').map(Number);
    const next = Number(xmax);
    return {
      next,
      mark: underWay.length > UNDER_WAY_MAX ? { below: Number(xmin), underWay: [] } : { below: next, underWay },
    };
  }

  async mark(): Promise<Mark> {
    return (await this.now()).mark;
  }

  /** What streams depend on of all these organizations, and in which something changed; in one statement. */
  async standings(organizationIds: readonly OrganizationId[], span: Span | undefined): Promise<Standing[]> {
    const ids = JSON.stringify(organizationIds.map((id) => ({ id })));
    const changed =
      span === undefined
        ? [sql`1 = 0`]
        : this.#sources.flatMap(({ table }) =>
            parts(span).map(
              (numbers) =>
                sql`EXISTS (SELECT 1 FROM ${sql.table(table)} WHERE organization_id = organization.id AND ${numbers})`,
            ),
          );
    const { rows } = await sql<{
      id: string;
      authority_version: number;
      rules_version: number;
      deleted_at_ms: number | null;
      has_changed: number;
    }>`SELECT /* partial: versions, to be compared */ organization.id, authority_version, rules_version, deleted_at_ms,
        CASE WHEN ${sql.join(changed, sql` OR `)} THEN 1 ELSE 0 END AS has_changed
      FROM ${jsonRows(this.kind, 'followed', { id: 'text' }, ids)}
      JOIN organization ON organization.id = followed.id`.execute(this.db);
    return rows.map((row) => ({
      id: row.id as OrganizationId,
      authorityVersion: row.authority_version,
      rulesVersion: row.rules_version,
      isDeleted: row.deleted_at_ms !== null,
      hasChanged: row.has_changed === 1,
    }));
  }

  /**
   * Rows whose last change `to` has seen and `from` has not, after a place; in one statement. One that changes meanwhile is
   * left out here and stands between `to` and a later mark.
   */
  async between(
    organizationId: OrganizationId,
    span: Span,
    after: Place | undefined,
    limit: number,
  ): Promise<Change[]> {
    const width = Math.max(...this.#sources.map(({ followed }) => Object.keys(followed.fields).length));
    const ofSource = ({ table, followed }: Source, source: number): RawBuilder<unknown>[] => {
      if (after !== undefined && source < after.source) return [];
      const columns = Object.values(followed.fields);
      const fields = Array.from({ length: width }, (_, index) => {
        const column = columns[index];
        const value = column === undefined ? sql`''` : sql`CAST(${sql.ref(column)} AS text)`;
        return sql`${value} AS ${sql.ref(`field${index}`)}`;
      });
      const beyond =
        after?.source === source
          ? sql`AND changed_in >= ${after.number} AND (changed_in > ${after.number} OR id > ${after.id})`
          : sql``;
      // Each is a search in the index, and has as many rows as could be shown.
      return parts(span).map(
        (numbers) => sql`SELECT * FROM (
          SELECT ${sql.lit(source)} AS source, id, changed_in, updated_at_ms, ${sql.join(fields)} FROM ${sql.table(table)}
          WHERE organization_id = ${organizationId} AND ${numbers} ${beyond}
          ORDER BY changed_in, id LIMIT ${limit}) AS part`,
      );
    };
    const branches = this.#sources.flatMap(ofSource);
    if (branches.length === 0) return [];
    const { rows } =
      await sql<Row>`SELECT /* partial: what the feed tells; readers ask for the rest */ * FROM (${sql.join(branches, sql` UNION ALL `)}) AS found
      ORDER BY source, changed_in, id LIMIT ${limit}`.execute(this.db);
    return rows.map((row) => this.#toChange(row));
  }

  #toChange(row: Row): Change {
    const { followed } = this.#sources[row.source] as Source;
    return {
      kind: followed.kind,
      place: { source: row.source, number: Number(row.changed_in), id: row.id },
      updatedAtMs: Number(row.updated_at_ms),
      fields: Object.fromEntries(
        Object.keys(followed.fields).map((name, index) => {
          const value = row[`field${index}`] ?? '';
          return [name, followed.names?.[value] ?? value];
        }),
      ),
    };
  }
}

export class ChangeStore extends ChangeReader {
  static readonly writes = true;

  constructor(transaction: Transaction) {
    super(transaction);
  }

  /**
   * With every start on the embedded database, which is restored only while nothing runs. Numbers that an earlier era gave
   * beyond the beginning of this one are lost, and a cursor that holds one is known by that.
   */
  async beginEra(id: string): Promise<void> {
    if (this.kind !== 'sqlite') return;
    const eras = [...(await this.sqliteEras()), { id, begins: (await this.now()).next }];
    const value = JSON.stringify(eras.slice(-ERAS_MAX));
    await this.db
      .insertInto('deployment')
      .values({ name: 'feed_eras', value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
      .execute();
  }
}

/** Numbers of changes that lie between two marks: those first that were under way, which are lower. */
function parts({ from, to }: Span): RawBuilder<unknown>[] {
  const seen =
    to.underWay.length === 0
      ? sql`changed_in < ${to.below}`
      : sql`changed_in < ${to.below} AND changed_in NOT IN (${sql.join([...to.underWay])})`;
  const late = from.underWay.length === 0 ? [] : [sql`changed_in IN (${sql.join([...from.underWay])}) AND ${seen}`];
  return [...late, sql`changed_in >= ${from.below} AND ${seen}`];
}

/** What a host does not tell stays out of the identity; a database that is away is no answer. */
function unlessRefused(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  if (typeof code === 'string' && REFUSALS.includes(code)) return '';
  throw error;
}

/** insufficient_privilege, undefined_function, feature_not_supported, object_not_in_prerequisite_state */
const REFUSALS = ['42501', '42883', '0A000', '55000'];
