import { type Kysely, type Selectable, sql } from 'kysely';
import { ApiError } from '../../lib/errors.ts';
import type { OrganizationId, UserId } from '../../lib/ids.ts';
import type { AuthorityVersions, LockMode } from '../../storage/authority.ts';
import type { DatabaseKind } from '../../storage/dialect.ts';
import { amendOne, hold } from '../../storage/integrity/amend.ts';
import { allOfOrganization, someOfOrganization } from '../../storage/integrity/owned-rows.ts';
import type { OwnedSets } from '../../storage/integrity/owned-sets.ts';
import type { KeptValues } from '../../storage/revisions.ts';
import type { OrganizationTable, Schema } from '../../storage/schema.ts';
import { insertion, type NewRow, quickStatement, replacement, statement } from '../../storage/statement.ts';
import { keptValues, type ReadAhead, Reader, type Transaction } from '../../storage/store.ts';
import type { Table } from '../../storage/table.ts';
import type { Feature, Organization } from '../model.ts';

export const toOrganization = (row: Selectable<OrganizationTable>): Organization => ({
  id: row.id as OrganizationId,
  parentId: (row.parent_id as OrganizationId | null) ?? undefined,
  name: row.name,
  rootThreshold: row.root_threshold,
  rootUserIds: JSON.parse(row.root_user_ids) as UserId[],
  authorityVersion: row.authority_version,
  rulesVersion: row.rules_version,
  wrappedKey: row.wrapped_key,
  createdAtMs: row.created_at_ms,
  updatedAtMs: row.updated_at_ms,
  deletedAtMs: row.deleted_at_ms ?? undefined,
  acceptedRestoration: row.accepted_restoration ?? undefined,
});

const byId = statement('organization-by-id', (db, { id }: { id: string }) =>
  db.selectFrom('organization').selectAll().where('id', '=', id),
);

export type { LockMode } from '../../storage/authority.ts';

const featureValue = quickStatement(
  'organization-feature',
  (db, { organizationId, name }: { readonly organizationId: string; readonly name: string }) =>
    db
      .selectFrom('organization_feature')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('name', '=', name),
);

const putFeatures = replacement(
  'organization-feature-put',
  'organization_feature',
  ['organization_id', 'name'],
  ['organization_id', 'name', 'value'],
);
const fromOrganization = (organization: Organization, digests: string | null): NewRow<'organization'> => ({
  id: organization.id,
  parent_id: organization.parentId ?? null,
  name: organization.name,
  root_threshold: organization.rootThreshold,
  root_user_ids: JSON.stringify(organization.rootUserIds),
  authority_version: organization.authorityVersion,
  rules_version: organization.rulesVersion,
  rules_digest: digests,
  wrapped_key: organization.wrappedKey,
  created_at_ms: organization.createdAtMs,
  updated_at_ms: organization.updatedAtMs,
  deleted_at_ms: null,
  accepted_restoration: organization.acceptedRestoration ?? null,
});
const insertOrganizations = insertion('organization-insert', 'organization', [
  'id',
  'parent_id',
  'name',
  'root_threshold',
  'root_user_ids',
  'authority_version',
  'rules_version',
  'rules_digest',
  'wrapped_key',
  'created_at_ms',
  'updated_at_ms',
  'deleted_at_ms',
  'accepted_restoration',
]);

export class OrganizationReader extends Reader {
  async find(organizationId: OrganizationId): Promise<Organization | undefined> {
    const [row] = await byId(this.db, { id: organizationId });
    return row === undefined ? undefined : toOrganization(row);
  }

  async get(organizationId: OrganizationId): Promise<Organization> {
    const organization = await this.find(organizationId);
    if (organization === undefined) throw organizationNotFound();
    return organization;
  }

  async features(organizationId: OrganizationId): Promise<Feature[]> {
    const rows = await allOfOrganization(this.db, 'organization_feature', organizationId);
    return rows.map(({ name, value }) => ({ name, value }));
  }

