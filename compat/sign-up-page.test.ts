// The walk of docs/guides/login.md: the page of examples/sign-up in Chromium, against a service as a user starts it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core';
import { type Hex, verifyMessage } from 'viem';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { TestServer } from '../packages/server/test/harness/server.ts';
import { authenticatorOptions, isBrowserMissing, launchBrowser } from './browser.ts';

const ROOT = new URL('..', import.meta.url);

const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');

test.each(['login', 'passkeys'])('the guide %s shows the code that the page runs', (guide) => {
  const source = read('examples/sign-up/account.js').replaceAll(/\s+/g, ' ');
  const snippets = [...read(`docs/guides/${guide}.md`).matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code as string);
  expect(snippets.length).toBeGreaterThanOrEqual(2);
  for (const snippet of snippets) expect(source).toContain(snippet.trim().replaceAll(/\s+/g, ' '));
});

/** A browser of its own, with nothing in it but one authenticator. */
class Visitor implements AsyncDisposable {
  readonly page: Page;
  readonly #context: BrowserContext;
  readonly #devtools: CDPSession;
  readonly #problems: string[] = [];

  private constructor(context: BrowserContext, page: Page, devtools: CDPSession) {
    this.#context = context;
    this.page = page;
    this.#devtools = devtools;
    page.on('pageerror', (error) => this.#problems.push(String(error)));
    page.on('console', (message) => {
      // Chromium reports each answer that is not 2xx; the page shows those itself.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
        this.#problems.push(message.text());
      }
    });
  }

  static async open(browser: Browser, address: string): Promise<Visitor> {
    const context = await browser.newContext();
    const page = await context.newPage();
    const devtools = await context.newCDPSession(page);
    const visitor = new Visitor(context, page, devtools);
    await devtools.send('WebAuthn.enable');
    await visitor.newDevice();
    await page.goto(address);
    await page.locator('body[data-ready]').waitFor();
    return visitor;
  }

  #authenticatorId: string | undefined;

  /** The old authenticator goes with its passkeys, and an empty one comes. */
  async newDevice(): Promise<void> {
    if (this.#authenticatorId !== undefined) {
      await this.#devtools.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId: this.#authenticatorId });
    }
    const { authenticatorId } = await this.#devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: authenticatorOptions(),
    });
    this.#authenticatorId = authenticatorId;
  }

  async press(name: string): Promise<void> {
    await this.page.getByRole('button', { name, exact: true }).click();
  }

  async start(email: string, way: string): Promise<void> {
    await this.page.getByLabel('E-mail address').fill(email);
    await this.press(way);
  }

  async enterCode(code: string): Promise<void> {
    await this.page.getByLabel('Code', { exact: true }).fill(code);
    await this.press('Continue');
  }

  /** Waits for the account, and answers the address of its wallet. */
  async address(): Promise<Hex> {
    await this.page.getByRole('heading', { name: 'Your account' }).waitFor();
    return (await this.page.locator('#address').textContent()) as Hex;
  }

  async sign(message: string): Promise<Hex> {
    await this.page.getByLabel('Message to sign').fill(message);
    const explained = this.story('The message is signed');
    const before = await explained.count();
    await this.press('Sign');
    await explained.nth(before).waitFor();
    return (await this.page.getByLabel('Signature').textContent()) as Hex;
  }

  /** Entries of the list that explains what happened. */
  story(title: string) {
    return this.page.getByRole('listitem').filter({ hasText: title });
  }

  error(text: string) {
    return this.page.getByRole('alert').filter({ hasText: text });
  }

  passkeys() {
    return this.page.locator('#passkeys li');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#context.close();
    expect(this.#problems).toEqual([]);
  }
}

