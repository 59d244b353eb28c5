import { type EventPlace, Events } from '../core/events.ts';
import type { OrganizationId, WebhookEndpointId } from '../lib/ids.ts';
import type { Stores } from '../storage/stores.ts';
import type { App } from './app.ts';
import { type RenderedActivity, renderActivity } from './render-activity.ts';

/** Every vote repeats what was approved. Beyond this the signed bodies are left out: a receiver can ask for them. */
const BODY_LENGTH_MAX = 2 * 1024 * 1024;

/**
 * Tells webhooks of an activity that this transaction makes or changes: as it is stored, so without its secrets. To be
 * called last, when what it did to endpoints is done.
 */
export async function announceActivity(
  { config, newId, operations }: Pick<App, 'config' | 'newId' | 'operations'>,
  store: Stores,
  found: RenderedActivity,
  place: EventPlace,
  nowMs: number,
): Promise<readonly WebhookEndpointId[]> {
  const { id: activityId, type, status, authorityId } = found.activity;
  const render = (recipientId: OrganizationId): string => {
    const rendered = renderActivity(found, {
      organization: { id: recipientId, rootUserIds: [] },
      userId: undefined,
      nowMs,
      vendorNames: config.vendorNames,
      keysOf: (name) => operations.wireKeys(name),
    });
    const told = { ...rendered, result: withoutSession(rendered.result) };
    const length = rendered.votes.reduce((sum, { message }) => sum + message.length, 0);
    // What is too long for certain is not even written out.
    const body = length <= BODY_LENGTH_MAX ? JSON.stringify(told) : undefined;
    if (body !== undefined && body.length <= BODY_LENGTH_MAX) return body;
    return JSON.stringify({ ...told, votes: told.votes.map((vote) => ({ ...vote, message: '' })) });
  };
  let shared: string | undefined;
  const bodyFor = (recipientId: OrganizationId): string => {
    if (authorityId !== undefined) return render(recipientId);
    // Only what another organization decided looks different to the two that are told.
    shared ??= render(recipientId);
    return shared;
  };
  const facts = { activityTypes: type, statuses: status };
  return await store(Events).announce({ type: 'ACTIVITY_UPDATES', facts, activityId, bodyFor }, place, newId, nowMs);
}

/** A session may be used by whoever has it (protocol/webhooks 3.1). */
function withoutSession(result: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const entries = Object.entries(result).map(([key, value]) =>
    typeof value === 'object' && value !== null && 'session' in value ? [key, { ...value, session: '' }] : [key, value],
  );
  return Object.fromEntries(entries);
}
