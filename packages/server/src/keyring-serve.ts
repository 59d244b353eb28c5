import { resolve } from 'node:path';
import { checkRing, KeyringError, KeyringServer } from '@custos/keyring/serve';
import { KEYRING_SETTINGS, keyringPlace, readKeyringLimits } from './config/keyring-settings.ts';
import { readSetting } from './config/setting.ts';
import { SettingError } from './config/setting-error.ts';
import { StartError } from './lib/start-error.ts';

// `custos keyring serve`. It loads little of the service: what is not here cannot be taken over here.

export { SettingError, StartError };

export interface ServedKeyring {
  readonly path: string;
  readonly rootKey: string;
  /** Whether the ring is there, or will be made for the first service that needs one. */
  readonly ring: 'held' | 'missing';
  close(): Promise<void>;
}

/** The settings that a keyring on a socket has. Others are the service's, and have no business here. */
function readServeSettings(environment: NodeJS.ProcessEnv) {
  // All but those about the service that starts a keyring process itself.
  const { dataDir: _dataDir, workers: _workers, ...settings } = KEYRING_SETTINGS;
  const { keyring, keyringKeyFile, keyringServices, rootKey } = settings;
  const known = Object.values(settings).map(({ name }) => String(name));
  for (const name of Object.keys(environment)) {
    if (name.startsWith('CUSTOS_') && !known.includes(name)) {
      throw new SettingError(`${name} is not a setting of the keyring, which has ${known.join(', ')}`);
    }
  }
  const place = readSetting(keyring, environment);
  if (!place.startsWith('socket:'))
    throw new SettingError('CUSTOS_KEYRING must be socket:PATH: where the keyring listens');
  const address = keyringPlace(place, readSetting(keyringKeyFile, environment));
  const root = readSetting(rootKey, environment);
  if (root === undefined) throw new SettingError('CUSTOS_ROOT_KEY is needed: the key ring that is served');
  const [, scheme, path] = /^(file|passphrase-file):(.+)$/s.exec(root) as unknown as [string, string, string];
  return {
    address: address as Exclude<typeof address, string>,
    rootKey: `${scheme}:${resolve(path)}`,
    sessionsMax: readSetting(keyringServices, environment),
    limits: readKeyringLimits(environment),
  };
}

/** Runs the keyring for services that connect to its socket, until it is closed. */
export async function serveKeyring(environment: NodeJS.ProcessEnv): Promise<ServedKeyring> {
  const { address, rootKey, sessionsMax, limits } = readServeSettings(environment);
  try {
    const ring = await checkRing(rootKey);
    const server = await KeyringServer.listen({ ...address, rootKey, sessionsMax, ...limits });
    return { path: address.path, rootKey, ring, close: () => server.close() };
  } catch (error) {
    throw error instanceof KeyringError ? new StartError(`cannot serve the keyring: ${error.message}`) : error;
  }
}
