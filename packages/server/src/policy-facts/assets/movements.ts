import type { BitcoinTransaction } from '../../chains/bitcoin/bitcoin.ts';
import { authorityOf } from '../../chains/ethereum/eip7702.ts';
import type { TempoAuthorization } from '../../chains/tempo/transaction.ts';
import type { TronTransaction } from '../../chains/tron/tron.ts';
import { type EvmCall, unbatched } from '../batch.ts';
import type { ParsedTransaction } from '../transaction.ts';
import { type AssetMovements, type AssetTransfer, tronAccountHex, type UncountedPart } from './caip19.ts';
import {
  delegationParts,
  evmMovements,
  maySpeakOfWrappers,
  NO_CONTRACTS,
  type OwnContracts,
  tokenMovements,
} from './evm-calls.ts';
import { solanaMovements } from './solana-instructions.ts';

/**
 * What a transaction takes from its signer, for limits on amounts (docs/guides/velocity-controls.md): native coins, standard
 * transfers of tokens and approvals, in batches too. Beside these stands what moves assets, or hands over what holds them,
 * without an amount, and what nobody can read before it runs. Where a chain might read odd data as a transfer, it counts as
 * one: a limit must not be passed by an encoding.
 */
export function assetMovements(parsed: ParsedTransaction, own: OwnContracts = NO_CONTRACTS): AssetMovements {
  switch (parsed.type) {
    case 'TRANSACTION_TYPE_ETHEREUM':
    case 'TRANSACTION_TYPE_TEMPO': {
      const calls = callsOf(parsed).map((call) => evmMovements(parsed.transaction.chainId, parsed.from, call, own));
      return together([...calls, { transfers: [], uncounted: fieldParts(parsed, own) }]);
    }
    case 'TRANSACTION_TYPE_SOLANA':
      return solanaMovements(parsed.transaction, parsed.signer);
    case 'TRANSACTION_TYPE_TRON':
      return tronMovements(parsed.transaction);
    case 'TRANSACTION_TYPE_BITCOIN':
      return {
        transfers: [bitcoinTransfer(parsed.transaction, parsed.signedScript, parsed.ownScripts)].filter(isSome),
        uncounted: [],
      };
  }
}

/** Whether what a transaction takes depends on the contracts of the service. */
export function needsOwnContracts(parsed: ParsedTransaction): boolean {
  if (parsed.type !== 'TRANSACTION_TYPE_ETHEREUM' && parsed.type !== 'TRANSACTION_TYPE_TEMPO') return false;
  return parsed.transaction.authorizationList.length > 0 || callsOf(parsed).some(maySpeakOfWrappers);
}

export const together = (parts: readonly AssetMovements[]): AssetMovements => ({
  transfers: parts.flatMap(({ transfers }) => transfers),
  uncounted: parts.flatMap(({ uncounted }) => uncounted),
  fees: parts.flatMap(({ fees = [] }) => fees),
});

const isSome = ({ amount }: AssetTransfer): boolean => amount > 0n;

type EvmParsed = Extract<ParsedTransaction, { readonly type: 'TRANSACTION_TYPE_ETHEREUM' | 'TRANSACTION_TYPE_TEMPO' }>;

/** The calls of a transaction; those of a batch stand in its place. */
function callsOf({ type, transaction, from }: EvmParsed): readonly EvmCall[] {
  const calls =
    type === 'TRANSACTION_TYPE_ETHEREUM'
      ? [transaction]
      : transaction.calls.map(({ to, value, input }) => ({ to, value, data: input }));
  return calls.flatMap((call) => unbatched(from, call));
}

