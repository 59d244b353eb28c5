import { readFile } from 'node:fs/promises';
import { StartError } from '../lib/start-error.ts';
import { ageLines } from './archive/age-keys.ts';

/** Those that are named, one by one and in a file; if none is, those of the settings. */
export async function recipientsOf(
  named: readonly string[],
  file: string | undefined,
  fromSettings: readonly string[],
): Promise<string[]> {
  const inFile = file === undefined ? [] : await readRecipients(file);
  const all = [...named, ...inFile];
  return [...new Set(all.length === 0 ? fromSettings : all)];
}

async function readRecipients(file: string): Promise<string[]> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new StartError(`cannot read the recipients in ${file}: ${(error as Error).message}`);
  }
  const found = ageLines(text);
  // Otherwise it would be encrypted to somebody else than whoever named the file thinks.
  if (found.length === 0) throw new StartError(`${file} names no recipient: it has one (age1…) to a line`);
  return found;
}
