// What stands between a person and a wrong decision: the bytes, the fingerprint, the tick, the batch, the further proof.
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { TestClient } from '../../server/test/harness/client.ts';
import { fromBase58 } from '../src/lib/bytes.ts';
import { findViolations } from './harness/axe.ts';
import { Device, isBrowserMissing, launchBrowser, takeShot } from './harness/browser.ts';
import { signInWithKey } from './harness/sign-in.ts';
import { makeWorld, type World } from './harness/world.ts';

/** A transaction of Solana that pays so many strangers from one account. All counts are below 128: one byte each. */
function solTransfers(from: string, count: number): string {
  const payer = fromBase58(from) ?? new Uint8Array();
  const strangers = Array.from({ length: count }, (_, index) => new Uint8Array(32).fill(index + 1));
  const transfers = strangers.flatMap((_, index) => [
    count + 1,
    2,
    0,
    index + 1,
    12,
    2,
    0,
    0,
    0,
    16,
    39,
    0,
    0,
    0,
    0,
    0,
    0,
  ]);
  const keys = [payer, ...strangers, new Uint8Array(32)].flatMap((key) => [...key]);
  const blockhash = new Uint8Array(32).fill(9);
  return Buffer.from([
    1,
    ...new Uint8Array(64),
    1,
    0,
    1,
    count + 2,
    ...keys,
    ...blockhash,
    count,
    ...transfers,
  ]).toString('hex');
}

