import type { ActivityId, OrganizationId } from '../../lib/ids.ts';
import { insertion } from '../../storage/statement.ts';
import { Reader } from '../../storage/store.ts';
import { type Swept, sweepExpired } from '../../storage/sweep.ts';

/** The secret part of a result, which only the credential that proposed the activity may see. */
export interface SealedResult {
  readonly sealed: Uint8Array;
  readonly expiresAtMs: number;
  readonly shownAtMs: number | undefined;
}

const EXPIRING: Swept = { table: 'sealed_result', key: 'activity_id', expiry: 'expires_at_ms' };

const insertResults = insertion('sealed-result-insert', 'sealed_result', [
  'organization_id',
  'activity_id',
  'sealed_result',
  'expires_at_ms',
  'shown_at_ms',
]);

export class SealedResultReader extends Reader {
  /** Undefined where there is none, or where it has expired. */
  async find(organizationId: OrganizationId, activityId: string, nowMs: number): Promise<SealedResult | undefined> {
    const row = await this.db
      .selectFrom('sealed_result')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('activity_id', '=', activityId)
      .where('expires_at_ms', '>', nowMs)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    return { sealed: row.sealed_result, expiresAtMs: row.expires_at_ms, shownAtMs: row.shown_at_ms ?? undefined };
  }
}

export class SealedResultStore extends SealedResultReader {
  static readonly writes = true;

  async insert(
    organizationId: OrganizationId,
    activityId: ActivityId,
    { sealed, expiresAtMs, shownAtMs }: SealedResult,
    nowMs: number,
  ): Promise<void> {
    await sweepExpired(this.db, this.kind, EXPIRING, organizationId, nowMs);
    const row = {
      organization_id: organizationId,
      activity_id: activityId,
      sealed_result: sealed,
      expires_at_ms: expiresAtMs,
      shown_at_ms: shownAtMs ?? null,
    };
    await insertResults(this.db, [row]);
  }

  /** Notes that it is shown for the first time; it can be shown again until `untilMs` at the latest. */
  async markShown(organizationId: OrganizationId, activityId: string, nowMs: number, untilMs: number): Promise<void> {
    await this.db
      .updateTable('sealed_result')
      .set((eb) => ({
        shown_at_ms: nowMs,
        expires_at_ms: eb.case().when('expires_at_ms', '>', untilMs).then(untilMs).else(eb.ref('expires_at_ms')).end(),
      }))
      .where('organization_id', '=', organizationId)
      .where('activity_id', '=', activityId)
      .where('shown_at_ms', 'is', null)
      .execute();
  }
}
