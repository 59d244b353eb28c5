import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import type { MfaPolicy, MfaProof, MfaRequirement, MfaStep } from '../../../core/model.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { ActivityId, MfaPolicyId, OrganizationId, UserId } from '../../../lib/ids.ts';
import type { AuthorityVersions } from '../../../storage/authority.ts';
import { bytesOf } from '../../../storage/bytes-of.ts';
import { findRow } from '../../../storage/organization-rows.ts';
import { Reader, type Transaction } from '../../../storage/store.ts';
import type { MfaPolicyTable, MfaRequirementTable } from '../tables.ts';

export const toMfaPolicy = (row: Selectable<MfaPolicyTable>): MfaPolicy => ({
  id: row.id as MfaPolicyId,
  userId: row.user_id as UserId,
  name: row.name,
  condition: row.condition,
  steps: JSON.parse(row.steps) as MfaStep[],
  order: row.position,
  notes: row.notes,
  createdAtMs: row.created_at_ms,
  updatedAtMs: row.updated_at_ms,
});

const toRequirement = (row: Selectable<MfaRequirementTable>): MfaRequirement => ({
  activityId: row.activity_id as ActivityId,
  userId: row.user_id as UserId,
  mfaPolicyId: row.mfa_policy_id as MfaPolicyId,
  steps: JSON.parse(row.steps) as MfaStep[],
  proofs: JSON.parse(row.proofs) as MfaProof[],
  satisfiedAtMs: row.satisfied_at_ms ?? undefined,
  createdAtMs: row.created_at_ms,
});

const notFound = (): ApiError => new ApiError('RESOURCE_NOT_FOUND', 'MFA policy not found for this user');

export class MfaReader extends Reader {
  async get(organizationId: OrganizationId, userId: string, mfaPolicyId: string): Promise<MfaPolicy> {
    const row = await findRow(this.db, 'mfa_policy', organizationId, mfaPolicyId);
    if (row === undefined || row.user_id !== userId) throw notFound();
    return toMfaPolicy(row);
  }

  /** In the order in which they are asked: lower first, of equals the older one. */
  async ofUser(organizationId: OrganizationId, userId: string): Promise<MfaPolicy[]> {
    const rows = await this.db
      .selectFrom('mfa_policy')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('user_id', '=', userId)
      .orderBy('position')
      .orderBy('id')
      .execute();
    return rows.map(toMfaPolicy);
  }

  async count(organizationId: OrganizationId, userId: string): Promise<number> {
    const { count } = await this.db
      .selectFrom('mfa_policy')
      .select(({ fn }) => fn.countAll().as('count'))
      .where('organization_id', '=', organizationId)
      .where('user_id', '=', userId)
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  /** Bytes of all policies of a user, each with a hundred more. */
  async weight(organizationId: OrganizationId, userId: string): Promise<number> {
    const { rows } = await sql<{ weight: number | string | null }>`
      SELECT SUM(${bytesOf('mfa_policy', ['name', 'condition', 'steps', 'notes'])} + 100) AS weight FROM mfa_policy
      WHERE organization_id = ${organizationId} AND user_id = ${userId}`.execute(this.db);
    return Number(rows[0]?.weight ?? 0);
  }

  /** What users have to prove, and have proven, for one activity. */
  async requirements(organizationId: OrganizationId, activityId: string): Promise<MfaRequirement[]> {
    const rows = await this.db
      .selectFrom('mfa_requirement')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('activity_id', '=', activityId)
      .orderBy('created_at_ms')
      .orderBy('user_id')
      .execute();
    return rows.map(toRequirement);
  }
}

export class MfaStore extends MfaReader {
  static readonly writes = true;
  readonly #authority: AuthorityVersions;

  constructor(transaction: Transaction) {
    super(transaction);
    this.#authority = transaction.authority;
  }

  async insert(organizationId: OrganizationId, policy: MfaPolicy): Promise<void> {
    await this.#authority.alters(organizationId, 'rules');
    await this.db
      .insertInto('mfa_policy')
      .values({
        organization_id: organizationId,
        id: policy.id,
        user_id: policy.userId,
        name: policy.name,
        condition: policy.condition,
        steps: JSON.stringify(policy.steps),
        position: policy.order,
        notes: policy.notes,
        created_at_ms: policy.createdAtMs,
        updated_at_ms: policy.updatedAtMs,
      })
      .execute();
  }

  async update(organizationId: OrganizationId, policy: MfaPolicy): Promise<void> {
    await this.#authority.alters(organizationId, 'rules');
    await this.db
      .updateTable('mfa_policy')
      .set({
        name: policy.name,
        condition: policy.condition,
        steps: JSON.stringify(policy.steps),
        position: policy.order,
        notes: policy.notes,
        updated_at_ms: policy.updatedAtMs,
      })
      .where('organization_id', '=', organizationId)
      .where('id', '=', policy.id)
      .execute();
  }

  async delete(organizationId: OrganizationId, mfaPolicyId: string): Promise<void> {
    await this.#authority.alters(organizationId, 'rules');
    await this.db
      .deleteFrom('mfa_policy')
      .where('organization_id', '=', organizationId)
      .where('id', '=', mfaPolicyId)
      .execute();
  }

  async deleteOfUsers(organizationId: OrganizationId, userIds: readonly string[]): Promise<void> {
    if (userIds.length === 0) return;
    const deleted = await this.db
      .deleteFrom('mfa_policy')
      .where('organization_id', '=', organizationId)
      .where('user_id', 'in', [...userIds])
      .executeTakeFirst();
    // Only where there were some: an organization without rules stays one.
    if (deleted.numDeletedRows > 0n) await this.#authority.alters(organizationId, 'rules');
  }

  /** Writes what a user has proven so far; the frozen policy and its steps never change. */
  async putRequirement(organizationId: OrganizationId, requirement: MfaRequirement): Promise<void> {
    await sql`INSERT INTO mfa_requirement
        (organization_id, activity_id, user_id, mfa_policy_id, steps, proofs, satisfied_at_ms, created_at_ms)
      VALUES (${organizationId}, ${requirement.activityId}, ${requirement.userId}, ${requirement.mfaPolicyId},
        ${JSON.stringify(requirement.steps)}, ${JSON.stringify(requirement.proofs)},
        ${requirement.satisfiedAtMs ?? null}, ${requirement.createdAtMs})
      ON CONFLICT (organization_id, activity_id, user_id)
      DO UPDATE SET proofs = excluded.proofs, satisfied_at_ms = excluded.satisfied_at_ms,
        created_at_ms = excluded.created_at_ms`.execute(this.db);
  }
}
