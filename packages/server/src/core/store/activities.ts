import { sql } from 'kysely';
import type { ActivityId, OrganizationId } from '../../lib/ids.ts';
import type { AuthorityVersions } from '../../storage/authority.ts';
import { amendOne, keepHeld } from '../../storage/integrity/amend.ts';
import { statement } from '../../storage/statement.ts';
import type { Transaction } from '../../storage/store.ts';
import type { Activity, AppProof, Vote } from '../model.ts';
import { type ActivityKey, ActivityReader, type ActivityWithVotes, activityById, votesOf } from './activity-reader.ts';
import {
  fromActivity,
  fromVote,
  insertActivities,
  insertVotes,
  print,
  toActivity,
  toVote,
  type Voted,
} from './activity-rows.ts';

const activityByIdLocked = statement('activity-lock', (db, { organizationId, id }: ActivityKey) =>
  db.selectFrom('activity').selectAll().where('organization_id', '=', organizationId).where('id', '=', id).forUpdate(),
);
const isVotedOn = statement(
  'activity-is-voted-on',
  (_db, { organizationId, id }: ActivityKey) =>
    sql<{ voted_on: number }>`SELECT /* partial: whether votes are there */ CASE WHEN EXISTS (SELECT 1 FROM vote
      WHERE vote.organization_id = activity.organization_id AND vote.activity_id = activity.id
        AND (vote.user_id <> activity.proposer_id OR vote.selection = 'VOTE_SELECTION_REJECTED')) THEN 1 ELSE 0 END
      AS voted_on FROM activity WHERE organization_id = ${organizationId} AND id = ${id}`,
);

export class ActivityStore extends ActivityReader {
  static readonly writes = true;
  readonly #authority: AuthorityVersions;

  constructor(transaction: Transaction) {
    super(transaction);
    this.#authority = transaction.authority;
  }

  /** Reads an activity and holds it until the transaction ends, so that votes on it are taken one after the other. */
  async lock(organizationId: OrganizationId, activityId: ActivityId): Promise<ActivityWithVotes | undefined> {
    const select = this.kind === 'sqlite' ? activityById : activityByIdLocked;
    const [row] = await select(this.db, { organizationId, id: activityId });
    if (row === undefined) return undefined;
    keepHeld(this.db, 'activity', row);
    const votes = await votesOf(this.db, { organizationId, id: activityId });
    return {
      id: row.id as ActivityId,
      activity: toActivity(row),
      votes: votes.map((vote) => toVote(vote, row)),
      proofs: [],
    };
  }

  /** The transaction fails with ALREADY_EXISTS where the organization has an activity with this fingerprint. */
  async insert(activity: Activity, votes: readonly Vote[]): Promise<void> {
    await insertActivities(this.db, [fromActivity(activity)]);
    for (const vote of votes) await this.insertVote(activity, vote);
  }

  async insertProofs(
    organizationId: OrganizationId,
    activityId: ActivityId,
    proofs: readonly AppProof[],
  ): Promise<void> {
    if (proofs.length === 0) return;
    await this.db
      .insertInto('app_proof')
      .values(
        proofs.map((proof, position) => ({
          organization_id: organizationId,
          activity_id: activityId,
          position,
          scheme: proof.scheme,
          public_key: proof.publicKey,
          proof_payload: proof.proofPayload,
          signature: proof.signature,
        })),
      )
      .execute();
  }

  async insertVote(activity: Voted, vote: Vote): Promise<void> {
    const row = fromVote(activity, vote);
    // The vote that deletes an organization is written after it is gone.
    const isErased = this.#authority.hasErased(row.organization_id);
    await insertVotes(this.db, [isErased ? { ...row, source_address: null } : row]);
  }

  async update(
    activity: Pick<
      Activity,
      | 'organizationId'
      | 'id'
      | 'status'
      | 'result'
      | 'failure'
      | 'denial'
      | 'openTo'
      | 'hasMfa'
      | 'roundStartedAtMs'
      | 'updatedAtMs'
    >,
  ): Promise<void> {
    const { organizationId, id } = activity;
    const [voted] = await isVotedOn(this.db, { organizationId, id });
    await amendOne(this.db, 'activity', { organization_id: organizationId, id }, () => ({
      status: activity.status,
      result: print(activity.result),
      failure: print(activity.failure),
      denial: print(activity.denial),
      open_to: print(activity.openTo),
      has_mfa: activity.hasMfa ? 1 : 0,
      round_started_at_ms: activity.roundStartedAtMs,
      updated_at_ms: activity.updatedAtMs,
      voted_on: voted?.voted_on ?? null,
    }));
  }
}
