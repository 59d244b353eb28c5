import type { Stores } from '../../../storage/stores.ts';
import type { Content, MessageOwner } from '../message.ts';

/** A message that is to be handed over, with what a repeat of it has in common. */
export interface Delivery<C extends Content = Content> extends MessageOwner {
  readonly content: C;
  readonly createdAtMs: number;
}

/** What the other side said. `diagnostic` is short and for logs too; `response` is its own words. */
export type HandOver =
  | {
      readonly kind: 'sent';
      readonly response: string;
      /** What has to commit together with the end of the message. */
      readonly record?: (store: Stores) => Promise<void>;
    }
  | { readonly kind: 'deferred' | 'refused'; readonly diagnostic: string; readonly response?: string | undefined };

/** Hands messages of one channel over. It answers, and throws only where nobody knows what happened. */
export interface Sender<C extends Content = Content> {
  /** How many messages it takes at a time. */
  readonly slots: number;
  /** When `signal` aborts, it breaks the connection off and answers. */
  send(delivery: Delivery<C>, signal: AbortSignal): Promise<HandOver>;
  close(): void;
}

const RESPONSE_LENGTH_MAX = 500;

/** Words of another server, as one line that may be stored. */
export const toLine = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, ' ')
    .trim()
    .slice(0, RESPONSE_LENGTH_MAX)
    // The cut may have gone through a pair.
    .replace(/\p{Cs}$/u, '');
