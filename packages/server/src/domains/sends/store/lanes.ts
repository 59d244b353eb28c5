import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import type { SendLane, SendLaneName } from '../../../chains/send/model.ts';
import { inScope } from '../../../storage/fence-scope.ts';
import { amendOne } from '../../../storage/integrity/amend.ts';
import { isDone } from '../../../storage/integrity/apart.ts';
import { partial } from '../../../storage/integrity/partial.ts';
import type { Schema } from '../../../storage/schema.ts';
import { insertion } from '../../../storage/statement.ts';
import { Reader } from '../../../storage/store.ts';
import type { ChainLaneTable } from '../tables.ts';

const insertLanes = insertion(
  'chain-lane-insert',
  'chain_lane',
  ['caip2', 'lane', 'is_active', 'version', 'owner', 'epoch', 'claimed_until_ms'],
  (query) => query.onConflict((conflict) => conflict.doNothing()),
);

type LaneChange = (row: Selectable<ChainLaneTable>) => Partial<Selectable<ChainLaneTable>> | undefined;

/** Raises the version of a lane that a send comes into. Its row is locked until the end of the transaction. */
export async function enterLane(db: Kysely<Schema>, { caip2, lane }: SendLaneName): Promise<void> {
  const raise: LaneChange = ({ version, owner, claimed_until_ms }) => ({
    is_active: 1,
    version: version + 1,
    // Before the lanes that only wait for blocks to become final.
    claimed_until_ms: owner === '' ? 0 : claimed_until_ms,
  });
  if ((await amendOne(db, 'chain_lane', { caip2, lane }, raise)) !== undefined) return;
  const fresh = { is_active: 1, version: 1, owner: '', epoch: 0, claimed_until_ms: 0 };
  if ((await insertLanes(db, [{ caip2, lane, ...fresh }])) === 1) return;
  // Somebody else was faster.
  await amendOne(db, 'chain_lane', { caip2, lane }, raise);
}

/** Which process works on the sends of which paying address. */
export class LaneReader extends Reader {
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
}

export class LaneStore extends LaneReader {
  static readonly writes = true;

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
