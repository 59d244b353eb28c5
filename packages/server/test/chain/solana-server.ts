import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseWire } from '../../src/chains/solana/solana.ts';
import { FakeSolana, GENESIS, type Handed, type Landed } from './fake-solana.ts';

type Call = { readonly id: number; readonly method: string; readonly params: readonly unknown[] };

interface SignaturePage {
  readonly limit: number;
  readonly before?: string;
}

/** The fake Solana behind the JSON-RPC of a validator, on loopback. */
export class SolanaServer implements AsyncDisposable {
  readonly chain = new FakeSolana();
  readonly #server: Server;
  /** Whether there is a new block whenever somebody asks for the latest. */
  isGrowing = false;
  /** The oldest one that it keeps. */
  firstBlock = 0;
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
      case 'getSlot':
        return { result: chain.height - 32 };
      case 'getFirstAvailableBlock':
        return { result: this.firstBlock };
      case 'getBlocks': {
        const [from, to] = params as [number, number];
        return { result: Array.from({ length: to - from + 1 }, (_slot, at) => from + at) };
      }
      case 'getBlockTime':
        return { result: Math.floor(chain.timeOf(params[0] as number) / 1000) };
      case 'getSignaturesForAddress':
        return { result: this.#signaturesFor(first, params[1] as SignaturePage) };
      case 'getTransaction': {
        const found = chain.landed.get(first);
        if (found === undefined) return { result: null };
        if ((params[1] as { encoding: string }).encoding === 'base64') return { result: this.#wireOf(found) };
        const { slot, err = null } = found;
        const meta = { err, fee: 5000, logMessages: ['Program log: hello'], computeUnitsConsumed: 150 };
        return { result: { slot, meta, transaction: { signatures: [first] } } };
      }
      default:
        return { error: { code: -32601, message: 'Method not found' } };
    }
  }

  /** The newest first, behind one of them. */
  #signaturesFor(address: string, { limit, before }: SignaturePage): object[] {
    const names = ({ raw }: Handed): boolean =>
      parseWire(Buffer.from(raw).toString('hex')).transaction.accountKeys.includes(address);
    const landed = this.chain.handed.filter(names).flatMap(({ signature }) => this.chain.landed.get(signature) ?? []);
    const all = [...new Set(landed)].reverse();
    const start = before === undefined ? 0 : all.findIndex(({ signature }) => signature === before) + 1;
    return all.slice(start, start + limit).map(({ signature, slot, level, err = null, atMs }) => {
      return { signature, slot, err, blockTime: Math.floor(atMs / 1000), confirmationStatus: level, memo: null };
    });
  }

  #wireOf({ signature, slot, err = null, atMs }: Landed): object | null {
    const handed = this.chain.handed.find((one) => one.signature === signature);
    if (handed === undefined) return null;
    const transaction = [Buffer.from(handed.raw).toString('base64'), 'base64'];
    return { slot, blockTime: Math.floor(atMs / 1000), meta: { err, fee: 5000 }, transaction };
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
