import { type Selectable, sql } from 'kysely';
import type {
  OperatorKey,
  Send,
  SendBlock,
  SendLane,
  SendLaneName,
  SendProgress,
  SendPurpose,
} from '../../../chains/send/model.ts';
import type { SendState } from '../../../chains/settings.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { ActivityId, OrganizationId, SendId } from '../../../lib/ids.ts';
import { type Backlog, readBacklog } from '../../../storage/backlog.ts';
import { jsonRows } from '../../../storage/json-rows.ts';
import { Reader } from '../../../storage/store.ts';
import type { ChainSendTable } from '../tables.ts';

export const toSend = (row: Selectable<ChainSendTable>): Send => ({
  organizationId: row.organization_id as OrganizationId,
  id: row.id as SendId,
  activityId: row.activity_id as ActivityId,
  caip2: row.caip2,
  sender: row.sender,
  lane: row.lane,
  purpose: row.purpose as SendPurpose,
  request: JSON.parse(row.request),
  afterId: (row.after_id as SendId | null) ?? undefined,
  state: row.state as SendState,
  nonce: row.nonce ?? undefined,
  attempts: JSON.parse(row.attempts),
  txHash: row.tx_hash ?? undefined,
  block: row.block === null ? undefined : (JSON.parse(row.block) as SendBlock),
  error: row.error === null ? undefined : JSON.parse(row.error),
  isOpen: row.is_open === 1,
  createdAtMs: row.created_at_ms,
  updatedAtMs: row.updated_at_ms,
});

const toProgress = ({ state, nonce, attempts, txHash, block, error, isOpen }: SendProgress) => ({
  state,
  nonce: nonce ?? null,
  attempts: JSON.stringify(attempts),
  tx_hash: txHash ?? null,
  block_number: block?.number ?? null,
  block: block === undefined ? null : JSON.stringify(block),
  error: error === undefined ? null : JSON.stringify(error),
  is_open: isOpen ? 1 : 0,
});

/** Characters that are read together of each kind of a lane's sends; one alone may be longer. */
export const OPEN_LENGTH_MAX = 2 * 1024 * 1024;

/** Of what waits in a shared lane so many take turns: every round sorts them. */
const TURNS_SEEN = 2000;
/** Held ones that are read beyond what is asked for. */
const HELD_MAX = 1000;
type Held = Pick<ReadonlyMap<string, unknown>, 'has' | 'size'>;

const LENGTH = sql<number>`octet_length(request) + octet_length(attempts) + octet_length(coalesce(error, ''))`;

interface SendLength {
  readonly organization_id: string;
  readonly id: string;
  readonly length: number;
}

/** The first ones that fit into memory together, and the very first in any case. */
function fitting(sends: readonly SendLength[]): SendLength[] {
  let length = 0;
  const end = sends.findIndex((send, index) => {
    length += send.length;
    return index > 0 && length > OPEN_LENGTH_MAX;
  });
  return sends.slice(0, end === -1 ? undefined : end);
}

/** Transactions that are sent to chains. */
export class SendReader extends Reader {
  /** Sends that are not done, of every organization; in the words of the index that has only these. */
  async backlog(): Promise<Backlog> {
    return await readBacklog(this.db, 'chain_send', sql`is_open = 1`);
  }

  async find(organizationId: OrganizationId, id: string): Promise<Send | undefined> {
    const row = await this.#ofLiving(organizationId).selectAll().where('id', '=', id).executeTakeFirst();
    return row && toSend(row);
  }

