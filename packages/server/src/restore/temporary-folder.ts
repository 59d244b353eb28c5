import { lstatSync, mkdtempSync, readdirSync, rmSync, type Stats } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SqliteFile } from '../storage/sqlite-driver.ts';
import { explain } from './place/sqlite-place.ts';

/** One that was just made may not have its lock yet. */
const LEFT_OVER_MS = 60_000;

/** A temporary folder with a lock, so that the next command can tell what a killed one has left: it may hold a key ring. */
export class TemporaryFolder {
  readonly path: string;
  readonly #lock: SqliteFile;

  private constructor(path: string, lock: SqliteFile) {
    this.path = path;
    this.#lock = lock;
  }

  /** Removes those that killed commands have left under names that begin so, and makes one. */
  static async make(prefix: string): Promise<TemporaryFolder> {
    const { takeLock } = await import('../storage/sqlite.ts');
    const lockIn = (path: string): SqliteFile => takeLock(join(path, 'lock'));
    for (const left of leftOver(prefix)) {
      try {
        lockIn(left).close();
        rmSync(left, { recursive: true, force: true });
      } catch {
        // It is in use, or somebody else's.
      }
    }
    try {
      const path = mkdtempSync(join(tmpdir(), prefix));
      return new TemporaryFolder(path, lockIn(path));
    } catch (error) {
      throw explain(error, join(tmpdir(), prefix));
    }
  }

  remove(): void {
    this.#lock.close();
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Anybody may make a folder, or a link, of that name where temporary files are. */
const isOwnAndOld = (found: Stats | undefined): boolean =>
  found?.isDirectory() === true &&
  found.uid === (process.getuid?.() ?? found.uid) &&
  found.mtimeMs < Date.now() - LEFT_OVER_MS;

function leftOver(prefix: string): string[] {
  try {
    const names = readdirSync(tmpdir()).filter((name) => name.startsWith(prefix));
    return names
      .map((name) => join(tmpdir(), name))
      .filter((path) => isOwnAndOld(lstatSync(path, { throwIfNoEntry: false })));
  } catch {
    return [];
  }
}
