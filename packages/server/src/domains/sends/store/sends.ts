import { type RawBuilder, sql } from 'kysely';
import type { Send, SendLane, SendLaneName, SendProgress } from '../../../chains/send/model.ts';
import type { SendState } from '../../../chains/settings.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { OrganizationId } from '../../../lib/ids.ts';
import { together } from '../../../lib/together.ts';
import { type Backlog, readBacklog } from '../../../storage/backlog.ts';
import { inScope } from '../../../storage/fence-scope.ts';
import { amendOne, hold } from '../../../storage/integrity/amend.ts';
import { partial } from '../../../storage/integrity/partial.ts';
import { deferredInsertion } from '../../../storage/statement.ts';
import { Reader } from '../../../storage/store.ts';
import { enterLane } from './lanes.ts';
import { fromSend, genuineSends, isAsRead, type SendKey, toProgress, toSend, wholeSends } from './send-rows.ts';

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

interface SendLength extends SendKey {
  readonly length: number;
}

/** Sends are chosen by what is not verified, and then read whole: of one that is not genuine only the choice was wrong. */
const CHOSEN = partial('what is chosen is then read whole');
const REFUSES = partial('what is found can only keep something from being sent');

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
  ): Promise<readonly Send[]> {
    const only = scope === undefined ? ALL : inScope(sql`chain_send.organization_id`, scope);
    const kinds: SendState[][] = [['BROADCASTING'], ['INCLUDED', 'FAILED']];
    const found = await Promise.all([
      held === undefined
        ? this.#lengths({ caip2, lane }, ['INITIALIZED'], limit, only)
        : this.#waiting({ caip2, lane }, limit, held, only),
      ...kinds.map((states) => this.#lengths({ caip2, lane }, states, limit, only)),
    ]);
    const wanted = found.flatMap(fitting);
    const sends = await this.#whole(wanted, held !== undefined);
    // Something is under way: who looked no further would close the lane.
    if (sends.length === 0) await wholeSends(this.db, wanted);
    return sends;
  }

  /** Those that are still there; where others share the lane without those that are not genuine. */
  async #whole(keys: readonly SendKey[], isShared: boolean): Promise<readonly Send[]> {
    return isShared ? (await genuineSends(this.db, keys)).sends : await wholeSends(this.db, keys);
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
      for (const { nonce, attempts } of await this.#whole(some, isShared)) {
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
      const newest = (await this.#whole(some, isShared)).findLast(({ attempts }) => attempts[0]?.nonce === nonce);
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
}

/** What became of something that was to be written down. */
export type ProgressOutcome = 'written' | 'lane-lost' | 'send-gone' | 'send-changed';

export class SendStore extends SendReader {
  static readonly writes = true;

  /** Puts a send at the end of its lane. The lane's row is locked until the end of the transaction. */
  async insert(send: Send): Promise<void> {
    await together([insertSends(this.db, [fromSend(send)]), enterLane(this.db, send)]);
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
}
