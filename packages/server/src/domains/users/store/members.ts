import { sql } from 'kysely';
import type { MemberQuery } from '../../../core/directory.ts';
import type { MemberRecord } from '../../../core/model.ts';
import { chunks } from '../../../lib/collections.ts';
import type { OrganizationId, UserId } from '../../../lib/ids.ts';
import { partial } from '../../../storage/integrity/partial.ts';
import { type Connection, Reader } from '../../../storage/store.ts';
import { UserReader } from './users.ts';

/** Of one tag, name or credential type no more users are looked at: no consensus waits for so many. */
const PER_NAME_MAX = 1000;

const IDS = partial('ids, whose users are read whole');

/** Finds users by what consensus expressions name them by. */
export class MemberReader extends Reader {
  readonly #users: UserReader;

  constructor(connection: Connection) {
    super(connection);
    this.#users = new UserReader(connection);
  }

  async byIds(organizationId: OrganizationId, userIds: readonly string[]): Promise<MemberRecord[]> {
    return await this.#users.members(organizationId, [...new Set(userIds)]);
  }

  async find(organizationId: OrganizationId, query: MemberQuery): Promise<MemberRecord[]> {
    const found = await Promise.all([
      this.#byTags(organizationId, query.tagIds),
      this.#byColumn(organizationId, 'email', query.emails),
      this.#byColumn(organizationId, 'name', query.aliases),
      this.#byCredential(organizationId, 'api_key', 'id', query.credentialIds),
      this.#byCredential(organizationId, 'authenticator', 'id', query.credentialIds),
      this.#byCredential(organizationId, 'authenticator', 'credential_id', query.passkeyIds),
      this.#byCredential(organizationId, 'api_key', 'public_key', query.publicKeys),
      this.#byCredential(organizationId, 'api_key', 'type', query.credentialTypes),
      query.credentialTypes.includes('CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR')
        ? this.#withPasskeys(organizationId)
        : [],
      this.#some(organizationId, query.others),
    ]);
    return await this.byIds(organizationId, [...query.userIds, ...found.flat()]);
  }

  /** Of each tag so many, so that a large one leaves room for the others. */
  async #byTags(organizationId: OrganizationId, tagIds: readonly string[]): Promise<UserId[]> {
    const ids: UserId[] = [];
    for (const some of chunks(tagIds)) {
      const { rows } = await sql<{
        user_id: string;
      }>`SELECT /* partial: ids, whose users are read whole */ user_id FROM (
          SELECT user_id, ROW_NUMBER() OVER (PARTITION BY tag_id ORDER BY user_id) AS position FROM user_tag
          WHERE organization_id = ${organizationId} AND tag_id IN (${sql.join(some)})) AS numbered
        WHERE position <= ${PER_NAME_MAX}`.execute(this.db);
      ids.push(...rows.map((row) => row.user_id as UserId));
    }
    return ids;
  }

  async #byColumn(
    organizationId: OrganizationId,
    column: 'email' | 'name',
    values: readonly string[],
  ): Promise<UserId[]> {
    const ids: UserId[] = [];
    for (const some of chunks(values)) {
      const rows = await this.db
        .selectFrom('app_user')
        .modifyFront(IDS)
        .select('id')
        .where('organization_id', '=', organizationId)
        .where(column, 'in', some)
        .orderBy('id')
        .limit(PER_NAME_MAX + some.length)
        .execute();
      ids.push(...rows.map((row) => row.id as UserId));
    }
    return ids;
  }

  async #byCredential<Table extends 'api_key' | 'authenticator'>(
    organizationId: OrganizationId,
    table: Table,
    column: 'id' | 'public_key' | 'credential_id' | 'type',
    values: readonly string[],
  ): Promise<UserId[]> {
    const { ref } = this.db.dynamic;
    const ids: UserId[] = [];
    for (const some of chunks(values)) {
      const rows = await this.db
        .selectFrom(table as 'api_key')
        .modifyFront(IDS)
        .select('user_id')
        .distinct()
        .where('organization_id', '=', organizationId)
        .where(ref<'id'>(column), 'in', some)
        .orderBy('user_id')
        .limit(PER_NAME_MAX + some.length)
        .execute();
      ids.push(...rows.map((row) => row.user_id as UserId));
    }
    return ids;
  }

  async #withPasskeys(organizationId: OrganizationId): Promise<UserId[]> {
    const rows = await this.db
      .selectFrom('authenticator')
      .modifyFront(IDS)
      .select('user_id')
      .distinct()
      .where('organization_id', '=', organizationId)
      .orderBy('user_id')
      .limit(PER_NAME_MAX)
      .execute();
    return rows.map((row) => row.user_id as UserId);
  }

  async #some(organizationId: OrganizationId, count: number): Promise<UserId[]> {
    if (count === 0) return [];
    const rows = await this.db
      .selectFrom('app_user')
      .modifyFront(IDS)
      .select('id')
      .where('organization_id', '=', organizationId)
      .orderBy('id')
      .limit(count)
      .execute();
    return rows.map((row) => row.id as UserId);
  }
}