  async feature(organizationId: OrganizationId, name: string): Promise<string | undefined> {
    const read = () => featureValue(this.db, { organizationId, name });
    const [row] = await someOfOrganization(this.db, 'organization_feature', organizationId, [[name]], read);
    return row?.value;
  }

  /** Whether a sub-organization, deleted or not, belongs to this parent. */
  async hasChild(parentId: OrganizationId, organizationId: string): Promise<boolean> {
    const [row] = await byId(this.db, { id: organizationId });
    return row?.parent_id === parentId;
  }
}

const ROWS_PER_DELETE = 10_000;
const NONE = sql`1 = 0`;

const rowsOf = (table: string, organizationId: OrganizationId) =>
  sql`FROM ${sql.table(table)} WHERE organization_id = ${organizationId}`;

export class OrganizationStore extends OrganizationReader {
  static readonly writes = true;
  readonly #authority: AuthorityVersions;
  readonly #owned: OwnedSets;
  readonly #ahead: ReadAhead;
  readonly #tables: readonly Table[];
  /** Only on SQLite, which has one writer: to hold an organization takes nothing there but to know it. */
  readonly #known: KeptValues<Organization> | undefined;

  constructor(transaction: Transaction) {
    super(transaction);
    this.#authority = transaction.authority;
    this.#owned = transaction.owned;
    this.#ahead = transaction.ahead;
    this.#tables = transaction.tables;
    this.#known = keptValues(transaction);
  }

  /**
   * Holds the organization until the transaction ends, and reads it. Both statements travel together, and the second sees
   * what the first waited for.
   */
  async lock(organizationId: OrganizationId, mode: LockMode): Promise<Organization> {
    const organization = this.#known?.get(organizationId) ?? (await this.#lockAndRead(organizationId, mode));
    this.#authority.holds(organization, mode);
    return organization;
  }

  async #lockAndRead(organizationId: OrganizationId, mode: LockMode): Promise<Organization> {
    const moment = this.#known?.moment ?? 0;
    const held = this.#authority.lock(organizationId, mode);
    const [row] = await Promise.all([this.#row(organizationId, mode), held]);
    if (row === undefined) throw organizationNotFound();
    const organization = toOrganization(row);
    this.#known?.keep(organizationId, organization, [organizationId], moment);
    return organization;
  }

  /** Whoever holds the organization alone may change its row, and holds that too. */
  async #row(organizationId: OrganizationId, mode: LockMode): Promise<Selectable<OrganizationTable> | undefined> {
    if (mode === 'exclusive') return await hold(this.db, 'organization', { id: organizationId });
    const [row] = await byId(this.db, { id: organizationId });
    return row;
  }

  /** What was decided before must be decided anew. Stores that write what decisions read do this by themselves. */
  async raiseAuthorityVersion(organizationId: OrganizationId): Promise<void> {
    await this.#authority.alters(organizationId, 'facts');
  }

  async insert(organization: Organization): Promise<void> {
    this.#authority.bears(organization.id);
    await requireLiveRootKey(this.db, this.kind, organization.wrappedKey);
    const digests = this.#owned.bears('organization', organization.id);
    await insertOrganizations(this.db, [fromOrganization(organization, digests)]);
  }

  async rename(organizationId: OrganizationId, name: string, nowMs: number): Promise<void> {
    await this.#amend(organizationId, { name, updated_at_ms: nowMs });
  }

  async setRootQuorum(
    organizationId: OrganizationId,
    threshold: number,
    userIds: readonly UserId[],
    nowMs: number,
  ): Promise<void> {
    await this.#authority.alters(organizationId, 'facts');
    const rootUserIds = JSON.stringify(userIds);
    await this.#amend(organizationId, { root_threshold: threshold, root_user_ids: rootUserIds, updated_at_ms: nowMs });
  }

  async setFeature(organizationId: OrganizationId, name: string, value: string): Promise<void> {
    await this.#owned.open('organization_feature', organizationId);
    await putFeatures(this.db, [{ organization_id: organizationId, name, value }]);
  }

  async removeFeature(organizationId: OrganizationId, name: string): Promise<void> {
    await this.#owned.open('organization_feature', organizationId);
    this.#owned.remove('organization_feature', [organizationId], [name]);
    await this.db
      .deleteFrom('organization_feature')
      .where('organization_id', '=', organizationId)
      .where('name', '=', name)
      .execute();
  }

