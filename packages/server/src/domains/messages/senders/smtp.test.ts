import { expect, test } from 'vitest';
import { MailServer } from '../../../../test/harness/mail-server.ts';
import type { OrganizationId } from '../../../lib/ids.ts';
import { type MailContent, messageIdOf } from '../message.ts';
import type { Delivery } from './sender.ts';
import { SmtpSender } from './smtp.ts';

const CREATED = Date.UTC(2030, 0, 2, 3, 4, 5);
const NEVER = new AbortController().signal;

const delivery = (extra: Partial<MailContent> = {}): Delivery<MailContent> => ({
  organizationId: 'organization' as OrganizationId,
  id: '0190a000-0000-7000-8000-000000000001',
  createdAtMs: CREATED,
  content: {
    channel: 'email',
    to: 'alice@example.com',
    subject: 'Grüße 😀',
    text: `first line\n.\nlong ${'ä'.repeat(200)}`,
    html: '<p>Ü &amp; 😀</p>',
    from: { address: 'no-reply@example.org', name: 'Ünlü, "App" <x>' },
    replyTo: 'help@example.org',
    ...extra,
  },
});

test('a mail arrives as it was written, in both forms', async () => {
  await using server = await MailServer.start();
  const sender = new SmtpSender(server.url);
  const mail = delivery();
  const { content } = mail;
  expect(await sender.send(mail, NEVER)).toEqual({ kind: 'sent', response: '250 kept as 1' });
  const caught = await server.next();
  expect(caught).toMatchObject({
    from: 'no-reply@example.org',
    to: ['alice@example.com'],
    subject: content.subject,
    text: content.text,
    html: content.html,
    messageId: `<${mail.id}@example.org>`,
  });
  expect(new Date(caught.headers.get('date') ?? '').getTime()).toBe(CREATED);
  expect(caught.headers.get('to')).toBe('alice@example.com');
  expect(caught.headers.get('reply-to')).toBe('help@example.org');
  expect(caught.headers.get('auto-submitted')).toBe('auto-generated');
  expect(caught.headers.get('from')).toMatch(/^"?Ünlü, .*<no-reply@example.org>$/);
  sender.close();
});

test('connections are used again, and one that the server has closed meanwhile costs no attempt', async () => {
  let connections = 0;
  await using server = await MailServer.start({
    onConnect: (_session, callback) => {
      connections += 1;
      callback();
    },
  });
  const sender = new SmtpSender(server.url);
  for (let count = 0; count < 3; count += 1) expect((await sender.send(delivery(), NEVER)).kind).toBe('sent');
  expect(connections).toBe(1);
  server.disconnect();
  expect((await sender.send(delivery(), NEVER)).kind).toBe('sent');
  expect([connections, server.accepted.length]).toEqual([2, 4]);
  sender.close();
});

test.each([
  ['a refusal of the mail is final', 554, { kind: 'refused', diagnostic: '554', response: '554 answered with 554' }],
  ['for now is not for ever', 451, { kind: 'deferred', diagnostic: '451', response: '451 answered with 451' }],
  ['a lost session is not a refusal', 503, { kind: 'deferred', diagnostic: '503' }],
  ['a connection that breaks off', 'drop' as const, { kind: 'deferred', diagnostic: 'ECONNECTION' }],
])('%s', async (_name, answer, expected) => {
  await using server = await MailServer.start();
  const sender = new SmtpSender(server.url);
  server.answerNext(answer);
  expect(await sender.send(delivery(), NEVER)).toMatchObject(expected);
  expect(server.accepted).toEqual([]);
  // The sender is still of use.
  expect((await sender.send(delivery(), NEVER)).kind).toBe('sent');
  sender.close();
});

test('a refused recipient is final, a refused login is the operator’s to mend', async () => {
  await using server = await MailServer.start({
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username, password }, _session, callback) => {
      if (username === 'user@host' && password === 'p:ä/%') callback(null, { user: 'user' });
      else callback(new Error('wrong'));
    },
    allowInsecureAuth: true,
    onRcptTo: ({ address }, _session, callback) =>
      callback(address.startsWith('nobody') ? Object.assign(new Error('no such user'), { responseCode: 550 }) : null),
  });
  const at = (login: string): SmtpSender => new SmtpSender(server.url.replace('//', `//${login}@`));
  const [right, wrong] = [at(`user%40host:${encodeURIComponent('p:ä/%')}`), at('user%40host:wrong')];
  expect((await right.send(delivery(), NEVER)).kind).toBe('sent');
  expect(await right.send(delivery({ to: 'nobody@example.com' }), NEVER)).toMatchObject({
    kind: 'refused',
    diagnostic: '550',
  });
  expect(await wrong.send(delivery(), NEVER)).toMatchObject({ kind: 'deferred', diagnostic: '535' });
  right.close();
  wrong.close();
});

