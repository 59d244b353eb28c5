import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import {
  encodeAbiParameters,
  type Hex,
  keccak256,
  numberToHex,
  pad,
  parseTransaction,
  recoverTransactionAddress,
  type TransactionSerialized,
  toEventSelector,
  toFunctionSelector,
  toHex,
} from 'viem';

// A node of an EVM chain on loopback, for tests that need a chain to be there and not its rules: it puts whatever is
// sent into a block at once, whatever its nonce, and what is in a block stays.

/** `Transfer(address,address,uint256)`. */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** Of CustosBatch. */
const NONCE_USED = toEventSelector('NonceUsed(uint256)');
const RUN_SIGNED = toFunctionSelector('runSigned(uint256,uint256,(address,uint256,bytes)[],bytes)');
const GENESIS_SECONDS = 1_700_000_000;
const GAS = 21_000n;
const BASE_FEE = 1_000_000_000n;

type ParsedAny = ReturnType<typeof parseTransaction> & {
  readonly authorizationList?: readonly { readonly address: Hex }[];
};

/** An error in place of a result. */
export class StubError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(message: string, code = -32000, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export interface StubTransaction {
  readonly hash: Hex;
  readonly raw: Hex;
  readonly from: Hex;
  readonly to: Hex | null;
  readonly value: bigint;
  readonly nonce: number;
  readonly input: Hex;
  readonly isReverted: boolean;
}

export interface StubLog {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
}

interface Mined {
  readonly transaction: StubTransaction;
  readonly logs: readonly StubLog[];
}

interface StubBlock {
  readonly number: number;
  readonly hash: Hex;
  readonly parentHash: Hex;
  readonly timestamp: number;
  readonly mined: readonly Mined[];
  /** After it, by address in lower case. */
  readonly balances: ReadonlyMap<string, bigint>;
}

export interface StubCall {
  readonly to: Hex;
  readonly data: Hex;
}

type Method = (...params: never[]) => unknown;
/** What a contract answers to a call; undefined when it has no such function. */
type Contract = (call: StubCall) => Hex | undefined;

export class StubNode implements AsyncDisposable {
  /** In place of what it does otherwise, by method; a thrown StubError is the node's refusal. */
  readonly methods = new Map<string, Method>();
  /** By address in lower case. */
  readonly contracts = new Map<string, Contract>();
  readonly balances = new Map<string, bigint>();
  readonly codes = new Map<string, Hex>();
  /** The methods that were asked for, in their order. */
  readonly requests: string[] = [];
  readonly blocks: StubBlock[] = [];
  /** How many of the newest blocks are not final; undefined: it does not know the tag. */
  unfinalBlocks: number | undefined = 0;
  readonly chainId: number;
  readonly url: string;
  readonly #server: Server;
  /** The number of the block of a transaction. */
  readonly #placeOf = new Map<string, number>();
  /** How many transactions of an address are in blocks. */
  readonly #counts = new Map<string, number>();
  #forks = 0;

  private constructor(server: Server, chainId: number) {
    this.#server = server;
    this.chainId = chainId;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.mine();
  }

  static async start(chainId = 31_337): Promise<StubNode> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const node = new StubNode(server, chainId);
    server.on('request', async (request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(await node.#answerAll(request)));
    });
    return node;
  }

  get caip2(): string {
    return `eip155:${this.chainId}`;
  }

  /** The entry of CUSTOS_CHAINS for it. */
  settings(more: object = {}): Record<string, object> {
    return { [this.caip2]: { rpcUrls: [this.url], pollMs: 50, ...more } };
  }

  get head(): StubBlock {
    return this.blocks.at(-1) as StubBlock;
  }

  /** What came from an address, in the order of the blocks. */
  sentFrom(address: string): StubTransaction[] {
    const all = this.blocks.flatMap(({ mined }) => mined.map(({ transaction }) => transaction));
    return all.filter(({ from }) => from === address.toLowerCase());
  }

  /** Makes a block, with transactions of others in it. */
  mine(mined: readonly Mined[] = []): StubBlock {
    const number = this.blocks.length;
    const parentHash = this.blocks.at(-1)?.hash ?? pad('0x0');
    const block: StubBlock = {
      number,
      hash: keccak256(toHex(`${this.chainId} block ${number} ${this.url} ${this.#forks || ''}`)),
      parentHash,
      timestamp: GENESIS_SECONDS + 12 * number,
      mined,
      balances: new Map(this.balances),
    };
    this.blocks.push(block);
    for (const { transaction } of mined) {
      this.#placeOf.set(transaction.hash, number);
      this.#counts.set(transaction.from, (this.#counts.get(transaction.from) ?? 0) + 1);
    }
    return block;
  }

  /** Undoes the newest blocks; those that are made next are others. */
  undo(count: number): void {
    for (const { mined } of this.blocks.splice(-count)) {
      for (const { transaction } of mined) this.#placeOf.delete(transaction.hash);
    }
    this.#forks += 1;
  }

  /**
   * A block with transactions that move the native asset, each a fee of 21,000 gas; balances are the caller's to set.
   */
  mineValues(...moves: readonly { from: string; to: string; value: bigint; isReverted?: boolean }[]): Hex[] {
    const mined = moves.map(({ from, to, value, isReverted = false }, index) => {
      const hash = keccak256(toHex(`value ${this.blocks.length} ${index} ${from} ${to} ${value}`));
      const parties = { from: from.toLowerCase() as Hex, to: to.toLowerCase() as Hex };
      return {
        transaction: { hash, raw: hash, ...parties, value, nonce: 0, input: '0x' as Hex, isReverted },
        logs: [],
      };
    });
    this.mine(mined);
    return mined.map(({ transaction }) => transaction.hash);
  }

  /** A block with a transfer of a token in it, which the payer has made by a transaction. */
  mineTransfer(token: string, from: string, to: string, amount: bigint): Hex {
    const [payer, receiver] = [from.toLowerCase() as Hex, to.toLowerCase() as Hex];
    const address = token.toLowerCase() as Hex;
    const hash = keccak256(toHex(`transfer ${this.blocks.length} ${from} ${to} ${amount}`));
    const data = encodeAbiParameters([{ type: 'uint256' }], [amount]);
    const transaction = { hash, raw: hash, from: payer, to: address, value: 0n, nonce: 0, input: data };
    const topics = [TRANSFER, pad(payer), pad(receiver)] as const;
    this.mine([{ transaction: { ...transaction, isReverted: false }, logs: [{ address, topics, data }] }]);
    return hash;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answerAll(request: IncomingMessage): Promise<unknown> {
    const asked = JSON.parse(await text(request)) as Question | Question[];
    if (!Array.isArray(asked)) return await this.#answer(asked);
    const answers: unknown[] = [];
    for (const one of asked) answers.push(await this.#answer(one));
    return answers;
  }

  async #answer({ id, method, params }: Question): Promise<unknown> {
    this.requests.push(method);
    const own = (this.#own as Readonly<Record<string, Method>>)[method];
    const served = this.methods.get(method) ?? own;
    try {
      if (served === undefined) throw new StubError(`the method ${method} does not exist`, -32601);
      return { jsonrpc: '2.0', id, result: await served(...(params as never[])) };
    } catch (error) {
      if (!(error instanceof StubError)) throw error;
      const { code, message, data } = error;
      return { jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } };
    }
  }

  readonly #own = {
    eth_chainId: () => numberToHex(this.chainId),
    eth_blockNumber: () => numberToHex(this.head.number),
    eth_getBlockByNumber: (tag: string, isFull = false) => this.#block(tag, isFull),
    eth_getTransactionCount: (address: string) => numberToHex(this.#counts.get(address.toLowerCase()) ?? 0),
    eth_getBalance: (address: string, tag: string) => {
      const balances = tag === 'latest' ? this.balances : this.blocks[Number(tag)]?.balances;
      return numberToHex(balances?.get(address.toLowerCase()) ?? 0n);
    },
    eth_getCode: (address: string) => this.codes.get(address.toLowerCase()) ?? '0x',
    eth_getStorageAt: () => pad('0x0'),
    eth_call: (call: StubCall) => this.contracts.get(call.to.toLowerCase())?.(call) ?? this.#ofAccount(call),
    eth_estimateGas: () => numberToHex(GAS),
    eth_gasPrice: () => numberToHex(BASE_FEE),
    eth_maxPriorityFeePerGas: () => numberToHex(1n),
    eth_feeHistory: () => ({ oldestBlock: '0x0', baseFeePerGas: [numberToHex(BASE_FEE)], reward: [['0x1']] }),
    eth_getLogs: (filter: LogFilter) => this.#logs(filter),
    eth_getTransactionReceipt: (hash: string) => this.#receipt(hash),
    eth_getTransactionByHash: (hash: string) => this.#transaction(hash),
    eth_sendRawTransaction: (raw: Hex) => this.#take(raw),
  } satisfies Record<string, Method>;

  /** An account that has borrowed the batch contract's code has used no nonce that anybody asks for. */
  #ofAccount({ to }: StubCall): Hex {
    return this.codes.get(to.toLowerCase())?.startsWith('0xef0100') ? pad('0x') : '0x';
  }

  async #take(raw: Hex): Promise<Hex> {
    const { to, value = 0n, nonce = 0, data = '0x', authorizationList = [] } = parseTransaction(raw) as ParsedAny;
    const from = await recoverTransactionAddress({ serializedTransaction: raw as TransactionSerialized });
    const hash = keccak256(raw);
    if (this.#find(hash) !== undefined) throw new StubError('already known');
    const transaction: StubTransaction = {
      hash,
      raw,
      from: from.toLowerCase() as Hex,
      to: (to?.toLowerCase() as Hex | undefined) ?? null,
      value,
      nonce,
      input: data,
      isReverted: false,
    };
    // An account that is called with its authorization has the contract's code from then on, and tells of signed
    // batches.
    const [authorization] = authorizationList;
    if (authorization !== undefined && to)
      this.codes.set(to.toLowerCase(), `0xef0100${authorization.address.slice(2).toLowerCase()}`);
    const isBatch = to !== undefined && to !== null && data.startsWith(RUN_SIGNED) && this.codes.has(to.toLowerCase());
    const used = {
      address: to?.toLowerCase() as Hex,
      topics: [NONCE_USED, `0x${data.slice(10, 74)}` as Hex],
      data: '0x' as Hex,
    };
    this.mine([{ transaction, logs: isBatch ? [used] : [] }]);
    return hash;
  }

  #block(tag: string, isFull: boolean): unknown {
    if (tag === 'finalized' && this.unfinalBlocks === undefined) throw new StubError('unknown block tag', -32602);
    const block =
      tag === 'finalized' || tag === 'safe'
        ? this.blocks.at(-1 - (this.unfinalBlocks ?? 0))
        : tag === 'latest' || tag === 'pending'
          ? this.head
          : this.blocks[Number(tag)];
    return (
      block && {
        number: numberToHex(block.number),
        hash: block.hash,
        parentHash: block.parentHash,
        timestamp: numberToHex(block.timestamp),
        baseFeePerGas: numberToHex(BASE_FEE),
        transactions: block.mined.map(({ transaction: { hash } }) => (isFull ? this.#transaction(hash) : hash)),
      }
    );
  }

  #find(hash: string): { readonly block: StubBlock; readonly index: number; readonly one: Mined } | undefined {
    const block = this.blocks[this.#placeOf.get(hash) ?? -1];
    const index = block?.mined.findIndex(({ transaction }) => transaction.hash === hash) ?? -1;
    const one = block?.mined[index];
    return block && one && { block, index, one };
  }

  #transaction(hash: string): unknown {
    const found = this.#find(hash);
    if (found === undefined) return null;
    const { from, to, value, nonce, input } = found.one.transaction;
    return {
      ...placeOf(found.block),
      hash,
      from,
      to,
      value: numberToHex(value),
      nonce: numberToHex(nonce),
      input,
      transactionIndex: numberToHex(found.index),
    };
  }

  #receipt(hash: string): unknown {
    const found = this.#find(hash);
    if (found === undefined) return null;
    const { block, index, one } = found;
    const { from, to, isReverted } = one.transaction;
    return {
      ...placeOf(block),
      transactionHash: hash,
      transactionIndex: numberToHex(index),
      status: isReverted ? '0x0' : '0x1',
      gasUsed: numberToHex(GAS),
      cumulativeGasUsed: numberToHex(GAS),
      effectiveGasPrice: numberToHex(BASE_FEE),
      from,
      to,
      contractAddress: null,
      logs: logsOf(block).filter(({ transactionHash }) => transactionHash === hash),
    };
  }

  #logs({ address, topics = [], fromBlock, toBlock, blockHash }: LogFilter): unknown {
    const ofHash = this.blocks.filter(({ hash }) => hash === blockHash);
    if (blockHash !== undefined && ofHash.length === 0) throw new StubError('unknown block');
    const blocks = blockHash === undefined ? this.blocks.slice(Number(fromBlock), Number(toBlock) + 1) : ofHash;
    const addresses = address === undefined ? undefined : [address].flat().map((one) => one.toLowerCase());
    return blocks
      .flatMap(logsOf)
      .filter((log) => addresses === undefined || addresses.includes(log.address))
      .filter((log) =>
        topics.every((wanted, index) => wanted === null || [wanted].flat().includes(log.topics[index] ?? '0x')),
      );
  }
}

interface Question {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

interface LogFilter {
  readonly address?: string | readonly string[];
  readonly topics?: readonly (Hex | readonly Hex[] | null)[];
  readonly fromBlock?: string;
  readonly toBlock?: string;
  readonly blockHash?: string;
}

const placeOf = ({ hash, number }: StubBlock) => ({ blockHash: hash, blockNumber: numberToHex(number) });

const logsOf = (block: StubBlock) =>
  block.mined
    .flatMap(({ transaction, logs }) => logs.map((log) => ({ ...log, transactionHash: transaction.hash })))
    .map((log, index) => ({ ...log, ...placeOf(block), logIndex: numberToHex(index), removed: false }));
