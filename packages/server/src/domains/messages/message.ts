import { domainToASCII } from 'node:url';
import type { Keyring } from '@custos/keyring';
import type { OrganizationId } from '../../lib/ids.ts';

export type { SealedMessage } from './store.ts';

/** Whom a mail comes from; the name may be empty. */
export interface MailSender {
  readonly address: string;
  readonly name: string;
}

interface Perishable {
  /** When the message has become useless, as with the code in it: from then on it is dropped instead of sent. */
  readonly notAfterMs?: number | undefined;
}

export interface MailMessage extends Perishable {
  readonly channel: 'email';
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The operator's sender where absent, or where its domain is not on the operator's list. */
  readonly from?: MailSender | undefined;
  /** Left out together with a sender that is left out. */
  readonly replyTo?: string | undefined;
}

export interface SmsMessage extends Perishable {
  readonly channel: 'sms';
  readonly to: string;
  readonly text: string;
}

/** A mail as it is sealed: from whom is settled, so that a repeat is the same mail. */
export interface MailContent extends Omit<MailMessage, 'from' | 'notAfterMs'> {
  readonly from: MailSender;
}
export type SmsContent = Omit<SmsMessage, 'notAfterMs'>;
export type Content = MailContent | SmsContent;

/** What a sealed message is: one that waits, or one that the development inbox keeps. */
export type MessageKind = 'outbox-message' | 'dev-message';

/** The organization and the message that something is sealed for. */
export interface MessageOwner {
  readonly organizationId: OrganizationId;
  readonly id: string;
}

export async function sealContent(
  keyring: Keyring,
  wrappedKey: Uint8Array,
  { organizationId, id }: MessageOwner,
  kind: MessageKind,
  content: Content,
): Promise<Uint8Array> {
  const binding = { organizationId, ownerId: id, kind };
  return await keyring.seal(wrappedKey, binding, Buffer.from(JSON.stringify(content)));
}

export async function openContent(
  keyring: Keyring,
  wrappedKey: Uint8Array,
  { organizationId, id }: MessageOwner,
  kind: MessageKind,
  sealed: Uint8Array,
): Promise<Content> {
  const opened = await keyring.open(wrappedKey, { organizationId, ownerId: id, kind }, sealed);
  return JSON.parse(Buffer.from(opened).toString('utf8')) as Content;
}

/** The Message-ID of a mail without its brackets; a repeat has the same one (protocol/messages 2.1). */
export function messageIdOf(id: string, from: MailSender): string {
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1);
  return `${id}@${domainToASCII(domain) || 'localhost'}`;
}
