import { decodeAbi } from '../../chains/ethereum/abi/decode.ts';
import { type AbiType, readAbiType } from '../../chains/ethereum/abi/types.ts';
import { type EvmCall, unbatched } from '../../chains/ethereum/batch.ts';
import { ADDRESS_TABLE_LOOKUP } from '../../chains/solana/message.ts';
import { evmCalls } from '../../chains/tempo/movements.ts';
import type { ParsedTransaction } from '../../chains/transactions.ts';
import { ApiError } from '../../lib/errors.ts';

// Whom a transaction pays: coins, and tokens by the calls that all of them have.

const typesOf = (...names: readonly string[]): readonly AbiType[] =>
  names.map((type) => readAbiType({ type, name: '' }, 'a standard call').type);
const PAIR = { types: typesOf('address', 'uint256'), to: 0 };
const TRIPLE = { types: typesOf('address', 'address', 'uint256'), to: 1 };
const TRANSFERS: Readonly<Record<string, { readonly types: readonly AbiType[]; readonly to: number }>> = {
  '0xa9059cbb': PAIR,
  '0x23b872dd': TRIPLE,
  '0x42842e0e': TRIPLE,
};

function paidBy({ to, value, data }: EvmCall): readonly string[] {
  if (to === '') return [];
  if (data === '0x') return value === 0n ? [] : [to];
  const transfer = TRANSFERS[data.slice(0, 10)];
  const values = transfer && decodeAbi(transfer.types, Buffer.from(data.slice(10), 'hex'));
  const recipient = transfer && values?.[transfer.to];
  return typeof recipient === 'object' && 'text' in recipient ? [recipient.text] : [];
}

function paidByCalls(from: string, calls: readonly EvmCall[]): readonly string[] {
  try {
    return calls.flatMap((call) => unbatched(from, call)).flatMap(paidBy);
  } catch (error) {
    if (error instanceof ApiError) return [];
    throw error;
  }
}

/** Addresses, as the chain writes them. */
export function recipientsOf(parsed: ParsedTransaction): readonly string[] {
  switch (parsed.type) {
    case 'TRANSACTION_TYPE_ETHEREUM':
      return paidByCalls(parsed.from, [parsed.transaction]);
    case 'TRANSACTION_TYPE_TEMPO':
      return paidByCalls(parsed.from, evmCalls(parsed.transaction));
    case 'TRANSACTION_TYPE_SOLANA': {
      const { transfers, splTransfers } = parsed.transaction;
      return [...transfers, ...splTransfers].map(({ to }) => to).filter((to) => to !== ADDRESS_TABLE_LOOKUP);
    }
    case 'TRANSACTION_TYPE_BITCOIN':
      return parsed.transaction.outputs
        .filter(({ scriptPubkey, address }) => address !== '' && !parsed.ownScripts.has(scriptPubkey))
        .map(({ address }) => address);
    case 'TRANSACTION_TYPE_TRON': {
      const [contract] = parsed.transaction.contract;
      return 'toAddress' in contract ? [contract.toAddress] : [];
    }
  }
}
