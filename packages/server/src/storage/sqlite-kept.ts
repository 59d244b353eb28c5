import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** What a restore has kept of the database that was there before. */
export const keptPath = (file: string, stamp: string): string => `${file}.before-restore-${stamp}`;

/**
 * Other names under which the database itself is kept: a restore that was killed just before it exchanged the file. Whoever opened
 * the file by such a name would give it a second log.
 */
export function keptNames(file: string): string[] {
  const own = statSync(file, { throwIfNoEntry: false });
  if (own === undefined || own.nlink < 2) return [];
  return readdirSync(dirname(file))
    .filter((name) => name.startsWith(basename(keptPath(file, ''))))
    .map((name) => join(dirname(file), name))
    .filter((path) => {
      const other = statSync(path, { throwIfNoEntry: false });
      return other?.ino === own.ino && other.dev === own.dev;
    });
}
