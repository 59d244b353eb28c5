import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { toRfc3339 } from '../../../lib/clock.ts';
import { LIMITS } from '../../../lib/limits.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape, textShape } from '../../../lib/shapes.ts';
import { EMAIL_EVENT_TYPES, MessageReader } from '../store.ts';

const EmailEventShape = Type.Object({
  id: Type.String(),
  organizationId: Type.String(),
  /** The Message-ID of the mail: its events have it in common. */
  messageId: Type.String(),
  eventType: Type.Enum([...EMAIL_EVENT_TYPES]),
  fromAddress: Type.String(),
  toAddress: Type.String(),
  timestamp: Type.String(),
  createdAt: Type.String(),
  details: Type.Object({
    diagnosticCode: Type.Optional(Type.String()),
    deliverySmtpResponse: Type.Optional(Type.String()),
    deliveryProcessingTimeMillis: Type.Optional(Type.String()),
    bounceType: Type.Optional(Type.String()),
    bounceSubType: Type.Optional(Type.String()),
    complaintFeedbackType: Type.Optional(Type.String()),
  }),
});

/**
 * `sent`: the mail server accepted it. `deferred`: it could not be handed over and will be tried again. `refused`: the
 * mail server refused it for good. `expired`: it was given up, or what it carries is no longer of use. `bounced` and
 * `complained`: what record_email_event was told.
 */
export const listEmailEvents = defineQuery({
  name: 'list_email_events',
  summary:
    'What became of the mails to an address in the last 90 days, newest first: sent, deferred, refused or expired, and what was recorded with record_email_event: bounced or complained.',
  parameters: Type.Object({
    organizationId: IdShape,
    email: Type.String({ minLength: 1, maxLength: LIMITS.emailLength, pattern: '^[^\\u0000]*$', 'x-trim': true }),
    eventType: Type.Optional(textShape(100)),
    paginationOptions: Type.Optional(PaginationShape),
  }),
  response: Type.Object({ emailEvents: Type.Array(EmailEventShape), pageInfo: PageInfoShape }),
  async run({ read, actor, config }, { email, eventType, paginationOptions }) {
    const { organizationId } = actor;
    const { items, pageInfo } = await read(MessageReader).emailEvents(
      organizationId,
      { address: email, type: eventType || undefined },
      toPageRequest(paginationOptions, config.listMax),
    );
    const emailEvents = items.map(({ id, messageId, type, fromAddress, toAddress, details, createdAtMs }) => {
      const at = toRfc3339(createdAtMs);
      return {
        id,
        organizationId,
        messageId,
        eventType: type,
        fromAddress,
        toAddress,
        timestamp: at,
        createdAt: at,
        details,
      };
    });
    return { emailEvents, pageInfo };
  },
});
