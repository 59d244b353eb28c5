import type { Actor } from '../../core/actor.ts';
import { treeRoot } from '../../core/model.ts';
import { type TreeProxy, TreeTrust } from '../../core/rules.ts';
import { TreeReader } from '../../core/store/tree.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import type { ReadStores } from '../../storage/stores.ts';
import { GOOGLE } from '../oidc/id-token.ts';
import type { MayAsk } from '../oidc/verifier.ts';

/** The issuers of the methods that a proxy configuration turns on by name. X and Discord issue no OpenID tokens. */
const ISSUERS_OF_METHODS: Readonly<Record<string, readonly string[]>> = {
  google: [GOOGLE],
  apple: ['https://appleid.apple.com'],
  facebook: ['https://www.facebook.com', 'https://facebook.com', 'https://limited.facebook.com'],
};

/**
 * The issuers that a caller may have us ask (docs/decisions/0030): any for the parent's own users; for users of
 * sub-organizations and for the sign-up proxy, behind which anybody may be, those that the tree knows.
 */
export function issuersFor(read: ReadStores, actor: Actor): MayAsk {
  const rootId = treeRoot(actor.organization);
  return async (issuer) => {
    const proxy = await read(TreeTrust).ofOrganization(rootId);
    return isOfParent(actor, rootId, proxy) || (await isKnown(read, rootId, proxy, issuer));
  };
}

/** The same for a caller who has not authenticated. */
export function issuersForStrangers(read: ReadStores, rootId: OrganizationId): MayAsk {
  return async (issuer) => isKnown(read, rootId, await read(TreeTrust).ofOrganization(rootId), issuer);
}

/** Whether one of the parent's own users stamped the request. The proxy acts as a user of the parent, for anybody. */
export const isOfParent = (actor: Actor, rootId: OrganizationId, proxy: TreeProxy | undefined): boolean =>
  actor.homeId === rootId && actor.credential.kind !== 'read-session' && actor.userId !== proxy?.identity?.userId;

/** Named by the configuration of the tree, or by an identity of one of its users. */
async function isKnown(
  read: ReadStores,
  rootId: OrganizationId,
  proxy: TreeProxy | undefined,
  issuer: string,
): Promise<boolean> {
  const { oidcIssuers = [], allowedAuthMethods = [] } = proxy?.settings ?? {};
  if (oidcIssuers.includes(issuer)) return true;
  if (allowedAuthMethods.some((method) => ISSUERS_OF_METHODS[method]?.includes(issuer))) return true;
  return await read(TreeReader).namesIssuer(rootId, issuer);
}
