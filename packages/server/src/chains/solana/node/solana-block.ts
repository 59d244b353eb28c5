import { asList, asMembers, illShaped, isAbsent, type Members } from '../../nodes/answers.ts';
import type { SolanaBlock, SolanaMove } from '../../nodes/node.ts';
import { asKey, asUnsigned } from './solana-answers.ts';

/** A block with the balances before and after each of its transactions. */
export function readSolanaBlock(result: unknown, slot: bigint): SolanaBlock {
  const block = asMembers(result, 'the block');
  const { blockTime } = block;
  return {
    slot,
    parentSlot: asUnsigned(block.parentSlot, 'the parent of the block'),
    hash: asKey(block.blockhash, 'the hash of the block'),
    parentHash: asKey(block.previousBlockhash, 'the parent of the block'),
    timestamp: isAbsent(blockTime) ? 0 : Number(asUnsigned(blockTime, 'the time of the block')),
    moves: asList(block.transactions, 'the list of transactions').map(readMove),
    rewards: listOrNone(block.rewards, 'the list of rewards').map((entry) => {
      const { pubkey, lamports } = asMembers(entry, 'a reward');
      return { account: asKey(pubkey, 'the account of a reward'), lamports: asSigned(lamports, 'a reward') };
    }),
  };
}

function readMove(entry: unknown): SolanaMove {
  const { transaction, meta } = asMembers(entry, 'a transaction');
  const { signatures, accountKeys } = asMembers(transaction, 'a transaction');
  const [signature] = asList(signatures, 'the signatures of a transaction');
  if (typeof signature !== 'string') throw illShaped('the signature of a transaction');
  const { preBalances, postBalances, preTokenBalances, postTokenBalances } = asMembers(meta, 'a transaction');
  const accounts = asList(accountKeys, 'the accounts of a transaction').map((account) =>
    asKey(typeof account === 'string' ? account : asMembers(account, 'an account').pubkey, 'an account'),
  );
  const [before, after] = [preBalances, postBalances].map((balances) => {
    const list = asList(balances, 'the balances of a transaction');
    if (list.length !== accounts.length) throw illShaped('the balances of a transaction');
    return list.map((balance) => asUnsigned(balance, 'a balance'));
  });
  const lamports = new Map<string, bigint>();
  for (const [index, account] of accounts.entries()) {
    const change = (after?.[index] ?? 0n) - (before?.[index] ?? 0n);
    if (change !== 0n) lamports.set(account, (lamports.get(account) ?? 0n) + change);
  }
  const tokens = [...readTokens(preTokenBalances, -1n), ...readTokens(postTokenBalances, 1n)];
  return { signature, lamports, tokens };
}

/** Absent where no token account was touched; an owner is absent in what very old nodes wrote. */
function readTokens(value: unknown, sign: bigint): SolanaMove['tokens'] {
  return listOrNone(value, 'the token balances of a transaction').flatMap((entry) => {
    const { owner, mint, uiTokenAmount }: Members = asMembers(entry, 'a token balance');
    const { amount } = asMembers(uiTokenAmount, 'a token balance');
    if (typeof amount !== 'string' || !/^\d{1,20}$/.test(amount)) throw illShaped('the amount of a token balance');
    if (isAbsent(owner)) return [];
    return [
      {
        owner: asKey(owner, 'the owner of a token balance'),
        mint: asKey(mint, 'the mint of a token balance'),
        amount: sign * BigInt(amount),
      },
    ];
  });
}

/** What a node leaves out is empty; anything else that is no list would hide what it should say. */
const listOrNone = (value: unknown, what: string): readonly unknown[] => (isAbsent(value) ? [] : asList(value, what));

function asSigned(value: unknown, what: string): bigint {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw illShaped(what);
  return BigInt(value);
}
