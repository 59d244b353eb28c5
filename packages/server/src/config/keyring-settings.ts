import { resolve } from 'node:path';
import type { KeyringLimits, ServedAddress } from '@custos/keyring';
import { integer, readSetting, setting, text } from './setting.ts';
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
    '`process` keeps keys in a process of the same user; `socket:PATH` uses the keyring that `custos keyring serve` runs as another user; `inline` keeps them in the HTTP process, for tests.',
    keyring,
  ),
  keyringKeyFile: setting(
    'CUSTOS_KEYRING_KEY_FILE',
    '',
    'File with 64 hexadecimal digits, by which a service and a keyring on a socket know each other; only with `CUSTOS_KEYRING=socket:PATH`.',
    (value) => (value === '' ? undefined : value),
  ),
  keyringServices: setting(
    'CUSTOS_KEYRING_SERVICES',
    '16',
    'HTTP processes that `custos keyring serve` takes at the same time; each has a keyring process of its own.',
    integer(1, 256),
  ),
  organizationExports: setting(
    'CUSTOS_ORGANIZATION_EXPORTS_PER_MINUTE',
    '60',
    'Exports of wallets, accounts, private keys and secrets that a keyring makes for one organization in a minute before they answer 429. 0 turns the limit off.',
    integer(0, 1_000_000),
  ),
  exports: setting(
    'CUSTOS_EXPORTS_PER_MINUTE',
    '600',
    'The same for all organizations together.',
    integer(0, 1_000_000),
  ),
  organizationImports: setting(
    'CUSTOS_ORGANIZATION_IMPORTS_PER_MINUTE',
    '0',
    'Imports of wallets, private keys and secrets that a keyring takes for one organization in a minute before they answer 429. 0 is no limit.',
    integer(0, 1_000_000),
  ),
  imports: setting('CUSTOS_IMPORTS_PER_MINUTE', '0', 'The same for all organizations together.', integer(0, 1_000_000)),
};

/** Where keys are held. */
export type KeyringPlace = 'process' | 'inline' | ServedAddress;

function keyring(value: string): 'process' | 'inline' | `socket:${string}` {
  if (value === 'process' || value === 'inline') return value;
  if (!/^socket:\/[^\0]+$/.test(value))
    throw new SettingError('must be process, inline, or socket: and an absolute path');
  return value as `socket:${string}`;
}

/** The place of a keyring, with what belongs to it. */
export function keyringPlace(place: ReturnType<typeof keyring>, keyFile: string | undefined): KeyringPlace {
  if (place === 'process' || place === 'inline') {
    if (keyFile === undefined) return place;
    throw new SettingError('CUSTOS_KEYRING_KEY_FILE is only for CUSTOS_KEYRING=socket:PATH');
  }
  if (keyFile === undefined) throw new SettingError('CUSTOS_KEYRING as a socket needs CUSTOS_KEYRING_KEY_FILE');
  return { path: place.slice('socket:'.length), keyFile };
}

function rootKey(value: string): string | undefined {
  if (value === '') return undefined;
  if (!/^(file|passphrase-file):.+/.test(value)) throw new SettingError('must be file:PATH or passphrase-file:PATH');
  return value;
}

/** The root key as it is set, or the one in the data folder. */
export const rootKeyIn = (dataDir: string, rootKey: string | undefined): string =>
  rootKey ?? `file:${resolve(dataDir, 'root.key')}`;

/** What a minute may have of exports and imports. */
export const keyringLimits = (config: {
  readonly organizationExports: number;
  readonly exports: number;
  readonly organizationImports: number;
  readonly imports: number;
}): KeyringLimits => ({
  exportLimits: { perOrganization: config.organizationExports, inAll: config.exports },
  importLimits: { perOrganization: config.organizationImports, inAll: config.imports },
});

/** The same, where the other settings are not read. */
export function readKeyringLimits(environment: NodeJS.ProcessEnv): KeyringLimits {
  const { organizationExports, exports, organizationImports, imports } = KEYRING_SETTINGS;
  return keyringLimits({
    organizationExports: readSetting(organizationExports, environment),
    exports: readSetting(exports, environment),
    organizationImports: readSetting(organizationImports, environment),
    imports: readSetting(imports, environment),
  });
}

/** What a keyring process is started with. */
export interface KeyringStart extends KeyringLimits {
  readonly rootKey: string;
}

/**
 * The keyring process that this process will need: undefined if it needs none, or if a setting cannot be used, which the
 * reading of all settings says.
 */
export function keyringAhead(environment: NodeJS.ProcessEnv, isPrimary: boolean): KeyringStart | undefined {
  try {
    const { dataDir, workers, rootKey, keyring } = KEYRING_SETTINGS;
    if (readSetting(keyring, environment) !== 'process') return undefined;
    if (readSetting(workers, environment) > 1 && isPrimary) return undefined;
    return {
      rootKey: rootKeyIn(readSetting(dataDir, environment), readSetting(rootKey, environment)),
      ...readKeyringLimits(environment),
    };
  } catch (error) {
    if (error instanceof SettingError) return undefined;
    throw error;
  }
}
