import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKeyring, type Keyring } from '@custos/keyring';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../config/config.ts';
import { hasDevInbox, wayOf } from '../../config/message-ways.ts';
import { ApiError } from '../../lib/errors.ts';
import { type OrganizationId, randomId } from '../../lib/ids.ts';
import { type MailMessage, openContent, type SmsMessage } from './message.ts';
import { createMessages } from './messages.ts';
import { parseSender, senderOf } from './sender-address.ts';

const SMTP = { CUSTOS_SMTP_URL: 'smtp://mail.example', CUSTOS_MAIL_FROM: 'Custos <no-reply@example.org>' };
const SMS = {
  CUSTOS_SMS_URL: 'https://sms.example/Messages.json',
  CUSTOS_SMS_USER: 'u',
  CUSTOS_SMS_PASSWORD: 'p',
  CUSTOS_SMS_FROM: '+15005550000',
};
const POSTGRES = { CUSTOS_DATABASE_URL: 'postgres://db.example/x' };
const MAIL: MailMessage = { channel: 'email', to: 'alice@example.com', subject: 'Hello', text: 'text', html: '<p>' };
const TEXT: SmsMessage = { channel: 'sms', to: '+15005550006', text: 'text' };

const folder = mkdtempSync(join(tmpdir(), 'custos-messages-'));
const id = randomId<'organization'>();
let keyring: Keyring;
let wrappedKey: Uint8Array;

beforeAll(async () => {
  keyring = await createKeyring({ rootKey: `file:${join(folder, 'root.key')}`, create: true });
  wrappedKey = await keyring.createOrganizationKey(id);
});
afterAll(async () => {
  await keyring.close();
  rmSync(folder, { recursive: true, force: true });
});

const compose = (environment: Record<string, string>, message: MailMessage | SmsMessage) =>
  createMessages({ config: readConfig(environment), keyring, newId: randomId }).compose({ id, wrappedKey }, message);