test('nobody there is a matter of time', async () => {
  const server = await MailServer.start();
  await server[Symbol.asyncDispose]();
  const sender = new SmtpSender(server.url);
  expect(await sender.send(delivery(), NEVER)).toMatchObject({ kind: 'deferred' });
  sender.close();
});

test('TLS that is offered is used, and checked', async () => {
  await using server = await MailServer.start({ disabledCommands: ['AUTH'] });
  const careful = new SmtpSender(server.url);
  // The server's certificate is signed by nobody we know.
  expect(await careful.send(delivery(), NEVER)).toMatchObject({ kind: 'deferred' });
  const plain = new SmtpSender(`${server.url}?ignoreTLS=true`);
  expect((await plain.send(delivery(), NEVER)).kind).toBe('sent');
  expect(server.accepted).toHaveLength(1);
  for (const sender of [careful, plain]) sender.close();
});

test('TLS that is required and not offered is not done without', async () => {
  await using server = await MailServer.start();
  const sender = new SmtpSender(`${server.url}?requireTLS=true`);
  expect(await sender.send(delivery(), NEVER)).toMatchObject({ kind: 'deferred' });
  expect(server.offered).toEqual([]);
  sender.close();
});

test('a password is not sent where somebody on the way left the offer of TLS out', async () => {
  const logins: unknown[] = [];
  await using server = await MailServer.start({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, callback) => {
      logins.push([username, password]);
      callback(null, { user: 'user' });
    },
  });
  const at = (host: string, query = '') =>
    new SmtpSender(`${server.url.replace('//127.0.0.1', `//user:hush@${host}`)}${query}`);
  // On the same machine nobody is on the way, and an operator may say that nobody is.
  const fine = [at('127.0.0.1'), at('0.0.0.0', '?ignoreTLS=true')];
  for (const sender of fine) expect((await sender.send(delivery(), NEVER)).kind).toBe('sent');
  expect(logins).toEqual([
    ['user', 'hush'],
    ['user', 'hush'],
  ]);
  const careful = at('0.0.0.0');
  expect(await careful.send(delivery(), NEVER)).toMatchObject({ kind: 'deferred' });
  expect([logins.length, server.offered.length]).toEqual([2, 2]);
  // Without a password there is none to lose.
  const open = new SmtpSender(server.url.replace('127.0.0.1', '0.0.0.0'));
  expect((await open.send(delivery(), NEVER)).kind).toBe('sent');
  for (const sender of [...fine, careful, open]) sender.close();
});

test('a server that does not answer is left when the time is over', async () => {
  await using server = await MailServer.start();
  const release = server.hold();
  const sender = new SmtpSender(server.url);
  const abort = new AbortController();
  const offered = server.offer();
  const sent = sender.send(delivery(), abort.signal);
  await offered;
  abort.abort();
  expect(await sent).toMatchObject({ kind: 'deferred' });
  release();
  expect((await sender.send(delivery(), NEVER)).kind).toBe('sent');
  sender.close();
});

test('an address is one address, whatever it looks like', async () => {
  await using server = await MailServer.start();
  const sender = new SmtpSender(server.url);
  expect((await sender.send(delivery(), NEVER)).kind).toBe('sent');
  // No caller gets this far with these; see address.ts.
  for (const to of ['a@example.com, b@example.com', 'a@example.com\r\nRCPT TO:<b@example.com>', 'a@example.com>']) {
    await sender.send(delivery({ to }), NEVER);
    for (const mail of server.accepted) expect(mail.to).not.toContain('b@example.com');
  }
  await sender.send(delivery({ subject: 'x\r\nBcc: b@example.com\r\n\r\nbody' }), NEVER);
  for (const mail of server.accepted) expect([mail.to.length, mail.headers.has('bcc')]).toEqual([1, false]);
  sender.close();
});

test('the Message-ID has the domain of the sender, in ASCII', () => {
  const id = 'id';
  expect(messageIdOf(id, { address: 'a@Example.ORG', name: '' })).toBe('id@example.org');
  expect(messageIdOf(id, { address: 'a@bücher.example', name: '' })).toBe('id@xn--bcher-kva.example');
});
