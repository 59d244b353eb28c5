import { SettingError } from './config/setting-error.ts';
import { ApiError } from './lib/errors.ts';
import { StartError } from './lib/start-error.ts';

/** One clear line for what an operator can mend; a stack only for what is our own mistake. */
export function fail(error: unknown): void {
  // Keys that somebody else wrote are refused as they are read.
  const isRefusal = error instanceof ApiError && error.code === 'INTEGRITY_VIOLATION';
  const known = error instanceof StartError || error instanceof SettingError || isRefusal;
  const text = known ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error);
  // The first process says it once for all workers.
  if (process.send === undefined) sayAndExit(text);
  else process.send({ failure: text }, () => process.exit(1));
}

export function sayAndExit(text: string): never {
  process.stderr.write(`custos: ${text}\n`);
  process.exit(1);
}
