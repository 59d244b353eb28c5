import type { Page, Request } from 'playwright-core';

/** So long nothing is asked for, and nothing that is shown still waits. */
const QUIET_MS = 150;
const LIMIT_MS = 20_000;

/** Knows when a page has everything it asked for. The feed stays open for ever and does not count. */
export class Loading {
  readonly #page: Page;
  readonly #open = new Set<Request>();
  #lastMs = Date.now();

  constructor(page: Page) {
    this.#page = page;
    const end = (request: Request): void => {
      if (this.#open.delete(request)) this.#lastMs = Date.now();
    };
    page.on('request', (request) => {
      if (request.url().endsWith('/public/v1/feed')) return;
      this.#open.add(request);
      this.#lastMs = Date.now();
    });
    page.on('requestfinished', end);
    page.on('requestfailed', end);
    // What a page that was left asked for is never answered to anybody.
    page.on('framenavigated', (frame) => {
      if (frame === page.mainFrame()) this.#open.clear();
    });
  }

  async done(): Promise<void> {
    const untilMs = Date.now() + LIMIT_MS;
    while (Date.now() < untilMs) {
      const isQuiet = this.#open.size === 0 && Date.now() - this.#lastMs >= QUIET_MS;
      if (isQuiet && (await this.#page.locator('h1').count()) > 0 && !(await this.#shows())) return;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    const waiting = [...this.#open].map((request) => request.url());
    throw new Error(`${this.#page.url()} is still loading: ${waiting.join(', ') || 'a skeleton shows'}`);
  }

  async #shows(): Promise<boolean> {
    return (await this.#page.locator('[data-loading]').count()) > 0;
  }
}
