import { describe, expect, test } from 'vitest';
import { ApiError } from '../../../lib/errors.ts';
import { emailAuthMail, recoveryMail } from './bundle.ts';
import { checkCustomization, type EmailCustomization } from './customization.ts';
import { duration } from './layout.ts';
import { otpMail, otpSms } from './otp.ts';

const HOSTILE = `<img src=x onerror="alert('1')">&amp;`;
const ESCAPED = '&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;amp;';

function fieldOf(emailCustomization: EmailCustomization, rest: object = {}): string {
  try {
    checkCustomization({ emailCustomization, ...rest });
    return 'accepted';
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    expect(error.httpStatus).toBe(400);
    return error.violations[0]?.field ?? error.message;
  }
}

const MAILS = [
  ['one-time code', (custom: EmailCustomization) => otpMail({ ...custom, code: 'SECRET1', expiresInSeconds: 300 })],
  ['login', (custom: EmailCustomization) => emailAuthMail({ ...custom, bundle: 'SECRET1', expiresInSeconds: 900 })],
  ['recovery', (custom: EmailCustomization) => recoveryMail({ ...custom, bundle: 'SECRET1' })],
] as const;

describe.each(MAILS)('the mail with a %s', (_name, mail) => {
  test('has what is needed in both forms, the secret on a line of its own and not in the subject', () => {
    const { subject, text, html } = mail({ appName: 'App' });
    expect(subject).toContain('App');
    expect(subject).not.toContain('SECRET1');
    expect(text.split('\n')).toContain('SECRET1');
    expect(html).toContain('>SECRET1<');
    expect(html).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(html).toContain(`<title>${subject}</title>`);
    expect(html).not.toMatch(/<(script|img|link|iframe)|https?:|undefined/);
    expect(text).not.toMatch(/undefined|<p>/);
    const { subject: bare } = mail({});
    expect(bare).not.toMatch(/undefined|App|\s$/);
  });

  test('has the link, the logo and the words of the organization', () => {
    const { subject, text, html } = mail({
      appName: 'App',
      logoUrl: 'https://app.example/logo.png?a=1&b=2',
      magicLinkTemplate: 'https://app.example/%20in?x=1&code=%s#y',
      templateVariables: JSON.stringify({ subject: 'Our subject', greeting: 'Hi', footer: 'Bye', other: 'no' }),
    });
    expect(subject).toBe('Our subject');
    expect(text).toMatch(/^Hi\n/);
    expect(text).toMatch(/\nBye\n$/);
    expect(text).toContain('\nhttps://app.example/%20in?x=1&code=SECRET1#y\n');
    expect(html).toContain('href="https://app.example/%20in?x=1&amp;code=SECRET1#y"');
    expect(html).toContain('<img src="https://app.example/logo.png?a=1&amp;b=2" alt="App"');
    expect(`${text}${html}`).not.toContain('no</p>');
  });

  test('escapes everything that is not ours', () => {
    const templateVariables = JSON.stringify({ subject: HOSTILE, greeting: HOSTILE, footer: HOSTILE });
    const { html, text } = mail({ appName: HOSTILE, templateVariables, logoUrl: 'https://app.example/l.png' });
    // Title, greeting, footer and what the logo stands for.
    expect(html.split(ESCAPED).length).toBeGreaterThanOrEqual(5);
    expect(html).not.toContain('<img src=x');
    expect(text).toContain(HOSTILE);
  });
});

test('a text message has the code, in the wording of the organization if it has one', () => {
  expect(otpSms({ code: '123456', appName: 'App' })).toMatch(/^123456 is .* App\./);
  expect(otpSms({ code: '123456' })).not.toContain('undefined');
  expect(otpSms({ code: '12$&56', appName: 'App', template: 'A {{.OtpCode}} B {{.OtpCode}}' })).toBe(
    'A 12$&56 B 12$&56',
  );
  expect(otpSms({ code: '1', appName: 'App', template: '' })).toContain('App');
});

test('a duration is told in its largest exact unit', () => {
  expect([1, 59, 60, 90, 300, 3600, 7200, 5400].map(duration)).toEqual([
    '1 second',
    '59 seconds',
    '1 minute',
    '90 seconds',
    '5 minutes',
    '1 hour',
    '2 hours',
    '90 minutes',
  ]);
});

describe('customization', () => {
  test.each([
    [{}],
    [{ appName: '', logoUrl: '', magicLinkTemplate: '', templateVariables: '', templateId: 'anything' }],
    [{ appName: 'Ünlü 😀', logoUrl: 'https://app.example/logo.png' }],
    [{ magicLinkTemplate: 'http://localhost:3000/login?code=%s' }],
    [{ magicLinkTemplate: 'HTTPS://app.example/%s/%41' }],
    [{ templateVariables: '{"unknown":"x","subject":"y"}' }],
    [{ templateVariables: '{}' }],
  ])('%j is accepted', (customization) => {
    expect(fieldOf(customization)).toBe('accepted');
  });

  test.each([
    ['logoUrl', 'http://app.example/logo.png'],
    ['logoUrl', 'javascript:alert(1)'],
    ['logoUrl', 'data:image/png;base64,AA=='],
    ['logoUrl', 'https://app.example/"onerror="x'],
    ['logoUrl', 'https://app.example/a b'],
    ['logoUrl', 'https://'],
    ['logoUrl', '/logo.png'],
    ['logoUrl', `https://app.example/${'a'.repeat(2048)}`],
    ['magicLinkTemplate', 'https://app.example/'],
    ['magicLinkTemplate', 'https://app.example/%s/%s'],
    ['magicLinkTemplate', '%s'],
    ['magicLinkTemplate', 'javascript:alert("%s")'],
    ['magicLinkTemplate', 'app://login?code=%s'],
    ['magicLinkTemplate', 'https://app.example/%s\r\nBcc: a'],
    ['magicLinkTemplate', 'https://app.example/%s"><script>'],
    ['templateVariables', 'not json'],
    ['templateVariables', '[]'],
    ['templateVariables', 'null'],
    ['templateVariables', '"text"'],
    ['templateVariables', '{"subject":1}'],
    ['templateVariables', '{"unknown":{}}'],
    ['templateVariables', '{"subject":"a\\r\\nBcc: b"}'],
    ['templateVariables', `{"subject":"${'a'.repeat(256)}"}`],
    ['templateVariables', `{"unknown":"${'a'.repeat(5000)}"}`],
  ])('%s %j is refused', (name, value) => {
    expect(fieldOf({ [name]: value })).toBe(`parameters.emailCustomization.${name}`);
  });

  test('names of applications have no line breaks', () => {
    expect(fieldOf({ appName: 'a\nb' })).toBe('parameters.emailCustomization.appName');
    expect(fieldOf({}, { appName: 'a\r\nb' })).toBe('parameters.appName');
  });

  test.each([
    ['Your code: {{.OtpCode}}', 'accepted'],
    ['Two\nlines {{.OtpCode}} {{.OtpCode}}', 'accepted'],
    ['', 'accepted'],
    ['no code', 'parameters.smsCustomization.template'],
    ['{{OtpCode}}', 'parameters.smsCustomization.template'],
    ['\u0000 {{.OtpCode}}', 'parameters.smsCustomization.template'],
    [`${'a'.repeat(480)}{{.OtpCode}}`, 'parameters.smsCustomization.template'],
  ])('wording of text messages %j', (template, expected) => {
    expect(fieldOf({}, { smsCustomization: { template } })).toBe(expected);
  });
});
