import { type Selectable, sql } from 'kysely';
import { chunks } from '../../../lib/collections.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { OrganizationId, TagId, UserId } from '../../../lib/ids.ts';
import type { Page, PageRequest } from '../../../lib/pagination.ts';
import type { AuthorityVersions } from '../../../storage/authority.ts';
import { amendOne } from '../../../storage/integrity/amend.ts';
import type { OwnedSets } from '../../../storage/integrity/owned-sets.ts';
import { partial } from '../../../storage/integrity/partial.ts';
import { namesOfRows, pageOfRows } from '../../../storage/organization-rows.ts';
import { insertion, replacement } from '../../../storage/statement.ts';
import { Reader, type Transaction } from '../../../storage/store.ts';
import { bury } from '../../../storage/tombstones.ts';
import type { Tag } from '../model.ts';
import type { TagTable } from '../tables.ts';

const toTag = (row: Selectable<TagTable>): Tag => ({
  id: row.id as TagId,
  type: row.type as Tag['type'],
  name: row.name,
  createdAtMs: row.created_at_ms,
  updatedAtMs: row.updated_at_ms,
});

const insertTags = insertion('tag-insert', 'tag', [
  'organization_id',
  'id',
  'type',
  'name',
  'created_at_ms',
  'updated_at_ms',
]);
const USER_TAG = ['organization_id', 'user_id', 'tag_id'] as const;
const putUserTags = replacement('user-tag-put', 'user_tag', USER_TAG, USER_TAG);

export class TagReader extends Reader {
  async get(organizationId: OrganizationId, type: Tag['type'], tagId: string): Promise<Tag> {
    const row = await this.db
      .selectFrom('tag')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('type', '=', type)
      .where('id', '=', tagId)
      .executeTakeFirst();
    if (row === undefined) throw new ApiError('RESOURCE_NOT_FOUND', 'tag not found in this organization');
    return toTag(row);
  }

  async page(organizationId: OrganizationId, type: Tag['type'] | undefined, request: PageRequest): Promise<Page<Tag>> {
    const filter = type === undefined ? {} : { filter: sql`AND type = ${type}` };
    return await pageOfRows(this.db, 'tag', organizationId, request, (rows) => rows.map(toTag), filter);
  }

  async count(organizationId: OrganizationId): Promise<number> {
    const row = await this.db
      .selectFrom('tag')
      .modifyFront(partial('a count'))
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('organization_id', '=', organizationId)
      .executeTakeFirstOrThrow();
    return row.count;
  }

  /** Throws unless every id is a tag of this kind in the organization. */
  async requireAll(organizationId: OrganizationId, type: Tag['type'], tagIds: readonly string[]): Promise<void> {
    for (const ids of chunks([...new Set(tagIds)])) {
      const rows = await this.db
        .selectFrom('tag')
        .selectAll()
        .where('organization_id', '=', organizationId)
        .where('type', '=', type)
        .where('id', 'in', ids)
        .execute();
      if (rows.length !== ids.length) throw new ApiError('RESOURCE_NOT_FOUND', 'tag not found in this organization');
    }
  }

  /** What tags are called, of those ids that are tags of the organization. */
  async namesOf(organizationId: OrganizationId, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return await namesOfRows(this.db, 'tag', organizationId, ids);
  }

  async usersWithTags(organizationId: OrganizationId, tagIds: readonly string[]): Promise<UserId[]> {
    if (tagIds.length === 0) return [];
    const rows = await this.db
      .selectFrom('user_tag')
      .modifyFront(partial('ids of users'))
      .select('user_id')
      .distinct()
      .where('organization_id', '=', organizationId)
      .where('tag_id', 'in', [...tagIds])
      .orderBy('user_id')
      .execute();
    return rows.map((row) => row.user_id as UserId);
  }
}

export class TagStore extends TagReader {
  static readonly writes = true;
  readonly #authority: AuthorityVersions;
  readonly #owned: OwnedSets;

  constructor(transaction: Transaction) {
    super(transaction);
    this.#authority = transaction.authority;
    this.#owned = transaction.owned;
  }

  async insert(organizationId: OrganizationId, tag: Tag): Promise<void> {
    const row = {
      organization_id: organizationId,
      id: tag.id,
      type: tag.type,
      name: tag.name,
      created_at_ms: tag.createdAtMs,
      updated_at_ms: tag.updatedAtMs,
    };
    await insertTags(this.db, [row]);
  }

  async rename(organizationId: OrganizationId, tagId: string, name: string | undefined, nowMs: number): Promise<void> {
    await amendOne(this.db, 'tag', { organization_id: organizationId, id: tagId }, () => ({
      updated_at_ms: nowMs,
      ...(name === undefined ? {} : { name }),
    }));
  }

  async delete(organizationId: OrganizationId, tagIds: readonly string[]): Promise<void> {
    await this.#authority.alters(organizationId, 'facts');
    const ids = [...tagIds];
    await this.#untag(organizationId, await this.usersWithTags(organizationId, ids), ids);
    await this.db
      .deleteFrom('user_tag')
      .where('organization_id', '=', organizationId)
      .where('tag_id', 'in', ids)
      .execute();
    await this.db.deleteFrom('tag').where('organization_id', '=', organizationId).where('id', 'in', ids).execute();
    await bury(this.db, organizationId, ids);
  }

  async tagUsers(
    organizationId: OrganizationId,
    pairs: readonly { readonly userId: string; readonly tagId: string }[],
  ): Promise<void> {
    if (pairs.length === 0) return;
    await this.#authority.alters(organizationId, 'facts');
    await this.#open(
      organizationId,
      pairs.map(({ userId }) => userId),
    );
    // One statement puts a row once.
    const distinct = new Map(pairs.map((pair) => [`${pair.userId} ${pair.tagId}`, pair]));
    const rows = [...distinct.values()].map(({ userId, tagId }) => ({
      organization_id: organizationId,
      user_id: userId,
      tag_id: tagId,
    }));
    await putUserTags(this.db, rows);
  }

  async untagUsers(organizationId: OrganizationId, tagId: string, userIds: readonly string[]): Promise<void> {
    if (userIds.length === 0) return;
    await this.#authority.alters(organizationId, 'facts');
    await this.#untag(organizationId, userIds, [tagId]);
    await this.db
      .deleteFrom('user_tag')
      .where('organization_id', '=', organizationId)
      .where('tag_id', '=', tagId)
      .where('user_id', 'in', [...userIds])
      .execute();
  }

  async clearTags(organizationId: OrganizationId, userId: string): Promise<void> {
    await this.#authority.alters(organizationId, 'facts');
    const tagged = await this.db
      .selectFrom('user_tag')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('user_id', '=', userId)
      .execute();
    await this.#untag(
      organizationId,
      [userId],
      tagged.map(({ tag_id }) => tag_id),
    );
    await this.db
      .deleteFrom('user_tag')
      .where('organization_id', '=', organizationId)
      .where('user_id', '=', userId)
      .execute();
  }

  async #untag(organizationId: OrganizationId, userIds: readonly string[], tagIds: readonly string[]): Promise<void> {
    await this.#open(organizationId, userIds);
    for (const userId of userIds) this.#owned.remove('user_tag', [organizationId, userId], tagIds);
  }

  async #open(organizationId: OrganizationId, userIds: readonly string[]): Promise<void> {
    const users = userIds.map((userId) => [organizationId, userId]);
    await this.#owned.openEach('user_tag', users);
  }
}
