import { INSTALLATION_ID, type Keyring } from '@custos/keyring';
import { InstallationReader, InstallationStore } from './core/store/installation.ts';
import type { Storage } from './storage/storage.ts';

/** The wrapped key of the deployment, under which the service's own keys are; made at the first start. */
export async function openInstallationKey(storage: Storage, keyring: Keyring): Promise<string> {
  const stored = await storage.read(InstallationReader).get('deployment_key');
  if (stored !== undefined) return stored;
  const wrapped = Buffer.from(await keyring.createOrganizationKey(INSTALLATION_ID)).toString('hex');
  return await storage.write(async (store) => {
    // Another process that starts at the same moment may have been first; then its key is the deployment's.
    if (await store(InstallationStore).claim('deployment_key', wrapped)) return wrapped;
    return (await store(InstallationStore).get('deployment_key')) ?? wrapped;
  });
}
