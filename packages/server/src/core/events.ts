import type { ActivityId, NewId, OrganizationId, WebhookEndpointId } from '../lib/ids.ts';

/** What an event says about itself, for filters to look at. */
export type EventFacts = Readonly<
  Partial<Record<'activityTypes' | 'statuses' | 'organizationIds' | 'addresses' | 'caip2', string>>
>;

/** Something that somebody may want to know. */
export interface Occurrence {
  readonly type: 'ACTIVITY_UPDATES' | 'SEND_TRANSACTION_STATUS_UPDATES';
  readonly facts: EventFacts;
  /** The activity that it comes of. */
  readonly activityId: ActivityId;
  /** The event as an organization may see it. */
  readonly bodyFor: (recipientId: OrganizationId) => string;
}

/** Where it happened. */
export interface EventPlace {
  readonly id: OrganizationId;
  readonly parentId: OrganizationId | undefined;
}

export abstract class Events {
  static readonly writes = true;

  /** Reads who is to be told of what will happen, with other statements, so that `announce` does not wait for it. */
  abstract readAhead(place: EventPlace): Promise<void>;

  /**
   * Makes an event part of the transaction, for everybody who subscribes to it; nothing is written where nobody does.
   * Answers with the endpoints to wake after the commit.
   */
  abstract announce(
    occurrence: Occurrence,
    place: EventPlace,
    newId: NewId,
    nowMs: number,
  ): Promise<readonly WebhookEndpointId[]>;
}

export const SEND_STATUSES = ['BROADCASTING', 'INCLUDED', 'FAILED'] as const;
