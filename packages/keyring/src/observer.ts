/** Why there is no keyring process: it ended, it was killed because it did not answer, or it could not be started. */
export type KeyringLoss = 'ended' | 'silent' | 'start-failed';

/** Is told how the keyring process does. No message holds a secret. */
export interface KeyringObserver {
  /** There is no process until the next attempt at a start. */
  lost(reason: KeyringLoss, message: string, restartInMs: number): void;
  /** There is a process again. */
  restored(): void;
  /** The process is there, but does nothing that needs its service keys. */
  serviceKeysRefused(message: string): void;
  /** A further thread cannot be started, or does not serve; those that do go on without it. */
  threadRefused(message: string): void;
  /** A thread has left a ping unanswered for a second. */
  pingLate(): void;
}
