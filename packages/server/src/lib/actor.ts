import type { OrganizationId, UserId } from './ids.ts';
import type { ApiKey, Authenticator, Organization, User } from './model.ts';

/** The credential that stamped a request. */
export type Credential =
  | { readonly kind: 'api-key'; readonly apiKey: ApiKey }
  | { readonly kind: 'passkey'; readonly authenticator: Authenticator }
  | { readonly kind: 'read-session' };

/** Who asks, and where. */
export interface Actor {
  /** The organization that the request acts on. */
  readonly organization: Organization;
  readonly organizationId: OrganizationId;
  readonly user: User;
  readonly userId: UserId;
  readonly credential: Credential;
  /** The organization of the user: the one acted on, or its parent. */
  readonly homeId: OrganizationId;
}

/** The public key that stamped the request, if an API key did. */
export const publicKeyOf = ({ credential }: Actor): string | undefined =>
  credential.kind === 'api-key' ? credential.apiKey.publicKey : undefined;

/** The profile of the session that stamped the request, if it has one. */
export const sessionProfileIdOf = ({ credential }: Actor): string | undefined =>
  credential.kind === 'api-key' ? credential.apiKey.sessionProfileId : undefined;
