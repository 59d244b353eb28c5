import Type from 'typebox';
import { parseStamp } from '../../authn/stamp-headers.ts';
import { organizationNotFound } from '../../core/store/organizations.ts';
import { decoder } from '../../lib/shape.ts';
import { IdShape } from '../../lib/shapes.ts';
import { admit } from '../admit.ts';
import type { App } from '../app.ts';
import { parseQueryBody, type RawRequest } from '../request.ts';
import { parseCursor } from './cursor.ts';
import type { FeedStream } from './feed.ts';

export const FEED_PATH = '/public/v1/feed';

export const FeedRequestShape = Type.Object({
  organizationId: IdShape,
  /** Where to go on; without one the feed begins now. */
  cursor: Type.Optional(Type.String()),
});

const decode = decoder(FeedRequestShape);

/** Lets somebody follow an organization who may read it, as a query would: its users, and those of its parent. */
export async function openFeed(app: App, request: RawRequest): Promise<FeedStream> {
  const { fields, organizationId } = parseQueryBody(request.body);
  const { actor } = await admit(app, request, {
    organizationId,
    fingerprint: undefined,
    findsSubOrganization: false,
    acceptsAttested: false,
    acceptsRecovery: false,
    waitsOutside: true,
  });
  const { cursor } = decode(fields);
  if (actor.organization.deletedAtMs !== undefined) throw organizationNotFound();
  const stamp = parseStamp(request.headers);
  const follower = {
    actor,
    address: request.clientAddress,
    sessionToken: stamp.kind === 'session' ? stamp.token : undefined,
  };
  return await app.feed.open(follower, cursor === undefined || cursor === '' ? undefined : parseCursor(cursor));
}
