import type { MemberRecord, MfaPolicy, OauthProvider } from '../../core/model.ts';
import type { TagId } from '../../lib/ids.ts';

/** A user with everything that its wire record shows. */
export interface UserRecord extends MemberRecord {
  readonly oauthProviders: readonly OauthProvider[];
  readonly mfaPolicies: readonly MfaPolicy[];
}

export interface Tag {
  readonly id: TagId;
  readonly type: 'TAG_TYPE_USER' | 'TAG_TYPE_PRIVATE_KEY';
  readonly name: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}
