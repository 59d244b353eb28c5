// Every page with data in it, in light and dark, on a desk and on a phone: nothing broken, nothing hard to read, nothing
// from elsewhere. The names in it are what strangers might call themselves.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findViolations } from './harness/axe.ts';
import { Device, isBrowserMissing, launchBrowser, takeShot } from './harness/browser.ts';
import { signInWithKey } from './harness/sign-in.ts';
import { makeWorld, type World } from './harness/world.ts';

const HOSTILE = '<img src=x onerror=alert(1)> \u202Egnp.exe\u202C';
const LONG = 'Konto'.repeat(40);

describe.skipIf(isBrowserMissing)('every page of the console', { timeout: 120_000 }, () => {
  let world: World;
  let browser: Browser;

  beforeAll(async () => {
    [world, browser] = await Promise.all([makeWorld(), launchBrowser()]);
    const { ada, grace, bot, mei, treasury, payroll, supplier } = world;
    await bot.submit('sign_transaction', world.payment(treasury, supplier, '12500'));
    await mei.submit('sign_transaction', world.payment(payroll, supplier, '5000'));
    await mei.submit('eth_send_transaction', world.send(treasury, supplier, '0.5'));
    await grace.submit('update_root_quorum', {
      threshold: 1,
      userIds: [ada.userId, grace.userId, world.tomas.userId],
    });
    for (const name of [HOSTILE, LONG]) {
      const { body } = await grace.submit('create_wallet', { walletName: name, accounts: [] });
      await ada.submit('approve_activity', { fingerprint: body.activity.fingerprint });
    }
    await grace.submit('update_user_name', { userId: mei.userId, userName: HOSTILE });
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await world?.[Symbol.asyncDispose]();
  });

  const pages = (): readonly (readonly [path: string, heading: string])[] => [
    ['inbox', 'Inbox'],
    ['activities', 'Activities'],
    ['wallets', 'Wallets'],
    [`wallets/${world.treasury.walletId}`, 'Treasury'],
    ['policies', 'Policies'],
    ['policies/new', 'New policy'],
    ['people', 'People'],
    ['webhooks', 'Webhooks'],
    [`webhooks/${world.endpointId}`, 'Ledger'],
    ['sends', 'Sends'],
    ['earn', 'Earn'],
    ['sub-organizations', 'Sub-organizations'],
    ['operations', 'Operations'],
  ];

  test.each([
    ['light', 1440, 900],
    ['dark', 1440, 900],
    ['light', 375, 812],
  ] as const)('in %s at %s by %s', async (colorScheme, width, height) => {
    await using device = await Device.open(browser, world.service.baseUrl, { colorScheme, width, height });
    const { page } = device;
    await signInWithKey(device, world.ada);
    for (const [path, heading] of pages()) {
      await page.goto(`${device.origin}/console/${path}`);
      await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
      await page.waitForTimeout(600);
      await takeShot(page, `${path.replace(/[0-9a-f-]{36}/, 'one').replace('/', '-')}-${colorScheme}-${width}`);
      expect.soft(await page.getByRole('heading', { level: 1 }).count(), `h1 of ${path}`).toBe(1);
      expect.soft(await findViolations(page), path).toEqual([]);
      const widthOfAll = await page.evaluate(() => document.documentElement.scrollWidth);
      expect.soft(widthOfAll, `width of ${path}`).toBeLessThanOrEqual(width);
    }
    expect(device.problems).toEqual([]);
  });
});
