import type { EvmBlock, EvmFullBlock, EvmLog, EvmLogFilter, EvmReceipt, EvmTransaction, Hex } from './node.ts';
import { NodeError } from './node-error.ts';
import { isNodeTrouble, type RpcAnswer, type RpcRefusal } from './rpc-answer.ts';

export type Members = Readonly<Record<string, unknown>>;

export const illShaped = (what: string): NodeError => new NodeError('ill-shaped', `${what} is not what it should be`);

/** The result of a call that has no business being refused. */
export function resultOf(answer: RpcAnswer): unknown {
  if (!answer.ok) throw new NodeError('unavailable', answer.message);
  return answer.result;
}

/** Throws when an error speaks of the node; otherwise it is an answer to the call. */
export function heedTrouble(refusal: RpcRefusal): void {
  if (isNodeTrouble(refusal)) throw new NodeError('unavailable', refusal.message);
}

export function asMembers(value: unknown, what: string): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw illShaped(what);
  return value as Members;
}

export function asList(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw illShaped(what);
  return value;
}

const QUANTITY = /^0x[0-9a-f]{1,64}$/i;
const BYTES = /^0x(?:[0-9a-f]{2})*$/i;

export function asQuantity(value: unknown, what: string): bigint {
  if (typeof value !== 'string' || !QUANTITY.test(value)) throw illShaped(what);
  return BigInt(value);
}

/** A quantity that must be small enough for a number. */
export function asCount(value: unknown, what: string): number {
  const quantity = asQuantity(value, what);
  if (quantity > BigInt(Number.MAX_SAFE_INTEGER)) throw illShaped(what);
  return Number(quantity);
}

export function asBytes(value: unknown, what: string, length?: number): Hex {
  if (typeof value !== 'string' || !BYTES.test(value)) throw illShaped(what);
  if (length !== undefined && value.length !== 2 + 2 * length) throw illShaped(what);
  return value.toLowerCase() as Hex;
}

const asHash = (value: unknown, what: string): Hex => asBytes(value, what, 32);
const asAddress = (value: unknown, what: string): Hex => asBytes(value, what, 20);

/** Absent, or null as nodes write it. */
export const isAbsent = (value: unknown): value is undefined | null => value === undefined || value === null;

export function readBlock(result: unknown, expected: bigint | undefined): EvmBlock | undefined {
  return readBlockOf(result, expected, (hash) => asHash(hash, 'a transaction'));
}

export function readFullBlock(result: unknown, expected: bigint): EvmFullBlock | undefined {
  return readBlockOf(result, expected, (entry) => {
    const { hash, from, to, value } = asMembers(entry, 'a transaction');
    return {
      hash: asHash(hash, 'the hash of a transaction'),
      from: asAddress(from, 'the sender of a transaction'),
      to: isAbsent(to) ? undefined : asAddress(to, 'the receiver of a transaction'),
      value: asQuantity(value, 'the value of a transaction'),
    };
  });
}

function readBlockOf<Transaction>(
  result: unknown,
  expected: bigint | undefined,
  read: (entry: unknown) => Transaction,
): (Omit<EvmBlock, 'transactions'> & { readonly transactions: readonly Transaction[] }) | undefined {
  if (isAbsent(result)) return undefined;
  const block = asMembers(result, 'the block');
  const number = asQuantity(block.number, 'the number of the block');
  if (expected !== undefined && number !== expected) throw illShaped('the number of the block');
  return {
    number,
    hash: asHash(block.hash, 'the hash of the block'),
    parentHash: asHash(block.parentHash, 'the parent of the block'),
    timestamp: asCount(block.timestamp, 'the time of the block'),
    baseFeePerGas: isAbsent(block.baseFeePerGas) ? undefined : asQuantity(block.baseFeePerGas, 'the base fee'),
    transactions: asList(block.transactions, 'the list of transactions').map(read),
  };
}

/** Undefined while the transaction is in no block. */
export function readReceipt(result: unknown, asked: Hex): EvmReceipt | undefined {
  if (isAbsent(result)) return undefined;
  const receipt = asMembers(result, 'the receipt');
  if (isAbsent(receipt.blockHash) || isAbsent(receipt.blockNumber)) return undefined;
  const transactionHash = asHash(receipt.transactionHash, 'the hash of the receipt');
  if (transactionHash !== asked.toLowerCase()) throw illShaped('the hash of the receipt');
  const status = asQuantity(receipt.status, 'the status of the receipt');
  if (status > 1n) throw illShaped('the status of the receipt');
  const place = {
    transactionHash,
    blockNumber: asQuantity(receipt.blockNumber, 'the block of the receipt'),
    blockHash: asHash(receipt.blockHash, 'the block of the receipt'),
  };
  return {
    ...place,
    isSuccess: status === 1n,
    gasUsed: asQuantity(receipt.gasUsed, 'the gas of the receipt'),
    effectiveGasPrice: asQuantity(receipt.effectiveGasPrice, 'the gas price of the receipt'),
    from: asAddress(receipt.from, 'the sender of the receipt'),
    to: isAbsent(receipt.to) ? undefined : asAddress(receipt.to, 'the receiver of the receipt'),
    contractAddress: isAbsent(receipt.contractAddress)
      ? undefined
      : asAddress(receipt.contractAddress, 'the contract of the receipt'),
    logs: asList(receipt.logs, 'the logs of the receipt').map((entry) => {
      const log = readLog(entry);
      const isOfReceipt = log.transactionHash === place.transactionHash && log.blockHash === place.blockHash;
      if (!isOfReceipt || log.blockNumber !== place.blockNumber) throw illShaped('a log of the receipt');
      return log;
    }),
  };
}

