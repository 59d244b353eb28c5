import type { TransactionSerializable } from 'viem';
import type { EvmAuthorization, EvmEstimate, EvmFees, EvmNode, Hex } from '../../nodes/node.ts';
import type { EthereumSendRequest, Send } from '../../send/model.ts';
import type { Round } from '../../send/parts.ts';
import { Sends } from '../../send/sends.ts';
import { delegateOf, isDelegatedTo, isDelegation } from '../delegation.ts';
import {
  authorize,
  type Batch,
  batchDigest,
  joinSignature,
  type Key,
  payerOf,
  runData,
  runSignedData,
  signDigest,
} from './transaction.ts';

/** How long an operator may take to send what an account has signed. */
export const BATCH_LIFE_SECONDS = 3600;

/** A transaction that lacks only gas, fees and its signature. */
export interface Draft {
  readonly payer: Key;
  readonly nonce: number;
  /** More than one where an authorization takes the next. */
  readonly noncesTaken: number;
  readonly to: Hex;
  readonly data: Hex;
  readonly value: bigint;
  readonly authorizationList: readonly EvmAuthorization[];
}

/** Why a send cannot be made into a transaction. */
export class Unsendable extends Error {
  override readonly name = 'Unsendable';
}

/** What must happen first on the chain; the send is looked at again later. */
export class NotYet extends Error {
  override readonly name = 'NotYet';
}

/** Makes the transaction of a send at a nonce. Signs authorizations and batches, not the transaction. */
export async function draft(
  round: Round,
  node: EvmNode,
  send: Send,
  request: EthereumSendRequest,
  nonce: number,
): Promise<Draft> {
  const { chain } = round;
  const account = send.sender as Hex;
  if (request.sponsored !== undefined) return await sponsoredDraft(round, node, send, request, nonce);
  const payer = payerOf(send);
  const [call] = request.calls;
  if (call === undefined) throw new Unsendable('it has no calls');
  if (request.calls.length === 1) {
    const to = call.to as Hex;
    return {
      payer,
      nonce,
      noncesTaken: 1,
      to,
      data: call.data as Hex,
      value: BigInt(call.value),
      authorizationList: [],
    };
  }
  if (chain.batchContract === undefined) throw new Unsendable('the chain has no batchContract any more');
  const contract = chain.batchContract as Hex;
  const isDelegated = await delegatedTo(node, account, contract);
  // The account's own transaction takes its nonce first, so that the authorization has the next.
  const authorizationList = isDelegated ? [] : [await authorize(round, send, payer, contract, nonce + 1)];
  const noncesTaken = isDelegated ? 1 : 2;
  return { payer, nonce, noncesTaken, to: account, data: runData(request.calls), value: 0n, authorizationList };
}

async function sponsoredDraft(
  round: Round,
  node: EvmNode,
  send: Send,
  request: EthereumSendRequest,
  nonce: number,
): Promise<Draft> {
  const { chain, parts } = round;
  if (chain.batchContract === undefined) throw new Unsendable('the chain has no batchContract any more');
  const account = send.sender as Hex;
  const contract = chain.batchContract as Hex;
  const key: Key = { by: 'organization', address: send.sender };
  const authorizationList: EvmAuthorization[] = [];
  if (!(await delegatedTo(node, account, contract))) {
    // An authorization takes a nonce of the account, which its own transactions on their way have taken already.
    const own = await parts.storage.read(Sends).onTheWay(chain.caip2, send.sender);
    if (own.size > 0)
      throw new NotYet('the account has transactions of its own on their way, and cannot borrow code beside them');
    authorizationList.push(await authorize(round, send, key, contract, await node.transactionCount(account, 'latest')));
  }
  const batch: Batch = {
    carrier: send.lane as Hex,
    account,
    chainId: Number(chain.reference),
    nonce: BigInt(request.sponsored?.batchNonce ?? 0),
    deadline: BigInt(request.deadline ?? Math.floor(parts.clock() / 1000) + BATCH_LIFE_SECONDS),
    calls: request.calls,
  };
  const signature = joinSignature(await signDigest(round, send, key, batchDigest(batch)));
  return {
    payer: payerOf(send),
    nonce,
    noncesTaken: 1,
    to: account,
    data: runSignedData(batch, signature),
    value: 0n,
    authorizationList,
  };
}

/** Whether the account has the contract's code; refuses where it would lose other code, or get none. */
async function delegatedTo(node: EvmNode, account: Hex, contract: Hex): Promise<boolean> {
  const [code, borrowed] = await Promise.all([node.code(account), node.code(contract)]);
  // A call to an account that has borrowed nothing succeeds and does nothing.
  if (borrowed === '0x') throw new Unsendable(`there is no contract at batchContract ${contract}`);
  if (code === '0x') return false;
  if (isDelegatedTo(code, contract)) return true;
  if (isDelegation(code)) {
    throw new Unsendable(`the account has the code of ${delegateOf(code)}, which would be replaced`);
  }
  throw new Unsendable('the account is a contract');
}

export const estimateOf = ({ payer, to, data, value, authorizationList }: Draft): EvmEstimate => ({
  from: payer.address as Hex,
  to,
  data,
  value,
  ...(authorizationList.length > 0 && { authorizationList }),
});

export function transactionOf(
  { nonce, to, data, value, authorizationList }: Draft,
  chainId: number,
  gas: bigint,
  fees: EvmFees,
): TransactionSerializable {
  const common = { chainId, nonce, to, data, value, gas, ...fees };
  return authorizationList.length === 0
    ? { ...common, type: 'eip1559' }
    : { ...common, type: 'eip7702', authorizationList: authorizationList.map((entry) => ({ ...entry })) };
}
