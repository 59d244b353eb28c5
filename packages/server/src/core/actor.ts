import type { OrganizationId, UserId } from '../lib/ids.ts';
import type { RemovalReason } from '../storage/tombstones.ts';
import type { ApiKey, AuthenticationMethod, Authenticator, Organization, User } from './model.ts';
import { treeRoot } from './model.ts';

/** The credential that stamped a request. */
export type Credential =
  | { readonly kind: 'api-key'; readonly apiKey: ApiKey }
  | { readonly kind: 'passkey'; readonly authenticator: Authenticator }
  | { readonly kind: 'attested'; readonly attested: AttestedKey }
  | { readonly kind: 'read-session' };

/** A key that nobody registered, with the token that says whose it is (protocol/stamps 5.1). */
export interface AttestedKey {
  readonly publicKey: string;
  /** What the token proves of its user. */
  readonly method: AuthenticationMethod;
  /** The token, as its uses are kept; undefined once its use is noted, since nobody has the token any more. */
  readonly token:
    | { readonly issuerId: OrganizationId; readonly tokenId: string; readonly expiresAtMs: number }
    | undefined;
  /** The contact that the token proves; undefined for an OAuth identity. */
  readonly contact: string | undefined;
  /** The OAuth provider by which the user was found; undefined for a contact. */
  readonly providerId: string | undefined;
}

/** Who asks, and where. */
export interface Actor {
  /** The organization that the request acts on. */
  readonly organization: Organization;
  readonly organizationId: OrganizationId;
  readonly user: User;
  readonly userId: UserId;
  readonly credential: Credential;
  /** The organization of the user: the one acted on, or its parent. */
  readonly home: Organization;
  readonly homeId: OrganizationId;
}

/** The public key that stamped the request, if an API key did. */
export const publicKeyOf = ({ credential }: Actor): string | undefined =>
  credential.kind === 'api-key' ? credential.apiKey.publicKey : undefined;

/** The profile of the session that stamped the request, if it has one. */
export const sessionProfileIdOf = ({ credential }: Actor): string | undefined =>
  credential.kind === 'api-key' ? credential.apiKey.sessionProfileId : undefined;

export const toActor = (organization: Organization, home: Organization, user: User, credential: Credential): Actor => ({
  organization,
  organizationId: organization.id,
  user,
  userId: user.id,
  credential,
  home,
  homeId: home.id,
});

/** The API key, passkey, identity or token that stamped. */
export function credentialIdOf({ credential }: Actor): string | undefined {
  switch (credential.kind) {
    case 'api-key':
      return credential.apiKey.id;
    case 'passkey':
      return credential.authenticator.id;
    case 'attested':
      return credential.attested.providerId ?? credential.attested.token?.tokenId;
    case 'read-session':
      return undefined;
  }
}

/** Why credentials go that an actor deletes: one that deletes itself signs out, the others are taken away. */
export const removedBy =
  (actor: Actor) =>
  (credentialId: string): RemovalReason =>
    credentialId === credentialIdOf(actor) ? 'signed-out' : 'revoked';

/**
 * Words, links and senders are the parent's business: whoever signed up a minute ago is root of a sub-organization, and
 * must not write to strangers in the parent's name.
 */
export const isParents = ({ organization, homeId }: Actor): boolean => homeId === treeRoot(organization);