export function readTransaction(result: unknown, asked: Hex): EvmTransaction | undefined {
  if (isAbsent(result)) return undefined;
  const transaction = asMembers(result, 'the transaction');
  const hash = asHash(transaction.hash, 'the hash of the transaction');
  if (hash !== asked.toLowerCase()) throw illShaped('the hash of the transaction');
  const { blockNumber, to } = transaction;
  return {
    hash,
    from: asAddress(transaction.from, 'the sender of the transaction'),
    to: isAbsent(to) ? undefined : asAddress(to, 'the receiver of the transaction'),
    value: asQuantity(transaction.value, 'the value of the transaction'),
    nonce: asCount(transaction.nonce, 'the nonce of the transaction'),
    input: asBytes(transaction.input, 'the data of the transaction'),
    blockNumber: isAbsent(blockNumber) ? undefined : asQuantity(blockNumber, 'the block of the transaction'),
  };
}

const TOPICS_MAX = 4;
const LOGS_MAX = 10_000;

function readLog(value: unknown): EvmLog {
  const log = asMembers(value, 'a log');
  const topics = asList(log.topics, 'the topics of a log').map((topic) => asHash(topic, 'a topic of a log'));
  // A removed log belongs to a block that is no longer in the chain.
  if (topics.length > TOPICS_MAX || log.removed === true) throw illShaped('a log');
  return {
    address: asAddress(log.address, 'the address of a log'),
    topics,
    data: asBytes(log.data, 'the data of a log'),
    blockNumber: asQuantity(log.blockNumber, 'the block of a log'),
    blockHash: asHash(log.blockHash, 'the block of a log'),
    transactionHash: asHash(log.transactionHash, 'the transaction of a log'),
    logIndex: asCount(log.logIndex, 'the index of a log'),
  };
}

/** Each log once, and only those that were asked for. */
export function readLogs(result: unknown, filter: EvmLogFilter): readonly EvmLog[] {
  const entries = asList(result, 'the list of logs');
  if (entries.length > LOGS_MAX) throw new NodeError('too-large', `there are more than ${LOGS_MAX} logs`);
  const fits = logFilter(filter);
  const seen = new Set<string>();
  return entries.map((entry) => {
    const log = readLog(entry);
    const key = `${log.blockHash}/${log.logIndex}`;
    if (!fits(log) || seen.has(key)) throw illShaped('a log');
    seen.add(key);
    return log;
  });
}

function logFilter({ address, topics = [], ...blocks }: EvmLogFilter): (log: EvmLog) => boolean {
  const addresses = address === undefined ? undefined : lowerCased(address);
  const wanted = topics.map((topic) => (topic === null ? undefined : lowerCased(topic)));
  return (log) =>
    ('blockHash' in blocks
      ? log.blockHash === blocks.blockHash
      : log.blockNumber >= blocks.fromBlock && log.blockNumber <= blocks.toBlock) &&
    (addresses === undefined || addresses.has(log.address)) &&
    log.topics.length >= wanted.length &&
    wanted.every((values, index) => values === undefined || values.has(log.topics[index] ?? ''));
}

const lowerCased = (values: Hex | readonly Hex[]): ReadonlySet<string> =>
  new Set((typeof values === 'string' ? [values] : values).map((value) => value.toLowerCase()));

const REVERT_BYTES_MAX = 64 * 1024;

/** The bytes that a contract reverted with, which nodes put at different places of an error. */
export function revertDataOf(data: unknown): Hex | undefined {
  if (typeof data === 'string') {
    // Some nodes write a word in front of it.
    const text = data.replace(/^Reverted /, '');
    return BYTES.test(text) && text.length <= 2 + 2 * REVERT_BYTES_MAX ? (text.toLowerCase() as Hex) : undefined;
  }
  if (typeof data !== 'object' || data === null) return undefined;
  const { data: inner, result } = data as Members;
  return typeof inner === 'string'
    ? revertDataOf(inner)
    : typeof result === 'string'
      ? revertDataOf(result)
      : undefined;
}
