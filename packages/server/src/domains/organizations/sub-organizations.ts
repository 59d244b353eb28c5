import { sql } from 'kysely';
import { type TreeKind, treeValue } from '../../core/store/tree.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import type { Page, PageRequest } from '../../lib/pagination.ts';
import { partial } from '../../storage/integrity/partial.ts';
import { fetchPage, type Range } from '../../storage/keyset.ts';
import { Reader } from '../../storage/store.ts';
import { hasText, idsBeginWith, PREFIX_MIN, SEARCHED_MAX, valuesBeginWith } from '../../storage/text-match.ts';

/** Of each way to find some, so many are found. */
const FOUND_MAX = 1000;

/** What a parent finds sub-organizations by, beginning with the text; what is shorter than a name must be longer. */
const KINDS: readonly { readonly kind: TreeKind; readonly lengthMin: number }[] = [
  { kind: 'NAME', lengthMin: 1 },
  { kind: 'USERNAME', lengthMin: 1 },
  { kind: 'EMAIL', lengthMin: 1 },
  { kind: 'PHONE_NUMBER', lengthMin: 1 },
  { kind: 'WALLET_ACCOUNT_ADDRESS', lengthMin: PREFIX_MIN },
];

export interface SubOrganization {
  readonly id: OrganizationId;
  readonly name: string;
  readonly createdAtMs: number;
}

export interface CountedSubOrganization extends SubOrganization {
  readonly userCount: number;
  readonly walletCount: number;
}

interface Row {
  readonly id: string;
  readonly name: string;
  readonly created_at_ms: number;
}

const toSubOrganization = (row: Row): SubOrganization => ({
  id: row.id as OrganizationId,
  name: row.name,
  createdAtMs: row.created_at_ms,
});

/** The sub-organizations of a parent as people look for them. */
export class SubOrganizationReader extends Reader {
  /** All of them, newest first. */
  async page(
    parentId: OrganizationId,
    request: PageRequest,
    owns: (cursor: string) => Promise<boolean>,
  ): Promise<Page<CountedSubOrganization>> {
    const { items, pageInfo } = await fetchPage(request, {
      order: 'desc',
      owns,
      fetch: (range) => this.#children(parentId, range),
    });
    return { items: await this.#counted(items), pageInfo };
  }

  /** Those of these ids that are there, with their counts, in the given order. */
  async counted(parentId: OrganizationId, ids: readonly string[]): Promise<readonly CountedSubOrganization[]> {
    if (ids.length === 0) return [];
    const rows = await this.#live(parentId)
      .where('id', 'in', [...ids])
      .execute();
    const byId = new Map(rows.map((row) => [row.id, toSubOrganization(row)]));
    return await this.#counted(ids.flatMap((id) => byId.get(id) ?? []));
  }

  /**
   * The ids of those that have the text: in their id, a contact, a user's name or an address if it begins with it, in
   * their name anywhere, as far as the newest ones are looked at. Newest first.
   */
  async find(
    parentId: OrganizationId,
    text: string,
    foundMax: number = FOUND_MAX,
  ): Promise<{ readonly ids: readonly string[]; readonly isPartial: boolean }> {
    const byTree = await Promise.all(
      KINDS.filter(({ lengthMin }) => text.length >= lengthMin).map(async ({ kind }) => {
        const { rows } = await sql<{
          id: string;
        }>`SELECT /* partial: ids of a search */ DISTINCT organization_id AS id FROM tree_entry
          WHERE root_id = ${parentId} AND kind = ${kind} AND organization_id <> ${parentId}
            AND ${valuesBeginWith('value', treeValue(kind, addressCase(kind, text)))}
          LIMIT ${foundMax + 1}`.execute(this.db);
        return rows;
      }),
    );
    const isId = idsBeginWith('id', text);
    const byId =
      isId === undefined
        ? []
        : await this.#live(parentId)
            .where(isId)
            .limit(foundMax + 1)
            .execute();
    const { rows: byName } = await sql<{
      id: string;
    }>`SELECT /* partial: ids of a search */ id FROM (SELECT id, name FROM organization
        WHERE parent_id = ${parentId} AND deleted_at_ms IS NULL ORDER BY id DESC LIMIT ${SEARCHED_MAX}) AS newest
      WHERE ${hasText(this.kind, ['name'], text)} ORDER BY id DESC LIMIT ${foundMax + 1}`.execute(this.db);
    const beyond = await this.#live(parentId).orderBy('id', 'desc').limit(1).offset(SEARCHED_MAX).execute();
    const ways = [...byTree, byId, byName];
    return {
      ids: [...new Set(ways.flatMap((rows) => rows.map(({ id }) => id)))].sort().reverse(),
      isPartial: beyond.length > 0 || ways.some(({ length }) => length > foundMax),
    };
  }

  #live(parentId: OrganizationId) {
    return this.db
      .selectFrom('organization')
      .modifyFront(partial('names to be shown'))
      .select(['id', 'name', 'created_at_ms'])
      .where('parent_id', '=', parentId)
      .where('deleted_at_ms', 'is', null);
  }

  async #children(
    parentId: OrganizationId,
    { order, limit, greaterThan, lessThan }: Range,
  ): Promise<SubOrganization[]> {
    let query = this.#live(parentId).orderBy('id', order).limit(limit);
    if (greaterThan !== undefined) query = query.where('id', '>', greaterThan);
    if (lessThan !== undefined) query = query.where('id', '<', lessThan);
    return (await query.execute()).map(toSubOrganization);
  }

  async #counted(items: readonly SubOrganization[]): Promise<CountedSubOrganization[]> {
    if (items.length === 0) return [];
    const [users, wallets] = await Promise.all([this.#count('app_user', items), this.#count('wallet', items)]);
    return items.map((item) => ({
      ...item,
      userCount: users.get(item.id) ?? 0,
      walletCount: wallets.get(item.id) ?? 0,
    }));
  }

  async #count(table: 'app_user' | 'wallet', items: readonly SubOrganization[]): Promise<ReadonlyMap<string, number>> {
    const rows = await this.db
      .selectFrom(table)
      .modifyFront(partial('a count'))
      .select(['organization_id', (eb) => eb.fn.countAll().as('count')])
      .where(
        'organization_id',
        'in',
        items.map(({ id }) => id),
      )
      .groupBy('organization_id')
      .execute();
    return new Map(rows.map((row) => [row.organization_id, Number(row.count)]));
  }
}

/** A piece of an EVM address is kept in lower case, as the whole one is. */
const addressCase = (kind: TreeKind, text: string): string =>
  kind === 'WALLET_ACCOUNT_ADDRESS' && /^0x[0-9a-fA-F]+$/.test(text) ? text.toLowerCase() : text;
