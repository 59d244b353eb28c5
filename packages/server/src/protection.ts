import { realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { KeyringError, lookAtSocket, parseRootKeySetting } from '@custos/keyring';
import type { Config } from './config/config.ts';
import { credentialsFiles } from './credentials-file.ts';

/** How keys are kept from whoever takes over the service, and what of a service is kept together. */
export interface Protection {
  readonly keyring: 'inline' | 'process' | 'socket';
  /** Whether the keyring runs as the user of this process. */
  readonly user: 'same' | 'own';
  /** The same in a sentence. */
  readonly text: string;
  /** A sentence for each folder with several of database, root key and root credentials in it. */
  readonly together: readonly string[];
}

type Placed = Pick<Config, 'keyring' | 'rootKey' | 'dataDir' | 'databaseUrl'>;

export async function describeProtection(config: Placed): Promise<Protection> {
  return { ...(await describeKeyring(config)), together: describeTogether(config) };
}

async function describeKeyring({ keyring }: Placed): Promise<Omit<Protection, 'together'>> {
  if (keyring === 'inline') {
    return { keyring, user: 'same', text: 'keys are held by the HTTP process itself, which is for tests' };
  }
  if (keyring === 'process') {
    const text = 'keys are held by a process of the same user as the service, who can read the root key';
    return { keyring, user: 'same', text };
  }
  try {
    const { isOwnUser } = await lookAtSocket(keyring.path);
    if (isOwnUser) {
      const text =
        'keys are held by a keyring on a socket, which runs as the same user as the service, who can read the root key';
      return { keyring: 'socket', user: 'same', text };
    }
    if (process.getuid?.() === 0) {
      const text = 'keys are held by a keyring of another user, but the service runs as root, who can read everything';
      return { keyring: 'socket', user: 'same', text };
    }
    return { keyring: 'socket', user: 'own', text: 'keys are held by a keyring that runs as a user of its own' };
  } catch (error) {
    if (!(error instanceof KeyringError)) throw error;
    return { keyring: 'socket', user: 'same', text: `it is not known who holds the keys: ${error.message}` };
  }
}

/** Whoever copies such a folder, with all that is in it, has more than one of the things that only together open keys. */
function describeTogether(config: Placed): string[] {
  const { keyring, rootKey, dataDir, databaseUrl } = config;
  const placed: { readonly what: string; readonly folder: string }[] = [];
  const place = (what: string, file: string): void => {
    placed.push({ what, folder: dirname(realPath(resolve(file))) });
  };
  if (databaseUrl === undefined) place('the database', join(dataDir, 'custos.db'));
  if (typeof keyring !== 'object') {
    const { ringPath, passphrasePath } = parseRootKeySetting(rootKey);
    place(passphrasePath === undefined ? 'the root key' : 'the key ring', ringPath);
    if (passphrasePath !== undefined) place('the passphrase of the key ring', passphrasePath);
  }
  for (const credentials of credentialsFiles(dataDir)) place('the root credentials', credentials);
  const told = new Map<string, string>();
  for (const { folder } of placed) {
    const here = [...new Set(placed.filter((each) => isWithin(each.folder, folder)).map(({ what }) => what))];
    if (here.length > 1) told.set(folder, `${folder} holds ${listed(here)}`);
  }
  return [...told.values()];
}

/** What is not there yet is where its folder leads to. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path === dirname(path) ? path : join(realPath(dirname(path)), basename(path));
  }
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || !(way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way));
}

/** What to move where, for a start that has just put everything into one folder. */
export function describeMoves(config: Placed): string[] {
  const { keyring, dataDir } = config;
  const moves: string[] = [];
  if (typeof keyring !== 'object' && config.rootKey === `file:${join(dataDir, 'root.key')}`) {
    moves.push(
      'move root.key to a folder that is backed up apart from the database, and set CUSTOS_ROOT_KEY=file:PATH',
    );
  }
  for (const credentials of credentialsFiles(dataDir))
    moves.push(`move ${credentials} to your own machine; the service does not need it`);
  return moves;
}

const listed = (words: readonly string[]): string =>
  words.length < 3 ? words.join(' and ') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
