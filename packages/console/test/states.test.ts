// What the console shows while something is wrong: no connection, a session that ended, a lapse, a refusal, a clock.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Browser, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestApp } from '../../server/test/harness/app.ts';
import { createUser, newKeyPair, TestClient } from '../../server/test/harness/client.ts';
import { TestServer } from '../../server/test/harness/server.ts';
import { findViolations } from './harness/axe.ts';
import { Device, isBrowserMissing, launchBrowser, takeShot } from './harness/browser.ts';
import { signInWithKey } from './harness/sign-in.ts';

const DAY = 24 * 60 * 60 * 1000;
const FAILURES = 4;

async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return String(port);
}

const sheetOf = (page: Page) => page.getByRole('region', { name: 'Request', exact: true });
const approveOf = (page: Page) => sheetOf(page).getByRole('button', { name: 'Approve', exact: true });
const isOff = async (page: Page): Promise<boolean> => (await approveOf(page).getAttribute('aria-disabled')) === 'true';

/** Approves, with a tick where one is asked for, and waits for what is then said. */
async function approveUntil(page: Page, said: string): Promise<void> {
  await approveOf(page).click();
  const note = sheetOf(page).getByText(said, { exact: true });
  const dialog = page.getByRole('dialog');
  await note.or(dialog).first().waitFor();
  if (await dialog.isVisible()) {
    await dialog.getByRole('checkbox').check();
    await dialog.getByRole('button', { name: 'Approve', exact: true }).click();
  }
  await note.waitFor();
}

/** Two root users who must both agree. */
async function makePair(root: TestClient): Promise<TestClient> {
  await root.run('update_user_name', { userId: root.userId, userName: 'Ada' });
  const bo = await createUser(root, 'Bo', { userEmail: 'bo@example.com' });
  await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, bo.userId] });
  return bo;
}

