import { sql } from 'kysely';
import type { OrganizationId } from '../../lib/ids.ts';
import { type Connection, Reader } from '../../storage/store.ts';
import type { Followed } from '../../storage/table.ts';

/**
 * Which changes a moment has seen: those with a number below `below`, save for those that were still under way. Of two marks
 * the later one has seen everything that the earlier one has.
 */
export interface Mark {
  readonly below: number;
  readonly underWay: readonly number[];
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

/** A mark with more of them is not worth its length; then it has seen only what is older than all of them. */
export const UNDER_WAY_MAX = 200;

interface Source {
  readonly table: string;
  readonly followed: Followed;
}

interface Row {
  readonly id: string;
  readonly changed_in: number;
  readonly updated_at_ms: number;
  readonly [column: string]: string | number;
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

  /** Tells numbers of one database from those of another, where they can be told. */
  async origin(): Promise<string> {
    if (this.kind === 'sqlite') return 'sqlite';
    const { rows } = await sql<{ id: string }>`SELECT system_identifier::text AS id FROM pg_control_system()`.execute(
      this.db,
    );
    return rows[0]?.id ?? '';
  }

  async mark(): Promise<Mark> {
    if (this.kind === 'sqlite') {
      const { rows } = await sql<{ value: string }>`SELECT value FROM deployment WHERE name = 'change_number'`.execute(
        this.db,
      );
      return { below: Number(rows[0]?.value ?? 0) + 1, underWay: [] };
    }
    const { rows } = await sql<{ snapshot: string }>`SELECT pg_current_snapshot()::text AS snapshot`.execute(this.db);
    const [xmin = '', xmax = '', running = ''] = (rows[0]?.snapshot ?? '').split(':');
    const underWay = running === '' ? [] : running.split(',').map(Number);
    return underWay.length > UNDER_WAY_MAX ? { below: Number(xmin), underWay: [] } : { below: Number(xmax), underWay };
  }

  /**
   * Rows whose last change `to` has seen and `from` has not, after a place. One that changes meanwhile is left out here and
   * stands between `to` and a later mark.
   */
  async between(
    organizationId: OrganizationId,
    { from, to }: { readonly from: Mark; readonly to: Mark },
    after: Place | undefined,
    limit: number,
  ): Promise<Change[]> {
    for (let source = after?.source ?? 0; source < this.#sources.length; source += 1) {
      const start = after?.source === source ? after : undefined;
      const changes = await this.#of(source, organizationId, from, to, start, limit);
      if (changes.length > 0) return changes;
    }
    return [];
  }

  async #of(
    source: number,
    organizationId: OrganizationId,
    from: Mark,
    to: Mark,
    after: Place | undefined,
    limit: number,
  ): Promise<Change[]> {
    const { table, followed } = this.#sources[source] as Source;
    const columns = [...new Set(['id', 'changed_in', 'updated_at_ms', ...Object.values(followed.fields)])];
    const notUnderWay = to.underWay.length === 0 ? sql`` : sql`AND changed_in NOT IN (${sql.join([...to.underWay])})`;
    const beyond =
      after === undefined
        ? sql``
        : sql`AND changed_in >= ${after.number} AND (changed_in > ${after.number} OR id > ${after.id})`;
    const read = async (numbers: ReturnType<typeof sql>, rowsMax: number): Promise<readonly Row[]> => {
      const { rows } =
        await sql<Row>`SELECT ${sql.join(columns.map((column) => sql.ref(column)))} FROM ${sql.table(table)}
        WHERE organization_id = ${organizationId} AND ${numbers} AND changed_in < ${to.below} ${notUnderWay} ${beyond}
        ORDER BY changed_in, id LIMIT ${rowsMax}`.execute(this.db);
      return rows;
    };
    // Those first that were under way: their numbers are lower. Apart, so that each is a search in the index.
    const late =
      from.underWay.length === 0 ? [] : await read(sql`changed_in IN (${sql.join([...from.underWay])})`, limit);
    const room = limit - late.length;
    const rows = room === 0 ? late : [...late, ...(await read(sql`changed_in >= ${from.below}`, room))];
    return rows.map((row) => ({
      kind: followed.kind,
      place: { source, number: Number(row.changed_in), id: row.id },
      updatedAtMs: row.updated_at_ms,
      fields: Object.fromEntries(
        Object.entries(followed.fields).map(([name, column]) => {
          const value = String(row[column]);
          return [name, followed.names?.[value] ?? value];
        }),
      ),
    }));
  }
}
