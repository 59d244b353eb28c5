import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { type BackupRecord, InstallationStore } from '../core/store/installation.ts';
import { openBeside, writeBeside } from '../keyring-admin/beside.ts';
import { lockBackups } from '../keyring-admin/lock.ts';
import { randomId } from '../lib/ids.ts';
import { VERSION } from '../lib/version.ts';
import type { Storage } from '../storage/storage.ts';
import { encrypterFor } from './archive/age-keys.ts';
import type { Manifest } from './archive/parts.ts';
import { writeArchive } from './archive/write.ts';
import { contentsOf } from './contents.ts';
import { BackupFolder } from './folder.ts';
import { NewFile, requireFolder } from './new-file.ts';
import { findOwner } from './owner.ts';
import { ringReader } from './ring.ts';
import { openSnapshot } from './snapshot/open.ts';

export type BackupTarget =
  | { readonly file: string; readonly overwrites: boolean }
  | { readonly folder: string; readonly keep: number | undefined }
  | { readonly stream: BackupStream; readonly place: string };

/** Somewhere that a backup goes to and is not looked at again. */
export interface BackupStream {
  write(bytes: Uint8Array): Promise<void>;
  /** Everything was handed over, and nothing failed. */
  end(): Promise<void>;
}

export interface BackupOptions {
  readonly target: BackupTarget;
  /** Of age: who can open it. */
  readonly recipients: readonly string[];
  readonly withKeys: boolean;
  readonly onProgress?: (progress: BackupProgress) => void;
  /** Ends it early; nothing is left then. */
  readonly signal?: AbortSignal;
}

export interface BackupProgress {
  readonly table: string;
  readonly rows: number;
  /** Written so far. */
  readonly bytes: number;
}

export interface Backup {
  readonly id: string;
  readonly place: string;
  readonly bytes: number;
  /** Of the file, in hexadecimal. */
  readonly sha256: string;
  readonly manifest: Manifest;
  /** Older files that were deleted. */
  readonly deleted: readonly string[];
  /** Why nobody can tell whose backup it is: it has another name then, and nothing was deleted. */
  readonly doubt?: string;
}

/** Backs up a database, beside a running service or without one, and records that it did. */
export async function takeBackup(config: Config, options: BackupOptions): Promise<Backup> {
  // What is sure to fail fails before anything else.
  encrypterFor(options.recipients);
  if ('folder' in options.target) await requireFolder(options.target.folder);
  const readRing = options.withKeys ? await ringReader(config) : undefined;
  const lock = await lockBackups(config.databaseUrl);
  try {
    const storage = await openBeside(config, 'backup');
    try {
      return await takeAlone({ config, storage, readRing }, options);
    } finally {
      await storage.close();
    }
  } finally {
    await lock.release();
  }
}

interface Parts {
  readonly config: Config;
  readonly storage: Storage;
  readonly readRing: Awaited<ReturnType<typeof ringReader>> | undefined;
}

async function takeAlone(parts: Parts, { target, ...options }: BackupOptions): Promise<Backup> {
  const id = randomId();
  if ('stream' in target) {
    const { stream, place } = target;
    const written = await writeTo(stream, id, parts, options);
    await stream.end();
    await record(parts.storage, { id, place, ...written }, []);
    return { id, place, ...written, deleted: [] };
  }
  const { folder, doubt } = 'folder' in target ? await openFolder(parts, target.folder) : {};
  const path = folder?.newFile(id, Date.now()) ?? resolve((target as { readonly file: string }).file);
  const file = await NewFile.open(path, 'file' in target && target.overwrites);
  let written: Written;
  try {
    written = await writeTo(file, id, parts, options);
    await file.keep();
  } catch (error) {
    await file.discard();
    throw error;
  }
  const keep = 'folder' in target ? target.keep : undefined;
  const deleted = folder === undefined || keep === undefined ? [] : await folder.expired(path, keep);
  // The records end first: a file without one is found by its name the next time.
  await record(parts.storage, { id, place: path, ...written }, deleted);
  await folder?.remove(deleted);
  return { id, place: path, ...written, deleted, ...(doubt !== undefined && { doubt }) };
}

interface OpenedFolder {
  readonly folder?: BackupFolder;
  readonly doubt?: string | undefined;
}

async function openFolder({ storage, config }: Parts, path: string): Promise<OpenedFolder> {
  const owner = await findOwner(storage, config);
  const folder = new BackupFolder(resolve(path), owner);
  await folder.removePartials();
  return { folder, doubt: owner.doubt };
}

type Written = Pick<Backup, 'bytes' | 'sha256' | 'manifest'>;

async function writeTo(
  target: Pick<BackupStream, 'write'>,
  id: string,
  { config, readRing }: Parts,
  { recipients, onProgress = () => {}, signal }: Omit<BackupOptions, 'target'>,
): Promise<Written> {
  const hash = createHash('sha256');
  let bytes = 0;
  let rows = 0;
  let manifest: Manifest | undefined;
  const snapshot = await openSnapshot(config);
  try {
    const contents = contentsOf(snapshot, {
      id,
      readRing,
      onRows: (table, count) => {
        rows += count;
        onProgress({ table, rows, bytes });
      },
    });
    for await (const chunk of writeArchive(contents, recipients, (made) => {
      manifest = made;
    })) {
      signal?.throwIfAborted();
      await target.write(chunk);
      hash.update(chunk);
      bytes += chunk.length;
    }
  } finally {
    await snapshot.close();
  }
  if (manifest === undefined) throw new Error('the archive has no end');
  return { bytes, sha256: hash.digest('hex'), manifest };
}

/** What is at the place of another backup has taken its place. */
async function record(
  storage: Storage,
  { id, place, bytes, sha256, manifest }: Written & Pick<Backup, 'id' | 'place'>,
  deleted: readonly string[],
): Promise<void> {
  const { snapshotAtMs: takenAtMs, rootKeyIds, integrityKeyIds, rows, hasKeys } = manifest;
  const made: BackupRecord = {
    id,
    takenAtMs,
    rootKeyIds,
    place,
    integrityKeyIds,
    bytes,
    sha256,
    rows,
    version: VERSION,
    hasKeys,
  };
  const gone = new Set([place, ...deleted].filter((file) => file.startsWith('/')));
  await writeBeside(storage, async (store) => {
    const installation = store(InstallationStore);
    for (const earlier of await installation.backups())
      if (gone.has(earlier.place)) await installation.removeBackup(earlier.id);
    await installation.putBackup(made);
  });
}
