import { type EmailCustomization, fillSmsTemplate } from './customization.ts';
import { fillTemplate, type MailTemplate } from './files.ts';
import { duration, forApp, layout, linkBlocks, type MailText, paragraph } from './layout.ts';

export interface OtpMailInput extends EmailCustomization {
  readonly code: string;
  readonly expiresInSeconds: number;
  readonly template?: MailTemplate | undefined;
}

/**
 * The mail with a one-time code. The code stands alone on a line, and not in the subject, which locked screens show.
 */
export function otpMail({ code, expiresInSeconds, template, ...customization }: OtpMailInput): MailText {
  const { appName } = customization;
  const subject = `Your code${forApp('for', appName)}`;
  if (template !== undefined) {
    return fillTemplate(template, customization, { subject, code, expiresIn: duration(expiresInSeconds) });
  }
  return layout(subject, customization, [
    paragraph(`Your one-time code${forApp('for', appName)} is:`),
    { kind: 'code', text: code },
    ...linkBlocks('Or continue with this link', code, customization),
    paragraph(`It expires in ${duration(expiresInSeconds)} and works once. Do not share it with anybody.`),
    paragraph('If you did not ask for it, you can ignore this message.'),
  ]);
}

export interface OtpSmsInput {
  readonly code: string;
  readonly appName?: string | undefined;
  /** The organization's own wording, with {{.OtpCode}} in it. */
  readonly template?: string | undefined;
}

export function otpSms({ code, appName, template }: OtpSmsInput): string {
  if (template) return fillSmsTemplate(template, code);
  return `${code} is your one-time code${forApp('for', appName)}. Do not share it with anybody.`;
}
