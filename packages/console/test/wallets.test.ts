// Wallets in a real browser: made, sent from, exported and signed with, each by what a person sees and clicks.
import type { Browser, Page } from 'playwright-core';
import { verifyMessage } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findViolations } from './harness/axe.ts';
import { Device, isBrowserMissing, launchBrowser, takeShot } from './harness/browser.ts';
import { signInWithKey } from './harness/sign-in.ts';
import { makeWorld, type World } from './harness/world.ts';

describe.skipIf(isBrowserMissing)('wallets in the console', { timeout: 90_000 }, () => {
  let world: World;
  let browser: Browser;
  let device: Device;
  let page: Page;

  /** What takes two of the root users. */
  async function decided(operation: string, parameters: Record<string, unknown>): Promise<void> {
    const { body } = await world.ada.submit(operation, parameters);
    await world.grace.run('approve_activity', { fingerprint: body.activity.fingerprint });
  }

  beforeAll(async () => {
    [world, browser] = await Promise.all([makeWorld(), launchBrowser()]);
    await decided('create_policy', {
      policyName: 'Ada keeps wallets',
      effect: 'EFFECT_ALLOW',
      condition: "activity.resource == 'WALLET' || activity.kind == 'SIGN_RAW_PAYLOAD'",
      consensus: `approvers.any(user, user.id == '${world.ada.userId}')`,
      notes: '',
    });
    device = await Device.open(browser, world.service.baseUrl);
    page = device.page;
    await signInWithKey(device, world.ada);
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await world?.[Symbol.asyncDispose]();
  });

  it('lists wallets, and makes one with several chains', async () => {
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Wallets' }).click();
    await page.getByRole('row', { name: 'Treasury' }).waitFor();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Wallets');
    await takeShot(page, 'wallets-light');
    expect(await findViolations(page)).toEqual([]);

    await page.getByRole('button', { name: 'Create wallet' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Create wallet' }).click();
    await dialog.getByText('Give the wallet a name.').waitFor();
    await dialog.getByRole('textbox', { name: 'Name' }).fill('<script>Kasse</script> \u202eesreveR');
    await dialog.getByRole('checkbox', { name: /Solana/ }).check();
    await takeShot(page, 'create-wallet-light');
    await dialog.getByRole('button', { name: 'Create wallet' }).click();
    await page.getByRole('heading', { level: 1, name: /Kasse/ }).waitFor();
    await page.getByText("m/44'/501'/0'/0'").waitFor();
    expect(await page.getByText('words made here').count()).toBe(1);
  });

  it('shows accounts with what is known of them, and what is not', async () => {
    await device.visit(`/console/wallets/${world.treasury.walletId}`);
    await page.getByText('18.402117 ETH').first().waitFor();
    await page.getByText('248,120.55 USDC').first().waitFor();
    expect(await page.getByText('no Bitcoin node is set').count()).toBe(1);
    await page
      .getByRole('button', { name: /^QR code of/ })
      .first()
      .click();
    await page.getByRole('img', { name: `QR code of the address ${world.treasury.address}` }).waitFor();
    await page.keyboard.press('Escape');
  });

  it('previews a send, says what is wrong in place, and asks', async () => {
    const form = page.getByRole('form', { name: 'Send' });
    await form.getByLabel('To', { exact: true }).fill('0x1234');
    await form.getByText('It has 4 digits after 0x; an address has 40.').waitFor();
    await form.getByLabel('To', { exact: true }).fill(world.supplier);
    await form.getByLabel('Amount').fill('1,000,000');
    await form.getByText('The account has 18.402117 ETH.').waitFor();
    await form.getByLabel('Amount').fill('0.5');
    await form.getByText('Waits for one more.').waitFor();
    await takeShot(page, 'wallet-light');
    expect(await findViolations(page)).toEqual([]);
    await form.getByRole('button', { name: 'Ask to send 0.5 ETH' }).click();
    // The first payment to an address is not routine, for those who ask neither.
    const consent = page.getByRole('dialog', { name: 'Ask to send 0.5 ETH?' });
    await consent.getByText('never paid from here').first().waitFor();
    const act = consent.getByRole('button', { name: 'Ask to send 0.5 ETH' });
    expect(await act.getAttribute('aria-disabled')).toBe('true');
    await takeShot(page, 'send-consent-light');
    expect(await findViolations(page)).toEqual([]);
    await consent.getByRole('button', { name: 'Cancel' }).click();
    await consent.waitFor({ state: 'detached' });
    expect(await form.getByLabel('Amount').inputValue()).toBe('0.5');
    await form.getByRole('button', { name: 'Ask to send 0.5 ETH' }).click();
    expect(await consent.getByRole('checkbox').isChecked()).toBe(false);
    await consent.getByRole('checkbox').check();
    await act.click();
    await form.getByText('Waits for approval.').waitFor();
    expect(await form.getByLabel('Amount').inputValue()).toBe('');
  });

  it('signs a message that anybody can check', async () => {
    await page.getByRole('button', { name: 'Sign a message' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Message' }).fill('Grüße von Ada');
    await dialog.getByText('Done at once.').waitFor();
    await dialog.getByRole('button', { name: 'Sign', exact: true }).click();
    const consent = dialog.getByRole('group', { name: 'Your consent' });
    await consent.getByRole('checkbox').check();
    // What is agreed to is this text and no other.
    await dialog.getByRole('textbox', { name: 'Message' }).fill('Grüße von Grace');
    await consent.waitFor({ state: 'detached' });
    await dialog.getByRole('textbox', { name: 'Message' }).fill('Grüße von Ada');
    await consent.getByText('as a message of Ethereum').waitFor();
    await takeShot(page, 'sign-consent-light');
    await dialog.getByRole('button', { name: 'Sign', exact: true }).click();
    await dialog.getByText('Signed.').waitFor();
    const signature = (await dialog.locator('pre').textContent()) as `0x${string}`;
    expect(await verifyMessage({ address: world.treasury.address, message: 'Grüße von Ada', signature })).toBe(true);
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
  });

  it('opens an export here alone, and leaves nothing of it in the page', async () => {
    await device.visit(`/console/wallets/${world.payroll.walletId}`);
    await page.getByRole('button', { name: 'Export', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('checkbox', { name: /for ever/ }).waitFor();
    await takeShot(page, 'export-consent-light');
    await dialog.getByRole('checkbox', { name: /for ever/ }).check();
    await dialog.getByRole('button', { name: 'Export', exact: true }).click();
    await dialog.getByRole('button', { name: 'Reveal' }).waitFor();
    expect(await dialog.getByRole('list').count()).toBe(0);
    const before = await page.content();
    await dialog.getByRole('button', { name: 'Reveal' }).click();
    const list = dialog.getByRole('list', { name: 'Words, in their order' });
    await list.waitFor();
    const words = await list.getByRole('listitem').allTextContents();
    expect([12, 24]).toContain(words.length);
    await dialog.getByRole('button', { name: 'Hide' }).click();
    // Some words of the list are ordinary ones, which the page may hold without any export.
    const secret = words.filter((word) => !before.includes(word));
    expect(secret.length).toBeGreaterThan(words.length / 2);
    const after = await page.content();
    expect(secret.filter((word) => after.includes(word))).toEqual([]);
    expect(await dialog.getByRole('list').count()).toBe(0);
    await takeShot(page, 'export-light');
    await dialog.getByRole('button', { name: 'Close and forget' }).click();
    await page.getByText('exported', { exact: true }).waitFor();
  });

  it('imports words that only the keyring can open, and leaves none of them in the page', async () => {
    const words = 'test test test test test test test test test test test junk';
    await device.visit('/console/wallets');
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: /^Import/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Begin' }).click();
    await dialog.getByRole('textbox', { name: 'Name' }).fill('From another place');
    await dialog.getByRole('textbox', { name: 'Words' }).fill('test test junk');
    await dialog.getByRole('button', { name: 'Import wallet' }).click();
    await dialog.getByText('There are 3 words; a wallet has 12, 15, 18, 21 or 24.').waitFor();
    await dialog.getByRole('textbox', { name: 'Words' }).fill(words);
    await dialog.getByRole('button', { name: 'Import wallet' }).click();
    await dialog.getByText('whoever had its words before still has them').waitFor();
    await dialog.getByRole('checkbox', { name: /Whoever had the words/ }).check();
    await takeShot(page, 'import-light');
    expect(await findViolations(page)).toEqual([]);
    const sent = page.waitForRequest(/import_wallet/);
    await dialog.getByRole('button', { name: 'Import wallet' }).click();
    expect((await sent).postData()).not.toContain('junk');
    await page.getByRole('heading', { level: 1, name: 'From another place' }).waitFor();
    await page.getByText('words imported').waitFor();
    // The address that these words make everywhere.
    await page.getByText('0xf39Fd6…b92266').first().waitFor();
    expect(await page.content()).not.toContain('junk');
  });

  it('explains the export rule before it deletes for ever', async () => {
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Delete wallet' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('It was never exported.', { exact: true }).waitFor();
    await dialog.getByText('what was never exported is deleted only if the request says so').waitFor();
    const act = dialog.getByRole('button', { name: 'Delete wallet' });
    await dialog.getByRole('checkbox').waitFor();
    expect(await act.getAttribute('aria-disabled')).toBe('true');
    await takeShot(page, 'delete-wallet-light');
    expect(await findViolations(page)).toEqual([]);
    await dialog.getByRole('checkbox').check();
    await act.click();
    await page.getByRole('heading', { level: 1, name: 'Wallets' }).waitFor();
    await page.getByRole('row', { name: 'Treasury' }).waitFor();
    expect(await page.getByRole('row', { name: 'From another place' }).count()).toBe(0);

    // One that was exported is gone here alone, and the request does not ask for more.
    await page.getByRole('link', { name: 'Payroll' }).click();
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Delete wallet' }).click();
    await dialog.getByText('It was exported.', { exact: true }).waitFor();
    await dialog.getByRole('button', { name: 'As SDK, CLI, curl' }).click();
    const same = page.getByRole('dialog', { name: 'The same in a program' });
    await same.getByText('deleteWallets').first().waitFor();
    expect(await same.getByText('deleteWithoutExport').count()).toBe(0);
    await page.keyboard.press('Escape');
    await same.waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
  });

  it('lists sends with their attempts, and says what Earn lacks', async () => {
    const { body } = await world.mei.submit('eth_send_transaction', {
      caip2: 'eip155:1',
      from: world.treasury.address,
      calls: [{ to: world.supplier, value: '250000000000000000' }],
    });
    await world.grace.run('approve_activity', { fingerprint: body.activity.fingerprint });
    await device.visit('/console/sends');
    const row = page.getByRole('row', { name: /0\.25 ETH.*in block/ });
    await row.waitFor();
    await takeShot(page, 'sends-light');
    expect(await findViolations(page)).toEqual([]);
    await row.click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Fee paid').waitFor();
    expect(await dialog.getByText('21,000').count()).toBeGreaterThan(0);
    await takeShot(page, 'send-light');
    await page.keyboard.press('Escape');
    await page.getByRole('radio', { name: 'Failed' }).click();
    await page.getByText('No send is like that').waitFor();

    await device.visit('/console/earn');
    await page.getByText('Earn is not configured').waitFor();
    await takeShot(page, 'earn-light');
    expect(await findViolations(page)).toEqual([]);
  });

  it('has no error of its own, at any width and in the dark', async () => {
    expect(device.problems).toEqual([]);
    await using phone = await Device.open(browser, world.service.baseUrl, {
      colorScheme: 'dark',
      width: 375,
      height: 812,
    });
    await signInWithKey(phone, world.ada);
    await phone.visit(`/console/wallets/${world.treasury.walletId}`);
    await phone.page.getByText('248,120.55 USDC').first().waitFor();
    await takeShot(phone.page, 'wallet-phone-dark');
    const sideways = await phone.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(sideways).toBeLessThanOrEqual(0);
    expect(await findViolations(phone.page)).toEqual([]);
    await phone.visit('/console/sends');
    await phone.page.getByRole('row', { name: /0\.25 ETH/ }).waitFor();
    await takeShot(phone.page, 'sends-phone-dark');
    expect(await findViolations(phone.page)).toEqual([]);
    await phone.visit('/console/wallets');
    await phone.page.getByRole('row', { name: 'Treasury' }).waitFor();
    expect(await findViolations(phone.page)).toEqual([]);
    expect(phone.problems).toEqual([]);
  });
});
