import type { Clock } from '../../lib/clock.ts';
import { NodeError } from './node-error.ts';
import { post } from './post.ts';
import { isBatchRefusal, isBatchTrouble, type RpcAnswer, readAnswer, readAnswers } from './rpc-answer.ts';

const REST_MS_MIN = 1000;
const REST_MS_MAX = 30_000;
const BATCH_CALLS_MAX = 100;
const BATCH_LENGTH_MAX = 1024 * 1024;
const ONE_BY_ONE_AT_ONCE = 8;

/** How a node proves that it is of the right chain. */
export interface Identity {
  readonly method: string;
  /** What is wrong with the answer; undefined when it is the right one. */
  problemOf(result: unknown): string | undefined;
}

export interface EndpointOptions {
  readonly identity: Identity;
  readonly timeoutMs: number;
  /** Whether calls of the same tick travel together. */
  readonly isBatching: boolean;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Told of each new reason why a node is not used. */
  report(host: string, reason: string): void;
}

export interface Question {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** One URL of a chain. */
export interface Endpoint {
  readonly host: string;
  /** Until then it is asked only when nobody else is there. */
  restsUntilMs(): number;
  /** Makes sure that it is a node of this chain, once after each failure. */
  verify(): Promise<void>;
  /** Together with the other questions of this tick. */
  ask(question: Question): Promise<RpcAnswer>;
  /** In a request of its own. */
  askAlone(question: Question): Promise<RpcAnswer>;
  worked(): void;
  failed(error: NodeError): void;
}

interface Waiting {
  readonly id: number;
  readonly text: string;
  resolve(answer: RpcAnswer): void;
  reject(error: unknown): void;
}

export function createEndpoint(url: string, options: EndpointOptions): Endpoint {
  const { identity, clock, report } = options;
  const { host } = new URL(url);
  let verified: Promise<void> | undefined;
  let restMs = 0;
  let restsUntilMs = 0;
  let reported: string | undefined;
  let takesBatches = options.isBatching;
  let lastId = 0;
  let queue: Waiting[] = [];

  const frame = ({ method, params }: Question): { readonly id: number; readonly text: string } => {
    lastId += 1;
    return { id: lastId, text: JSON.stringify({ jsonrpc: '2.0', id: lastId, method, params }) };
  };

  async function send({ id, text }: Pick<Waiting, 'id' | 'text'>): Promise<RpcAnswer> {
    const { status, json } = await post(url, text, options);
    if (json === undefined) throw new NodeError('ill-shaped', `the answer (HTTP status ${status}) is no JSON`);
    return readAnswer(json, id);
  }

  async function checkIdentity(): Promise<void> {
    const answer = await send(frame({ method: identity.method, params: [] }));
    const problem = answer.ok ? identity.problemOf(answer.result) : `it refuses ${identity.method}: ${answer.message}`;
    if (problem !== undefined) throw new NodeError('unavailable', problem);
  }

  function verify(): Promise<void> {
    if (verified === undefined) {
      const check = checkIdentity();
      verified = check;
      check.catch(() => {
        if (verified === check) verified = undefined;
      });
    }
    return verified;
  }

  function flush(): void {
    const waiting = queue;
    queue = [];
    for (const batch of split(waiting)) void (batch.length === 1 ? sendEach(batch) : sendBatch(batch));
  }

  async function sendEach(batch: readonly Waiting[]): Promise<void> {
    const rest = [...batch];
    const work = async (): Promise<void> => {
      for (let one = rest.shift(); one !== undefined; one = rest.shift()) {
        const { resolve, reject } = one;
        await send(one).then(resolve, reject);
      }
    };
    await Promise.all(Array.from({ length: Math.min(ONE_BY_ONE_AT_ONCE, batch.length) }, work));
  }

  async function sendBatch(batch: readonly Waiting[]): Promise<void> {
    let answers: ReadonlyMap<number, RpcAnswer> | 'too-large' | 'refused';
    try {
      answers = await askBatch(batch);
    } catch (error) {
      for (const { reject } of batch) reject(error);
      return;
    }
    if (answers === 'refused') takesBatches = false;
    if (typeof answers === 'string') return sendEach(batch);
    for (const { id, resolve, reject } of batch) {
      const answer = answers.get(id);
      if (answer === undefined) reject(new NodeError('ill-shaped', 'the batch lacks an answer'));
      else resolve(answer);
    }
  }

  async function askBatch(
    batch: readonly Waiting[],
  ): Promise<ReadonlyMap<number, RpcAnswer> | 'too-large' | 'refused'> {
    try {
      const { status, json } = await post(url, `[${batch.map(({ text }) => text).join(',')}]`, options);
      if (Array.isArray(json)) return readAnswers(json, new Set(batch.map(({ id }) => id)));
      if (isBatchTrouble(json)) throw new NodeError('unavailable', 'the node answers no more calls for now');
      if (status >= 400 || isBatchRefusal(json)) return 'refused';
      throw new NodeError('ill-shaped', 'the answer to a batch is no batch');
    } catch (error) {
      // Together the answers are too long; each for itself need not be.
      if (error instanceof NodeError && error.kind === 'too-large') return 'too-large';
      throw error;
    }
  }

  return {
    host,
    restsUntilMs: () => restsUntilMs,
    verify,
    async ask(question) {
      await verify();
      const framed = frame(question);
      if (!takesBatches) return send(framed);
      return new Promise((resolve, reject) => {
        queue.push({ ...framed, resolve, reject });
        if (queue.length === 1) setImmediate(flush);
      });
    },
    async askAlone(question) {
      await verify();
      return send(frame(question));
    },
    worked() {
      restMs = 0;
      restsUntilMs = 0;
      reported = undefined;
    },
    failed(error) {
      verified = undefined;
      takesBatches = options.isBatching;
      if (reported !== error.message) report(host, error.message);
      reported = error.message;
      const nowMs = clock();
      // All calls of a batch fail together, and count once.
      if (nowMs < restsUntilMs) return;
      restMs = Math.min(REST_MS_MAX, Math.max(REST_MS_MIN, restMs * 2));
      restsUntilMs = nowMs + restMs;
    },
  };
}

function split(waiting: readonly Waiting[]): Waiting[][] {
  const batches: Waiting[][] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const one of waiting) {
    const last = batches.at(-1);
    length += one.text.length + 1;
    if (last !== undefined && last.length < BATCH_CALLS_MAX && length <= BATCH_LENGTH_MAX) last.push(one);
    else {
      batches.push([one]);
      length = one.text.length + 2;
    }
  }
  return batches;
}
