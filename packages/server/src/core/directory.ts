import type { ActivityId, OrganizationId } from '../lib/ids.ts';
import type {
  ApiKey,
  ApiKeyType,
  Authenticator,
  MemberRecord,
  OauthIdentity,
  OauthProvider,
  Organization,
  User,
} from './model.ts';

// What authentication and decisions read of users and their credentials. The domain that owns the tables provides each.

export abstract class Users {
  abstract find(organizationId: OrganizationId, userId: string): Promise<User | undefined>;
  abstract byContact(
    organizationId: OrganizationId,
    contact: 'email' | 'phone',
    value: string,
  ): Promise<User | undefined>;
  abstract members(organizationId: OrganizationId, userIds: readonly string[]): Promise<MemberRecord[]>;
}

export interface MemberQuery {
  readonly userIds: readonly string[];
  readonly tagIds: readonly string[];
  readonly emails: readonly string[];
  readonly aliases: readonly string[];
  readonly credentialIds: readonly string[];
  readonly passkeyIds: readonly string[];
  readonly publicKeys: readonly string[];
  readonly credentialTypes: readonly string[];
  /** How many further users, whoever they are. */
  readonly others: number;
}

/** Users by what consensus expressions name them by. */
export abstract class Members {
  abstract byIds(organizationId: OrganizationId, userIds: readonly string[]): Promise<MemberRecord[]>;
  abstract find(organizationId: OrganizationId, query: MemberQuery): Promise<MemberRecord[]>;
}

/** Who users are to OpenID issuers. */
export abstract class Identities {
  abstract findProvider(organizationId: OrganizationId, identity: OauthIdentity): Promise<OauthProvider | undefined>;
  abstract providersOfUser(organizationId: OrganizationId, userId: string): Promise<OauthProvider[]>;
  abstract hasProvider(organizationId: OrganizationId, providerId: string): Promise<boolean>;
}

export type CredentialTable = 'api_key' | 'authenticator';

export interface ApiKeyPlace {
  readonly organizationId: OrganizationId;
  readonly id: string;
}

export abstract class Credentials {
  abstract exists(table: CredentialTable, organizationId: OrganizationId, id: string): Promise<boolean>;
  /** Those of the API keys that are there, with when each ends, if it does; in one statement. */
  abstract apiKeyEnds(keys: readonly ApiKeyPlace[]): Promise<ReadonlyMap<string, number | undefined>>;
  /** Whether one of the users has a key of these types that is alive after a moment. */
  abstract someHaveLasting(
    organizationId: OrganizationId,
    userIds: readonly string[],
    types: readonly ApiKeyType[],
    untilMs: number,
  ): Promise<boolean>;
}

/** A credential and whose it is. */
export interface CredentialPlace {
  readonly organizationId: OrganizationId;
  readonly userId: string;
  readonly id: string;
}

/** A moment at which a credential stamped, or a user by any credential. */
export interface LastUse {
  readonly organizationId: OrganizationId;
  /** Undefined for what has no id of its own, such as a read-only session. */
  readonly credentialId: string | undefined;
  readonly userId: string;
  readonly atMs: number;
}

/** Traces that a request leaves on the credential that stamped it. */
export abstract class CredentialUses {
  static readonly writes = true;

  /** Raises the moments of last use of these credentials and of their users. */
  abstract noteLastUses(uses: readonly LastUse[]): Promise<void>;

  abstract markUsed(table: CredentialTable, place: CredentialPlace, nowMs: number): Promise<void>;
  abstract raiseSignCount(place: CredentialPlace, signCount: number): Promise<void>;
}

/** Everything that authenticating a request needs, loaded by one statement. */
export interface Principal<Credential> {
  readonly organization: Organization;
  /** The activity that already carries this request's fingerprint. */
  readonly activityId: ActivityId | undefined;
  readonly holder:
    | { readonly organizationId: OrganizationId; readonly credential: Credential; readonly user: User }
    | undefined;
}

export abstract class Principals {
  abstract byApiKey(
    organizationId: OrganizationId,
    publicKey: string,
    fingerprint: string,
  ): Promise<Principal<ApiKey> | undefined>;
  /** The same for a key that counts only as one of the tree's root, whoever else has registered it. */
  abstract byKeyOfTreeRoot(
    organizationId: OrganizationId,
    publicKey: string,
    fingerprint: string,
  ): Promise<Principal<ApiKey> | undefined>;
  abstract byAuthenticator(
    organizationId: OrganizationId,
    credentialId: string,
    fingerprint: string,
  ): Promise<Principal<Authenticator> | undefined>;
  abstract byReadSession(
    organizationId: OrganizationId,
    tokenHash: string,
  ): Promise<{ readonly user: User; readonly expiresAtMs: number } | undefined>;
}
