import { type Keyring, KeyringError } from '@custos/keyring';
import type { MessageSettings } from '../../config/message-ways.ts';
import { SealedReader } from '../../core/store/sealed.ts';
import { holdOf } from '../../fence/hold.ts';
import type { Clock } from '../../lib/clock.ts';
import { ApiError } from '../../lib/errors.ts';
import type { NewId } from '../../lib/ids.ts';
import type { Storage } from '../../storage/storage.ts';
import { tellOnce } from '../../workers/away.ts';
import type { Claim, Topic } from '../../workers/claim.ts';
import type { Strategy } from '../../workers/strategy.ts';
import { LeasedWorker } from '../../workers/worker.ts';
import { type Content, openContent } from './message.ts';
import { type MessageReport, type Outcome, record } from './record.ts';
import { type Senders, sendersFor } from './senders/choose.ts';
import { CHANNELS, type Channel, type ClaimedMessage, MessageReader, MessageStore } from './store.ts';

/** Until a message is tried again that could not be opened because the keyring or the database was away. */
const AWAY_DELAY_MS = 5000;
const SWEEP_EVERY_MS = 60 * 60 * 1000;
const EVENT_AGE_MS_MAX = 90 * 24 * 60 * 60 * 1000;
const EVENTS_PER_DELETE = 1000;

export interface OutboxObserver {
  message(report: MessageReport): void;
  unavailable(operation: string, cause: unknown): void;
}

export interface OutboxParts {
  readonly config: MessageSettings;
  readonly storage: Storage;
  readonly keyring: Keyring;
  /** One that jumps ahead would give up messages and take those that others are at. */
  readonly clock: Clock;
  readonly elapsed: Clock;
  readonly newId: NewId;
  readonly observe: OutboxObserver;
}

export function createOutbox(parts: OutboxParts): Outbox {
  return new Outbox(parts, sendersFor(parts.config, parts.storage, parts.keyring));
}

interface ChannelTopic extends Topic {
  readonly key: Channel;
}

interface MessageClaim extends Claim {
  /** Its end of the claim is what nobody else's claim of the message has. */
  readonly message: ClaimedMessage;
}

/** What happened to a message, to be written down with the claim that holds then. */
type HandedOver = Omit<Outcome, 'claim'>;

const TOPICS: readonly ChannelTopic[] = CHANNELS.map((channel) => ({ key: channel, group: channel }));

/**
 * Hands over what transactions have stored, with any number of processes at it. A message is deleted together with the
 * record of what became of it, after the other side has accepted it: it is never lost, and repeated only by whoever
 * dies between the two (protocol/messages 2.1).
 */
export class Outbox implements AsyncDisposable {
  readonly #senders: Senders;
  readonly #worker: LeasedWorker<ChannelTopic, MessageClaim, HandedOver>;

