import { authenticate } from '../authn/authenticate.ts';
import { parseStamp } from '../authn/stamp-headers.ts';
import type { QueryOperation } from '../operations/define.ts';
import type { ActivityWithVotes } from '../storage/stores/activities.ts';
import { renderActivity } from '../wire/activity.ts';
import type { App } from './app.ts';
import { readerFor } from './ballot.ts';
import { guardAuthentication } from './guard.ts';
import { parseQueryBody, type RawRequest } from './request.ts';

/** authenticate, parse, read: queries change nothing, and no policy governs them (RES 1.9). */
export async function query(app: App, operation: QueryOperation, request: RawRequest): Promise<unknown> {
  const { fields, organizationId } = parseQueryBody(request.body);
  const { actor } = await guardAuthentication(app, request, async () =>
    authenticate(app, {
      stamp: parseStamp(request.headers),
      body: request.body,
      organizationId,
      fingerprint: undefined,
      findsSubOrganization: operation.findsSubOrganization,
    }),
  );
  const parameters = operation.decode(fields);
  const nowMs = app.clock();
  const reader = readerFor(app, actor, nowMs);
  const context = {
    actor,
    read: app.storage.read,
    nowMs,
    config: app.config,
    renderActivity: (found: ActivityWithVotes) => renderActivity(found, reader),
  };
  return await operation.run(context, parameters);
}
