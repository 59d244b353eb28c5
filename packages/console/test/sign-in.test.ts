// Every way into the console, and every way that does not lead in.
import { join } from 'node:path';
import type { Browser, Page, Response } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { firstLink } from '../../server/src/console/first-run.ts';
import { writeCredentials } from '../../server/src/credentials-file.ts';
import { openTestApp } from '../../server/test/harness/app.ts';
import { newKeyPair, TestClient } from '../../server/test/harness/client.ts';
import { TestServer } from '../../server/test/harness/server.ts';
import { findViolations } from './harness/axe.ts';
import { Device, isBrowserMissing, launchBrowser, takeShot } from './harness/browser.ts';
import { loadedBytes } from './harness/first-load.ts';
import { printedLink } from './harness/first-run.ts';
import { signInWithKey, signInWithPasskey } from './harness/sign-in.ts';
import { keptSessions, storedTexts } from './harness/storage.ts';

const MINUTES = 60_000;

describe.skipIf(isBrowserMissing)('signing in to the console', { timeout: 60_000 }, () => {
  let service: TestServer;
  let root: TestClient;
  let browser: Browser;
  let device: Device;
  let page: Page;

  beforeAll(async () => {
    [service, browser] = await Promise.all([TestServer.start(), launchBrowser()]);
    root = TestClient.root(service.credentials, service.baseUrl);
    await root.run('update_organization_name', { organizationName: 'Meridian Labs' });
    await root.run('update_user_name', { userId: root.userId, userName: 'Ada Okafor' });
    device = await Device.open(browser, service.baseUrl);
    page = device.page;
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await service?.[Symbol.asyncDispose]();
  });

  const credentials = () => page.getByRole('textbox', { name: 'Credentials' });
  const organization = () => page.getByRole('textbox', { name: 'Organization ID' });
  const use = () => page.getByRole('button', { name: 'Use an API key' }).click();
  const pasted = (key: { publicKey: string; privateKey: string }): string =>
    JSON.stringify({ apiPublicKey: key.publicKey, apiPrivateKey: key.privateKey });
  const signOut = async (): Promise<void> => {
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  };

  test('names nobody before somebody is in', async () => {
    const said: string[] = [];
    const listen = async (answer: Response): Promise<void> => {
      if (/json|html/.test(answer.headers()['content-type'] ?? '')) said.push(await answer.text());
    };
    page.on('response', listen);
    await device.visit('/console');
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    await expect.poll(() => organization().inputValue()).toBe(root.organizationId);
    page.off('response', listen);
    said.push(await page.content(), JSON.stringify(await storedTexts(page)));
    expect(said.length).toBeGreaterThan(2);
    for (const text of said) expect(text).not.toMatch(/Meridian|Ada|Okafor/);
    await takeShot(page, 'sign-in-light');
    expect(await findViolations(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await findViolations(page, 'colors')).toEqual([]);
    await page.emulateMedia({ colorScheme: 'light' });
  });

  test('says what is wrong with a key, each in its own words', async () => {
    await use();
    await page.getByText('Drop the file, or paste what is in it.').waitFor();
    await credentials().fill('not a key');
    await use();
    await page.getByText('This has no apiPublicKey and apiPrivateKey: it is not such a file.').waitFor();

    const refused = async (title: string, text: string): Promise<void> => {
      await use();
      await page.getByRole('alert').filter({ hasText: title }).waitFor();
      expect(await page.getByRole('alert').textContent()).toBe(`${title} ${text}`);
      expect(await page.getByRole('navigation', { name: 'Main' }).count()).toBe(0);
    };
    await credentials().fill(pasted(newKeyPair()));
    await refused(
      'This organization does not know the key.',
      'It was deleted, it ended, or it belongs to another organization.',
    );
    await credentials().fill(pasted({ ...root.key, privateKey: newKeyPair().privateKey }));
    await refused('This is not a pair of keys.', 'The private key does not belong to the public key.');
    await credentials().fill(pasted({ publicKey: 'zz', privateKey: 'yy' }));
    await refused('This is not a pair of keys.', 'The public key is not a P-256 key in hex.');
    await credentials().fill(pasted(root.key));
    await organization().fill('not-an-id');
    await refused(
      'This is not the ID of an organization.',
      'An ID has 36 characters, such as 01a1dd92-9107-7567-a6d5-2a8bc543f9b6.',
    );
    await organization().fill('01a1dd92-9107-7567-a6d5-2a8bc543f9b6');
    await refused('There is no organization with this ID.', 'Compare it with the file or the mail.');
    await organization().fill('');
    await use();
    await page.getByText('Which organization does this key belong to?').waitFor();
    await takeShot(page, 'sign-in-refused-light');
  });

  test('signs in with the file, and leads on to where one wanted to go', async () => {
    await device.visit('/console/activities?status=ACTIVITY_STATUS_COMPLETED');
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    await page.locator('input[type=file]').setInputFiles(join(service.dataDir, 'root-credentials.json'));
    await expect.poll(() => credentials().inputValue()).toContain(root.key.publicKey);
    expect(await organization().inputValue()).toBe(root.organizationId);
    await use();
    await page.getByRole('heading', { level: 1, name: 'Activities' }).waitFor();
    expect(new URL(page.url()).search).toBe('?status=ACTIVITY_STATUS_COMPLETED');
    await page.getByText(/^Session ends in 1[45] min$/).waitFor();
  });

  test('deletes the key from the browser and at the service when one leaves', async () => {
    expect(await keptSessions(page)).toHaveLength(1);
    const sessions = async (): Promise<number> =>
      (await root.query('get_api_keys', { userId: root.userId })).body.apiKeys.length;
    expect(await sessions()).toBe(2);
    await signOut();
    expect(await keptSessions(page)).toEqual([]);
    expect(Object.keys(await storedTexts(page))).toEqual(['custos-organization']);
    await expect.poll(sessions).toBe(1);
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    expect(await page.content()).not.toMatch(/Meridian|Okafor/);
  });

  test('is small: from nothing to the inbox at most 250 kB', async () => {
    await using fresh = await Device.open(browser, service.baseUrl);
    const bytes = await loadedBytes(fresh, async () => {
      await signInWithKey(fresh, root);
      await fresh.page.getByText('Nothing waits for you').first().waitFor();
    });
    expect(bytes).toBeGreaterThan(100_000);
    expect(bytes).toBeLessThanOrEqual(250_000);
  });

  test('does not lead elsewhere, whatever the address says', async () => {
    for (const from of ['//evil.example/', 'https://evil.example/', '/\\\\evil.example', 'javascript:alert(1)']) {
      await page.goto(`${device.origin}/console/sign-in?from=${encodeURIComponent(from)}`);
      await credentials().fill(pasted(root.key));
      await use();
      await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
      expect(page.url()).toBe(`${device.origin}/console/inbox`);
      await signOut();
    }
  });

  test('signs in with a passkey, and says so if there is none', async () => {
    await signInWithKey(device, root);
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByRole('button', { name: 'Remove the key and its file' }).waitFor();
    await signOut();
    await signInWithPasskey(device, root.organizationId);
    await page.getByText(/^Session ends in (59 min|1 h)$/).waitFor();
    await signOut();

    await organization().fill('');
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByText('Which organization? Its ID is in the mail or the file that invited you.').waitFor();

    // The device still has the passkey, the organization no longer.
    const { authenticators } = (await root.query('get_authenticators', { userId: root.userId })).body;
    await root.run('delete_authenticators', {
      userId: root.userId,
      authenticatorIds: authenticators.map(({ authenticatorId }: { authenticatorId: string }) => authenticatorId),
    });
    await organization().fill(root.organizationId);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('alert').getByText('This organization does not know the passkey.').waitFor();
    expect(device.problems).toEqual([]);
  });

  test('says on an IP address why there are no passkeys, and where there are', async () => {
    await using there = await Device.open(browser, service.baseUrl, { byAddress: true });
    await there.visit('/console/sign-in');
    const button = there.page.getByRole('button', { name: 'Sign in with a passkey' });
    await button.waitFor();
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    await there.page.getByText('A passkey belongs to a name, and this page was opened by an IP address.').waitFor();
    await takeShot(there.page, 'sign-in-address-light');
    const link = there.page.getByRole('link', { name: 'Open this page at localhost' });
    expect(await link.getAttribute('href')).toBe(`${device.origin}/console/sign-in`);
    await signInWithKey(there, root);
    expect(there.problems).toEqual([]);
  });

  test('has no link for anybody behind a proxy', async () => {
    await using elsewhere = await Device.open(browser, service.baseUrl, {
      headers: { 'x-forwarded-for': '203.0.113.7' },
    });
    await elsewhere.page.goto(printedLink(service));
    const alert = elsewhere.page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.textContent()).toContain('This works only on the machine that runs the service, at localhost.');
    expect(elsewhere.page.url()).not.toContain('link=');
    expect(await elsewhere.page.getByRole('textbox', { name: 'Organization ID' }).inputValue()).toBe('');
    expect(await elsewhere.page.getByText('First run').count()).toBe(0);
    // It was not used up.
    await using here = await Device.open(browser, service.baseUrl);
    await here.page.goto(printedLink(service));
    await here.page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
    expect([...elsewhere.problems, ...here.problems]).toEqual([]);
  });

  test('tells a link that is too old from one that was never made', async () => {
    await using old = await openTestApp('sqlite');
    const { app, root: first } = old;
    writeCredentials(app.config.dataDir, {
      baseUrl: old.baseUrl,
      authProxyUrl: old.baseUrl,
      organizationId: first.organizationId,
      userId: first.userId,
      apiPublicKey: first.key.publicKey,
      apiPrivateKey: first.key.privateKey,
      authProxyConfigId: first.organizationId,
    });
    await using visitor = await Device.open(browser, old.baseUrl);
    const link = firstLink(app, Number(new URL(old.baseUrl).port)) ?? '';
    old.advance(10 * MINUTES);
    const alert = visitor.page.getByRole('alert');
    for (const [url, reason] of [
      [link, 'This link is older than ten minutes.'],
      [
        `${visitor.origin}/console#link=${'A'.repeat(43)}`,
        'This is no link of this service, or of an earlier start of it.',
      ],
    ] as const) {
      await visitor.page.goto('about:blank');
      await visitor.page.goto(url);
      await alert.waitFor();
      expect(await alert.textContent()).toContain(`This link does not sign in. ${reason}`);
      await visitor.page.getByText('npx custos console').waitFor();
    }
    expect(visitor.problems).toEqual([]);
  });

  test('is not there when it is switched off', async () => {
    await using off = await TestServer.start({ env: { CUSTOS_CONSOLE: 'off' } });
    await using visitor = await Device.open(browser, off.baseUrl);
    for (const path of ['/console', '/console/inbox', '/console/context.json']) {
      const answer = await visitor.page.goto(`${visitor.origin}${path}`);
      expect(answer?.status()).toBe(404);
      expect(await visitor.page.locator('body').textContent()).toContain(
        'the console is switched off (CUSTOS_CONSOLE)',
      );
    }
    expect(off.output.stdout).not.toContain('/console');
    await visitor.visit('/');
    expect(await visitor.page.getByRole('link', { name: /console/i }).count()).toBe(0);
  });
});
