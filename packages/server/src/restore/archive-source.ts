import { readFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { ageLines } from '../backup/archive/age-keys.ts';
import type { ArchiveHeader, ArchivePart } from '../backup/archive/parts.ts';
import { readArchive } from '../backup/archive/read.ts';
import { errorText } from '../lib/error-text.ts';
import { StartError } from '../lib/start-error.ts';

const SQLITE = 'SQLite format 3\0';
const BUFFER_BYTES = 256 * 1024;

/** An archive whose header was read; what follows is read as it is asked for, once. */
export interface OpenArchive {
  /** For messages. */
  readonly name: string;
  readonly header: ArchiveHeader;
  readonly parts: AsyncIterable<ArchivePart>;
  close(): Promise<void>;
}

export const STANDARD_INPUT = '-';

/** Opens the archive in a file, or from standard input. */
export async function openArchive(path: string, identityFiles: readonly string[]): Promise<OpenArchive> {
  const identities = identityFiles.flatMap(identitiesIn);
  const isInput = path === STANDARD_INPUT;
  const name = isInput ? 'standard input' : path;
  const handle = isInput ? undefined : await openFile(path);
  const bytes =
    handle === undefined ? process.stdin : handle.createReadStream({ highWaterMark: BUFFER_BYTES, autoClose: false });
  const parts = readArchive(naming(bytes, name), identities);
  const close = async (): Promise<void> => {
    await parts.return();
    await handle?.close();
  };
  try {
    const first = await parts.next();
    if (first.done || first.value.part !== 'header') throw new StartError(`${name} is not a Custos backup`);
    return { name, header: first.value.header, parts, close };
  } catch (error) {
    await close().catch(() => {});
    throw error;
  }
}

async function openFile(path: string): Promise<FileHandle> {
  let handle: FileHandle;
  try {
    handle = await open(path, 'r');
  } catch (error) {
    throw unreadable(path, error);
  }
  try {
    const stats = await handle.stat();
    if (stats.isDirectory()) throw new StartError(`${path} is a folder: name the file of a backup in it`);
    if (stats.isFile() && stats.size === 0) throw new StartError(`${path} is empty`);
    const start = Buffer.alloc(SQLITE.length);
    // A pipe has no beginning to look at.
    if (stats.isFile()) await handle.read(start, 0, start.length, 0);
    if (start.toString('latin1') === SQLITE)
      throw new StartError(
        `${path} is a database file, not a backup that \`custos backup\` made: put it into a data directory, with the files beside it and its key ring, and run \`custos verify\` with CUSTOS_DATA_DIR set to that (docs/guides/disaster-recovery.md#a-copy-of-the-files)`,
      );
    return handle;
  } catch (error) {
    await handle.close();
    throw error instanceof StartError ? error : unreadable(path, error);
  }
}

/** What the disk says is told with the name of what was being read. */
async function* naming(bytes: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch (error) {
    throw unreadable(name, error);
  }
}

const unreadable = (path: string, error: unknown): StartError =>
  new StartError(`cannot read ${path}: ${errorText(error)}`);

/** Identities of age, as `age-keygen` writes them; of a file that is a secret nothing is said but its name. */
function identitiesIn(path: string): string[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new StartError(`cannot read the identity file ${path}: ${errorText(error)}`);
  }
  const lines = ageLines(text);
  if (text.startsWith('age-encryption.org/') || text.startsWith('-----BEGIN'))
    throw new StartError(
      `the identity file ${path} is encrypted itself, or is not an age identity: decrypt it first (\`age -d ${path} > FILE\`, in a folder in memory)`,
    );
  if (lines.length === 0) throw new StartError(`the identity file ${path} holds no identity (AGE-SECRET-KEY-1…)`);
  return lines;
}
