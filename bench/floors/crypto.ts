import { availableParallelism } from 'node:os';
import { Child, machineCpuSeconds } from '../child.ts';
import type { Measured } from '../load/load.ts';
import type { BareAnswer, BareQuestion, Library } from './bare.ts';
import type { CryptoWork } from './works.ts';

/** Bare cryptography on as many cores as a service could use for the same requests: a process for each. */
export class CryptoFloor implements AsyncDisposable {
  readonly #cores = Array.from(
    { length: availableParallelism() },
    () => new Child<BareQuestion, BareAnswer>(new URL('./bare.ts', import.meta.url)),
  );

  /** Rates are those of whole requests. One thing cannot be split among cores, but a hundred of them can. */
  async run({ work, times }: CryptoWork, library: Library, coresMax: number, seconds: number): Promise<Measured> {
    const machineBefore = machineCpuSeconds();
    const answers = await Promise.all(
      this.#cores.slice(0, coresMax).map((core) => core.ask({ work, library, seconds })),
    );
    const sum = (of: (answer: BareAnswer) => number): number => answers.reduce((total, each) => total + of(each), 0);
    const rate = sum(({ count, seconds: elapsed }) => count / elapsed) / times;
    const [cpu, elapsed] = [sum(({ cpuSeconds }) => cpuSeconds), Math.max(...answers.map((answer) => answer.seconds))];
    const [{ p50Us, p99Us }] = answers as [BareAnswer];
    return {
      rate,
      p50Us: times === 1 ? p50Us : 1e6 / rate,
      p99Us: times === 1 ? p99Us : Number.NaN,
      cpuUs: (cpu * 1e6 * times) / sum(({ count }) => count),
      otherCores: Math.max(0, (machineCpuSeconds() - machineBefore - cpu) / elapsed),
      sample: '',
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const core of this.#cores) await core[Symbol.asyncDispose]();
  }
}
