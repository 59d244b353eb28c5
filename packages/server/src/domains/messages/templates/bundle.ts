import type { EmailCustomization } from './customization.ts';
import { fillTemplate, type MailTemplate } from './files.ts';
import { type Block, duration, forApp, layout, linkBlocks, type MailText, paragraph } from './layout.ts';

/**
 * A mail that carries a credential bundle, which only the device that asked for it can open (protocol/messages 1.6).
 */
export interface BundleMailInput extends EmailCustomization {
  readonly bundle: string;
  readonly expiresInSeconds?: number | undefined;
  readonly template?: MailTemplate | undefined;
}

export const emailAuthMail = (input: BundleMailInput): MailText =>
  bundleMail('Log in', 'To log in', forApp('to', input.appName), input);

export const recoveryMail = (input: BundleMailInput): MailText =>
  bundleMail('Recover your account', 'To recover your account', forApp('for', input.appName), input);

function bundleMail(label: string, purpose: string, app: string, input: BundleMailInput): MailText {
  const { bundle, expiresInSeconds, template, ...customization } = input;
  const subject = `${label}${app}`;
  if (template !== undefined) {
    const expiresIn = expiresInSeconds === undefined ? '' : duration(expiresInSeconds);
    return fillTemplate(template, customization, { subject, bundle, expiresIn });
  }
  return layout(subject, customization, [
    ...steps(`${purpose}${app}`, label, bundle, customization),
    ...closing(expiresInSeconds),
  ]);
}

function steps(purpose: string, label: string, bundle: string, customization: EmailCustomization): Block[] {
  const link = linkBlocks(label, bundle, customization);
  const copy = 'copy this code into the page where you asked for it:';
  const text = link.length === 0 ? `${purpose}, ${copy}` : `${purpose}, follow the link, or ${copy}`;
  return [paragraph(text), { kind: 'code', text: bundle }, ...link];
}

const closing = (expiresInSeconds: number | undefined): Block[] => [
  ...(expiresInSeconds === undefined ? [] : [paragraph(`It expires in ${duration(expiresInSeconds)}.`)]),
  paragraph('If you did not ask for it, you can ignore this message: it opens only where it was asked for.'),
];
