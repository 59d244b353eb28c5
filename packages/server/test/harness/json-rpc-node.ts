import type { IncomingMessage, ServerResponse } from 'node:http';
import { serve } from './loopback.ts';

/** An error object in place of a result. */
export class Refusal {
  readonly error: { readonly code: number; readonly message: string; readonly data?: unknown };

  constructor(code: number, message: string, data?: unknown) {
    this.error = { code, message, ...(data === undefined ? {} : { data }) };
  }
}

export interface RpcRequest {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface FakeNode {
  readonly url: string;
  readonly host: string;
  /** What each HTTP request asked for, in the order of their arrival. */
  readonly requests: (string | string[])[];
  /** By method: the result, a Refusal, or a function of the parameters that gives one of these. */
  readonly answers: Map<string, unknown>;
  /** Takes the place of the answer when set; the body is what would have been answered. */
  misbehave: ((response: ServerResponse, body: unknown, asked: RpcRequest | RpcRequest[]) => void) | undefined;
}

/** A JSON-RPC server on loopback that says what a test wants it to, and ends with the test. */
export async function startFakeNode(answers: Readonly<Record<string, unknown>> = {}): Promise<FakeNode> {
  const known = new Map(Object.entries(answers));
  const requests: FakeNode['requests'] = [];
  const port = await serve((request, response) => void answerRequest(request, response));
  const host = `127.0.0.1:${port}`;
  const node: FakeNode = { url: `http://${host}/`, host, requests, answers: known, misbehave: undefined };

  function answer({ id, method, params }: RpcRequest): unknown {
    if (!known.has(method)) return { jsonrpc: '2.0', id, error: { code: -32601, message: `no method ${method}` } };
    const given = known.get(method);
    const result = typeof given === 'function' ? given(...params) : given;
    return { jsonrpc: '2.0', id, ...(result instanceof Refusal ? { error: result.error } : { result }) };
  }

  async function answerRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const asked = JSON.parse(Buffer.concat(chunks).toString()) as RpcRequest | RpcRequest[];
    requests.push(Array.isArray(asked) ? asked.map(({ method }) => method) : asked.method);
    const body = Array.isArray(asked) ? asked.map(answer) : answer(asked);
    if (node.misbehave === undefined) sendJson(response, body);
    else node.misbehave(response, body, asked);
  }

  return node;
}

export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
