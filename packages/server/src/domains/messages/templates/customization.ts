import { invalidField } from '../../../lib/errors.ts';
import { parseUrl } from '../../../lib/url.ts';

/** How an organization wants its mails to look (protocol/messages 1.2). An empty string counts as absent. */
export interface EmailCustomization {
  readonly appName?: string | undefined;
  /** Shown at the top, by https only. */
  readonly logoUrl?: string | undefined;
  /** The address of a page, with one %s where the code or the bundle goes. */
  readonly magicLinkTemplate?: string | undefined;
  /** A JSON object of texts in a string; the names are those of TemplateVariables, others have no effect. */
  readonly templateVariables?: string | undefined;
  /** A file of the operator's templates, in the place of the built-in words. */
  readonly templateId?: string | undefined;
}

export interface SmsCustomization {
  /** The whole text, with {{.OtpCode}} where the code goes. */
  readonly template?: string | undefined;
}

/** What an organization may word itself. */
export interface TemplateVariables {
  readonly subject?: string;
  /** The first line. */
  readonly greeting?: string;
  /** The last line. */
  readonly footer?: string;
}

const VARIABLE_NAMES = ['subject', 'greeting', 'footer'] as const satisfies readonly (keyof TemplateVariables)[];
const URL_LENGTH_MAX = 2048;
const VARIABLES_LENGTH_MAX = 4096;
const LINE_LENGTH_MAX = 255;
const SMS_LENGTH_MAX = 480;
const SMS_CODE = '{{.OtpCode}}';
const CONTROL = /[\p{Cc}\u2028\u2029]/u;
const CONTROL_EXCEPT_NEW_LINE = /[^\P{Cc}\n]/u;
/** Nothing in it can end an attribute or a line. */
const WEB_ADDRESS = /^https?:\/\/[^\s<>"'`\\\p{Cc}]+$/iu;

/** Text that may stand in a subject. */
const isLine = (text: string): boolean => text.length <= LINE_LENGTH_MAX && !CONTROL.test(text);
const isWebAddress = (text: string): boolean => WEB_ADDRESS.test(text) && parseUrl(text) !== undefined;
const isLogoUrl = (text: string): boolean => isWebAddress(text) && new URL(text).protocol === 'https:';

/** The link that a code or bundle makes of a template; undefined if that is no web address. */
export function magicLink(template: string, value: string): string | undefined {
  const parts = template.split('%s');
  const link = parts.join(encodeURIComponent(value));
  return parts.length === 2 && isWebAddress(link) ? link : undefined;
}

/** The texts that the templates know; undefined if it is not a JSON object of texts. */
export function parseVariables(text: string): TemplateVariables | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  if (Object.values(value).some((variable) => typeof variable !== 'string')) return undefined;
  const given = value as Readonly<Record<string, string>>;
  const known = VARIABLE_NAMES.filter((name) => Object.hasOwn(given, name) && given[name] !== '');
  return Object.fromEntries(known.map((name) => [name, given[name]]));
}

interface Customized {
  readonly appName?: string | undefined;
  readonly emailCustomization?: EmailCustomization | undefined;
  readonly smsCustomization?: SmsCustomization | undefined;
}

/** Refuses parameters of a login whose wishes about mails and text messages cannot be met. */
export function checkCustomization({ appName, emailCustomization, smsCustomization }: Customized): void {
  checkAppName(appName, 'parameters.appName');
  checkAppName(emailCustomization?.appName, 'parameters.emailCustomization.appName');
  checkEmail(emailCustomization ?? {}, (name) => `parameters.emailCustomization.${name}`);
  const template = smsCustomization?.template;
  if (template) checkSmsTemplate(template, 'parameters.smsCustomization.template');
}

function checkAppName(appName: string | undefined, field: string): void {
  if (!appName || isLine(appName)) return;
  throw invalidField(field, `must be at most ${LINE_LENGTH_MAX} characters without control characters`);
}

function checkEmail(customization: EmailCustomization, field: (name: keyof EmailCustomization) => string): void {
  const { logoUrl, magicLinkTemplate, templateVariables } = customization;
  if (logoUrl && (logoUrl.length > URL_LENGTH_MAX || !isLogoUrl(logoUrl))) {
    throw invalidField(field('logoUrl'), 'must be an https:// address');
  }
  if (
    magicLinkTemplate &&
    (magicLinkTemplate.length > URL_LENGTH_MAX || magicLink(magicLinkTemplate, '0') === undefined)
  ) {
    throw invalidField(field('magicLinkTemplate'), 'must be an http:// or https:// address with exactly one %s');
  }
  if (!templateVariables) return;
  const variables = templateVariables.length > VARIABLES_LENGTH_MAX ? undefined : parseVariables(templateVariables);
  if (variables === undefined) {
    throw invalidField(
      field('templateVariables'),
      `must be a JSON object of strings, of at most ${VARIABLES_LENGTH_MAX} characters`,
    );
  }
  for (const text of Object.values(variables)) {
    if (isLine(text)) continue;
    throw invalidField(
      field('templateVariables'),
      `texts must be at most ${LINE_LENGTH_MAX} characters without control characters`,
    );
  }
}

function checkSmsTemplate(template: string, field: string): void {
  if (!template.includes(SMS_CODE)) throw invalidField(field, `must contain ${SMS_CODE}`);
  if (template.length > SMS_LENGTH_MAX || CONTROL_EXCEPT_NEW_LINE.test(template)) {
    throw invalidField(field, `must be at most ${SMS_LENGTH_MAX} characters without control characters`);
  }
}

export const fillSmsTemplate = (template: string, code: string): string => template.split(SMS_CODE).join(code);
