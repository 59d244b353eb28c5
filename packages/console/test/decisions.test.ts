// What stands between a person and a wrong decision: the bytes, the fingerprint, the tick, the batch, the further proof.
import { Address, OutScript, p2tr, Transaction } from '@scure/btc-signer';
import { pubSchnorr } from '@scure/btc-signer/utils.js';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestClient } from '../../server/test/harness/client.ts';
import { findViolations } from './harness/axe.ts';
import { Device, isBrowserMissing, launchBrowser, takeShot } from './harness/browser.ts';
import { signInWithKey } from './harness/sign-in.ts';
import { makeWorld, type World } from './harness/world.ts';

const schnorrKey = (seed: number) => pubSchnorr(new Uint8Array(32).fill(seed));

const VOTES = '**/public/v1/query/get_activity_votes';

describe.skipIf(isBrowserMissing)('deciding in the console', { timeout: 90_000 }, () => {
  let world: World;
  let browser: Browser;
  let device: Device;
  let page: Page;

  const propose = async (client: TestClient, operation: string, parameters: Record<string, unknown>) =>
    (await client.submit(operation, parameters)).body.activity as { id: string; fingerprint: string };
  const statusOf = async (activityId: string): Promise<string> =>
    (await world.ada.query('get_activity', { activityId })).body.activity.status;
  const sheet = () => page.getByRole('region', { name: 'Request', exact: true });
  const dialog = () => page.getByRole('dialog');
  const button = (within: Locator, name: string) => within.getByRole('button', { name, exact: true });
  const isOff = async (found: Locator): Promise<boolean> => (await found.getAttribute('aria-disabled')) === 'true';
  const open = async (activityId: string): Promise<void> => {
    await device.visit(`/console/inbox/${activityId}`);
    await sheet().getByRole('heading', { level: 2 }).first().waitFor();
  };

  beforeAll(async () => {
    [world, browser] = await Promise.all([makeWorld(), launchBrowser()]);
    const { bot, grace, treasury, supplier } = world;
    const first = await propose(bot, 'sign_transaction', world.payment(treasury, supplier, '10'));
    await grace.run('approve_activity', { fingerprint: first.fingerprint });
    device = await Device.open(browser, world.service.baseUrl);
    page = device.page;
    await signInWithKey(device, grace);
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await world?.[Symbol.asyncDispose]();
  });

  it('shows every payload of what nobody can read, and lets nobody approve before', async () => {
    const payloads = ['11'.repeat(32), '22'.repeat(32), '33'.repeat(3000)];
    const { id } = await propose(world.ada, 'sign_raw_payloads', {
      signWith: world.treasury.address,
      payloads,
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction: 'HASH_FUNCTION_SHA256',
    });
    await open(id);
    await button(sheet(), 'Approve').click();
    const approve = button(dialog(), 'Approve');
    await dialog().getByRole('checkbox').check();
    await dialog().getByText('Open the bytes first.').first().waitFor();
    expect(await isOff(approve)).toBe(true);
    await button(dialog(), 'Show the bytes').click();
    const shown = await dialog().getByRole('list', { name: 'Exact bytes' }).textContent();
    for (const payload of payloads) expect(shown?.replaceAll(/\s/g, '')).toContain(payload);
    await takeShot(page, 'decision-bytes-light');
    expect(await findViolations(page)).toEqual([]);
    await expect.poll(() => isOff(approve)).toBe(false);
    await page.keyboard.press('Escape');
    await sheet().getByRole('button', { name: 'Bytes', exact: true }).click();
    await sheet().getByText('This browser computed it from the raw body, and it is the same.').waitFor();
    expect((await sheet().textContent())?.replaceAll(/\s/g, '')).toContain(payloads[2]);
  });

  it('takes the tick back when the request reads differently, and says so', async () => {
    const { ada, tomas, treasury } = world;
    const { id } = await propose(ada, 'delete_wallets', { walletIds: [treasury.walletId] });
    await open(id);
    await button(sheet(), 'Approve').click();
    await dialog().getByRole('checkbox').check();
    expect(await isOff(button(dialog(), 'Approve'))).toBe(false);
    const renamed = await propose(ada, 'update_wallet', { walletId: treasury.walletId, walletName: 'Treasury II' });
    await tomas.submit('approve_activity', { fingerprint: renamed.fingerprint });
    await dialog().getByText('This request reads differently').waitFor();
    await dialog().getByText('Treasury II').first().waitFor();
    expect(await dialog().getByRole('checkbox').isChecked()).toBe(false);
    expect(await isOff(button(dialog(), 'Approve'))).toBe(true);
    await page.keyboard.press('Control+Enter');
    expect(await statusOf(id)).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    await takeShot(page, 'decision-changed-light');
    await page.keyboard.press('Escape');
  });

  it('lists all recipients, however many there are', async () => {
    const { ada, treasury } = world;
    const { accounts } = (await ada.query('list_wallet_accounts', { walletId: treasury.walletId })).body;
    const from = accounts.find(({ addressFormat }: { addressFormat: string }) => /P2TR/.test(addressFormat)).address;
    const recipients = Array.from({ length: 9 }, (_, index) => p2tr(schnorrKey(index + 1)).address as string);
    const transaction = new Transaction();
    const script = OutScript.encode(Address().decode(from));
    transaction.addInput({ txid: '11'.repeat(32), index: 0, witnessUtxo: { script, amount: 100_000n } });
    for (const to of recipients) transaction.addOutputAddress(to, 10_000n);
    const { id } = await propose(ada, 'sign_transaction', {
      signWith: from,
      type: 'TRANSACTION_TYPE_BITCOIN',
      unsignedTransaction: Buffer.from(transaction.toPSBT()).toString('hex'),
    });
    await open(id);
    await button(sheet(), 'Approve').click();
    const listed = dialog().getByRole('list', { name: 'Recipients' }).getByRole('listitem');
    await expect.poll(() => listed.count()).toBe(recipients.length);
    const texts = (await listed.allInnerTexts()).map((text) => text.replaceAll(/\s/g, '').toLowerCase());
    for (const address of recipients) expect(texts.some((text) => text.includes(address.toLowerCase()))).toBe(true);
    await takeShot(page, 'decision-recipients-light');
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
  });

  it('does not approve a request whose bytes hash to something else', async () => {
    const { bot, treasury, supplier } = world;
    const { id } = await propose(bot, 'sign_transaction', world.payment(treasury, supplier, '5'));
    // A service that stores one request and names another.
    await page.route(VOTES, async (route) => {
      const response = await route.fetch();
      const answer = await response.json();
      for (const vote of answer.votes) {
        vote.message = vote.message.replace('TRANSACTION_TYPE_ETHEREUM', 'TRANSACTION_TYPE_TRON');
        vote.scheme = 'SIGNATURE_SCHEME_TK_API_SECP256K1';
      }
      await route.fulfill({ response, json: answer });
    });
    await open(id);
    await sheet().getByText('The stored request is not the one that the fingerprint names.').first().waitFor();
    expect(await isOff(button(sheet(), 'Approve'))).toBe(true);
    expect(await isOff(button(sheet(), 'Reject'))).toBe(false);
    await takeShot(page, 'decision-contradicted-light');
    expect(await findViolations(page)).toEqual([]);
    await page.unroute(VOTES);
  });

  it('asks for a closer look where the bytes cannot be checked here', async () => {
    const { bot, treasury, supplier } = world;
    const { id } = await propose(bot, 'sign_transaction', world.payment(treasury, supplier, '6'));
    await page.route(VOTES, async (route) => {
      const response = await route.fetch();
      const answer = await response.json();
      for (const vote of answer.votes) Object.assign(vote, { redacted: true, message: '{"parameters":{}}' });
      await route.fulfill({ response, json: answer });
    });
    await open(id);
    await button(sheet(), 'Approve').click();
    await dialog().getByText('not checkable here').first().waitFor();
    await dialog().getByText('could not check that the sentence is about these bytes').waitFor();
    expect(await isOff(button(dialog(), 'Approve'))).toBe(true);
    await dialog().getByRole('checkbox').check();
    await expect.poll(() => isOff(button(dialog(), 'Approve'))).toBe(false);
    await page.keyboard.press('Escape');
    await page.unroute(VOTES);
    expect(await statusOf(id)).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
  });

  it('stops a batch at the first request that changed', async () => {
    const { bot, tomas, treasury, supplier } = world;
    const made: { id: string; fingerprint: string }[] = [];
    for (const amount of ['21', '22', '23']) {
      made.push(await propose(bot, 'sign_transaction', world.payment(treasury, supplier, amount)));
    }
    await device.visit('/console/inbox');
    await page.getByRole('button', { name: 'Select several' }).click();
    for (const amount of ['21', '22', '23']) {
      await page.getByRole('checkbox', { name: new RegExp(`Send ${amount}.USDC`) }).check();
    }
    await page.getByRole('button', { name: 'Approve 3' }).click();
    await dialog()
      .getByText(/66.USDC/)
      .waitFor();
    const rows = dialog().getByRole('list', { name: 'Requests' }).getByRole('listitem');
    const order = (await rows.allInnerTexts()).map((text) => /Send (\d+)/.exec(text)?.[1]);
    for (const text of await rows.allInnerTexts()) expect(text).toContain('From Treasury');
    await takeShot(page, 'decision-batch-light');
    const second = made[['21', '22', '23'].indexOf(order[1] ?? '')];
    await tomas.submit('reject_activity', { fingerprint: second?.fingerprint ?? '' });
    await button(dialog(), 'Approve').click();
    await rows.nth(1).getByText('Not sent: it was decided meanwhile.').waitFor();
    await rows.nth(2).getByText('Not sent: one before it had changed.').waitFor();
    const ids = order.map((amount) => made[['21', '22', '23'].indexOf(amount ?? '')]?.id ?? '');
    expect(await Promise.all(ids.map(statusOf))).toEqual([
      'ACTIVITY_STATUS_COMPLETED',
      'ACTIVITY_STATUS_REJECTED',
      'ACTIVITY_STATUS_CONSENSUS_NEEDED',
    ]);
    await takeShot(page, 'decision-batch-stopped-light');
    await button(dialog(), 'Done').click();
  });

  it('left no error, violation or foreign request', () => {
    expect(device.problems).toEqual([]);
  });
});
