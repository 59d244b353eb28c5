import type { Keyring } from '@custos/keyring';
import { type MessageSettings, wayOf } from '../../config/message-ways.ts';
import type { Organization } from '../../core/model.ts';
import { ApiError } from '../../lib/errors.ts';
import type { NewId } from '../../lib/ids.ts';
import { domainOf, requireEmailAddress, requireHeaderText, requirePhoneNumber } from '../../lib/mail-address.ts';
import {
  type Content,
  type MailContent,
  type MailMessage,
  type MailSender,
  type SealedMessage,
  type SmsMessage,
  sealContent,
} from './message.ts';
import { parseSender } from './sender-address.ts';

/** Only the development inbox works without a sender. */
const NO_SENDER: MailSender = { address: 'notifications@localhost', name: '' };

/** What `prepare` may use to write messages; nothing leaves before the transaction that stores them has committed. */
export interface Messages {
  /** Refused with EMAIL_SENDING_DISABLED or SMS_SENDING_DISABLED where there is no way to send. */
  compose(
    organization: Pick<Organization, 'id' | 'wrappedKey'>,
    message: MailMessage | SmsMessage,
  ): Promise<SealedMessage>;
}

export interface MessagesParts {
  readonly config: MessageSettings;
  readonly keyring: Keyring;
  readonly newId: NewId;
}

export function createMessages({ config, keyring, newId }: MessagesParts): Messages {
  return {
    compose: async ({ id: organizationId, wrappedKey }, message) => {
      const { channel, notAfterMs } = message;
      if (wayOf(channel, config) === 'none') throw sendingDisabled(channel);
      const content: Content = channel === 'email' ? mailContent(message, config) : smsContent(message);
      const owner = { organizationId, id: newId() };
      const sealed = await sealContent(keyring, wrappedKey, owner, 'outbox-message', content);
      return { ...owner, channel, sealed, notAfterMs };
    },
  };
}

function sendingDisabled(channel: 'email' | 'sms'): ApiError {
  return channel === 'email'
    ? new ApiError('EMAIL_SENDING_DISABLED', 'this service is not set up to send mail (CUSTOS_SMTP_URL)')
    : new ApiError('SMS_SENDING_DISABLED', 'this service is not set up to send text messages (CUSTOS_SMS_URL)');
}

function mailContent(message: MailMessage, config: MessageSettings): MailContent {
  const { to, subject, text, html } = message;
  requireEmailAddress(to, 'the recipient');
  requireHeaderText(subject, 'the subject');
  const { from, replyTo } = chooseSender(message, config);
  return { channel: 'email', to, subject, text, html, from, ...(replyTo !== undefined && { replyTo }) };
}

/**
 * Anybody's address in the name of this service would help phishing: only listed domains are granted (protocol/messages
 * 1.4).
 */
function chooseSender({ from, replyTo }: MailMessage, config: MessageSettings): Pick<MailContent, 'from' | 'replyTo'> {
  if (replyTo !== undefined) requireEmailAddress(replyTo, 'the reply-to address');
  if (from !== undefined) {
    requireEmailAddress(from.address, 'the sender');
    requireHeaderText(from.name, "the sender's name");
    if (config.mailSenderDomains.includes(domainOf(from.address))) return { from, replyTo };
  }
  return { from: config.mailFrom === undefined ? NO_SENDER : parseSender(config.mailFrom) };
}

function smsContent({ to, text }: SmsMessage): Content {
  requirePhoneNumber(to);
  return { channel: 'sms', to, text };
}

declare module '../../engine/services.ts' {
  interface PrepareServices {
    readonly messages: Messages;
  }
}
