import { statfs } from 'node:fs/promises';
import type { Keyring } from '@custos/keyring';
import { newestAtMs } from './backup/newest.ts';
import type { Nodes } from './chains/nodes/node.ts';
import type { Config } from './config/config.ts';
import { type Way, wayOf } from './config/message-ways.ts';
import { InstallationReader } from './core/store/installation.ts';
import { BalanceWatchReader } from './domains/balances/store.ts';
import { MessageReader } from './domains/messages/store.ts';
import { SendReader } from './domains/sends/store/sends.ts';
import type { ServiceStatus } from './domains/service-status/shapes.ts';
import { WebhookReader } from './domains/webhooks/store/webhook-reader.ts';
import { CHECKS, type Readiness } from './engine/readiness.ts';
import { parseRetired } from './key-rotation/rotation.ts';
import { type Clock, DAY_MS, toRfc3339 } from './lib/clock.ts';
import { ApiError } from './lib/errors.ts';
import { Probe } from './lib/probe.ts';
import { StartError } from './lib/start-error.ts';
import { VERSION } from './lib/version.ts';
import type { Observer } from './observe.ts';
import { describeProtection } from './protection.ts';
import type { Backlog } from './storage/backlog.ts';
import type { Storage } from './storage/storage.ts';

/** Several pages that look at once are shown the same. */
const EVERY_MS = 1000;
const CHAINS_EVERY_MS = 5000;
const DEADLINE_MS = 5000;

interface StatusParts {
  readonly config: Config;
  readonly storage: Storage;
  readonly keyring: Keyring;
  readonly observe: Observer;
  readonly readiness: Readiness;
  readonly nodes: Nodes;
  readonly clock: Clock;
  readonly baseUrl: () => string;
}

/** How this process and what it depends on do, put together from what each of them knows. */
export function createServiceStatus(parts: StatusParts): () => Promise<ServiceStatus> {
  const startedAt = toRfc3339(parts.clock());
  const chains = new Probe(() => readChains(parts), { everyMs: CHAINS_EVERY_MS, deadlineMs: DEADLINE_MS });
  const status = new Probe(() => gather(parts, startedAt, chains), { everyMs: EVERY_MS, deadlineMs: 2 * DEADLINE_MS });
  return async () => {
    const outcome = await status.outcome();
    if ('value' in outcome) return outcome.value;
    if (outcome.error instanceof ApiError) throw outcome.error;
    throw new ApiError('UNAVAILABLE', 'the service could not look at itself in time', { cause: outcome.error });
  };
}

async function gather(
  parts: StatusParts,
  startedAt: string,
  chains: Probe<ServiceStatus['chains']>,
): Promise<ServiceStatus> {
  const { config, storage, observe, clock } = parts;
  const { read } = storage;
  const nowMs = clock();
  const [problems, databaseVersion, queues, keys, watched, mail, backup, disk] = await Promise.all([
    parts.readiness.check(),
    read(InstallationReader).databaseVersion(),
    readQueues(storage),
    readKeys(parts),
    chains.outcome(),
    read(MessageReader).mailOutcomes(nowMs - DAY_MS),
    readBackup(storage),
    readDisk(config.dataDir),
  ]);
  const { latency, ...counters } = observe.totals;
  return {
    service: {
      version: VERSION,
      node: process.version,
      processId: process.pid,
      startedAt,
      baseUrl: parts.baseUrl(),
      database: storage.kind === 'sqlite' ? 'sqlite' : 'postgresql',
      databaseVersion,
      connections: storage.load.map(({ pool, connections, busy, waiting, timeouts }) => ({
        pool,
        busy,
        idle: connections - busy,
        waiting,
        timeouts,
      })),
      ready: CHECKS.every((check) => problems[check] === undefined),
      reasons: { ...problems },
    },
    counters,
    latency: { ...latency, buckets: latency.buckets.map((bucket) => ({ ...bucket })) },
    queues,
    keys,
    chains: 'value' in watched ? watched.value : [],
    mail: {
      email: WAYS[wayOf('email', config)],
      sms: WAYS[wayOf('sms', config)],
      // Not the user and password of the address.
      ...(config.smtpUrl !== undefined && { host: new URL(config.smtpUrl).host }),
      ...(mail.lastSentAtMs !== undefined && { lastSentAt: toRfc3339(mail.lastSentAtMs) }),
      failed24h: mail.failed,
    },
    backup,
    ...(disk !== undefined && { disk }),
    fence: fenceOf(storage),
    now: toRfc3339(nowMs),
  };
}

