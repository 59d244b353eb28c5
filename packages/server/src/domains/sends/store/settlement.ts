import { sql } from 'kysely';
import type { Send, SendLane, SendLaneName, SendProgress } from '../../../chains/send/model.ts';
import { amendOne } from '../../../storage/integrity/amend.ts';
import { insertion } from '../../../storage/statement.ts';
import { Reader } from '../../../storage/store.ts';
import { genuineSends, isAsRead, type SendKey, toProgress } from './send-rows.ts';

/** Rows that are read together: each may have megabytes of attempts. */
const READ_AT_ONCE = 64;

/**
 * Not final: under way, or held. A held one is neither under way nor over, so that no lane reads it: what became of it before
 * a restore is not known (docs/guides/disaster-recovery.md#how-sends-are-judged).
 */
const HELD = sql`is_open = 0 AND state IN ('INITIALIZED', 'BROADCASTING')`;

/** Whether a settlement holds a send until somebody decides. */
export const isHeld = ({ isOpen, state }: Pick<Send, 'isOpen' | 'state'>): boolean =>
  !isOpen && (state === 'INITIALIZED' || state === 'BROADCASTING');

export interface UnsettledSends {
  readonly sends: readonly Send[];
  /** Ids of rows that are not what the service wrote: nothing is settled for them. */
  readonly altered: readonly string[];
}

/** Sends of which a restored database does not know what became of them. */
export class SettlementReader extends Reader {
  async lanes(): Promise<SendLaneName[]> {
    const { rows } = await sql<SendLaneName>`SELECT /* partial: what is chosen is then read whole */ caip2, lane
      FROM chain_send WHERE is_open = 1
      UNION SELECT caip2, lane FROM chain_send WHERE ${HELD}
      ORDER BY caip2, lane`.execute(this.db);
    return rows;
  }

  /** In the order in which they would leave. */
  async ofLane({ caip2, lane }: SendLaneName): Promise<UnsettledSends> {
    const { rows } = await sql<SendKey>`SELECT /* partial: what is chosen is then read whole */ organization_id, id
      FROM chain_send WHERE caip2 = ${caip2} AND lane = ${lane} AND (is_open = 1 OR (${HELD})) ORDER BY id`.execute(
      this.db,
    );
    const { sends, altered } = await genuineSends(this.db, rows, READ_AT_ONCE);
    return { sends, altered: altered.map(({ id }) => id) };
  }

  /** Of whichever organization; undefined also where somebody else wrote it. */
  async withId(id: string): Promise<Send | undefined> {
    const { rows } = await sql<SendKey>`SELECT /* partial: what is chosen is then read whole */ organization_id, id
      FROM chain_send WHERE id = ${id}`.execute(this.db);
    return (await genuineSends(this.db, rows)).sends[0];
  }

  /** Sends that wait for one that is held: they would keep what is behind them in their lane. */
  async behindHeld(): Promise<readonly Send[]> {
    const { rows } = await sql<SendKey>`SELECT /* partial: what is chosen is then read whole */ organization_id, id
      FROM chain_send AS send WHERE is_open = 1 AND state = 'INITIALIZED' AND after_id IS NOT NULL AND EXISTS (
        SELECT 1 FROM chain_send AS before WHERE before.organization_id = send.organization_id
          AND before.id = send.after_id AND before.is_open = 0 AND before.state IN ('INITIALIZED', 'BROADCASTING'))
      ORDER BY id`.execute(this.db);
    return (await genuineSends(this.db, rows)).sends;
  }
}

const insertLanes = insertion('chain-lane-settle', 'chain_lane', [
  'caip2',
  'lane',
  'is_active',
  'version',
  'owner',
  'epoch',
  'claimed_until_ms',
]);

export class SettlementStore extends SettlementReader {
  static readonly writes = true;

  /** Takes a lane from whichever process works on it, and leaves it to the next: what the former still writes is refused. */
  async seize({ caip2, lane }: SendLaneName): Promise<SendLane> {
    let epoch = 1;
    const free = { is_active: 1, owner: '', claimed_until_ms: 0 };
    const row = await amendOne(this.db, 'chain_lane', { caip2, lane }, (before) => {
      epoch = before.epoch + 1;
      return { ...free, version: before.version + 1, epoch };
    });
    if (row === undefined) await insertLanes(this.db, [{ caip2, lane, version: 1, epoch, ...free }]);
    return { caip2, lane, epoch };
  }

  /** False where it is not as it was reviewed any more. */
  async settle(reviewed: Send, progress: SendProgress, createdAtMs: number, nowMs: number): Promise<boolean> {
    const key = { organization_id: reviewed.organizationId, id: reviewed.id };
    let isSame = false;
    await amendOne(this.db, 'chain_send', key, (row) => {
      isSame = isAsRead(row, reviewed);
      return isSame ? { ...toProgress(progress), created_at_ms: createdAtMs, updated_at_ms: nowMs } : undefined;
    });
    return isSame;
  }
}
