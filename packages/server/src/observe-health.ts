import type { Keyring, KeyringLoss, KeyringObserver } from '@custos/keyring';
import type { Logger } from 'pino';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Problems } from './engine/readiness.ts';
import type { Clock } from './lib/clock.ts';
import type { FenceDoubt, FenceShown } from './storage/fence.ts';
import type { Violation } from './storage/integrity/integrity.ts';

const FENCE_DOUBTS: Readonly<Record<FenceDoubt, string>> = {
  'not-loaded': 'whether the database was restored from a backup is not known yet: nothing is done',
  'not-genuine':
    'what the database says of its restores is not what a service wrote, or is missing: nothing is done (custos verify)',
  'restored-meanwhile': 'the database was restored while this process ran: nothing is done until it is started again',
};

/** From then on somebody should look after the clocks. */
const SKEW_MS_MAX = 1000;

/** How the keyring process, the clock and the readiness of this process do, as log lines and metrics. */
export class HealthObserver implements KeyringObserver {
  readonly #log: Logger;
  readonly #metrics: Registry;
  readonly #isUp;
  readonly #losses;
  readonly #latePings;
  readonly #failures;
  readonly #violations;
  /** Absent until there is another clock to compare with. */
  #skew: Gauge | undefined;
  #isSkewed = false;
  readonly #fence;
  #wasFenced = false;
  /** What was wrong when last looked at. */
  #problems: Problems = {};

  constructor(log: Logger, metrics: Registry) {
    this.#log = log;
    this.#metrics = metrics;
    const registers = [metrics];
    this.#isUp = new Gauge({
      name: 'custos_keyring_up',
      help: 'Whether the keyring process is there: 1, or 0 until it is started again.',
      registers,
    });
    this.#losses = new Counter({
      name: 'custos_keyring_restarts_total',
      help: 'Restarts of the keyring process by reason: it ended, was killed because it was silent, or a start failed.',
      labelNames: ['reason'],
      registers,
    });
    this.#latePings = new Counter({
      name: 'custos_keyring_pings_late_total',
      help: 'Pings that a thread of the keyring process did not answer within a second.',
      registers,
    });
    this.#failures = new Counter({
      name: 'custos_readiness_failures_total',
      help: 'Answers of /readyz that were not ready, by the check that failed.',
      labelNames: ['check'],
      registers,
    });
    this.#violations = new Counter({
      name: 'custos_integrity_violations_total',
      help: 'Stored rows that were refused because this service did not write them, by table.',
      labelNames: ['table'],
      registers,
    });
    this.#fence = new Gauge({
      name: 'custos_fence_up',
      help: 'Whether the database was restored from a backup and is not accepted yet, so that nothing is done: 1 for all organizations, 0.5 where some are accepted, else 0.',
      registers,
    });
    this.#isUp.set(1);
  }

  /** Read when somebody asks for the metrics. */
  watchKeyring(keyring: Pick<Keyring, 'load'>): void {
    new Gauge({
      name: 'custos_keyring_pending',
      help: 'Calls that the keyring process has not answered.',
      registers: [this.#metrics],
      collect() {
        this.set(keyring.load.calls);
      },
    });
    new Gauge({
      name: 'custos_keyring_pending_bytes',
      help: 'What the calls that the keyring process has not answered take up.',
      registers: [this.#metrics],
      collect() {
        this.set(keyring.load.bytes);
      },
    });
  }

  /** Read when somebody asks for the metrics; while it cannot be read, the newest that is known grows older. */
  watchBackups(readNewestAtMs: () => Promise<number | undefined>, clock: Clock): void {
    let newestAtMs: number | undefined;
    new Gauge({
      name: 'custos_backup_age_seconds',
      help: 'Age of the newest backup that the database has a record of; absent where there is none.',
      registers: [this.#metrics],
      async collect() {
        newestAtMs = await readNewestAtMs().catch(() => newestAtMs);
        if (newestAtMs === undefined) this.remove();
        else this.set(Math.max(0, Math.round((clock() - newestAtMs) / 1000)));
      },
    });
  }

  /** Somebody else wrote a row, or took one away; the caller was told the same id. */
  rowRefused({ table, organizationId, row, because }: Violation, errorId: string): void {
    this.#violations.inc({ table });
    this.#log.error(
      { errorId, table, organizationId, row, because },
      'stored row refused: this service did not write it',
    );
  }

  /** What a start has to say of marks. */
  integrity(message: string): void {
    this.#log.warn(message);
  }

  /** Each change is logged. */
  fence({ isUp, isWhole, restoredAtMs, doubt }: FenceShown): void {
    this.#fence.set(isWhole ? 1 : isUp ? 0.5 : 0);
    const restoredAt = restoredAtMs && new Date(restoredAtMs).toISOString();
    if (doubt !== undefined) this.#log.error({ doubt, restoredAt }, FENCE_DOUBTS[doubt]);
    else if (isUp)
      this.#log.warn(
        { restoredAt, organizations: isWhole ? 'all' : 'those not accepted' },
        'the database was restored from a backup: nothing is done until that is accepted (custos restore review, custos restore accept)',
      );
    else if (this.#wasFenced) this.#log.warn('the restore was accepted: requests and work go on');
    this.#wasFenced = isUp;
  }

  lost(reason: KeyringLoss, message: string, restartInMs: number): void {
    this.#isUp.set(0);
    this.#losses.inc({ reason });
    this.#log.error({ reason, message, restartInMs }, 'keyring process lost');
  }

  restored(): void {
    this.#isUp.set(1);
    this.#log.warn('keyring process started again');
  }

  serviceKeysRefused(message: string): void {
    this.#log.error({ reason: message }, 'the keyring process refused its service keys');
  }

  threadRefused(message: string): void {
    this.#log.warn({ reason: message }, 'a further thread of the keyring process does not serve yet');
  }

  pingLate(): void {
    this.#latePings.inc();
  }

  /** By how much our clock is ahead of the database's. */
  clockSkew(milliseconds: number): void {
    this.#skew ??= new Gauge({
      name: 'custos_clock_skew_seconds',
      help: "By how much this process's clock is ahead of PostgreSQL's; negative where it is behind.",
      registers: [this.#metrics],
    });
    const seconds = Math.round(milliseconds) / 1000;
    this.#skew.set(seconds);
    const isSkewed = Math.abs(milliseconds) > SKEW_MS_MAX;
    if (isSkewed === this.#isSkewed) return;
    this.#isSkewed = isSkewed;
    this.#log.warn({ seconds }, isSkewed ? 'the clock differs from that of the database' : 'the clock is right again');
  }

  clockJumped(milliseconds: number): void {
    const seconds = Math.round(milliseconds) / 1000;
    this.#log.warn({ seconds }, milliseconds < 0 ? 'the clock was set back' : 'the clock was set ahead');
  }

  /** Each change is logged once, however often somebody asks. */
  readiness(problems: Problems): void {
    for (const check of Object.keys(problems)) this.#failures.inc({ check });
    const before = Object.keys(this.#problems).join();
    const now = Object.keys(problems).join();
    this.#problems = problems;
    if (now === before) return;
    if (now === '') this.#log.warn('ready again');
    else this.#log.warn({ problems }, 'not ready');
  }
}
