import Type from 'typebox';
import { named, say, strong } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { ApiError, invalidField } from '../../../lib/errors.ts';
import { MessageStore, REPORTED_EVENT_TYPES } from '../store.ts';

/** What a mail server may say in one line. */
const lineShape = (maxLength: number) =>
  Type.String({
    pattern: `^[^\\u0000-\\u001f\\u007f-\\u009f]{1,${maxLength}}$`,
    'x-trim': true,
    'x-message': `must be 1 to ${maxLength} characters without control characters`,
  });

/** As we make them: an id and the sender's domain. */
const MessageIdShape = Type.String({
  pattern: '^<?[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}@[a-z0-9.-]{1,253}>?$',
  'x-trim': true,
  'x-lower': true,
  'x-message': 'must be the Message-ID of a mail of this service, with or without <>',
});

const BOUNCE_TYPES = ['Permanent', 'Transient', 'Undetermined'] as const;
/** RFC 5965, section 7.3, and RFC 6650. */
const FEEDBACK_TYPES = ['abuse', 'auth-failure', 'fraud', 'not-spam', 'other', 'virus'] as const;

export const recordEmailEvent = defineActivity({
  name: 'record_email_event',
  type: 'ACTIVITY_TYPE_RECORD_EMAIL_EVENT',
  summary:
    "Record that a mail of the tree bounced or was complained about, as the operator's mail server tells; list_email_events shows it. The same again changes nothing.",
  policy: { governedBy: 'policy', resource: 'EMAIL_EVENT', action: 'CREATE' },
  credentials: 'none',
  scope: 'parent',
  ours: true,
  example: { eventType: 'bounced', bounceType: 'Permanent', diagnosticCode: 'smtp; 550 5.1.1 user unknown' },
  parameters: Type.Object({
    messageId: MessageIdShape,
    eventType: Type.Enum([...REPORTED_EVENT_TYPES]),
    /** Of a bounce, which needs it. */
    bounceType: Type.Optional(Type.Enum([...BOUNCE_TYPES])),
    /** Of a bounce, such as MailboxFull. */
    bounceSubType: Type.Optional(lineShape(64)),
    /** Of a bounce: what the receiving server said, such as smtp; 550 5.1.1 user unknown. */
    diagnosticCode: Type.Optional(lineShape(1000)),
    /** Of a complaint, where the report names one. */
    complaintFeedbackType: Type.Optional(Type.Enum([...FEEDBACK_TYPES])),
  }),
  sentence: ({ eventType, messageId }) => say`Note that mail ${named(messageId)} had the event ${strong(eventType)}.`,
  result: Type.Object({ emailEventId: Type.String() }),
  check({ eventType, bounceType, bounceSubType, diagnosticCode, complaintFeedbackType }) {
    if (eventType === 'bounced') {
      if (bounceType === undefined) throw invalidField('parameters.bounceType', 'is required of a bounce');
      if (complaintFeedbackType !== undefined) {
        throw invalidField('parameters.complaintFeedbackType', 'is for complaints only');
      }
      return;
    }
    for (const [name, value] of Object.entries({ bounceType, bounceSubType, diagnosticCode })) {
      if (value !== undefined) throw invalidField(`parameters.${name}`, 'is for bounces only');
    }
  },
  async execute({ store, actor, newId, nowMs }, { messageId: given, eventType, ...details }) {
    const messageId = given.replace(/^<|>$/g, '');
    const sent = await store(MessageStore).findSent(actor.organizationId, messageId);
    if (sent === undefined) {
      throw new ApiError(
        'RESOURCE_NOT_FOUND',
        'no mail of this organization or of its sub-organizations has this Message-ID, or it is older than 90 days',
      );
    }
    const { organizationId, fromAddress, toAddress } = sent;
    const known = await store(MessageStore).findReported(organizationId, { messageId, toAddress, type: eventType });
    if (known !== undefined) return { emailEventId: known };
    const event = { id: newId() as string, messageId, type: eventType, fromAddress, toAddress, details };
    await store(MessageStore).insertEmailEvent(organizationId, { ...event, createdAtMs: nowMs });
    return { emailEventId: event.id };
  },
});
