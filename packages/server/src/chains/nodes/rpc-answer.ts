import { NodeError } from './node-error.ts';

/** What a node answered to one call. */
export type RpcAnswer = { readonly ok: true; readonly result: unknown } | RpcRefusal;

export interface RpcRefusal {
  readonly ok: false;
  readonly code: number;
  readonly message: string;
  readonly data: unknown;
}

const MESSAGE_LENGTH_MAX = 500;
// Control characters would let a node write lines of its own into a log or a terminal.
const CONTROLS = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;

/** One call's answer out of parsed JSON. Refuses what is not an answer to the call with this id. */
export function readAnswer(value: unknown, id: number): RpcAnswer {
  const answer = asRpcObject(value);
  if (answer === undefined || answer.id !== id) throw new NodeError('ill-shaped', 'the answer is to another call');
  return readOutcome(answer);
}

/** The answers to a batch, by the id of the call. Calls without one are left out. */
export function readAnswers(values: readonly unknown[], ids: ReadonlySet<number>): ReadonlyMap<number, RpcAnswer> {
  const answers = new Map<number, RpcAnswer>();
  for (const value of values) {
    const answer = asRpcObject(value);
    const id = answer?.id;
    if (answer === undefined || typeof id !== 'number' || !ids.has(id) || answers.has(id))
      throw new NodeError('ill-shaped', 'the batch holds an answer that was not asked for');
    answers.set(id, readOutcome(answer));
  }
  return answers;
}

/** Whether this is one error in place of all the answers to a batch. */
export function isBatchRefusal(value: unknown): boolean {
  const answer = asRpcObject(value);
  return answer !== undefined && isRecord(answer.error);
}

/** Whether this is one error in place of all the answers to a batch that speaks of the node and not of batches. */
export function isBatchTrouble(value: unknown): boolean {
  const answer = asRpcObject(value);
  if (answer === undefined || !isRecord(answer.error)) return false;
  const outcome = readOutcome(answer);
  return !outcome.ok && isNodeTrouble(outcome) && !/batch/i.test(outcome.message);
}

interface RpcObject {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const asRpcObject = (value: unknown): RpcObject | undefined => (isRecord(value) ? value : undefined);

function readOutcome(answer: RpcObject): RpcAnswer {
  if (isRecord(answer.error)) {
    const { code, message, data } = answer.error;
    const text = typeof message === 'string' ? plainText(message) : '';
    return {
      ok: false,
      code: typeof code === 'number' ? code : 0,
      message: text === '' ? 'the node gave no reason' : text,
      data,
    };
  }
  if (answer.error !== undefined && answer.error !== null) throw new NodeError('ill-shaped', 'the error is no object');
  if (!Object.hasOwn(answer, 'result')) throw new NodeError('ill-shaped', 'there is neither a result nor an error');
  return { ok: true, result: answer.result };
}

/** A node's own words, fit for a log and for a caller of ours. */
export const plainText = (text: string): string => text.slice(0, MESSAGE_LENGTH_MAX).replace(CONTROLS, ' ').trim();

const LIMIT_CODES: ReadonlySet<number> = new Set([-32005, 429, -32029, -32097]);
const INTERNAL = -32603;
const REVERTED = 3;
const LIMIT =
  /rate.?limit|too many requests|limit exceeded|request (count|limit)|compute units|capacity|quota|throttl|back.?off/i;

/**
 * Whether an error speaks of the node and not of the call, so that another node is asked. Some nodes report a reverted
 * call as their internal error; that is an answer all the same.
 */
export function isNodeTrouble({ code, message, data }: RpcRefusal): boolean {
  // What a contract reverts with is its own business, whatever it says.
  if (code === REVERTED || /^execution reverted/i.test(message)) return false;
  if (LIMIT_CODES.has(code)) return true;
  if (code === INTERNAL) return !/revert/i.test(message) && !(typeof data === 'string' && data.startsWith('0x'));
  return LIMIT.test(message) && !/gas/i.test(message);
}
