import { readFileSync } from 'node:fs';
import path from 'node:path';

/** Whether TEST_VECTORS names a folder of published vectors. A file that it lacks fails the test that reads it. */
export const haveVectors = Boolean(process.env.TEST_VECTORS);

export function readCorpus(name: string): string {
  return readFileSync(path.join(process.env.TEST_VECTORS ?? '', name), 'utf8');
}

export function readJson<T>(name: string): T {
  return JSON.parse(readCorpus(name)) as T;
}

export interface WycheproofCase {
  readonly tcId: number;
  readonly comment: string;
  readonly flags: readonly string[];
  readonly result: 'valid' | 'invalid' | 'acceptable';
}

interface WycheproofFile<Group, Case> {
  readonly numberOfTests: number;
  readonly testGroups: readonly (Group & { readonly tests: readonly (Case & WycheproofCase)[] })[];
}

/** Every case of a file with its group. */
export function readWycheproof<Group, Case>(name: string): { group: Group; test: Case & WycheproofCase }[] {
  const file = readJson<WycheproofFile<Group, Case>>(path.join('wycheproof', `${name}_test.json`));
  const cases = file.testGroups.flatMap((group) => group.tests.map((test) => ({ group, test })));
  if (cases.length !== file.numberOfTests) throw new Error(`${name} does not hold as many cases as it says`);
  return cases;
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

export function bytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'hex'));
}
