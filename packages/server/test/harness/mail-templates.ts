import { fileURLToPath } from 'node:url';

/** `plain` is whole, `half` has no text form, `mute` shows no code. */
export const MAIL_TEMPLATES = {
  CUSTOS_MAIL_TEMPLATES: fileURLToPath(new URL('../fixtures/mail-templates', import.meta.url)),
};
