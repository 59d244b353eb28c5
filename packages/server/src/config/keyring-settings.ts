import { resolve } from 'node:path';
import { choice, integer, readSetting, setting, text } from './setting.ts';
import { SettingError } from './setting-error.ts';

// The settings that the keyring process starts by, apart from the others: a start reads them before anything else is
// loaded (docs/decisions/0051).

export const KEYRING_SETTINGS = {
  dataDir: setting(
    'CUSTOS_DATA_DIR',
    './data',
    'Folder of the embedded database, the root key and the first credentials.',
    text,
  ),
  workers: setting('CUSTOS_WORKERS', '1', 'HTTP processes; more than one needs PostgreSQL.', integer(1, 256)),
  rootKey: setting(
    'CUSTOS_ROOT_KEY',
    '',
    '`file:PATH` or `passphrase-file:PATH`; unset for `<data>/root.key`.',
    rootKey,
  ),
  keyring: setting(
    'CUSTOS_KEYRING',
    'process',
    '`process` keeps keys in a process of their own; `inline` in the HTTP process, for tests.',
    choice('process', 'inline'),
  ),
};

function rootKey(value: string): string | undefined {
  if (value === '') return undefined;
  if (!/^(file|passphrase-file):.+/.test(value)) throw new SettingError('must be file:PATH or passphrase-file:PATH');
  return value;
}

/** The root key as it is set, or the one in the data folder. */
export const rootKeyIn = (dataDir: string, rootKey: string | undefined): string =>
  rootKey ?? `file:${resolve(dataDir, 'root.key')}`;

/**
 * The root key of the keyring process that this process will need: undefined if it needs none, or if a setting cannot be
 * used, which the reading of all settings says.
 */
export function rootKeyAhead(environment: NodeJS.ProcessEnv, isPrimary: boolean): string | undefined {
  try {
    const { dataDir, workers, rootKey, keyring } = KEYRING_SETTINGS;
    if (readSetting(keyring, environment) === 'inline') return undefined;
    if (readSetting(workers, environment) > 1 && isPrimary) return undefined;
    return rootKeyIn(readSetting(dataDir, environment), readSetting(rootKey, environment));
  } catch (error) {
    if (error instanceof SettingError) return undefined;
    throw error;
  }
}
