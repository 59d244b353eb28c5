import type { TestClient } from '../../../server/test/harness/client.ts';
import type { Device } from './browser.ts';

/** Signs in as a person who pastes an API key. */
export async function signInWithKey(
  device: Device,
  { key, organizationId }: Pick<TestClient, 'key' | 'organizationId'>,
): Promise<void> {
  const { publicKey, privateKey } = key;
  await device.visit('/console/sign-in');
  await device.page
    .getByRole('textbox', { name: 'Credentials' })
    .fill(JSON.stringify({ apiPublicKey: publicKey, apiPrivateKey: privateKey, organizationId }));
  await device.page.getByRole('button', { name: 'Use an API key' }).click();
  await device.page.getByRole('navigation', { name: 'Main' }).waitFor();
}

/** Signs in with a passkey that this device has. */
export async function signInWithPasskey(device: Device, organizationId: string): Promise<void> {
  await device.visit('/console/sign-in');
  await device.page.getByRole('textbox', { name: 'Organization ID' }).fill(organizationId);
  await device.page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await device.page.getByRole('navigation', { name: 'Main' }).waitFor();
}