function fenceOf({ fence }: Storage): ServiceStatus['fence'] {
  const { isUp, isWhole, restoredAtMs, doubt } = fence.shown;
  return {
    up: isUp,
    isWhole,
    ...(restoredAtMs !== undefined && { restoredAt: toRfc3339(restoredAtMs) }),
    ...(doubt !== undefined && { doubt }),
  };
}

const WAYS = { provider: 'PROVIDER', inbox: 'INBOX', none: 'NONE' } as const satisfies Record<Way, string>;

async function readQueues({ read }: Storage): Promise<ServiceStatus['queues']> {
  const [webhooks, sends, messages] = await Promise.all([
    read(WebhookReader).backlog(),
    read(SendReader).backlog(),
    read(MessageReader).backlog(),
  ]);
  const show = (name: ServiceStatus['queues'][number]['name'], { waiting, isMore, oldestAtMs }: Backlog) => ({
    name,
    waiting,
    ...(isMore && { isMore }),
    ...(oldestAtMs !== undefined && { oldestAt: toRfc3339(oldestAtMs) }),
  });
  return [show('webhooks', webhooks), show('sends', sends), show('messages', messages)];
}

async function readKeys({ config, storage, keyring }: StatusParts): Promise<ServiceStatus['keys']> {
  const startedAtMs = performance.now();
  const [protection, facts, keyringMs] = await Promise.all([
    describeProtection(config),
    storage.read(InstallationReader).facts(['rotation', 'retired_root_keys']),
    keyring.ping().then(
      () => Math.round((performance.now() - startedAtMs) * 1000) / 1000,
      () => undefined,
    ),
  ]);
  return {
    protection: protectionOf(config.rootKey),
    keyring: protection.keyring,
    keyringUser: protection.user,
    rootKeyId: keyring.rootKeyId,
    isRotating: facts.has('rotation'),
    retiredRootKeys: parseRetired(facts.get('retired_root_keys')).length,
    ...(keyringMs !== undefined && { keyringMs }),
  };
}

async function readBackup({ read }: Storage): Promise<ServiceStatus['backup']> {
  try {
    const lastAtMs = newestAtMs(await read(InstallationReader).backups());
    if (lastAtMs === undefined) return { text: 'No backup of this database is recorded: `custos backup` makes one.' };
    return { lastAt: toRfc3339(lastAtMs), text: `The newest recorded backup is of ${toRfc3339(lastAtMs)}.` };
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    return { text: `It is not known when the newest backup was made: ${error.message}.` };
  }
}

/** Who serves on a socket does not say how it keeps the root key. */
const protectionOf = (rootKey: string): ServiceStatus['keys']['protection'] => {
  if (rootKey.startsWith('socket:')) return 'keyring';
  return rootKey.startsWith('passphrase-file:') ? 'passphrase-file' : 'file';
};

async function readChains({ config, storage, nodes, clock }: StatusParts): Promise<ServiceStatus['chains']> {
  if (config.chains.size === 0) return [];
  const cursors = await storage.read(BalanceWatchReader).cursors();
  return await Promise.all(
    [...config.chains.keys()].map(async (caip2) => {
      const sights = await nodes.heads(caip2);
      const at = toRfc3339(clock());
      const heads = sights.flatMap(({ head }) => (head === undefined ? [] : [Number(head)]));
      const head = heads.length === 0 ? undefined : Math.max(...heads);
      const cursor = cursors.find((candidate) => candidate.caip2 === caip2 && candidate.level === 'confirmed');
      return {
        caip2,
        ...(head !== undefined && { head }),
        ...(head !== undefined && cursor !== undefined && { behind: Math.max(0, head - Number(cursor.number)) }),
        nodes: sights.map(({ host, head: own }) => ({
          host,
          answers: own !== undefined,
          ...(own !== undefined && { head: Number(own) }),
          at,
        })),
      };
    }),
  );
}

async function readDisk(dataDir: string): Promise<ServiceStatus['disk']> {
  try {
    const { bsize, blocks, bfree, bavail } = await statfs(dataDir);
    return { usedBytes: (blocks - bfree) * bsize, totalBytes: blocks * bsize, freeBytes: bavail * bsize };
  } catch {
    return undefined;
  }
}
