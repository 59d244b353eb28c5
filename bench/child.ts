import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** A program of the bench in a process of its own, asked over IPC: one question, one answer. */
export class Child<Question, Answer> implements AsyncDisposable {
  readonly #process: ChildProcess;
  #waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;

  constructor(program: URL) {
    // The loader that runs this TypeScript is inherited with the other options of the process.
    this.#process = fork(program, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], serialization: 'advanced' });
    this.#process.on('message', (answer: Answer | { failure: string }) => {
      const waiting = this.#waiting;
      this.#waiting = undefined;
      if (isFailure(answer)) waiting?.reject(new Error(answer.failure));
      else waiting?.resolve(answer);
    });
    this.#process.on('exit', (code) => this.#waiting?.reject(new Error(`${program.pathname} ended with ${code}`)));
  }

  get pid(): number {
    return this.#process.pid as number;
  }

  ask(question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#process.send(question as object);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.kill('SIGKILL');
    await ended;
  }
}

const isFailure = (answer: unknown): answer is { failure: string } =>
  typeof answer === 'object' && answer !== null && 'failure' in answer;

/** The other end: answers each question with what `work` returns. */
export function answerParent<Question, Answer>(work: (question: Question) => Promise<Answer>): void {
  process.on('message', (question: Question) => {
    work(question).then(
      (answer) => process.send?.(answer),
      (error: Error) => process.send?.({ failure: error.stack ?? error.message }),
    );
  });
  process.on('disconnect', () => process.exit(0));
}

const TICK_SECONDS = 0.01;

/** Processor time that a process, its threads and the processes that it started have used. Linux only; else not a number. */
export function cpuSeconds(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    const own = (Number(fields[11]) + Number(fields[12])) * TICK_SECONDS;
    return childrenOf(pid).reduce((sum, child) => sum + cpuSeconds(child), own);
  } catch {
    return Number.NaN;
  }
}

/** Resident memory of a process and of those it started, in MB. */
export function residentMb(pid: number): number {
  try {
    const kb = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
    return childrenOf(pid).reduce((sum, child) => sum + residentMb(child), kb / 1024);
  } catch {
    return Number.NaN;
  }
}

export const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);

/** Processor time that the whole machine has used. */
export function machineCpuSeconds(): number {
  const spent = cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);
  return spent / 1000;
}

const QUIET_CORES = 0.25;
const LOOK_MS = 250;

/** Waits until the machine is nearly idle, or until patience ends. */
export async function waitForQuiet(patienceSeconds: number): Promise<void> {
  const endsAt = performance.now() + patienceSeconds * 1000;
  while (performance.now() < endsAt) {
    const [before, startedAt] = [machineCpuSeconds(), performance.now()];
    await sleep(LOOK_MS);
    const cores = ((machineCpuSeconds() - before) * 1000) / (performance.now() - startedAt);
    if (cores < QUIET_CORES) return;
  }
}
