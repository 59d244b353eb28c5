import { authenticate } from '../authn/authenticate.ts';
import { parseStamp } from '../authn/stamp-headers.ts';
import type { Authenticated, StampedRequest } from '../authn/stamped.ts';
import { type Actor, publicKeyOf } from '../core/actor.ts';
import { treeRoot } from '../core/model.ts';
import { ApiError } from '../lib/errors.ts';
import type { App } from './app.ts';
import { guardAuthentication } from './guard.ts';
import type { RawRequest } from './request.ts';
import { isAllowedFrom } from './rules/allowlist.ts';

export type Asked = Omit<StampedRequest, 'stamp' | 'body' | 'byService'> & {
  /** Whether the key of a recovery may ask for this; it may ask for nothing else (protocol/login 6.2). */
  readonly acceptsRecovery: boolean;
  /** Whether it may wait for others, so that it must not take the turn of those who do not. */
  readonly waitsOutside: boolean;
};

/**
 * Who asks, and whether it may ask from where it does: the first two questions of every request (protocol/stamps 9.1).
 * Then it takes its turn.
 */
export async function admit(app: App, request: RawRequest, asked: Asked): Promise<Authenticated> {
  const { organizationId: asking, fingerprint, findsSubOrganization, acceptsAttested } = asked;
  const { acceptsRecovery, waitsOutside } = asked;
  const { headers, body } = request;
  const byService = request.byService === true;
  request.passage?.requireHope(asking, waitsOutside);
  const caller = await guardAuthentication(app, request, async () => {
    const stamp = parseStamp(headers);
    return await authenticate(app, {
      stamp,
      body,
      organizationId: asking,
      fingerprint,
      findsSubOrganization,
      byService,
      acceptsAttested,
    });
  });
  const { credential } = caller.actor;
  const isRecovery =
    credential.kind === 'api-key' && credential.apiKey.type === 'CREDENTIAL_TYPE_RECOVER_USER_KEY_P256';
  if (isRecovery && !acceptsRecovery) {
    throw new ApiError('REQUEST_NOT_AUTHORIZED', 'the key of a recovery can only complete that recovery');
  }
  // Its configuration decides the sign-up proxy (protocol/organizations 8.2).
  if (!byService) await requireAllowedAddress(app, caller.actor, request.clientAddress);
  app.lastUses.note(caller.actor);
  const { organization, organizationId } = caller.actor;
  const turn = request.passage?.asTenant(treeRoot(organization), organizationId, waitsOutside);
  if (turn !== undefined) await turn;
  return caller;
}

/**
 * The lists of the organization that owns the credential decide (protocol/organizations 8.2). The answer says nothing of
 * the rules.
 */
async function requireAllowedAddress(app: App, actor: Actor, address: string | undefined): Promise<void> {
  const allowlists = await app.accessRules.allowlistsOf(actor.home, app.storage.read);
  if (allowlists.length === 0 || isAllowedFrom(allowlists, publicKeyOf(actor), address)) return;
  throw new ApiError('IP_NOT_ALLOWED', 'requests from this address are not allowed');
}
