import { type Selectable, sql } from 'kysely';
import { HOUR_MS } from '../../lib/clock.ts';
import { chunks, groupBy } from '../../lib/collections.ts';
import type { ActivityId, OrganizationId, UserId } from '../../lib/ids.ts';
import type { Page, PageRequest } from '../../lib/pagination.ts';
import { bytesOf } from '../../storage/bytes-of.ts';
import { partial } from '../../storage/integrity/partial.ts';
import { fetchPage, type Range } from '../../storage/keyset.ts';
import type { ActivityTable } from '../../storage/schema.ts';
import { statement } from '../../storage/statement.ts';
import { Reader } from '../../storage/store.ts';
import { voteIsRevoked } from '../../storage/tombstones.ts';
import type { Activity, AppProof, Vote } from '../model.ts';
import { toActivity, toVote, type VoteRow } from './activity-rows.ts';

/** What an activity has as it is shown: every vote over the activity's own body shows it again. */
export const SHOWN_BYTES = sql<number>`${bytesOf('activity', [
  'parameters',
  'body',
  'sealed_body',
  'sealed_parameters',
  'result',
  'open_to',
])} + COALESCE((SELECT SUM(${bytesOf('vote', ['sealed_message', 'webauthn', 'user_snapshot'])} +
    CASE WHEN vote.message = '' THEN COALESCE(octet_length(activity.body), 0) ELSE octet_length(vote.message) END)
  FROM vote WHERE vote.organization_id = activity.organization_id AND vote.activity_id = activity.id), 0)`;

/** What a list of activities is narrowed to. */
export interface ActivityFilter {
  readonly statuses?: readonly string[];
  readonly types?: readonly string[];
  readonly proposerId?: string | undefined;
  /** From this moment on. */
  readonly createdAfterMs?: number | undefined;
  /** Before this moment. */
  readonly createdBeforeMs?: number | undefined;
  /** Only what somebody besides its proposer voted on, or somebody rejected. */
  readonly isVotedOn?: boolean;
}

/** By how much the order of ids may differ from that of the times: ids are made a little later, by other clocks. */
const DISORDER_MS = HOUR_MS;

const AFTER_ALL_IDS = 'g';

/** The first 48 bits of an id are the milliseconds when it was made. */
function idAround(id: string, differenceMs: number): string {
  const madeAtMs = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
  const digits = Math.max(0, madeAtMs + differenceMs)
    .toString(16)
    .padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}

export interface ActivityKey extends Record<string, unknown> {
  readonly organizationId: string;
  readonly id: string;
}

export const activityById = statement('activity-by-id', (db, { organizationId, id }: ActivityKey) =>
  db.selectFrom('activity').selectAll().where('organization_id', '=', organizationId).where('id', '=', id),
);
export const votesOf = statement('activity-votes', (db, { organizationId, id }: ActivityKey) =>
  db
    .selectFrom('vote')
    .selectAll()
    .select(voteIsRevoked)
    .where('organization_id', '=', organizationId)
    .where('activity_id', '=', id)
    .orderBy('id'),
);
export interface ActivityWithVotes {
  readonly id: ActivityId;
  readonly activity: Activity;
  readonly votes: readonly Vote[];
  readonly proofs: readonly AppProof[];
}

export class ActivityReader extends Reader {
  async find(organizationId: OrganizationId, activityId: string): Promise<ActivityWithVotes | undefined> {
    const [[row], votes] = await Promise.all([
      activityById(this.db, { organizationId, id: activityId }),
      votesOf(this.db, { organizationId, id: activityId }),
    ]);
    if (row === undefined) return undefined;
    const proofs = row.wants_proofs === 1 ? await this.proofs(organizationId, activityId) : [];
    return {
      id: row.id as ActivityId,
      activity: toActivity(row),
      votes: votes.map((vote) => toVote(vote, row)),
      proofs,
    };
  }

