import { expect, vi } from 'vitest';
import { codeParams } from '../../../test/fixtures/messages.ts';
import { newEmail } from '../../../test/fixtures/outside.ts';
import type { TestClient } from '../../../test/harness/client.ts';
import type { DomainCases } from '../../../test/operations/domain-cases.ts';
import { anId, EMPTY_PAGE, PAGE_INFO } from '../../../test/operations/every-case.ts';
import { byRoot } from '../../../test/operations/hostile-case.ts';

/** The Message-ID of a mail, as soon as it is known what has become of it. */
async function sentTo(client: TestClient, email: string): Promise<string> {
  return await vi.waitFor(async () => {
    const { emailEvents } = (await client.query('list_email_events', { email })).body;
    if (emailEvents.length === 0) throw new Error(`nothing is known of the mail to ${email}`);
    return emailEvents[0].messageId as string;
  });
}

export const cases: DomainCases = {
  record_email_event: {
    activity: {
      place: 'parent',
      intentKey: 'recordEmailEventIntent',
      resultKey: 'recordEmailEventResult',
      arrange: async ({ root }) => {
        const email = newEmail();
        await root.run('init_otp', codeParams(email, true));
        const messageId = await sentTo(root, email);
        const typesOf = async (reader: TestClient) =>
          (await reader.query('list_email_events', { email })).body.emailEvents.map(
            ({ eventType }: { eventType: string }) => eventType,
          );
        return {
          parameters: { messageId, eventType: 'complained', complaintFeedbackType: 'abuse' },
          result: { emailEventId: anId },
          holds: async (reader) => expect(await typesOf(reader)).toEqual(['complained', 'sent']),
          absent: async (reader) => expect(await typesOf(reader)).toEqual(['sent']),
        };
      },
    },
    hostile: byRoot(async ({ root, mailbox }) => {
      const { emailEvents } = (await root.query('list_email_events', { email: mailbox, eventType: 'sent' })).body;
      const details = { bounceSubType: 'General', diagnosticCode: 'smtp; 550 5.1.1 user unknown' };
      return { messageId: emailEvents[0].messageId, eventType: 'bounced', bounceType: 'Permanent', ...details };
    }),
    // Whose mail it is has a test of its own.
    ids: { messageId: [] },
  },
  list_email_events: {
    query: {
      parameters: async ({ root }) => {
        const email = newEmail();
        await root.run('init_otp', codeParams(email, true));
        await sentTo(root, email);
        return { email };
      },
      answer: ({ root: { organizationId } }) => ({
        emailEvents: [
          {
            id: anId,
            organizationId,
            messageId: expect.stringMatching(/^[0-9a-f-]{36}@/),
            eventType: 'sent',
            fromAddress: 'notifications@localhost',
            toAddress: expect.stringMatching(/^person-/),
            timestamp: expect.any(String),
            createdAt: expect.any(String),
            details: {
              deliverySmtpResponse: expect.any(String),
              deliveryProcessingTimeMillis: expect.stringMatching(/^\d+$/),
            },
          },
        ],
        pageInfo: PAGE_INFO,
      }),
      foreignAnswer: { emailEvents: [], pageInfo: EMPTY_PAGE },
    },
    hostile: byRoot((tenant) => ({ email: tenant.mailbox, eventType: 'sent' })),
  },
};
