/** One line for what a person can mend. Known errors say all there is to say; others show their stack. */
export function fail(error: unknown): never {
  const known =
    error instanceof Error && ['StartError', 'SettingError', 'ApiError', 'CustosError'].includes(error.name);
  const text = known ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`custos: ${text}\n`);
  process.exit(1);
}
