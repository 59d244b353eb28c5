import type { InvitationId, TagId, UserId } from '../../lib/ids.ts';

export interface Invitation {
  readonly id: InvitationId;
  readonly receiverUserName: string;
  readonly receiverEmail: string;
  readonly receiverUserTags: readonly TagId[];
  readonly accessType: string;
  readonly status: 'INVITATION_STATUS_CREATED' | 'INVITATION_STATUS_ACCEPTED' | 'INVITATION_STATUS_REVOKED';
  readonly senderUserId: UserId;
  /** The link that opens it; undefined for what was made before there were links. */
  readonly link: { readonly secretHash: Uint8Array; readonly expiresAtMs: number } | undefined;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}
