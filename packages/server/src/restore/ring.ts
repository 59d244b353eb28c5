import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { installRing, type Keyring, parseRootKeySetting } from '@custos/keyring';
import type { ArchivedRing, Manifest } from '../backup/archive/parts.ts';
import { openRootKey, requireRootKeys } from '../bootstrap.ts';
import type { Config } from '../config/config.ts';
import { InstallationReader } from '../core/store/installation.ts';
import { requireLoadedIntegrity } from '../integrity/load.ts';
import { StartError } from '../lib/start-error.ts';
import type { Storage } from '../storage/storage.ts';

type RingConfig = Pick<Config, 'keyring' | 'rootKey'>;

/** Opens the key ring as a service with these settings does; refuses one that lacks a key which the backup needs. */
export async function openRing(
  storage: Storage,
  { keyring: place, rootKey }: RingConfig,
  { rootKeyIds }: Manifest,
): Promise<Keyring> {
  if ((await storage.read(InstallationReader).get('root_key_id')) === undefined)
    throw new StartError('the backup is of a database that no service has opened yet: there is nothing to restore');
  const keyring = await openRootKey(storage, rootKey, place);
  try {
    await requireRootKeys(storage, keyring, rootKeyIds, rootKey);
    await requireLoadedIntegrity(storage, keyring);
    return keyring;
  } catch (error) {
    await keyring.close();
    throw error;
  }
}

/** Puts the ring of a backup into a folder of its own; answers with the settings that open it there. */
export function ringInFolder(folder: string, config: RingConfig, ring: ArchivedRing | undefined): RingConfig {
  if (ring === undefined) throw noRing();
  const rootKey = ring.provider === 'file' ? `file:${join(folder, 'root.key')}` : linkedPassphrase(folder, config);
  writeFileSync(parseRootKeySetting(rootKey).ringPath, ring.ring, { mode: 0o600, flag: 'wx' });
  return { keyring: 'inline', rootKey };
}

function linkedPassphrase(folder: string, { keyring, rootKey }: RingConfig): string {
  const path = typeof keyring === 'object' ? undefined : parseRootKeySetting(rootKey).passphrasePath;
  if (path === undefined) throw needsPassphrase();
  const link = join(folder, 'passphrase');
  symlinkSync(resolve(path), link);
  return `passphrase-file:${link}`;
}

/**
 * Writes the ring of a backup to where the settings say, if nothing is there: from then on it opens as it will for the service.
 * Answers with what takes it away again. A kill leaves a ring without a database, which the next run finds.
 */
export async function installArchivedRing(
  { keyring, rootKey, dataDir }: Config,
  ring: ArchivedRing | undefined,
): Promise<(() => void) | undefined> {
  if (ring === undefined) throw noRing();
  if (typeof keyring === 'object')
    throw new StartError(
      'a keyring on a socket keeps its own ring: run this as root with CUSTOS_ROOT_KEY as it has it and without CUSTOS_KEYRING and CUSTOS_KEYRING_KEY_FILE',
    );
  const { provider, ringPath } = parseRootKeySetting(rootKey);
  if (existsSync(ringPath)) return undefined;
  if (provider !== ring.provider)
    throw ring.provider === 'passphrase'
      ? needsPassphrase()
      : new StartError(
          `the key ring in the backup is under no passphrase, and CUSTOS_ROOT_KEY=${rootKey} expects one: set CUSTOS_ROOT_KEY=file:PATH`,
        );
  if (!(await installRing(rootKey, ring.ring, dataDir))) return undefined;
  return () => {
    // A service may have added a key to it, if one was started on it.
    if (readFileSync(ringPath).equals(ring.ring)) rmSync(ringPath);
  };
}

const noRing = (): StartError => new StartError('the backup holds no key ring: it was made without --with-keys');

const needsPassphrase = (): StartError =>
  new StartError(
    'the key ring in the backup is under a passphrase: set CUSTOS_ROOT_KEY=passphrase-file:PATH to the file with that passphrase',
  );
