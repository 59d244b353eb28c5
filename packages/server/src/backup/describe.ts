import type { BackupRecord } from '../core/store/installation.ts';
import { printable, printableTime } from '../lib/printable.ts';

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'];

/** In one line. Whoever can write to the database may have put anything into a record. */
export function describeRecord({ id, takenAtMs, place, bytes, hasKeys, rootKeyIds }: BackupRecord): string {
  const size = typeof bytes === 'number' ? `, ${describeBytes(bytes)}` : '';
  const keys =
    hasKeys === true
      ? 'has the key ring inside'
      : `needs root key ${rootKeyIds.map((key) => printable(key)).join(', ')}`;
  return `${printable(id)} of ${printableTime(takenAtMs)}${size}, ${keys}: ${printable(place, 300)}`;
}

export function describeBytes(bytes: number): string {
  let unit = 0;
  let value = bytes;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}
