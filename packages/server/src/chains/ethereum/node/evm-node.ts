import { keccak_256 } from '@noble/hashes/sha3.js';
import { monotonicClock } from '../../../lib/clock.ts';
import { toHex } from '../../../lib/encoding.ts';
import {
  asBytes,
  asCount,
  asQuantity,
  heedTrouble,
  illShaped,
  readBlock,
  readLogs,
  readReceipt,
  readTransaction,
  resultOf,
  revertDataOf,
} from '../../nodes/answers.ts';
import type {
  Broadcast,
  CallRefusal,
  CallResult,
  EvmCall,
  EvmEstimate,
  EvmLogFilter,
  EvmNode,
  EvmReceipt,
  Hex,
} from '../../nodes/node.ts';
import { NodeError } from '../../nodes/node-error.ts';
import { createRpc, type NodeOptions, type RpcCall } from '../../nodes/rpc.ts';
import type { RpcAnswer, RpcRefusal } from '../../nodes/rpc-answer.ts';
import type { ChainSettings } from '../../settings.ts';
import { readBalanceAt, readBlockAt, readFullBlockAt } from './block-at.ts';
import { readBroadcastRefusal } from './broadcast-outcome.ts';
import { createFeeAdvice } from './fee-advice.ts';
import { callThroughMulticall, MULTICALL3 } from './multicall.ts';

export function createEvmNode(chain: ChainSettings, options: NodeOptions = {}): EvmNode {
  const rpc = createRpc(chain.rpcUrls, {
    ...options,
    identity: { method: 'eth_chainId', problemOf: (result) => chainProblem(result, chain.reference) },
  });
  const fees = createFeeAdvice(rpc, options.clock ?? monotonicClock);
  const servedBy = new WeakMap<EvmReceipt, number>();
  let hasMulticall: boolean | undefined;

  const value = <Value>(method: string, params: readonly unknown[], read: (result: unknown) => Value): Promise<Value> =>
    rpc.ask({ method, params, read: (answer) => read(resultOf(answer)) });

  const code = (address: Hex): Promise<Hex> =>
    value('eth_getCode', [address, 'latest'], (result) => asBytes(result, 'the code'));

  const call = (request: EvmCall, at: bigint | 'latest' = 'latest'): Promise<CallResult> =>
    rpc.ask({
      method: 'eth_call',
      params: [transactionOf(request), typeof at === 'bigint' ? quantity(at) : at],
      read: (answer) =>
        answer.ok ? { ok: true, data: asBytes(answer.result, 'the result of the call') } : callRefusal(answer),
    });

  const countCall = (address: Hex, at: 'latest' | 'pending'): RpcCall<number> => ({
    method: 'eth_getTransactionCount',
    params: [address, at],
    read: (answer) => asCount(resultOf(answer), 'the number of transactions'),
  });

  const receiptCall = (hash: Hex): RpcCall<EvmReceipt | undefined> => ({
    method: 'eth_getTransactionReceipt',
    params: [hash],
    read: (answer, endpoint) => {
      const receipt = readReceipt(resultOf(answer), hash);
      if (receipt !== undefined) servedBy.set(receipt, endpoint);
      return receipt;
    },
  });

  return {
    chain,
    call,
    code,
    fees,
    block: (at) => rpc.ask(readBlockAt(at)),
    fullBlock: (number) => rpc.ask(readFullBlockAt(number)),
    balanceAt: (address, number) => rpc.ask(readBalanceAt(address, number)),
    transactionCount: (address, at) => rpc.ask(countCall(address, at)),
    transactionCounts: (address) => rpc.askEach((ask) => ask(countCall(address, 'latest'))),
    balance: (address) => value('eth_getBalance', [address, 'latest'], (result) => asQuantity(result, 'the balance')),
    storageAt: (address, slot) =>
      value('eth_getStorageAt', [address, slot, 'latest'], (result) => {
        const word = asQuantity(result === '0x' ? '0x0' : result, 'the storage');
        return `0x${word.toString(16).padStart(64, '0')}` as const;
      }),
    async callMany(calls) {
      if (calls.length < 2) return Promise.all(calls.map((one) => call(one)));
      hasMulticall ??= (await code(MULTICALL3)) !== '0x';
      return hasMulticall ? callThroughMulticall(call, calls) : Promise.all(calls.map((one) => call(one)));
    },
    estimateGas: (transaction) =>
      rpc.ask({
        method: 'eth_estimateGas',
        params: [transactionOf(transaction)],
        read: (answer) =>
          answer.ok ? { ok: true, gas: asQuantity(answer.result, 'the estimate') } : callRefusal(answer),
      }),
    async heads() {
      const read: RpcCall<bigint>['read'] = (answer) => asQuantity(resultOf(answer), 'the block number');
      const sights = await rpc.look({ method: 'eth_blockNumber', params: [], read });
      return sights.map(({ host, value: head }) => ({ host, head }));
    },
    receipt: (hash) => rpc.ask(receiptCall(hash)),
    transaction: (hash) => value('eth_getTransactionByHash', [hash], (result) => readTransaction(result, hash)),
    logs: (filter) =>
      rpc.ask({
        method: 'eth_getLogs',
        params: [logParameters(filter)],
        isOfRange: true,
        read: (answer) => readLogs(resultOf(answer), filter),
      }),
    broadcast: (raw) =>
      rpc.offer({ method: 'eth_sendRawTransaction', params: [raw], read: (answer) => readBroadcast(answer, raw) }),
    async confirmedElsewhere(receipt) {
      const { transactionHash, blockHash } = receipt;
      const except = servedBy.get(receipt) ?? rpc.preferred();
      const receipts = await rpc.askEach(async (ask) => (await ask(receiptCall(transactionHash)))?.blockHash, except);
      if (receipts.includes(blockHash)) return true;
      if (receipts.some((hash) => hash !== undefined)) return false;
      if (receipts.length === 0) return undefined;
      // One that is behind knows nothing of it, and contradicts nobody.
      const blockCall: RpcCall<Hex | undefined> = {
        method: 'eth_getBlockByNumber',
        params: [quantity(receipt.blockNumber), false],
        read: (answer) => readBlock(resultOf(answer), receipt.blockNumber)?.hash,
      };
      const blocks = await rpc.askEach((ask) => ask(blockCall), except);
      return blocks.some((hash) => hash !== undefined && hash !== blockHash) ? false : undefined;
    },
    async hasReceiptAnywhere(hashes) {
      const found = await Promise.all(hashes.map((hash) => rpc.askEach((ask) => ask(receiptCall(hash)))));
      if (found.flat().some((receipt) => receipt !== undefined)) return true;
      return found.some((answers) => answers.length === 0) ? undefined : false;
    },
  };
}

