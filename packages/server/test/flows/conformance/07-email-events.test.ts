import { randomUUID } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createUser, type TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import { COMPLETED, outcome, times } from '../fixtures/access.ts';
import { LoginService, newEmail } from '../fixtures/logins.ts';

const DONE = [200, COMPLETED];
const WRONG = [400, 'REQUEST_INVALID'];
const NOT_FOUND = [404, 'RESOURCE_NOT_FOUND'];
const BOUNCE = { eventType: 'bounced', bounceType: 'Permanent' };

describe.each(databasesOf(import.meta.url, { hasRaces: true }))('bounces and complaints on %s', (database) => {
  let logins: LoginService;
  let parent: TestClient;

  beforeAll(async () => {
    logins = await LoginService.open(database);
    parent = logins.parent;
  });
  afterAll(async () => logins?.[Symbol.asyncDispose]());

  const eventsOf = async (client: TestClient, email: string, extra: object = {}) =>
    (await client.query('list_email_events', { email, ...extra })).body.emailEvents;
  const record = (client: TestClient, parameters: object) => client.submit('record_email_event', parameters);

  /** Mails an invitation, and waits until it is on its way. */
  async function mail(client: TestClient): Promise<{ readonly email: string; readonly messageId: string }> {
    const email = newEmail();
    const invitation = { receiverUserName: 'Guest', receiverUserEmail: email, receiverUserTags: [] };
    const sender = { accessType: 'ACCESS_TYPE_ALL', senderUserId: client.userId };
    await client.run('create_invitations', { invitations: [{ ...invitation, ...sender }] });
    const messageId = await vi.waitFor(async () => {
      const [event] = await eventsOf(client, email);
      if (event === undefined) throw new Error('not sent yet');
      return event.messageId as string;
    });
    return { email, messageId };
  }

  test('are listed with what the mail server told, once, however often it tells', async () => {
    const { email, messageId } = await mail(parent);
    const details = {
      bounceType: 'Permanent',
      bounceSubType: 'General',
      diagnosticCode: 'smtp; 550 5.1.1 user unknown',
    };
    const first = await parent.run('record_email_event', { messageId, eventType: 'bounced', ...details });
    const again = await Promise.all(
      times(4, () => parent.run('record_email_event', { messageId: `<${messageId}>`, ...BOUNCE })),
    );
    expect(again).toEqual(times(4, () => first));
    await parent.run('record_email_event', { messageId, eventType: 'complained', complaintFeedbackType: 'abuse' });
    const events = await eventsOf(parent, email);
    expect(events).toMatchObject([
      { eventType: 'complained', messageId, toAddress: email, details: { complaintFeedbackType: 'abuse' } },
      { eventType: 'bounced', messageId, toAddress: email, id: first.emailEventId },
      { eventType: 'sent', messageId },
    ]);
    expect(events[1].details).toEqual(details);
    expect(await eventsOf(parent, email, { eventType: 'bounced' })).toHaveLength(1);
  });

  test('of a sub-organization are told to its parent, and shown where the mail came from', async () => {
    const { user } = await logins.newPerson();
    const { email, messageId } = await mail(user);
    expect(outcome(await record(user, { messageId, ...BOUNCE }))[0]).toBe(400);
    expect(outcome(await record(parent, { messageId, ...BOUNCE }))).toEqual(DONE);
    expect(await eventsOf(user, email)).toMatchObject([{ eventType: 'bounced' }, { eventType: 'sent' }]);
    expect(await eventsOf(parent, email)).toEqual([]);
  });

  test('of mails that nobody of the tree sent are refused', async () => {
    const { messageId } = await mail(parent);
    const domain = messageId.slice(messageId.indexOf('@') + 1);
    for (const unknown of [`${uuidv7()}@${domain}`, messageId.replace(domain, 'elsewhere.example')]) {
      expect(outcome(await record(parent, { messageId: unknown, ...BOUNCE }))).toEqual(NOT_FOUND);
    }
    // Another tree on the same service.
    await logins.rows.run(
      `UPDATE email_event SET organization_id = '${randomUUID()}' WHERE message_id = '${messageId}'`,
    );
    expect(outcome(await record(parent, { messageId, ...BOUNCE }))).toEqual(NOT_FOUND);
  });

  test('say which field is wrong, and need a right of their own', async () => {
    const { messageId } = await mail(parent);
    const wrong = {
      messageId: { ...BOUNCE, messageId: 'x@example.com' },
      eventType: { messageId, eventType: 'sent' },
      bounceType: { messageId, eventType: 'bounced' },
      bounceSubType: { messageId, ...BOUNCE, bounceSubType: 'a\nb' },
      diagnosticCode: { messageId, ...BOUNCE, diagnosticCode: 'x'.repeat(1001) },
      complaintFeedbackType: { messageId, ...BOUNCE, complaintFeedbackType: 'abuse' },
    };
    for (const [field, parameters] of Object.entries(wrong)) {
      const answer = await record(parent, parameters);
      expect([field, ...outcome(answer)]).toEqual([field, ...WRONG]);
      expect(answer.body.message).toContain(`parameters.${field}`);
    }
    expect(outcome(await record(parent, { messageId, eventType: 'complained', diagnosticCode: 'x' }))).toEqual(WRONG);
    const hook = await createUser(parent, 'mail server');
    expect(outcome(await record(hook, { messageId, ...BOUNCE }))[0]).toBe(403);
    await parent.run('create_policy', {
      policyName: 'The mail server tells of bounces',
      effect: 'EFFECT_ALLOW',
      consensus: `approvers.any(user, user.id == '${hook.userId}')`,
      condition: "activity.resource == 'EMAIL_EVENT' && activity.action == 'CREATE'",
      notes: '',
    });
    expect(outcome(await record(hook, { messageId, ...BOUNCE }))).toEqual(DONE);
  });
});
