import type { App } from '../app.ts';
import { authenticate } from '../authn/authenticate.ts';
import { parseStamp } from '../authn/stamp-headers.ts';
import type { QueryOperation } from '../operations/define.ts';
import { guardAuthentication } from './guard.ts';
import { parseQueryBody, type RawRequest } from './request.ts';

/** authenticate, parse, read: queries change nothing, and no policy governs them (RES 1.9). */
export async function query(app: App, operation: QueryOperation, request: RawRequest): Promise<unknown> {
  const { fields, organizationId } = parseQueryBody(request.body);
  const stamp = parseStamp(request.headers);
  const { actor } = await guardAuthentication(app, request, () =>
    authenticate(app, {
      stamp,
      body: request.body,
      organizationId,
      fingerprint: undefined,
      findsSubOrganization: operation.findsSubOrganization,
    }),
  );
  const parameters = operation.decode(fields);
  return await operation.run({ actor, read: app.storage.read, nowMs: app.clock(), config: app.config }, parameters);
}
