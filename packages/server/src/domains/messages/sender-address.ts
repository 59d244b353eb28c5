import { SENDER, SENDER_NAME_DEFAULT } from '../../lib/mail-address.ts';
import type { MailMessage, MailSender } from './message.ts';

/** The operator's sender, as an address or `Name <address>`. */
export function parseSender(text: string): MailSender {
  const [, name = '', address, bare] = SENDER.exec(text.trim()) ?? [];
  return { address: (address ?? bare ?? text).trim(), name };
}

/** The sender fields of requests (protocol/messages 1.4). */
export interface SenderFields {
  readonly sendFromEmailAddress?: string | undefined;
  readonly sendFromEmailSenderName?: string | undefined;
  readonly replyToEmailAddress?: string | undefined;
}

/** The sender that a request asks for; whether it is granted is decided where the message is composed. */
export function senderOf(fields: SenderFields): Pick<MailMessage, 'from' | 'replyTo'> {
  const { sendFromEmailAddress: address, sendFromEmailSenderName: name, replyToEmailAddress: replyTo } = fields;
  if (!address) return {};
  return { from: { address, name: name || SENDER_NAME_DEFAULT }, ...(replyTo && { replyTo }) };
}
