import { type EmailCustomization, magicLink, parseVariables, type TemplateVariables } from './customization.ts';
import { escapeHtml } from './html.ts';

/** What a mail is made of, in both of its forms. */
export interface MailText {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** A part of a mail; its text and its HTML are made from the same words, so that they cannot differ. */
export type Block =
  | { readonly kind: 'paragraph'; readonly text: string }
  /** Something to copy: short ones are shown large. */
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'link'; readonly label: string; readonly url: string };

const SHORT_LENGTH_MAX = 12;
const FONT = 'font-family:system-ui,-apple-system,Segoe UI,Roboto,sans-serif';
const MONOSPACE = 'font-family:ui-monospace,Menlo,Consolas,monospace';

export const paragraph = (text: string): Block => ({ kind: 'paragraph', text });

/** The organization's own words around the blocks, and the logo. Nothing but the logo is loaded from elsewhere. */
export function layout(subject: string, customization: EmailCustomization, blocks: readonly Block[]): MailText {
  const { appName = '', logoUrl, templateVariables } = customization;
  const variables: TemplateVariables = (templateVariables && parseVariables(templateVariables)) || {};
  const all = [
    ...(variables.greeting === undefined ? [] : [paragraph(variables.greeting)]),
    ...blocks,
    ...(variables.footer === undefined ? [] : [paragraph(variables.footer)]),
  ];
  const title = variables.subject ?? subject;
  const logo = logoUrl
    ? `<p><img src="${escapeHtml(logoUrl)}" alt="${escapeHtml(appName)}" style="max-width:340px;max-height:124px"></p>\n`
    : '';
  return {
    subject: title,
    text: `${all.map(toText).join('\n\n')}\n`,
    html: `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title></head>
<body style="margin:0;padding:24px;background:#ffffff;color:#222222;font-size:16px;line-height:1.5;${FONT}">
<div style="max-width:560px;margin:0 auto">
${logo}${all.map(toHtml).join('\n')}
</div>
</body>
</html>
`,
  };
}

const toText = (block: Block): string => (block.kind === 'link' ? `${block.label}:\n${block.url}` : block.text);

function toHtml(block: Block): string {
  if (block.kind === 'paragraph') return `<p>${escapeHtml(block.text)}</p>`;
  if (block.kind === 'link') return `<p><a href="${escapeHtml(block.url)}">${escapeHtml(block.label)}</a></p>`;
  const size = block.text.length <= SHORT_LENGTH_MAX ? 'font-size:32px;letter-spacing:4px' : 'word-break:break-all';
  return `<p style="padding:12px;background:#f2f2f2;${size};${MONOSPACE}">${escapeHtml(block.text)}</p>`;
}

/** The link to a page of the organization, where it asks for one. */
export function linkBlocks(label: string, value: string, { magicLinkTemplate }: EmailCustomization): Block[] {
  const url = magicLinkTemplate ? magicLink(magicLinkTemplate, value) : undefined;
  return url === undefined ? [] : [{ kind: 'link', label, url }];
}

const UNITS = [
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;

/** In the largest unit that tells it exactly. */
export function duration(seconds: number): string {
  const [name, length] = UNITS.find(([, unit]) => seconds >= unit && seconds % unit === 0) ?? UNITS[2];
  const count = seconds / length;
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

/** ` for Name`, or nothing where the name is not known. */
export const forApp = (word: string, appName: string | undefined): string => (appName ? ` ${word} ${appName}` : '');
