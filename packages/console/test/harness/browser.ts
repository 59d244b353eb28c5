// A browser for the console's tests. Every page is watched: an error, a violated content policy or a request to another
// origin fails the test that opened it.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type BrowserContext, type CDPSession, chromium, type Page } from 'playwright-core';

const CHROME = process.env.CHROME_PATH;
/** A machine with other work to do is slow; what takes longer than this does not come. */
const PATIENCE_MS = 20_000;
const FLAGS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync'];

/** Where there is no browser, tests are skipped by name; with CI=true they run, and the launch fails. */
export const isBrowserMissing = !CHROME && process.env.CI !== 'true';

export async function launchBrowser(executablePath = CHROME): Promise<Browser> {
  if (!executablePath) throw new Error('CI=true needs Chromium: set CHROME_PATH');
  return await chromium.launch({ executablePath, headless: true, args: FLAGS });
}

export interface DeviceOptions {
  readonly colorScheme?: 'light' | 'dark';
  readonly width?: number;
  readonly height?: number;
  readonly locale?: string;
  /** By the address of the machine and not by its name. */
  readonly byAddress?: boolean;
  /** What a proxy in between would add. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** One person's browser: storage of its own, a virtual passkey, and a page that is watched. */
export class Device implements AsyncDisposable {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly devtools: CDPSession;
  /** The service's origin, by the name that passkeys need unless told otherwise. */
  readonly origin: string;
  readonly #problems: string[] = [];

  private constructor(context: BrowserContext, page: Page, devtools: CDPSession, origin: string) {
    this.context = context;
    this.page = page;
    this.devtools = devtools;
    this.origin = origin;
  }

  static async open(browser: Browser, baseUrl: string, options: DeviceOptions = {}): Promise<Device> {
    const origin = options.byAddress === true ? baseUrl : baseUrl.replace('127.0.0.1', 'localhost');
    const context = await browser.newContext({
      colorScheme: options.colorScheme ?? 'light',
      viewport: { width: options.width ?? 1440, height: options.height ?? 900 },
      locale: options.locale ?? 'en-GB',
      timezoneId: 'Europe/Berlin',
      reducedMotion: 'reduce',
      ...(options.headers && { extraHTTPHeaders: { ...options.headers } }),
    });
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    const devtools = await context.newCDPSession(page);
    await devtools.send('WebAuthn.enable');
    await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    const device = new Device(context, page, devtools, origin);
    await device.#watch(page);
    return device;
  }

  /** A further tab of the same person, as watched as the first. */
  async openTab(): Promise<Page> {
    const page = await this.context.newPage();
    await this.#watch(page);
    return page;
  }

  async #watch(page: Page): Promise<void> {
    const { origin } = this;
    const note = (problem: string): void => {
      this.#problems.push(`${new URL(page.url()).pathname}: ${problem}`);
    };
    await page.addInitScript(() => {
      addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sourceFile, lineNumber }) => {
        console.error(`content policy: ${violatedDirective} ${blockedURI} ${sourceFile}:${lineNumber}`);
      });
    });
    page.on('pageerror', (error) => note(String(error)));
    page.on('console', (message) => {
      // Chromium reports each answer that is not 2xx; what the console shows of those is what tests look at.
      const isAnswer = message.text().startsWith('Failed to load resource');
      if (['error', 'warning'].includes(message.type()) && !isAnswer) note(message.text());
    });
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(`${origin}/`) && !/^(?:data|blob):/.test(url)) note(`asked for ${url}`);
    });
  }

  /** Errors of pages, violations of the content policy and requests elsewhere, since the device was opened. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  async visit(path: string): Promise<void> {
    await this.page.goto(`${this.origin}${path}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // What a test answers itself may be under way when the page goes.
    await this.page.unrouteAll({ behavior: 'ignoreErrors' });
    await this.context.close();
  }
}

/** Where pictures of the pages go: CONSOLE_SHOTS, or nowhere. */
const SHOTS = process.env.CONSOLE_SHOTS;

/** A picture of what a person sees, for looking at; taken in every run so that it cannot stop working. */
export async function takeShot(page: Page, name: string): Promise<void> {
  if (SHOTS) mkdirSync(SHOTS, { recursive: true });
  await page.screenshot(SHOTS ? { path: join(SHOTS, `${name}.png`) } : {});
}
