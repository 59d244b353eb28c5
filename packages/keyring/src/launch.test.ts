import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { requireBuilt } from '../test/fixtures/built.ts';
import { METHODS } from './calls/table.ts';
import { createKeyring } from './index.ts';
import { LaunchedKeyring, launchKeyring } from './launch.ts';
import type { ProcessKeyring } from './process/client.ts';
import { threadsOf } from './process/start.ts';

const LINUX = existsSync('/proc/self/environ');
const THREADS = 2;

let folder: string;

beforeAll(async () => {
  requireBuilt();
  folder = await mkdtemp(join(tmpdir(), 'custos-launch-'));
});

afterAll(() => rm(folder, { recursive: true }));

const ringIn = (name: string): string => `file:${join(folder, name)}`;

function launch(rootKey: string): LaunchedKeyring {
  const launched = new LaunchedKeyring({ rootKey, threads: THREADS });
  onTestFinished(() => launched.close());
  return launched;
}

async function create(rootKey: string, launched?: LaunchedKeyring): Promise<ProcessKeyring> {
  const keyring = await createKeyring({ rootKey, create: true, mode: 'process', threads: THREADS, launched });
  onTestFinished(() => keyring.close());
  return keyring as ProcessKeyring;
}

/** Takes it over as a keyring would. */
function take(launched: LaunchedKeyring, rootKey: string): ChildProcess {
  const child = launched.take({ rootKey, threads: THREADS });
  expect(child?.pid).toBeGreaterThan(0);
  onTestFinished(() => void child?.kill('SIGKILL'));
  return child as ChildProcess;
}

async function ended(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe('a keyring process that was started ahead', { timeout: 60_000 }, () => {
  test('is taken over, once', async () => {
    const rootKey = ringIn('taken.key');
    const launched = launch(rootKey);
    const take = vi.spyOn(launched, 'take');
    const keyring = await create(rootKey, launched);
    const taken: number | undefined = take.mock.results[0]?.value?.pid;
    expect(taken).toBeGreaterThan(0);
    expect(keyring.pid).toBe(taken);
    expect(launched.take({ rootKey, threads: THREADS })).toBeUndefined();
    expect(await keyring.createOrganizationKey('o')).toBeInstanceOf(Uint8Array);
    // What it was started with does not come back with a later process.
    process.kill(keyring.pid as number, 'SIGKILL');
    await ended(taken as number);
    await keyring.ready();
    expect(keyring.pid).not.toBe(taken);
    await keyring.ping();
  });

  test('opens and writes nothing before its order, hears one order and no other', async () => {
    const rootKey = ringIn('ordered.key');
    const child = take(launch(rootKey), rootKey);
    const notices: { readonly type: string }[] = [];
    child.on('message', (notice: { readonly type: string }) => notices.push(notice));
    // It is there, and has read what came before: a process that was not would answer the order all the same.
    child.send({ create: false, methods: METHODS });
    child.send({ create: true, methods: METHODS });
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
    expect(notices).toEqual([{ type: 'failed', refusal: expect.objectContaining({ code: 'ROOT_KEY_MISSING' }) }]);
    expect(await readdir(folder)).not.toContain('ordered.key');
  });

  test('has nothing of the environment, and no right that others do not have', async () => {
    if (!LINUX) return;
    process.env.CUSTOS_CANARY = 'must not be inherited';
    onTestFinished(() => void delete process.env.CUSTOS_CANARY);
    const rootKey = ringIn('rights.key');
    const ahead = await create(rootKey, launch(rootKey));
    const usual = await create(rootKey);
    const [own, other] = await Promise.all(
      [ahead, usual].map(async ({ pid }) => ({
        environment: (await readFile(`/proc/${pid}/environ`, 'latin1')).replace(/NODE_CHANNEL_FD=\d+/, ''),
        command: await readFile(`/proc/${pid}/cmdline`, 'latin1'),
        umask: /^Umask:.*$/m.exec(await readFile(`/proc/${pid}/status`, 'latin1'))?.[0],
        descriptors: (await readdir(`/proc/${pid}/fd`)).length,
      })),
    );
    expect(own?.environment).not.toContain('CUSTOS');
    expect(own).toEqual(other);
  });

  test('is replaced when it is gone, and not used for another root key', async () => {
    const rootKey = ringIn('gone.key');
    const gone = launch(rootKey);
    gone.close();
    const keyring = await create(rootKey, gone);
    await keyring.ping();
    const stranger = launch(ringIn('stranger.key'));
    expect(stranger.take({ rootKey, threads: THREADS })).toBeUndefined();
    expect(stranger.take({ rootKey: ringIn('stranger.key'), threads: THREADS })).toBeUndefined();
    const other = launch(rootKey);
    expect(other.take({ rootKey, threads: THREADS + 1 })).toBeUndefined();
  });

  test('that is killed before it is needed is an end like any other', async () => {
    const rootKey = ringIn('killed.key');
    const launched = launch(rootKey);
    const child = take(launched, rootKey);
    child.kill('SIGKILL');
    const half = { take: () => child, close: () => {} } as unknown as LaunchedKeyring;
    await expect(create(rootKey, half)).rejects.toThrow('the keyring process is gone or still starting');
  });

  test('ends with its service, at whatever moment that ends', async () => {
    const module = fileURLToPath(new URL('../dist/launch.js', import.meta.url));
    for (const delayMs of [0, 20, 60, 200]) {
      const script = `
        const { launchKeyring } = await import(${JSON.stringify(module)});
        const launched = launchKeyring(${JSON.stringify(ringIn('orphan.key'))});
        setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${delayMs});
        setInterval(() => {}, 1000);`;
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      child.stderr.resume();
      // The keyring process holds the same standard error, so that this event means the end of both.
      await once(child, 'close');
    }
    expect(await readdir(folder)).not.toContain('orphan.key');
  });

  test('does not keep its service alive', async () => {
    const module = fileURLToPath(new URL('../dist/launch.js', import.meta.url));
    const script = `(await import(${JSON.stringify(module)})).launchKeyring(${JSON.stringify(ringIn('idle.key'))});`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child.stderr.resume();
    const [code] = await once(child, 'close');
    expect(code).toBe(0);
  });
});

test('a setting that cannot be used starts nothing; who creates the keyring says why', async () => {
  expect(launchKeyring('nowhere')).toBeUndefined();
  await expect(createKeyring({ rootKey: 'nowhere', mode: 'process' })).rejects.toThrow('the root key setting must be');
  expect(() => threadsOf(0)).toThrow('threads are 1 or more');
  expect([threadsOf(3), threadsOf(100)]).toEqual([3, 8]);
});
