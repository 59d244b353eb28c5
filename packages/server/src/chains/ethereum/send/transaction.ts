import {
  encodeFunctionData,
  hashTypedData,
  keccak256,
  parseTransaction,
  serializeTransaction,
  type TransactionSerializable,
} from 'viem';
import { hashAuthorization } from 'viem/utils';
import { toHex } from '../../../lib/encoding.ts';
import type { EvmAuthorization, EvmFees, Hex } from '../../nodes/node.ts';
import { costTerms, isPaidByOperator } from '../../send/cost.ts';
import type { Send, SendAttempt, SendCall } from '../../send/model.ts';
import type { Round } from '../../send/parts.ts';
import { custosBatchAbi } from '../contract-artifacts.ts';

/** What CustosBatch hashes (EIP-712). */
const BATCH_TYPES = {
  BatchExecution: [
    { name: 'carrier', type: 'address' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
    { name: 'calls', type: 'Call[]' },
  ],
  Call: [
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'data', type: 'bytes' },
  ],
} as const;

const toCalls = (calls: readonly SendCall[]) =>
  calls.map(({ to, value, data }) => ({ to: to as Hex, value: BigInt(value), data: data as Hex }));

export const runData = (calls: readonly SendCall[]): Hex =>
  encodeFunctionData({ abi: custosBatchAbi, functionName: 'run', args: [toCalls(calls)] });

export interface Batch {
  /** Who alone may carry it: whoever else sees the signature can do nothing with it. */
  readonly carrier: Hex;
  readonly account: Hex;
  readonly chainId: number;
  readonly nonce: bigint;
  readonly deadline: bigint;
  readonly calls: readonly SendCall[];
}

/** What the account signs so that the operator may run its calls. */
export const batchDigest = ({ carrier, account, chainId, nonce, deadline, calls }: Batch): Hex =>
  hashTypedData({
    domain: { name: 'Custos Batch', version: '1', chainId, verifyingContract: account },
    types: BATCH_TYPES,
    primaryType: 'BatchExecution',
    message: { carrier, nonce, deadline, calls: toCalls(calls) },
  });

export const runSignedData = ({ nonce, deadline, calls }: Batch, signature: Hex): Hex =>
  encodeFunctionData({
    abi: custosBatchAbi,
    functionName: 'runSigned',
    args: [nonce, deadline, toCalls(calls), signature],
  });

/** Whose key signs: an address of the send's organization, or the operator's. */
export type Key = { readonly by: 'organization' | 'operator'; readonly address: string };

/** Whose key signs the transaction of a send, and pays for it. */
export const payerOf = (send: Send): Key => ({
  by: isPaidByOperator(send) ? 'operator' : 'organization',
  address: send.lane,
});

export interface RawSignature {
  readonly r: Hex;
  readonly s: Hex;
  readonly yParity: 0 | 1;
}

export async function signDigest({ parts, chain }: Round, send: Send, key: Key, digest: Hex): Promise<RawSignature> {
  const payload = Buffer.from(digest.slice(2), 'hex');
  const { signer } = parts;
  const [signature] =
    key.by === 'operator'
      ? await signer.signAsOperator(chain.caip2, key.address, 'ecdsa', [payload])
      : await signer.sign(send.organizationId, key.address, 'ecdsa', [payload]);
  if (signature === undefined) throw new Error('the keyring made no signature');
  return { r: `0x${toHex(signature.r)}`, s: `0x${toHex(signature.s)}`, yParity: signature.v };
}

export const joinSignature = ({ r, s, yParity }: RawSignature): Hex =>
  `0x${r.slice(2)}${s.slice(2)}${yParity === 0 ? '1b' : '1c'}`;

/** EIP-7702: the account's word that the contract's code is to be its own. */
export async function authorize(
  round: Round,
  send: Send,
  key: Key,
  contract: Hex,
  nonce: number,
): Promise<EvmAuthorization> {
  const chainId = Number(round.chain.reference);
  const signature = await signDigest(round, send, key, hashAuthorization({ address: contract, chainId, nonce }));
  return { chainId, address: contract, nonce, ...signature };
}

/** Signs a transaction as a new attempt of the send. */
export async function signAttempt(
  round: Round,
  send: Send,
  key: Key,
  transaction: TransactionSerializable,
): Promise<SendAttempt> {
  const signature = await signDigest(round, send, key, keccak256(serializeTransaction(transaction)));
  const raw = serializeTransaction(transaction, signature);
  return {
    hash: keccak256(raw),
    raw,
    nonce: transaction.nonce ?? 0,
    signedAtMs: round.parts.clock(),
    ...costTerms(round.chain, send, (transaction.gas ?? 0n) * (transaction.maxFeePerGas ?? 0n)),
  };
}

/** The same transaction at the same nonce with other fees. */
export function withFees({ raw }: SendAttempt, fees: EvmFees): TransactionSerializable {
  const { r: _r, s: _s, v: _v, yParity: _yParity, ...transaction } = parseTransaction(raw as Hex);
  return { ...transaction, ...fees } as TransactionSerializable;
}

/** The last nonce of the payer that a send takes: an authorization of the payer's own has the one behind. */
export function lastNonceOf(send: Send): number | undefined {
  const [first] = send.attempts;
  if (first?.nonce === undefined) return undefined;
  // What was signed elsewhere was stored with its own nonce alone.
  if (send.request.kind === 'ethereum-raw') return first.nonce;
  const authorizations = parseTransaction(first.raw as Hex).authorizationList?.length ?? 0;
  return authorizations > 0 && payerOf(send).by === 'organization' ? first.nonce + 1 : first.nonce;
}

/** What an attempt offers to pay. */
export function feesOf({ raw }: SendAttempt): EvmFees {
  const { maxFeePerGas, maxPriorityFeePerGas, gasPrice } = parseTransaction(raw as Hex);
  return {
    maxFeePerGas: maxFeePerGas ?? gasPrice ?? 0n,
    maxPriorityFeePerGas: maxPriorityFeePerGas ?? gasPrice ?? 0n,
  };
}

/** What the attempt calls, for asking a node why it was reverted. */
export function callOf({ raw }: SendAttempt): {
  readonly to: Hex | undefined;
  readonly data: Hex;
  readonly value: bigint;
  readonly gas: bigint;
} {
  const { to, data, value, gas } = parseTransaction(raw as Hex);
  return { to: to ?? undefined, data: data ?? '0x', value: value ?? 0n, gas: gas ?? 0n };
}