  constructor(parts: OutboxParts, senders: Senders) {
    const { clock, elapsed } = parts;
    const observe = tellOnce((error) => parts.observe.unavailable('outbox', error));
    this.#senders = senders;
    this.#worker = new LeasedWorker(messageStrategy(parts, senders), {
      clock,
      elapsed,
      hold: holdOf(parts.storage),
      observe,
    });
  }

  start(): void {
    this.#worker.start();
  }

  /** To be called after a commit with a message in it; without it the message waits for the next poll. */
  wake(): void {
    this.#worker.wake(TOPICS);
  }

  /** Takes nothing new, finishes what is being handed over, and breaks it off when that takes too long. */
  async stop(): Promise<void> {
    await this.#worker.stop();
    for (const channel of CHANNELS) this.#senders[channel].close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** Messages are claimed one by one from their channel, and for longer than it may take to hand one over. */
function messageStrategy(parts: OutboxParts, senders: Senders): Strategy<ChannelTopic, MessageClaim, HandedOver> {
  const { storage, clock, newId, observe } = parts;
  const slots = { email: senders.email.slots, sms: senders.sms.slots };
  return {
    limits: { all: slots.email + slots.sms, groups: slots },
    topics: 'queue',
    lease: { ms: 90_000, workMs: 60_000 },
    pollEveryMs: 1000,
    // A stop as a whole has ten seconds.
    stopMs: 6000,
    whose: ({ message }) => message.organizationId,
    tidiesMeanwhile: 'it only forgets what became of old mails',
    async recover() {
      // The embedded database has one process: who else has claimed something was killed.
      if (storage.kind === 'sqlite') await storage.write((store) => store(MessageStore).releaseAll());
    },
    async due(nowMs) {
      const isDue = await Promise.all(
        TOPICS.map(({ key }) => storage.read(MessageReader).isDue(key, nowMs, storage.fence.scope)),
      );
      return TOPICS.filter((_topic, index) => isDue[index]);
    },
    async claim({ key: channel }, room, nowMs, untilMs) {
      const { scope } = storage.fence;
      const messages = await storage.write((store) => store(MessageStore).claim(channel, room, nowMs, untilMs, scope));
      return messages.map((message) => ({
        key: `${message.organizationId} ${message.id}`,
        group: channel,
        message,
      }));
    },
    async serve({ claim: { message }, signal }) {
      let content: Content | undefined;
      try {
        content = await open(parts, message);
        return { content, result: await handOver(parts, senders, message, content, signal), atMs: clock() };
      } catch (error) {
        if (content === undefined && isAway(error)) throw error;
        observe.unavailable('outbox', error);
        const diagnostic = content === undefined ? 'NOT_OPENED' : 'UNKNOWN';
        return { content, result: { kind: 'deferred', diagnostic }, atMs: clock() };
      }
    },
    async release({ message }, outcome) {
      if (typeof outcome === 'string') {
        const delayMs = outcome === 'failed' ? AWAY_DELAY_MS : 0;
        await storage.write((store) => store(MessageStore).defer(message, message.attempts, clock() + delayMs));
        return delayMs;
      }
      const report = await storage.write((store) => record(store, { ...outcome, claim: message }, newId()));
      if (report !== undefined) observe.message(report);
      return undefined;
    },
    tidy: createSweep(parts),
  };
}

async function open({ keyring, storage }: OutboxParts, message: ClaimedMessage): Promise<Content> {
  const wrappedKey = await storage.read(SealedReader).organizationKey(message.organizationId);
  if (wrappedKey === undefined) throw new Error('the organization of a message is not there');
  return await openContent(keyring, wrappedKey, message, 'outbox-message', message.sealed);
}

async function handOver(
  { clock }: OutboxParts,
  senders: Senders,
  { organizationId, id, createdAtMs, channel, notAfterMs }: ClaimedMessage,
  content: Content,
  signal: AbortSignal,
): Promise<Outcome['result']> {
  if (notAfterMs !== undefined && notAfterMs <= clock()) return { kind: 'expired', diagnostic: 'TOO_LATE' };
  return await senders[channel].send({ organizationId, id, content, createdAtMs }, signal);
}

/** Forgets old events, some at a time. */
function createSweep({ storage, clock, elapsed }: OutboxParts): () => Promise<void> {
  let nextAtMs = 0;
  return async () => {
    if (elapsed() < nextAtMs) return;
    const beforeMs = clock() - EVENT_AGE_MS_MAX;
    const deleted = await storage.write((store) => store(MessageStore).deleteEmailEvents(beforeMs, EVENTS_PER_DELETE));
    // With the next poll, where there is more.
    if (deleted < EVENTS_PER_DELETE) nextAtMs = elapsed() + SWEEP_EVERY_MS;
  };
}

/** Whether the database or the keyring is away, so that the message itself is not to blame. */
const isAway = (error: unknown): boolean =>
  error instanceof ApiError || (error instanceof KeyringError && error.code !== 'NOT_OPENED');
