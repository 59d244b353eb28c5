import type { TestClient } from '../../../server/test/harness/client.ts';
import type { Device } from './browser.ts';

/** Signs in as a person who pastes an API key. */
export async function signInWithKey(device: Device, { key, organizationId }: TestClient): Promise<void> {
  const { publicKey, privateKey } = key;
  await device.visit('/console/sign-in');
  await device.page
    .getByRole('textbox', { name: 'Credentials' })
    .fill(JSON.stringify({ apiPublicKey: publicKey, apiPrivateKey: privateKey, organizationId }));
  await device.page.getByRole('button', { name: 'Use an API key' }).click();
  await device.page.getByRole('navigation', { name: 'Main' }).waitFor();
}
