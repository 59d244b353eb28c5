import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { type Clock, monotonicClock } from '../../lib/clock.ts';
import { createEndpoint, type Endpoint, type Identity, type Question } from './endpoint.ts';
import { NodeError } from './node-error.ts';
import type { RpcAnswer } from './rpc-answer.ts';

const TIMEOUT_MS = 10_000;
const RETRY_PAUSE_MS = 200;
const PATIENCE_MS = 1000;
/** For an answer to whoever only wants to know how a node does. */
const LOOK_MS = 1500;
/** How nodes say that fewer blocks must be asked for at once. */
const RANGE_TOO_LARGE =
  /(more than|exceed\w*|limited to|too (many|wide|large|big)|max\w*)[^.]*\b(results?|logs?|range|blocks?|size)\b|\b(range|size|results?)\b[^.]*\b(exceed\w*|too (many|wide|large|big)|limit\w*)/i;

export interface RpcOptions {
  readonly identity: Identity;
  /** For one try at one URL. */
  readonly timeoutMs?: number;
  readonly isBatching?: boolean;
  /** Before the one try more when every URL has failed. */
  readonly retryPauseMs?: number;
  /** For the answers of other nodes once one has answered, where several are asked at once. */
  readonly patienceMs?: number;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
  /** Told of each new reason why a node is not used; neither holds anything of the URL but its host. */
  readonly report?: (host: string, reason: string) => void;
}

/** What opens a node of any chain; each kind has its own way to prove which chain it is of. */
export type NodeOptions = Omit<RpcOptions, 'identity'>;

export interface RpcCall<Value> extends Question {
  /** Throws a NodeError for an answer that cannot be true; another node is asked then. */
  read(answer: RpcAnswer, endpoint: number): Value;
  /** The caller decides how long the answer is: too long a one says nothing against the node. */
  readonly isOfRange?: boolean;
}

export interface Uncertain {
  readonly kind: 'uncertain';
  readonly message: string;
}

/** The nodes of one chain. */
export interface Rpc {
  /** A question whose repetition does no harm: to one node after another until an answer can be true. */
  ask<Value>(call: RpcCall<Value>): Promise<Value>;
  /** The same of every node, or of all but one; those that do not answer are left out. */
  askEach<Value>(question: (ask: Rpc['ask']) => Promise<Value>, except?: number): Promise<readonly Value[]>;
  /**
   * The same of every node that is not resting, for a moment longer than the first of them takes: one that hangs must not
   * hold up whoever asks, and is left out until it has answered.
   */
  askPromptly<Value>(question: (ask: Rpc['ask']) => Promise<Value>): Promise<readonly Value[]>;
  /**
   * Hands something over once to one node, and to the next ones while it is uncertain what became of it. A NodeError
   * of `read` is uncertain too.
   */
  offer<Outcome extends { readonly kind: string }>(call: RpcCall<Outcome>): Promise<Outcome | Uncertain>;
  /** The node that is asked first. */
  preferred(): number;
  /** What each node says within a moment. One that rests is not asked, and does not answer. */
  look<Value>(call: RpcCall<Value>): Promise<readonly Sight<Value>[]>;
}

/** What a node answered, if it did. */
export interface Sight<Value> {
  readonly host: string;
  readonly value: Value | undefined;
}