  /**
   * Erases everything of a sub-organization except its id, its name and its activities, which its parent may still
   * read without the addresses that votes came from, and what others wait for, which nobody can.
   */
  async erase(organizationId: OrganizationId, nowMs: number): Promise<void> {
    await this.#authority.alters(organizationId, 'facts');
    this.#authority.erases(organizationId);
    this.#ahead.forgetAll();
    const erasures = this.#tables.flatMap(({ name, erased }) =>
      erased === 'never' ? [] : [{ table: name, ...erased }],
    );
    // Whoever settles one of these right now is waited for, or waits and sees that it is to go.
    if (this.kind === 'postgres') {
      for (const { table, holding } of erasures)
        if (holding)
          await sql`SELECT /* partial: to hold what is deleted */ 1 ${rowsOf(table, organizationId)} AND ${holding} FOR UPDATE`.execute(
            this.db,
          );
    }
    for (const { table, by, except = NONE } of erasures) {
      // Many rows in one statement would take longer than a statement may.
      const rows = sql`${rowsOf(table, organizationId)} AND NOT (${except})`;
      const some = sql`SELECT ${sql.ref(by)} ${rows} LIMIT ${ROWS_PER_DELETE}`;
      for (let deleted = 1n; deleted > 0n; ) {
        const result = await sql`DELETE ${rows} AND ${sql.ref(by)} IN (${some})`.execute(this.db);
        deleted = result.numAffectedRows ?? 0n;
      }
    }
    for (const { name, emptied = [] } of this.#tables) {
      for (const column of emptied) await this.#empty(name, column, organizationId);
    }
    await this.#amend(organizationId, {
      deleted_at_ms: nowMs,
      updated_at_ms: nowMs,
      root_user_ids: '[]',
      rules_digest: this.#owned.bears('organization', organizationId),
    });
  }

  async #amend(organizationId: OrganizationId, changes: Partial<Selectable<OrganizationTable>>): Promise<void> {
    await amendOne(this.db, 'organization', { id: organizationId }, () => changes);
  }

  async #empty(table: string, column: string, organizationId: OrganizationId): Promise<void> {
    const rows = sql`WHERE organization_id = ${organizationId} AND ${sql.ref(column)} IS NOT NULL`;
    const some = sql`SELECT id FROM ${sql.table(table)} ${rows} LIMIT ${ROWS_PER_DELETE}`;
    for (let emptied = 1n; emptied > 0n; ) {
      const result =
        await sql`UPDATE /* unmarked: a free column */ ${sql.table(table)} SET ${sql.ref(column)} = NULL ${rows} AND id IN (${some})`.execute(
          this.db,
        );
      emptied = result.numAffectedRows ?? 0n;
    }
  }
}

export const organizationNotFound = (): ApiError =>
  new ApiError('ORGANIZATION_NOT_FOUND', 'no organization found with the given ID');

/**
 * Refuses a key that was wrapped before its root key was retired and is stored only now: the root key is about to be
 * destroyed, and the organization would be lost with it. The row that a rotation changes is held until the end of the
 * transaction, so that the rotation either sees the new organization or has retired the key before.
 */
async function requireLiveRootKey(db: Kysely<Schema>, kind: DatabaseKind, wrappedKey: Uint8Array): Promise<void> {
  const fact = (name: string) => db.selectFrom('deployment').select('value').where('name', '=', name);
  if (kind === 'postgres') await fact('root_key_id').forShare().execute();
  // A statement of its own, because one that waited for a row does not see others that came with it.
  const retired = await fact('retired_root_keys').executeTakeFirst();
  const rootKeyId = Buffer.from(wrappedKey.subarray(2, 18)).toString('hex');
  if (retired === undefined || !(JSON.parse(retired.value) as string[]).includes(rootKeyId)) return;
  throw new ApiError('UNAVAILABLE', 'the root key was just changed, try again', { retryAfterSeconds: 1 });
}
