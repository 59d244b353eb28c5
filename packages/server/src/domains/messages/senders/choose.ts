import type { Keyring } from '@custos/keyring';
import { type MessageSettings, wayOf } from '../../../config/message-ways.ts';
import type { Storage } from '../../../storage/storage.ts';
import type { Channel } from '../store.ts';
import { InboxSender, noSender } from './inbox.ts';
import type { Sender } from './sender.ts';
import { SmsSender } from './sms.ts';
import { SmtpSender } from './smtp.ts';

export type Senders = Readonly<Record<Channel, Sender>>;

/** The senders that the settings ask for. Each is only ever given messages of its own channel. */
export function sendersFor(config: MessageSettings, storage: Storage, keyring: Keyring): Senders {
  const { smtpUrl = '', smsUrl = '', smsUser = '', smsPassword = '', smsFrom = '' } = config;
  const choose = (channel: Channel, open: () => unknown): Sender => {
    const way = wayOf(channel, config);
    if (way === 'inbox') return new InboxSender(storage, keyring);
    return way === 'none' ? noSender : (open() as Sender);
  };
  return {
    email: choose('email', () => new SmtpSender(smtpUrl)),
    sms: choose('sms', () => new SmsSender({ url: smsUrl, user: smsUser, password: smsPassword, from: smsFrom })),
  };
}
