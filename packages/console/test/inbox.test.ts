// The inbox and the activities in a real browser: reading, deciding, and what happens meanwhile.
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestClient } from '../../server/test/harness/client.ts';
import { findViolations } from './harness/axe.ts';
import { Device, isBrowserMissing, launchBrowser, takeShot } from './harness/browser.ts';
import { signInWithKey } from './harness/sign-in.ts';
import { CAIP2, makeWorld, type World } from './harness/world.ts';

const isFocused = (element: Element): boolean => element === document.activeElement;
const HOSTILE = '<script>alert(1)</script> \u202Eevil\u202C';

describe.skipIf(isBrowserMissing)('the inbox of the console', { timeout: 90_000 }, () => {
  let world: World;
  let browser: Browser;
  let device: Device;
  let page: Page;

  const propose = async (client: TestClient, operation: string, parameters: Record<string, unknown>) =>
    (await client.submit(operation, parameters)).body.activity as { id: string; fingerprint: string };
  const statusOf = async (activityId: string): Promise<string> =>
    (await world.ada.query('get_activity', { activityId })).body.activity.status;
  const row = (text: string | RegExp): Locator => page.getByRole('listitem', { name: text });
  const open = async (text: string | RegExp): Promise<void> => {
    await row(text).click();
    await page.getByRole('region', { name: 'Request' }).getByRole('heading', { level: 2, name: text }).waitFor();
  };
  const bar = () => page.getByRole('region', { name: 'Request' });

  beforeAll(async () => {
    [world, browser] = await Promise.all([makeWorld(), launchBrowser()]);
    const { ada, grace, bot, treasury, supplier } = world;
    // At most 100,000 USDC in a day.
    const limit = await propose(ada, 'create_velocity_control', {
      name: 'Payouts per day',
      identifier: 'payouts-per-day',
      dataSource: {
        chainAssetTransfer: { definition: [{ caip19: `${CAIP2}/erc20:${world.usdc.address}`, decimals: '6' }] },
      },
      aggregation: {
        method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_SUM',
        operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL',
        threshold: '100000',
        window: { rolling: { duration: '24h' } },
        groupBy: { organization: {} },
      },
    });
    await grace.run('approve_activity', { fingerprint: limit.fingerprint });
    // Paid once before, so that further payments are routine.
    const first = await propose(bot, 'sign_transaction', world.payment(treasury, supplier, '10'));
    await grace.run('approve_activity', { fingerprint: first.fingerprint });
    await propose(grace, 'update_root_quorum', {
      threshold: 1,
      userIds: [ada.userId, grace.userId, world.tomas.userId],
    });
    await propose(grace, 'update_user_name', { userId: world.mei.userId, userName: HOSTILE });
    device = await Device.open(browser, world.service.baseUrl);
    page = device.page;
    await signInWithKey(device, grace);
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await world?.[Symbol.asyncDispose]();
  });

  it('shows what comes in, and signs a routine payment with one click', async () => {
    const { bot, treasury, supplier } = world;
    const { id } = await propose(bot, 'sign_transaction', world.payment(treasury, supplier, '12500'));
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Inbox');
    await open(/Send 12,500.USDC from Treasury/);
    await page.getByText('signature verified here').first().waitFor();
    await bar()
      .getByText(/12,510 of 100,000.USDC/)
      .waitFor();
    await bar().getByText('this request 12,500').waitFor();
    const from = bar().getByRole('region', { name: 'From' });
    await from.getByText(/248,120\.55.USDC/).waitFor();
    await from.getByText(/235,620\.55.USDC/).waitFor();
    await takeShot(page, 'inbox-transfer-light');
    await page.keyboard.press('b');
    await bar().getByText('This browser computed it from the bytes below, and it is the same.').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await bar().getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByText('You approved, and it is signed.').waitFor();
    expect(await statusOf(id)).toBe('ACTIVITY_STATUS_COMPLETED');
    await takeShot(page, 'inbox-approved-light');
  });

  it('asks for a tick before a danger, by click and by key', async () => {
    const tomas = await Device.open(browser, world.service.baseUrl, { colorScheme: 'dark' });
    await signInWithKey(tomas, world.tomas);
    const dark = tomas.page;
    await dark.getByRole('listitem', { name: /Lower the root quorum/ }).click();
    await dark.getByRole('region', { name: 'Request' }).getByText('One is enough').waitFor();
    await takeShot(dark, 'inbox-quorum-dark');
    expect(await findViolations(dark)).toEqual([]);
    await dark.getByRole('region', { name: 'Request' }).getByRole('button', { name: 'Approve', exact: true }).click();
    const dialog = dark.getByRole('dialog');
    const approve = dialog.getByRole('button', { name: 'Approve', exact: true });
    expect(await approve.getAttribute('aria-disabled')).toBe('true');
    await takeShot(dark, 'inbox-confirm-dark');
    await dark.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    // The key only opens the confirmation, and nothing is ticked.
    await dark.keyboard.press('r');
    await dialog.getByText('One rejection is final').waitFor();
    await dark.keyboard.press('Control+Enter');
    await dialog.getByRole('checkbox').check();
    await dark.keyboard.press('Control+Enter');
    await dark.getByText('You rejected this request.').waitFor();
    expect(tomas.problems).toEqual([]);
    await tomas[Symbol.asyncDispose]();
  });

  it('says who decided meanwhile, and takes the buttons away', async () => {
    const { bot, treasury, supplier, tomas } = world;
    const { fingerprint } = await propose(bot, 'sign_transaction', world.payment(treasury, supplier, '77'));
    await open(/Send 77.USDC/);
    await bar().getByRole('button', { name: 'Approve', exact: true }).waitFor();
    await tomas.submit('reject_activity', { fingerprint });
    await page.getByText(/Tomás Rivera rejected this/).waitFor();
    expect(await bar().getByRole('button', { name: 'Approve', exact: true }).count()).toBe(0);
    expect(await row(/Send 77.USDC/).count()).toBe(1);
    await takeShot(page, 'inbox-meanwhile-light');
  });

  it('decides several routine requests together', async () => {
    const { bot, treasury, supplier } = world;
    const made = [
      await propose(bot, 'sign_transaction', world.payment(treasury, supplier, '1.5')),
      await propose(bot, 'sign_transaction', world.payment(treasury, supplier, '2.25')),
    ];
    await row(/Send 2.25.USDC/).waitFor();
    await page.getByRole('button', { name: 'Select several' }).click();
    await page.getByRole('checkbox', { name: /Send 1.5.USDC/ }).check();
    await page.getByRole('checkbox', { name: /Send 2.25.USDC/ }).check();
    await page.getByRole('button', { name: 'Approve 2' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/3\.75.USDC/).waitFor();
    await takeShot(page, 'inbox-batch-light');
    await dialog.getByRole('button', { name: 'Approve', exact: true }).click();
    await dialog.getByRole('button', { name: 'Done' }).click();
    for (const { id } of made) expect(await statusOf(id)).toBe('ACTIVITY_STATUS_COMPLETED');
  });

  it('shows a hostile name as the text that it is', async () => {
    await page.getByRole('radio', { name: /For others/ }).click();
    await page
      .getByRole('listitem', { name: /script/ })
      .first()
      .waitFor();
    await takeShot(page, 'inbox-others-light');
    await page.getByRole('radio', { name: /Decided/ }).click();
    await page.getByRole('list', { name: 'Decided requests' }).getByRole('listitem').first().waitFor();
    await page.getByRole('radio', { name: /For me/ }).click();
  });

  it('explains a denial on the page of an activity', async () => {
    const { mei, payroll, supplier } = world;
    const { status } = await mei.submit('sign_transaction', world.payment(payroll, supplier, '5000'));
    expect(status).toBe(403);
    const activities = await world.ada.query('list_activities', { filterByUserId: mei.userId });
    const { id } = activities.body.activities[0];
    expect(await statusOf(id)).toBe('ACTIVITY_STATUS_REJECTED');
    await device.visit(`/console/activities/${id}`);
    const why = page.getByRole('region', { name: 'Why it was denied' });
    await why
      .getByText(/5,000.USDC is above .*1,000.USDC/)
      .first()
      .waitFor();
    const followed = page.getByRole('region', { name: 'What followed' });
    await followed.getByText('Nothing was sent to a chain').waitFor();
    await followed.getByRole('link', { name: 'Ledger' }).waitFor();
    await followed.getByText(/Delivered: 200 in/).waitFor();
    await takeShot(page, 'activity-light');
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('tab', { name: 'Raw body' }).click();
    await page.getByText('unsignedTransaction').first().waitFor();
  });

  it('lists activities by filters that the address keeps, and exports them', async () => {
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Activities' }).click();
    await page
      .getByRole('row', { name: /Send 12,500.USDC/ })
      .first()
      .waitFor();
    await takeShot(page, 'activities-light');
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.press('/');
    await expect.poll(() => page.getByRole('combobox', { name: 'Type' }).evaluate(isFocused)).toBe(true);
    // A list that is open takes the letters: none of them leads elsewhere.
    await page.keyboard.press('Enter');
    await page.getByRole('listbox').waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('i');
    await page.keyboard.press('Escape');
    expect(page.url()).toContain('/console/activities');
    await page
      .getByRole('link', { name: /Send 12,500.USDC/ })
      .first()
      .click();
    const heading = page.getByRole('heading', { level: 1, name: /Send 12,500.USDC/ });
    await expect.poll(() => heading.evaluate(isFocused)).toBe(true);
    await device.visit('/console/activities?status=ACTIVITY_STATUS_REJECTED');
    await page.getByRole('row', { name: /Send 77.USDC/ }).waitFor();
    expect(await page.getByRole('row', { name: /Send 12,500/ }).count()).toBe(0);
    await page.getByRole('button', { name: 'Export' }).click();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('dialog').getByRole('button', { name: 'Download' }).click(),
    ]);
    expect(file.suggestedFilename()).toMatch(/^activities-\d{4}-\d{2}-\d{2}\.csv$/);
    await page.getByText(/were downloaded/).waitFor();
  });

  it('is a page of its own on a phone, without sideways scrolling', async () => {
    const { bot, treasury } = world;
    await propose(
      bot,
      'sign_transaction',
      world.payment(treasury, '0x9be4d0a1c3e5f7091b2d4f6a8c0e1a3b5c7dd85b', '4000'),
    );
    await page.setViewportSize({ width: 375, height: 812 });
    await device.visit('/console/inbox');
    await row(/Send 4,000/).waitFor();
    await takeShot(page, 'phone-inbox-light');
    await row(/Send 4,000/).click();
    await page.getByRole('button', { name: 'Approve', exact: true }).waitFor();
    expect(await page.getByRole('heading', { level: 1 }).allTextContents()).toEqual(['Inbox']);
    await takeShot(page, 'phone-request-light');
    const [reject, approve] = await Promise.all(
      ['Reject', 'Approve'].map((name) => page.getByRole('button', { name, exact: true }).boundingBox()),
    );
    expect(Math.abs((reject?.width ?? 0) - (approve?.width ?? 0))).toBeLessThan(2);
    for (const width of [375, 320]) {
      await page.setViewportSize({ width, height: 812 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    }
    expect(await findViolations(page)).toEqual([]);
  });

  it('moves by J and K, with the row in view', async () => {
    const { bot, treasury, supplier } = world;
    for (let index = 1; index <= 12; index += 1) {
      await propose(bot, 'sign_transaction', world.payment(treasury, supplier, String(100 + index)));
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    await device.visit('/console/inbox');
    const rows = page.getByRole('list', { name: 'Requests' }).getByRole('listitem');
    await rows.nth(5).waitFor();
    await rows.first().getByRole('link').focus();
    for (let step = 0; step < 11; step += 1) await page.keyboard.press('j');
    const isInView = () =>
      page.evaluate(() => {
        const { activeElement } = document;
        const { top, bottom } = activeElement?.getBoundingClientRect() ?? { top: -1, bottom: -1 };
        return activeElement?.hasAttribute('data-request') === true && top >= 0 && bottom <= innerHeight;
      });
    await expect.poll(isInView).toBe(true);
    const deep = page.url();
    // A menu that is open takes the letters.
    await page.getByRole('button', { name: 'Other ways to approve' }).click();
    await page.getByRole('menu').waitFor();
    await page.keyboard.press('k');
    await page.keyboard.press('Escape');
    expect(page.url()).toBe(deep);
    await page.getByRole('menu').waitFor({ state: 'hidden' });
    await page.keyboard.press('k');
    await expect.poll(() => page.url()).not.toBe(deep);
  });

  it('asks little when much happens', async () => {
    const { bot, treasury, supplier } = world;
    await device.visit('/console/inbox');
    await page.getByText('Live', { exact: true }).waitFor();
    const choice = page.getByRole('radio', { name: /For me \d+/ });
    await choice.waitFor();
    const before = Number(/\d+/.exec((await choice.textContent()) ?? '')?.[0]);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    const startedMs = Date.now();
    for (let index = 0; index < 25; index += 1) {
      await propose(bot, 'sign_transaction', world.payment(treasury, supplier, `0.${10 + index}`));
    }
    await page.getByRole('radio', { name: `For me ${before + 25}` }).waitFor();
    await page.waitForTimeout(1500);
    const seconds = (Date.now() - startedMs) / 1000;
    const lists = asked.filter((path) => path.endsWith('/list_approvals')).length;
    expect(lists).toBeGreaterThan(1);
    // The list and the counts of the side bar, each at most once a second.
    expect(lists).toBeLessThanOrEqual(2 * (seconds + 1));
    expect(asked.filter((path) => /list_(?:users|wallets|policies)|whoami/.test(path))).toEqual([]);
  });

  it('left no error, violation or foreign request', () => {
    expect(device.problems).toEqual([]);
  });
});
