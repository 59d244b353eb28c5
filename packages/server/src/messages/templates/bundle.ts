import type { EmailCustomization } from './customization.ts';
import { type Block, duration, forApp, layout, linkBlocks, type MailText, paragraph } from './layout.ts';

/** A mail that carries a credential bundle, which only the device that asked for it can open (AUTH 7.5). */
export interface BundleMailInput extends EmailCustomization {
  readonly bundle: string;
  readonly expiresInSeconds?: number | undefined;
}

export function emailAuthMail({ bundle, expiresInSeconds, ...customization }: BundleMailInput): MailText {
  const app = forApp('to', customization.appName);
  return layout(`Log in${app}`, customization, [
    ...steps(`To log in${app}`, 'Log in', bundle, customization),
    ...closing(expiresInSeconds),
  ]);
}

export function recoveryMail({ bundle, expiresInSeconds, ...customization }: BundleMailInput): MailText {
  const app = forApp('for', customization.appName);
  return layout(`Recover your account${app}`, customization, [
    ...steps(`To recover your account${app}`, 'Recover your account', bundle, customization),
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
