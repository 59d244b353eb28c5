import { type Selectable, sql } from 'kysely';
import { HOUR_MS } from '../../lib/clock.ts';
import { chunks, groupBy } from '../../lib/collections.ts';
import type { ActivityId, OrganizationId, UserId, VoteId } from '../../lib/ids.ts';
import type { Page, PageRequest } from '../../lib/pagination.ts';
import type { AuthorityVersions } from '../../storage/authority.ts';
import { bytesOf } from '../../storage/bytes-of.ts';
import { fetchPage, type Range } from '../../storage/keyset.ts';
import type { ActivityTable, VoteTable } from '../../storage/schema.ts';
import { deferredInsertion, type NewRow, statement } from '../../storage/statement.ts';
import { Reader, type Transaction } from '../../storage/store.ts';
import { voteIsRevoked } from '../../storage/tombstones.ts';
import type {
  Activity,
  ActivityStatus,
  AppProof,
  CredentialKind,
  OpenTo,
  StoredError,
  Vote,
  VoteSelection,
  WebauthnEvidence,
} from '../model.ts';

const parse = (text: string | null): unknown => (text === null ? undefined : JSON.parse(text));
const print = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value));

/** Older versions stored a digest in the place of a secret; now nothing stands there. */
const DIGESTS: Readonly<Record<string, string>> = {
  ACTIVITY_TYPE_VERIFY_OTP: 'verificationToken',
  ACTIVITY_TYPE_VERIFY_OTP_V2: 'verificationToken',
  ACTIVITY_TYPE_OAUTH2_AUTHENTICATE: 'oidcToken',
  ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION: 'session',
};

function withoutDigests(type: string, result: unknown): unknown {
  const name = DIGESTS[type];
  if (name === undefined || result === undefined) return result;
  return Object.fromEntries(Object.entries(result as object).filter(([key]) => key !== name));
}

const toActivity = (row: Selectable<ActivityTable>): Activity => ({
  id: row.id as ActivityId,
  organizationId: row.organization_id as OrganizationId,
  fingerprint: row.fingerprint,
  operation: row.operation,
  type: row.type,
  status: row.status as ActivityStatus,
  proposerId: (row.proposer_id as UserId | null) ?? undefined,
  authorityId: (row.authority_id as OrganizationId | null) ?? undefined,
  parameters: row.body === null ? JSON.parse(row.parameters) : JSON.parse(row.body).parameters,
  body: row.body ?? undefined,
  sealedBody: row.sealed_body ?? undefined,
  sealedParameters: row.sealed_parameters ?? undefined,
  result: withoutDigests(row.type, parse(row.result)),
  failure: parse(row.failure) as StoredError | undefined,
  denial: parse(row.denial) as StoredError | undefined,
  wantsProofs: row.wants_proofs === 1,
  openTo: parse(row.open_to) as OpenTo | undefined,
  hasMfa: row.has_mfa === 1,
  roundStartedAtMs: row.round_started_at_ms,
  createdAtMs: row.created_at_ms,
  updatedAtMs: row.updated_at_ms,
});

const fromActivity = (activity: Activity): NewRow<'activity'> => ({
  organization_id: activity.organizationId,
  id: activity.id,
  fingerprint: activity.fingerprint,
  operation: activity.operation,
  type: activity.type,
  status: activity.status,
  proposer_id: activity.proposerId ?? null,
  authority_id: activity.authorityId ?? null,
  parameters: activity.body === undefined ? JSON.stringify(activity.parameters) : '',
  body: activity.body ?? null,
  sealed_body: activity.sealedBody ?? null,
  sealed_parameters: activity.sealedParameters ?? null,
  result: print(activity.result),
  failure: print(activity.failure),
  denial: print(activity.denial),
  wants_proofs: activity.wantsProofs ? 1 : 0,
  open_to: print(activity.openTo),
  has_mfa: activity.hasMfa ? 1 : 0,
  round_started_at_ms: activity.roundStartedAtMs,
  created_at_ms: activity.createdAtMs,
  updated_at_ms: activity.updatedAtMs,
  voted_on: null,
});

type VoteRow = Selectable<VoteTable> & { readonly is_revoked: number };

const toVote = (row: VoteRow, { body }: Pick<ActivityTable, 'body'>): Vote => ({
  id: row.id as VoteId,
  activityId: row.activity_id as ActivityId,
  userId: row.user_id as UserId,
  selection: row.selection as VoteSelection,
  messageDigest: row.message_digest,
  message: row.message === '' ? (body ?? '') : row.message,
  sealedMessage: row.sealed_message ?? undefined,
  publicKey: row.public_key,
  signature: row.signature,
  scheme: row.scheme,
  credentialId: row.credential_id,
  webauthn: parse(row.webauthn) as WebauthnEvidence | undefined,
  userSnapshot: JSON.parse(row.user_snapshot),
  counts: row.counts === 1,
  roundStartedAtMs: row.round_started_at_ms,
  createdAtMs: row.created_at_ms,
  homeId: (row.home_id as OrganizationId | null) ?? undefined,
  credentialKind: (row.credential_kind as CredentialKind | null) ?? undefined,
  credentialType: row.credential_type ?? '',
  sessionProfileId: row.session_profile_id ?? undefined,
  sourceAddress: row.source_address ?? undefined,
  revoked: row.is_revoked === 1,
});

/** What an activity's votes are stored with. */
type Voted = Pick<Activity, 'organizationId' | 'fingerprint' | 'body'>;

