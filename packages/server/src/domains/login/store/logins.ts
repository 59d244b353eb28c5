import { type Selectable, sql } from 'kysely';
import type { OrganizationId, OtpId, UserId } from '../../../lib/ids.ts';
import { findRow } from '../../../storage/organization-rows.ts';
import type { OtpTable } from '../../../storage/schema.ts';
import { Reader } from '../../../storage/store.ts';
import { sweepExpired } from '../../../storage/sweep.ts';
import type { Otp, OtpType } from '../model.ts';

const toOtp = (row: Selectable<OtpTable>): Otp => ({
  id: row.id as OtpId,
  type: row.type as OtpType,
  contact: row.contact,
  userId: (row.user_id as UserId | null) ?? undefined,
  isEncrypted: row.is_encrypted === 1,
  sealedOtp: row.sealed_otp,
  expiresAtMs: row.expires_at_ms,
  createdAtMs: row.created_at_ms,
});

const EXPIRING = {
  otp: { table: 'otp', key: 'id', expiry: 'expires_at_ms' },
  rate_window: { table: 'rate_window', key: 'name', expiry: 'stale_at_ms' },
  used_token: { table: 'used_token', key: 'token_id', expiry: 'expires_at_ms' },
} as const;

/** How often something happened up to a moment. */
type Happened = readonly [untilMs: number, count: number];

export interface CountKey {
  readonly organizationId: OrganizationId;
  readonly name: string;
}

/** Up to this limit every time is kept; beyond it, times are counted together in slices of the window. */
const EXACT_MAX = 100;
const SLICES = 64;
/** The longest window that anybody counts in. */
const WINDOW_MS_MAX = 24 * 60 * 60 * 1000;

/** Slices end later than what they count, so that nothing is forgotten too early. */
function withMore(times: readonly Happened[], more: number, nowMs: number, sliceMs: number): Happened[] {
  const last = times.at(-1);
  if (last !== undefined && last[0] >= nowMs && sliceMs > 0) return [...times.slice(0, -1), [last[0], last[1] + more]];
  return [...times, [nowMs + Math.ceil(sliceMs), more]];
}

const latestOf = (times: readonly Happened[]): number => Math.max(0, ...times.map(([untilMs]) => untilMs));

/** One-time codes, what tokens were used for, and how often something happened lately. */
export class LoginReader extends Reader {
  async findOtp(organizationId: OrganizationId, otpId: string): Promise<Otp | undefined> {
    const row = await findRow(this.db, 'otp', organizationId, otpId);
    return row && toOtp(row);
  }

  /**
   * Counts of any organization behind one of them, in the order of their keys, and the last moment that they count at.
   */
  async countsBehind(last: CountKey | undefined, limit: number): Promise<(CountKey & { readonly latestMs: number })[]> {
    const behind = last && sql`WHERE (organization_id, name) > (${last.organizationId}, ${last.name})`;
    const { rows } = await sql<CountKey & { times: string }>`SELECT organization_id AS "organizationId", name, times
      FROM rate_window ${behind ?? sql``} ORDER BY organization_id, name LIMIT ${limit}`.execute(this.db);
    return rows.map(({ times, ...key }) => ({ ...key, latestMs: latestOf(JSON.parse(times)) }));
  }

  protected async times(organizationId: OrganizationId, name: string): Promise<Happened[]> {
    const row = await this.db
      .selectFrom('rate_window')
      .select('times')
      .where('organization_id', '=', organizationId)
      .where('name', '=', name)
      .executeTakeFirst();
    return row === undefined ? [] : (JSON.parse(row.times) as Happened[]);
  }

  async isUsed(organizationId: OrganizationId, tokenId: string, purpose: string): Promise<boolean> {
    const row = await this.db
      .selectFrom('used_token')
      .select('token_id')
      .where('organization_id', '=', organizationId)
      .where('token_id', '=', tokenId)
      .where('purpose', '=', purpose)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Whether a token was used, for whatever purpose. */
  async isUsedAtAll(organizationId: OrganizationId, tokenId: string): Promise<boolean> {
    const row = await this.db
      .selectFrom('used_token')
      .select('token_id')
      .where('organization_id', '=', organizationId)
      .where('token_id', '=', tokenId)
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  }
}

export interface NewOtp extends Otp {
  readonly contactKey: string;
  readonly attempts: number;
}

export class LoginStore extends LoginReader {
  static readonly writes = true;

  /** Adds a code; of those of its contact only the newest `keep` stay alive. */
  async insertOtp(organizationId: OrganizationId, otp: NewOtp, keep: number): Promise<void> {
    await sweepExpired(this.db, this.kind, EXPIRING.otp, organizationId, otp.createdAtMs);
    const older = await this.db
      .selectFrom('otp')
      .select('id')
      .where('organization_id', '=', organizationId)
      .where('contact_key', '=', otp.contactKey)
      .orderBy('id', 'desc')
      .execute();
    const surplus = older.slice(keep - 1).map((row) => row.id);
    if (surplus.length > 0) {
      await this.db
        .deleteFrom('otp')
        .where('organization_id', '=', organizationId)
        .where('id', 'in', surplus)
        .execute();
    }
    await this.db
      .insertInto('otp')
      .values({
        organization_id: organizationId,
        id: otp.id,
        type: otp.type,
        contact: otp.contact,
        contact_key: otp.contactKey,
        user_id: otp.userId ?? null,
        is_encrypted: otp.isEncrypted ? 1 : 0,
        sealed_otp: otp.sealedOtp,
        attempts_left: otp.attempts,
        expires_at_ms: otp.expiresAtMs,
        created_at_ms: otp.createdAtMs,
      })
      .execute();
  }

