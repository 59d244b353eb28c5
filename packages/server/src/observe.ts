import type { Logger } from 'pino';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { SendObserver } from './chains/send/parts.ts';
import type { Activity } from './core/model.ts';
import type { BalancePlace } from './domains/balances/model.ts';
import type { OutboxObserver } from './domains/messages/outbox.ts';
import type { DeliveryObserver } from './domains/webhooks/recorder.ts';
import { ERROR_CODES, type ErrorCode, STATUS } from './lib/error-codes.ts';
import { VERSION } from './lib/version.ts';
import { HealthObserver } from './observe-health.ts';
import type { PoolLoad, Storage } from './storage/storage.ts';

/** Seconds. */
const LATENCY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5] as const;

/** What this process has done since its start, of all operations together. */
export interface Totals {
  readonly requests: number;
  readonly errors5xx: number;
  readonly signatures: number;
  readonly latency: {
    /** Each counts what took at most so long. */
    readonly buckets: readonly { readonly leSeconds: number; readonly count: number }[];
    readonly count: number;
    readonly sumSeconds: number;
  };
}

/**
 * Turns each business event into its log line and its counter, so that the two cannot drift. Ids, codes and durations
 * only.
 */
export class Observer {
  readonly metrics = new Registry();
  /** How the keyring process and readiness do. */
  readonly health: HealthObserver;
  readonly #log: Logger;
  readonly #requests = new Counter({
    name: 'custos_requests_total',
    help: 'Answered requests by operation and error code (OK for success).',
    labelNames: ['operation', 'code'],
    registers: [this.metrics],
  });
  readonly #seconds = new Histogram({
    name: 'custos_request_seconds',
    help: 'Time to answer, by operation.',
    labelNames: ['operation'],
    buckets: [...LATENCY_BUCKETS],
    registers: [this.metrics],
  });
  readonly #activities = new Counter({
    name: 'custos_activities_total',
    help: 'Activities by operation and the status they reached.',
    labelNames: ['operation', 'status'],
    registers: [this.metrics],
  });
  readonly #messages = new Counter({
    name: 'custos_messages_total',
    help: 'Mails and text messages by channel and what became of the attempt.',
    labelNames: ['channel', 'outcome'],
    registers: [this.metrics],
  });
  readonly #deliveries = new Counter({
    name: 'custos_webhook_attempts_total',
    help: 'Attempts at webhook deliveries by what became of them.',
    labelNames: ['verdict'],
    registers: [this.metrics],
  });
  readonly #finished = new Counter({
    name: 'custos_webhook_deliveries_total',
    help: 'Webhook deliveries by the state they ended in.',
    labelNames: ['state'],
    registers: [this.metrics],
  });
  readonly #disabled = new Counter({
    name: 'custos_webhook_endpoints_disabled_total',
    help: 'Webhook endpoints that were switched off because their receiver is gone.',
    registers: [this.metrics],
  });
  readonly #sends = new Counter({
    name: 'custos_sends_total',
    help: 'Transactions for chains by chain and the state they reached.',
    labelNames: ['chain', 'state'],
    registers: [this.metrics],
  });
  readonly #balanceEvents = new Counter({
    name: 'custos_balance_events_total',
    help: 'Changes of balances that were told, or taken back, by chain and level (confirmed or finalized).',
    labelNames: ['chain', 'level'],
    registers: [this.metrics],
  });
  readonly #balanceSkipped = new Counter({
    name: 'custos_balance_blocks_skipped_total',
    help: 'Blocks of which no balances were told because the watch was too far behind, by chain and level.',
    labelNames: ['chain', 'level'],
    registers: [this.metrics],
  });
  readonly #balanceStateMissing = new Counter({
    name: 'custos_balance_state_missing_total',
    help: 'Balances that no node had any more when a block was looked at, by chain.',
    labelNames: ['chain'],
    registers: [this.metrics],
  });
  readonly #signCounts = new Counter({
    name: 'custos_passkey_counter_decreased_total',
    help: 'Passkey stamps whose signature counter went back, a sign of a cloned authenticator.',
    registers: [this.metrics],
  });

  readonly #counts = new Map<string, Counter.Internal>();
  readonly #times = new Map<string, Histogram.Internal<string>>();
  #requestCount = 0;
  #errorCount = 0;
  #signatureCount = 0;
  #secondsSum = 0;
  /** By bucket, those of slower ones left out. */
  readonly #latencies = LATENCY_BUCKETS.map(() => 0);

  constructor(log: Logger) {
    this.#log = log;
    collectDefaultMetrics({ register: this.metrics });
    new Gauge({
      name: 'custos_build_info',
      help: 'Always 1; the labels say which version runs on which Node.js.',
      labelNames: ['version', 'node'],
      registers: [this.metrics],
    }).set({ version: VERSION, node: process.version }, 1);
    this.health = new HealthObserver(log, this.metrics);
  }

  /** Read when somebody asks for the metrics. */
  watchDatabase(storage: Pick<Storage, 'load'>): void {
    const registers = [this.metrics];
    const each = (report: (load: PoolLoad) => void) => () => {
      for (const load of storage.load) report(load);
    };
    const connections = new Gauge({
      name: 'custos_database_connections',
      help: 'Connections to the database by pool (read or write) and state (busy or idle).',
      labelNames: ['pool', 'state'],
      registers,
      collect: each(({ pool, connections: all, busy }) => {
        connections.set({ pool, state: 'busy' }, busy);
        connections.set({ pool, state: 'idle' }, all - busy);
      }),
    });
    const waiting = new Gauge({
      name: 'custos_database_waiting',
      help: 'Reads and transactions that wait for a connection to the database, or for their turn to ask for one, by pool.',
      labelNames: ['pool'],
      registers,
      collect: each((load) => waiting.set({ pool: load.pool }, load.waiting)),
    });
    new Counter({
      name: 'custos_database_timeouts_total',
      help: 'How often the database answered, or a connection was free, too late, by pool.',
      labelNames: ['pool'],
      registers,
      collect() {
        this.reset();
        for (const load of storage.load) this.inc({ pool: load.pool }, load.timeouts);
      },
    });
  }

  request(operation: string, code: ErrorCode | 'OK', milliseconds: number): void {
    this.#countOf(operation, code).inc();
    this.#timesOf(operation).observe(milliseconds / 1000);
    this.#requestCount += 1;
    if (code !== 'OK' && isServerError(code)) this.#errorCount += 1;
    this.#secondsSum += milliseconds / 1000;
    const bucket = LATENCY_BUCKETS.findIndex((seconds) => milliseconds <= seconds * 1000);
    if (bucket !== -1) this.#latencies[bucket] = (this.#latencies[bucket] ?? 0) + 1;
    this.#log.debug({ operation, code, milliseconds }, 'request');
  }

  /** Looked up by its labels once, which takes longer than to count. */
  #countOf(operation: string, code: ErrorCode | 'OK'): Counter.Internal {
    const name = `${operation} ${code}`;
    const count = this.#counts.get(name) ?? this.#requests.labels({ operation, code });
    this.#counts.set(name, count);
    return count;
  }

  #timesOf(operation: string): Histogram.Internal<string> {
    const times = this.#times.get(operation) ?? this.#seconds.labels({ operation });
    this.#times.set(operation, times);
    return times;
  }

  get totals(): Totals {
    let count = 0;
    const buckets = LATENCY_BUCKETS.map((leSeconds, index) => {
      count += this.#latencies[index] ?? 0;
      return { leSeconds, count };
    });
    return {
      requests: this.#requestCount,
      errors5xx: this.#errorCount,
      signatures: this.#signatureCount,
      latency: { buckets, count: this.#requestCount, sumSeconds: this.#secondsSum },
    };
  }

  /** A defect: the caller gets the id, the operator the cause. */
  internalError(errorId: string, operation: string, error: unknown): void {
    this.#log.error({ errorId, operation, err: error }, 'internal error');
  }

  unavailable(operation: string, cause: unknown): void {
    const reason = cause instanceof Error ? cause.message : String(cause);
    this.#log.warn({ operation, reason }, 'dependency not available');
  }

  activity(activity: Activity): void {
    this.#activities.inc({ operation: activity.operation, status: activity.status });
    const isSignature = activity.operation.startsWith('sign_') && activity.status === 'ACTIVITY_STATUS_COMPLETED';
    if (isSignature) this.#signatureCount += 1;
    this.#log.info(
      {
        activityId: activity.id,
        organizationId: activity.organizationId,
        operation: activity.operation,
        status: activity.status,
        userId: activity.proposerId,
      },
      'activity',
    );
  }

  /** What became of a message; whom it went to and what it said is nobody's business here. */
  message({ outcome, channel, ...report }: Parameters<OutboxObserver['message']>[0]): void {
    this.#messages.inc({ channel, outcome });
    this.#log.info({ ...report, channel, outcome }, 'message');
  }

  /** Told in full only where something is wrong: there may be hundreds in a second. */
  delivery({ delivery, attempt, outcome, state }: Parameters<DeliveryObserver['delivery']>[0]): void {
    this.#deliveries.inc({ verdict: outcome });
    if (state !== 'pending') this.#finished.inc({ state });
    const { id: deliveryId, organizationId, endpointId, eventId } = delivery;
    const { status, error, latencyMs } = attempt;
    const report = {
      deliveryId,
      organizationId,
      endpointId,
      eventId,
      verdict: outcome,
      state,
      status,
      error,
      latencyMs,
    };
    this.#log[outcome === 'delivered' ? 'debug' : 'info'](report, 'webhook');
  }

  endpointDisabled({ organizationId, id }: Parameters<DeliveryObserver['endpointDisabled']>[0]): void {
    this.#disabled.inc();
    this.#log.warn({ organizationId, endpointId: id }, 'webhook endpoint disabled: it is gone');
  }

  deliveriesExpired(count: number): void {
    this.#finished.inc({ state: 'dead' }, count);
    this.#log.warn({ count }, 'webhook deliveries given up: they could not be tried in time');
  }

  send(
    { id, organizationId, activityId, caip2, txHash, error }: Parameters<SendObserver['send']>[0],
    state: string,
  ): void {
    this.#sends.inc({ chain: caip2, state });
    this.#log.info(
      { sendId: id, organizationId, activityId, chain: caip2, state, txHash, reason: error?.message },
      'send',
    );
  }

  balanceEvents({ caip2, level }: BalancePlace, count: number): void {
    this.#balanceEvents.inc({ chain: caip2, level }, count);
  }

  balanceBlocksSkipped({ caip2, level }: BalancePlace, count: number): void {
    this.#balanceSkipped.inc({ chain: caip2, level }, count);
    this.#log.warn({ chain: caip2, level, count }, 'blocks skipped: nobody is told what balances they changed');
  }

  stateMissing(caip2: string, count: number): void {
    this.#balanceStateMissing.inc({ chain: caip2 }, count);
    this.#log.debug({ chain: caip2, count }, 'no node has the balances of a block');
  }

  /** A node that is not used for a while, by its host. */
  nodeRefused(chain: string, host: string, reason: string): void {
    this.#log.warn({ chain, host, reason }, 'chain node not used');
  }

  signCountDecreased(organizationId: string, authenticatorId: string): void {
    this.#signCounts.inc();
    this.#log.warn({ organizationId, authenticatorId }, 'passkey signature counter decreased');
  }

  /** A lookup of the sign-up proxy that several sub-organizations match: it answers with none. */
  ambiguousAccount(organizationId: string, filterType: string): void {
    this.#log.warn({ organizationId, filterType }, 'several sub-organizations match an account lookup');
  }

  consoleSignIn(organizationId: string, userId: string): void {
    this.#log.warn({ organizationId, userId }, 'signed in to the console with a link');
  }

  credentialsFileDeleted(organizationId: string, userId: string): void {
    this.#log.warn({ organizationId, userId }, 'root-credentials.json deleted');
  }

  /** Told at debug level: a start is quiet, and what a person needs is on standard output. */
  started(baseUrl: string): void {
    this.#log.debug({ pid: process.pid, baseUrl }, 'started');
  }
}

const isServerError = (code: ErrorCode): boolean => STATUS[ERROR_CODES[code].status].http >= 500;
