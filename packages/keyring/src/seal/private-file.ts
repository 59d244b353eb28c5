import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { lstatSync, realpathSync } from 'node:fs';
import { constants, link, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { KeyringError } from '../errors.ts';

const POSIX = process.platform !== 'win32';
const FOREIGN_ACCESS = 0o077;
/** The last one is Node's, when its permission model does not let a process link. */
const NO_HARD_LINKS = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'ERR_ACCESS_DENIED']);

/** Reads a small file that only its owner may touch. The caller wipes what it gets. */
export async function readPrivateFile(path: string, bytesMax: number): Promise<Uint8Array> {
  const buffer = new Uint8Array(bytesMax + 1);
  try {
    // Without blocking, because opening a pipe would otherwise wait for a writer for ever.
    const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      // The open file is looked at, not the path, so that nobody can exchange one for the other in between.
      const { mode, isFile } = await handle.stat().then((stat) => ({ mode: stat.mode, isFile: stat.isFile() }));
      if (!isFile) throw new KeyringError('ROOT_KEY_INVALID', `${path} is not a regular file`);
      if (POSIX && (mode & FOREIGN_ACCESS) !== 0) {
        const shown = (mode & 0o777).toString(8).padStart(4, '0');
        const advice = 'only its owner may have access, as with mode 0600';
        throw new KeyringError('ROOT_KEY_PERMISSIONS', `${path} has mode ${shown}: ${advice}`);
      }
      let length = 0;
      while (length < buffer.length) {
        const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
        if (bytesRead === 0) return buffer.slice(0, length);
        length += bytesRead;
      }
      throw new KeyringError('ROOT_KEY_INVALID', `${path} is longer than ${bytesMax} bytes`);
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw toKeyringError(error, path, 'read');
  } finally {
    buffer.fill(0);
  }
}

/**
 * Creates the file whole and durable, or leaves the one that is already there: false. Renaming would replace the key
 * that another process created a moment ago, so the finished temporary file is linked to its name, which fails if the
 * name is taken. It belongs to whom `like` belongs.
 */
export async function createPrivateFile(
  path: string,
  bytes: Uint8Array,
  { like, linkFile = link }: { readonly like?: string; readonly linkFile?: typeof link } = {},
): Promise<boolean> {
  const temporary = temporaryName(path);
  try {
    const owner = like === undefined ? undefined : await ownerLike(like);
    await writeExclusive(temporary, bytes, owner);
    let created = true;
    try {
      await linkFile(temporary, path).catch((error: unknown) => {
        // A crash in the middle of this leaves a file that is refused as damaged, before anything was sealed under it.
        if (!NO_HARD_LINKS.has(errorCode(error))) throw error;
        return writeExclusive(path, bytes, owner);
      });
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
      created = false;
    } finally {
      await rm(temporary, { force: true });
    }
    // Also by the one who came second: it is about to rely on the other's file.
    await syncFolder(dirname(path));
    return created;
  } catch (error) {
    throw toKeyringError(error, path, 'created');
  }
}

/**
 * Puts other bytes in the file's place, whole and durable: a reader, also after a crash, sees the old ones or the new
 * ones. `commit` is the last word before the exchange.
 */
export async function replacePrivateFile(
  path: string,
  bytes: Uint8Array,
  commit: () => Promise<void> = async () => {},
): Promise<void> {
  const temporary = temporaryName(path);
  try {
    await writeExclusive(temporary, bytes, await ownerLike(path));
    try {
      await commit();
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    await syncFolder(dirname(path));
  } catch (error) {
    throw toKeyringError(error, path, 'replaced');
  }
}

/**
 * Where a file is that is to be written: behind the link that its name may be. To put a new file in the link's place would
 * leave the old one where it leads, which is where people keep and back up what they have put there. Root follows only
 * links of its own, or the folder of another user would say where root writes.
 */
export function targetOf(path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isSymbolicLink() !== true) return path;
  if (process.getuid?.() === 0 && found.uid !== 0) {
    const problem = `${path} is a link of another user, which root does not follow: name the file that it leads to`;
    throw new KeyringError('ROOT_KEY_PERMISSIONS', problem);
  }
  try {
    // Not the other one, which looks at every folder above: the permission model allows no such thing.
    return realpathSync.native(path);
  } catch (error) {
    throw toKeyringError(error, path, 'followed');
  }
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** The administrator may write for a service that runs as somebody else, who must be able to read it. */
async function ownerLike(path: string): Promise<Owner | undefined> {
  const { uid, gid } = await stat(path);
  return process.getuid?.() === 0 && uid !== 0 ? { uid, gid } : undefined;
}

/** The file's folder, or the other one if root owns that: root is not who will read the file. */
export async function ownedFolder(path: string, other: string): Promise<string> {
  const own = dirname(path);
  try {
    return (await stat(own)).uid === 0 ? other : own;
  } catch (error) {
    throw toKeyringError(error, path, 'created');
  }
}

const temporaryName = (path: string): string => `${path}.${randomBytes(8).toString('hex')}.tmp`;

/**
 * Removes what killed writers of the file left, which holds all that the file held. Only for whoever has the lock of the
 * writers. Answers with what may still be there.
 */
export async function removeLeftovers(path: string): Promise<string[]> {
  const folder = dirname(path);
  const prefix = `${basename(path)}.`;
  const names = await readdir(folder).catch(() => undefined);
  if (names === undefined) return [`${path}.*.tmp`];
  const left: string[] = [];
  for (const name of names) {
    if (!name.startsWith(prefix) || !/^[0-9a-f]{16}\.tmp$/.test(name.slice(prefix.length))) continue;
    await rm(join(folder, name), { force: true }).catch(() => left.push(join(folder, name)));
  }
  return left;
}

/** Makes names in a folder durable. A process that may not open the folder leaves it to the one that started it. */
export async function syncFolder(path: string): Promise<void> {
  if (!POSIX) return;
  try {
    const handle = await open(path, constants.O_RDONLY);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (errorCode(error) !== 'ERR_ACCESS_DENIED') throw error;
  }
}

/** Each write is on the disk before it ends: the permission model of Node 24.22 refuses to sync a file. Windows has no such flag. */
const { O_WRONLY, O_CREAT, O_EXCL, O_SYNC = 0 } = constants;
const WRITES_NEW_DURABLY = O_WRONLY | O_CREAT | O_EXCL | O_SYNC;

export async function writeExclusive(path: string, bytes: Uint8Array, owner?: Owner): Promise<void> {
  const handle = await open(path, WRITES_NEW_DURABLY, 0o600);
  try {
    // The open file, not the path, which somebody could exchange for a link.
    if (owner !== undefined) await handle.chown(owner.uid, owner.gid);
    await handle.writeFile(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    if (!O_SYNC) await handle.sync();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}

export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}

function toKeyringError(error: unknown, path: string, verb: string): KeyringError {
  if (error instanceof KeyringError) return error;
  const code = errorCode(error);
  const message = `${path} cannot be ${verb} (${code})`;
  if (code === 'ENOENT' || code === 'ENOTDIR') return new KeyringError('ROOT_KEY_MISSING', message);
  if (['EACCES', 'EPERM', 'EROFS', 'ERR_ACCESS_DENIED'].includes(code))
    return new KeyringError('ROOT_KEY_PERMISSIONS', message);
  return new KeyringError('ROOT_KEY_INVALID', message);
}
