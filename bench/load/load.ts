import { Child, cpuSeconds, machineCpuSeconds } from '../child.ts';
import type { Counted, Window } from './generator.ts';
import type { Workload } from './requests.ts';

/** A server under load: the service or a floor. */
export interface Target {
  readonly port: number;
  readonly pid: number;
}

/** One timed window against one target. */
export interface Measured {
  readonly rate: number;
  readonly p50Us: number;
  readonly p99Us: number;
  /** Processor time of the target's process per request, all threads. */
  readonly cpuUs: number;
  /** Cores in use by neither the target nor the generator: PostgreSQL, or others on this machine. */
  readonly otherCores: number;
  readonly sample: string;
}

const FIRST_GUESS_PER_SECOND = 2000;
const SPARE = 1.7;

export class Load implements AsyncDisposable {
  readonly #generator = new Child<Window, Counted>(new URL('./generator.ts', import.meta.url));
  readonly #rates = new Map<string, number>();

  async run(target: Target, workload: Workload, connections: number, seconds: number): Promise<Measured> {
    const kind = `${target.pid} ${workload.path} ${connections}`;
    const expected = this.#rates.get(kind) ?? FIRST_GUESS_PER_SECOND;
    const prepared = Math.ceil(expected * seconds * SPARE) + 100;
    const before = { target: cpuSeconds(target.pid), generator: cpuSeconds(this.#generator.pid) };
    const machineBefore = machineCpuSeconds();
    const startedAt = performance.now();
    const counted = await this.#generator.ask({ port: target.port, connections, seconds, prepared, workload });
    const elapsed = (performance.now() - startedAt) / 1000;
    const cpu = cpuSeconds(target.pid) - before.target;
    const generator = cpuSeconds(this.#generator.pid) - before.generator;
    const otherCores = Math.max(0, (machineCpuSeconds() - machineBefore - cpu - generator) / elapsed);
    const rate = counted.requests / counted.seconds;
    this.#rates.set(kind, Math.max(rate, expected));
    const { p50Us, p99Us, sample } = counted;
    return { rate, p50Us, p99Us, cpuUs: (cpu * 1e6) / counted.requests, otherCores, sample };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#generator[Symbol.asyncDispose]();
  }
}
