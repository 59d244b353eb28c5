import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Receiver } from '../../harness/bundles.ts';
import { databasesOf } from '../../harness/databases.ts';
import { MAIL_TEMPLATES } from '../../harness/mail-templates.ts';
import { COMPLETED, outcome } from '../fixtures/access.ts';
import { LoginService } from '../fixtures/logins.ts';

const looks = (templateId: string) => ({
  magicLinkTemplate: 'https://app.example/in?code=%s&x=1',
  templateVariables: JSON.stringify({ greeting: '<b>Hi</b> & "you"' }),
  templateId,
});
const code = (contact: string, templateId: string) => ({
  otpType: 'OTP_TYPE_EMAIL',
  contact,
  appName: '<App>',
  emailCustomization: looks(templateId),
});

describe.each(databasesOf(import.meta.url))('mail templates on %s', (database) => {
  let service: LoginService;

  beforeAll(async () => {
    service = await LoginService.open(database, MAIL_TEMPLATES);
  });
  afterAll(async () => await service[Symbol.asyncDispose]());

  test('templateId picks the files, whose values are escaped in HTML alone', async () => {
    const { email, byParent } = await service.newPerson();
    expect(outcome(await byParent.submit('init_otp', code(email, 'plain')))).toEqual([200, COMPLETED]);
    const { subject, text, html } = await service.message(email);
    const [, otp] = /Hello <App>: (\w+)/.exec(text) ?? [];
    expect(otp).toHaveLength(9);
    // A secret is never in a subject, whatever the template says.
    expect(subject).toBe('Welcome to <App>');
    expect(text).toBe(`Hello <App>: ${otp}\nhttps://app.example/in?code=${otp}&x=1 <b>Hi</b> & "you"  (5 minutes)\n`);
    expect(html).toContain(`<p>Hello &lt;App&gt;: <b>${otp}</b></p>`);
    expect(html).toContain(`href="https://app.example/in?code=${otp}&amp;x=1"`);
    expect(html).toContain('&lt;b&gt;Hi&lt;/b&gt; &amp; &quot;you&quot;');
    // What is no variable stays for its writer to see.
    expect(html).toContain('{{nothing}}');
  });

  test('the development inbox shows the mail as it will look', async () => {
    const { email, byParent } = await service.newPerson();
    await byParent.run('init_otp', code(email, 'plain'));
    await service.message(email);
    const page = await (await fetch(`${service.service.baseUrl}/dev/inbox`)).text();
    expect(page).toContain('Welcome to &lt;App&gt;');
    expect(page).toContain('srcdoc="&lt;p&gt;Hello &amp;lt;App&amp;gt;: ');
  });

  test.each([
    ['unknown', 'there is no such template: CUSTOS_MAIL_TEMPLATES has no file unknown.html'],
    ['half', 'CUSTOS_MAIL_TEMPLATES has no file half.txt'],
    ['mute', 'in CUSTOS_MAIL_TEMPLATES has none of {{code}}, {{bundle}} and {{magicLink}}'],
    ['../mail-templates/plain', 'CUSTOS_MAIL_TEMPLATES'],
    ['/etc/passwd', 'CUSTOS_MAIL_TEMPLATES'],
    ['plain.html', 'CUSTOS_MAIL_TEMPLATES'],
    ['a'.repeat(65), 'CUSTOS_MAIL_TEMPLATES'],
  ])('%s is refused with the reason', async (templateId, reason) => {
    const { email, byParent, user } = await service.newPerson();
    const mailed = {
      email,
      targetPublicKey: new Receiver().publicKey,
      emailCustomization: { appName: 'App', templateId },
    };
    for (const answer of [
      await byParent.submit('init_otp', code(email, templateId)),
      await byParent.submit('email_auth', mailed),
      await byParent.submit('init_user_email_recovery', mailed),
      await user.submit('init_otp', code(email, templateId)),
    ]) {
      expect(outcome(answer)).toEqual([400, 'REQUEST_INVALID']);
      expect(answer.body.message).toContain('parameters.emailCustomization.templateId: ');
      expect(answer.body.message).toContain(reason);
    }
    expect(await service.messagesTo(email)).toEqual([]);
  });

  test('words of a sub-organization are left out, its template too', async () => {
    const { email, user } = await service.newPerson();
    expect(outcome(await user.submit('init_otp', code(email, 'plain')))).toEqual([200, COMPLETED]);
    expect((await service.message(email)).text).not.toContain('Hello');
  });

  test('otpTemplateId is for codes of the sign-up proxy and emailAuthTemplateId for email_auth', async () => {
    const { parent } = service;
    await parent.run('enable_auth_proxy', {});
    for (const field of ['otpTemplateId', 'emailAuthTemplateId']) {
      const refused = await parent.submit('update_auth_proxy_config', { [field]: 'unknown' });
      expect(outcome(refused)).toEqual([400, 'REQUEST_INVALID']);
      expect(refused.body.message).toContain(`parameters.${field}: there is no such template: CUSTOS_MAIL_TEMPLATES`);
    }
    const change = { otpTemplateId: 'plain', emailAuthTemplateId: 'plain' };
    const { configId } = await parent.run('update_auth_proxy_config', change);
    const person = await service.newPerson();
    const asked = await fetch(`${service.service.baseUrl}/v1/otp_init`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-auth-proxy-config-id': configId },
      body: JSON.stringify({ otpType: 'OTP_TYPE_EMAIL', contact: person.email }),
    });
    expect(asked.status).toBe(200);
    expect((await service.message(person.email)).text).toMatch(/^Hello Test: \d{6}\n/);
    await person.byParent.run('email_auth', {
      email: person.email,
      targetPublicKey: new Receiver().publicKey,
      emailCustomization: { appName: 'App' },
    });
    expect((await service.message(person.email)).text).toMatch(/^Hello App: \w{100,}\n/);
  });
});

test('without the setting a template is refused by its name', async () => {
  const service = await LoginService.open('sqlite');
  try {
    const { email, byParent } = await service.newPerson();
    const answer = await byParent.submit('init_otp', code(email, 'plain'));
    expect(outcome(answer)).toEqual([400, 'REQUEST_INVALID']);
    expect(answer.body.message).toBe(
      'parameters.emailCustomization.templateId: this service has no mail templates (CUSTOS_MAIL_TEMPLATES is not set)',
    );
    // An empty one is none.
    expect(outcome(await byParent.submit('init_otp', code(email, '')))).toEqual([200, COMPLETED]);
  } finally {
    await service[Symbol.asyncDispose]();
  }
});
