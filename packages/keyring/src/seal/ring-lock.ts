import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { readFile, rename, rm, stat } from 'node:fs/promises';
import { KeyringError } from '../errors.ts';
import { errorCode, writeExclusive } from './private-file.ts';

/** Writing a ring takes milliseconds, with a passphrase a few seconds: a lock of this age belongs to nobody. */
const STALE_MS = 60_000;
/** Well before others may think the lock abandoned, its holder stops. */
const HOLD_MS_MAX = 20_000;

/**
 * One writer of a ring at a time, in all processes: of two that read, change and write, the second would drop the key
 * that the first added. The lock is the file `<ring>.lock`; one that a killed process left behind is broken when it is
 * old. `use` gets a check that it makes before what cannot be undone.
 */
export async function withRingLock<T>(
  ringPath: string,
  use: (checkLock: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const path = `${ringPath}.lock`;
  const token = randomBytes(16).toString('hex');
  if (!(await take(path, token))) {
    await breakStale(path);
    if (!(await take(path, token))) throw busy(path);
  }
  const takenAtMs = performance.now();
  const isMine = async (): Promise<boolean> => (await readFile(path, 'utf8').catch(() => '')) === token;
  try {
    return await use(async () => {
      if (performance.now() - takenAtMs > HOLD_MS_MAX || !(await isMine())) throw busy(path);
    });
  } finally {
    if (await isMine()) await rm(path, { force: true });
  }
}

async function take(path: string, token: string): Promise<boolean> {
  try {
    await writeExclusive(path, Buffer.from(token, 'ascii'));
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    const code = errorCode(error) === 'ENOENT' ? 'ROOT_KEY_MISSING' : 'ROOT_KEY_PERMISSIONS';
    throw new KeyringError(code, `${path} cannot be created (${errorCode(error)})`);
  }
}

/** Moved away before it is removed: of several that find it old, one moves it and the others find nothing. */
async function breakStale(path: string): Promise<void> {
  const isStale = async (file: string): Promise<boolean> => Date.now() - (await stat(file)).mtimeMs > STALE_MS;
  const aside = `${path}.${randomBytes(8).toString('hex')}.tmp`;
  try {
    if (!(await isStale(path))) return;
    await rename(path, aside);
    if (await isStale(aside)) await rm(aside, { force: true });
    // A lock that was taken a moment ago goes back; its holder looks at it again before it writes.
    else await rename(aside, path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

function busy(path: string): KeyringError {
  return new KeyringError('UNAVAILABLE', `another process is changing the key ring (${path})`);
}
