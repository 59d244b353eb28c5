import { closeSync, existsSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { CustosError } from '@custos/sdk';

/** Before anything is asked of anybody: a kit that is made and cannot be written would have to be fetched again. */
export function requireAbsent(file: string): void {
  if (existsSync(file))
    throw new CustosError('INVALID_OPTION', `${file} is there already: name another file, or move it away`);
}

/** For its owner alone. Nothing that is there is overwritten, and nothing is left of a file that could not be written whole. */
export function writeNewFile(file: string, content: Uint8Array, mode = 0o600): void {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'wx', mode);
  } catch (error) {
    requireAbsent(file);
    throw unwritable(file, error);
  }
  try {
    for (let written = 0; written < content.length; ) written += writeSync(descriptor, content, written);
    fsyncSync(descriptor);
  } catch (error) {
    rmSync(file, { force: true });
    throw unwritable(file, error);
  } finally {
    closeSync(descriptor);
  }
}

const unwritable = (file: string, error: unknown): CustosError =>
  new CustosError('INVALID_OPTION', `cannot write ${file}: ${(error as Error).message}`);
