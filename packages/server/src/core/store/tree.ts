import { sql } from 'kysely';
import { chunks } from '../../lib/collections.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import type { Page, PageRequest } from '../../lib/pagination.ts';
import { addressKey } from '../../storage/address-key.ts';
import { markOf } from '../../storage/integrity/amend.ts';
import { partial } from '../../storage/integrity/partial.ts';
import { fetchPage, type Range } from '../../storage/keyset.ts';
import { byIds, change, deferred, deferredInsertion, insertion, statement } from '../../storage/statement.ts';
import { Reader } from '../../storage/store.ts';
import type { OauthIdentity } from '../model.ts';

/**
 * What a parent can look its sub-organizations up by. Passkeys, OAuth identities and verified contacts are unique in a
 * tree (protocol/organizations 1.6).
 */
export type TreeKind =
  | 'NAME'
  | 'USERNAME'
  | 'EMAIL'
  | 'PHONE_NUMBER'
  | 'PUBLIC_KEY'
  | 'CREDENTIAL_ID'
  | 'WALLET_ACCOUNT_ADDRESS'
  | 'VERIFIED_EMAIL'
  | 'VERIFIED_PHONE_NUMBER'
  | 'OIDC';

const UNIQUE_KINDS: ReadonlySet<TreeKind> = new Set([
  'CREDENTIAL_ID',
  'VERIFIED_EMAIL',
  'VERIFIED_PHONE_NUMBER',
  'OIDC',
]);

/** Nobody needs one key in more places. */
const HOLDERS_MAX = 100;

/** An OAuth identity as one value. */
export const oidcTreeValue = ({ issuer, subject, audience }: OauthIdentity): string =>
  JSON.stringify([issuer, subject, audience]);

export interface TreeEntry {
  readonly kind: TreeKind;
  readonly value: string;
  /** The user, credential or organization that the entry stands for; entries go away with it. */
  readonly ownerId: string;
}

/** Several spellings of one value must not become two. */
export function treeValue(kind: TreeKind, value: string): string {
  switch (kind) {
    case 'EMAIL':
    case 'VERIFIED_EMAIL':
      return value.toLowerCase();
    case 'WALLET_ACCOUNT_ADDRESS':
      return addressKey(value);
    default:
      return value;
  }
}

const holderOf = statement(
  'tree-unique-holder',
  (db, { rootId, kind, value }: { readonly rootId: string; readonly kind: string; readonly value: string }) =>
    db
      .selectFrom('tree_entry')
      .selectAll()
      .where('root_id', '=', rootId)
      .where('kind', '=', kind)
      .where('unique_value', '=', value)
      .where('organization_id', '!=', rootId),
);

export class TreeReader extends Reader {
  /**
   * Sub-organizations that a parent's id may resolve to by a credential: those where it has stamped a request, oldest
   * first, then those where it was registered after `freshSinceMs`. Two are enough to decide (protocol/stamps 7.2).
   */
  async candidates(
    rootId: OrganizationId,
    kind: 'PUBLIC_KEY' | 'CREDENTIAL_ID',
    value: string,
    freshSinceMs: number,
  ): Promise<OrganizationId[]> {
    const credential = sql.table(kind === 'PUBLIC_KEY' ? 'api_key' : 'authenticator');
    const { rows } = await sql<{ organization_id: OrganizationId }>`
      SELECT /* partial: the key is read with its mark where it is looked for */ entry.* FROM tree_entry entry
      JOIN ${credential} held ON held.organization_id = entry.organization_id AND held.id = entry.owner_id
      WHERE entry.root_id = ${rootId} AND entry.kind = ${kind} AND entry.value = ${treeValue(kind, value)}
        AND entry.organization_id <> ${rootId}
        AND (held.first_used_at_ms IS NOT NULL OR held.created_at_ms > ${freshSinceMs})
      ORDER BY CASE WHEN held.first_used_at_ms IS NULL THEN 1 ELSE 0 END, held.created_at_ms, entry.organization_id
      LIMIT 2`.execute(this.db);
    return rows.map((row) => row.organization_id);
  }

  /** The sub-organization that holds a value of which a tree has at most one. */
  async uniqueHolder(
    rootId: OrganizationId,
    kind: 'CREDENTIAL_ID' | 'VERIFIED_EMAIL' | 'VERIFIED_PHONE_NUMBER' | 'OIDC',
    value: string,
  ): Promise<OrganizationId | undefined> {
    const [row] = await holderOf(this.db, { rootId, kind, value: treeValue(kind, value) });
    return row?.organization_id as OrganizationId | undefined;
  }

