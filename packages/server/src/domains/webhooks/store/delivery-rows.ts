import type { Selectable } from 'kysely';
import type { OrganizationId, WebhookDeliveryId, WebhookEndpointId, WebhookEventId } from '../../../lib/ids.ts';
import { requireCount, Unreadable } from '../../../storage/integrity/one-by-one.ts';
import type { WebhookAttempt, WebhookDelivery, WebhookDeliveryState, WebhookEvent } from '../model.ts';
import type { WebhookDeliveryTable } from '../tables.ts';

export type DeliveryRow = Selectable<WebhookDeliveryTable> & {
  readonly event_type: string;
  readonly about_id: string;
};

/** A delivery is given up long before; one more fits into its column in any case. */
const FAILURES_MAX = 1_000_000;

/** Throws for what no service writes into the columns that no mark covers. */
export const toDelivery = (row: DeliveryRow): WebhookDelivery => ({
  id: row.id as WebhookDeliveryId,
  organizationId: row.organization_id as OrganizationId,
  endpointId: row.endpoint_id as WebhookEndpointId,
  eventId: row.event_id as WebhookEventId,
  eventType: row.event_type as WebhookEvent['type'],
  aboutId: row.about_id as OrganizationId,
  includesDescription: row.includes_description === 1,
  state: row.state as WebhookDeliveryState,
  failures: requireCount(row.failures, FAILURES_MAX),
  attempts: toAttempts(row.attempts),
  nextAttemptAtMs: requireCount(row.next_attempt_at_ms),
  roundStartedAtMs: requireCount(row.round_started_at_ms),
  createdAtMs: requireCount(row.created_at_ms),
  updatedAtMs: requireCount(row.updated_at_ms),
});

function toAttempts(json: string): WebhookAttempt[] {
  const attempts: unknown = JSON.parse(json);
  if (!Array.isArray(attempts)) throw new Unreadable('attempts are a list');
  return attempts;
}
