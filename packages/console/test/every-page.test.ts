// Every page with data in it, on a desk and on a phone, in light and dark: nothing broken, nothing hard to read, nothing
// from elsewhere.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { findViolations } from './harness/axe.ts';
import { Device, isBrowserMissing, launchBrowser, takeShot } from './harness/browser.ts';
import { Loading } from './harness/loading.ts';
import { signInWithKey } from './harness/sign-in.ts';
import { makeWorld, type World } from './harness/world.ts';

describe.skipIf(isBrowserMissing)('every page of the console', { timeout: 180_000 }, () => {
  let world: World;
  let browser: Browser;
  let pages: readonly (readonly [path: string, heading: string | RegExp, name: string])[];

  beforeAll(async () => {
    [world, browser] = await Promise.all([makeWorld(), launchBrowser()]);
    const { ada, grace, bot, mei, treasury, payroll, supplier } = world;
    const { body: waits } = await bot.submit('sign_transaction', world.payment(treasury, supplier, '12500'));
    const { body: denied } = await mei.submit('sign_transaction', world.payment(payroll, supplier, '5000'));
    const { body: sent } = await mei.submit('eth_send_transaction', world.send(treasury, supplier, '0.5'));
    await grace.run('approve_activity', { fingerprint: sent.activity.fingerprint });
    await grace.submit('update_root_quorum', {
      threshold: 1,
      userIds: [ada.userId, grace.userId, world.tomas.userId],
    });
    const { body: stored } = await ada.query('list_policies', {});
    const { policyId } = stored.policies.find(
      ({ policyName }: { policyName: string }) => policyName === 'Ops pay suppliers',
    );
    const { body: listed } = await ada.query('list_activities', {
      filterByType: ['ACTIVITY_TYPE_SIGN_TRANSACTION_V2'],
      filterByStatus: ['ACTIVITY_STATUS_REJECTED', 'ACTIVITY_STATUS_FAILED'],
    });
    const deniedId = listed.activities[0]?.id ?? denied.activity?.id;
    pages = [
      ['inbox', 'Inbox', 'inbox'],
      [`inbox/${waits.activity.id}`, /./, 'inbox-request'],
      ['activities', 'Activities', 'activities'],
      [`activities/${sent.activity.id}`, /./, 'activity-sent'],
      ...(deniedId === undefined ? [] : [[`activities/${deniedId}`, /./, 'activity-denied'] as const]),
      ['wallets', 'Wallets', 'wallets'],
      [`wallets/${treasury.walletId}`, 'Treasury', 'wallet'],
      ['policies', 'Policies', 'policies'],
      ['policies?tab=limits', 'Policies', 'policies-limits'],
      ['policies?tab=mfa', 'Policies', 'policies-mfa'],
      ['policies?tab=sessions', 'Policies', 'policies-sessions'],
      ['policies?tab=network', 'Policies', 'policies-network'],
      ['policies/new', 'New policy', 'policy-new'],
      [`policies/${policyId}`, 'Ops pay suppliers', 'policy'],
      ['people', 'People', 'people'],
      ['webhooks', 'Webhooks', 'webhooks'],
      [`webhooks/${world.endpointId}`, 'Ledger', 'webhook'],
      ['sends', 'Sends', 'sends'],
      ['earn', 'Earn', 'earn'],
      ['sub-organizations', 'Sub-organizations', 'sub-organizations'],
      ['operations', 'Operations', 'operations'],
      ['nowhere', /./, 'nowhere'],
    ];
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await world?.[Symbol.asyncDispose]();
  });

  test.concurrent.for([
    ['a desk', 1440, 900],
    ['a phone', 375, 812],
  ] as const)('on %s, in light and dark', async ([, width, height], { expect }) => {
    await using device = await Device.open(browser, world.service.baseUrl, { width, height });
    const { page } = device;
    const loading = new Loading(page);
    const look = async (path: string, name: string): Promise<void> => {
      await loading.done();
      expect.soft(await page.getByRole('heading', { level: 1 }).count(), `h1 of ${path}`).toBe(1);
      const widthOfAll = await page.evaluate(() => document.documentElement.scrollWidth);
      expect.soft(widthOfAll, `width of ${path}`).toBeLessThanOrEqual(width);
      for (const colorScheme of ['light', 'dark'] as const) {
        // The scheme changes colours and nothing else, so the page needs no second load and no second look at the rest.
        await page.emulateMedia({ colorScheme });
        await takeShot(page, `page-${name}-${colorScheme}-${width}`);
        const violations = await findViolations(page, colorScheme === 'light' ? 'all' : 'colors');
        expect.soft(violations, `${path}, ${colorScheme}`).toEqual([]);
      }
    };
    await device.visit('/console/sign-in');
    await look('sign-in', 'sign-in');
    await signInWithKey(device, world.ada);
    for (const [path, heading, name] of pages) {
      await page.emulateMedia({ colorScheme: 'light' });
      await device.visit(`/console/${path}`);
      const exact = typeof heading === 'string';
      await page.getByRole('heading', { level: 1, name: heading, exact }).waitFor();
      await look(path, name);
    }
    expect(device.problems).toEqual([]);
  });
});