  /** Takes one attempt, if the code is alive and has one left. One statement, so that no two take the same. */
  async takeAttempt(organizationId: OrganizationId, otpId: string, nowMs: number): Promise<boolean> {
    const taken = await this.db
      .updateTable('otp')
      .set((eb) => ({ attempts_left: eb('attempts_left', '-', 1) }))
      .where('organization_id', '=', organizationId)
      .where('id', '=', otpId)
      .where('attempts_left', '>', 0)
      .where('expires_at_ms', '>', nowMs)
      .executeTakeFirst();
    return taken.numUpdatedRows === 1n;
  }

  /** True if the code was still there: it is used once. */
  async takeOtp(organizationId: OrganizationId, otpId: string): Promise<boolean> {
    const taken = await this.db
      .deleteFrom('otp')
      .where('organization_id', '=', organizationId)
      .where('id', '=', otpId)
      .executeTakeFirst();
    return taken.numDeletedRows === 1n;
  }

  /**
   * Counts one more, or `more`, unless it would then have happened above `max` times within the window; answers whether
   * it was counted. The row is held until the transaction ends, so that parallel ones count one after the other on any
   * number of processes.
   */
  async countUp(
    organizationId: OrganizationId,
    name: string,
    {
      max,
      windowMs,
      nowMs,
      more = 1,
    }: { readonly max: number; readonly windowMs: number; readonly nowMs: number; readonly more?: number },
  ): Promise<boolean> {
    await this.db
      .insertInto('rate_window')
      .values({ organization_id: organizationId, name, times: '[]', stale_at_ms: nowMs + windowMs })
      .onConflict((conflict) =>
        conflict.columns(['organization_id', 'name']).doUpdateSet({ stale_at_ms: nowMs + windowMs }),
      )
      .execute();
    const recent = (await this.times(organizationId, name)).filter(([untilMs]) => untilMs > nowMs - windowMs);
    if (recent.reduce((sum, [, count]) => sum + count, more) > max) return false;
    await this.db
      .updateTable('rate_window')
      .set({ times: JSON.stringify(withMore(recent, more, nowMs, max > EXACT_MAX ? windowMs / SLICES : 0)) })
      .where('organization_id', '=', organizationId)
      .where('name', '=', name)
      .execute();
    return true;
  }

  /** Forgets counts that have become stale. The last thing to do: it holds rows that others may want. */
  async sweepCounts(organizationId: OrganizationId, nowMs: number): Promise<void> {
    await sweepExpired(this.db, this.kind, EXPIRING.rate_window, organizationId, nowMs);
  }

  /** Moves what was counted after `afterMs` back to now: it is forgotten when the window from now is over. */
  async moveBack({ organizationId, name }: CountKey, afterMs: number, nowMs: number): Promise<void> {
    const times = await this.#heldTimes(organizationId, name);
    if (latestOf(times) <= afterMs) return;
    const moved = times.map(([untilMs, count]): Happened => [untilMs > afterMs ? nowMs : untilMs, count]);
    await this.db
      .updateTable('rate_window')
      .set({ times: JSON.stringify(moved), stale_at_ms: nowMs + WINDOW_MS_MAX })
      .where('organization_id', '=', organizationId)
      .where('name', '=', name)
      .execute();
  }

  /** Takes the newest count back. */
  async countDown(organizationId: OrganizationId, name: string): Promise<void> {
    const times = await this.#heldTimes(organizationId, name);
    const last = times.at(-1);
    if (last === undefined) return;
    const [untilMs, count] = last;
    const kept = [...times.slice(0, -1), ...(count > 1 ? [[untilMs, count - 1]] : [])];
    await this.db
      .updateTable('rate_window')
      .set({ times: JSON.stringify(kept) })
      .where('organization_id', '=', organizationId)
      .where('name', '=', name)
      .execute();
  }

  /** Nobody else counts until the transaction ends. */
  async #heldTimes(organizationId: OrganizationId, name: string): Promise<Happened[]> {
    const lock = this.kind === 'postgres' ? sql`FOR UPDATE` : sql``;
    await sql`SELECT name FROM rate_window WHERE organization_id = ${organizationId} AND name = ${name} ${lock}`.execute(
      this.db,
    );
    return await this.times(organizationId, name);
  }

  /** Notes what a token was used for; false if it was used for that before. */
  async useToken(
    organizationId: OrganizationId,
    token: {
      readonly tokenId: string;
      readonly purpose: string;
      readonly activityId: string;
      readonly expiresAtMs: number;
    },
    nowMs: number,
  ): Promise<boolean> {
    await sweepExpired(this.db, this.kind, EXPIRING.used_token, organizationId, nowMs);
    const inserted = await this.db
      .insertInto('used_token')
      .values({
        organization_id: organizationId,
        token_id: token.tokenId,
        purpose: token.purpose,
        activity_id: token.activityId,
        expires_at_ms: token.expiresAtMs,
      })
      .onConflict((conflict) => conflict.columns(['organization_id', 'token_id', 'purpose']).doNothing())
      .executeTakeFirst();
    return inserted.numInsertedOrUpdatedRows === 1n;
  }

  async insertReadSession(
    organizationId: OrganizationId,
    session: { readonly tokenHash: string; readonly userId: UserId; readonly expiresAtMs: number },
    nowMs: number,
  ): Promise<void> {
    await this.db
      .deleteFrom('read_session')
      .where('organization_id', '=', organizationId)
      .where('user_id', '=', session.userId)
      .where('expires_at_ms', '<=', nowMs)
      .execute();
    await this.db
      .insertInto('read_session')
      .values({
        organization_id: organizationId,
        token_hash: session.tokenHash,
        user_id: session.userId,
        expires_at_ms: session.expiresAtMs,
      })
      .execute();
  }
}
