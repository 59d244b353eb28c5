import { type RawBuilder, sql } from 'kysely';
import { driverOf } from '../../storage/connection-dialect.ts';
import { amend, isMarked } from '../../storage/integrity/amend.ts';
import type { OwnedSets } from '../../storage/integrity/owned-sets.ts';
import { partial } from '../../storage/integrity/partial.ts';
import type { Row } from '../../storage/integrity/row.ts';
import { ownerOf } from '../../storage/integrity/sets.ts';
import type { Schema } from '../../storage/schema.ts';
import { Reader, type Transaction } from '../../storage/store.ts';
import type { Table } from '../../storage/table.ts';

/** Where sealed bytes are, whom they belong to and as what they were sealed. */
export interface SealedColumn {
  readonly table: keyof Schema;
  readonly column: string;
  /** The table's primary key, which is also the order in which rows are read. */
  readonly key: readonly [string, string, ...string[]];
  /** The columns that hold the owner's id, joined by a slash. */
  readonly owner: readonly string[];
  readonly kind: string | Readonly<Record<string, string>>;
  readonly organizationId?: string;
  readonly isLarge?: true;
}

export const sealedColumns = (tables: readonly Table[]): SealedColumn[] =>
  tables.flatMap(({ name, key = ['organization_id', 'id'], sealed = [] }) =>
    sealed.map(({ owner = 'id', ...bytes }) => ({ ...bytes, owner: [owner].flat(), table: name, key })),
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
/** The same of the earlier key behind it, while an organization moves from one to the other; otherwise empty. */
const EARLIER_ROOT_KEY_ID = sql<Uint8Array>`substr(wrapped_key, 97, 16)`;
export const WRAPPED_KEY_BYTES = 94;

/** Bytes 18 to 33 are the id of the key itself. */
const hasKeyAt = (wrapped: Uint8Array, at: number, other: Uint8Array): boolean => {
  for (let index = 18; index < 34; index += 1) if (wrapped[at + index] !== other[index]) return false;
  return true;
};

/** Whether two wrapped keys seal under the same organization key. */
export const isSameKey = (one: Uint8Array, other: Uint8Array): boolean => one === other || hasKeyAt(one, 0, other);

/** Whether a wrapped key opens what was sealed with another one: it may have an earlier key beside the one in use. */
export const opensFor = (wrapped: Uint8Array, sealedWith: Uint8Array): boolean =>
  hasKeyAt(wrapped, 0, sealedWith) || hasKeyAt(wrapped, WRAPPED_KEY_BYTES, sealedWith);

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
      SELECT /* partial: sealed bytes open only as what they are */ ${sql.join(names.map((name) => sql.ref(name)))} FROM ${sql.table(table)} ${rest}`.execute(
      this.db,
    );
    return rows.map(
      (row): SealedRow => ({
        key: key.map((name) => String(row[name])),
        organizationId: organizationId ?? String(row.organization_id),
        ownerId: owner.map((name) => String(row[name])).join('/'),
        // An unknown kind opens nothing, so that the row is reported and not passed over.
        kind: typeof kind === 'string' ? kind : (kind[String(row.kind)] ?? 'unknown'),
        sealed: (row[column] as Uint8Array | null) ?? undefined,
      }),
    );
  }

  async organizationKey(organizationId: string): Promise<Uint8Array | undefined> {
    const row = await this.db
      .selectFrom('organization')
      .modifyFront(partial('wrapped keys, which the keyring verifies'))
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
      .where(({ eb, or, and }) =>
        or([
          eb(ROOT_KEY_ID, '<>', Buffer.from(rootKeyId, 'hex')),
          and([
            eb(sql<number>`length(wrapped_key)`, '>', WRAPPED_KEY_BYTES),
            eb(EARLIER_ROOT_KEY_ID, '<>', Buffer.from(rootKeyId, 'hex')),
          ]),
        ]),
      )
      .execute();
    return rows.map((row) => ({ organizationId: row.id, wrappedKey: row.wrapped_key }));
  }

  /** The organizations, deleted ones too, whose key is under this root key. */
  async organizationsUnder(rootKeyId: string): Promise<{ readonly count: number; readonly first: string | undefined }> {
    const row = await this.db
      .selectFrom('organization')
      .modifyFront(partial('a count'))
      .select(({ fn }) => [fn.countAll().as('count'), fn.min('id').as('first')])
      .where(({ eb, or }) =>
        or([
          eb(ROOT_KEY_ID, '=', Buffer.from(rootKeyId, 'hex')),
          eb(EARLIER_ROOT_KEY_ID, '=', Buffer.from(rootKeyId, 'hex')),
        ]),
      )
      .executeTakeFirst();
    return { count: Number(row?.count ?? 0), first: row?.first ?? undefined };
  }

  /** Every root key that some organization's key is under, that of a deleted one too. */
  async rootKeyIds(): Promise<string[]> {
    const { rows } = await sql<{ id: Uint8Array }>`
      SELECT /* partial: ids of keys */ ${ROOT_KEY_ID} AS id FROM organization
      UNION
      SELECT ${EARLIER_ROOT_KEY_ID} FROM organization WHERE length(wrapped_key) > ${WRAPPED_KEY_BYTES}`.execute(
      this.db,
    );
    return rows.map(({ id }) => Buffer.from(id).toString('hex'));
  }

  async countOrganizations(): Promise<number> {
    const row = await this.db
      .selectFrom('organization')
      .modifyFront(partial('a count'))
      .select(({ fn }) => fn.countAll().as('count'))
      .executeTakeFirst();
    return Number(row?.count ?? 0);
  }

  #organizations(after: string, limit: number) {
    return this.db
      .selectFrom('organization')
      .modifyFront(partial('wrapped keys, which the keyring verifies'))
      .select(['id', 'wrapped_key'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(limit);
  }
}

export class SealedStore extends SealedReader {
  static readonly writes = true;
  readonly #owned: OwnedSets;

  constructor(transaction: Transaction) {
    super(transaction);
    this.#owned = transaction.owned;
  }

  /** False when the key is another one by now. */
  async exchangeOrganizationKey(organizationId: string, from: Uint8Array, to: Uint8Array): Promise<boolean> {
    const condition = sql`id = ${organizationId} AND wrapped_key = ${from}`;
    return (await amend(this.db, 'organization', condition, () => ({ wrapped_key: to }))).length === 1;
  }

  /** False when the row is gone or holds something else by now. */
  async exchangeSealed(
    { table, column, key: names }: SealedColumn,
    key: readonly string[],
    from: Uint8Array,
    to: Uint8Array,
  ): Promise<boolean> {
    const equal = names.map((name, index) => sql`${sql.ref(name)} = ${key[index]}`);
    const condition = sql`${sql.join(equal, sql` AND `)} AND ${sql.ref(column)} = ${from}`;
    if (isMarked(this.db, table)) {
      await this.#openSet(table, condition);
      return (await amend(this.db, table, condition, () => ({ [column]: to }))).length === 1;
    }
    const result = await sql`UPDATE ${sql.table(table)} SET ${sql.ref(column)} = ${to} WHERE ${condition}`.execute(
      this.db,
    );
    return (result.numAffectedRows ?? 0n) === 1n;
  }

  /** A row of a set gets another mark, so the set has to be verified before. */
  async #openSet(table: SealedColumn['table'], condition: RawBuilder<unknown>): Promise<void> {
    const set = driverOf(this.db).integrity?.sets.of.get(table);
    if (set === undefined) return;
    const columns = sql.join(set.key.map((name) => sql.ref(name)));
    const { rows } = await sql<Row>`
      SELECT /* partial: whose row it is */ ${columns} FROM ${sql.table(table)} WHERE ${condition}`.execute(this.db);
    for (const row of rows) await this.#owned.open(table, ...ownerOf(set, row));
  }
}
