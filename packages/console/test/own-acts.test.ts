// What a person asks for themselves goes out once, as they read it, and only from the dialog that is before them.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestApp, type TestApp } from '../../server/test/harness/app.ts';
import { createUser } from '../../server/test/harness/client.ts';
import { findViolations } from './harness/axe.ts';
import { Device, isBrowserMissing, launchBrowser, takeShot } from './harness/browser.ts';
import { signInWithKey } from './harness/sign-in.ts';

describe.skipIf(isBrowserMissing)('own acts in the console', { timeout: 60_000 }, () => {
  let service: TestApp;
  let browser: Browser;
  let device: Device;
  let page: Page;
  const sent: string[] = [];

  beforeAll(async () => {
    [service, browser] = await Promise.all([openTestApp('sqlite'), launchBrowser()]);
    device = await Device.open(browser, service.baseUrl);
    page = device.page;
    await signInWithKey(device, service.root);
    page.on('request', (request) => {
      const operation = /\/submit\/(\w+)$/.exec(request.url())?.[1];
      if (operation !== undefined) sent.push(operation);
    });
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await service?.[Symbol.asyncDispose]();
  });

  const isOff = async (name: string): Promise<boolean> =>
    (await page.getByRole('dialog').getByRole('button', { name, exact: true }).getAttribute('aria-disabled')) ===
    'true';

  it('sends once, however often Enter is pressed', async () => {
    await device.visit('/console/wallets');
    await page.getByRole('button', { name: 'Create wallet' }).first().click();
    await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('Once');
    await page.route('**/submit/create_wallet', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 500));
      await route.continue();
    });
    const request = page.waitForRequest(/create_wallet/);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await request;
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Once' }).waitFor();
    expect(sent.filter((operation) => operation === 'create_wallet')).toHaveLength(1);
  });

  it('reads a request anew at the click, and asks again where it reads differently', async () => {
    const { walletId } = await service.root.run('create_wallet', { walletName: 'Treasury', accounts: [] });
    await device.visit(`/console/wallets/${walletId}`);
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Delete wallet' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('checkbox').check();
    expect(await isOff('Delete wallet')).toBe(false);
    // Nothing tells the page; the answers that it has are all it knows until it asks.
    await page.route('**/feed**', (route) => route.abort());
    await page.route('**/query/describe_activity', async (route) => {
      await service.root.run('update_wallet', { walletId, walletName: 'Treasury II' });
      await page.unroute('**/query/describe_activity');
      await route.continue();
    });
    await dialog.getByRole('button', { name: 'Delete wallet' }).click();
    await dialog.getByText('This reads differently than when you ticked it.').waitFor();
    await dialog.getByText('Treasury II').first().waitFor();
    expect(await dialog.getByRole('checkbox').isChecked()).toBe(false);
    expect(await isOff('Delete wallet')).toBe(true);
    expect(sent).not.toContain('delete_wallets');
    await takeShot(page, 'own-act-changed-light');
    expect(await findViolations(page)).toEqual([]);
    await page.unroute('**/feed**');
    await page.keyboard.press('Control+k');
    expect(await page.getByRole('dialog').count()).toBe(1);
    await page.keyboard.press('Escape');
  });

  it('does not propose a policy over the change of somebody else', async () => {
    const { policyId } = await service.root.run('create_policy', {
      policyName: 'Nobody deletes',
      effect: 'EFFECT_DENY',
      condition: "activity.kind == 'DELETE_WALLETS'",
      notes: '',
    });
    await device.visit(`/console/policies/${policyId}`);
    await page.getByRole('radio', { name: 'Allow' }).click();
    await page.getByRole('textbox', { name: 'Notes' }).fill('mine');
    await page.getByRole('button', { name: 'Propose policy' }).click();
    const consent = page.getByRole('dialog', { name: 'Propose policy?' });
    await consent.getByRole('checkbox').check();
    expect(await isOff('Propose policy')).toBe(false);
    // The keys of whatever else has the focus, and a key that is held, are not an answer to this dialog.
    await page.evaluate(() => {
      const key = { key: 'Enter', ctrlKey: true, bubbles: true };
      document.body.dispatchEvent(new KeyboardEvent('keydown', key));
      document
        .querySelector('[role=dialog] [role=checkbox]')
        ?.dispatchEvent(new KeyboardEvent('keydown', { ...key, repeat: true }));
    });
    await service.root.run('update_policy', { policyId, policyNotes: 'theirs' });
    await consent.getByText('Choose between the two changes first.').first().waitFor();
    await consent.getByRole('checkbox').focus();
    await page.keyboard.press('Control+Enter');
    await takeShot(page, 'own-act-two-changes-light');
    expect(await isOff('Propose policy')).toBe(true);
    expect(sent).not.toContain('update_policy');
    await page.keyboard.press('Escape');
  });

  it('says when the quorum changed under the dialog that changes it', async () => {
    const { root } = service;
    const grace = await createUser(root, 'Grace Lindqvist', { userEmail: 'grace@meridian.example' });
    await device.visit('/console/people');
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Change the root quorum' });
    await dialog.getByRole('checkbox', { name: /Grace/ }).check();
    await root.run('update_root_quorum', { threshold: 1, userIds: [root.userId, grace.userId] });
    await dialog.getByText('Somebody changed this quorum after you began.').waitFor();
    expect(await isOff('Change the quorum')).toBe(true);
    await takeShot(page, 'quorum-meanwhile-light');
    await dialog.getByRole('button', { name: 'Take theirs' }).click();
    await dialog.getByText('Somebody changed this quorum').waitFor({ state: 'detached' });
    expect(await dialog.getByRole('checkbox', { name: /Grace/ }).isChecked()).toBe(true);
    await page.keyboard.press('Escape');
  });

  it('nothing went wrong unseen', () => {
    expect(device.problems).toEqual([]);
  });
});
