import { type Authenticated, authenticate, type StampedRequest } from '../authn/authenticate.ts';
import { parseStamp } from '../authn/stamp-headers.ts';
import { isAllowedFrom } from '../authz/allowlist.ts';
import { type Actor, publicKeyOf } from '../lib/actor.ts';
import { ApiError } from '../lib/errors.ts';
import type { App } from './app.ts';
import { guardAuthentication } from './guard.ts';
import type { RawRequest } from './request.ts';

/** Who asks, and whether it may ask from where it does: the first two questions of every request (AUTH 16). */
export async function admit(
  app: App,
  request: RawRequest,
  stamped: Omit<StampedRequest, 'stamp' | 'body'>,
): Promise<Authenticated> {
  const caller = await guardAuthentication(app, request, async () =>
    authenticate(app, { ...stamped, stamp: parseStamp(request.headers), body: request.body }),
  );
  await requireAllowedAddress(app, caller.actor, request.clientAddress);
  return caller;
}

/** The lists of the organization that owns the credential judge (decision 21). The answer says nothing of the rules. */
async function requireAllowedAddress(app: App, actor: Actor, address: string | undefined): Promise<void> {
  const home =
    actor.homeId === actor.organizationId ? actor.organization : await app.storage.read.organizations.get(actor.homeId);
  const allowlists = await app.rulebooks.allowlistsOf(home, app.storage.read);
  if (allowlists.length === 0 || isAllowedFrom(allowlists, publicKeyOf(actor), address)) return;
  throw new ApiError('IP_NOT_ALLOWED', 'requests from this address are not allowed');
}
