// What somebody who opens the console waits for, in a real browser on this machine.
import { Device, launchBrowser } from '../../packages/console/test/harness/browser.ts';
import { loadedBytes } from '../../packages/console/test/harness/first-load.ts';
import { signInWithKey } from '../../packages/console/test/harness/sign-in.ts';
import { createUser, type TestClient } from '../../packages/server/test/harness/client.ts';
import { findChromium } from '../../scripts/lib/chromium.mjs';
import { waitForQuiet } from '../child.ts';
import { median } from '../figures.ts';
import type { Options } from '../options.ts';
import { Service } from '../service.ts';
import { fillActivities } from './fill.ts';

type Page = Device['page'];
type Browser = Awaited<ReturnType<typeof launchBrowser>>;

export const CONSOLE_NAMES = ['first load', 'inbox', 'scroll'] as const;
export type ConsoleName = (typeof CONSOLE_NAMES)[number];
export const consoleTitle = (name: ConsoleName): string => `console ${name}`;

export interface ConsoleFigures {
  /** Everything that a browser without anything loads from the sign-in to the inbox, gzipped. */
  readonly firstLoadBytes?: number;
  /** From the navigation to the first request with its sentence, with what the browser kept from before. */
  readonly inboxMs?: number;
  readonly scroll?: ScrollFigure;
}

export interface ScrollFigure {
  readonly rows: number;
  readonly seconds: number;
  /** The longest time that the page did not react, and how often it was over the bound of the goal. */
  readonly longestTaskMs: number;
  readonly longTasks: number;
  /** The most processor time of one task over the last rows and the leaps: what others on the machine do not change. */
  readonly longestTaskCpuMs: number;
  readonly heapMb: number;
}

const REQUESTS = 20;
const OPENINGS = 7;
export const LONG_TASK_MS = 100;
const SCROLL_STEP_PX = 4_000;
const SCROLL_SECONDS_MAX = 600;
/** The last rows, when the list is longest, are traced. */
const TRACED_ROWS = 2_000;

export async function measureConsole(
  names: readonly ConsoleName[],
  { patienceSeconds, activities }: Options,
): Promise<ConsoleFigures> {
  const chromium = await findChromium();
  if (chromium === null) throw new Error('the console needs Chromium: set CHROME_PATH or install the chromium package');
  await using service = new Service();
  await service.start();
  const reader = await makeWork(service.root);
  if (names.includes('scroll')) {
    await service.stop();
    await fillActivities(service, reader.organizationId, activities);
    await service.start();
  }
  const browser = await launchBrowser(chromium);
  try {
    await waitForQuiet(patienceSeconds);
    const { baseUrl } = service.root;
    const person = { key: reader.key, organizationId: reader.organizationId };
    await using device = await Device.open(browser, baseUrl);
    // What compiles the bench wraps functions in this, and the page has no such thing.
    await device.page.addInitScript('globalThis.__name = (value) => value');
    const firstLoadBytes = await measureFirstLoad(device, person);
    const inboxMs = names.includes('inbox') ? await measureInbox(device) : undefined;
    const scroll = names.includes('scroll') ? await measureScroll(browser, device, activities) : undefined;
    if (device.problems.length > 0) throw new Error(`the console had problems: ${device.problems.join('; ')}`);
    return {
      ...(names.includes('first load') && { firstLoadBytes }),
      ...(inboxMs !== undefined && { inboxMs }),
      ...(scroll !== undefined && { scroll }),
    };
  } finally {
    await browser.close();
  }
}

/** Two root users of whom both must agree, some work that is done, and some that waits for the second. */
async function makeWork(root: TestClient): Promise<TestClient> {
  const grace = await createUser(root, 'Grace Lindqvist');
  const account = { curve: 'CURVE_SECP256K1', pathFormat: 'PATH_FORMAT_BIP32', path: "m/44'/60'/0'/0/0" };
  const { addresses } = await root.run('create_wallet', {
    walletName: 'Treasury',
    accounts: [{ ...account, addressFormat: 'ADDRESS_FORMAT_ETHEREUM' }],
  });
  await root.run('sign_raw_payload', {
    signWith: addresses[0],
    payload: 'hello',
    encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
    hashFunction: 'HASH_FUNCTION_KECCAK256',
  });
  await root.run('create_user_tag', { userTagName: 'Ops', userIds: [grace.userId] });
  await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, grace.userId] });
  for (let index = 1; index <= REQUESTS; index += 1) {
    await root.submit('update_user_name', { userId: root.userId, userName: `Ada ${index}` });
  }
  return grace;
}

