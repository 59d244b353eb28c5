import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FakeSolana, GENESIS } from './fake-solana.ts';

type Call = { readonly id: number; readonly method: string; readonly params: readonly unknown[] };

/** The fake Solana behind the JSON-RPC of a validator, on loopback. */
export class SolanaServer implements AsyncDisposable {
  readonly chain = new FakeSolana();
  readonly #server: Server;
  /** Whether there is a new block whenever somebody asks for the latest. */
  isGrowing = false;
  /** Takes the place of an answer; the connection is cut when it answers undefined. */
  onCall: ((call: Call, answer: () => object) => object | undefined | Promise<undefined>) | undefined;

  readonly #genesis: string;

  private constructor(genesis: string) {
    this.#genesis = genesis;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(genesis = GENESIS): Promise<SolanaServer> {
    const server = new SolanaServer(genesis);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** The entry of CUSTOS_CHAINS for it. */
  settings(more: object = {}): Record<string, object> {
    return { [`solana:${this.#genesis.slice(0, 32)}`]: { rpcUrls: [this.url], pollMs: 50, ...more } };
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const asked = JSON.parse(Buffer.concat(chunks).toString()) as Call | Call[];
    const calls = [asked].flat().map((call) => {
      const answer = () => ({ jsonrpc: '2.0', id: call.id, ...this.#answer(call) });
      return this.onCall === undefined ? answer() : this.onCall(call, answer);
    });
    const answers = await Promise.all(calls);
    if (this.chain.isDown || answers.includes(undefined)) {
      response.destroy();
      return;
    }
    const body = JSON.stringify(Array.isArray(asked) ? answers : answers[0]);
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  }

  #answer({ method, params }: Call): object {
    const { chain } = this;
    const context = { slot: chain.height };
    const [first] = params as [string];
    switch (method) {
      case 'getGenesisHash':
        return { result: this.#genesis };
      case 'getLatestBlockhash':
        if (this.isGrowing) chain.grow(1);
        return {
          result: { context, value: { blockhash: chain.blockhash, lastValidBlockHeight: chain.height + 150 } },
        };
      case 'getBlockHeight':
        return { result: chain.height - 32 };
      case 'isBlockhashValid':
        return { result: { context, value: chain.isValid(first) } };
      case 'sendTransaction': {
        const outcome = chain.broadcast(first);
        if (outcome.kind === 'accepted') return { result: chain.handed.at(-1)?.signature };
        if (outcome.kind === 'refused') {
          const { rpcCode: code, message, err = null, logs = [] } = outcome;
          return { error: { code, message, data: { err, logs, unitsConsumed: 0 } } };
        }
        const message = 'Transaction simulation failed: This transaction has already been processed';
        return { error: { code: -32002, message, data: { err: 'AlreadyProcessed', logs: [] } } };
      }
      case 'getSignatureStatuses':
        return { result: { context, value: (params[0] as string[]).map((signature) => this.#status(signature)) } };
      case 'getTransaction': {
        const found = chain.landed.get(first);
        if (found === undefined) return { result: null };
        const { slot, err = null } = found;
        const meta = { err, fee: 5000, logMessages: ['Program log: hello'], computeUnitsConsumed: 150 };
        return { result: { slot, meta, transaction: { signatures: [first] } } };
      }
      default:
        return { error: { code: -32601, message: 'Method not found' } };
    }
  }

  #status(signature: string): object | null {
    const found = this.chain.landed.get(signature);
    if (found === undefined) return null;
    const { slot, level: confirmationStatus, err = null } = found;
    return { slot, confirmations: confirmationStatus === 'finalized' ? null : 1, confirmationStatus, err };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
