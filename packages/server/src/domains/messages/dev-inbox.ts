import type { Keyring } from '@custos/keyring';
import { hasDevInbox, type MessageSettings } from '../../config/message-ways.ts';
import { SealedReader } from '../../core/store/sealed.ts';
import { toRfc3339 } from '../../lib/clock.ts';
import type { Storage } from '../../storage/storage.ts';
import { type Content, openContent } from './message.ts';
import type { KeptMessage } from './store.ts';
import { MessageReader } from './store.ts';

/** A message as the development inbox shows it; a text message has neither subject nor HTML. */
export interface DevMessage {
  readonly id: string;
  readonly channel: 'email' | 'sms';
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly createdAt: string;
}

export interface DevInbox {
  /** Newest first. */
  list(): Promise<DevMessage[]>;
}

export interface DevInboxParts {
  readonly config: MessageSettings;
  readonly storage: Storage;
  readonly keyring: Keyring;
}

/** Undefined where messages are sent, or where nobody may see them (protocol/messages 4.1). */
export function openDevInbox({ config, storage, keyring }: DevInboxParts): DevInbox | undefined {
  if (!hasDevInbox(config)) return undefined;
  const show = async (message: KeptMessage): Promise<DevMessage[]> => {
    const wrappedKey = await storage.read(SealedReader).organizationKey(message.organizationId);
    // Gone with its organization.
    if (wrappedKey === undefined) return [];
    return [toDevMessage(message, await openContent(keyring, wrappedKey, message, 'dev-message', message.sealed))];
  };
  return { list: async () => (await Promise.all((await storage.read(MessageReader).kept()).map(show))).flat() };
}

function toDevMessage({ id, createdAtMs }: KeptMessage, content: Content): DevMessage {
  const { subject, html } = content.channel === 'email' ? content : { subject: '', html: '' };
  const { channel, to, text } = content;
  return { id, channel, to, subject, text, html, createdAt: toRfc3339(createdAtMs) };
}