/** The first request of the inbox, which says what it is about. */
const FIRST_ROW = 'main li[aria-label^="Rename"]';

const measureFirstLoad = (device: Device, person: Pick<TestClient, 'key' | 'organizationId'>): Promise<number> =>
  loadedBytes(device, async () => {
    await signInWithKey(device, person);
    await device.page.locator(FIRST_ROW).first().waitFor();
  });

async function measureInbox({ page, origin }: Device): Promise<number> {
  // Noted by the page itself: what asks from outside sees it later.
  await page.addInitScript((selector) => {
    const observer = new MutationObserver(() => {
      if (document.querySelector(selector) === null) return;
      observer.disconnect();
      performance.mark('usable');
    });
    observer.observe(document, { childList: true, subtree: true, attributes: true });
  }, FIRST_ROW);
  const times: number[] = [];
  for (let opening = 0; opening < OPENINGS; opening += 1) {
    await page.goto('about:blank');
    await page.goto(`${origin}/console/inbox`);
    await page.locator(FIRST_ROW).first().waitFor();
    times.push(await page.evaluate(() => performance.getEntriesByName('usable')[0]?.startTime ?? Number.NaN));
  }
  return median(times);
}

/** Scrolls from the newest activity to the oldest as fast as the page loads them, and back in a few leaps. */
async function measureScroll(
  browser: Browser,
  { page, origin, devtools }: Device,
  activities: number,
): Promise<ScrollFigure> {
  await page.addInitScript(() => {
    const tasks: number[] = [];
    Object.assign(globalThis, { longTasks: tasks });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) tasks.push(duration);
    }).observe({ type: 'longtask', buffered: true });
  });
  await page.goto(`${origin}/console/activities`);
  await page.getByRole('table', { name: 'Activities' }).getByRole('row').nth(5).waitFor();
  const startedAt = performance.now();
  // The tasks of the start are those of any page; these are about the list.
  await page.evaluate(() => (globalThis as unknown as { longTasks: number[] }).longTasks.splice(0));
  await scrollTo(page, activities - TRACED_ROWS);
  await browser.startTracing(page, { categories: ['toplevel'] });
  const rows = await scrollTo(page, activities);
  await leap(page);
  const longestTaskCpuMs = longestTaskIn(await browser.stopTracing());
  const seconds = (performance.now() - startedAt) / 1000;
  const tasks = await page.evaluate(() => (globalThis as unknown as { longTasks: number[] }).longTasks);
  await devtools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devtools.send('Runtime.getHeapUsage');
  return {
    rows,
    seconds,
    longestTaskMs: Math.max(0, ...tasks),
    longTasks: tasks.filter((task) => task > LONG_TASK_MS).length,
    longestTaskCpuMs,
    heapMb: usedSize / 1024 / 1024,
  };
}

/** Resolves with how many rows there are in the end. */
const scrollTo = (page: Page, wanted: number): Promise<number> =>
  page.evaluate(
    async ({ wanted: count, step, secondsMax }) => {
      const table = document.querySelector('[role=table]') as HTMLElement;
      const rows = (): number =>
        1 +
        Math.max(
          ...[...table.querySelectorAll<HTMLElement>('[data-index]')].map(({ dataset }) => Number(dataset.index)),
        );
      const until = performance.now() + secondsMax * 1000;
      while (rows() < count && performance.now() < until) {
        table.scrollTop += step;
        await new Promise(requestAnimationFrame);
      }
      return rows();
    },
    { wanted, step: SCROLL_STEP_PX, secondsMax: SCROLL_SECONDS_MAX },
  );

const leap = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    const table = document.querySelector('[role=table]') as HTMLElement;
    for (const part of [0.75, 0.5, 0.25, 0.9, 0.1, 0]) {
      table.scrollTop = table.scrollHeight * part;
      for (let frames = 0; frames < 20; frames += 1) await new Promise(requestAnimationFrame);
    }
  });

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds that the thread ran. */
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

/** Milliseconds of processor time that the longest task of a page's main thread took. */
function longestTaskIn(trace: Buffer): number {
  const { traceEvents: events } = JSON.parse(trace.toString()) as { traceEvents: readonly TraceEvent[] };
  const threadOf = ({ pid, tid }: TraceEvent): string => `${pid} ${tid}`;
  const pages = new Set(
    events.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain').map(threadOf),
  );
  const tasks = events.filter((event) => event.name.endsWith('RunTask') && pages.has(threadOf(event)));
  return Math.max(0, ...tasks.map(({ tdur = 0 }) => tdur)) / 1000;
}
