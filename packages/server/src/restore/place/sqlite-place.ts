import { closeSync, fsyncSync, lchownSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ArchiveHeader, ArchivePart } from '../../backup/archive/parts.ts';
import { dataModel } from '../../domains.ts';
import { requireNoLink } from '../../keyring-admin/beside.ts';
import { StartError } from '../../lib/start-error.ts';
import { sqliteErrorName } from '../../storage/sqlite-driver.ts';
import type { Storage } from '../../storage/storage.ts';
import { type Filled, fill } from './fill.ts';
import type { FillOptions, ScratchPlace } from './place.ts';
import { SqliteTables } from './sqlite-tables.ts';

/** Beside a database file. */
const BESIDE = ['-wal', '-shm', '-journal'];

/** A file of its own, in a folder that nobody else may read. */
export class SqlitePlace implements ScratchPlace {
  readonly kind = 'sqlite';
  readonly file: string;
  #tables: SqliteTables | undefined;
  #storage: Storage | undefined;

  constructor(file: string) {
    this.file = file;
  }

  async fill(header: ArchiveHeader, parts: AsyncIterable<ArchivePart>, options: FillOptions): Promise<Filled> {
    await this.remove();
    makePrivateFile(this.file);
    const tables = new SqliteTables(this.file);
    this.#tables = tables;
    try {
      const filled = await fill(tables, header, parts, options);
      tables.commit();
      return filled;
    } catch (error) {
      throw explain(error, this.file);
    } finally {
      tables.close();
      this.#tables = undefined;
    }
  }

  async open(): Promise<Storage> {
    const { openSqlite } = await import('../../storage/sqlite.ts');
    const { file } = this;
    const lockFile = lockOf(file);
    // Loading took a while, and the folder may be another user's.
    for (const path of [file, lockFile]) requireNoLink(path);
    this.#storage = await openSqlite({ file, lockFile, dataModel, nowMs: Date.now() });
    return this.#storage;
  }

  /** The file alone is the database then, and the disk has it. */
  seal(): void {
    for (const suffix of BESIDE) {
      const left = statSync(`${this.file}${suffix}`, { throwIfNoEntry: false });
      if (left !== undefined && left.size > 0 && suffix !== '-shm')
        throw new StartError(`${this.file}${suffix} was not moved into the database: nothing was changed`);
      rmSync(`${this.file}${suffix}`, { force: true });
    }
    rmSync(lockOf(this.file), { force: true });
    syncPath(this.file);
  }

  async close(): Promise<void> {
    const storage = this.#storage;
    this.#storage = undefined;
    await storage?.close();
  }

  async remove(): Promise<void> {
    this.#tables?.close();
    await this.close();
    for (const path of [this.file, ...BESIDE.map((suffix) => `${this.file}${suffix}`), lockOf(this.file)])
      rmSync(path, { force: true });
  }
}

const lockOf = (file: string): string => `${file}.lock`;

/** For the owner of the folder, who is not root where root runs this for a service. */
function makePrivateFile(file: string): void {
  closeSync(openSync(file, 'wx', 0o600));
  giveToOwnerOf(dirname(file), file);
}

/** Never what a link leads to: the owner of the folder may have put one there meanwhile, to be given a file of somebody else. */
export function giveToOwnerOf(of: string, file: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(of);
  lchownSync(file, uid, gid);
}

export function syncPath(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** What is wrong with the disk; what is wrong with the archive says so itself. */
export function explain(error: unknown, file: string): unknown {
  const name = sqliteErrorName(error);
  const { code, message } = error as NodeJS.ErrnoException;
  if (name === 'full' || code === 'ENOSPC')
    return new StartError(
      `the disk of ${dirname(file)} is full: a restore needs room for a second copy of the database. Make room and run it again; nothing was changed`,
    );
  if (name !== undefined || /^E(?!RR_)/.test(code ?? ''))
    return new StartError(`cannot write ${file}: ${message}; nothing was changed`);
  return error;
}
