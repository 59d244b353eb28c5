import type { Stores } from '../../storage/stores.ts';
import { nextAttemptAt } from './backoff.ts';
import { type Content, messageIdOf } from './message.ts';
import type { HandOver } from './senders/sender.ts';
import type { Channel, ClaimedMessage, EmailEventDetails, HandOverType } from './store.ts';
import { MessageStore } from './store.ts';

/** What happened to a message. */
export interface Outcome {
  readonly claim: ClaimedMessage;
  /** Undefined where it could not be opened. */
  readonly content: Content | undefined;
  readonly result: HandOver | { readonly kind: 'expired'; readonly diagnostic: string };
  readonly atMs: number;
}

/** What is told of a message: never whom it goes to or what it says. */
export interface MessageReport {
  readonly organizationId: string;
  readonly messageId: string;
  readonly channel: Channel;
  readonly outcome: HandOverType;
  readonly attempts: number;
  /** Why, where it was not sent: the code of a refusal or of an error. */
  readonly diagnostic?: string;
}

/** Ends or defers the message and notes what became of it; undefined when the message is another one's by now. */
export async function record(store: Stores, outcome: Outcome, eventId: string): Promise<MessageReport | undefined> {
  const { claim, content, result, atMs } = outcome;
  const attempts = claim.attempts + 1;
  const nextAtMs = result.kind === 'deferred' ? nextAttemptAt({ ...claim, attempts }, atMs) : undefined;
  const isOurs =
    nextAtMs === undefined
      ? await store(MessageStore).remove(claim)
      : await store(MessageStore).defer(claim, attempts, nextAtMs);
  if (!isOurs) return undefined;
  const type = result.kind === 'deferred' && nextAtMs === undefined ? 'expired' : result.kind;
  if (result.kind === 'sent') await result.record?.(store);
  if (content?.channel === 'email') {
    await store(MessageStore).insertEmailEvent(claim.organizationId, {
      id: eventId,
      messageId: messageIdOf(claim.id, content.from),
      type,
      fromAddress: content.from.address,
      toAddress: content.to,
      details: detailsOf(outcome),
      createdAtMs: atMs,
    });
  }
  const { organizationId, channel, id: messageId } = claim;
  const diagnostic = result.kind === 'sent' ? {} : { diagnostic: result.diagnostic };
  return { organizationId, messageId, channel, outcome: type, attempts, ...diagnostic };
}

function detailsOf({ claim, result, atMs }: Outcome): EmailEventDetails {
  const response = 'response' in result ? result.response : undefined;
  return {
    ...(result.kind === 'sent'
      ? { deliveryProcessingTimeMillis: String(Math.max(0, atMs - claim.createdAtMs)) }
      : { diagnosticCode: result.diagnostic }),
    ...(response !== undefined && { deliverySmtpResponse: response }),
  };
}
