// Policies in a real browser: read, edited with a simulation, corrected in place and proposed, as a person does it.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findViolations } from './harness/axe.ts';
import { Device, isBrowserMissing, launchBrowser, takeShot } from './harness/browser.ts';
import { signInWithKey } from './harness/sign-in.ts';
import { makeWorld, type World } from './harness/world.ts';

describe.skipIf(isBrowserMissing)('policies in the console', { timeout: 90_000 }, () => {
  let world: World;
  let browser: Browser;
  let device: Device;
  let page: Page;

  const expression = (name: string) => page.getByRole('textbox', { name: new RegExp(`^${name} `) });
  const outcome = (name: string) => page.getByRole('region', { name });

  beforeAll(async () => {
    [world, browser] = await Promise.all([makeWorld(), launchBrowser()]);
    await world.mei.submit('sign_transaction', world.payment(world.payroll, world.supplier, '5000'));
    device = await Device.open(browser, world.service.baseUrl);
    page = device.page;
    await signInWithKey(device, world.ada);
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await world?.[Symbol.asyncDispose]();
  });

  it('lists policies by what they mean', async () => {
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Policies' }).click();
    const row = page.getByRole('row', { name: /Ops pay suppliers/ });
    await row.getByText('1,000 USDC').waitFor();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Policies');
    expect(await row.getByText('Allow', { exact: true }).count()).toBe(1);
    await takeShot(page, 'policies-light');
    expect(await findViolations(page)).toEqual([]);
  });

  it('tries a past payment with the draft, and its answer changes', async () => {
    await page.getByRole('link', { name: 'Ops pay suppliers' }).click();
    await page.getByRole('heading', { level: 1, name: 'Ops pay suppliers' }).waitFor();
    await expression('Condition').waitFor();
    await outcome('With the stored policy').getByText('Denied', { exact: true }).waitFor();
    await outcome('With this draft').getByText('Denied', { exact: true }).waitFor();

    await expression('Condition').click();
    await page.keyboard.press('Control+End');
    for (let digit = 0; digit < 10; digit += 1) await page.keyboard.press('Backspace');
    await page.keyboard.type('5000000000');
    await outcome('With this draft').getByText('Allowed', { exact: true }).waitFor();
    await outcome('With the stored policy').getByText('Denied', { exact: true }).waitFor();
    await outcome('Summary').getByText('wider than stored').waitFor();
    await page.locator('.cm-policy-mark', { hasText: '5,000 USDC' }).waitFor();

    await page.getByRole('button', { name: 'Simulate' }).click();
    await page.getByText('1 denied becomes allowed').waitFor();
    await takeShot(page, 'policy-light');
    expect(await findViolations(page)).toEqual([]);
  });

  it('says what is wrong in place, and puts right what was meant', async () => {
    await expression('Condition').click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('\n&& eth.tx.valu', { delay: 10 });
    await page
      .getByRole('listbox')
      .getByRole('option', { name: /eth\.tx\.value/ })
      .waitFor();
    const error = page.getByRole('listitem').filter({ hasText: 'Did you mean eth.tx.value?' });
    await error.waitFor();
    expect(await error.textContent()).toMatch(/^Line \d+, column 4: /);
    expect(await expression('Condition').getAttribute('aria-invalid')).toBe('true');
    const propose = page.getByRole('button', { name: 'Propose policy' });
    expect(await propose.getAttribute('aria-disabled')).toBe('true');
    await page.getByText('1 error left').waitFor();
    expect(await page.locator('.cm-policy-mark', { hasText: '5,000 USDC' }).count()).toBe(1);
    await takeShot(page, 'policy-error-light');
    await outcome('With this draft').getByText('Allowed', { exact: true }).waitFor();

    // Escape closes the suggestions, then Tab leaves the editor.
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    expect(await expression('Condition').evaluate((element) => element === document.activeElement)).toBe(false);

    await page.getByRole('button', { name: 'eth.tx.value', exact: true }).click();
    await error.waitFor({ state: 'detached' });
    expect(await expression('Condition').textContent()).toContain('eth.tx.value');
  });

  it('keeps the draft while other pages are looked at, and shows it against what is stored', async () => {
    await expression('Condition').click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type(' == 0');
    await page.getByRole('link', { name: 'Policies' }).first().click();
    await page.getByRole('link', { name: 'Ops pay suppliers' }).click();
    await page.getByText('edited, not proposed').waitFor();
    await page.getByRole('button', { name: 'Diff' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('added:').first().waitFor();
    expect(await dialog.getByRole('listitem').filter({ hasText: '5000000000' }).count()).toBe(1);
    await takeShot(page, 'policy-diff-light');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  it('is at home in the dark, and on a phone', async () => {
    await page.emulateMedia({ colorScheme: 'dark' });
    await outcome('With this draft').getByText('Allowed', { exact: true }).waitFor();
    await takeShot(page, 'policy-dark');
    expect(await findViolations(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    await takeShot(page, 'policy-phone-dark');
    await page.setViewportSize({ width: 320, height: 640 });
    const isWide = () => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    expect(await isWide()).toBe(false);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  it('proposes, and waits for a second root user', async () => {
    await page.getByRole('button', { name: 'Propose policy' }).click();
    const consent = page.getByRole('dialog', { name: 'Propose policy?' });
    await consent.getByText('Widen policy').waitFor();
    await takeShot(page, 'policy-consent-light');
    expect(await findViolations(page)).toEqual([]);
    expect(await consent.getByRole('button', { name: 'Propose policy' }).getAttribute('aria-disabled')).toBe('true');
    await consent.getByRole('checkbox').check();
    await consent.getByRole('button', { name: 'Propose policy' }).click();
    await page.getByText('Waits for approval.').waitFor();
    const { body: listed } = await world.ada.query('list_activities', { paginationOptions: { limit: '1' } });
    const [activity] = listed.activities;
    expect(activity).toMatchObject({
      type: 'ACTIVITY_TYPE_UPDATE_POLICY_V2',
      status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED',
    });
    await world.grace.run('approve_activity', { fingerprint: activity.fingerprint });
    const { body } = await world.mei.submit('sign_transaction', world.payment(world.payroll, world.supplier, '5000'));
    expect(body.activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
    await page.locator('.cm-policy-mark', { hasText: '5,000 USDC' }).waitFor();
    expect(await page.getByText('edited, not proposed').count()).toBe(0);
  });

  it('shows a change that somebody else made under a draft, and lets the person choose', async () => {
    const decided = async (operation: string, parameters: Record<string, unknown>): Promise<void> => {
      const { body } = await world.grace.submit(operation, parameters);
      await world.tomas.run('approve_activity', { fingerprint: body.activity.fingerprint });
    };
    const { body } = await world.ada.query('list_policies', {});
    const { policyId, consensus } = body.policies.find(
      ({ policyName }: { policyName: string }) => policyName === 'Payouts need an officer',
    );
    await page.getByRole('link', { name: 'Policies' }).first().click();
    await page.getByRole('link', { name: 'Payouts need an officer' }).click();
    const notes = page.getByRole('textbox', { name: /^Notes/ });
    await notes.fill('mine');
    // What the draft leaves alone follows what is stored.
    await decided('update_policy', { policyId, policyName: 'Payouts by an officer' });
    await page.getByText('Somebody changed this policy after you began.').waitFor();
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Payouts by an officer');
    expect(await notes.inputValue()).toBe('mine');
    await page.getByRole('button', { name: 'Go on with both changes' }).click();
    await page.getByText('Somebody changed this policy').waitFor({ state: 'detached' });

    await decided('update_policy', { policyId, policyNotes: 'theirs', policyConsensus: `${consensus} && true` });
    await page.getByText('you changed the notes too').waitFor();
    expect(await notes.inputValue()).toBe('mine');
    const propose = page.getByRole('button', { name: 'Propose policy' });
    expect(await propose.getAttribute('aria-disabled')).toBe('true');
    await page.getByRole('button', { name: 'Show the difference' }).click();
    const dialog = page.getByRole('dialog', { name: 'Two changes of one policy' });
    await dialog.getByText('theirs').first().waitFor();
    await takeShot(page, 'policy-meanwhile-light');
    expect(await findViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Take theirs' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await notes.inputValue()).toBe('theirs');

    // Choosing one's own sends that alone: the consensus of the other stays.
    await notes.fill('mine again');
    await decided('update_policy', { policyId, policyNotes: 'theirs again' });
    await page.getByRole('button', { name: 'Keep mine' }).click();
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'As SDK, CLI, curl' }).click();
    const same = page.getByRole('dialog', { name: 'The same in a program' });
    const text = await same.locator('pre').textContent();
    expect(text).toContain('mine again');
    expect(text).not.toContain('policyConsensus');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Discard' }).click();
  });

  it('begins a policy, and tries a payment that nobody asked for yet', async () => {
    await page.getByRole('link', { name: 'Policies' }).first().click();
    await page.getByRole('button', { name: 'New policy' }).click();
    await page.getByRole('heading', { level: 1, name: 'New policy' }).waitFor();
    await expression('Condition').click();
    // Typed as a person does: the quote closes itself, and the suggestion of the value is taken.
    await page.keyboard.type("activity.kind == 'ETH_SEND_TRANS", { delay: 10 });
    await page.getByRole('option', { name: 'ETH_SEND_TRANSACTION', exact: true }).waitFor();
    // Suggestions take no key in their first moment, so that nobody takes one by mistake.
    await page.waitForTimeout(150);
    await page.keyboard.press('Tab');
    expect(await expression('Condition').textContent()).toBe("activity.kind == 'ETH_SEND_TRANSACTION'");
    await page.getByRole('textbox', { name: 'Name' }).fill('Anyone sends');
    await page.getByRole('radio', { name: 'Form' }).click();
    await page.getByRole('combobox', { name: 'By' }).click();
    await page.getByRole('option', { name: 'Mei Tanaka' }).click();
    await page.getByRole('combobox', { name: 'From' }).click();
    await page.getByRole('option', { name: 'Payroll' }).click();
    await page.getByRole('textbox', { name: 'To' }).fill(world.supplier);
    await page.getByRole('textbox', { name: 'Amount' }).fill('0.5');
    await outcome('Without this policy').getByText('Denied', { exact: true }).waitFor();
    await outcome('With this policy').getByText('Allowed', { exact: true }).waitFor();
    await takeShot(page, 'policy-new-light');
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Discard' }).click();
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('');
  });

  it('limits what leaves within a day, and shows how much of it did', async () => {
    await device.visit('/console/policies?tab=limits');
    await page.getByText('No limits yet').waitFor();
    await page.getByRole('button', { name: 'New velocity control' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Create velocity control' }).click();
    await dialog.getByText('Give the limit a name.').waitFor();
    await dialog.getByRole('textbox', { name: 'Name' }).fill('USDC a day');
    await dialog.getByRole('combobox', { name: 'Asset' }).click();
    await page.getByRole('option', { name: /USDC/ }).click();
    await dialog.getByRole('textbox', { name: /^At most/ }).fill('20,000');
    await takeShot(page, 'velocity-dialog-light');
    expect(await findViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create velocity control' }).click();
    await dialog.getByText('Waits for approval.').waitFor();
    const { body } = await world.ada.query('list_activities', { paginationOptions: { limit: '1' } });
    await world.grace.run('approve_activity', { fingerprint: body.activities[0].fingerprint });
    await world.mei.submit('sign_transaction', world.payment(world.payroll, world.supplier, '5000'));
    await page.keyboard.press('Escape');
    await page.reload();
    await page.getByText(/5,000 of 20,000.USDC used/).waitFor();
    await takeShot(page, 'velocity-light');
  });

  it('lists further proofs, session profiles and addresses', async () => {
    await page.getByRole('tab', { name: 'MFA policies' }).click();
    await page.getByText('Ada Okafor gives no further proofs').waitFor();
    await takeShot(page, 'mfa-light');
    await page.getByRole('tab', { name: 'Session profiles' }).click();
    await page.getByText('No session profiles yet').waitFor();
    await page.getByRole('tab', { name: 'IP allowlist' }).click();
    await page.getByText('No addresses listed').waitFor();
    await page.getByRole('button', { name: 'Change list' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Add addresses' }).click();
    await page.getByRole('dialog').getByRole('textbox', { name: 'Addresses' }).fill('203.0.113.0/24');
    await page.getByRole('dialog').getByRole('checkbox', { name: 'Enforce the list' }).check();
    await takeShot(page, 'ip-dialog-light');
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('tab', { name: 'Policies', exact: true }).click();
    await page.setViewportSize({ width: 320, height: 640 });
    await page.getByText('1,000 USDC').or(page.getByText('5,000 USDC')).first().waitFor();
    await takeShot(page, 'policies-phone-light');
    expect(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)).toBe(false);
    expect(
      await page.evaluate(() =>
        [...document.querySelectorAll('[data-scroll]')].some((one) => one.scrollWidth > one.clientWidth),
      ),
    ).toBe(false);
  });

  it('has no error, violation of its content policy or request elsewhere', () => {
    expect(device.problems).toEqual([]);
  });
});
