import { type FileHandle, link, lstat, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { StartError } from '../lib/start-error.ts';

/** What is written but not synced waits for the disk together with what a service on the same disk commits. */
const SYNC_EVERY_BYTES = 16 * 1024 * 1024;
const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV']);

/** What a file is called until it is whole. */
export const partialName = (path: string): string => `${path}.partial`;

/** A file that is there as a whole or not at all: it gets its name once the disk has it. */
export class NewFile {
  readonly path: string;
  readonly #partial: string;
  readonly #handle: FileHandle;
  readonly #overwrites: boolean;
  #unsynced = 0;

  private constructor(path: string, handle: FileHandle, overwrites: boolean) {
    this.path = path;
    this.#partial = partialName(path);
    this.#handle = handle;
    this.#overwrites = overwrites;
  }

  /** Refuses a name that cannot be had, before anything is read for it. */
  static async open(path: string, overwrites: boolean): Promise<NewFile> {
    await requireFree(path, overwrites);
    const partial = partialName(path);
    try {
      // A killed run may have left one.
      if ((await lookAt(partial))?.isFile() === true) await rm(partial);
      return new NewFile(path, await open(partial, 'wx', 0o600), overwrites);
    } catch (error) {
      throw explain(path, error);
    }
  }

  async write(bytes: Uint8Array): Promise<void> {
    try {
      for (let written = 0; written < bytes.length; )
        written += (await this.#handle.write(bytes, written, bytes.length - written)).bytesWritten;
      this.#unsynced += bytes.length;
      if (this.#unsynced < SYNC_EVERY_BYTES) return;
      this.#unsynced = 0;
      await this.#handle.datasync();
    } catch (error) {
      throw explain(this.path, error);
    }
  }

  /** From here on the file is there, also after a power cut. */
  async keep(): Promise<void> {
    try {
      await this.#handle.sync();
      await this.#handle.close();
      await this.#name();
      await syncFolder(dirname(this.path));
    } catch (error) {
      throw explain(this.path, error);
    }
  }

  async discard(): Promise<void> {
    await this.#handle.close().catch(() => {});
    await rm(this.#partial, { force: true }).catch(() => {});
  }

  /** A link, unlike a new name, does not take the place of what somebody else has put there meanwhile. */
  async #name(): Promise<void> {
    if (this.#overwrites) return await rename(this.#partial, this.path);
    try {
      await link(this.#partial, this.path);
    } catch (error) {
      if (!NO_LINKS.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
      await requireFree(this.path, false);
      return await rename(this.#partial, this.path);
    }
    await rm(this.#partial);
  }
}

async function requireFree(path: string, overwrites: boolean): Promise<void> {
  const found = await lookAt(path);
  if (found === undefined) return await requireFolder(dirname(path));
  if (found.isDirectory()) throw new StartError(`${path} is a folder: name a file in it, or use --to ${path}`);
  if (found.isSymbolicLink()) throw new StartError(`${path} is a link: name the file that it leads to`);
  if (!found.isFile()) throw new StartError(`${path} is not a file: use - to write to standard output`);
  if (!overwrites) throw new StartError(`${path} is there already: name another file, or add --overwrite`);
}

export async function requireFolder(path: string): Promise<void> {
  let isFolder: boolean;
  try {
    isFolder = (await stat(path)).isDirectory();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new StartError(`the folder ${path} does not exist: make it first, for the user that runs this alone`);
    throw explain(path, error);
  }
  if (!isFolder) throw new StartError(`${path} is not a folder`);
}

/** Undefined where nothing is. */
async function lookAt(path: string) {
  try {
    return await lstat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw explain(path, error);
  }
}

export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

export function explain(path: string, error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof StartError || code === undefined) return error;
  if (FULL.has(code))
    return new StartError(
      `there is no room for ${basename(path)} in ${dirname(path)} (${code}): nothing is left of it. Make room there, or name another place`,
    );
  if (code === 'EEXIST') return new StartError(`${path} is there already: name another file, or add --overwrite`);
  return new StartError(`cannot write ${path}: ${message}`);
}