  /** The activities alone, in the order of the ids; those that the organization does not have are left out. */
  async ofIds(organizationId: OrganizationId, ids: readonly string[]): Promise<Activity[]> {
    if (ids.length === 0) return [];
    return (await this.#rowsOfIds(organizationId, ids)).map(toActivity);
  }

  /** The same with their votes. */
  async ofIdsWithVotes(organizationId: OrganizationId, ids: readonly string[]): Promise<ActivityWithVotes[]> {
    if (ids.length === 0) return [];
    const rows = await this.#rowsOfIds(organizationId, ids);
    return await this.#withVotes(organizationId, rows);
  }

  async #rowsOfIds(organizationId: OrganizationId, ids: readonly string[]): Promise<Selectable<ActivityTable>[]> {
    const rows = await this.db
      .selectFrom('activity')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('id', 'in', [...ids])
      .execute();
    const byId = new Map(rows.map((row) => [row.id, row]));
    return ids.flatMap((id) => byId.get(id) ?? []);
  }

  /** App proofs of one activity, in the order they were made. */
  async proofs(organizationId: OrganizationId, activityId: string): Promise<AppProof[]> {
    const rows = await this.db
      .selectFrom('app_proof')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('activity_id', '=', activityId)
      .orderBy('position')
      .execute();
    return rows.map((row) => ({
      scheme: row.scheme,
      publicKey: row.public_key,
      proofPayload: row.proof_payload,
      signature: row.signature,
    }));
  }

  async idByFingerprint(organizationId: OrganizationId, fingerprint: string): Promise<ActivityId | undefined> {
    const row = await this.db
      .selectFrom('activity')
      .modifyFront(partial('an id to read by'))
      .select('id')
      .where('organization_id', '=', organizationId)
      .where('fingerprint', '=', fingerprint)
      .executeTakeFirst();
    return row?.id as ActivityId | undefined;
  }

  /** The organization that an activity of this tree belongs to, for parents that know only the activity's id. */
  async organizationInTree(rootId: OrganizationId, activityId: string): Promise<OrganizationId | undefined> {
    const row = await this.db
      .selectFrom('activity')
      .modifyFront(partial('an id to read by'))
      .innerJoin('organization', 'organization.id', 'activity.organization_id')
      .select('activity.organization_id')
      .where('activity.id', '=', activityId)
      .where('organization.parent_id', '=', rootId)
      .executeTakeFirst();
    return row?.organization_id as OrganizationId | undefined;
  }

  /**
   * What users of this organization proposed, here or in its sub-organizations, and what still waits: only its names.
   */
  async openOf(
    organizationId: OrganizationId,
    proposerIds: readonly UserId[],
  ): Promise<{ readonly organizationId: OrganizationId; readonly id: ActivityId }[]> {
    const found: { organizationId: OrganizationId; id: ActivityId }[] = [];
    for (const some of chunks(proposerIds)) {
      const rows = await this.db
        .selectFrom('activity')
        .modifyFront(partial('ids to read by'))
        .select(['organization_id', 'id'])
        .where('proposer_id', 'in', some)
        // Written out, as the partial index has it.
        .where(sql<boolean>`status IN ('ACTIVITY_STATUS_CONSENSUS_NEEDED', 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED')`)
        .where((eb) => eb.or([eb('organization_id', '=', organizationId), eb('authority_id', '=', organizationId)]))
        .orderBy('id')
        .execute();
      found.push(
        ...rows.map((row) => ({
          organizationId: row.organization_id as OrganizationId,
          id: row.id as ActivityId,
        })),
      );
    }
    return found;
  }