  /** What is kept of an erased organization is for the lanes alone: its parent may still ask, and is shown nothing. */
  #ofLiving(organizationId: OrganizationId) {
    return this.db
      .selectFrom('chain_send')
      .where('organization_id', '=', organizationId)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('organization')
              .select('organization.id')
              .where('organization.id', '=', organizationId)
              .where('organization.deleted_at_ms', 'is not', null),
          ),
        ),
      );
  }

  async get(organizationId: OrganizationId, id: string): Promise<Send> {
    const found = await this.find(organizationId, id);
    if (found === undefined)
      throw new ApiError('RESOURCE_NOT_FOUND', 'transaction status not found in this organization');
    return found;
  }

  /**
   * What is under way in a lane, in its order: so many at most of those that wait, of those that are on their way, and of
   * those that only have to get old, and of each kind what fits into memory. Many of one kind do not hide the others.
   * In a lane that organizations share each one has its first one of those that wait read, then its second one, and so
   * on, and those that are known to be held up come last: nobody's sends keep those of others from being read.
   */
  async open(caip2: string, lane: string, limit: number, shared?: { readonly held: Held }): Promise<Send[]> {
    const kinds: SendState[][] = [['BROADCASTING'], ['INCLUDED', 'FAILED']];
    const found = await Promise.all([
      shared === undefined
        ? this.#lengths(caip2, lane, ['INITIALIZED'], limit)
        : this.#waiting(caip2, lane, limit, shared.held),
      ...kinds.map((states) => this.#lengths(caip2, lane, states, limit)),
    ]);
    const wanted = found.flatMap(fitting).map(({ organization_id, id }) => ({ organization_id, id }));
    if (wanted.length === 0) return [];
    const columns = { organization_id: 'text', id: 'text' } as const;
    const { rows } = await sql<Selectable<ChainSendTable>>`SELECT send.*
      FROM ${jsonRows(this.kind, 'wanted', columns, JSON.stringify(wanted))} CROSS JOIN chain_send AS send
      WHERE send.organization_id = wanted.organization_id AND send.id = wanted.id
      ORDER BY send.id`.execute(this.db);
    return rows.map(toSend);
  }

  /** What waits, in turns: the first one of each organization, then the second ones. Those that are held come last. */
  async #waiting(caip2: string, lane: string, limit: number, held: Held): Promise<SendLength[]> {
    const read = limit + Math.min(held.size, HELD_MAX);
    const { rows } = await sql<SendLength>`SELECT send.organization_id, send.id, ${LENGTH} AS length
      FROM (SELECT organization_id, id, row_number() OVER (PARTITION BY organization_id ORDER BY id) AS turn
        FROM (SELECT organization_id, id FROM chain_send
          WHERE caip2 = ${caip2} AND lane = ${lane} AND is_open = 1 AND state = 'INITIALIZED'
          ORDER BY id LIMIT ${TURNS_SEEN}) AS first
        ORDER BY turn, id LIMIT ${read}) AS queued
      CROSS JOIN chain_send AS send
      WHERE send.organization_id = queued.organization_id AND send.id = queued.id
      ORDER BY queued.turn, queued.id`.execute(this.db);
    const isHeld = ({ id }: SendLength): boolean => held.has(id);
    return [...rows.filter((row) => !isHeld(row)), ...rows.filter(isHeld)].slice(0, limit);
  }

  /** The first ones of some states, and how long each is. */
  async #lengths(caip2: string, lane: string, states: readonly SendState[], limit: number): Promise<SendLength[]> {
    return await this.db
      .selectFrom('chain_send')
      .select(['organization_id', 'id'])
      .select(LENGTH.as('length'))
      .where('caip2', '=', caip2)
      .where('lane', '=', lane)
      .where('is_open', '=', 1)
      .where('state', 'in', states)
      .orderBy('id')
      .limit(limit)
      .execute();
  }

  /** How many sends of a lane are on their way, by their senders. */
  async onTheWay(caip2: string, lane: string): Promise<ReadonlyMap<string, number>> {
    const rows = await this.db
      .selectFrom('chain_send')
      .select(['sender', (eb) => eb.fn.countAll<number>().as('count')])
      .where('caip2', '=', caip2)
      .where('lane', '=', lane)
      .where('is_open', '=', 1)
      .where('state', '=', 'BROADCASTING')
      .groupBy('sender')
      .execute();
    return new Map(rows.map(({ sender, count }) => [sender, count]));
  }

  /** The nonces of a lane that sends which may still land, or be undone, have taken. */
  async takenNonces(caip2: string, lane: string): Promise<ReadonlySet<number>> {
    const rows = await this.db
      .selectFrom('chain_send')
      .select('nonce')
      // An authorization in a transaction takes the nonce behind its own.
      .select(this.#firstNonce().as('first'))
      .where('caip2', '=', caip2)
      .where('lane', '=', lane)
      .where('is_open', '=', 1)
      .where('nonce', 'is not', null)
      .execute();
    return new Set(rows.flatMap(({ nonce, first }) => [Number(nonce), first ?? Number(nonce)]));
  }

  /** The newest of the sends under way that had a nonce of the lane and gave it on, as nodes would not have them. */
  async refusedAt(caip2: string, lane: string, nonce: number): Promise<Send | undefined> {
    const row = await this.db
      .selectFrom('chain_send')
      .selectAll()
      .where('caip2', '=', caip2)
      .where('lane', '=', lane)
      .where('is_open', '=', 1)
      .where('state', '=', 'FAILED')
      .where('nonce', 'is', null)
      .where(this.#firstNonce(), '=', nonce)
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst();
    return row && toSend(row);
  }

  #firstNonce() {
    const attempts = this.kind === 'postgres' ? sql`CAST(attempts AS json)` : sql`attempts`;
    return sql<number | null>`CAST(${attempts} -> 0 ->> 'nonce' AS bigint)`;
  }

  /** Whether a send has this hash already. */
  async hasHash(caip2: string, txHash: string): Promise<boolean> {
    const row = await this.db
      .selectFrom('chain_send')
      .select('id')
      .where('caip2', '=', caip2)
      .where('tx_hash', '=', txHash)
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Whether a send with this hash has its nonce still. */
  async isTaken(caip2: string, txHash: string): Promise<boolean> {
    const row = await this.db
      .selectFrom('chain_send')
      .select('id')
      .where('caip2', '=', caip2)
      .where('tx_hash', '=', txHash)
      .where('nonce', 'is not', null)
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Sends of an address that are in a block, the newest block first, up to a block and behind one. */
  async included(
    organizationId: OrganizationId,
    caip2: string,
    sender: string,
    blocks: { readonly from: number; readonly to: number },
    limit: number,
  ): Promise<Send[]> {
    const rows = await this.#ofLiving(organizationId)
      .selectAll()
      .where('caip2', '=', caip2)
      .where('sender', '=', sender)
      .where('block_number', '>=', blocks.from)
      .where('block_number', '<=', blocks.to)
      .orderBy('block_number', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
      .execute();
    return rows.map(toSend);
  }

  /** Lanes with work that nobody has claimed. */
  async freeLanes(chains: readonly string[], nowMs: number, limit: number): Promise<SendLaneName[]> {
    if (chains.length === 0) return [];
    return await this.db
      .selectFrom('chain_lane')
      .select(['caip2', 'lane'])
      .where('is_active', '=', 1)
      .where('claimed_until_ms', '<=', nowMs)
      .where('caip2', 'in', chains)
      .orderBy('claimed_until_ms')
      .limit(limit)
      .execute();
  }

  /** How many sends came into a lane so far: who wants to say that it has no work must have seen the last of them. */
  async laneVersion(caip2: string, lane: string): Promise<number> {
    const row = await this.db
      .selectFrom('chain_lane')
      .select('version')
      .where('caip2', '=', caip2)
      .where('lane', '=', lane)
      .executeTakeFirst();
    return row?.version ?? 0;
  }

  async operatorKey(caip2: string, address: string): Promise<OperatorKey | undefined> {
    const row = await this.db
      .selectFrom('chain_operator_key')
      .selectAll()
      .where('caip2', '=', caip2)
      .where('address', '=', address)
      .executeTakeFirst();
    return (
      row && {
        caip2: row.caip2,
        address: row.address,
        publicKey: row.public_key,
        sealedKey: row.sealed_key,
        createdAtMs: row.created_at_ms,
      }
    );
  }
}

/** What became of something that was to be written down. */
export type ProgressOutcome = 'written' | 'lane-lost' | 'send-gone';

export class SendStore extends SendReader {
  static readonly writes = true;

  /** Puts a send at the end of its lane. The lane's row is locked until the end of the transaction. */
  async insert(send: Send): Promise<void> {
    await this.db
      .insertInto('chain_send')
      .values({
        organization_id: send.organizationId,
        id: send.id,
        activity_id: send.activityId,
        caip2: send.caip2,
        sender: send.sender,
        lane: send.lane,
        purpose: send.purpose,
        request: JSON.stringify(send.request),
        after_id: send.afterId ?? null,
        ...toProgress(send),
        created_at_ms: send.createdAtMs,
        updated_at_ms: send.updatedAtMs,
      })
      .execute();
    await this.db
      .insertInto('chain_lane')
      .values({
        caip2: send.caip2,
        lane: send.lane,
        is_active: 1,
        version: 1,
        owner: '',
        epoch: 0,
        claimed_until_ms: 0,
      })
      .onConflict((conflict) =>
        conflict.columns(['caip2', 'lane']).doUpdateSet({
          is_active: 1,
          version: sql<number>`chain_lane.version + 1`,
          // Before the lanes that only wait for blocks to become final.
          claimed_until_ms: sql<number>`CASE WHEN chain_lane.owner = '' THEN 0 ELSE chain_lane.claimed_until_ms END`,
        }),
      )
      .execute();
  }

  /** Takes a lane; undefined when another process has it. */
  async claimLane(
    caip2: string,
    lane: string,
    owner: string,
    nowMs: number,
    untilMs: number,
  ): Promise<SendLane | undefined> {
    const row = await this.db
      .updateTable('chain_lane')
      .set({ owner, epoch: sql<number>`epoch + 1`, claimed_until_ms: untilMs })
      .where('caip2', '=', caip2)
      .where('lane', '=', lane)
      .where('is_active', '=', 1)
      .where('claimed_until_ms', '<=', nowMs)
      .returning('epoch')
      .executeTakeFirst();
    return row && { caip2, lane, epoch: row.epoch };
  }

  /** Prolongs a claim; false when it is another's by now, or was given back while this was under way. */
  async renewLane({ caip2, lane, epoch }: SendLane, untilMs: number): Promise<boolean> {
    const { numUpdatedRows } = await this.db
      .updateTable('chain_lane')
      .set({ claimed_until_ms: untilMs })
      .where('caip2', '=', caip2)
      .where('lane', '=', lane)
      .where('epoch', '=', epoch)
      .where('owner', '<>', '')
      .executeTakeFirstOrThrow();
    return numUpdatedRows === 1n;
  }

  /** Gives a lane back; those that were given back longest ago are taken first. */
  async releaseLane(lane: SendLane, nowMs: number): Promise<void> {
    await this.#isHeld(lane, { owner: '', claimed_until_ms: nowMs });
  }

  /**
   * Says that a lane has nothing under way; false when a send came in since the version was read, or it is another's.
   */
  async closeLane({ caip2, lane, epoch }: SendLane, version: number): Promise<boolean> {
    const { numUpdatedRows } = await this.db
      .updateTable('chain_lane')
      .set({ owner: '', claimed_until_ms: 0, is_active: 0 })
      .where('caip2', '=', caip2)
      .where('lane', '=', lane)
      .where('epoch', '=', epoch)
      .where('version', '=', version)
      .executeTakeFirstOrThrow();
    return numUpdatedRows === 1n;
  }

  /** Gives back all lanes that an owner has. */
  async releaseOwner(owner: string, nowMs: number): Promise<void> {
    await this.db
      .updateTable('chain_lane')
      .set({ owner: '', claimed_until_ms: nowMs })
      .where('is_active', '=', 1)
      .where('owner', '=', owner)
      .execute();
  }

  /** Ends the claims of processes that are gone; for a database that has one process at a time. */
  async releaseAllLanes(): Promise<void> {
    await this.db.updateTable('chain_lane').set({ owner: '', claimed_until_ms: 0 }).where('owner', '<>', '').execute();
  }

  /** Writes down how far a send is, unless the lane is another process's by now, or the send is erased or settled. */
  async progress(lane: SendLane, send: Send, progress: SendProgress, nowMs: number): Promise<ProgressOutcome> {
    if (!(await this.#isHeld(lane, { owner: sql<string>`owner` }))) return 'lane-lost';
    const { numUpdatedRows } = await this.db
      .updateTable('chain_send')
      .set({ ...toProgress(progress), updated_at_ms: nowMs })
      .where('organization_id', '=', send.organizationId)
      .where('id', '=', send.id)
      .where('is_open', '=', 1)
      .executeTakeFirstOrThrow();
    return numUpdatedRows === 1n ? 'written' : 'send-gone';
  }

  async delete({ organizationId, id }: Pick<Send, 'organizationId' | 'id'>): Promise<void> {
    await this.db.deleteFrom('chain_send').where('organization_id', '=', organizationId).where('id', '=', id).execute();
  }

  async insertOperatorKey(key: OperatorKey): Promise<void> {
    await this.db
      .insertInto('chain_operator_key')
      .values({
        caip2: key.caip2,
        address: key.address,
        public_key: key.publicKey,
        sealed_key: key.sealedKey,
        created_at_ms: key.createdAtMs,
      })
      .onConflict((conflict) =>
        conflict.columns(['caip2', 'address']).doUpdateSet({ sealed_key: key.sealedKey, public_key: key.publicKey }),
      )
      .execute();
  }

  /** Changes a lane that is held; its row is locked until the end of the transaction. */
  async #isHeld({ caip2, lane, epoch }: SendLane, change: object): Promise<boolean> {
    const { numUpdatedRows } = await this.db
      .updateTable('chain_lane')
      .set(change)
      .where('caip2', '=', caip2)
      .where('lane', '=', lane)
      .where('epoch', '=', epoch)
      .executeTakeFirstOrThrow();
    return numUpdatedRows === 1n;
  }
}
