import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import type { MfaPolicy, MfaProof, MfaRequirement, MfaStep } from '../../../core/model.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { ActivityId, MfaPolicyId, OrganizationId, UserId } from '../../../lib/ids.ts';
import { together } from '../../../lib/together.ts';
import type { AuthorityVersions } from '../../../storage/authority.ts';
import { bytesOf } from '../../../storage/bytes-of.ts';
import { driverOf } from '../../../storage/connection-dialect.ts';
import { amendOne } from '../../../storage/integrity/amend.ts';
import { asRow, ownerOfSet, readOwned } from '../../../storage/integrity/owned-rows.ts';
import type { OwnedSets } from '../../../storage/integrity/owned-sets.ts';
import { partial } from '../../../storage/integrity/partial.ts';
import { findRow } from '../../../storage/organization-rows.ts';
import { insertion } from '../../../storage/statement.ts';
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

const insertPolicies = insertion('mfa-policy-insert', 'mfa_policy', [
  'organization_id',
  'id',
  'user_id',
  'name',
  'condition',
  'steps',
  'position',
  'notes',
  'created_at_ms',
  'updated_at_ms',
]);
const insertRequirements = insertion('mfa-requirement-insert', 'mfa_requirement', [
  'organization_id',
  'activity_id',
  'user_id',
  'mfa_policy_id',
  'steps',
  'proofs',
  'satisfied_at_ms',
  'created_at_ms',
]);

const notFound = (): ApiError => new ApiError('RESOURCE_NOT_FOUND', 'MFA policy not found for this user');

export class MfaReader extends Reader {
  async get(organizationId: OrganizationId, userId: string, mfaPolicyId: string): Promise<MfaPolicy> {
    const row = await findRow(this.db, 'mfa_policy', organizationId, mfaPolicyId);
    if (row === undefined || row.user_id !== userId) throw notFound();
    return toMfaPolicy(row);
  }

  /** In the order in which they are asked: lower first, of equals the older one. */
  async ofUser(organizationId: OrganizationId, userId: string): Promise<MfaPolicy[]> {
    const read = async () => {
      const [user, rows] = await together([
        ownerOfSet(this.db, 'mfa_policy', organizationId, userId),
        this.db
          .selectFrom('mfa_policy')
          .selectAll()
          .where('organization_id', '=', organizationId)
          .where('user_id', '=', userId)
          .orderBy('position')
          .orderBy('id')
          .execute(),
      ]);
      return { user, rows };
    };
    const { user, rows } = await readOwned(this.db, read, (found) =>
      found.user === undefined ? [] : [{ owner: found.user, has: { mfa_policy: found.rows.map(asRow) }, isAll: true }],
    );
    // What a user owes is asked of users who were found; nobody is missing but for a moment, by somebody else's hand.
    if (user === undefined && this.#isVerifying)
      throw new ApiError('UNAVAILABLE', 'this user is not there any more, try again', { retryAfterSeconds: 1 });
    return rows.map(toMfaPolicy);
  }

  get #isVerifying(): boolean {
    return driverOf(this.db).integrity?.isRequired === true;
  }

  async count(organizationId: OrganizationId, userId: string): Promise<number> {
    const { count } = await this.db
      .selectFrom('mfa_policy')
      .modifyFront(partial('a count'))
      .select(({ fn }) => fn.countAll().as('count'))
      .where('organization_id', '=', organizationId)
      .where('user_id', '=', userId)
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  /** Bytes of all policies of a user, each with a hundred more. */
  async weight(organizationId: OrganizationId, userId: string): Promise<number> {
    const { rows } = await sql<{ weight: number | string | null }>`
      SELECT /* partial: sizes */ SUM(${bytesOf('mfa_policy', ['name', 'condition', 'steps', 'notes'])} + 100) AS weight FROM mfa_policy
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
  readonly #owned: OwnedSets;

  constructor(transaction: Transaction) {
    super(transaction);
    this.#authority = transaction.authority;
    this.#owned = transaction.owned;
  }

  /** What stays of it is signed anew, so it has to be the one that the user has. */
  async getToChange(organizationId: OrganizationId, userId: string, mfaPolicyId: string): Promise<MfaPolicy> {
    const key = { organization_id: organizationId, id: mfaPolicyId };
    const row = await this.#owned.row('mfa_policy', [organizationId, userId], key);
    if (row === undefined || row.user_id !== userId) throw notFound();
    return toMfaPolicy(row);
  }

  async insert(organizationId: OrganizationId, policy: MfaPolicy): Promise<void> {
    await this.#authority.alters(organizationId, 'rules');
    await this.#owned.open('mfa_policy', organizationId, policy.userId);
    const row = {
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
    };
    await insertPolicies(this.db, [row]);
  }

  async update(organizationId: OrganizationId, policy: MfaPolicy): Promise<void> {
    await this.#authority.alters(organizationId, 'rules');
    await this.#owned.open('mfa_policy', organizationId, policy.userId);
    await amendOne(this.db, 'mfa_policy', { organization_id: organizationId, id: policy.id }, () => ({
      name: policy.name,
      condition: policy.condition,
      steps: JSON.stringify(policy.steps),
      position: policy.order,
      notes: policy.notes,
      updated_at_ms: policy.updatedAtMs,
    }));
  }

  async delete(organizationId: OrganizationId, userId: string, mfaPolicyId: string): Promise<void> {
    await this.#authority.alters(organizationId, 'rules');
    await this.#owned.open('mfa_policy', organizationId, userId);
    this.#owned.remove('mfa_policy', [organizationId, userId], [mfaPolicyId]);
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
    const progress = {
      proofs: JSON.stringify(requirement.proofs),
      satisfied_at_ms: requirement.satisfiedAtMs ?? null,
      created_at_ms: requirement.createdAtMs,
    };
    const key = {
      organization_id: organizationId,
      activity_id: requirement.activityId,
      user_id: requirement.userId,
    };
    if ((await amendOne(this.db, 'mfa_requirement', key, () => progress)) !== undefined) return;
    const policy = { mfa_policy_id: requirement.mfaPolicyId, steps: JSON.stringify(requirement.steps) };
    await insertRequirements(this.db, [{ ...key, ...policy, ...progress }]);
  }
}