export function chainProblem(result: unknown, reference: string): string | undefined {
  const id = asQuantity(result, 'the chain id');
  return id === BigInt(reference) ? undefined : `the node is of the chain eip155:${id}, not of eip155:${reference}`;
}

const quantity = (number: bigint | number): Hex => `0x${number.toString(16)}`;

/** The transaction as the methods that only run it take it. */
function transactionOf({ to, data, value, ...rest }: EvmCall | EvmEstimate): Readonly<Record<string, unknown>> {
  const { from, nonce, gas, maxFeePerGas, maxPriorityFeePerGas, authorizationList }: Partial<EvmEstimate> = rest;
  return {
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(data === undefined ? {} : { data }),
    ...(value === undefined ? {} : { value: quantity(value) }),
    ...(nonce === undefined ? {} : { nonce: quantity(nonce) }),
    ...(gas === undefined ? {} : { gas: quantity(gas) }),
    ...(maxFeePerGas === undefined ? {} : { maxFeePerGas: quantity(maxFeePerGas) }),
    ...(maxPriorityFeePerGas === undefined ? {} : { maxPriorityFeePerGas: quantity(maxPriorityFeePerGas) }),
    ...(authorizationList === undefined ? {} : { authorizationList: authorizationList.map(authorizationOf) }),
  };
}

type Authorization = NonNullable<EvmEstimate['authorizationList']>[number];

const authorizationOf = ({ chainId, address, nonce, yParity, r, s }: Authorization): Readonly<Record<string, Hex>> => ({
  chainId: quantity(chainId),
  address,
  nonce: quantity(nonce),
  yParity: quantity(yParity),
  // Quantities: a value that starts with zeros is refused otherwise.
  r: quantity(BigInt(r)),
  s: quantity(BigInt(s)),
});

/** Errors that say nothing of the call: the node lacks the state, the method or the right to answer. */
const UNSERVED =
  /header not found|missing trie node|block not found|unknown block|state (is )?(not available|unavailable|pruned)|(historical|world) state|sync|method .*not (found|supported|available|enabled)|unauthorized|api.?key/i;
const UNSERVED_CODES: ReadonlySet<number> = new Set([-32700, -32600, -32601, -32604, -39001]);

function callRefusal(refusal: RpcRefusal): CallRefusal {
  heedTrouble(refusal);
  const { code, message, data } = refusal;
  const isOfCall = code === 3 || revertDataOf(data) !== undefined || /revert/i.test(message);
  if (!isOfCall && (UNSERVED_CODES.has(code) || UNSERVED.test(message))) throw new NodeError('unavailable', message);
  return { ok: false, message, data: revertDataOf(data) };
}

const logParameters = ({ address, topics, ...blocks }: EvmLogFilter): Readonly<Record<string, unknown>> => ({
  ...(address === undefined ? {} : { address }),
  ...(topics === undefined ? {} : { topics }),
  ...('blockHash' in blocks ? blocks : { fromBlock: quantity(blocks.fromBlock), toBlock: quantity(blocks.toBlock) }),
});

const hashOf = (raw: Hex): Hex => `0x${toHex(keccak_256(Buffer.from(raw.slice(2), 'hex')))}`;

type Told = Exclude<Broadcast, { kind: 'uncertain' }>;

function readBroadcast(answer: RpcAnswer, raw: Hex): Told {
  if (!answer.ok) return readBroadcastRefusal(answer);
  // A node that names another hash has not understood what it was given.
  if (asBytes(answer.result, 'the hash of the transaction', 32) !== hashOf(raw)) {
    throw illShaped('the hash of the transaction');
  }
  return { kind: 'accepted' };
}