/** The newest code that was sent to a contact; it stands alone on its line. */
async function codeFor(baseUrl: string, contact: string): Promise<string> {
  let code: string | undefined;
  await vi.waitFor(async () => {
    const messages = (await (await fetch(`${baseUrl}/dev/inbox.json`)).json()) as { to: string; text: string }[];
    code = /^[0-9A-Z]{6,9}$/m.exec(messages.find(({ to }) => to === contact)?.text ?? '')?.[0];
    expect(code).toBeDefined();
  });
  return code ?? '';
}

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
    const from = accounts.find(({ addressFormat }: { addressFormat: string }) => /SOLANA/.test(addressFormat)).address;
    const { id } = await propose(ada, 'sign_transaction', {
      signWith: from,
      type: 'TRANSACTION_TYPE_SOLANA',
      unsignedTransaction: solTransfers(from, 9),
    });
    const { approval } = (await ada.query('get_approval', { activityId: id })).body;
    const recipients = approval.description.recipients.map(({ address }: { address: string }) => address) as string[];
    expect(new Set(recipients).size).toBe(9);
    await open(id);
    await button(sheet(), 'Approve').click();
    const listed = dialog().getByRole('list', { name: 'Recipients' }).getByRole('listitem');
    await expect.poll(() => listed.count()).toBe(recipients.length);
    const texts = (await listed.allInnerTexts()).map((text) => text.replaceAll(/\s/g, ''));
    for (const address of recipients) expect(texts.some((text) => text.includes(address))).toBe(true);
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

  it('ends a batch where somebody stops it, and says what was not sent', async () => {
    const { bot, treasury, supplier } = world;
    const amounts = ['31', '32', '33'];
    const made: { id: string }[] = [];
    for (const amount of amounts) {
      made.push(await propose(bot, 'sign_transaction', world.payment(treasury, supplier, amount)));
    }
    await device.visit('/console/inbox');
    await page.getByRole('button', { name: 'Select several' }).click();
    for (const amount of amounts) {
      await page.getByRole('checkbox', { name: new RegExp(`Send ${amount}.USDC`) }).check();
    }
    await page.getByRole('button', { name: 'Approve 3' }).click();
    const rows = dialog().getByRole('list', { name: 'Requests' }).getByRole('listitem');
    await rows.nth(2).waitFor();
    // The first vote takes until somebody stops.
    let answer = (): void => undefined;
    const isHeld = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route('**/public/v1/submit/approve_activity', async (route) => {
      await isHeld;
      await route.continue();
    });
    const isSent = page.waitForRequest('**/public/v1/submit/approve_activity');
    await button(dialog(), 'Approve').click();
    await isSent;
    await button(dialog(), 'Stop').click();
    await dialog().getByRole('button', { name: 'Stopping…' }).waitFor();
    await page.keyboard.press('Escape');
    await takeShot(page, 'decision-batch-stopping-light');
    answer();
    await rows.nth(1).getByText('Not sent: you stopped.').waitFor();
    await rows.nth(2).getByText('Not sent: you stopped.').waitFor();
    await button(dialog(), 'Done').click();
    await page.unroute('**/public/v1/submit/approve_activity');
    expect((await Promise.all(made.map(({ id }) => statusOf(id)))).sort()).toEqual([
      'ACTIVITY_STATUS_COMPLETED',
      'ACTIVITY_STATUS_CONSENSUS_NEEDED',
      'ACTIVITY_STATUS_CONSENSUS_NEEDED',
    ]);
  });

  it('leaves out of a batch what no longer qualifies, and lets it be unticked', async () => {
    const { ada, bot, payroll, treasury, supplier } = world;
    await propose(ada, 'delete_wallets', { walletIds: [payroll.walletId] });
    for (const amount of ['41', '42']) {
      await propose(bot, 'sign_transaction', world.payment(treasury, supplier, amount));
    }
    await device.visit('/console/inbox');
    await page.getByRole('button', { name: 'Select several' }).click();
    const box = (text: RegExp) => page.getByRole('checkbox', { name: text });
    await box(/Send 41.USDC/).check();
    await box(/Send 42.USDC/).check();
    await page.getByRole('button', { name: 'Approve 2' }).waitFor();
    // One that cannot be chosen says why, and stays reachable.
    const off = box(/Delete .*Payroll/);
    expect(await off.getAttribute('aria-disabled')).toBe('true');
    await off.focus();
    await page.keyboard.press('Space');
    expect(await off.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(await off.isChecked()).toBe(false);
    // The list brings another risk for what is ticked already.
    await page.route('**/public/v1/query/list_approvals', async (route) => {
      const response = await route.fetch();
      const answer = await response.json();
      for (const { description } of answer.approvals) {
        if (/Send 41/.test(description.text)) description.risk = 'DANGER';
      }
      await route.fulfill({ response, json: answer });
    });
    await propose(bot, 'sign_transaction', world.payment(treasury, supplier, '43'));
    await page.getByText('Left out: only routine requests go together.').waitFor();
    await page.getByRole('button', { name: 'Approve 1' }).waitFor();
    await takeShot(page, 'decision-batch-left-out-light');
    expect(await findViolations(page)).toEqual([]);
    await box(/Send 41.USDC/).uncheck();
    expect(await box(/Send 41.USDC/).isChecked()).toBe(false);
    await page.unroute('**/public/v1/query/list_approvals');
  });

  it('asks for the tick before a further proof too, once for what is read', async () => {
    const { ada, tomas, mei, payroll, service } = world;
    const together = async (operation: string, parameters: Record<string, unknown>): Promise<void> => {
      const { fingerprint } = await propose(ada, operation, parameters);
      await tomas.run('approve_activity', { fingerprint });
    };
    const condition = "activity.kind == 'SIGN_RAW_PAYLOAD'";
    await together('create_policy', {
      policyName: 'Ops sign bytes',
      effect: 'EFFECT_ALLOW',
      condition,
      consensus: `approvers.any(user, user.id == '${mei.userId}')`,
      notes: '',
    });
    await together('create_mfa_policy', {
      userId: mei.userId,
      mfaPolicyName: 'A session for bytes',
      condition,
      requiredAuthenticationMethods: [
        { any: [{ type: 'AUTHENTICATION_TYPE_API_KEY' }] },
        { any: [{ type: 'AUTHENTICATION_TYPE_SESSION' }] },
      ],
      order: 0,
    });
    const { id } = await propose(mei, 'sign_raw_payload', {
      signWith: payroll.address,
      payload: '44'.repeat(32),
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction: 'HASH_FUNCTION_NO_OP',
    });
    expect(await statusOf(id)).toBe('ACTIVITY_STATUS_AUTHENTICATORS_NEEDED');
    await using hers = await Device.open(browser, service.baseUrl);
    await signInWithKey(hers, mei);
    await hers.visit(`/console/inbox/${id}`);
    await hers.page.getByRole('button', { name: 'Confirm with this session' }).click();
    const asked = hers.page.getByRole('dialog');
    await asked.getByRole('checkbox').check();
    const approve = button(asked, 'Approve');
    expect(await isOff(approve)).toBe(true);
    await button(asked, 'Show the bytes').click();
    expect(await statusOf(id)).toBe('ACTIVITY_STATUS_AUTHENTICATORS_NEEDED');
    await approve.click();
    await hers.page.getByText('You approved, and it is signed.').waitFor();
    expect(await statusOf(id)).toBe('ACTIVITY_STATUS_COMPLETED');
    // The button is gone; the focus is where it says what became of it.
    const focused = () => hers.page.evaluate(() => document.activeElement?.textContent ?? '');
    await expect.poll(focused).toMatch(/^You approved, and it is signed\./);
    expect(hers.problems).toEqual([]);
  });

  it('takes a code by mail as the next proof', async () => {
    const { ada, tomas, mei, payroll, supplier, service } = world;
    const together = async (operation: string, parameters: Record<string, unknown>): Promise<void> => {
      const { fingerprint } = await propose(ada, operation, parameters);
      await tomas.run('approve_activity', { fingerprint });
    };
    await together('set_organization_feature', { name: 'FEATURE_NAME_OTP_EMAIL_AUTH', value: '' });
    await together('create_mfa_policy', {
      userId: mei.userId,
      mfaPolicyName: 'A code for payments',
      condition: "activity.action == 'SIGN'",
      requiredAuthenticationMethods: [
        { any: [{ type: 'AUTHENTICATION_TYPE_API_KEY' }] },
        { any: [{ type: 'AUTHENTICATION_TYPE_EMAIL_OTP' }, { type: 'AUTHENTICATION_TYPE_OAUTH' }] },
      ],
      order: 0,
    });
    const { id } = await propose(mei, 'sign_transaction', world.payment(payroll, supplier, '7'));
    expect(await statusOf(id)).toBe('ACTIVITY_STATUS_AUTHENTICATORS_NEEDED');

    await using hers = await Device.open(browser, service.baseUrl);
    await signInWithKey(hers, mei);
    await hers.visit(`/console/inbox/${id}`);
    const asked = hers.page.getByRole('dialog');
    // A token is for the key that waits in the dialog; one that the service cannot check is refused.
    await hers.page.getByRole('button', { name: 'Confirm with a login token' }).click();
    await asked.getByRole('checkbox').check();
    await button(asked, 'Approve').click();
    await asked.getByText(/^[0-9a-f]{64}$/).waitFor();
    const token = asked.getByRole('textbox', { name: 'Token' });
    await token.fill('no token');
    await button(asked, 'Confirm').click();
    await asked.getByText('This is no token').waitFor();
    await takeShot(hers.page, 'decision-token-light');
    expect(await findViolations(hers.page)).toEqual([]);
    await token.fill('eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUifQ.c2lnbmF0dXJl');
    await button(asked, 'Confirm').click();
    await hers.page.getByRole('region', { name: 'Request', exact: true }).getByRole('alert').waitFor();
    expect(await statusOf(id)).toBe('ACTIVITY_STATUS_AUTHENTICATORS_NEEDED');

    await hers.page.getByRole('button', { name: 'Confirm with a code by mail' }).click();
    await asked.getByText('mei@meridian.example').waitFor();
    await button(asked, 'Send a code').click();
    await asked.getByText('The rules here do not let you ask for a code.').waitFor();
    await takeShot(hers.page, 'decision-code-denied-light');
    await together('create_policy', {
      policyName: 'Ops ask for codes',
      effect: 'EFFECT_ALLOW',
      condition: "activity.resource == 'OTP'",
      consensus: `approvers.any(user, user.id == '${mei.userId}')`,
      notes: '',
    });
    // The service took it, and its answer got lost: sending it again brings it.
    await hers.page.route('**/public/v1/submit/init_otp', async (route) => {
      await route.fetch();
      await route.fulfill({ status: 503, json: { code: 14, message: 'not now', details: [] } });
    });
    await button(asked, 'Send a code').click();
    await asked.getByRole('button', { name: 'Try again' }).waitFor();
    await hers.page.unroute('**/public/v1/submit/init_otp');
    await asked.getByRole('button', { name: 'Try again' }).click();
    await asked.getByRole('textbox', { name: 'Code' }).fill('WRONGCODE');
    await button(asked, 'Confirm').click();
    await asked.getByRole('alert').first().waitFor();
    await takeShot(hers.page, 'decision-code-light');
    expect(await findViolations(hers.page)).toEqual([]);
    await asked.getByRole('textbox', { name: 'Code' }).fill(await codeFor(service.baseUrl, 'mei@meridian.example'));
    await button(asked, 'Confirm').click();
    await hers.page.getByText('You approved, and it is signed.').waitFor();
    expect(await statusOf(id)).toBe('ACTIVITY_STATUS_COMPLETED');
    expect(hers.problems).toEqual([]);
  });

  it('left no error, violation or foreign request', () => {
    expect(device.problems).toEqual([]);
  });
});
