import { UsedTokenStore } from '../../core/store/used-tokens.ts';
import { ApiError } from '../../lib/errors.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import type { Stores } from '../../storage/stores.ts';
import type { TokenUse } from '../identity/tokens.ts';

/** What an OpenID token may be used for, each once in a tree: it registers its identity, and it logs in. */
type OidcPurpose = 'register' | 'login';

const USED: Readonly<Record<OidcPurpose, string>> = {
  register: 'this OIDC token has already been used to register an identity: ask its issuer for a new one',
  login: 'this OIDC token has already been used to log in: ask its issuer for a new one',
};

/** Notes a use of a token in the transaction, or refuses it. */
export async function useOidcToken(
  { store, activityId, nowMs }: { readonly store: Stores; readonly activityId: string; readonly nowMs: number },
  rootId: OrganizationId,
  { tokenId, expiresAtMs }: Pick<TokenUse, 'tokenId' | 'expiresAtMs'>,
  purpose: OidcPurpose,
): Promise<void> {
  if (await store(UsedTokenStore).useToken(rootId, { tokenId, purpose, activityId, expiresAtMs }, nowMs)) return;
  throw new ApiError('INVALID_OIDC_TOKEN', USED[purpose]);
}
