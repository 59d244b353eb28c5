import { sql } from 'kysely';
import type { ActivityId, OrganizationId } from '../../lib/ids.ts';
import { partial } from '../../storage/integrity/partial.ts';
import { Reader } from '../../storage/store.ts';
import { SHOWN_BYTES } from './activity-reader.ts';

/** An activity that waits, by what lists put in order. */
export interface OpenActivity {
  readonly id: ActivityId;
  readonly roundStartedAtMs: number;
  readonly updatedAtMs: number;
  /** How many bytes it has as it is shown. */
  readonly bytes: number;
}

/** Where an open activity stands among the others. */
export interface OpenPlace {
  readonly roundStartedAtMs: number;
  readonly id: string;
}

export interface OpenRange {
  /** Rounds that started then or before have lapsed; they come after all others. */
  readonly lapsedUntilMs: number;
  /** Only what comes behind this place, or before it when `isBackwards`. */
  readonly from?: OpenPlace | undefined;
  readonly isBackwards: boolean;
  readonly limit: number;
}

type Part = 'running' | 'lapsed';

/** The activities that wait for votes or proofs, least time left first. */
export class OpenActivityReader extends Reader {
  /** In the order in which they are looked at. */
  async list(organizationId: OrganizationId, range: OpenRange): Promise<OpenActivity[]> {
    const { lapsedUntilMs, from, isBackwards, limit } = range;
    const order: readonly Part[] = isBackwards ? ['lapsed', 'running'] : ['running', 'lapsed'];
    const start: Part = from === undefined ? 'running' : from.roundStartedAtMs > lapsedUntilMs ? 'running' : 'lapsed';
    const parts = order.slice(from === undefined ? 0 : order.indexOf(start));
    const found: OpenActivity[] = [];
    for (const part of parts) {
      if (found.length === limit) break;
      const place = part === start ? from : undefined;
      found.push(...(await this.#part(organizationId, part, { ...range, from: place, limit: limit - found.length })));
    }
    return found;
  }

  /** Whether an activity of the organization stands, or stood, at a place. */
  async hasPlace(organizationId: OrganizationId, { id }: OpenPlace): Promise<boolean> {
    const row = await this.db
      .selectFrom('activity')
      .modifyFront(partial('a cursor'))
      .select('id')
      .where('organization_id', '=', organizationId)
      .where('id', '=', id)
      .executeTakeFirst();
    return row !== undefined;
  }

  async #part(organizationId: OrganizationId, part: Part, range: OpenRange): Promise<OpenActivity[]> {
    const { lapsedUntilMs, from, isBackwards, limit } = range;
    const direction = isBackwards ? 'desc' : 'asc';
    let query = this.db
      .selectFrom('activity')
      .modifyFront(partial('ids and sizes of a list'))
      .select(['id', 'round_started_at_ms', 'updated_at_ms', SHOWN_BYTES.as('bytes')])
      .where('organization_id', '=', organizationId)
      // Written out, as the partial index has it.
      .where(sql<boolean>`status IN ('ACTIVITY_STATUS_CONSENSUS_NEEDED', 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED')`)
      .where('round_started_at_ms', part === 'running' ? '>' : '<=', lapsedUntilMs);
    if (from !== undefined) {
      const { roundStartedAtMs, id } = from;
      query = query.where(
        isBackwards
          ? sql<boolean>`(round_started_at_ms, id) < (${roundStartedAtMs}, ${id})`
          : sql<boolean>`(round_started_at_ms, id) > (${roundStartedAtMs}, ${id})`,
      );
    }
    const rows = await query.orderBy('round_started_at_ms', direction).orderBy('id', direction).limit(limit).execute();
    return rows.map((row) => ({
      id: row.id as ActivityId,
      roundStartedAtMs: row.round_started_at_ms,
      updatedAtMs: row.updated_at_ms,
      bytes: Number(row.bytes),
    }));
  }
}
