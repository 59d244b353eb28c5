import { CustosError, NetworkError } from '@custos/sdk';

/** Of code that the commands load only when they need it: of server and keyring, and of recovery kits. */
const KNOWN: ReadonlySet<string> = new Set(['StartError', 'SettingError', 'ApiError', 'KeyringError', 'RecoveryError']);

/** One line for what a person can mend. Known errors say all there is to say; others show their stack. */
export function fail(error: unknown, code = 1): never {
  const known = error instanceof Error && (error instanceof CustosError || KNOWN.has(error.name));
  const text = known ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`custos: ${text}\n`);
  process.exit(code);
}

/** What to do where the service did not answer; other errors as they are. */
export function explainAbsence(error: unknown): unknown {
  if (!(error instanceof NetworkError)) return error;
  return new CustosError(error.code, `${error.message} (is the service running? \`npm start\` starts it)`);
}
