import type { BackupRecord } from '../core/store/installation.ts';

export const newestFirst = (records: readonly BackupRecord[]): BackupRecord[] =>
  records.toSorted((one, other) => timeOf(other) - timeOf(one));

/** When the newest backup was made; undefined where none is recorded, or none with a time. */
export function newestAtMs(records: readonly BackupRecord[]): number | undefined {
  const newest = Math.max(...records.map(timeOf));
  return newest > 0 ? newest : undefined;
}

/** Whoever can write to the database may have put anything in its place. */
const timeOf = ({ takenAtMs }: BackupRecord): number =>
  typeof takenAtMs === 'number' && Math.abs(takenAtMs) <= 8.64e15 ? takenAtMs : 0;
