// The page that a mailed invitation leads to, in Chromium, against a service as a user starts it.
import { createECDH } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { TestClient } from '../packages/server/test/harness/client.ts';
import { TestServer } from '../packages/server/test/harness/server.ts';
import { authenticatorOptions, isBrowserMissing, launchBrowser } from './browser.ts';

describe.skipIf(isBrowserMissing)('accepting an invitation on a page, in a browser', () => {
  let service: TestServer;
  let browser: Browser;
  let root: TestClient;

  beforeAll(async () => {
    [browser, service] = await Promise.all([launchBrowser(), TestServer.start()]);
    root = TestClient.root(service.credentials, service.baseUrl);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.[Symbol.asyncDispose]();
  });

  async function invite(email: string): Promise<string> {
    await root.run('create_invitations', {
      invitations: [
        {
          receiverUserName: `<b>${email}</b>`,
          receiverUserEmail: email,
          receiverUserTags: [],
          accessType: 'ACCESS_TYPE_ALL',
          senderUserId: root.userId,
        },
      ],
    });
    return await vi.waitFor(async () => {
      const inbox = await fetch(`${service.baseUrl}/dev/inbox.json`);
      const messages = (await inbox.json()) as { readonly to: string; readonly text: string }[];
      const [url] = /http:\S+/.exec(messages.find(({ to }) => to === email)?.text ?? '') ?? [];
      if (url === undefined) throw new Error(`no link to ${email}`);
      return url;
    });
  }

  /** The page of a link, and everything that it asks of the network or complains about. */
  async function visit(url: string): Promise<{ page: Page; requests: string[]; problems: string[] }> {
    const context = await browser.newContext();
    const page = await context.newPage();
    const devtools = await context.newCDPSession(page);
    await devtools.send('WebAuthn.enable');
    await devtools.send('WebAuthn.addVirtualAuthenticator', { options: authenticatorOptions() });
    const [requests, problems]: [string[], string[]] = [[], []];
    page.on('request', (request) => requests.push(new URL(request.url()).pathname + (request.headers().referer ?? '')));
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (message) => {
      // Chromium reports each answer that is not 2xx; the page shows those itself. No page here has an icon.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        problems.push(message.text());
    });
    await page.goto(url);
    return { page, requests, problems };
  }

  test('with a passkey, once', async () => {
    const email = 'ada@example.com';
    const url = await invite(email);
    const { page, requests, problems } = await visit(url);
    await page.getByText(`<b>${email}</b> (${email})`).waitFor();
    expect(page.url()).not.toContain('secret');
    await page.getByRole('button', { name: 'Accept with a passkey' }).click();
    await page.getByRole('heading', { name: 'You have joined' }).waitFor();
    const userId = (await page.locator('#user-id').textContent()) ?? '';
    const { user } = (await root.query('get_user', { userId })).body;
    expect(user).toMatchObject({ userEmail: email, apiKeys: [], authenticators: [{ authenticatorName: 'Passkey' }] });
    expect(requests.filter((path) => path !== '/favicon.ico')).toEqual([
      '/invitation',
      '/public/v1/invitation/open',
      '/public/v1/invitation/accept',
    ]);
    expect(problems).toEqual([]);
    const again = await visit(url);
    await again.page.getByRole('alert').filter({ hasText: 'accepted already' }).waitFor();
  });

  test('with a key that is made on the page', async () => {
    const { page, problems } = await visit(await invite('ben@example.com'));
    await page.getByRole('button', { name: 'Make a key here' }).click();
    const privateKey = page.getByLabel('Private key');
    await privateKey.waitFor();
    const made = {
      publicKey: await page.getByLabel('Public key').inputValue(),
      privateKey: await privateKey.inputValue(),
    };
    const ecdh = createECDH('prime256v1');
    ecdh.setPrivateKey(made.privateKey, 'hex');
    expect(ecdh.getPublicKey('hex', 'compressed')).toBe(made.publicKey);
    await page.getByRole('button', { name: 'Accept with this key' }).click();
    await page.getByRole('heading', { name: 'You have joined' }).waitFor();
    const userId = (await page.locator('#user-id').textContent()) ?? '';
    const client = new TestClient(service.baseUrl, root.organizationId, made, userId);
    expect((await client.query('whoami')).body.userId).toBe(userId);
    expect(problems).toEqual([]);
  });
});