  /** The sub-organizations with a wallet account of this address; several where they hold the same key. */
  async holdersOfAddress(rootId: OrganizationId, address: string): Promise<OrganizationId[]> {
    const range = { order: 'asc', limit: HOLDERS_MAX } as const;
    return (await this.#holders(rootId, 'WALLET_ACCOUNT_ADDRESS', address, range)) as OrganizationId[];
  }

  /** Whether a user of the tree has an identity of this issuer. */
  async namesIssuer(rootId: OrganizationId, issuer: string): Promise<boolean> {
    // A range of the primary key: the value begins with the issuer, and the minus sign follows the comma.
    const named = `[${JSON.stringify(issuer)}`;
    const row = await this.db
      .selectFrom('tree_entry')
      .selectAll()
      .where('root_id', '=', rootId)
      .where('kind', '=', 'OIDC')
      .where('value', '>=', `${named},`)
      .where('value', '<', `${named}-`)
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  }

  /**
   * Ids of live sub-organizations, oldest first; with a filter, those that hold that value (any value if undefined).
   */
  async subOrganizations(
    rootId: OrganizationId,
    filter: { readonly kinds: readonly TreeKind[]; readonly value: string | undefined } | undefined,
    request: PageRequest,
    owns: (cursor: string) => Promise<boolean>,
  ): Promise<Page<{ readonly id: OrganizationId }>> {
    const fetch = async (range: Range): Promise<{ readonly id: OrganizationId }[]> => {
      if (filter === undefined) {
        let query = this.db
          .selectFrom('organization')
          .modifyFront(partial('ids of a list'))
          .select('id')
          .where('parent_id', '=', rootId)
          .where('deleted_at_ms', 'is', null)
          .orderBy('id', range.order)
          .limit(range.limit);
        if (range.greaterThan !== undefined) query = query.where('id', '>', range.greaterThan);
        if (range.lessThan !== undefined) query = query.where('id', '<', range.lessThan);
        return (await query.execute()).map((row) => ({ id: row.id as OrganizationId }));
      }
      // One ordered range of an index per kind, merged here; a combined query would sort the whole tree.
      const found = await Promise.all(filter.kinds.map((kind) => this.#holders(rootId, kind, filter.value, range)));
      const ids = [...new Set(found.flat())].sort();
      if (range.order === 'desc') ids.reverse();
      return ids.slice(0, range.limit).map((id) => ({ id: id as OrganizationId }));
    };
    return await fetchPage(request, { order: 'asc', owns, fetch });
  }

  async #holders(rootId: OrganizationId, kind: TreeKind, value: string | undefined, range: Range): Promise<string[]> {
    let query = this.db
      .selectFrom('tree_entry')
      .modifyFront(partial('ids, whose entries are read whole where somebody asked for a value'))
      .select('organization_id')
      .distinct()
      .where('root_id', '=', rootId)
      .where('kind', '=', kind)
      .where('organization_id', '!=', rootId)
      .orderBy('organization_id', range.order)
      .limit(range.limit);
    if (value !== undefined) query = query.where('value', '=', treeValue(kind, value));
    if (range.greaterThan !== undefined) query = query.where('organization_id', '>', range.greaterThan);
    if (range.lessThan !== undefined) query = query.where('organization_id', '<', range.lessThan);
    const ids = (await query.execute()).map((row) => row.organization_id);
    if (value === undefined) return ids;
    // A client logs in at the organization that this finds, so the marks are verified.
    const genuine = new Set<string>();
    for (const some of chunks(ids)) {
      const entries = await this.db
        .selectFrom('tree_entry')
        .selectAll()
        .where('root_id', '=', rootId)
        .where('kind', '=', kind)
        .where('value', '=', treeValue(kind, value))
        .where('organization_id', 'in', some)
        .execute();
      for (const { organization_id } of entries) genuine.add(organization_id);
    }
    return ids.filter((id) => genuine.has(id));
  }
}

interface OwnEntry extends Record<string, unknown> {
  readonly organizationId: string;
  readonly ownerId: string;
  readonly kind: string;
}
const deleteEntries = byIds(
  'tree-entries-delete',
  (db, { organizationId }: { readonly organizationId: string }, ownerIds) =>
    db.deleteFrom('tree_entry').where('organization_id', '=', organizationId).where('owner_id', 'in', ownerIds),
);

const COLUMNS = ['root_id', 'kind', 'value', 'organization_id', 'owner_id', 'unique_value'] as const;
const insertEntries = deferredInsertion('tree-entry-insert', 'tree_entry', COLUMNS);
const claimEntries = insertion('tree-entry-claim', 'tree_entry', COLUMNS, (query) =>
  query.onConflict((conflict) => conflict.doNothing()),
);

const rowOf = (rootId: OrganizationId, organizationId: OrganizationId, { kind, value, ownerId }: TreeEntry) => ({
  root_id: rootId,
  kind,
  value: treeValue(kind, value),
  organization_id: organizationId,
  owner_id: ownerId,
  unique_value: UNIQUE_KINDS.has(kind) ? treeValue(kind, value) : null,
});

const deleteOfKind = deferred('tree-entry-delete', (db, { organizationId, ownerId, kind }: OwnEntry) =>
  db
    .deleteFrom('tree_entry')
    .where('organization_id', '=', organizationId)
    .where('owner_id', '=', ownerId)
    .where('kind', '=', kind),
);

interface MovedEntry extends Record<string, unknown> {
  readonly root_id: string;
  readonly kind: string;
  readonly value: string;
  readonly organization_id: string;
  readonly owner_id: string;
  readonly unique_value: string | null;
  readonly before: string;
  readonly mark: string | null;
}
const moveEntry = change(
  'tree-entry-move',
  (_db, { root_id, kind, value, organization_id, owner_id, unique_value, before, mark }: MovedEntry) =>
    // Where the value is taken nothing changes, and the entry is replaced: an entry that somebody else put there goes away then.
    sql`UPDATE OR IGNORE tree_entry SET value = ${value}, unique_value = ${unique_value}, tree_entry_mac = ${mark}
      WHERE root_id = ${root_id} AND kind = ${kind} AND value = ${before} AND organization_id = ${organization_id}
        AND owner_id = ${owner_id}`,
);

export class TreeStore extends TreeReader {
  static readonly writes = true;

  async add(rootId: OrganizationId, organizationId: OrganizationId, entries: readonly TreeEntry[]): Promise<void> {
    // A root is never looked up among its own children; of it only what must be unique in the tree is kept.
    const kept = organizationId === rootId ? entries.filter((entry) => UNIQUE_KINDS.has(entry.kind)) : entries;
    await insertEntries(
      this.db,
      kept.map((entry) => rowOf(rootId, organizationId, entry)),
    );
  }

  /** Adds an entry of a kind of which a tree has each value once; false if somebody has it. */
  async claim(rootId: OrganizationId, organizationId: OrganizationId, entry: TreeEntry): Promise<boolean> {
    return (await claimEntries(this.db, [rowOf(rootId, organizationId, entry)])) === 1;
  }

  /** Gives an owner's entry of one kind another value; an undefined one drops it. */
  async replace(
    rootId: OrganizationId,
    organizationId: OrganizationId,
    ownerId: string,
    kind: TreeKind,
    value: string | undefined,
  ): Promise<void> {
    if (organizationId === rootId && !UNIQUE_KINDS.has(kind)) return;
    if (value === undefined) {
      await this.remove(organizationId, [ownerId], [kind]);
      return;
    }
    await deleteOfKind(this.db, { organizationId, ownerId, kind });
    await this.add(rootId, organizationId, [{ kind, value, ownerId }]);
  }

  /**
   * The same where it is known which value the entry has. On SQLite, where the answer costs nothing, the row is changed in
   * its place, and replaced if it is not there; on PostgreSQL both statements travel with the next that is waited for. The
   * statement gives every column, so that nothing which somebody else wrote gets a mark.
   */
  async move(rootId: OrganizationId, organizationId: OrganizationId, before: string, entry: TreeEntry): Promise<void> {
    const { kind, ownerId, value } = entry;
    if (this.kind === 'sqlite' && (organizationId !== rootId || UNIQUE_KINDS.has(kind))) {
      const row = rowOf(rootId, organizationId, entry);
      const moved = {
        before: treeValue(kind, before),
        mark: markOf(this.db, 'tree_entry', row),
        // Last: an object that begins as a copy and then grows is slow to make.
        ...row,
      };
      if ((await moveEntry(this.db, moved)) === 1) return;
    }
    await this.replace(rootId, organizationId, ownerId, kind, value);
  }

  /** Drops the entries of an owner; all kinds unless some are named. */
  async remove(
    organizationId: OrganizationId,
    ownerIds: readonly string[],
    kinds?: readonly TreeKind[],
  ): Promise<void> {
    if (ownerIds.length === 0) return;
    if (kinds === undefined) {
      await deleteEntries(this.db, { organizationId }, ownerIds);
      return;
    }
    await this.db
      .deleteFrom('tree_entry')
      .where('organization_id', '=', organizationId)
      .where('owner_id', 'in', [...ownerIds])
      .where('kind', 'in', [...kinds])
      .execute();
  }
}
