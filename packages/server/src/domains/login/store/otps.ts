import type { Selectable } from 'kysely';
import type { OtpType } from '../../../core/contact.ts';
import type { OrganizationId, OtpId, UserId } from '../../../lib/ids.ts';
import { findRow } from '../../../storage/organization-rows.ts';
import { Reader } from '../../../storage/store.ts';
import { sweepExpired } from '../../../storage/sweep.ts';
import type { Otp } from '../model.ts';
import type { OtpTable } from '../tables.ts';

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

const EXPIRING = { table: 'otp', key: 'id', expiry: 'expires_at_ms' } as const;

/** One-time codes. */
export class OtpReader extends Reader {
  async findOtp(organizationId: OrganizationId, otpId: string): Promise<Otp | undefined> {
    const row = await findRow(this.db, 'otp', organizationId, otpId);
    return row && toOtp(row);
  }
}

export interface NewOtp extends Otp {
  readonly contactKey: string;
  readonly attempts: number;
}

export class OtpStore extends OtpReader {
  static readonly writes = true;

  /** Adds a code; of those of its contact only the newest `keep` stay alive. */
  async insertOtp(organizationId: OrganizationId, otp: NewOtp, keep: number): Promise<void> {
    await sweepExpired(this.db, this.kind, EXPIRING, organizationId, otp.createdAtMs);
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
}
