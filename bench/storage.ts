import { join } from 'node:path';
import { createKeyring } from '../packages/keyring/src/index.ts';
import { dataModel } from '../packages/server/src/domains.ts';
import { requireLoadedIntegrity } from '../packages/server/src/integrity/load.ts';
import { openStorage } from '../packages/server/src/storage/open.ts';
import type { Storage } from '../packages/server/src/storage/storage.ts';
import { POOL_SIZE } from './floors/drivers.ts';
import type { Service } from './service.ts';

/** The database of a service that is stopped, by the service's own code; its rows are verified as they are there. */
export async function openStopped({
  dataDir,
  databaseUrl,
}: Pick<Service, 'dataDir' | 'databaseUrl'>): Promise<Storage> {
  const onIdleError = (error: Error): void => {
    throw error;
  };
  const storage = await openStorage({
    dataModel,
    dataDir,
    databaseUrl,
    databasePool: POOL_SIZE,
    nowMs: Date.now(),
    onIdleError,
  });
  const keyring = await createKeyring({ rootKey: `file:${join(dataDir, 'root.key')}`, mode: 'inline' });
  try {
    await requireLoadedIntegrity(storage, keyring);
  } finally {
    await keyring.close();
  }
  return storage;
}
