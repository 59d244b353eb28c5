import type { Config } from './config.ts';

export type MessageSettings = Pick<
  Config,
  | 'smtpUrl'
  | 'mailFrom'
  | 'mailSenderDomains'
  | 'smsUrl'
  | 'smsUser'
  | 'smsPassword'
  | 'smsFrom'
  | 'devInbox'
  | 'databaseUrl'
  | 'host'
>;

/** How the messages of a channel leave. */
export type Way = 'provider' | 'inbox' | 'none';

/** Whether the development inbox takes the messages (protocol/messages 4.1). */
export function hasDevInbox(settings: MessageSettings): boolean {
  const { devInbox, smtpUrl, smsUrl, databaseUrl, host } = settings;
  if (devInbox !== undefined) return devInbox === 'on';
  return smtpUrl === undefined && smsUrl === undefined && databaseUrl === undefined && isLoopbackHost(host);
}

export function wayOf(channel: 'email' | 'sms', settings: MessageSettings): Way {
  if (hasDevInbox(settings)) return 'inbox';
  return (channel === 'email' ? settings.smtpUrl : settings.smsUrl) === undefined ? 'none' : 'provider';
}

/** A name or address of this machine that no other one can reach, with brackets or without. */
export function isLoopbackHost(host: string): boolean {
  const bare = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  return bare === 'localhost' || bare === '::1' || /^127(\.\d{1,3}){3}$/.test(bare);
}
