import { type RawBuilder, type Selectable, sql } from 'kysely';
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
import { together } from '../../../lib/together.ts';
import { type Backlog, readBacklog } from '../../../storage/backlog.ts';
import { inScope } from '../../../storage/fence-scope.ts';
import { amendOne, hold } from '../../../storage/integrity/amend.ts';
import { apart, isDone } from '../../../storage/integrity/apart.ts';
import { partial } from '../../../storage/integrity/partial.ts';
import { jsonRows } from '../../../storage/json-rows.ts';
import { deferredInsertion, insertion, type NewRow, replacement } from '../../../storage/statement.ts';
import { Reader } from '../../../storage/store.ts';
import type { ChainLaneTable, ChainSendTable } from '../tables.ts';

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

export const toProgress = ({ state, nonce, attempts, txHash, block, error, isOpen }: SendProgress) => ({
  state,
  nonce: nonce ?? null,
  attempts: JSON.stringify(attempts),
  tx_hash: txHash ?? null,
  block_number: block?.number ?? null,
  block: block === undefined ? null : JSON.stringify(block),
  error: error === undefined ? null : JSON.stringify(error),
  is_open: isOpen ? 1 : 0,
});

const readAs = (send: Send): string => JSON.stringify([toProgress(send), send.updatedAtMs]);

/**
 * Whether a stored send is still what its caller read. Everything that progress replaces is compared, so nothing is replaced
 * that the caller has not seen. Both sides are written anew, so it does not matter how the stored JSON is spaced.
 */
export const isAsRead = (row: Selectable<ChainSendTable>, read: Send): boolean => readAs(toSend(row)) === readAs(read);

/** Characters that are read together of each kind of a lane's sends; one alone may be longer. */
export const OPEN_LENGTH_MAX = 2 * 1024 * 1024;

/** Of what waits in a shared lane so many take turns: every round sorts them. */
const TURNS_SEEN = 2000;
/** Held ones that are read beyond what is asked for. */
const HELD_MAX = 1000;
type Held = Pick<ReadonlyMap<string, unknown>, 'has' | 'size'>;

/** A further condition, on the organization of a send. */
type Only = RawBuilder<unknown>;
const ALL: Only = sql``;

const LENGTH = sql<number>`octet_length(request) + octet_length(attempts) + octet_length(coalesce(error, ''))`;

interface SendKey {
  readonly organization_id: string;
  readonly id: string;
}

interface SendLength extends SendKey {
  readonly length: number;
}

/** Sends are chosen by what is not verified, and then read whole: of one that is not genuine only the choice was wrong. */
const CHOSEN = partial('what is chosen is then read whole');
const REFUSES = partial('what is found can only keep something from being sent');

const fromSend = (send: Send): NewRow<'chain_send'> => ({
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
});
const insertSends = deferredInsertion('chain-send-insert', 'chain_send', [
  'organization_id',
  'id',
  'activity_id',
  'caip2',
  'sender',
  'lane',
  'purpose',
  'request',
  'after_id',
  'state',
  'nonce',
  'attempts',
  'tx_hash',
  'block_number',
  'block',
  'error',
  'is_open',
  'created_at_ms',
  'updated_at_ms',
]);
const insertLanes = insertion(
  'chain-lane-insert',
  'chain_lane',
  ['caip2', 'lane', 'is_active', 'version', 'owner', 'epoch', 'claimed_until_ms'],
  (query) => query.onConflict((conflict) => conflict.doNothing()),
);
const putOperatorKeys = replacement(
  'chain-operator-key-put',
  'chain_operator_key',
  ['caip2', 'address'],
  ['caip2', 'address', 'public_key', 'sealed_key', 'created_at_ms'],
);

/** The first ones that fit into memory together, and the very first in any case. */
function fitting(sends: readonly SendLength[]): SendLength[] {
  let length = 0;
  const end = sends.findIndex((send, index) => {
    length += send.length;
    return index > 0 && length > OPEN_LENGTH_MAX;
  });
  return sends.slice(0, end === -1 ? undefined : end);
}

