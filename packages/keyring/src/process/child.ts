import type { EventEmitter } from 'node:events';

/** A keyring process as the service that uses it knows it: a child of its own, or one behind a socket. */
export interface KeyringChild extends EventEmitter {
  readonly pid?: number | undefined;
  /** Whether it hears what it is told. */
  readonly connected: boolean;
  /** Its lines follow the standard streams and the channel. */
  readonly stdio?: readonly unknown[];
  readonly channel?: { ref(): void; unref(): void } | null | undefined;
  send?(message: object, sent: (error: Error | null) => void): boolean;
  kill(signal?: NodeJS.Signals): boolean;
  /** It ends when it hears nobody any more. */
  disconnect(): void;
  ref(): void;
  unref(): void;
}
