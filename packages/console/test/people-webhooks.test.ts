// People, webhooks, sub-organizations and operations in a real browser.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findViolations } from './harness/axe.ts';
import { Device, isBrowserMissing, launchBrowser, takeShot } from './harness/browser.ts';
import { signInWithKey } from './harness/sign-in.ts';
import { makeWorld, type World } from './harness/world.ts';

describe.skipIf(isBrowserMissing)('people, webhooks and operations', { timeout: 90_000 }, () => {
  let world: World;
  let browser: Browser;
  let device: Device;
  let page: Page;

  /** Light, dark and on a phone: the same page stays readable. */
  const look = async (name: string): Promise<void> => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await takeShot(page, `${name}-${colorScheme}`);
      const violations = await findViolations(page, colorScheme === 'light' ? 'all' : 'colors');
      expect(violations, `${name}, ${colorScheme}`).toEqual([]);
    }
    await page.setViewportSize({ width: 320, height: 844 });
    await takeShot(page, `${name}-phone`);
    const isTooWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    expect(isTooWide, `${name} at 320 px`).toBe(false);
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.emulateMedia({ colorScheme: 'light' });
  };
  const go = async (path: string, heading: string): Promise<void> => {
    await device.visit(path);
    await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
  };

  async function createCustomer(subOrganizationName: string): Promise<void> {
    const { body } = await world.ada.submit('create_sub_organization', {
      subOrganizationName,
      rootQuorumThreshold: 1,
      rootUsers: [{ userName: 'Root', userEmail: 'c@x.example', apiKeys: [], authenticators: [], oauthProviders: [] }],
    });
    await world.grace.run('approve_activity', { fingerprint: body.activity.fingerprint });
  }

  beforeAll(async () => {
    [world, browser] = await Promise.all([makeWorld(), launchBrowser()]);
    const { ada, grace } = world;
    const { activity } = (
      await ada.submit('create_policy', {
        policyName: 'Ada cares for webhooks',
        effect: 'EFFECT_ALLOW',
        condition: "activity.resource == 'WEBHOOK_ENDPOINT'",
        consensus: `approvers.any(user, user.id == '${ada.userId}')`,
        notes: '',
      })
    ).body;
    await grace.run('approve_activity', { fingerprint: activity.fingerprint });
    device = await Device.open(browser, world.service.baseUrl);
    page = device.page;
    await signInWithKey(device, world.ada);
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await world?.[Symbol.asyncDispose]();
  });

  it('shows the root quorum with every set that suffices', async () => {
    await go('/console/people', 'People');
    await page.getByRole('img', { name: /^2 of 3, root quorum: .*Ada Okafor/ }).waitFor();
    const sets = page.getByRole('list', { name: 'Sets of people that suffice' }).getByRole('listitem');
    expect(await sets.count()).toBe(3);
    expect(await sets.first().textContent()).toContain('Ada and Grace');
    const users = page.getByRole('table', { name: 'Users' });
    expect(await users.getByRole('row').filter({ hasText: 'Grace Lindqvist' }).textContent()).toContain('Root');
    expect(await users.getByRole('row').filter({ hasText: 'Payout bot' }).textContent()).toContain('program');
    await look('people');
  });

  it('searches users, and opens one with its credentials', async () => {
    await page.getByRole('searchbox', { name: 'Name or email' }).fill('tanaka');
    const users = page.getByRole('table', { name: 'Users' });
    await expect.poll(() => users.getByRole('row').count()).toBe(2);
    await users.getByRole('button', { name: /Mei Tanaka/ }).click();
    const dialog = page.getByRole('dialog', { name: 'Mei Tanaka' });
    await dialog.getByRole('list', { name: 'Credentials' }).getByRole('listitem').first().waitFor();
    expect(page.url()).toContain(`user=${world.mei.userId}`);
    await takeShot(page, 'people-user-light');
    expect(await findViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await dialog.waitFor({ state: 'detached' });
  });

  it('asks others about a change of the quorum, after a ticked sentence', async () => {
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Change the root quorum' });
    await dialog.getByRole('textbox', { name: 'How many must agree' }).fill('1');
    const change = dialog.getByRole('button', { name: 'Change the quorum' });
    await dialog.getByRole('checkbox', { name: /will be enough for everything/ }).waitFor();
    expect(await change.getAttribute('aria-disabled')).toBe('true');
    await dialog.getByRole('checkbox', { name: /will be enough for everything/ }).check();
    await takeShot(page, 'people-quorum-dialog-light');
    await change.click();
    await dialog.getByRole('link', { name: 'See the activity' }).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
  });

  it('shows the private half of a key that it makes, and forgets it', async () => {
    await device.visit(`/console/people?user=${world.ada.userId}`);
    const user = page.getByRole('dialog', { name: 'Ada Okafor' });
    await user.getByRole('button', { name: 'Add an API key' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add an API key' });
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Payouts');
    await dialog.getByRole('button', { name: 'Add API key' }).click();
    await dialog.getByRole('checkbox', { name: /can act as a root user/ }).check();
    await dialog.getByRole('button', { name: 'Add API key' }).click();
    await dialog.getByRole('button', { name: 'Reveal' }).click();
    const shown = await dialog.getByText('"apiPrivateKey"').textContent();
    const { apiPrivateKey } = JSON.parse(shown ?? '{}') as { apiPrivateKey: string };
    expect(apiPrivateKey).toMatch(/^[0-9a-f]{64}$/);
    await takeShot(page, 'people-key-light');
    expect(await findViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Hide' }).click();
    expect(await page.content()).not.toContain(apiPrivateKey);
    await dialog.getByRole('button', { name: 'Reveal' }).click();
    await dialog.getByText('"apiPrivateKey"').waitFor();
    // Somebody ends the session from elsewhere: the page stays, the secret does not.
    const { ada } = world;
    const { body } = await ada.query('list_credentials', { userId: ada.userId });
    const sessions = body.credentials.filter(({ kind }: { kind: string }) => kind === 'SESSION');
    await ada.run('delete_api_keys', {
      userId: ada.userId,
      apiKeyIds: sessions.map(({ credentialId }: { credentialId: string }) => credentialId),
    });
    await page.getByRole('dialog', { name: 'Your session ended' }).waitFor();
    expect(await page.content()).not.toContain(apiPrivateKey);
    await signInWithKey(device, ada);
  });

  it('replays a delivery that failed for good, once the receiver is well again', async () => {
    const { hook, ada, endpointId } = world;
    const failed = async (): Promise<{ deliveryId: string } | undefined> =>
      (await ada.query('list_webhook_deliveries', { endpointId, state: 'WEBHOOK_DELIVERY_STATE_FAILED' })).body
        .webhookDeliveries[0];
    // Gone for good: no further attempt, and the endpoint is switched off.
    hook.answerNext(410);
    await ada.submit('update_organization_name', { organizationName: 'Meridian Labs' });
    await expect.poll(failed, { timeout: 10_000 }).toBeDefined();
    await go('/console/webhooks', 'Webhooks');
    await look('webhooks');
    await page.getByRole('link', { name: 'Ledger' }).click();
    await page.getByRole('heading', { level: 1, name: 'Ledger' }).waitFor();
    await page.getByRole('radiogroup', { name: 'State' }).getByText('Failed', { exact: true }).click();
    const deliveries = page.getByRole('table', { name: 'Deliveries' });
    await expect.poll(() => deliveries.getByRole('row').count()).toBe(2);
    await deliveries.getByRole('button').first().click();
    await page.getByText('The receiver answered 410.').waitFor();
    await look('webhook');
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Switch on' }).click();
    const dialog = page.getByRole('dialog', { name: 'Switch Ledger on' });
    await dialog.getByRole('button', { name: 'Switch on' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    await page.getByRole('heading', { name: /^Delivered after/ }).waitFor();
    expect(await failed()).toBeUndefined();
    await takeShot(page, 'webhook-replayed-light');
  });

  it('sends a test and says what the receiver answered', async () => {
    world.hook.answerNext(503);
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByText('The test did not arrive.').waitFor();
    await page.getByRole('tab', { name: 'Verify it' }).click();
    await page.getByText('createWebhookVerifier').first().waitFor();
  });

  it('creates an endpoint that is told the sentence, and takes it back', async () => {
    const { ada } = world;
    const listed = async () =>
      ((await ada.query('list_webhook_endpoints')).body.webhookEndpoints as { name: string }[]).find(
        ({ name }) => name === 'Chat',
      );
    await go('/console/webhooks', 'Webhooks');
    await page.getByRole('button', { name: 'Create endpoint' }).click();
    const dialog = page.getByRole('dialog', { name: 'Create an endpoint' });
    await dialog.getByRole('textbox', { name: 'URL' }).fill(world.hook.url);
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Chat');
    const sentence = dialog.getByRole('checkbox', { name: /^Add the sentence to events of activities/ });
    await sentence.check();
    // It belongs to activities, and goes with them.
    await dialog.getByRole('checkbox', { name: /^Activities/ }).uncheck();
    expect(await sentence.count()).toBe(0);
    await dialog.getByRole('checkbox', { name: /^Activities/ }).check();
    expect(await sentence.isChecked()).toBe(true);
    await sentence.scrollIntoViewIfNeeded();
    await look('webhooks-create');
    await dialog.getByRole('button', { name: 'Create endpoint' }).click();
    await dialog.getByRole('checkbox', { name: /^Whoever runs that server learns of everything/ }).check();
    await dialog.getByRole('button', { name: 'Create endpoint' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await listed()).toMatchObject({ includeDescription: true });
    await page.getByRole('link', { name: 'Chat' }).click();
    await page.getByRole('heading', { level: 1, name: 'Chat' }).waitFor();
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Leave out the sentence' }).click();
    const leave = page.getByRole('dialog', { name: 'Leave out the sentence of activities' });
    await takeShot(page, 'webhook-words-light');
    expect(await findViolations(page)).toEqual([]);
    await leave.getByRole('button', { name: 'Leave it out' }).click();
    await leave.waitFor({ state: 'detached' });
    expect(await listed()).toMatchObject({ includeDescription: false });
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Add the sentence' }).waitFor();
    await page.keyboard.press('Escape');
  });

  it('finds a sub-organization and only reads it', async () => {
    await go('/console/sub-organizations', 'Sub-organizations');
    await page.getByRole('searchbox', { name: /Name, email/ }).fill('nothing like it');
    await page.getByText('Nothing is found').waitFor();
    await page.getByRole('searchbox', { name: /Name, email/ }).fill('northwind');
    const row = page.getByRole('row', { name: 'Northwind customers' });
    await row.waitFor();
    await look('sub-organizations');
    await row.click();
    await page.getByRole('heading', { level: 1, name: 'Wallets' }).waitFor();
    const create = page.getByRole('button', { name: 'Create wallet' });
    expect(await create.getAttribute('aria-disabled')).toBe('true');
    await page
      .getByText(/You only read Northwind customers/)
      .first()
      .waitFor({ state: 'attached' });
  });

  it('goes back to the own organization and into others by the switcher', async () => {
    const switcher = page.getByRole('button', { name: /^Organization:/ });
    await switcher.click();
    const popup = page.getByRole('dialog', { name: 'Organizations' });
    await popup.getByRole('option', { name: /Meridian Labs/ }).click();
    await popup.waitFor({ state: 'detached' });
    await page.getByRole('row', { name: 'Treasury' }).waitFor();
    expect(await page.getByText(/You are reading/).count()).toBe(0);

    const names = Array.from({ length: 60 }, (_one, index) => `Customer ${String(index).padStart(3, '0')}`);
    for (const name of names) await createCustomer(name);
    await switcher.click();
    await popup.getByRole('option', { name: /Customer 059/ }).waitFor();
    // The oldest is on the second page, which comes with the scroll.
    expect(await popup.getByRole('option', { name: /Northwind/ }).count()).toBe(0);
    await popup.getByRole('option', { name: /Customer 010/ }).scrollIntoViewIfNeeded();
    await popup.getByRole('option', { name: /Northwind/ }).waitFor();
    expect(await popup.getByRole('listbox').evaluate(({ scrollTop }) => scrollTop)).toBeGreaterThan(0);
    await takeShot(page, 'switcher-light');
    expect(await findViolations(page)).toEqual([]);

    await popup.getByRole('combobox').fill('northw');
    await expect.poll(() => popup.getByRole('option').count()).toBe(2);
    await page.keyboard.press('Enter');
    await page.getByText(/You are reading/).waitFor();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Wallets');
    await page.getByRole('button', { name: 'Back to your own' }).click();
    await page.getByRole('row', { name: 'Treasury' }).waitFor();
  });

  it('keeps the focus of a long table wherever it is scrolled to', async () => {
    await go('/console/sub-organizations', 'Sub-organizations');
    const table = page.getByRole('table', { name: 'Sub-organizations' });
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
    await table.getByRole('row', { name: 'Customer 059' }).focus();
    await page.keyboard.press('End');
    await expect.poll(focused).toBe('Northwind customers');
    await table.evaluate((element) => element.scrollTo({ top: 0 }));
    await table.getByRole('row', { name: 'Customer 058' }).waitFor();
    expect(await focused()).toBe('Northwind customers');
    await page.keyboard.press('ArrowUp');
    await expect.poll(focused).toBe('Customer 000');
    await page.keyboard.press('PageUp');
    await expect.poll(focused).not.toBe('Customer 000');
    await page.keyboard.press('Home');
    await expect.poll(focused).toBe('Customer 059');
    // Whoever tabs away and back finds the place again.
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Customer 058');
  });

  it('shows an operator how the service is', async () => {
    await go('/console/operations', 'Operations');
    await page.getByText('Ready', { exact: true }).waitFor();
    await page.getByRole('table', { name: 'Chains and nodes' }).getByText('Ethereum').waitFor();
    // The second reading makes the first rate; from then on it follows what is asked of the service.
    const requests = page.getByRole('figure', { name: 'Requests' });
    const rate = async (): Promise<number> => {
      await Promise.all(Array.from({ length: 20 }, () => world.ada.query('whoami', {})));
      return Number(/([\d.]+) per second/.exec((await requests.textContent()) ?? '')?.[1] ?? 0);
    };
    await expect.poll(rate, { timeout: 20_000, interval: 200 }).toBeGreaterThan(10);
    await expect
      .poll(() => page.getByRole('figure', { name: 'Time to answer' }).textContent())
      .toMatch(/[1-9][\d.]* ms, 95 of 100/);
    await requests.getByRole('button', { name: 'As a table' }).click();
    const rows = requests.getByRole('table').getByRole('row');
    expect(await rows.count()).toBeGreaterThan(2);
    await requests.getByRole('button', { name: 'Hide the table' }).click();
    await look('operations');
  });

  it('finds things by name and leads to them', async () => {
    await page.keyboard.press('Control+k');
    const dialog = page.getByRole('dialog', { name: 'Search' });
    await dialog.getByRole('combobox').fill('mei');
    await dialog
      .getByRole('group', { name: 'Users' })
      .getByRole('option', { name: /Mei Tanaka/ })
      .waitFor();
    await takeShot(page, 'search-light');
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Mei Tanaka' }).waitFor();
  });

  it('had no problems meanwhile', () => {
    expect(device.problems).toEqual([]);
  });
});
