import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKeyring, type Keyring } from '@custos/keyring';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readConfig } from '../../config/config.ts';
import { OrganizationStore } from '../../core/store/organizations.ts';
import { dataModel } from '../../domains.ts';
import { randomId } from '../../lib/ids.ts';
import { openSqlite } from '../../storage/sqlite.ts';
import type { Storage } from '../../storage/storage.ts';
import { createMessages } from './messages.ts';
import { Outbox } from './outbox.ts';
import type { HandOver, Sender } from './senders/sender.ts';
import type { Channel } from './store.ts';
import { MessageReader, MessageStore } from './store.ts';

// What depends on timers: they are the test's, the database and the keyring are real.

const NOW = 1_700_000_000_000;
const config = readConfig({ CUSTOS_DEV_INBOX: 'on' });
const folders: string[] = [];
let storage: Storage;
let keyring: Keyring;
let outbox: Outbox | undefined;
const organization = { id: randomId<'organization'>(), wrappedKey: new Uint8Array() as Uint8Array };

beforeEach(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'custos-outbox-'));
  folders.push(folder);
  storage = await openSqlite({
    dataModel,
    file: join(folder, 'custos.db'),
    lockFile: join(folder, 'lock'),
    nowMs: NOW,
  });
  storage.fence.load([], new Set());
  keyring = await createKeyring({ rootKey: `file:${join(folder, 'root.key')}`, create: true });
  organization.wrappedKey = await keyring.createOrganizationKey(organization.id);
  const common = { parentId: undefined, name: 'x', rootThreshold: 1, rootUserIds: [], authorityVersion: 1 };
  const times = { rulesVersion: 1, createdAtMs: NOW, updatedAtMs: NOW, deletedAtMs: undefined };
  await storage.write((store) => store(OrganizationStore).insert({ ...organization, ...common, ...times }));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(async () => {
  vi.useRealTimers();
  await outbox?.stop();
  await storage.close();
  await keyring.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Answers when the test lets it, or at once with a deferral when it is told to break off. */
class HeldSender implements Sender {
  readonly slots = 2;
  readonly begun: string[] = [];
  readonly #events = new EventTarget();
  closed = false;
  #answers: ((answer: HandOver) => void)[] = [];

  async send({ id }: { id: string }, signal: AbortSignal): Promise<HandOver> {
    const answer = new Promise<HandOver>((resolve) => {
      this.#answers.push(resolve);
      signal.addEventListener('abort', () => resolve({ kind: 'deferred', diagnostic: 'ABORTED' }));
    });
    this.begun.push(id);
    this.#events.dispatchEvent(new Event('begun'));
    return await answer;
  }

  async beginning(count: number): Promise<void> {
    while (this.begun.length < count) await once(this.#events, 'begun');
  }

  accept(): void {
    for (const answer of this.#answers.splice(0)) answer({ kind: 'sent', response: '250' });
  }

  close(): void {
    this.closed = true;
  }
}

function start() {
  const senders = { email: new HeldSender(), sms: new HeldSender() };
  const outcomes: string[] = [];
  const told = new EventTarget();
  outbox = new Outbox(
    {
      config,
      storage,
      keyring,
      clock: () => NOW,
      elapsed: () => NOW,
      newId: randomId,
      observe: {
        message: ({ outcome }) => {
          outcomes.push(outcome);
          told.dispatchEvent(new Event('told'));
        },
        unavailable: (_operation, cause) => {
          throw cause;
        },
      },
    },
    senders,
  );
  outbox.start();
  const outcome = async (count: number): Promise<string[]> => {
    while (outcomes.length < count) await once(told, 'told');
    return outcomes;
  };
  return { outbox, senders, outcome };
}

async function post(...channels: readonly Channel[]): Promise<void> {
  const { compose } = createMessages({ config, keyring, newId: randomId });
  for (const channel of channels) {
    const mail = { channel: 'email', to: 'a@example.com', subject: 's', text: 't', html: 'h' } as const;
    const message = channel === 'email' ? mail : ({ channel, to: '+15005550006', text: 't' } as const);
    const sealed = await compose(organization, message);
    await storage.write((store) => store(MessageStore).insert(sealed, NOW));
  }
}

const isWaiting = (): Promise<boolean> => storage.read(MessageReader).isDue('email', NOW + 24 * 3_600_000);

test('a message is found without being told of it, within about a second', async () => {
  const { senders, outcome } = start();
  await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1));
  await post('email');
  expect(senders.email.begun).toEqual([]);
  vi.advanceTimersByTime(1000);
  await senders.email.beginning(1);
  senders.email.accept();
  expect(await outcome(1)).toEqual(['sent']);
});

test('a channel takes what it can, and does not hold the other one up', async () => {
  const { outbox: running, senders, outcome } = start();
  await post('email', 'email', 'email', 'sms');
  running.wake();
  await senders.email.beginning(2);
  await senders.sms.beginning(1);
  senders.sms.accept();
  expect(await outcome(1)).toEqual(['sent']);
  expect(senders.email.begun).toHaveLength(2);
  senders.email.accept();
  // The third follows by itself.
  await senders.email.beginning(3);
  senders.email.accept();
  expect(await outcome(4)).toEqual(['sent', 'sent', 'sent', 'sent']);
  expect(new Set(senders.email.begun).size).toBe(3);
});

test('a hand-over that does not end is broken off well before anybody else may begin it', async () => {
  const { outbox: running, senders, outcome } = start();
  await post('email');
  running.wake();
  await senders.email.beginning(1);
  vi.advanceTimersByTime(59_999);
  await new Promise((resolve) => setImmediate(resolve));
  expect(await outcome(0)).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(await outcome(1)).toEqual(['deferred']);
});

test('a stop waits for what is being handed over, but not for ever, and loses nothing', async () => {
  const { outbox: running, senders, outcome } = start();
  await post('email');
  running.wake();
  await senders.email.beginning(1);
  let hasStopped = false;
  const stopped = running.stop().then(() => {
    hasStopped = true;
  });
  vi.advanceTimersByTime(5999);
  await new Promise((resolve) => setImmediate(resolve));
  expect([hasStopped, senders.email.closed]).toEqual([false, false]);
  vi.advanceTimersByTime(1);
  await stopped;
  expect(await outcome(1)).toEqual(['deferred']);
  expect(senders.email.closed).toBe(true);
  expect(await isWaiting()).toBe(true);
  await running.stop();
});

test('an outbox that does not run takes nothing', async () => {
  const { outbox: running, senders } = start();
  await running.stop();
  await post('email');
  running.wake();
  running.start();
  vi.advanceTimersByTime(5000);
  expect(senders.email.begun).toEqual([]);
  expect(await isWaiting()).toBe(true);
});
