import {
  type Hex as AnyHex,
  keccak256,
  recoverTransactionAddress,
  serializeTransaction,
  type TransactionSerializable,
  type TransactionSerialized,
} from 'viem';
import { asCount, asList, asMembers, asQuantity, illShaped, isAbsent, type Members } from '../../nodes/answers.ts';
import type { Hex } from '../../nodes/node.ts';

/** A transaction as a node tells of it, with the bytes that its sender signed. */
export interface SentTransaction {
  readonly hash: Hex;
  readonly from: Hex;
  readonly to: Hex | undefined;
  readonly value: bigint;
  readonly input: Hex;
  readonly nonce: number;
  /** Absent while no block has it. */
  readonly block: bigint | undefined;
  /** The most that it can pay for its gas. */
  readonly most: bigint;
  /** Undefined where it is of a kind that Custos does not sign, or the node tells of other bytes than it was signed over. */
  readonly raw: Hex | undefined;
}

const BYTES = /^0x(?:[0-9a-f]{2})*$/i;
const TYPES = { '0x0': 'legacy', '0x1': 'eip2930', '0x2': 'eip1559', '0x4': 'eip7702' } as const;

/** Whether an entry of a block or a pool is of an address; most are not, and are read no further. */
export const isFrom = (entry: unknown, address: string): boolean =>
  typeof (entry as Members | null)?.from === 'string' &&
  ((entry as { from: string }).from.toLowerCase() as string) === address;

/**
 * What a node says that an address has sent. The bytes are put together again and have to have the hash and the signature of
 * the address: a node can hide a transaction, or say where it is, and cannot make one up.
 */
export async function readSentTransaction(value: unknown): Promise<SentTransaction> {
  const given = asMembers(value, 'the transaction');
  const hash = bytesOf(given.hash, 'the hash of a transaction');
  const from = bytesOf(given.from, 'the sender of a transaction');
  const fields = {
    hash,
    from,
    to: isAbsent(given.to) ? undefined : bytesOf(given.to, 'the receiver of a transaction'),
    value: asQuantity(given.value, 'the value of a transaction'),
    input: bytesOf(given.input ?? given.data, 'the data of a transaction'),
    nonce: asCount(given.nonce, 'the nonce of a transaction'),
    block: isAbsent(given.blockNumber) ? undefined : asQuantity(given.blockNumber, 'the block of a transaction'),
  };
  const gas = asQuantity(given.gas, 'the gas of a transaction');
  const price = given.maxFeePerGas ?? given.gasPrice;
  const most = gas * (isAbsent(price) ? 0n : asQuantity(price, 'the gas price of a transaction'));
  return { ...fields, most, raw: await rawOf(given, fields, gas) };
}

async function rawOf(
  given: Members,
  { hash, from, to, value, input, nonce }: Omit<SentTransaction, 'raw' | 'most'>,
  gas: bigint,
): Promise<Hex | undefined> {
  const type = TYPES[(isAbsent(given.type) ? '0x0' : given.type) as keyof typeof TYPES];
  if (type === undefined) return undefined;
  try {
    const common = { nonce, gas, value, data: input, ...(to !== undefined && { to }) };
    const chainId = isAbsent(given.chainId) ? undefined : Number(asQuantity(given.chainId, 'the chain'));
    const transaction = { type, ...common, ...feesOf(given, type), ...listsOf(given, type), chainId };
    const raw = serializeTransaction(
      transaction as TransactionSerializable,
      {
        r: wordOf(given.r),
        s: wordOf(given.s),
        ...(type === 'legacy' ? { v: asQuantity(given.v, 'a signature') } : { yParity: parityOf(given) }),
      } as never,
    );
    if (keccak256(raw) !== hash) return undefined;
    const signer = await recoverTransactionAddress({ serializedTransaction: raw as TransactionSerialized });
    return signer.toLowerCase() === from ? raw : undefined;
  } catch {
    // It may be of a fork of Ethereum that signs more than we know.
    return undefined;
  }
}

function feesOf(given: Members, type: string) {
  if (type === 'legacy' || type === 'eip2930') return { gasPrice: asQuantity(given.gasPrice, 'the gas price') };
  return {
    maxFeePerGas: asQuantity(given.maxFeePerGas, 'the fee'),
    maxPriorityFeePerGas: asQuantity(given.maxPriorityFeePerGas, 'the tip'),
  };
}

function listsOf(given: Members, type: string) {
  const accessList = isAbsent(given.accessList) ? [] : asList(given.accessList, 'the access list');
  if (type === 'legacy') return {};
  if (type !== 'eip7702') return { accessList };
  const authorizationList = asList(given.authorizationList, 'the authorizations').map((entry) => {
    const signed = asMembers(entry, 'an authorization');
    return {
      chainId: asCount(signed.chainId, 'the chain of an authorization'),
      address: bytesOf(signed.address, 'the contract of an authorization'),
      nonce: asCount(signed.nonce, 'the nonce of an authorization'),
      yParity: parityOf(signed),
      r: wordOf(signed.r),
      s: wordOf(signed.s),
    };
  });
  return { accessList, authorizationList };
}

const parityOf = (given: Members): number => Number(asQuantity(given.yParity ?? given.v, 'a signature'));

const wordOf = (value: unknown): AnyHex => `0x${asQuantity(value, 'a signature').toString(16).padStart(64, '0')}`;

function bytesOf(value: unknown, what: string): Hex {
  if (typeof value !== 'string' || !BYTES.test(value)) throw illShaped(what);
  return value.toLowerCase() as Hex;
}
