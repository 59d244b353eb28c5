import { closeSync, fdatasync, fdatasyncSync, fsyncSync, openSync, readSync, realpathSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

const REWRITTEN_AT_ONCE = 1024 * 1024;

const fdatasyncAsync = promisify(fdatasync);

/** The file that commits go to, and what makes it durable. */
export interface LogFile {
  sync(): Promise<void>;
  close(): void;
}

/**
 * The write-ahead log of a database. It is a second handle on the file beside SQLite's; SQLite holds no locks on this one,
 * which closing it would release.
 */
export function openLogFile(databaseFile: string): LogFile {
  // SQLite keeps the log beside the file itself, not beside a link to it.
  const file = realpathSync(databaseFile);
  const handle = openSync(`${file}-wal`, 'r+');
  const folder = openSync(dirname(file), 'r');
  try {
    // The log may be new, and then its name has to be durable too.
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
  return { sync: async () => await fdatasyncAsync(handle), close: () => closeSync(handle) };
}

/**
 * Writes every byte of the log once more where it is, and syncs it. A sync alone passes over what an earlier one failed to
 * store. Nobody may add to the log meanwhile; whoever reads it notices nothing.
 */
export function rewriteLogFile(databaseFile: string): void {
  const handle = openSync(`${realpathSync(databaseFile)}-wal`, 'r+');
  try {
    const buffer = Buffer.alloc(REWRITTEN_AT_ONCE);
    for (let at = 0; ; ) {
      const read = readSync(handle, buffer, 0, buffer.length, at);
      if (read === 0) break;
      for (let written = 0; written < read; )
        written += writeSync(handle, buffer, written, read - written, at + written);
      at += read;
    }
    fdatasyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/**
 * Knows which commits the disk has. SQLite only writes them to its log; syncing happens on another thread, and while it
 * lasts, further commits are written, which the next sync makes durable together (docs/decisions/0002).
 */
export class DurableLog {
  readonly #file: LogFile;
  readonly #onFailure: (error: unknown) => void;
  #written = 0;
  #durable = 0;
  #syncing: Promise<void> | undefined;
  #failure: unknown;

  constructor(file: LogFile, onFailure: (error: unknown) => void) {
    this.#file = file;
    this.#onFailure = onFailure;
  }

  /** Whether the disk has everything that was committed. */
  get isDurable(): boolean {
    return this.#durable === this.#written && this.#failure === undefined;
  }

  /** What went wrong; from then on nobody knows what the disk has. */
  get failure(): unknown {
    return this.#failure;
  }

  /** A transaction has been committed that somebody will be told of. */
  committed(): void {
    this.#written += 1;
  }

  /** Resolves as soon as the disk has everything that is committed now. */
  async whenDurable(): Promise<void> {
    const wanted = this.#written;
    while (this.#durable < wanted || this.#failure !== undefined) {
      if (this.#failure !== undefined) throw this.#failure;
      this.#syncing ??= this.#sync();
      await this.#syncing;
    }
  }

  /**
   * A failed sync is not repeated: the system may have dropped what it could not write, and the next sync would succeed
   * without it.
   */
  async #sync(): Promise<void> {
    const covered = this.#written;
    try {
      await this.#file.sync();
      this.#durable = covered;
    } catch (error) {
      this.#failure = error ?? new Error('the sync failed');
      this.#onFailure(this.#failure);
    } finally {
      this.#syncing = undefined;
    }
  }

  async close(): Promise<void> {
    await this.#syncing;
    this.#file.close();
  }
}
