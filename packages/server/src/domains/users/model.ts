import type { ApiKey, Authenticator, MfaPolicy, OauthIdentity, User } from '../../core/model.ts';
import type { OauthProviderId, TagId, UserId } from '../../lib/ids.ts';

/** A user with what decisions read of it. */
export interface MemberRecord {
  readonly id: UserId;
  readonly user: User;
  readonly apiKeys: readonly ApiKey[];
  readonly authenticators: readonly Authenticator[];
  readonly tagIds: readonly TagId[];
}

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

export interface OauthProvider extends OauthIdentity {
  readonly id: OauthProviderId;
  readonly userId: UserId;
  readonly name: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}