/** Fields beside the calls that give the account to others. */
function fieldParts({ type, transaction, from }: EvmParsed, own: OwnContracts): readonly UncountedPart[] {
  if (type === 'TRANSACTION_TYPE_ETHEREUM') {
    return transaction.authorizationList.flatMap((entry, index) =>
      authorityOf(entry) === from ? delegationParts(`authorizationList entry ${index}`, entry, own) : [],
    );
  }
  const { chainId, authorizationList, keyAuthorization } = transaction;
  const delegations = authorizationList.flatMap((entry, index) =>
    mayBeOf(entry, from) ? delegationParts(`authorizationList entry ${index}`, entry, own) : [],
  );
  if (keyAuthorization === '') return delegations;
  const reach = [{ chain: 'eip155', chainReference: String(chainId) }] as const;
  return [...delegations, { name: 'keyAuthorization', certainty: 'known', reach }];
}

/** r, s and v of a secp256k1 signature. Of the other kinds some name an account that they sign for. */
const SECP256K1_SIGNATURE = /^0x([0-9a-f]{64})([0-9a-f]{64})([0-9a-f]{2})$/;

function mayBeOf(entry: TempoAuthorization, account: string): boolean {
  const [, r, s, v] = SECP256K1_SIGNATURE.exec(entry.signature) ?? [];
  if (r === undefined || s === undefined || v === undefined) return true;
  const parity = BigInt(`0x${v}`);
  const yParity = parity >= 27n ? parity - 27n : parity;
  return authorityOf({ ...entry, r: BigInt(`0x${r}`), s: BigInt(`0x${s}`), yParity }) === account;
}

function tronMovements({ contract: [contract] }: TronTransaction): AssetMovements {
  const chain = { chain: 'tron', chainReference: undefined } as const;
  const moves = (...transfers: readonly AssetTransfer[]): AssetMovements => ({
    transfers: transfers.filter(isSome),
    uncounted: [],
  });
  const coin = (amount: bigint): AssetTransfer => ({ ...chain, kind: 'slip44', assetReference: '195', amount });
  const trc10 = (reference: string, amount: bigint): AssetTransfer => ({
    ...chain,
    kind: 'trc10',
    assetReference: reference,
    amount,
  });
  const { ownerAddress } = contract;
  switch (contract.type) {
    case 'TransferContract':
      return contract.toAddress === ownerAddress ? moves() : moves(coin(contract.amount));
    case 'TransferAssetContract':
      return contract.toAddress === ownerAddress ? moves() : moves(trc10(contract.assetName, contract.amount));
    case 'TriggerSmartContract': {
      const token = { ...chain, kind: 'trc20', assetReference: contract.contractAddress } as const;
      const name = `the call 0x${contract.data.slice(0, 8)} of ${contract.contractAddress}`;
      const taken = tokenMovements(token, name, tronAccountHex(ownerAddress) ?? '', contract.data);
      return {
        ...moves(
          coin(contract.callValue),
          trc10(String(contract.tokenId), contract.callTokenValue),
          ...taken.transfers,
        ),
        uncounted: contract.data === '' ? [] : taken.uncounted,
      };
    }
    case 'AccountPermissionUpdateContract':
      return {
        transfers: [],
        uncounted: [{ name: 'AccountPermissionUpdateContract', certainty: 'known', reach: [chain] }],
      };
    // What is frozen stays the account's own, and others are lent resources, not coins.
    case 'FreezeBalanceV2Contract':
    case 'UnfreezeBalanceV2Contract':
    case 'DelegateResourceContract':
    case 'UnDelegateResourceContract':
      return moves();
  }
}

/**
 * What the signed inputs are worth beyond what comes back to the account that signs them: payments and the fee. Calls that
 * sign the inputs of different accounts subtract different outputs, so together they count at least what leaves.
 */
function bitcoinTransfer(tx: BitcoinTransaction, signedScript: string, own: ReadonlySet<string>): AssetTransfer {
  const spent = tx.inputs.filter(({ scriptPubkey }) => scriptPubkey === signedScript);
  const returned = tx.outputs.filter(({ scriptPubkey }) => own.has(scriptPubkey));
  const amount =
    spent.reduce((sum, input) => sum + input.amount, 0n) - returned.reduce((sum, { value }) => sum + value, 0n);
  return { chain: 'bip122', chainReference: undefined, kind: 'slip44', assetReference: '0', amount };
}
