import { type Selectable, sql } from 'kysely';
import type { Policy, PolicyEffect } from '../../../core/model.ts';
import type { VoteEvaluation } from '../../../core/rules.ts';
import { chunks } from '../../../lib/collections.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { ActivityId, OrganizationId, PolicyId, VoteId } from '../../../lib/ids.ts';
import type { Page, PageRequest } from '../../../lib/pagination.ts';
import type { AuthorityVersions } from '../../../storage/authority.ts';
import { amendOne, release } from '../../../storage/integrity/amend.ts';
import { allOfOrganization } from '../../../storage/integrity/owned-rows.ts';
import type { OwnedSets } from '../../../storage/integrity/owned-sets.ts';
import { partial } from '../../../storage/integrity/partial.ts';
import { findRow, namesOfRows, pageOfRows } from '../../../storage/organization-rows.ts';
import { insertion } from '../../../storage/statement.ts';
import { Reader, type Transaction } from '../../../storage/store.ts';
import { bury } from '../../../storage/tombstones.ts';
import type { PolicyTable } from '../tables.ts';

const toPolicy = (row: Selectable<PolicyTable>): Policy => ({
  id: row.id as PolicyId,
  name: row.name,
  effect: row.effect as PolicyEffect,
  condition: row.condition,
  consensus: row.consensus,
  time: row.time,
  notes: row.notes,
  createdAtMs: row.created_at_ms,
  updatedAtMs: row.updated_at_ms,
});

export const policyNotFound = (): ApiError =>
  new ApiError('RESOURCE_NOT_FOUND', 'policy not found in this organization');

const insertPolicies = insertion('policy-insert', 'policy', [
  'organization_id',
  'id',
  'name',
  'effect',
  'condition',
  'consensus',
  'time',
  'notes',
  'created_at_ms',
  'updated_at_ms',
]);

export class PolicyReader extends Reader {
  async get(organizationId: OrganizationId, policyId: string): Promise<Policy> {
    const row = await findRow(this.db, 'policy', organizationId, policyId);
    if (row === undefined) throw policyNotFound();
    return toPolicy(row);
  }

  async page(organizationId: OrganizationId, request: PageRequest): Promise<Page<Policy>> {
    return await pageOfRows(this.db, 'policy', organizationId, request, (rows) => rows.map(toPolicy), {
      large: ['name', 'condition', 'consensus', 'time', 'notes'],
    });
  }

  /** Those of these ids that are policies of the organization, oldest first. */
  async many(organizationId: OrganizationId, policyIds: readonly string[]): Promise<Policy[]> {
    if (policyIds.length === 0) return [];
    const rows = await this.db
      .selectFrom('policy')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('id', 'in', [...new Set(policyIds)])
      .orderBy('id')
      .execute();
    return rows.map(toPolicy);
  }

  async namesOf(organizationId: OrganizationId, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return await namesOfRows(this.db, 'policy', organizationId, ids);
  }

  async count(organizationId: OrganizationId): Promise<number> {
    const row = await this.db
      .selectFrom('policy')
      .modifyFront(partial('a count, which a limit is compared with'))
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('organization_id', '=', organizationId)
      .executeTakeFirstOrThrow();
    return row.count;
  }

  /** Characters in all expressions, and a hundred more for each policy. */
  async weight(organizationId: OrganizationId): Promise<number> {
    const { rows } = await sql<{ weight: number | null }>`
      SELECT /* partial: a size, which a limit is compared with */ CAST(SUM(LENGTH(condition) + LENGTH(consensus) + LENGTH(time) + 100) AS bigint) AS weight FROM policy
      WHERE organization_id = ${organizationId}`.execute(this.db);
    return Number(rows[0]?.weight ?? 0);
  }

  /** Every policy of the organization, oldest first: a decision looks at all of them. */
  async all(organizationId: OrganizationId): Promise<Policy[]> {
    return (await allOfOrganization(this.db, 'policy', organizationId)).map(toPolicy);
  }

  /** What was said at each vote of the activity, oldest first. */
  async evaluations(organizationId: OrganizationId, activityId: string): Promise<VoteEvaluation[]> {
    const rows = await this.db
      .selectFrom('policy_evaluation')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('activity_id', '=', activityId)
      .orderBy('vote_id')
      .execute();
    return rows.map((row) => ({
      activityId: row.activity_id as ActivityId,
      voteId: row.vote_id as VoteId,
      evaluations: JSON.parse(row.evaluations) as unknown,
      createdAtMs: row.created_at_ms,
    }));
  }
}

export class PolicyStore extends PolicyReader {
  static readonly writes = true;
  readonly #authority: AuthorityVersions;
  readonly #owned: OwnedSets;

  constructor(transaction: Transaction) {
    super(transaction);
    this.#authority = transaction.authority;
    this.#owned = transaction.owned;
  }

  /** What stays of it is signed anew, so it has to be the one that the organization has. */
  async getToChange(organizationId: OrganizationId, policyId: string): Promise<Policy> {
    const row = await this.#owned.row('policy', [organizationId], { organization_id: organizationId, id: policyId });
    if (row === undefined) throw policyNotFound();
    return toPolicy(row);
  }

  async insert(organizationId: OrganizationId, policies: readonly Policy[]): Promise<void> {
    await this.#authority.alters(organizationId, 'rules');
    await this.#owned.open('policy', organizationId);
    const rows = policies.map((policy) => ({
      organization_id: organizationId,
      id: policy.id,
      name: policy.name,
      effect: policy.effect,
      condition: policy.condition,
      consensus: policy.consensus,
      time: policy.time,
      notes: policy.notes,
      created_at_ms: policy.createdAtMs,
      updated_at_ms: policy.updatedAtMs,
    }));
    await insertPolicies(this.db, rows);
  }

  async update(organizationId: OrganizationId, policy: Policy): Promise<void> {
    await this.#authority.alters(organizationId, 'rules');
    await this.#owned.open('policy', organizationId);
    // One that is gone by now is missed: it stays in what is followed.
    await amendOne(this.db, 'policy', { organization_id: organizationId, id: policy.id }, () => ({
      name: policy.name,
      effect: policy.effect,
      condition: policy.condition,
      consensus: policy.consensus,
      time: policy.time,
      notes: policy.notes,
      updated_at_ms: policy.updatedAtMs,
    }));
  }

  /** All or nothing: throws when one of them is not there. */
  async delete(organizationId: OrganizationId, policyIds: readonly string[]): Promise<void> {
    await this.#authority.alters(organizationId, 'rules');
    await this.#owned.open('policy', organizationId);
    this.#owned.remove('policy', [organizationId], policyIds);
    for (const ids of chunks(policyIds)) {
      const deleted = await this.db
        .deleteFrom('policy')
        .where('organization_id', '=', organizationId)
        .where('id', 'in', ids)
        .executeTakeFirst();
      if (deleted.numDeletedRows !== BigInt(ids.length)) throw policyNotFound();
      await bury(this.db, organizationId, ids);
    }
    release(this.db, 'policy');
  }

  async insertEvaluation(organizationId: OrganizationId, evaluation: VoteEvaluation): Promise<void> {
    await sql`INSERT INTO policy_evaluation (organization_id, activity_id, vote_id, evaluations, created_at_ms)
      VALUES (${organizationId}, ${evaluation.activityId}, ${evaluation.voteId},
        ${JSON.stringify(evaluation.evaluations)}, ${evaluation.createdAtMs})`.execute(this.db);
  }
}
