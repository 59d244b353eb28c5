import type { Keyring, KeyringLoss, KeyringObserver } from '@custos/keyring';
import type { Logger } from 'pino';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Problems } from './engine/readiness.ts';

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
  /** Absent until there is another clock to compare with. */
  #skew: Gauge | undefined;
  #isSkewed = false;
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