  /** Newest first. */
  async page(
    organizationId: OrganizationId,
    filter: ActivityFilter,
    request: PageRequest,
    whenTooLarge: 'refuse' | 'shorten' = 'refuse',
  ): Promise<Page<ActivityWithVotes>> {
    const owns = async (cursor: string): Promise<boolean> =>
      (await activityById(this.db, { organizationId, id: cursor })).length > 0;
    const ids = await this.#idsCreated(organizationId, filter);
    const { statuses = [], types = [], proposerId, createdAfterMs, createdBeforeMs } = filter;
    const within = (range: Range) => {
      let query = this.db.selectFrom('activity').where('organization_id', '=', organizationId);
      if (statuses.length > 0) query = query.where('status', 'in', [...statuses]);
      if (types.length > 0) query = query.where('type', 'in', [...types]);
      if (proposerId !== undefined) query = query.where('proposer_id', '=', proposerId);
      // Written out, as the partial index has it.
      if (filter.isVotedOn) query = query.where(sql<boolean>`voted_on = 1`);
      if (createdAfterMs !== undefined) query = query.where('created_at_ms', '>=', createdAfterMs);
      if (createdBeforeMs !== undefined) query = query.where('created_at_ms', '<', createdBeforeMs);
      if (ids.from !== undefined) query = query.where('id', '>=', ids.from);
      if (ids.to !== undefined) query = query.where('id', '<', ids.to);
      if (range.greaterThan !== undefined) query = query.where('id', '>', range.greaterThan);
      if (range.lessThan !== undefined) query = query.where('id', '<', range.lessThan);
      return query.orderBy('id', range.order).limit(range.limit);
    };
    return await fetchPage(request, {
      order: 'desc',
      owns,
      fetch: async (range) => await this.#withVotes(organizationId, await within(range).selectAll().execute()),
      weigh: (range) =>
        within(range)
          .modifyFront(partial('sizes'))
          .select(['id', SHOWN_BYTES.as('bytes')])
          .execute(),
      whenTooLarge,
    });
  }

  /** How many there are in these statuses, counted no further than `max`. */
  async count(organizationId: OrganizationId, statuses: readonly string[], max: number): Promise<number> {
    const some = this.db
      .selectFrom('activity')
      .modifyFront(partial('a count'))
      .select('id')
      .where('organization_id', '=', organizationId)
      .where('status', 'in', [...statuses])
      .limit(max);
    const row = await this.db
      .selectFrom(some.as('some'))
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return Number(row.count);
  }

  /**
   * Between which ids everything lies that was created in a span of time. Lists are in the order of ids, so without these
   * bounds a page of long ago would be searched from today on.
   */
  async #idsCreated(
    organizationId: OrganizationId,
    { createdAfterMs, createdBeforeMs }: ActivityFilter,
  ): Promise<{ readonly from?: string; readonly to?: string }> {
    const created = this.db
      .selectFrom('activity')
      .modifyFront(partial('a cursor'))
      .select('id')
      .where('organization_id', '=', organizationId);
    const [first, last] = await Promise.all([
      createdAfterMs === undefined
        ? undefined
        : created
            .where('created_at_ms', '>=', createdAfterMs)
            .orderBy('created_at_ms')
            .orderBy('id')
            .limit(1)
            .execute(),
      createdBeforeMs === undefined
        ? undefined
        : created
            .where('created_at_ms', '<', createdBeforeMs)
            .orderBy('created_at_ms', 'desc')
            .orderBy('id', 'desc')
            .limit(1)
            .execute(),
    ]);
    const from = first && (first[0] === undefined ? AFTER_ALL_IDS : idAround(first[0].id, -DISORDER_MS));
    const to = last && (last[0] === undefined ? '' : idAround(last[0].id, DISORDER_MS));
    return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  }

  async #withVotes(
    organizationId: OrganizationId,
    rows: readonly Selectable<ActivityTable>[],
  ): Promise<ActivityWithVotes[]> {
    const votes: VoteRow[] = [];
    for (const some of chunks(rows)) {
      votes.push(
        ...(await this.db
          .selectFrom('vote')
          .selectAll()
          .select(voteIsRevoked)
          .where('organization_id', '=', organizationId)
          .where(
            'activity_id',
            'in',
            some.map((row) => row.id),
          )
          .orderBy('id')
          .execute()),
      );
    }
    const votesOfActivity = groupBy(votes, (vote) => vote.activity_id);
    // Proofs of listed activities are read one by one by those who asked for them (list_app_proofs).
    return rows.map((row) => ({
      id: row.id as ActivityId,
      activity: toActivity(row),
      votes: (votesOfActivity.get(row.id) ?? []).map((vote) => toVote(vote, row)),
      proofs: [],
    }));
  }
}
