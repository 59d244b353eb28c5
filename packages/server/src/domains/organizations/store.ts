import type { Selectable } from 'kysely';
import { ApiError } from '../../lib/errors.ts';
import type { InvitationId, OrganizationId, TagId, UserId } from '../../lib/ids.ts';
import type { Page, PageRequest } from '../../lib/pagination.ts';
import { amendOne } from '../../storage/integrity/amend.ts';
import { partial } from '../../storage/integrity/partial.ts';
import { pageOfRows } from '../../storage/organization-rows.ts';
import { insertion } from '../../storage/statement.ts';
import { Reader } from '../../storage/store.ts';
import type { Invitation } from './model.ts';
import type { InvitationTable } from './tables.ts';

const toInvitation = (row: Selectable<InvitationTable>): Invitation => ({
  id: row.id as InvitationId,
  receiverUserName: row.receiver_user_name,
  receiverEmail: row.receiver_email,
  receiverUserTags: JSON.parse(row.receiver_user_tags) as TagId[],
  accessType: row.access_type,
  status: row.status as Invitation['status'],
  senderUserId: row.sender_user_id as UserId,
  link:
    row.secret_hash === null || row.expires_at_ms === null
      ? undefined
      : { secretHash: row.secret_hash, expiresAtMs: row.expires_at_ms },
  createdAtMs: row.created_at_ms,
  updatedAtMs: row.updated_at_ms,
});

const insertInvitations = insertion('invitation-insert', 'invitation', [
  'organization_id',
  'id',
  'receiver_user_name',
  'receiver_email',
  'receiver_user_tags',
  'access_type',
  'status',
  'sender_user_id',
  'secret_hash',
  'expires_at_ms',
  'created_at_ms',
  'updated_at_ms',
]);

export class InvitationReader extends Reader {
  async get(organizationId: OrganizationId, invitationId: string): Promise<Invitation> {
    const found = await this.find(organizationId, invitationId);
    if (found === undefined) throw new ApiError('RESOURCE_NOT_FOUND', 'invitation not found in this organization');
    return found;
  }

  async find(organizationId: OrganizationId, invitationId: string): Promise<Invitation | undefined> {
    const row = await this.db
      .selectFrom('invitation')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('id', '=', invitationId)
      .executeTakeFirst();
    return row === undefined ? undefined : toInvitation(row);
  }

  /** Newest first. */
  async page(organizationId: OrganizationId, request: PageRequest): Promise<Page<Invitation>> {
    return await pageOfRows(this.db, 'invitation', organizationId, request, (rows) => rows.map(toInvitation), {
      order: 'desc',
      large: ['receiver_user_tags'],
    });
  }

  async list(organizationId: OrganizationId, limit: number): Promise<Invitation[]> {
    const rows = await this.db
      .selectFrom('invitation')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .orderBy('id')
      .limit(limit)
      .execute();
    return rows.map(toInvitation);
  }

  /** Those that can still be accepted. */
  async countOpen(organizationId: OrganizationId, nowMs: number): Promise<number> {
    const row = await this.db
      .selectFrom('invitation')
      .modifyFront(partial('a count, which a limit is compared with'))
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('organization_id', '=', organizationId)
      .where('status', '=', 'INVITATION_STATUS_CREATED')
      .where((eb) => eb.or([eb('expires_at_ms', 'is', null), eb('expires_at_ms', '>', nowMs)]))
      .executeTakeFirstOrThrow();
    return row.count;
  }
}

export class InvitationStore extends InvitationReader {
  static readonly writes = true;

  async insert(organizationId: OrganizationId, invitations: readonly Invitation[]): Promise<void> {
    await insertInvitations(
      this.db,
      invitations.map((invitation) => ({
        organization_id: organizationId,
        id: invitation.id,
        receiver_user_name: invitation.receiverUserName,
        receiver_email: invitation.receiverEmail,
        receiver_user_tags: JSON.stringify(invitation.receiverUserTags),
        access_type: invitation.accessType,
        status: invitation.status,
        sender_user_id: invitation.senderUserId,
        secret_hash: invitation.link?.secretHash ?? null,
        expires_at_ms: invitation.link?.expiresAtMs ?? null,
        created_at_ms: invitation.createdAtMs,
        updated_at_ms: invitation.updatedAtMs,
      })),
    );
  }

  /** Ends an invitation that is open; false when somebody else has ended it. */
  async end(
    organizationId: OrganizationId,
    invitationId: string,
    status: Exclude<Invitation['status'], 'INVITATION_STATUS_CREATED'>,
    nowMs: number,
  ): Promise<boolean> {
    let isEnded = false;
    await amendOne(this.db, 'invitation', { organization_id: organizationId, id: invitationId }, (invitation) => {
      isEnded = invitation.status === 'INVITATION_STATUS_CREATED';
      return isEnded ? { status, updated_at_ms: nowMs } : undefined;
    });
    return isEnded;
  }
}
