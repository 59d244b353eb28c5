import { type Kysely, type Selectable, sql } from 'kysely';
import { ApiError } from '../../lib/errors.ts';
import type { OrganizationId, UserId } from '../../lib/ids.ts';
import type { AuthorityVersions, LockMode } from '../../storage/authority.ts';
import type { DatabaseKind } from '../../storage/dialect.ts';
import type { OrganizationTable, Schema } from '../../storage/schema.ts';
import { statement } from '../../storage/statement.ts';
import { Reader, type Transaction } from '../../storage/store.ts';
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
});

const byId = statement('organization-by-id', (db, { id }: { id: string }) =>
  db.selectFrom('organization').selectAll().where('id', '=', id),
);

export type { LockMode } from '../../storage/authority.ts';

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
    return await this.db
      .selectFrom('organization_feature')
      .select(['name', 'value'])
      .where('organization_id', '=', organizationId)
      .orderBy('name')
      .execute();
  }

  async feature(organizationId: OrganizationId, name: string): Promise<string | undefined> {
    const row = await this.db
      .selectFrom('organization_feature')
      .select('value')
      .where('organization_id', '=', organizationId)
      .where('name', '=', name)
      .executeTakeFirst();
    return row?.value;
  }

  /** Whether a sub-organization, deleted or not, belongs to this parent. */
  async hasChild(parentId: OrganizationId, organizationId: string): Promise<boolean> {
    const [row] = await byId(this.db, { id: organizationId });
    return row?.parent_id === parentId;
  }
}

const ROWS_PER_DELETE = 10_000;

/** Tables of an organization that may be large, and the column by which a part of one is chosen. */
const ERASED = [
  ['api_key', 'id'],
  ['authenticator', 'id'],
  ['user_tag', 'user_id'],
  ['tag', 'id'],
  ['invitation', 'id'],
  ['app_user', 'id'],
  ['tombstone', 'id'],
  ['sealed_result', 'activity_id'],
  ['tree_entry', 'owner_id'],
  ['wallet', 'id'],
  ['wallet_account', 'id'],
  ['private_key', 'id'],
  ['private_key_address', 'private_key_id'],
  ['private_key_tag', 'private_key_id'],
  ['import_target', 'id'],
  ['secret', 'id'],
  ['policy', 'id'],
  ['mfa_policy', 'id'],
  ['session_profile', 'id'],
  ['ip_allowlist', 'public_key'],
  ['contract_interface', 'id'],
  ['velocity_control', 'id'],
  ['velocity_entry', 'id'],
  ['otp', 'id'],
  ['rate_window', 'name'],
  ['used_token', 'token_id'],
  ['oauth_provider', 'id'],
  ['oauth2_credential', 'id'],
  ['on_ramp_credential', 'id'],
  ['on_ramp_transaction', 'id'],
  ['outbox_message', 'id'],
  ['email_event', 'id'],
  ['dev_message', 'id'],
  ['webhook_endpoint', 'id'],
  ['webhook_event', 'id'],
  ['webhook_delivery', 'id'],
  ['webhook_lane', 'endpoint_id'],
  ['tvc_operator', 'id'],
  ['tvc_operator_set', 'id'],
  ['tvc_app', 'id'],
  ['tvc_deployment', 'id'],
  ['tvc_approval', 'id'],
  ['chain_send', 'id'],
  ['earn_wrapper', 'wrapper_address'],
  ['earn_request', 'id'],
  ['gas_usage_config', 'id'],
  ['sponsored_cost', 'minute'],
] as const;

/**
 * What stays for a while: the operator's transactions that may still land, or be undone. Without them nobody would hand
 * over or replace what everybody else's sends in that lane wait for. They go when they are settled.
 */
const KEPT_SENDS = sql`is_open = 1 AND attempts <> '[]'
  AND (purpose = 'earn-deploy' OR (purpose <> 'raw' AND lane <> sender))`;

export class OrganizationStore extends OrganizationReader {
  static readonly writes = true;
  readonly #authority: AuthorityVersions;

  constructor(transaction: Transaction) {
    super(transaction);
    this.#authority = transaction.authority;
  }

