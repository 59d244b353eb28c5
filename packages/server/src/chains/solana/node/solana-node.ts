import { base58 } from '@scure/base';
import { asList, illShaped, resultOf } from '../../nodes/answers.ts';
import type { SolanaNode, SolanaSight, SolanaSignatureStatus, SolanaTokenBalance } from '../../nodes/node.ts';
import { createRpc, type NodeOptions, type RpcCall } from '../../nodes/rpc.ts';
import type { ChainSettings } from '../../settings.ts';
import {
  asKey,
  asUnsigned,
  contextValue,
  readBlockhash,
  readSolanaBroadcast,
  readStatuses,
  readTokenAccounts,
  readTransactionDetails,
} from './solana-answers.ts';
import { readSolanaBlock } from './solana-block.ts';

const TOKEN_PROGRAMS = [
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
] as const;
const STATUSES_AT_ONCE = 256;
const SIGNATURE_BYTES = 64;
const BLOCK_DETAILS = {
  encoding: 'json',
  transactionDetails: 'accounts',
  maxSupportedTransactionVersion: 0,
  rewards: true,
} as const;
const CONFIRMED = { commitment: 'confirmed' } as const;

export function createSolanaNode(chain: ChainSettings, options: NodeOptions = {}): SolanaNode {
  const rpc = createRpc(chain.rpcUrls, {
    ...options,
    identity: { method: 'getGenesisHash', problemOf: (result) => chainProblem(result, chain.reference) },
  });

  const value = <Value>(method: string, params: readonly unknown[], read: (result: unknown) => Value): Promise<Value> =>
    rpc.ask({ method, params, read: (answer) => read(resultOf(answer)) });

  // Of the finalized chain: what it has left behind no fork brings back.
  const height: RpcCall<bigint> = {
    method: 'getBlockHeight',
    params: [{ commitment: 'finalized' }],
    read: (answer) => asUnsigned(resultOf(answer), 'the block height'),
  };
  const validity = (blockhash: string): RpcCall<boolean> => ({
    method: 'isBlockhashValid',
    params: [blockhash, CONFIRMED],
    read: (answer) => {
      const isValid = contextValue(resultOf(answer));
      if (typeof isValid !== 'boolean') throw illShaped('the validity of the blockhash');
      return isValid;
    },
  });
  const statuses = (signatures: readonly string[]): RpcCall<readonly (SolanaSignatureStatus | undefined)[]> => ({
    method: 'getSignatureStatuses',
    params: [signatures, { searchTransactionHistory: true }],
    read: (answer) => readStatuses(resultOf(answer), signatures.length),
  });

  return {
    chain,
    latestBlockhash: () => value('getLatestBlockhash', [CONFIRMED], readBlockhash),
    blockHeight: () => rpc.ask(height),
    isBlockhashValid: (blockhash) => rpc.ask(validity(blockhash)),
    broadcast: (transaction) =>
      rpc.offer({
        method: 'sendTransaction',
        params: [transaction, { encoding: 'base64', preflightCommitment: 'confirmed' }],
        read: (answer) => readSolanaBroadcast(answer, signatureOf(transaction)),
      }),
    async signatureStatuses(signatures) {
      const pages = Array.from({ length: Math.ceil(signatures.length / STATUSES_AT_ONCE) }, (_page, index) =>
        rpc.ask(statuses(signatures.slice(index * STATUSES_AT_ONCE, (index + 1) * STATUSES_AT_ONCE))),
      );
      return (await Promise.all(pages)).flat();
    },
    lookEverywhere: (signature, blockhash) =>
      rpc.askEach(async (ask): Promise<SolanaSight> => {
        const place = Promise.all([ask(height), ask(validity(blockhash))]);
        // One that has the transaction need not tell how far it is.
        place.catch(() => {});
        const [status] = await ask(statuses([signature]));
        if (status !== undefined) return { status };
        const [at, isBlockhashValid] = await place;
        return { status, height: at, isBlockhashValid };
      }),
    async heads() {
      const read: RpcCall<bigint>['read'] = (answer) => asUnsigned(resultOf(answer), 'the slot');
      const sights = await rpc.look({ method: 'getSlot', params: [CONFIRMED], read });
      return sights.map(({ host, value: head }) => ({ host, head }));
    },
    slot: (commitment) => value('getSlot', [{ commitment }], (result) => asUnsigned(result, 'the slot')),
    slotsWithBlocks: (from, to, commitment) =>
      value('getBlocks', [Number(from), Number(to), { commitment }], (result) =>
        asList(result, 'the list of slots').map((entry) => {
          const slot = asUnsigned(entry, 'a slot');
          if (slot < from || slot > to) throw illShaped('a slot');
          return slot;
        }),
      ),
    block: (slot, commitment) =>
      value('getBlock', [Number(slot), { ...BLOCK_DETAILS, commitment }], (result) => readSolanaBlock(result, slot)),
    balance: (address) =>
      value('getBalance', [address, CONFIRMED], (result) => asUnsigned(contextValue(result), 'the balance')),
    async tokenBalances(owner) {
      const lists = TOKEN_PROGRAMS.map((programId) =>
        value('getTokenAccountsByOwner', [owner, { programId }, { encoding: 'jsonParsed', ...CONFIRMED }], (result) =>
          readTokenAccounts(result, owner, programId),
        ),
      );
      return sumByMint((await Promise.all(lists)).flat());
    },
    transactionDetails: (signature) =>
      value(
        'getTransaction',
        [signature, { encoding: 'json', maxSupportedTransactionVersion: 0, ...CONFIRMED }],
        (result) => readTransactionDetails(result, signature),
      ),
  };
}

export function chainProblem(result: unknown, reference: string): string | undefined {
  const genesis = asKey(result, 'the genesis hash').slice(0, 32);
  return genesis === reference ? undefined : `the node is of the chain solana:${genesis}, not of solana:${reference}`;
}

/** The first signature names the transaction. One byte before it tells how many there are; there are never 128. */
const signatureOf = (transaction: string): string =>
  base58.encode(Buffer.from(transaction, 'base64').subarray(1, 1 + SIGNATURE_BYTES));

function sumByMint(accounts: readonly SolanaTokenBalance[]): readonly SolanaTokenBalance[] {
  const byMint = new Map<string, SolanaTokenBalance>();
  for (const account of accounts) {
    const known = byMint.get(account.mint);
    byMint.set(account.mint, known === undefined ? account : { ...known, amount: known.amount + account.amount });
  }
  return [...byMint.values()];
}