describe.skipIf(isBrowserMissing)('signing up on a page, in a browser', () => {
  let service: TestServer;
  let serving: ChildProcess;
  let browser: Browser;
  let address: string;

  beforeAll(async () => {
    browser = await launchBrowser();
    // All visitors come from one address, which may not ask for so many codes in a row otherwise.
    service = await TestServer.start({ env: { CUSTOS_OTP_REQUESTS: '100', CUSTOS_PROXY_CODES_PER_MINUTE: '100' } });
    serving = spawn(process.execPath, [fileURLToPath(new URL('examples/sign-up/serve.mjs', ROOT))], {
      env: { PATH: process.env.PATH ?? '', CUSTOS_DATA_DIR: service.dataDir, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (serving.stdout === null) throw new Error('the example has no output');
    const [line] = await Promise.race([
      once(createInterface(serving.stdout), 'line'),
      once(serving, 'exit').then(([code]) => [`the example ended with ${code}`]),
    ]);
    address = /^Open (http:\S+)$/.exec(String(line))?.[1] ?? '';
    expect(address, String(line)).not.toBe('');
  });

  afterAll(async () => {
    await browser?.close();
    serving?.kill('SIGKILL');
    await service?.[Symbol.asyncDispose]();
  });

  const seen = new Set<string>();

  /** The code that has just been sent to an address. */
  async function codeFor(email: string): Promise<string> {
    return await vi.waitFor(async () => {
      const answer = await fetch(`${service.baseUrl}/dev/inbox.json`);
      const messages = (await answer.json()) as { readonly id: string; readonly to: string; readonly text: string }[];
      const message = messages.find(({ id, to }) => to === email && !seen.has(id));
      if (message === undefined) throw new Error(`no new message to ${email}`);
      seen.add(message.id);
      const [code] = /\b[0-9]{6}\b/.exec(message.text) ?? [];
      if (code === undefined) throw new Error(`no code in: ${message.text}`);
      return code;
    });
  }

  async function expectSigned(signer: Hex, message: string, signature: Hex): Promise<void> {
    expect(await verifyMessage({ address: signer, message, signature })).toBe(true);
    expect(await verifyMessage({ address: signer, message: `${message}.`, signature })).toBe(false);
  }

  test('with a passkey: a wallet, a signature, a lost device, and the same wallet again', async () => {
    const email = 'ada@example.com';
    await using visitor = await Visitor.open(browser, address);
    await visitor.start(email, 'Sign up with a passkey');
    const wallet = await visitor.address();
    expect(await visitor.passkeys().count()).toBe(1);
    await expectSigned(wallet, 'first', await visitor.sign('first'));

    await visitor.press('Confirm it');
    await visitor.page.getByRole('heading', { name: 'Enter the code' }).waitFor();
    await visitor.enterCode(await codeFor(email));
    await visitor.story('Your address is confirmed').waitFor();

    await visitor.press('Lose this device');
    await visitor.newDevice();
    await visitor.press('Log in with your passkey');
    await visitor.error('did not use a passkey').waitFor();

    await visitor.start(email, 'Use an e-mail code');
    await visitor.page.getByRole('heading', { name: 'Enter the code' }).waitFor();
    await visitor.enterCode(await codeFor(email));
    expect(await visitor.address()).toBe(wallet);
    expect(await visitor.story('You were here before').count()).toBe(1);

    await visitor.press('Add a passkey on this device');
    await visitor.story('This device has a passkey').waitFor();
    await visitor.press('Remove the passkey First device');
    await visitor.story('The passkey is removed').waitFor();
    expect(await visitor.passkeys().allTextContents()).toEqual([expect.stringMatching(/^Device of /)]);

    // The new passkey alone opens the account, in a page that remembers nothing.
    await visitor.page.reload();
    await visitor.page.locator('body[data-ready]').waitFor();
    await visitor.press('Log in with your passkey');
    expect(await visitor.address()).toBe(wallet);
    await expectSigned(wallet, 'zürich ✓', await visitor.sign('zürich ✓'));
  });

  test('with an e-mail code: a wrong one is announced, the right one leads to a wallet, and a later one back', async () => {
    const email = 'ben@example.com';
    await using visitor = await Visitor.open(browser, address);
    await visitor.start(email, 'Use an e-mail code');
    await visitor.page.getByRole('heading', { name: 'Enter the code' }).waitFor();
    const code = await codeFor(email);
    await visitor.enterCode(code === '000000' ? '000001' : '000000');
    await visitor.error('That code is not right').waitFor();
    await visitor.enterCode(code);
    const wallet = await visitor.address();
    expect(await visitor.story('You have an account').count()).toBe(1);
    expect(await visitor.passkeys().count()).toBe(0);
    await expectSigned(wallet, 'hello', await visitor.sign('hello'));

    await visitor.press('Lose this device');
    await visitor.start(email, 'Use an e-mail code');
    await visitor.page.getByRole('heading', { name: 'Enter the code' }).waitFor();
    await visitor.enterCode(await codeFor(email));
    expect(await visitor.address()).toBe(wallet);
    await visitor.press('Add a passkey on this device');
    await visitor.story('This device has a passkey').waitFor();
    expect(await visitor.passkeys().count()).toBe(1);
  });
});
