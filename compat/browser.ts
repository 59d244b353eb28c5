// A browser for the tests: pages that carry public packages, and virtual authenticators that make their passkeys.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

const HERE = fileURLToPath(new URL('.', import.meta.url));
/** It comes with the tools of the root package. */
const ESBUILD = join(HERE, '..', 'node_modules', '.bin', 'esbuild');
const CHROMIUM_FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const CHROME = process.env.CHROME_PATH;

/** Where there is no browser, tests are skipped by name; with CI=true they run, and launchBrowser fails. */
export const isBrowserMissing = !CHROME && process.env.CI !== 'true';

export async function launchBrowser(): Promise<Browser> {
  if (!CHROME) throw new Error('CI=true needs Chromium: set CHROME_PATH');
  return await chromium.launch({ executablePath: CHROME, headless: true, args: CHROMIUM_FLAGS });
}

/** A script whose exports are the page's `client`: of a file beside this one, or of a source given as text. */
export function bundlePage(page: { readonly file: string } | { readonly source: string }): string {
  const args = [
    '--bundle',
    '--minify',
    '--format=iife',
    '--global-name=client',
    '--platform=browser',
    '--log-level=warning',
    ...('file' in page ? [page.file] : []),
  ];
  const options = { cwd: HERE, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 } as const;
  return execFileSync(ESBUILD, args, 'source' in page ? { ...options, input: page.source } : options);
}

/** Serves a page on a port of its own. On localhost browsers allow passkeys without TLS. */
export async function servePage(script: string): Promise<{ server: Server; port: number }> {
  const server = createServer((request, response) => {
    const isScript = request.url === '/client.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? script : '<!doctype html><title>Test</title><script src="/client.js"></script>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

export function closePage(server: Server): void {
  server.closeAllConnections();
  server.close();
}

export type AuthenticatorKind = 'platform' | 'security-key' | 'u2f';
export type Format = 'none' | 'packed' | 'fido-u2f';

/** Which authenticator makes which statement. */
export const KIND_OF: Readonly<Record<Format, AuthenticatorKind>> = {
  none: 'platform',
  packed: 'security-key',
  'fido-u2f': 'u2f',
};
export const FORMATS = Object.keys(KIND_OF) as Format[];

/** The authenticator that Chromium pretends to have. */
export function authenticatorOptions(kind: AuthenticatorKind = 'platform') {
  const hasFeatures = kind !== 'u2f';
  return {
    protocol: kind === 'u2f' ? 'u2f' : 'ctap2',
    transport: kind === 'platform' ? 'internal' : 'usb',
    hasResidentKey: hasFeatures,
    hasUserVerification: hasFeatures,
    isUserVerified: hasFeatures,
    automaticPresenceSimulation: true,
  } as const;
}

/** A page with storage and one virtual authenticator of its own; the authenticator keeps its keys wherever it goes. */
export class Device implements AsyncDisposable {
  readonly page: Page;
  readonly kind: AuthenticatorKind;
  readonly #context: BrowserContext;
  #origin: string;

  private constructor(context: BrowserContext, page: Page, kind: AuthenticatorKind, origin: string) {
    this.#context = context;
    this.page = page;
    this.kind = kind;
    this.#origin = origin;
  }

  static async open(browser: Browser, origin: string, kind: AuthenticatorKind = 'platform'): Promise<Device> {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(origin);
    const session = await context.newCDPSession(page);
    await session.send('WebAuthn.enable');
    await session.send('WebAuthn.addVirtualAuthenticator', { options: authenticatorOptions(kind) });
    return new Device(context, page, kind, origin);
  }

  get origin(): string {
    return this.#origin;
  }

  get rpId(): string {
    return new URL(this.#origin).hostname;
  }

  async visit(origin: string): Promise<void> {
    await this.page.goto(origin);
    this.#origin = origin;
  }

  /** Calls a function that the page's script exports. */
  async run(name: string, input: unknown = {}): Promise<unknown> {
    return await this.page.evaluate(
      ([called, value]) =>
        (globalThis as unknown as { client: Record<string, (input: unknown) => Promise<unknown>> }).client[
          called as string
        ]?.(value),
      [name, input] as const,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#context.close();
  }
}
