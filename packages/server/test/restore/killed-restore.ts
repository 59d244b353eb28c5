import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { Step } from '../../src/restore/target/target.ts';
import type { DatabaseKind } from '../harness/databases.ts';
import type { AgeKey } from './support.ts';

const SCRIPT = fileURLToPath(new URL('killed-restore.mjs', import.meta.url));

/** In their order. */
export const STEPS: readonly Step[] = [
  'locked',
  'header',
  'filled',
  'ring',
  'verified',
  'confirmed',
  'fenced',
  'folded',
  'kept',
  'moved',
  'swapped',
  'done',
];

/** From here on the database is the one of the backup. PostgreSQL has moved nothing until it has committed. */
export const FIRST_OF_NEW: Readonly<Record<DatabaseKind, Step>> = { sqlite: 'moved', postgres: 'swapped' };

/** A restore with these settings, in a process that kills itself at a step. */
export async function killedAt(
  step: Step,
  environment: Readonly<Record<string, string>>,
  archive: string,
  { file }: AgeKey,
  ...more: readonly 'with-keys'[]
): Promise<void> {
  const child = spawn(process.execPath, [SCRIPT, archive, file, step, ...more], {
    env: { ...environment, CUSTOS_KEYRING: 'inline' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  expect([step, code, signal, stderr]).toEqual([step, null, 'SIGKILL', '']);
}
