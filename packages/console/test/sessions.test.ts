// A session from its first minute to each of its ends: what the browser keeps of it, and what becomes of open pages.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../../server/test/harness/app.ts';
import { createSubOrganization } from '../../server/test/harness/client.ts';
import { Device, isBrowserMissing, launchBrowser, takeShot } from './harness/browser.ts';
import { signInWithKey } from './harness/sign-in.ts';
import { keptSessions, storedTexts } from './harness/storage.ts';

const MINUTES = 60_000;
/** The service ends a feed within a second; the rest is for a machine that is busy with other tests. */
const AT_ONCE_MS = 5_000;

describe.skipIf(isBrowserMissing)('sessions of the console', { timeout: 60_000 }, () => {
  let service: TestApp;
  let browser: Browser;
  let device: Device;
  let page: Page;

  beforeAll(async () => {
    [service, browser] = await Promise.all([openTestApp('sqlite'), launchBrowser()]);
    device = await Device.open(browser, service.baseUrl);
    page = device.page;
    await page.clock.install();
    await signInWithKey(device, service.root);
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await service?.[Symbol.asyncDispose]();
  });

  /** Lets time pass for both sides. */
  const wait = async (minutes: number): Promise<void> => {
    service.advance(minutes * MINUTES);
    await page.clock.fastForward(minutes * MINUTES);
  };
  const apiKeys = async (): Promise<readonly { apiKeyId: string; apiKeyName: string; credential: unknown }[]> =>
    (await service.root.query('get_api_keys', { userId: service.root.userId })).body.apiKeys;
  /** Deletes every key but the root user's own: what somebody does who lost a laptop. */
  const revokeSessions = async (): Promise<void> => {
    const { root } = service;
    const sessions = (await apiKeys()).filter(
      ({ credential }) => (credential as { publicKey: string }).publicKey !== root.key.publicKey,
    );
    expect(sessions.length).toBeGreaterThan(0);
    await root.run('delete_api_keys', {
      userId: root.userId,
      apiKeyIds: sessions.map(({ apiKeyId }) => apiKeyId),
    });
  };
  const ended = (tab: Page = page) => tab.getByRole('dialog', { name: 'Your session ended' });
  const signInAgain = async (tab: Page = page): Promise<void> => {
    const { publicKey, privateKey } = service.root.key;
    const credentials = JSON.stringify({ apiPublicKey: publicKey, apiPrivateKey: privateKey });
    await ended(tab).getByRole('textbox', { name: 'Credentials' }).fill(credentials);
    await ended(tab).getByRole('button', { name: 'Use an API key' }).click();
    await ended(tab).waitFor({ state: 'detached' });
  };

  test('the key cannot leave the browser, and nothing else that is secret is kept', async () => {
    expect(await keptSessions(page)).toEqual([
      {
        fields: ['expiresAtMs', 'keyPair', 'organizationId', 'organizationName', 'origin', 'userId', 'userName'],
        isExtractable: false,
        algorithm: 'P-256',
        exportError: 'InvalidAccessError',
      },
    ]);
    expect(await storedTexts(page)).toEqual({ 'custos-organization': service.root.organizationId });
    expect(await page.content()).not.toContain(service.root.key.privateKey);
    // Typed, used and forgotten: it is not in the memory of a field that the browser would restore either.
    await page.goBack();
    await page.goForward();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    expect(await page.content()).not.toContain(service.root.key.privateKey);
  });

  test('a secret that was hidden is nowhere', async () => {
    await device.visit(`/console/people?user=${service.root.userId}`);
    await page.getByRole('button', { name: 'Add an API key' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add an API key' });
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Payouts');
    await dialog.getByRole('button', { name: 'Add API key' }).click();
    await dialog.getByRole('checkbox', { name: /can act as a root user/ }).check();
    await dialog.getByRole('button', { name: 'Add API key' }).click();
    await dialog.getByRole('button', { name: 'Reveal' }).click();
    const shown = await dialog.getByText('"apiPrivateKey"').textContent();
    const { apiPrivateKey } = JSON.parse(shown ?? '{}') as { apiPrivateKey: string };
    expect(apiPrivateKey).toMatch(/^[0-9a-f]{64}$/);
    const isAnywhere = async (): Promise<boolean> =>
      [await page.content(), JSON.stringify([await storedTexts(page), await keptSessions(page)])].some((text) =>
        text.includes(apiPrivateKey),
      );
    expect(await isAnywhere()).toBe(true);
    await page.clock.fastForward(61_000);
    service.advance(61_000);
    await dialog.getByRole('button', { name: 'Reveal' }).waitFor();
    expect(await isAnywhere()).toBe(false);
    await dialog.getByRole('button', { name: 'Close' }).last().click();
  });

  test('a warning comes five minutes before the end, and one touch goes on', async () => {
    const before = (await apiKeys()).length;
    await device.visit('/console/people');
    await wait(10);
    const note = page.getByRole('status').filter({ hasText: 'Your session ends in' });
    await note.waitFor();
    await takeShot(page, 'session-ending-light');
    await note.getByRole('button', { name: 'Stay signed in' }).click();
    await note.waitFor({ state: 'detached' });
    await page.getByText(/^Session ends in 1[45] min$/).waitFor();
    // The key before is gone at the service, not just forgotten here.
    await expect.poll(async () => (await apiKeys()).length).toBe(before);
    expect(await keptSessions(page)).toHaveLength(1);
  });

  test('when its time is over the page stays, with what was typed', async () => {
    await device.visit('/console/wallets');
    await page.getByRole('button', { name: 'Create wallet' }).first().click();
    await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('Half a name');
    await wait(16);
    await ended().getByText('Its time was over.').waitFor();
    await takeShot(page, 'session-ended-light');
    expect(await keptSessions(page)).toEqual([]);
    await signInAgain();
    const form = page.getByRole('dialog', { name: 'Create a wallet' });
    expect(await form.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Half a name');
    await form.getByRole('button', { name: 'Create wallet' }).click();
    await page.getByRole('heading', { level: 1, name: 'Half a name' }).waitFor();
  });

  test('a key that is revoked ends every open page at once', async () => {
    await device.visit('/console/inbox');
    await page.getByText('Live', { exact: true }).waitFor();
    const second = await device.openTab();
    await second.goto(`${device.origin}/console/inbox`);
    await second.getByText('Live', { exact: true }).waitFor();
    await revokeSessions();
    const sinceMs = performance.now();
    await ended().getByText('The service no longer accepts its key').waitFor();
    await ended(second).getByText('The service no longer accepts its key').waitFor();
    expect(performance.now() - sinceMs).toBeLessThan(AT_ONCE_MS);
    expect(await keptSessions(page)).toEqual([]);
    await takeShot(second, 'session-revoked-light');
    // Who signs in again in one tab is in again in the other.
    await signInAgain();
    await ended(second).waitFor({ state: 'detached' });
    await second.close();
  });

  test('who signs out in one tab is out in all', async () => {
    const second = await device.openTab();
    await second.goto(`${device.origin}/console/wallets`);
    await second.getByRole('row', { name: 'Half a name' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    for (const tab of [page, second]) {
      await tab.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
      expect(await tab.content()).not.toContain('Half a name');
    }
    expect(await keptSessions(second)).toEqual([]);
    await signInWithKey(device, service.root);
    await second.getByRole('navigation', { name: 'Main' }).waitFor();
    await second.close();
  });

  test('a tab that missed a sign-in ends its own session, and not the newer one', async () => {
    const stale = await device.openTab();
    await stale.addInitScript(() => {
      Object.defineProperty(BroadcastChannel.prototype, 'onmessage', { set: () => undefined });
    });
    await stale.goto(`${device.origin}/console/wallets`);
    await stale.getByRole('row', { name: 'Half a name' }).waitFor();
    // What it asks from now on is answered once the other tab has signed in again.
    let answer = (): void => undefined;
    const isHeld = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await stale.route('**/public/v1/**', async (route) => {
      await isHeld;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    await signInWithKey(device, service.root);
    await stale.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Policies' }).click();
    answer();
    await ended(stale).waitFor();
    expect(await ended().count()).toBe(0);
    expect(await keptSessions(page)).toHaveLength(1);
    await page.reload();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    await stale.close();
  });

  test('a parent reads its children, and changes nothing there', async () => {
    const child = await createSubOrganization(service.root, 'Northwind customers');
    await child.run('create_wallet', { walletName: 'Customer funds', accounts: [] });
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/submit/')) sent.push(request.url());
    });
    await page.getByRole('button', { name: /^Organization: / }).click();
    await page
      .getByRole('dialog', { name: 'Organizations' })
      .getByRole('option', { name: /Northwind customers/ })
      .click();
    const banner = page.getByText(/^You are reading/);
    await banner.waitFor();
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Wallets' }).click();
    await page.getByRole('row', { name: 'Customer funds' }).waitFor();
    expect(await page.getByRole('row', { name: 'Half a name' }).count()).toBe(0);
    const create = page.getByRole('button', { name: 'Create wallet' }).first();
    expect(await create.getAttribute('aria-disabled')).toBe('true');
    expect(await create.getAttribute('aria-describedby')).not.toBeNull();
    await page.getByText('You only read Northwind customers.').first().waitFor({ state: 'attached' });
    await takeShot(page, 'read-only-light');
    await create.click({ force: true });
    expect(await page.getByRole('dialog').count()).toBe(0);
    for (const name of ['Inbox', 'Activities', 'Policies', 'People', 'Webhooks', 'Sends']) {
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
      await banner.waitFor();
      expect(await page.getByRole('alert').count(), name).toBe(0);
    }
    await page.getByRole('button', { name: 'Back to your own' }).click();
    await banner.waitFor({ state: 'detached' });
    expect(sent).toEqual([]);
  });

  test('nothing went wrong unseen', () => {
    expect(device.problems).toEqual([]);
  });
});
