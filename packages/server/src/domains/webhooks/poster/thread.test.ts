import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { serve } from '../../../../test/harness/loopback.ts';
import { type Poster, threadPoster } from './poster.ts';
import type { Posting } from './posting.ts';

const PACKAGE = fileURLToPath(new URL('../../../..', import.meta.url));

/** The thread runs built files, so that a test of it with old ones would test something else. */
beforeAll(() => {
  for (const folder of ['domains/webhooks/poster', 'outbound']) {
    for (const file of readdirSync(join(PACKAGE, 'src', folder))) {
      if (file.endsWith('.test.ts')) continue;
      const built = statSync(join(PACKAGE, 'dist', folder, file.replace(/\.ts$/, '.js')), { throwIfNoEntry: false });
      if (built !== undefined && built.mtimeMs >= statSync(join(PACKAGE, 'src', folder, file)).mtimeMs) continue;
      throw new Error(`${folder}/${file} is newer than its built form: run \`npm run build\` first`);
    }
  }
});

interface Threads {
  readonly poster: Poster;
  readonly workers: Worker[];
  readonly deaths: unknown[];
  /** How many postings were in each message. */
  readonly batches: number[];
}

function threads(): Threads {
  const made = { workers: [] as Worker[], deaths: [] as unknown[], batches: [] as number[] };
  const poster = threadPoster({
    allow: ['127.0.0.1/32'],
    // On a busy machine the thread is the last to get any time.
    timeoutMs: 60_000,
    started(worker) {
      made.workers.push(worker);
      const post = worker.postMessage.bind(worker);
      worker.postMessage = (batch: readonly unknown[]) => {
        made.batches.push(batch.length);
        post(batch);
      };
    },
    died: (cause) => made.deaths.push(cause),
  });
  onTestFinished(() => poster.close());
  return { ...made, poster };
}

const at = (port: number, path = '/hook', body = '{}'): Posting => ({
  url: `http://127.0.0.1:${port}${path}`,
  headers: ['X-Service-Event-Id', path],
  body,
});

/** A receiver that lets everything wait until it is released. */
async function holding(): Promise<{ port: number; arrived: () => Promise<void> }> {
  let tell = (): void => {};
  const first = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const handler: RequestListener = (request, response) => {
    if (request.url === '/well') request.resume().on('end', () => response.end());
    else tell();
  };
  return { port: await serve(handler), arrived: () => first };
}

test('a delivery by the thread, which nobody starts before', async () => {
  const port = await serve((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const seen = [request.method, request.headers['x-service-event-id'], Buffer.concat(chunks).toString()];
      response.writeHead(503, { 'retry-after': Buffer.from(seen.join(' ')).toString('base64') }).end();
    });
  });
  const { poster, workers, deaths } = threads();
  expect(workers).toEqual([]);

  const receipt = await poster.deliver(at(port, '/hook', '{"name":"Zoë"}'));

  expect(receipt).toEqual({ latencyMs: expect.any(Number), status: 503, retryAfter: expect.any(String) });
  expect(Buffer.from(receipt.retryAfter!, 'base64').toString()).toBe('POST /hook {"name":"Zoë"}');
  expect(await poster.deliver({ ...at(port), url: `http://10.0.0.1:${port}/` })).toMatchObject({
    error: 'forbidden-address',
  });
  expect(workers).toHaveLength(1);
  await poster.close();
  expect(deaths).toEqual([]);
});

test('a close without any delivery starts nothing', async () => {
  const { poster, workers } = threads();
  await poster.close();
  expect(await poster.deliver(at(1))).toEqual({ latencyMs: 0, error: 'network' });
  expect(workers).toEqual([]);
});

test('many are under way at once, in few messages and over few connections, and each gets its own receipt', async () => {
  const COUNT = 50;
  const sockets = new Set<unknown>();
  const waiting: (() => void)[] = [];
  const port = await serve((request, response) => {
    sockets.add(request.socket);
    request.resume();
    waiting.push(() => response.writeHead(429, { 'retry-after': request.url!.slice(1) }).end());
    // Nobody is answered before all are there.
    if (waiting.length === COUNT) for (const answer of waiting.splice(0)) answer();
  });
  const { poster, batches, workers } = threads();
  const paths = Array.from({ length: COUNT }, (_, index) => String(index));
  const receipts = await Promise.all(paths.map((path) => poster.deliver(at(port, `/${path}`))));
  expect(receipts.map(({ retryAfter }) => retryAfter)).toEqual(paths);
  expect(batches).toEqual([COUNT]);
  expect(workers).toHaveLength(1);
  expect(sockets.size).toBe(COUNT);

  const again = await serve((request, response) => {
    sockets.add(request.socket);
    request.resume().on('end', () => response.end());
  });
  sockets.clear();
  const queue = async (): Promise<void> => {
    for (let sent = 0; sent < 20; sent += 1) expect(await poster.deliver(at(again))).toMatchObject({ status: 200 });
  };
  await Promise.all(Array.from({ length: 8 }, queue));
  // One for each queue, and perhaps some more for those that waited for longer than connections are kept.
  expect(sockets.size).toBeLessThan(40);
});

test('the death of the thread ends what is under way, and the next delivery starts another', async () => {
  const { port, arrived } = await holding();
  const { poster, workers, deaths } = threads();
  expect(await poster.deliver(at(port, '/well'))).toMatchObject({ status: 200 });
  const pending = [poster.deliver(at(port)), poster.deliver(at(port))];
  await arrived();

  await workers[0]!.terminate();

  for (const receipt of await Promise.all(pending))
    expect(receipt).toEqual({ latencyMs: expect.any(Number), error: 'network' });
  expect(deaths).toHaveLength(1);
  expect(await poster.deliver(at(port, '/well'))).toMatchObject({ status: 200 });
  expect(workers).toHaveLength(2);
});

test('an error in the thread does the same', async () => {
  const { port, arrived } = await holding();
  const { poster, workers, deaths } = threads();
  expect(await poster.deliver(at(port, '/well'))).toMatchObject({ status: 200 });
  const pending = poster.deliver(at(port));
  await arrived();

  workers[0]!.postMessage([0]);

  expect(await pending).toMatchObject({ error: 'network' });
  expect(deaths).toEqual([expect.any(Error)]);
  expect(await poster.deliver(at(port, '/well'))).toMatchObject({ status: 200 });
});

test('a close ends what is under way and the thread', async () => {
  const { port, arrived } = await holding();
  const { poster, workers, deaths } = threads();
  expect(await poster.deliver(at(port, '/well'))).toMatchObject({ status: 200 });
  const pending = poster.deliver(at(port));
  await arrived();
  const ended = once(workers[0]!, 'exit');

  await poster.close();

  await ended;
  expect(await pending).toEqual({ latencyMs: expect.any(Number), error: 'network' });
  expect(await poster.deliver(at(port, '/well'))).toEqual({ latencyMs: 0, error: 'network' });
  expect(workers).toHaveLength(1);
  expect(deaths).toEqual([]);
});

test('the thread gives way to others, and nothing else of the process does', async () => {
  const own = getPriority();
  const { port } = await holding();
  const { poster } = threads();
  expect(await poster.deliver(at(port, '/well'))).toMatchObject({ status: 200 });
  expect(getPriority()).toBe(own);
  // Other systems have one priority for the process, which stays as it is.
  if (!existsSync('/proc/self/task')) return;
  const priorities = readdirSync('/proc/self/task').map((thread) => {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
  });
  expect(priorities.filter((priority) => priority !== own)).toEqual(own < 5 ? [5] : []);
});