  /**
   * Holds the organization until the transaction ends, and reads it. Both statements travel together, and the second sees
   * what the first waited for.
   */
  async lock(organizationId: OrganizationId, mode: LockMode): Promise<Organization> {
    const held = this.#authority.lock(organizationId, mode);
    const [[row]] = await Promise.all([byId(this.db, { id: organizationId }), held]);
    if (row === undefined) throw organizationNotFound();
    const organization = toOrganization(row);
    this.#authority.holds(organization, mode);
    return organization;
  }

  /** What was decided before must be decided anew. Stores that write what decisions read do this by themselves. */
  async raiseAuthorityVersion(organizationId: OrganizationId): Promise<void> {
    await this.#authority.alters(organizationId, 'facts');
  }

  async insert(organization: Organization): Promise<void> {
    this.#authority.bears(organization.id);
    await requireLiveRootKey(this.db, this.kind, organization.wrappedKey);
    await this.db
      .insertInto('organization')
      .values({
        id: organization.id,
        parent_id: organization.parentId ?? null,
        name: organization.name,
        root_threshold: organization.rootThreshold,
        root_user_ids: JSON.stringify(organization.rootUserIds),
        authority_version: organization.authorityVersion,
        rules_version: organization.rulesVersion,
        wrapped_key: organization.wrappedKey,
        created_at_ms: organization.createdAtMs,
        updated_at_ms: organization.updatedAtMs,
        deleted_at_ms: null,
      })
      .execute();
  }

  async rename(organizationId: OrganizationId, name: string, nowMs: number): Promise<void> {
    await this.db
      .updateTable('organization')
      .set({ name, updated_at_ms: nowMs })
      .where('id', '=', organizationId)
      .execute();
  }

  async setRootQuorum(
    organizationId: OrganizationId,
    threshold: number,
    userIds: readonly UserId[],
    nowMs: number,
  ): Promise<void> {
    await this.#authority.alters(organizationId, 'facts');
    await this.db
      .updateTable('organization')
      .set({ root_threshold: threshold, root_user_ids: JSON.stringify(userIds), updated_at_ms: nowMs })
      .where('id', '=', organizationId)
      .execute();
  }

  async setFeature(organizationId: OrganizationId, name: string, value: string): Promise<void> {
    await this.db
      .insertInto('organization_feature')
      .values({ organization_id: organizationId, name, value })
      .onConflict((conflict) => conflict.columns(['organization_id', 'name']).doUpdateSet({ value }))
      .execute();
  }

  async removeFeature(organizationId: OrganizationId, name: string): Promise<void> {
    await this.db
      .deleteFrom('organization_feature')
      .where('organization_id', '=', organizationId)
      .where('name', '=', name)
      .execute();
  }

  /**
   * Erases everything of a sub-organization except its id, its name and its activities, which its parent may still
   * read, and what others wait for, which nobody can.
   */
  async erase(organizationId: OrganizationId, nowMs: number): Promise<void> {
    await this.#authority.alters(organizationId, 'facts');
    for (const table of ['organization_feature', 'read_session', 'auth_proxy_config'] as const) {
      await this.db.deleteFrom(table).where('organization_id', '=', organizationId).execute();
    }
    // Whoever settles one of those that are kept right now is waited for, or waits and sees that they are to go.
    if (this.kind === 'postgres') {
      await sql`SELECT id FROM chain_send
        WHERE organization_id = ${organizationId} AND is_open = 1 FOR UPDATE`.execute(this.db);
    }
    for (const [table, key] of ERASED) {
      const kept = table === 'chain_send' ? KEPT_SENDS : sql`1 = 0`;
      // Many rows in one statement would take longer than a statement may.
      const some = sql`SELECT ${sql.ref(key)} FROM ${sql.table(table)}
        WHERE organization_id = ${organizationId} AND NOT (${kept}) LIMIT ${ROWS_PER_DELETE}`;
      for (let deleted = 1n; deleted > 0n; ) {
        const result = await sql`DELETE FROM ${sql.table(table)}
          WHERE organization_id = ${organizationId} AND NOT (${kept}) AND ${sql.ref(key)} IN (${some})`.execute(
          this.db,
        );
        deleted = result.numAffectedRows ?? 0n;
      }
    }
    await this.db
      .updateTable('organization')
      .set({ deleted_at_ms: nowMs, updated_at_ms: nowMs, root_user_ids: '[]' })
      .where('id', '=', organizationId)
      .execute();
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
