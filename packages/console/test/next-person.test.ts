// Two people at one browser: what the first read, typed or unveiled is not there for the second.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestApp, type TestApp } from '../../server/test/harness/app.ts';
import { createUser, type TestClient } from '../../server/test/harness/client.ts';
import { Device, isBrowserMissing, launchBrowser } from './harness/browser.ts';
import { signInWithKey } from './harness/sign-in.ts';

const WORDS = `${'test '.repeat(11)}junk`;

describe.skipIf(isBrowserMissing)('the next person at a browser', { timeout: 60_000 }, () => {
  let service: TestApp;
  let browser: Browser;
  let device: Device;
  let page: Page;
  let grace: TestClient;

  beforeAll(async () => {
    [service, browser] = await Promise.all([openTestApp('sqlite'), launchBrowser()]);
    grace = await createUser(service.root, 'Grace Lindqvist', { userEmail: 'grace@meridian.example' });
    device = await Device.open(browser, service.baseUrl);
    page = device.page;
    await signInWithKey(device, service.root);
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await service?.[Symbol.asyncDispose]();
  });

  const sessionsOf = async (client: TestClient): Promise<readonly string[]> => {
    const { apiKeys } = (await client.query('get_api_keys', { userId: client.userId })).body;
    return apiKeys
      .filter(({ credential }: { credential: { publicKey: string } }) => credential.publicKey !== client.key.publicKey)
      .map(({ apiKeyId }: { apiKeyId: string }) => apiKeyId);
  };
  const revokeSessions = async (client: TestClient): Promise<void> => {
    await client.run('delete_api_keys', { userId: client.userId, apiKeyIds: await sessionsOf(client) });
  };
  const ended = () => page.getByRole('dialog', { name: 'Your session ended' });
  const signInAgain = async ({ key }: TestClient): Promise<void> => {
    const credentials = JSON.stringify({ apiPublicKey: key.publicKey, apiPrivateKey: key.privateKey });
    await ended().getByRole('textbox', { name: 'Credentials' }).fill(credentials);
    await ended().getByRole('button', { name: 'Use an API key' }).click();
    await ended().waitFor({ state: 'detached' });
  };
  const openImport = async () => {
    await device.visit('/console/wallets');
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: /^Import/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Begin' }).click();
    const form = page.getByRole('dialog', { name: 'Import words' });
    await form.getByRole('textbox', { name: 'Name' }).fill('Brought along');
    await form.getByRole('textbox', { name: 'Words' }).fill(WORDS);
    await form.getByLabel('Passphrase').fill('open sesame');
    return form;
  };

  it('keeps the form of the same person when the session ends, but none of its secrets', async () => {
    const form = await openImport();
    await revokeSessions(service.root);
    await ended().waitFor();
    expect(await page.locator('textarea').first().inputValue()).toBe('');
    await signInAgain(service.root);
    expect(await form.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Brought along');
    expect(await form.getByRole('textbox', { name: 'Words' }).inputValue()).toBe('');
    expect(await form.getByLabel('Passphrase').inputValue()).toBe('');
  });

  it('takes form and secrets away when another tab signs out', async () => {
    const form = await openImport();
    const second = await device.openTab();
    await second.goto(`${device.origin}/console/people`);
    await second.getByRole('button', { name: 'Sign out' }).click();
    await second.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    await expect.poll(() => form.count()).toBe(0);
    expect(await page.content()).not.toContain('Brought along');
    await second.close();
    await signInWithKey(device, service.root);
  });

  it('shows the next person a page of their own', async () => {
    await openImport();
    await revokeSessions(service.root);
    await ended().waitFor();
    await signInAgain(grace);
    await page.getByText('Grace Lindqvist').first().waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await page.locator('textarea').count()).toBe(0);
  });

  it('nothing went wrong unseen', () => {
    expect(device.problems).toEqual([]);
  });
});
