import { chmod, lstat, mkdir, readlink } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { KeyringError } from '../errors.ts';
import { errorCode } from '../seal/private-file.ts';

// Where a keyring listens: a folder that its user alone writes, and that one group may enter.

/** What the system has room for in the address of a socket, without the byte that ends it. */
const PATH_BYTES_MAX = process.platform === 'linux' ? 107 : 103;
const WRITABLE_BY_OTHERS = 0o022;
const OPEN_TO_ALL = 0o007;
const STICKY = 0o1000;
const LINKS_MAX = 40;

/** Longer paths would be cut, and lead elsewhere. A keyring that listens needs room for more than the path. */
export function checkSocketPath(path: string, more = 0): void {
  if (process.platform === 'win32') throw unusable(path, 'cannot be used: Windows has no such sockets');
  if (!isAbsolute(path)) throw unusable(path, 'must be an absolute path');
  const length = Buffer.byteLength(path);
  const max = PATH_BYTES_MAX - more;
  if (length > max) throw unusable(path, `is ${length} bytes long: a socket has room for ${max}`);
}

/** The keyring's: its own folder, made where there is none. */
export async function prepareFolder(path: string): Promise<void> {
  const folder = dirname(path);
  try {
    const isMade = await mkdir(folder, { mode: 0o700 }).then(
      () => true,
      (error: unknown) => {
        if (errorCode(error) !== 'EEXIST') throw error;
        return false;
      },
    );
    // Whatever the mask of this process is.
    if (isMade) await chmod(folder, 0o750);
    const { uid, mode } = await folderOf(path);
    if (uid !== process.getuid?.())
      throw unusable(path, `is in a folder of another user (${uid}): it must be of this one`);
    if ((mode & (WRITABLE_BY_OTHERS | OPEN_TO_ALL)) !== 0)
      throw unusable(path, `is in a folder of mode ${octal(mode)}: it must be 0750`);
  } catch (error) {
    throw error instanceof KeyringError ? error : unusable(path, `cannot be made (${errorCode(error)})`);
  }
}

/**
 * The service's look at a socket before it connects: nobody but the owner of its folder, root, or this process's own user
 * can have put it there. It does not know who the keyring's user is: the proof shows that whoever holds the key has the
 * other end, or the end of a relay, which is why nobody else may be able to exchange a folder above (docs/decisions/0059).
 * Answers whether the owner is this process's own user.
 */
export async function lookAtSocket(path: string): Promise<{ readonly isOwnUser: boolean }> {
  checkSocketPath(path);
  const refuse = (error: unknown): never => {
    const code = errorCode(error);
    if (error instanceof KeyringError) throw error;
    if (code === 'ENOENT' || code === 'ENOTDIR') throw absent(path);
    throw unusable(path, `cannot be looked at (${code}): this user needs the group of its folder`);
  };
  const [folder, socket] = await Promise.all([folderOf(path), lstat(path)]).catch(refuse);
  if (!socket.isSocket()) throw unusable(path, 'is no socket');
  if (socket.uid !== folder.uid)
    throw unusable(path, `belongs to user ${socket.uid}, but its folder to user ${folder.uid}`);
  if ((folder.mode & WRITABLE_BY_OTHERS) !== 0) {
    throw unusable(path, `is in a folder of mode ${octal(folder.mode)}: others could put another socket there`);
  }
  await checkFoldersAbove(path, new Set([0, socket.uid, process.getuid?.() ?? socket.uid])).catch(refuse);
  return { isOwnUser: process.getuid?.() === socket.uid };
}

/** Every folder that leads to the socket's, also by links. In a sticky one nobody renames what is another's. */
async function checkFoldersAbove(path: string, owners: ReadonlySet<number>): Promise<void> {
  let folder = '/';
  let left = namesOf(dirname(path));
  for (let links = 0; left.length > 0; ) {
    const { mode } = await lstat(folder);
    if ((mode & WRITABLE_BY_OTHERS) !== 0 && (mode & STICKY) === 0) {
      throw unusable(
        path,
        `is below ${folder} of mode ${octal(mode)}, which is not sticky: others could put another one there`,
      );
    }
    const [name = '', ...rest] = left;
    const next = join(folder, name);
    const found = await lstat(next);
    if (found.isSymbolicLink()) {
      links += 1;
      if (links > LINKS_MAX) throw unusable(path, 'is behind too many links');
      const target = await readlink(next);
      if (isAbsolute(target)) folder = '/';
      left = [...namesOf(target), ...rest];
    } else {
      folder = next;
      left = rest;
    }
    if (!owners.has(found.uid))
      throw unusable(path, `is behind ${next} of user ${found.uid}, who could put another one there`);
  }
}

const namesOf = (path: string): string[] => path.split('/').filter((name) => name !== '' && name !== '.');

async function folderOf(path: string) {
  const folder = await lstat(dirname(path));
  if (!folder.isDirectory()) throw unusable(path, 'is not in a folder, but behind a link or a file');
  return folder;
}

export const absent = (path: string): KeyringError =>
  new KeyringError('UNAVAILABLE', `no keyring listens at ${path}: start it with \`custos keyring serve\``);

export const unusable = (path: string, problem: string): KeyringError =>
  new KeyringError('INVALID_INPUT', `the socket ${path} ${problem}`);

const octal = (mode: number): string => (mode & 0o777).toString(8).padStart(4, '0');