describe.skipIf(isBrowserMissing)('states of the console', { timeout: 90_000 }, () => {
  let service: TestServer;
  let browser: Browser;
  let device: Device;
  let page: Page;
  let ada: TestClient;
  let bo: TestClient;

  const propose = async (userTagName: string): Promise<{ id: string; fingerprint: string }> =>
    (await ada.submit('create_user_tag', { userTagName, userIds: [] })).body.activity;
  const open = async ({ id }: { readonly id: string }): Promise<void> => {
    await device.visit(`/console/inbox/${id}`);
    await approveOf(page).waitFor();
    await expect.poll(() => isOff(page)).toBe(false);
  };
  const banner = () => page.getByText(/^No answer from the service since \d\d:\d\d\.$/).first();
  const isBack = async (): Promise<void> => {
    await banner().waitFor({ state: 'hidden', timeout: 20_000 });
    await expect.poll(() => isOff(page)).toBe(false);
  };

  beforeAll(async () => {
    const env = { CUSTOS_PORT: await freePort(), CUSTOS_FAILED_AUTH_PER_MINUTE: String(FAILURES) };
    [service, browser] = await Promise.all([TestServer.start({ env }), launchBrowser()]);
    ada = TestClient.root(service.credentials, service.baseUrl);
    bo = await makePair(ada);
    device = await Device.open(browser, service.baseUrl);
    page = device.page;
    await signInWithKey(device, bo);
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await service?.[Symbol.asyncDispose]();
  });

  it('a service that is away: since when, next try, voting off, and back by itself', async () => {
    await open(await propose('First'));
    await service.stop();
    await banner().waitFor();
    await page.getByText(/the page tries again by itself, next at \d\d:\d\d:\d\d\./).waitFor();
    await page
      .getByText(/the same bytes count once/)
      .first()
      .waitFor();
    expect(await isOff(page)).toBe(true);
    await takeShot(page, 'state-away-light');
    expect(await findViolations(page)).toEqual([]);
    await service.start();
    await isBack();
    await approveUntil(page, 'You approved, and it is done.');
  });

  it('a service that says it cannot', async () => {
    await open(await propose('Second'));
    await page.route('**/public/v1/**', (route) =>
      route.fulfill({
        status: 503,
        headers: { 'retry-after': '1' },
        json: { code: 14, message: 'the database does not answer', details: [], errorCode: 'UNAVAILABLE' },
      }),
    );
    await propose('Third');
    await banner().waitFor({ timeout: 30_000 });
    expect(await isOff(page)).toBe(true);
    await page.unroute('**/public/v1/**');
    await isBack();
  });

  it('one question that keeps failing: everything else is asked for once in a while', async () => {
    await open(await propose('Third and a half'));
    await page.getByText('Live', { exact: true }).waitFor();
    const question = '**/public/v1/query/get_approval';
    await page.route(question, (route) =>
      route.fulfill({
        status: 503,
        headers: { 'retry-after': '1' },
        json: { code: 14, message: 'the database does not answer', details: [], errorCode: 'UNAVAILABLE' },
      }),
    );
    await propose('Third and two thirds');
    await banner().waitFor({ timeout: 30_000 });
    const asked: string[] = [];
    const note = (request: Request): void => void asked.push(new URL(request.url()).pathname.split('/').at(-1) ?? '');
    page.on('request', note);
    await page.waitForTimeout(18_000);
    page.off('request', note);
    const times = (name: string): number => asked.filter((one) => one === name).length;
    expect(times('feed')).toBe(0);
    expect(times('whoami')).toBeGreaterThan(0);
    // Each return asks for what is shown: the list, and the counts of the side bar.
    expect(times('list_approvals')).toBeLessThanOrEqual(2 * 3);
    await page.unroute(question);
    await page
      .getByRole('button', { name: 'Try now' })
      .click({ timeout: 10_000 })
      .catch(() => undefined);
    await isBack();
  });

  it('a computer without a network', async () => {
    await device.context.setOffline(true);
    await page.getByRole('radio', { name: 'Decided' }).click();
    await banner().waitFor();
    expect(await isOff(page)).toBe(true);
    await device.context.setOffline(false);
    await isBack();
    await page.getByRole('radio', { name: /For me/ }).click();
  });

  it('a vote that no longer counts: whose does', async () => {
    const request = await propose('Fourth');
    await open(request);
    // The page does not hear of it before the click.
    await page.route(/\/public\/v1\/(?:feed|query)/, () => undefined);
    const { fingerprint } = (await ada.submit('update_root_quorum', { threshold: 1, userIds: [ada.userId] })).body
      .activity;
    await bo.submit('approve_activity', { fingerprint });
    await approveUntil(page, 'Your vote does not count here.');
    await takeShot(page, 'state-denied-light');
    await page.unroute(/\/public\/v1\/(?:feed|query)/);
    await ada.run('update_root_quorum', { threshold: 2, userIds: [ada.userId, bo.userId] });
  });

  it('a session that ended: what was typed is kept, and sign-in is over it', async () => {
    await device.visit('/console/wallets');
    await page.getByRole('button', { name: 'Create wallet' }).first().click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Half-typed');
    const { apiKeys } = (await bo.query('get_api_keys', { userId: bo.userId })).body;
    const apiKeyIds = apiKeys
      .filter(({ credential }: { credential: { publicKey: string } }) => credential.publicKey !== bo.key.publicKey)
      .map(({ apiKeyId }: { apiKeyId: string }) => apiKeyId);
    const { fingerprint } = (await ada.submit('delete_api_keys', { userId: bo.userId, apiKeyIds })).body.activity;
    await bo.submit('approve_activity', { fingerprint });
    const over = page.getByRole('dialog', { name: 'Your session ended' });
    await over.waitFor();
    await over.getByText('What you typed is kept in this tab.').waitFor();
    await takeShot(page, 'state-session-light');
    expect(await findViolations(page)).toEqual([]);
    const { publicKey, privateKey } = bo.key;
    const { organizationId } = bo;
    await over
      .getByRole('textbox', { name: 'Credentials' })
      .fill(JSON.stringify({ apiPublicKey: publicKey, apiPrivateKey: privateKey, organizationId }));
    await over.getByRole('button', { name: 'Use an API key' }).click();
    await over.waitFor({ state: 'hidden' });
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Half-typed');
  });

  it('a clock that differs: both times', async () => {
    await using other = await Device.open(browser, service.baseUrl);
    await other.page.addInitScript(() => {
      const behindMs = (7 * 60 + 12) * 1000;
      const now = Date.now.bind(Date);
      Date.now = () => now() - behindMs;
    });
    await signInWithKey(other, bo);
    const said = other.page.getByText(/^This computer is 7 min behind the service\.$/);
    await said.waitFor();
    const times = await other.page
      .getByText(/This computer: \d\d:\d\d:\d\d; the service: \d\d:\d\d:\d\d/)
      .textContent();
    const [own = '', theirs = ''] = times?.match(/\d\d:\d\d:\d\d/g) ?? [];
    const seconds = (clock: string): number => clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
    expect(Math.abs(((seconds(theirs) - seconds(own) + 86_400) % 86_400) - 432)).toBeLessThan(3);
    await takeShot(other.page, 'state-clock-light');
    expect(await findViolations(other.page)).toEqual([]);
  });

  it('left no error, violation or foreign request', () => {
    expect(device.problems).toEqual([]);
  });

  it('too many attempts: when to try again', async () => {
    await using other = await Device.open(browser, service.baseUrl);
    await other.visit('/console/sign-in');
    const { publicKey, privateKey } = newKeyPair();
    const credentials = { apiPublicKey: publicKey, apiPrivateKey: privateKey, organizationId: bo.organizationId };
    await other.page.getByRole('textbox', { name: 'Credentials' }).fill(JSON.stringify(credentials));
    const enter = other.page.getByRole('button', { name: 'Use an API key' });
    const alert = other.page.getByRole('alert');
    // Attempts come back with time, and a slow machine takes its time for each.
    for (let tries = 0; tries <= 3 * FAILURES; tries += 1) {
      await enter.click();
      await expect.poll(() => enter.getAttribute('aria-disabled')).toBeNull();
      await alert.waitFor();
      if ((await alert.textContent())?.includes('Too many')) break;
    }
    expect(await alert.textContent()).toMatch(/Too many requests\..*Try again at \d\d:\d\d:\d\d\./);
    await takeShot(other.page, 'state-too-often-light');
  });

  it('approvals that lapsed: said, also while somebody reads, and a new round begins', async () => {
    await using app = await openTestApp('sqlite');
    const { root, advance } = app;
    const other = await makePair(root);
    const { id } = (await root.submit('create_user_tag', { userTagName: 'Old', userIds: [] })).body.activity;
    advance(DAY);
    await using reader = await Device.open(browser, app.baseUrl);
    const { page: sheet } = reader;
    await sheet.addInitScript((ms) => {
      const now = Date.now.bind(Date);
      Date.now = () => now() + ms;
    }, DAY);
    await signInWithKey(reader, other);
    // As it was when the page opened: two seconds were left.
    let isBefore = true;
    await sheet.route('**/query/get_approval', async (route) => {
      const response = await route.fetch();
      const answer = await response.json();
      if (isBefore) {
        answer.approval.progress.isLapsed = undefined;
        answer.approval.progress.lapsesAt = new Date(Date.now() + 2000).toISOString();
      }
      await route.fulfill({ response, json: answer });
      isBefore = false;
    });
    await reader.visit(`/console/inbox/${id}`);
    await approveOf(sheet).waitFor();
    expect(await sheet.getByText('The approvals lapsed.').count()).toBe(0);
    await sheet.getByText('The approvals lapsed.').waitFor();
    await sheet.getByText(/yours is the first of a new round, and Ada must approve again/).waitFor();
    await takeShot(sheet, 'state-lapsed-light');
    expect(await findViolations(sheet)).toEqual([]);
    await approveUntil(sheet, 'You approved.');
    const { activity } = (await root.query('get_activity', { activityId: id })).body;
    expect(activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    expect(reader.problems).toEqual([]);
  });
});
