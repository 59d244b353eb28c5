import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { KeyringError } from '../errors.ts';
import { parseRootKeySetting } from '../seal/root-key-setting.ts';
import { FIRST_LINE, type Settings } from './channel.ts';
import type { Pipe } from './line.ts';

// The keyring process runs built files, also when this one is a source file under a test runner.
const PACKAGE = packageFolder(dirname(fileURLToPath(import.meta.url)));
const DIST = join(PACKAGE, 'dist');
const ENTRY = join(DIST, 'process', 'host.js');

/** Node 20 has it as an experiment; later versions know it by its name. */
const PERMISSION_FLAG = ['--permission', '--experimental-permission'].find((flag) =>
  process.allowedNodeEnvironmentFlags.has(flag),
);

export const THREADS_MAX = 8;
const START_MS_MAX = 30_000;
const STRETCHED_START_MS_MAX = 120_000;

/** As many as are asked for, or as there are cores, up to a bound. */
export function threadsOf(asked: number = availableParallelism()): number {
  if (!Number.isInteger(asked) || asked < 1) throw new KeyringError('INVALID_INPUT', 'threads are 1 or more');
  return Math.min(asked, THREADS_MAX);
}

/**
 * Starts the process with the rights that it needs and nothing of this one's environment. It opens the ring when it gets
 * its order. Its lines are pipes to this process, or the sockets of another.
 */
export function startKeyringProcess(wanted: Settings, lines?: readonly Duplex[]): ChildProcess {
  const { rootKey, threads, exportLimits, importLimits, asksForTransfers, asksForSync, refusesAdministration } = wanted;
  const source = parseRootKeySetting(rootKey);
  const ringPath = resolve(source.ringPath);
  const settings: Settings = {
    rootKey:
      source.passphrasePath === undefined ? `file:${ringPath}` : `passphrase-file:${resolve(source.passphrasePath)}`,
    threads,
    exportLimits,
    importLimits,
    asksForTransfers,
    asksForSync,
    refusesAdministration,
  };
  return fork(ENTRY, [JSON.stringify(settings)], {
    cwd: DIST,
    // A service only reads the ring, and stays the user that it was started as.
    ...(refusesAdministration !== true && foreignOwnerOf(ringPath)),
    // Windows starts nothing without it.
    env: process.env.SystemRoot === undefined ? {} : { SystemRoot: process.env.SystemRoot },
    execArgv: [
      ...permissionFlags(ringPath, source.passphrasePath && resolve(source.passphrasePath)),
      '--disable-proto=delete',
      '--disallow-code-generation-from-strings',
      '--disable-warning=ExperimentalWarning',
      '--disable-warning=SecurityWarning',
    ],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc', ...(lines ?? Array.from({ length: threads }, () => 'pipe' as const))],
  });
}

/**
 * The owner of the ring, where root changes the ring of another user: the process runs as that user, since the permission
 * model lets nobody give a file away.
 */
function foreignOwnerOf(ringPath: string): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const stat = statSync(ringPath, { throwIfNoEntry: false });
  return stat === undefined || stat.uid === 0 ? undefined : { uid: stat.uid, gid: stat.gid };
}

/** How long a start may take. A passphrase is stretched for each key and thread; others may have one. */
export const startMsMax = (rootKey: string | undefined): number =>
  rootKey !== undefined && parseRootKeySetting(rootKey).passphrasePath === undefined
    ? START_MS_MAX
    : STRETCHED_START_MS_MAX;

/** To each of its threads. A process for which there were no descriptors left has none, whatever its type says. */
export const pipesOf = ({ stdio }: { readonly stdio?: readonly unknown[] }): Pipe[] =>
  (stdio?.slice(FIRST_LINE) ?? []) as unknown as Pipe[];

/** The ring with its temporary files and its lock, also where a link leads to it, the passphrase, and the program itself. */
export function permissionFlags(ringPath: string, passphrasePath: string | undefined): string[] {
  if (PERMISSION_FLAG === undefined) return [];
  const rings = [...new Set([ringPath, leadsTo(ringPath)])].map((path) => `${path}*`);
  const read = [...rings, ...(passphrasePath === undefined ? [] : [passphrasePath]), ...programFolders()];
  return [
    PERMISSION_FLAG,
    '--allow-worker',
    ...read.map((path) => `--allow-fs-read=${path}`),
    ...rings.map((path) => `--allow-fs-write=${path}`),
  ];
}

/** What is not there yet, or leads nowhere, is looked at when the ring is opened. */
function leadsTo(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Built files are put together, so that this one may be anywhere below it. */
function packageFolder(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : packageFolder(dirname(folder));
}

/** The built files and the folders of what they import, directly or not. */
function programFolders(): string[] {
  const folders = new Set([join(DIST, '*'), join(PACKAGE, 'package.json')]);
  const visit = (from: string): void => {
    const { dependencies = {} } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8')) as {
      dependencies?: Record<string, string>;
    };
    for (const name of Object.keys(dependencies)) {
      const folder = folderOf(name, from);
      if (folder === undefined || folders.has(join(folder, '*'))) continue;
      folders.add(join(folder, '*'));
      visit(folder);
    }
  };
  visit(PACKAGE);
  return [...folders];
}

function folderOf(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name);
    if (existsSync(candidate)) return realpathSync(candidate);
    if (folder === dirname(folder)) return undefined;
  }
}
