import { operatorFetch } from '../../outbound/operator-fetch.ts';
import { OutboundError } from '../../outbound/outbound-error.ts';
import { NodeError } from './node-error.ts';

const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
const HEADERS = { 'content-type': 'application/json', accept: 'application/json', 'user-agent': 'custos' };

export interface Posted {
  readonly status: number;
  /** Undefined when the body is no JSON. */
  readonly json: unknown;
}

export interface PostOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Sends JSON to a node and reads what it answers. Redirects are not followed: the operator named the host that may be
 * asked. A status that speaks of the node is an error here; some nodes use others for errors of a call.
 */
export async function post(url: string, body: string, { timeoutMs, signal }: PostOptions): Promise<Posted> {
  const answer = await operatorFetch(url, {
    method: 'POST',
    headers: HEADERS,
    body,
    timeoutMs,
    maxBytes: ANSWER_BYTES_MAX,
    signal,
  }).catch((error: unknown) => {
    throw error instanceof OutboundError ? asNodeError(error) : error;
  });
  const { status } = answer;
  const isOfNode = status < 200 || (status >= 300 && status < 400) || status >= 500 || [401, 403, 429].includes(status);
  if (isOfNode) throw new NodeError('unavailable', `the answer has the HTTP status ${status}`);
  return { status, json: parse(answer.body) };
}

const asNodeError = (error: OutboundError): NodeError =>
  new NodeError(error.reason === 'too-large' ? 'too-large' : 'unavailable', error.message, error);

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
