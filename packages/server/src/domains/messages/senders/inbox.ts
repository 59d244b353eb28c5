import type { Keyring } from '@custos/keyring';
import { opensFor, SealedReader } from '../../../core/store/sealed.ts';
import type { Storage } from '../../../storage/storage.ts';
import { sealContent } from '../message.ts';
import { MessageStore } from '../store.ts';
import type { Delivery, HandOver, Sender } from './sender.ts';

const KEPT_MAX = 200;

/** Keeps messages for the developer instead of sending them (protocol/messages 4.1). */
export class InboxSender implements Sender {
  readonly slots = 8;
  readonly #storage: Storage;
  readonly #keyring: Keyring;

  constructor(storage: Storage, keyring: Keyring) {
    this.#storage = storage;
    this.#keyring = keyring;
  }

  async send({ organizationId, id, content, createdAtMs }: Delivery): Promise<HandOver> {
    const wrappedKey = await this.#storage.read(SealedReader).organizationKey(organizationId);
    if (wrappedKey === undefined) return { kind: 'refused', diagnostic: 'GONE' };
    const owner = { organizationId, id };
    const sealed = await sealContent(this.#keyring, wrappedKey, owner, 'dev-message', content);
    return {
      kind: 'sent',
      response: 'kept in the development inbox',
      record: async (store) => {
        const current = await store(SealedReader).organizationKey(organizationId);
        // The organization got another key long ago: nobody could read the message.
        if (current === undefined || !opensFor(current, wrappedKey)) return;
        await store(MessageStore).keep({ ...owner, sealed, createdAtMs }, KEPT_MAX);
      },
    };
  }

  close(): void {}
}

/** For a channel that is no longer set up: what still waits may be sent once it is set up again. */
export const noSender: Sender = {
  slots: 8,
  send: async () => ({ kind: 'deferred', diagnostic: 'NOT_SET_UP' }),
  close: () => {},
};
