import { sha256Hex } from '../lib/encoding.ts';

export type OtpType = 'OTP_TYPE_EMAIL' | 'OTP_TYPE_SMS';

/** One name for all spellings of a contact, which does not tell it. */
export const contactKeyOf = (type: OtpType, contact: string): string =>
  sha256Hex(`${type}:${type === 'OTP_TYPE_EMAIL' ? contact.toLowerCase() : contact}`);
