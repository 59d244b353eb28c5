// What stands between the service and a node, and can get in its way.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * `lost`: the bytes never reach the node, and no answer comes. `silent`: they do, and no answer comes. `down`: nobody is
 * there.
 */
export type Trouble = 'none' | 'lost' | 'silent' | 'down';

interface Call {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

export class TroubledNode implements AsyncDisposable {
  readonly #server: Server;
  readonly #target: string;
  /** What happens to transactions. */
  trouble: Trouble = 'none';
  /** Changes answers on their way back. */
  lie: ((call: Call, result: unknown) => unknown) | undefined;
  /** Transactions that were handed over, as they came. */
  readonly handed: string[] = [];
  #listeners: (() => void)[] = [];

  private constructor(server: Server, target: string) {
    this.#server = server;
    this.#target = target;
  }

  static async start(target: string): Promise<TroubledNode> {
    const server = createServer();
    const node = new TroubledNode(server, target);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk) => chunks.push(chunk));
      request.on('end', async () => {
        const body = Buffer.concat(chunks).toString();
        const answer = await node.#answer(body).catch(() => undefined);
        if (answer === undefined) response.destroy();
        else if (answer !== 'silence') response.setHeader('content-type', 'application/json').end(answer);
      });
      request.on('error', () => {});
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return node;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** When so many transactions were handed over. */
  async handedOver(count: number): Promise<void> {
    while (this.handed.length < count) await new Promise<void>((resolve) => this.#listeners.push(resolve));
  }

  async #answer(body: string): Promise<string | 'silence' | undefined> {
    if (this.trouble === 'down') return undefined;
    const parsed = JSON.parse(body) as Call | Call[];
    const calls = Array.isArray(parsed) ? parsed : [parsed];
    const sends = calls.filter(({ method }) => /^(eth_sendRawTransaction|sendTransaction)$/.test(method));
    for (const { params } of sends) this.handed.push(String(params[0]));
    for (const listener of this.#listeners.splice(0)) listener();
    if (sends.length > 0 && this.trouble === 'lost') return 'silence';
    const forwarded = await fetch(this.#target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    const text = await forwarded.text();
    if (sends.length > 0 && this.trouble === 'silent') return 'silence';
    if (this.lie === undefined) return text;
    const lie = this.lie;
    const answers = JSON.parse(text) as { id: unknown; result?: unknown } | { id: unknown; result?: unknown }[];
    const changed = (Array.isArray(answers) ? answers : [answers]).map((answer) => {
      const call = calls.find(({ id }) => id === answer.id);
      return call === undefined || !('result' in answer) ? answer : { ...answer, result: lie(call, answer.result) };
    });
    return JSON.stringify(Array.isArray(answers) ? changed : changed[0]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
