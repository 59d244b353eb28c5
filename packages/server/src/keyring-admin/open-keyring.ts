import type { Keyring } from '@custos/keyring';
import { openRootKey } from '../bootstrap.ts';
import type { Config } from '../config/config.ts';
import { watchBeside } from '../integrity/follower.ts';
import { requireLoadedIntegrity } from '../integrity/load.ts';
import type { Storage } from '../storage/storage.ts';

/**
 * The keyring of a database that is open beside a running service, and with it the integrity key: no command reads or writes
 * rows before, or goes on once it has closed the keyring. Until then it follows when that key is replaced.
 */
export async function openKeyringBeside(storage: Storage, config: Config): Promise<Keyring> {
  const keyring = await openRootKey(storage, config.rootKey, config.keyring);
  try {
    watchBeside(storage, keyring, await requireLoadedIntegrity(storage, keyring));
    return keyring;
  } catch (error) {
    await keyring.close();
    throw error;
  }
}
