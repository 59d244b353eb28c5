import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type ApiError, invalidField } from '../../../lib/errors.ts';
import { type EmailCustomization, magicLink, parseVariables } from './customization.ts';
import { escapeHtml } from './html.ts';
import type { MailText } from './layout.ts';

// Mails in the operator's own words: `<templateId>.html` and `<templateId>.txt` in the folder CUSTOS_MAIL_TEMPLATES.

const SETTING = 'CUSTOS_MAIL_TEMPLATES';
/** No dots and no slashes: nothing outside the folder has such a name. */
const TEMPLATE_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const FILE_BYTES_MAX = 256 * 1024;
const VARIABLE = /\{\{\s*([A-Za-z]+)\s*\}\}/g;
/** The first line of the text form may be the subject. */
const SUBJECT_LINE = /^Subject:[ \t]*([^\r\n]*)\r?\n(?:[ \t]*\r?\n)?/;
const LINE_LENGTH_MAX = 255;

export interface MailTemplate {
  readonly html: string;
  readonly text: string;
}

/** What a template may show; what is not known of a mail is empty. */
interface Values {
  readonly appName: string;
  readonly logoUrl: string;
  readonly code: string;
  readonly bundle: string;
  readonly magicLink: string;
  readonly expiresIn: string;
  readonly subject: string;
  readonly greeting: string;
  readonly footer: string;
}

/** Either of these is what the reader needs. */
const SECRETS: readonly string[] = ['code', 'bundle', 'magicLink'];

/** Reads a template, as it is now. One that is not there is the caller's mistake, who named it. */
export async function loadTemplate(
  folder: string | undefined,
  templateId: string,
  field: string,
): Promise<MailTemplate> {
  if (folder === undefined) throw invalidField(field, `this service has no mail templates (${SETTING} is not set)`);
  if (!TEMPLATE_ID.test(templateId)) {
    throw invalidField(field, `must be 1 to 64 letters, digits, - and _: the name of a template in ${SETTING}`);
  }
  const read = async (form: 'html' | 'txt'): Promise<string> => {
    const name = `${templateId}.${form}`;
    const content = await readBounded(join(folder, name));
    if (content === undefined) throw missing(field, name);
    const shown = [...content.matchAll(VARIABLE)].map(([, variable]) => variable as string);
    if (!shown.some((variable) => SECRETS.includes(variable))) {
      throw invalidField(field, `${name} in ${SETTING} has none of {{code}}, {{bundle}} and {{magicLink}}`);
    }
    return content;
  };
  return { html: await read('html'), text: await read('txt') };
}

const missing = (field: string, name: string): ApiError =>
  invalidField(field, `there is no such template: ${SETTING} has no file ${name} of at most ${FILE_BYTES_MAX} bytes`);

async function readBounded(path: string): Promise<string | undefined> {
  try {
    const found = await stat(path);
    if (!found.isFile() || found.size > FILE_BYTES_MAX) return undefined;
    return await readFile(path, 'utf8');
  } catch {
    return undefined;
  }
}

export interface MailValues {
  readonly subject: string;
  readonly code?: string;
  readonly bundle?: string;
  readonly expiresIn: string;
}

/**
 * The mail that a template makes of what is known. Values are escaped in HTML, and none is read as a template again.
 */
export function fillTemplate(
  { html, text }: MailTemplate,
  customization: EmailCustomization,
  { subject: usual, code = '', bundle = '', expiresIn }: MailValues,
): MailText {
  const { appName = '', logoUrl = '', magicLinkTemplate, templateVariables } = customization;
  const worded = (templateVariables && parseVariables(templateVariables)) || {};
  const link = magicLinkTemplate ? magicLink(magicLinkTemplate, code || bundle) : undefined;
  const [, ownSubject] = SUBJECT_LINE.exec(text) ?? [];
  const { greeting = '', footer = '' } = worded;
  const known = { appName, logoUrl, code, bundle, magicLink: link ?? '', expiresIn, greeting, footer };
  const subject = worded.subject ?? (toSubject(ownSubject, { ...known, subject: usual }) || usual);
  const values: Values = { ...known, subject };
  return {
    subject,
    text: fill(text.replace(SUBJECT_LINE, ''), values, (value) => value),
    html: fill(html, values, escapeHtml),
  };
}

/** In a subject, which locked screens show, there is no secret. */
function toSubject(line: string | undefined, values: Values): string {
  if (line === undefined) return '';
  const filled = fill(line, { ...values, code: '', bundle: '', magicLink: '' }, (value) => value);
  return filled
    .replace(/\p{Cc}/gu, ' ')
    .trim()
    .slice(0, LINE_LENGTH_MAX);
}

/** A name that is none stays as it is, for its writer to see. */
const fill = (template: string, values: Values, write: (value: string) => string): string =>
  template.replace(VARIABLE, (whole, name: string) =>
    Object.hasOwn(values, name) ? write(values[name as keyof Values]) : whole,
  );
