import { sql } from 'kysely';
import type { Schema } from '../../storage/schema.ts';
import { Reader } from '../../storage/store.ts';
import type { Table } from '../../storage/table.ts';

/** Where sealed bytes are, whom they belong to and as what they were sealed. */
export interface SealedColumn {
  readonly table: keyof Schema;
  readonly column: string;
  /** The table's primary key, which is also the order in which rows are read. */
  readonly key: readonly [string, string, ...string[]];
  /** The column that holds the owner's id. */
  readonly owner: string;
  readonly kind: string | Readonly<Record<string, string>>;
  readonly organizationId?: string;
  readonly isLarge?: true;
}

export const sealedColumns = (tables: readonly Table[]): SealedColumn[] =>
  tables.flatMap(({ name, key = ['organization_id', 'id'], sealed = [] }) =>
    sealed.map((bytes) => ({ owner: 'id', ...bytes, table: name, key })),
  );

/** One row of a sealed column; `sealed` is undefined where the row has nothing to hide. */
export interface SealedRow {
  readonly key: readonly string[];
  readonly organizationId: string;
  readonly ownerId: string;
  readonly kind: string;
  readonly sealed: Uint8Array | undefined;
}

export interface OrganizationKey {
  readonly organizationId: string;
  readonly wrappedKey: Uint8Array;
}

/** Bytes 2 to 17 of a wrapped organization key name its root key (SPEC.md of the keyring, section 3). */
const ROOT_KEY_ID = sql<Uint8Array>`substr(wrapped_key, 3, 16)`;

/** Sealed bytes of all organizations, for those who keep the keys in order; no request comes here. */
export class SealedReader extends Reader {
  /** The rows behind a key, in the order of the primary key. */
  async page(column: SealedColumn, after: readonly string[] | undefined, limit: number): Promise<SealedRow[]> {
    const key = sql.join(column.key.map((name) => sql.ref(name)));
    const behind = after === undefined ? sql`` : sql`WHERE (${key}) > (${sql.join(after)})`;
    return await this.#rows(column, sql`${behind} ORDER BY ${key} LIMIT ${limit}`);
  }

  async row(column: SealedColumn, key: readonly string[]): Promise<SealedRow | undefined> {
    const equal = column.key.map((name, index) => sql`${sql.ref(name)} = ${key[index]}`);
    const [row] = await this.#rows(column, sql`WHERE ${sql.join(equal, sql` AND `)}`);
    return row;
  }

  async #rows({ table, column, key, owner, kind, organizationId }: SealedColumn, rest: ReturnType<typeof sql>) {
    const names = [...key, column, ...(typeof kind === 'string' ? [] : ['kind'])];
    const { rows } = await sql<Record<string, string | Uint8Array | null>>`
      SELECT ${sql.join(names.map((name) => sql.ref(name)))} FROM ${sql.table(table)} ${rest}`.execute(this.db);
    return rows.map(
      (row): SealedRow => ({
        key: key.map((name) => String(row[name])),
        organizationId: organizationId ?? String(row.organization_id),
        ownerId: String(row[owner]),
        // An unknown kind opens nothing, so that the row is reported and not passed over.
        kind: typeof kind === 'string' ? kind : (kind[String(row.kind)] ?? 'unknown'),
        sealed: (row[column] as Uint8Array | null) ?? undefined,
      }),
    );
  }

  async organizationKey(organizationId: string): Promise<Uint8Array | undefined> {
    const row = await this.db
      .selectFrom('organization')
      .select('wrapped_key')
      .where('id', '=', organizationId)
      .executeTakeFirst();
    return row?.wrapped_key;
  }

  async organizationKeys(after: string, limit: number): Promise<OrganizationKey[]> {
    const rows = await this.#organizations(after, limit).execute();
    return rows.map((row) => ({ organizationId: row.id, wrappedKey: row.wrapped_key }));
  }

  /** The organizations, deleted ones too, whose key is under any other root key than this one. */
  async organizationKeysNotUnder(rootKeyId: string, after: string, limit: number): Promise<OrganizationKey[]> {
    const rows = await this.#organizations(after, limit)
      .where(ROOT_KEY_ID, '<>', Buffer.from(rootKeyId, 'hex'))
      .execute();
    return rows.map((row) => ({ organizationId: row.id, wrappedKey: row.wrapped_key }));
  }

  #organizations(after: string, limit: number) {
    return this.db
      .selectFrom('organization')
      .select(['id', 'wrapped_key'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(limit);
  }
}

export class SealedStore extends SealedReader {
  static readonly writes = true;

  /** False when the key is another one by now. */
  async exchangeOrganizationKey(organizationId: string, from: Uint8Array, to: Uint8Array): Promise<boolean> {
    const result = await this.db
      .updateTable('organization')
      .set({ wrapped_key: to })
      .where('id', '=', organizationId)
      .where('wrapped_key', '=', from)
      .executeTakeFirst();
    return result.numUpdatedRows === 1n;
  }
}