/**
 * Each once: one that is read twice would be sent twice. Its state may change between two statements, and what somebody else
 * wrote into the embedded database may read like the key of another row. Before rows are read apart, which would answer
 * with it for each half.
 */
export const eachOnce = <Key extends SendKey>(keys: readonly Key[]): Key[] => [
  ...new Map(keys.map((key) => [`${key.organization_id} ${key.id}`, key])).values(),
];

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
              .modifyFront(sql`/* partial organization: whether it was erased */`)
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
   * on, and those that are known to be held up come last: nobody's sends keep those of others from being read. What is not
   * genuine is passed over there; in any other lane nothing goes on beside it, because its sends have an order. With a
   * scope, of those organizations alone that a restore was accepted for.
   */
  async open(
    caip2: string,
    lane: string,
    limit: number,
    { held, scope }: { readonly held?: Held | undefined; readonly scope?: string | undefined } = {},
  ): Promise<Send[]> {
    const only = scope === undefined ? ALL : inScope(sql`chain_send.organization_id`, scope);
    const kinds: SendState[][] = [['BROADCASTING'], ['INCLUDED', 'FAILED']];
    const found = await Promise.all([
      held === undefined
        ? this.#lengths({ caip2, lane }, ['INITIALIZED'], limit, only)
        : this.#waiting({ caip2, lane }, limit, held, only),
      ...kinds.map((states) => this.#lengths({ caip2, lane }, states, limit, only)),
    ]);
    const wanted = found.flatMap(fitting);
    const rows = await this.#genuine(wanted, held !== undefined);
    // Something is under way: who looked no further would close the lane.
    if (rows.length === 0 && wanted.length > 0) await this.#whole(wanted);
    return [...rows].sort((one, other) => (one.id < other.id ? -1 : 1)).map(toSend);
  }

  /** Whole rows of those that are still there; where others share the lane without those that are not genuine. */
  async #genuine(keys: readonly SendKey[], isShared: boolean): Promise<readonly Selectable<ChainSendTable>[]> {
    const single = eachOnce(keys);
    if (!isShared) return await this.#whole(single);
    return (await apart(single, (some) => this.#whole(some))).results;
  }

  async #whole(keys: readonly SendKey[]): Promise<Selectable<ChainSendTable>[]> {
    if (keys.length === 0) return [];
    const wanted = JSON.stringify(keys.map(({ organization_id, id }) => ({ organization_id, id })));
    const columns = { organization_id: 'text', id: 'text' } as const;
    const { rows } = await sql<Selectable<ChainSendTable>>`SELECT send.*
      FROM ${jsonRows(this.kind, 'wanted', columns, wanted)} CROSS JOIN chain_send AS send
      WHERE send.organization_id = wanted.organization_id AND send.id = wanted.id
      ORDER BY send.id`.execute(this.db);
    return rows;
  }

  /** What waits, in turns: the first one of each organization, then the second ones. Those that are held come last. */
  async #waiting({ caip2, lane }: SendLaneName, limit: number, held: Held, only: Only): Promise<SendLength[]> {
    const read = limit + Math.min(held.size, HELD_MAX);
    const { rows } =
      await sql<SendLength>`SELECT /* partial: what is chosen is then read whole */ send.organization_id, send.id, ${LENGTH} AS length
      FROM (SELECT organization_id, id, row_number() OVER (PARTITION BY organization_id ORDER BY id) AS turn
        FROM (SELECT organization_id, id FROM chain_send
          WHERE caip2 = ${caip2} AND lane = ${lane} AND is_open = 1 AND state = 'INITIALIZED' ${only}
          ORDER BY id LIMIT ${TURNS_SEEN}) AS first
        ORDER BY turn, id LIMIT ${read}) AS queued
      CROSS JOIN chain_send AS send
      WHERE send.organization_id = queued.organization_id AND send.id = queued.id
      ORDER BY queued.turn, queued.id`.execute(this.db);
    const isHeld = ({ id }: SendLength): boolean => held.has(id);
    return [...rows.filter((row) => !isHeld(row)), ...rows.filter(isHeld)].slice(0, limit);
  }

  /** The first ones of some states, and how long each is. */
  async #lengths(
    { caip2, lane }: SendLaneName,
    states: readonly SendState[],
    limit: number,
    only: Only,
  ): Promise<SendLength[]> {
    return await this.db
      .selectFrom('chain_send')
      .modifyFront(CHOSEN)
      .select(['organization_id', 'id'])
      .select(LENGTH.as('length'))
      .where('caip2', '=', caip2)
      .where('lane', '=', lane)
      .where('is_open', '=', 1)
      .where('state', 'in', states)
      .where(sql<boolean>`1 = 1 ${only}`)
      .orderBy('id')
      .limit(limit)
      .execute();
  }

  /** How many sends of a lane are on their way, by their senders: others wait for them. */
  async onTheWay(caip2: string, lane: string): Promise<ReadonlyMap<string, number>> {
    const rows = await this.db
      .selectFrom('chain_send')
      .modifyFront(REFUSES)
      .select(['sender', (eb) => eb.fn.countAll<number>().as('count')])
      .where('caip2', '=', caip2)
      .where('lane', '=', lane)
      .where('is_open', '=', 1)
      .where('state', '=', 'BROADCASTING')
      .groupBy('sender')
      .execute();
    return new Map(rows.map(({ sender, count }) => [sender, count]));
  }

  /**
   * The nonces of a lane, from one on, that sends which may still land, or be undone, have taken. In a lane that
   * organizations share those of sends that are not genuine do not count.
   */
  async takenNonces(caip2: string, lane: string, from = 0, isShared = false): Promise<ReadonlySet<number>> {
    const keys = await this.db
      .selectFrom('chain_send')
      .modifyFront(CHOSEN)
      .select(['organization_id', 'id'])
      .select(LENGTH.as('length'))
      .where('caip2', '=', caip2)
      .where('lane', '=', lane)
      .where('is_open', '=', 1)
      .where('nonce', '>=', from)
      .execute();
    const taken = new Set<number>();
    for (let left: readonly SendLength[] = keys; left.length > 0; ) {
      const some = fitting(left);
      left = left.slice(some.length);
      for (const row of await this.#genuine(some, isShared)) {
        const { nonce, attempts } = toSend(row);
        if (nonce === undefined) continue;
        // An authorization in a transaction takes the nonce behind its own.
        taken.add(nonce).add(attempts[0]?.nonce ?? nonce);
      }
    }
    return taken;
  }

  /**
   * The newest of the sends under way that had a nonce of the lane and gave it on, as nodes would not have them. Attempts are read
   * out of rows that were verified: one that is not genuine is passed over in a lane that organizations share.
   */
  async refusedAt(caip2: string, lane: string, nonce: number, isShared = false): Promise<Send | undefined> {
    const keys = await this.db
      .selectFrom('chain_send')
      .modifyFront(CHOSEN)
      .select(['organization_id', 'id'])
      .select(LENGTH.as('length'))
      .where('caip2', '=', caip2)
      .where('lane', '=', lane)
      .where('is_open', '=', 1)
      .where('state', '=', 'FAILED')
      .where('nonce', 'is', null)
      .where('attempts', 'like', '%"nonce"%')
      .orderBy('id', 'desc')
      .execute();
    for (let left: readonly SendLength[] = keys; left.length > 0; ) {
      const some = fitting(left);
      left = left.slice(some.length);
      const sends = (await this.#genuine(some, isShared))
        .map(toSend)
        .filter(({ attempts }) => attempts[0]?.nonce === nonce);
      const newest = sends.reduce<Send | undefined>(
        (one, other) => (one !== undefined && one.id > other.id ? one : other),
        undefined,
      );
      if (newest !== undefined) return newest;
    }
    return undefined;
  }

  /** Whether a send has this hash already. */
  async hasHash(caip2: string, txHash: string): Promise<boolean> {
    const row = await this.db
      .selectFrom('chain_send')
      .modifyFront(REFUSES)
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
      .modifyFront(REFUSES)
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

  /** Lanes with work that nobody has claimed; with a scope, of organizations that a restore was accepted for. */
  async freeLanes(chains: readonly string[], nowMs: number, limit: number, scope?: string): Promise<SendLaneName[]> {
    if (chains.length === 0) return [];
    const hasWork =
      scope === undefined
        ? sql<boolean>`1 = 1`
        : sql<boolean>`EXISTS (SELECT 1 FROM chain_send AS send
            WHERE send.caip2 = chain_lane.caip2 AND send.lane = chain_lane.lane AND send.is_open = 1
              ${inScope(sql`send.organization_id`, scope)})`;
    return await this.db
      .selectFrom('chain_lane')
      .modifyFront(partial('a lane is read whole when it is claimed'))
      .select(['caip2', 'lane'])
      .where('is_active', '=', 1)
      .where('claimed_until_ms', '<=', nowMs)
      .where('caip2', 'in', chains)
      .where(hasWork)
      .orderBy('claimed_until_ms')
      .limit(limit)
      .execute();
  }

  /** How many sends came into a lane so far: who wants to say that it has no work must have seen the last of them. */
  async laneVersion(caip2: string, lane: string): Promise<number> {
    const row = await this.db
      .selectFrom('chain_lane')
      .selectAll()
      .where('caip2', '=', caip2)
      .where('lane', '=', lane)
      .executeTakeFirst();
    return row?.version ?? 0;
  }

  /** Whether there is one at all, for who does not use it. */
  async hasOperatorKey(caip2: string, address: string): Promise<boolean> {
    const row = await this.db
      .selectFrom('chain_operator_key')
      .modifyFront(partial('whether it is there; who signs with it reads it whole'))
      .select('address')
      .where('caip2', '=', caip2)
      .where('address', '=', address)
      .executeTakeFirst();
    return row !== undefined;
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
export type ProgressOutcome = 'written' | 'lane-lost' | 'send-gone' | 'send-changed';

type LaneChange = (row: Selectable<ChainLaneTable>) => Partial<Selectable<ChainLaneTable>> | undefined;

export class SendStore extends SendReader {
  static readonly writes = true;

  /** Puts a send at the end of its lane. The lane's row is locked until the end of the transaction. */
  async insert(send: Send): Promise<void> {
    await together([insertSends(this.db, [fromSend(send)]), this.#enter(send)]);
  }

  async #enter({ caip2, lane }: SendLaneName): Promise<void> {
    const raise: LaneChange = ({ version, owner, claimed_until_ms }) => ({
      is_active: 1,
      version: version + 1,
      // Before the lanes that only wait for blocks to become final.
      claimed_until_ms: owner === '' ? 0 : claimed_until_ms,
    });
    if ((await amendOne(this.db, 'chain_lane', { caip2, lane }, raise)) !== undefined) return;
    const fresh = { is_active: 1, version: 1, owner: '', epoch: 0, claimed_until_ms: 0 };
    if ((await insertLanes(this.db, [{ caip2, lane, ...fresh }])) === 1) return;
    // Somebody else was faster.
    await amendOne(this.db, 'chain_lane', { caip2, lane }, raise);
  }

  /** Takes a lane; undefined when another process has it. */
  async claimLane(
    caip2: string,
    lane: string,
    owner: string,
    nowMs: number,
    untilMs: number,
  ): Promise<SendLane | undefined> {
    let claimed: SendLane | undefined;
    await amendOne(this.db, 'chain_lane', { caip2, lane }, (row) => {
      if (row.is_active !== 1 || row.claimed_until_ms > nowMs) return undefined;
      claimed = { caip2, lane, epoch: row.epoch + 1 };
      return { owner, epoch: claimed.epoch, claimed_until_ms: untilMs };
    });
    return claimed;
  }

  /** Prolongs a claim; false when it is another's by now, or was given back while this was under way. */
  async renewLane(lane: SendLane, untilMs: number): Promise<boolean> {
    return await this.#change(lane, ({ owner }) => (owner === '' ? undefined : { claimed_until_ms: untilMs }));
  }

  /** Gives a lane back; those that were given back longest ago are taken first. */
  async releaseLane(lane: SendLane, nowMs: number): Promise<void> {
    await this.#change(lane, () => ({ owner: '', claimed_until_ms: nowMs }));
  }

  /**
   * Says that a lane has nothing under way; false when a send came in since the version was read, or it is another's.
   */
  async closeLane(lane: SendLane, known: number): Promise<boolean> {
    const closed = { owner: '', claimed_until_ms: 0, is_active: 0 };
    return await this.#change(lane, ({ version }) => (version === known ? closed : undefined));
  }

  /** Gives back all lanes that an owner has. */
  async releaseOwner(owner: string, nowMs: number): Promise<void> {
    const held = sql`is_active = 1 AND owner = ${owner}`;
    await this.#giveBack(held, (row) => (row.owner === owner ? { owner: '', claimed_until_ms: nowMs } : undefined));
  }

  /** Ends the claims of processes that are gone; for a database that has one process at a time. */
  async releaseAllLanes(): Promise<void> {
    await this.#giveBack(sql`owner <> ''`, () => ({ owner: '', claimed_until_ms: 0 }));
  }

  /** One that is not genuine stays as it is. */
  async #giveBack(held: RawBuilder<unknown>, change: LaneChange): Promise<void> {
    const { rows } = await sql<{ caip2: string; lane: string }>`SELECT /* partial: what is chosen is then read whole */
      caip2, lane FROM chain_lane WHERE ${held} ORDER BY caip2, lane`.execute(this.db);
    for (const { caip2, lane } of rows) {
      await isDone(() => amendOne(this.db, 'chain_lane', { caip2, lane }, change));
    }
  }

  /**
   * Writes down how far a send is, unless the lane is another process's by now, the send is erased or settled, or it is
   * no longer what the caller read: a decision about a waiting send must not be carried out twice.
   */
  async progress(
    { caip2, lane, epoch }: SendLane,
    read: Send,
    progress: SendProgress,
    nowMs: number,
  ): Promise<ProgressOutcome> {
    const key = { organization_id: read.organizationId, id: read.id };
    const [held, send] = await together([
      hold(this.db, 'chain_lane', { caip2, lane }),
      hold(this.db, 'chain_send', key),
    ]);
    if (held?.epoch !== epoch) return 'lane-lost';
    if (send?.is_open !== 1) return 'send-gone';
    if (!isAsRead(send, read)) return 'send-changed';
    await amendOne(this.db, 'chain_send', key, () => ({ ...toProgress(progress), updated_at_ms: nowMs }));
    return 'written';
  }

  async delete({ organizationId, id }: Pick<Send, 'organizationId' | 'id'>): Promise<void> {
    await this.db.deleteFrom('chain_send').where('organization_id', '=', organizationId).where('id', '=', id).execute();
  }

  /** In the place of one that was there before: it is genuine then, whatever that was. */
  async insertOperatorKey({ caip2, address, publicKey, sealedKey, createdAtMs }: OperatorKey): Promise<void> {
    const row = { caip2, address, public_key: publicKey, sealed_key: sealedKey, created_at_ms: createdAtMs };
    await putOperatorKeys(this.db, [row]);
  }

  /** Changes a lane that is held; false when it is another's, or is left as it is. */
  async #change({ caip2, lane, epoch }: SendLane, change: LaneChange): Promise<boolean> {
    let isChanged = false;
    await amendOne(this.db, 'chain_lane', { caip2, lane }, (row) => {
      const changes = row.epoch === epoch ? change(row) : undefined;
      isChanged = changes !== undefined;
      return changes;
    });
    return isChanged;
  }
}
