import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { requireBuilt } from '../../test/fixtures/built.ts';
import { codeOf, type Deployment, deploy, ORGANIZATION } from '../../test/fixtures/client.ts';
import type { KeyringObserver } from '../observer.ts';
import { ProcessKeyring } from './client.ts';

const BEAT_MS = 100;
const BEATS_TO_KILL = 5;

let folder: string;
let rootKey: string;

/** What was told, in order, and a way to wait for the next of a kind. */
class Told implements KeyringObserver {
  readonly all: string[] = [];
  readonly messages: string[] = [];
  readonly delays: number[] = [];
  #waiting: { readonly what: string; readonly resolve: () => void }[] = [];

  lost(reason: string, message: string, restartInMs: number): void {
    this.messages.push(message);
    this.delays.push(restartInMs);
    this.#tell(reason);
  }

  restored(): void {
    this.#tell('restored');
  }

  serviceKeysRefused(message: string): void {
    this.messages.push(message);
    this.#tell('service keys refused');
  }

  threadRefused(): void {}

  pingLate(): void {
    this.#tell('late');
  }

  next(what: string): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ what, resolve }));
  }

  #tell(what: string): void {
    this.all.push(what);
    const waiting = this.#waiting;
    this.#waiting = waiting.filter((each) => each.what !== what);
    for (const each of waiting) if (each.what === what) each.resolve();
  }
}

async function start(observer: Told, setting = rootKey, beatMs = BEAT_MS): Promise<ProcessKeyring> {
  const keyring = await ProcessKeyring.start({ rootKey: setting, create: true, threads: 2, beatMs, observer });
  onTestFinished(() => keyring.close());
  return keyring;
}

const beats = (count: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, count * BEAT_MS));

/** Stops it and waits until every thread is: until then it may still answer. */
async function stop(keyring: ProcessKeyring): Promise<number> {
  const pid = keyring.pid as number;
  process.kill(pid, 'SIGSTOP');
  if (!existsSync('/proc/self/task')) return pid;
  const isStopped = (thread: string): boolean =>
    readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8').split(') ')[1]?.startsWith('T') === true;
  while (!readdirSync(`/proc/${pid}/task`).every(isStopped)) await new Promise((resolve) => setImmediate(resolve));
  return pid;
}

beforeAll(async () => {
  requireBuilt();
  folder = await mkdtemp(join(tmpdir(), 'custos-silence-'));
  rootKey = `file:${join(folder, 'root.key')}`;
});

afterAll(() => rm(folder, { recursive: true }));

describe('a keyring process that is stopped', { timeout: 60_000 }, () => {
  test('is killed and started again, and what waited for it is refused', async () => {
    const told = new Told();
    const keyring = await start(told);
    const deployment: Deployment = await deploy(keyring);
    expect(await keyring.signIdToken({ sub: 'x' })).toMatch(/^ey/);
    await keyring.ping();
    const pid = await stop(keyring);
    const waiting = [keyring.createOrganizationKey('o'), keyring.ping(), keyring.signIdToken({ sub: 'x' })];
    expect(await Promise.all(waiting.map(codeOf))).toEqual(['UNAVAILABLE', 'UNAVAILABLE', 'UNAVAILABLE']);
    expect(keyring.hasRootKey(keyring.rootKeyId)).toBe(false);
    await keyring.ready();
    expect(keyring.pid).not.toBe(pid);
    expect(() => process.kill(pid, 0)).toThrow();
    await keyring.ping();
    // It has its service keys again.
    expect(await keyring.signIdToken({ sub: 'x' })).toMatch(/^ey/);
    await keyring.seal(deployment.holder('w').organizationKey, bindingOf(), Uint8Array.of(1));
    expect(told.all).toContain('late');
    expect(told.all.filter((what) => what !== 'late')).toEqual(['silent', 'restored']);
    expect(told.messages).toEqual(['the keyring process did not answer 5 times and was killed']);
  });

  test('for a moment only goes on with what it has', async () => {
    const told = new Told();
    const keyring = await start(told);
    const late = told.next('late');
    const pid = await stop(keyring);
    const waiting = keyring.createOrganizationKey('o');
    await late;
    process.kill(pid, 'SIGCONT');
    expect(await waiting).toBeInstanceOf(Uint8Array);
    await beats(BEATS_TO_KILL + 2);
    expect(keyring.pid).toBe(pid);
    expect(told.all).not.toContain('silent');
  });

  test('is started again at once where it had answered, however often it was stopped before', async () => {
    const told = new Told();
    const keyring = await start(told);
    for (const answered of [0, 8]) {
      await beats(answered);
      const restored = told.next('restored');
      await stop(keyring);
      await restored;
    }
    expect(told.delays).toEqual([50, 50]);
  });
});