/** What was sealed, or the code of the refusal. */
async function contentOf(environment: Record<string, string>, message: MailMessage | SmsMessage): Promise<unknown> {
  try {
    const composed = await compose(environment, message);
    return await openContent(keyring, wrappedKey, composed, 'outbox-message', composed.sealed);
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

test('a message is sealed for its organization, and nothing of it is to be seen', async () => {
  const composed = await compose(SMTP, { ...MAIL, notAfterMs: 5 });
  expect(composed).toMatchObject({ organizationId: id, channel: 'email', notAfterMs: 5 });
  const bytes = Buffer.from(composed.sealed).toString('latin1');
  for (const part of ['alice', 'Hello', 'no-reply']) expect(bytes).not.toContain(part);
  const open = (owner: { organizationId: OrganizationId; id: string }, kind: 'outbox-message' | 'dev-message') =>
    openContent(keyring, wrappedKey, owner, kind, composed.sealed).then(
      (content) => content,
      (error: { code: string }) => error.code,
    );
  const { notAfterMs: _, ...content } = { ...MAIL, from: { address: 'no-reply@example.org', name: 'Custos' } };
  expect(await open(composed, 'outbox-message')).toEqual(content);
  expect(await open({ ...composed, id: randomId() }, 'outbox-message')).toBe('NOT_OPENED');
  expect(await open(composed, 'dev-message')).toBe('NOT_OPENED');
});

describe('where messages go', () => {
  test.each([
    ['a laptop', {}, 'inbox', 'inbox'],
    ['mail only', SMTP, 'provider', 'none'],
    ['text messages only', SMS, 'none', 'provider'],
    ['both', { ...SMTP, ...SMS }, 'provider', 'provider'],
    ['PostgreSQL without anything', POSTGRES, 'none', 'none'],
    ['an open address without anything', { CUSTOS_HOST: '0.0.0.0' }, 'none', 'none'],
    ['loopback by name', { CUSTOS_HOST: 'localhost' }, 'inbox', 'inbox'],
    ['loopback of IPv6', { CUSTOS_HOST: '::1' }, 'inbox', 'inbox'],
    ['a name that only looks like it', { CUSTOS_HOST: '127.0.0.1.example' }, 'none', 'none'],
    ['the inbox wanted', { ...SMTP, ...POSTGRES, CUSTOS_DEV_INBOX: 'on', CUSTOS_HOST: '::' }, 'inbox', 'inbox'],
    ['the inbox not wanted', { CUSTOS_DEV_INBOX: 'off' }, 'none', 'none'],
  ])('%s', async (_name, environment, mail, text) => {
    const config = readConfig(environment);
    expect([wayOf('email', config), wayOf('sms', config)]).toEqual([mail, text]);
    expect(hasDevInbox(config)).toBe(mail === 'inbox');
    const mailed = await contentOf(environment, MAIL);
    expect(typeof mailed === 'string' ? mailed : 'composed').toBe(
      mail === 'none' ? 'EMAIL_SENDING_DISABLED' : 'composed',
    );
    const texted = await contentOf(environment, TEXT);
    expect(texted).toEqual(text === 'none' ? 'SMS_SENDING_DISABLED' : TEXT);
  });
});

describe('the sender', () => {
  const domains = { ...SMTP, CUSTOS_MAIL_SENDER_DOMAINS: 'app.example, other.example' };
  const wish = { from: { address: 'hello@App.Example', name: 'App' }, replyTo: 'help@elsewhere.example' };
  const operator = { address: 'no-reply@example.org', name: 'Custos' };

  test('is the organization’s where the operator has listed its domain', async () => {
    expect(await contentOf(domains, { ...MAIL, ...wish })).toMatchObject(wish);
  });

  test.each([
    ['nobody listed', SMTP, wish],
    ['another domain', domains, { ...wish, from: { address: 'hello@evil.example', name: 'App' } }],
    ['a domain below', domains, { ...wish, from: { address: 'hello@sub.app.example', name: 'App' } }],
    ['a domain that ends alike', domains, { ...wish, from: { address: 'hello@xapp.example', name: 'App' } }],
    ['only a reply-to', domains, { replyTo: wish.replyTo }],
  ])('is the operator’s otherwise: %s', async (_name, environment, wished) => {
    const content = await contentOf(environment, { ...MAIL, ...wished });
    expect(content).toMatchObject({ from: operator });
    expect(content).not.toHaveProperty('replyTo');
  });

  test('is read from the settings and from requests', () => {
    expect(parseSender('A. B. <a@b.example>')).toEqual({ name: 'A. B.', address: 'a@b.example' });
    expect(parseSender('a@b.example')).toEqual({ name: '', address: 'a@b.example' });
    const sendFromEmailAddress = 'a@b.example';
    expect(senderOf({ sendFromEmailAddress })).toEqual({ from: { address: 'a@b.example', name: 'Notifications' } });
    expect(
      senderOf({ sendFromEmailAddress, sendFromEmailSenderName: 'N', replyToEmailAddress: 'r@b.example' }),
    ).toEqual({ from: { address: 'a@b.example', name: 'N' }, replyTo: 'r@b.example' });
    expect(senderOf({ sendFromEmailAddress: '', sendFromEmailSenderName: 'N', replyToEmailAddress: 'x' })).toEqual({});
  });
});

describe('what could become more than one header or recipient is refused', () => {
  const BREAKS = ['\r\n', '\n', '\r', '\u0000', '\u2028'];
  const domains = { ...SMTP, CUSTOS_MAIL_SENDER_DOMAINS: 'app.example' };
  const sender = { address: 'hello@app.example', name: 'App' };

  test.each(BREAKS)('line break %j', async (lineBreak) => {
    const with_ = (text: string): string => `${text}${lineBreak}Bcc: eve@example.com`;
    expect(await contentOf(domains, { ...MAIL, from: sender, replyTo: 'r@app.example' })).toMatchObject({
      from: sender,
    });
    expect(await contentOf(domains, { ...MAIL, to: with_('a@example.com') })).toBe('INVALID_EMAIL');
    expect(await contentOf(domains, { ...MAIL, subject: with_('Hello') })).toBe('REQUEST_INVALID');
    const named = { ...sender, name: with_('App') };
    expect(await contentOf(domains, { ...MAIL, from: named })).toBe('REQUEST_INVALID');
    const addressed = { ...sender, address: `${with_('x@app.example')}@app.example` };
    expect(await contentOf(domains, { ...MAIL, from: addressed })).toBe('INVALID_EMAIL');
    expect(await contentOf(domains, { ...MAIL, from: sender, replyTo: with_('r@app.example') })).toBe('INVALID_EMAIL');
    expect(await contentOf(SMS, { ...TEXT, to: `${TEXT.to}${lineBreak}` })).toBe('REQUEST_INVALID');
  });

  test.each([
    'a@example.com,b@example.com',
    'a@example.com;b@example.com',
    'a b@example.com',
    '<a@example.com>',
    'Alice <a@example.com>',
    '"a b"@example.com',
    'a@[127.0.0.1]',
    'a@b@example.com',
    'a\u202e@example.com',
    '@example.com',
    'a@',
    `${'a'.repeat(65)}@example.com`,
    `a@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(63)}.${'e'.repeat(63)}`,
  ])('address %j', async (to) => {
    expect(await contentOf(SMTP, { ...MAIL, to })).toBe('INVALID_EMAIL');
  });

  test.each(['a@example..com', 'a@-example.com', 'a@example-.com', 'a@exam_ple.com', 'a@example.com.'])(
    'the domain of %j',
    async (to) => {
      expect(await contentOf(SMTP, { ...MAIL, to })).toBe('INVALID_FQDN');
    },
  );

  test.each(['a@b', 'first.last+tag@sub.example.com', "o'brien!#$%&*/=?^_`{|}~@example.com", 'jürgen@bücher.example'])(
    'while %j is an address',
    async (to) => {
      expect(await contentOf(SMTP, { ...MAIL, to })).toMatchObject({ to });
    },
  );
});
