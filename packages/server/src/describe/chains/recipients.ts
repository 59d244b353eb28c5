import { decodeAbi } from '../../chains/ethereum/abi/decode.ts';
import { type AbiType, readAbiType } from '../../chains/ethereum/abi/types.ts';
import { type EvmCall, unbatched } from '../../chains/ethereum/batch.ts';
import type { ConfiguredChains } from '../../chains/settings.ts';
import { ADDRESS_TABLE_LOOKUP } from '../../chains/solana/message.ts';
import type { SolanaTransaction } from '../../chains/solana/solana.ts';
import { evmCalls } from '../../chains/tempo/movements.ts';
import type { ParsedTransaction } from '../../chains/transactions.ts';
import { ApiError } from '../../lib/errors.ts';
import type { DynamicValue } from '../../policy/index.ts';
import { configuredToken, evmCaip2, mintUnit } from '../chain-names.ts';

// Whom a transaction pays: coins, and tokens that the operator has configured, by the calls that all of them have. What
// anybody could make up counts for nothing: a payment of nothing, or of a token that nobody vouches for.

/** Somebody who is paid, and where. */
export interface PaidAddress {
  /** The family where the transaction names no chain. */
  readonly chain: string;
  /** As the chain writes it. */
  readonly address: string;
}

const typesOf = (...names: readonly string[]): readonly AbiType[] =>
  names.map((type) => readAbiType({ type, name: '' }, 'a standard call').type);
interface StandardTransfer {
  readonly types: readonly AbiType[];
  readonly to: number;
  readonly amount: number;
  readonly owner?: number;
}

const PAIR: StandardTransfer = { types: typesOf('address', 'uint256'), to: 0, amount: 1 };
const TRIPLE: StandardTransfer = { types: typesOf('address', 'address', 'uint256'), to: 1, amount: 2, owner: 0 };
const TRANSFERS: Readonly<Record<string, StandardTransfer>> = {
  '0xa9059cbb': PAIR,
  '0x23b872dd': TRIPLE,
  '0x42842e0e': TRIPLE,
};

function paidBy(
  chains: ConfiguredChains,
  caip2: string,
  from: string,
  { to, value, data }: EvmCall,
): readonly string[] {
  if (to === '') return [];
  const coins = value === 0n ? [] : [to];
  const transfer = TRANSFERS[data.slice(0, 10)];
  if (transfer === undefined || configuredToken(chains, caip2, to) === undefined) return coins;
  const values = decodeAbi(transfer.types, Buffer.from(data.slice(10), 'hex'));
  const recipient = textAt(values, transfer.to);
  const amount = values?.[transfer.amount];
  const isPaid = typeof amount === 'object' && 'value' in amount && amount.value !== 0n;
  const isOurs = transfer.owner === undefined || textAt(values, transfer.owner) === from;
  return isPaid && isOurs && recipient !== undefined ? [...coins, recipient] : coins;
}

function textAt(values: readonly DynamicValue[] | undefined, index: number): string | undefined {
  const found = values?.[index];
  return typeof found === 'object' && 'text' in found ? found.text : undefined;
}

function paidByCalls(
  chains: ConfiguredChains,
  chainId: bigint,
  from: string,
  calls: readonly EvmCall[],
): readonly PaidAddress[] {
  const chain = chainId === 0n ? 'eip155' : evmCaip2(chainId);
  try {
    return unbatched(from, calls)
      .flatMap((call) => paidBy(chains, chain, from, call))
      .map((address) => ({ chain, address }));
  } catch (error) {
    if (error instanceof ApiError) return [];
    throw error;
  }
}

/** `caip2` is the chain that a send names; a signature alone may name none. */
export function recipientsOf(
  chains: ConfiguredChains,
  parsed: ParsedTransaction,
  caip2?: string,
): readonly PaidAddress[] {
  switch (parsed.type) {
    case 'TRANSACTION_TYPE_ETHEREUM':
      return paidByCalls(chains, parsed.transaction.chainId, parsed.from, [parsed.transaction]);
    case 'TRANSACTION_TYPE_TEMPO':
      return paidByCalls(chains, parsed.transaction.chainId, parsed.from, evmCalls(parsed.transaction));
    case 'TRANSACTION_TYPE_SOLANA':
      return paidOnSolana(chains, parsed.transaction, caip2);
    case 'TRANSACTION_TYPE_BITCOIN':
      return parsed.transaction.outputs
        .filter(({ value, address }) => value > 0n && address !== '')
        .filter(({ scriptPubkey }) => !parsed.ownScripts.has(scriptPubkey))
        .map(({ address }) => ({ chain: 'bip122', address }));
    case 'TRANSACTION_TYPE_TRON': {
      const [contract] = parsed.transaction.contract;
      const isPaid = contract.type === 'TransferContract' && contract.amount > 0n;
      return isPaid ? [{ chain: 'tron', address: contract.toAddress }] : [];
    }
  }
}

function paidOnSolana(
  chains: ConfiguredChains,
  { transfers, splTransfers }: SolanaTransaction,
  caip2: string | undefined,
): readonly PaidAddress[] {
  const paid = [
    ...transfers,
    ...splTransfers.filter(({ tokenMint }) => mintUnit(chains, caip2, tokenMint) !== undefined),
  ];
  return paid
    .filter(({ amount, to }) => amount > 0n && to !== ADDRESS_TABLE_LOOKUP)
    .map(({ to }) => ({ chain: caip2 ?? 'solana', address: to }));
}
