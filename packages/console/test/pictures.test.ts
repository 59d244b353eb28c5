// The pictures of the README: the console of a small company on an ordinary morning.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Device, isBrowserMissing, launchBrowser, takeShot } from './harness/browser.ts';
import { signInWithKey } from './harness/sign-in.ts';
import { makeWorld, type World } from './harness/world.ts';

describe.skipIf(isBrowserMissing)('the pictures of the README', { timeout: 60_000 }, () => {
  let world: World;
  let browser: Browser;
  let device: Device;
  let page: Page;

  beforeAll(async () => {
    [world, browser] = await Promise.all([makeWorld(), launchBrowser()]);
    const { ada, grace, tomas, bot, mei, treasury, payroll, supplier } = world;
    for (const amount of ['8200', '11750']) {
      const { body } = await bot.submit('sign_transaction', world.payment(treasury, supplier, amount));
      await tomas.run('approve_activity', { fingerprint: body.activity.fingerprint });
    }
    await ada.submit('update_root_quorum', { threshold: 1, userIds: [ada.userId, grace.userId, tomas.userId] });
    await mei.submit('eth_send_transaction', world.send(treasury, '0x9be4d0a1c3e5f7091b2d4f6a8c0e1a3b5c7dd85b', '0.5'));
    await bot.submit('sign_transaction', world.payment(treasury, supplier, '12500'));
    // Denied, and the newest: what the editor of policies tries first.
    await mei.submit('sign_transaction', world.payment(payroll, supplier, '5000'));
    device = await Device.open(browser, world.service.baseUrl);
    page = device.page;
    await signInWithKey(device, grace);
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await world?.[Symbol.asyncDispose]();
  });

  test('the inbox, with a payment that waits', async () => {
    const row = page.getByRole('listitem', { name: /^Send 12,500.USDC from Treasury/ });
    await row.click();
    await page.getByText('signature verified here').first().waitFor();
    await expect.poll(() => page.getByRole('list', { name: 'Requests' }).getByRole('listitem').count()).toBe(3);
    await page.getByText('Live', { exact: true }).waitFor();
    await takeShot(page, 'readme-inbox');
  });

  test('a policy, with what it would have said', async () => {
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Policies' }).click();
    await page.getByRole('link', { name: 'Ops pay suppliers' }).click();
    await page.getByRole('textbox', { name: /^Condition / }).click();
    await page.keyboard.press('Control+End');
    for (let digit = 0; digit < 10; digit += 1) await page.keyboard.press('Backspace');
    await page.keyboard.insertText('5000000000');
    await page.getByRole('region', { name: 'With this draft' }).getByText('Allowed', { exact: true }).waitFor();
    await page.locator('.cm-policy-mark', { hasText: '5,000 USDC' }).waitFor();
    await page.getByRole('heading', { level: 1 }).click();
    await takeShot(page, 'readme-policy');
    expect(device.problems).toEqual([]);
  });
});