const fromVote = ({ organizationId, fingerprint, body }: Voted, vote: Vote): NewRow<'vote'> => ({
  organization_id: organizationId,
  activity_id: vote.activityId,
  id: vote.id,
  user_id: vote.userId,
  selection: vote.selection,
  message_digest: vote.messageDigest,
  message: body !== undefined && vote.messageDigest === fingerprint ? '' : vote.message,
  sealed_message: vote.sealedMessage ?? null,
  public_key: vote.publicKey,
  signature: vote.signature,
  scheme: vote.scheme,
  credential_id: vote.credentialId,
  webauthn: print(vote.webauthn),
  user_snapshot: JSON.stringify(vote.userSnapshot),
  counts: vote.counts ? 1 : 0,
  round_started_at_ms: vote.roundStartedAtMs,
  created_at_ms: vote.createdAtMs,
  home_id: vote.homeId ?? null,
  credential_kind: vote.credentialKind ?? null,
  credential_type: vote.credentialType,
  session_profile_id: vote.sessionProfileId ?? null,
  source_address: vote.sourceAddress ?? null,
});

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

interface Key extends Record<string, unknown> {
  readonly organizationId: string;
  readonly id: string;
}

const byId = statement('activity-by-id', (db, { organizationId, id }: Key) =>
  db.selectFrom('activity').selectAll().where('organization_id', '=', organizationId).where('id', '=', id),
);
const byIdLocked = statement('activity-lock', (db, { organizationId, id }: Key) =>
  db.selectFrom('activity').selectAll().where('organization_id', '=', organizationId).where('id', '=', id).forUpdate(),
);
const votesOf = statement('activity-votes', (db, { organizationId, id }: Key) =>
  db
    .selectFrom('vote')
    .selectAll()
    .select(voteIsRevoked)
    .where('organization_id', '=', organizationId)
    .where('activity_id', '=', id)
    .orderBy('id'),
);
const insertActivities = deferredInsertion('activity-insert', 'activity', [
  'organization_id',
  'id',
  'fingerprint',
  'operation',
  'type',
  'status',
  'proposer_id',
  'authority_id',
  'parameters',
  'body',
  'sealed_body',
  'sealed_parameters',
  'result',
  'failure',
  'denial',
  'wants_proofs',
  'open_to',
  'has_mfa',
  'round_started_at_ms',
  'created_at_ms',
  'updated_at_ms',
  'voted_on',
]);
const insertVotes = deferredInsertion('vote-insert', 'vote', [
  'organization_id',
  'activity_id',
  'id',
  'user_id',
  'selection',
  'message_digest',
  'message',
  'sealed_message',
  'public_key',
  'signature',
  'scheme',
  'credential_id',
  'webauthn',
  'user_snapshot',
  'counts',
  'round_started_at_ms',
  'created_at_ms',
  'home_id',
  'credential_kind',
  'credential_type',
  'session_profile_id',
  'source_address',
]);

export interface ActivityWithVotes {
  readonly id: ActivityId;
  readonly activity: Activity;
  readonly votes: readonly Vote[];
  readonly proofs: readonly AppProof[];
}

export class ActivityReader extends Reader {
  async find(organizationId: OrganizationId, activityId: string): Promise<ActivityWithVotes | undefined> {
    const [[row], votes] = await Promise.all([
      byId(this.db, { organizationId, id: activityId }),
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
      (await byId(this.db, { organizationId, id: cursor })).length > 0;
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
          .select(['id', SHOWN_BYTES.as('bytes')])
          .execute(),
      whenTooLarge,
    });
  }

  /** How many there are in these statuses, counted no further than `max`. */
  async count(organizationId: OrganizationId, statuses: readonly string[], max: number): Promise<number> {
    const some = this.db
      .selectFrom('activity')
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
    const created = this.db.selectFrom('activity').select('id').where('organization_id', '=', organizationId);
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

const IS_VOTED_ON = sql<number>`CASE WHEN EXISTS (SELECT 1 FROM vote
  WHERE vote.organization_id = activity.organization_id AND vote.activity_id = activity.id
    AND (vote.user_id <> activity.proposer_id OR vote.selection = 'VOTE_SELECTION_REJECTED')) THEN 1 ELSE 0 END`;

export class ActivityStore extends ActivityReader {
  static readonly writes = true;
  readonly #authority: AuthorityVersions;

  constructor(transaction: Transaction) {
    super(transaction);
    this.#authority = transaction.authority;
  }

  /** Reads an activity and holds it until the transaction ends, so that votes on it are taken one after the other. */
  async lock(organizationId: OrganizationId, activityId: ActivityId): Promise<ActivityWithVotes | undefined> {
    const select = this.kind === 'sqlite' ? byId : byIdLocked;
    const [row] = await select(this.db, { organizationId, id: activityId });
    if (row === undefined) return undefined;
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
    await this.db
      .updateTable('activity')
      .set({
        status: activity.status,
        result: print(activity.result),
        failure: print(activity.failure),
        denial: print(activity.denial),
        open_to: print(activity.openTo),
        has_mfa: activity.hasMfa ? 1 : 0,
        round_started_at_ms: activity.roundStartedAtMs,
        updated_at_ms: activity.updatedAtMs,
        voted_on: IS_VOTED_ON,
      })
      .where('organization_id', '=', activity.organizationId)
      .where('id', '=', activity.id)
      .execute();
  }
}