export function createRpc(urls: readonly string[], options: RpcOptions): Rpc {
  const { timeoutMs = TIMEOUT_MS, isBatching = true, retryPauseMs = RETRY_PAUSE_MS } = options;
  const { patienceMs = PATIENCE_MS, clock = monotonicClock } = options;
  const { identity, report = () => {}, signal = new AbortController().signal } = options;
  const endpoints = urls.map((url) => createEndpoint(url, { identity, timeoutMs, isBatching, clock, signal, report }));
  // Each request listens until it is answered, and there may be many.
  setMaxListeners(0, signal);
  let preferred = 0;
  const late = new Set<Endpoint>();

  /** The one that answered last comes first, the resting ones last. */
  function inOrder(): { readonly awake: readonly Endpoint[]; readonly resting: readonly Endpoint[] } {
    const nowMs = clock();
    const first = endpoints[preferred];
    const all = first === undefined ? [] : [first, ...endpoints.filter((endpoint) => endpoint !== first)];
    const awake = all.filter((endpoint) => endpoint.restsUntilMs() <= nowMs);
    const resting = all.filter((endpoint) => !awake.includes(endpoint));
    resting.sort((one, other) => one.restsUntilMs() - other.restsUntilMs());
    return { awake, resting };
  }

  /** What a node answers; a NodeError that it is to blame for lets it rest. */
  async function tryOne<Value>(endpoint: Endpoint, call: RpcCall<Value>, ask: Endpoint['ask']): Promise<Value> {
    try {
      const answer = await ask(call);
      if (!answer.ok && call.isOfRange && RANGE_TOO_LARGE.test(answer.message))
        throw new NodeError('too-large', answer.message);
      const value = call.read(answer, endpoints.indexOf(endpoint));
      endpoint.worked();
      return value;
    } catch (error) {
      if (error instanceof NodeError && !isOfCaller(error, call) && !signal.aborted) endpoint.failed(error);
      throw error;
    }
  }

  async function ask<Value>(call: RpcCall<Value>): Promise<Value> {
    const { awake, resting } = inOrder();
    const pass = awake.length > 0 ? awake : resting;
    const oneMore = awake.length > 0 && resting[0] !== undefined ? resting[0] : pass[0];
    let failure = new NodeError('unavailable', 'no node is set');
    for (const [index, endpoint] of [...pass, ...(oneMore === undefined ? [] : [oneMore])].entries()) {
      if (index === pass.length) await pause(retryPauseMs);
      if (signal.aborted) throw new NodeError('unavailable', 'the service is stopping');
      try {
        const value = await tryOne(endpoint, call, endpoint.ask);
        preferred = endpoints.indexOf(endpoint);
        return value;
      } catch (error) {
        if (!(error instanceof NodeError) || isOfCaller(error, call)) throw error;
        failure = new NodeError(error.kind, `${endpoint.host}: ${error.message}`, error);
      }
    }
    throw failure;
  }

  async function offer<Outcome extends { readonly kind: string }>(
    call: RpcCall<Outcome>,
  ): Promise<Outcome | Uncertain> {
    const { awake, resting } = inOrder();
    let uncertain: Uncertain | undefined;
    let unreached = 'no node can be reached';
    for (const endpoint of awake.length > 0 ? awake : resting) {
      if (signal.aborted) break;
      try {
        await endpoint.verify();
      } catch (error) {
        if (!(error instanceof NodeError)) throw error;
        endpoint.failed(error);
        unreached = `${endpoint.host}: ${error.message}`;
        continue;
      }
      try {
        const outcome = await tryOne(endpoint, call, endpoint.askAlone);
        // A node that was not sure may have it, whatever the next one says of it.
        if ((outcome.kind !== 'refused' && outcome.kind !== 'underpriced') || uncertain === undefined) return outcome;
      } catch (error) {
        if (!(error instanceof NodeError)) throw error;
        uncertain ??= { kind: 'uncertain', message: `${endpoint.host}: ${error.message}` };
      }
    }
    return uncertain ?? { kind: 'uncertain', message: unreached };
  }

  async function askPromptly<Value>(question: (ask: Rpc['ask']) => Promise<Value>): Promise<readonly Value[]> {
    const waitedFor = new Set(inOrder().awake.filter((endpoint) => !late.has(endpoint)));
    const values: Value[] = [];
    const answers = [...waitedFor].map(async (endpoint) => {
      try {
        values.push(await question((call) => tryOne(endpoint, call, endpoint.ask)));
      } finally {
        waitedFor.delete(endpoint);
        late.delete(endpoint);
      }
    });
    const all = Promise.all(answers.map((answer) => answer.catch(unlessOfNode)));
    const first = Promise.any(answers).then(
      () => pause(patienceMs, undefined, { ref: false }),
      () => all,
    );
    await Promise.race([all, first]);
    for (const endpoint of waitedFor) late.add(endpoint);
    return [...values];
  }

  return {
    ask,
    askPromptly,
    offer,
    async askEach(question, except) {
      const asked = endpoints.filter((_endpoint, index) => index !== except);
      const answers = await Promise.allSettled(
        asked.map((endpoint) => question((call) => tryOne(endpoint, call, endpoint.ask))),
      );
      return answers.flatMap((answer) => {
        if (answer.status === 'fulfilled') return [answer.value];
        if (answer.reason instanceof NodeError) return [];
        throw answer.reason;
      });
    },
    preferred: () => preferred,
    look: (call) =>
      Promise.all(
        endpoints.map(async (endpoint) => {
          const { host } = endpoint;
          if (endpoint.restsUntilMs() > clock()) return { host, value: undefined };
          const late = pause(LOOK_MS, undefined, { ref: false });
          const answer = tryOne(endpoint, call, endpoint.ask).catch(unlessOfNode);
          return { host, value: (await Promise.race([answer, late])) ?? undefined };
        }),
      ),
  };
}

function unlessOfNode(error: unknown): undefined {
  if (!(error instanceof NodeError)) throw error;
  return undefined;
}

const isOfCaller = ({ kind }: NodeError, { isOfRange = false }: RpcCall<unknown>): boolean =>
  kind === 'too-large' && isOfRange;