test('no more is kept for a process than so many bytes, and what is kept gets done', { timeout: 60_000 }, async () => {
  const MIB = 1024 * 1024;
  const keyring = await start(new Told(), rootKey, 60_000);
  const key = await keyring.createOrganizationKey(ORGANIZATION);
  const plaintext = Buffer.alloc(4 * MIB - 1024);
  const seal = (): Promise<Uint8Array> => keyring.seal(key, bindingOf(), plaintext);
  expect(keyring.load).toEqual({ calls: 0, bytes: 0 });
  const pid = await stop(keyring);
  const kept = Array.from({ length: 17 }, seal);
  expect(keyring.load.calls).toBe(17);
  expect(keyring.load.bytes).toBeGreaterThan(64 * MIB);
  expect(keyring.load.bytes).toBeLessThan(68 * MIB);
  expect(await codeOf(seal())).toBe('UNAVAILABLE');
  const pinged = keyring.ping();
  process.kill(pid, 'SIGCONT');
  await pinged;
  for (const sealed of await Promise.all(kept)) expect(sealed.length).toBeGreaterThan(plaintext.length);
  expect(keyring.load).toEqual({ calls: 0, bytes: 0 });
  await seal();
});

test('a service that was stopped itself does not take its keyring for silent', async () => {
  const told = new Told();
  const keyring = await start(told);
  const { pid } = keyring;
  for (let round = 0; round < 2; round += 1) {
    // This thread does nothing for as long as would be enough to kill the other.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * BEATS_TO_KILL * BEAT_MS);
    await keyring.createOrganizationKey('o');
  }
  expect(keyring.pid).toBe(pid);
  expect(told.all).not.toContain('silent');
});

test('a thread with much to do is not silent, and answers a ping ahead of it', { timeout: 60_000 }, async () => {
  const told = new Told();
  const keyring = await start(told, rootKey, 1000);
  const { pid } = keyring;
  const wallet = {
    organizationKey: await keyring.createOrganizationKey(ORGANIZATION),
    ownerId: 'w',
    organizationId: ORGANIZATION,
  };
  const { sealedSeed } = await keyring.createWallet(wallet, 12, []);
  const accounts = Array.from({ length: 500 }, (_, index) => ({
    curve: 'CURVE_SECP256K1' as const,
    path: `m/86'/0'/${index}'/0/0`,
    addressFormat: 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR' as const,
  }));
  let done = 0;
  const lists = [1, 2].map(() =>
    keyring.deriveAccounts(wallet, sealedSeed, accounts).then((list) => {
      done += 1;
      return list.length;
    }),
  );
  await keyring.ping();
  expect(done).toBe(0);
  expect(await Promise.all(lists)).toEqual([500, 500]);
  expect(keyring.pid).toBe(pid);
  expect(told.all).not.toContain('silent');
});

test('why it cannot be started again is told, and how long until the next attempt', { timeout: 60_000 }, async () => {
  const told = new Told();
  const path = join(folder, 'away.key');
  const keyring = await start(told, `file:${path}`);
  await rename(path, `${path}.aside`);
  const failed = told.next('start-failed');
  process.kill(keyring.pid as number, 'SIGKILL');
  await failed;
  expect(told.messages.slice(0, 2)).toEqual(['the keyring process ended (SIGKILL)', `${path} cannot be read (ENOENT)`]);
  expect(told.delays.slice(0, 2)).toEqual([50, 100]);
  await rename(`${path}.aside`, path);
  await keyring.ready();
  await keyring.ping();
});

test('service keys that a new process refused are given to it again, and it is not ready meanwhile', {
  timeout: 60_000,
}, async () => {
  const told = new Told();
  const path = join(folder, 'service.key');
  const keyring = await start(told, `file:${path}`);
  await deploy(keyring);
  await keyring.ping();
  // A ring without the key that they are under.
  const stranger = await start(new Told(), `file:${path}.stranger`);
  await stranger.close();
  await rename(path, `${path}.aside`);
  await rename(`${path}.stranger`, path);
  const refused = told.next('service keys refused');
  process.kill(keyring.pid as number, 'SIGKILL');
  await refused;
  const again = told.next('service keys refused');
  await keyring.ready();
  const { pid } = keyring;
  await expect(keyring.ping()).rejects.toThrow('the keyring process has not taken the service keys');
  expect(await codeOf(keyring.ping())).toBe('UNAVAILABLE');
  await again;
  await rename(`${path}.aside`, path);
  await vi.waitFor(() => keyring.ping(), { timeout: 20_000, interval: 50 });
  expect(await keyring.signIdToken({ sub: 'x' })).toMatch(/^ey/);
  expect(keyring.pid).toBe(pid);
  expect(told.all.filter((what) => what !== 'late').slice(0, 2)).toEqual(['ended', 'service keys refused']);
  const [first, ...later] = told.messages.slice(1);
  expect(later).toContain(first);
});

test('a ring that was written although its answer was lost is the one that the next process has', async () => {
  const path = join(folder, 'lost.key');
  const told = new Told();
  const keyring = await start(told, `file:${path}`);
  const first = keyring.rootKeyId;
  const adding = codeOf(keyring.addRootKey());
  // Before it has read the call, or anywhere in the middle of it.
  process.kill(keyring.pid as number, 'SIGSTOP');
  expect(await adding).toBe('UNAVAILABLE');
  await keyring.ready();
  const { active, ids } = await keyring.refreshRing();
  expect(ids).toContain(first);
  expect(keyring.rootKeyId).toBe(active);
  // Once more, as its caller may.
  await rm(`${path}.lock`, { force: true });
  const added = await keyring.addRootKey();
  expect(keyring.rootKeyId).toBe(added);
  expect((await keyring.refreshRing()).ids).toEqual([...ids, added]);
});

const bindingOf = () => ({ organizationId: ORGANIZATION, ownerId: 'w', kind: 'vote-message' });
