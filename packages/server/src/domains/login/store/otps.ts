import type { Selectable } from 'kysely';
import type { OtpType } from '../../../core/contact.ts';
import type { OrganizationId, OtpId, UserId } from '../../../lib/ids.ts';
import { amendOne, release } from '../../../storage/integrity/amend.ts';
import { partial } from '../../../storage/integrity/partial.ts';
import { findRow } from '../../../storage/organization-rows.ts';
import { change, insertion, statement } from '../../../storage/statement.ts';
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

interface Code extends Record<string, unknown> {
  readonly organizationId: string;
  readonly id: string;
}
const codesOfContact = statement(
  'otp-of-contact',
  (db, { organizationId, contactKey }: { readonly organizationId: string; readonly contactKey: string }) =>
    db
      .selectFrom('otp')
      .modifyFront(partial('ids of codes to be deleted'))
      .select('id')
      .where('organization_id', '=', organizationId)
      .where('contact_key', '=', contactKey)
      .orderBy('id', 'desc'),
);
const insertCodes = insertion('otp-insert', 'otp', [
  'organization_id',
  'id',
  'type',
  'contact',
  'contact_key',
  'user_id',
  'is_encrypted',
  'sealed_otp',
  'attempts_left',
  'expires_at_ms',
  'created_at_ms',
]);
const deleteCode = change('otp-delete', (db, { organizationId, id }: Code) =>
  db.deleteFrom('otp').where('organization_id', '=', organizationId).where('id', '=', id),
);

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
    const older = await codesOfContact(this.db, { organizationId, contactKey: otp.contactKey });
    const surplus = older.slice(keep - 1).map((row) => row.id);
    if (surplus.length > 0) {
      await this.db
        .deleteFrom('otp')
        .where('organization_id', '=', organizationId)
        .where('id', 'in', surplus)
        .execute();
    }
    await insertCodes(this.db, [
      {
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
      },
    ]);
  }

  /** Takes one attempt, if the code is alive and has one left. The row is held, so that no two take the same one. */
  async takeAttempt(organizationId: OrganizationId, otpId: string, nowMs: number): Promise<boolean> {
    let isTaken = false;
    await amendOne(this.db, 'otp', { organization_id: organizationId, id: otpId }, (otp) => {
      isTaken = otp.attempts_left > 0 && otp.expires_at_ms > nowMs;
      return isTaken ? { attempts_left: otp.attempts_left - 1 } : undefined;
    });
    return isTaken;
  }

  /** True if the code was still there: it is used once. */
  async takeOtp(organizationId: OrganizationId, otpId: string): Promise<boolean> {
    release(this.db, 'otp');
    return (await deleteCode(this.db, { organizationId, id: otpId })) === 1;
  }
}
