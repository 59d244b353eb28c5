import { type ChildProcess, spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { BARE_WORKS, type CryptoWork } from './works.ts';

/** Number, work, times, and room for a digest. */
export const FRAME_BYTES = 44;
/** Number, and room for a signature. */
export const ANSWER_BYTES = 68;
/** While one process has fewer in hand, another one would only be woken for nothing. */
const ENOUGH = 4;

/** Processes that do cryptography for a floor, one for each core, each over a pipe of its own. */
export class Signers {
  readonly #lines: readonly Line[];

  constructor(works: readonly CryptoWork[]) {
    this.#lines = Array.from({ length: availableParallelism() }, () => new Line(works));
  }

  async do({ work, times }: CryptoWork): Promise<void> {
    if (times === 1) return await this.#once({ work, times });
    // A batch is split among the cores.
    const share = Math.ceil(times / this.#lines.length);
    await Promise.all(
      this.#lines.map((line, index) => line.do({ work, times: Math.max(0, Math.min(share, times - index * share)) })),
    );
  }

  #once(work: CryptoWork): Promise<void> {
    const [first, ...others] = this.#lines as [Line, ...Line[]];
    let line = first;
    if (line.waiting >= ENOUGH) for (const other of others) if (other.waiting < line.waiting) line = other;
    return line.do(work);
  }
}

class Line {
  readonly #process: ChildProcess;
  readonly #asked = new Map<number, () => void>();
  #next = 0;
  /** Frames of one turn of the event loop leave in one write. */
  #frames: Buffer[] = [];
  #rest: Buffer = Buffer.alloc(0);

  constructor(works: readonly CryptoWork[]) {
    const program = fileURLToPath(new URL('./signer.ts', import.meta.url));
    this.#process = spawn(process.execPath, [...process.execArgv, program, JSON.stringify(works)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#process.stdout?.on('data', (chunk: Buffer) => this.#read(chunk));
  }

  get waiting(): number {
    return this.#asked.size;
  }

  do({ work, times }: CryptoWork): Promise<void> {
    this.#next = (this.#next + 1) % 0x100000000;
    const frame = Buffer.alloc(FRAME_BYTES);
    frame.writeUInt32LE(this.#next, 0);
    frame.writeUInt32LE(BARE_WORKS.indexOf(work), 4);
    frame.writeUInt32LE(times, 8);
    if (this.#frames.push(frame) === 1) setImmediate(() => this.#flush());
    const number = this.#next;
    return new Promise((resolve) => this.#asked.set(number, resolve));
  }

  #flush(): void {
    const frames = this.#frames;
    this.#frames = [];
    this.#process.stdin?.write(frames.length === 1 ? (frames[0] as Buffer) : Buffer.concat(frames));
  }

  #read(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    for (; at + ANSWER_BYTES <= bytes.length; at += ANSWER_BYTES) {
      const number = bytes.readUInt32LE(at);
      this.#asked.get(number)?.();
      this.#asked.delete(number);
    }
    this.#rest = bytes.subarray(at);
  }
}
