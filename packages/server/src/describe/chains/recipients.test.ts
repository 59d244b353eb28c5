import { base58 } from '@scure/base';
import { describe, expect, test } from 'vitest';
import { type TestInstruction, wireOf } from '../../../test/chain/solana-transfer.ts';
import { CHAINS, STRANGER, SUPPLIER, TREASURY, USDC } from '../../../test/fixtures/sentences.ts';
import type { EthereumTransaction } from '../../chains/ethereum/transaction.ts';
import { parseSolana } from '../../chains/solana/solana.ts';
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../../chains/solana/transfers.ts';
import { recipientsOf } from './recipients.ts';

// The history of payments must not be made up by what costs nothing (protocol/activities 8.3).

const word = (value: bigint | string): string =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0');
const CONTRACT = '0x4444444444444444444444444444444444444444';

const paid = (fields: Partial<EthereumTransaction>) =>
  recipientsOf(CHAINS, {
    type: 'TRANSACTION_TYPE_ETHEREUM',
    from: TREASURY,
    transaction: {
      type: 'TYPE_2',
      chainId: 1n,
      nonce: 0n,
      to: SUPPLIER,
      value: 0n,
      data: '0x',
      selector: '',
      gas: 0n,
      gasPrice: 0n,
      maxFeePerGas: 0n,
      maxPriorityFeePerGas: 0n,
      maxFeePerBlobGas: 0n,
      accessList: [],
      blobVersionedHashes: [],
      authorizationList: [],
      ...fields,
    },
  });
const transfer = (amount: bigint): string => `0xa9059cbb${word(STRANGER)}${word(amount)}`;

describe('EVM chains', () => {
  test('coins count where they were paid', () => {
    expect(paid({ value: 1n })).toEqual([{ chain: 'eip155:1', address: SUPPLIER }]);
    expect(paid({ value: 1n, chainId: 8453n })).toEqual([{ chain: 'eip155:8453', address: SUPPLIER }]);
    expect(paid({ value: 1n, chainId: 0n })).toEqual([{ chain: 'eip155', address: SUPPLIER }]);
    expect(paid({ value: 0n })).toEqual([]);
    expect(paid({ to: CONTRACT, value: 1n, data: '0xdeadbeef' })).toEqual([{ chain: 'eip155:1', address: CONTRACT }]);
  });

  test('tokens count where the operator has configured them, and the amount is not nothing', () => {
    expect(paid({ to: USDC, data: transfer(1n) })).toEqual([{ chain: 'eip155:1', address: STRANGER }]);
    expect(paid({ to: USDC, data: transfer(0n) })).toEqual([]);
    expect(paid({ to: CONTRACT, data: transfer(1n) })).toEqual([]);
    expect(paid({ to: USDC, data: transfer(1n), chainId: 8453n })).toEqual([]);
    const from = (owner: string) => `0x23b872dd${word(owner)}${word(STRANGER)}${word(5n)}`;
    expect(paid({ to: USDC, data: from(TREASURY) })).toHaveLength(1);
    expect(paid({ to: USDC, data: from(CONTRACT) })).toEqual([]);
  });
});

describe('Solana', () => {
  const key = (fill: number): string => base58.encode(new Uint8Array(32).fill(fill));
  const [from, to, mint, other, account] = [1, 2, 3, 4, 5].map(key) as [string, string, string, string, string];
  const CHAIN = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
  const base = CHAINS.get('eip155:1') as NonNullable<ReturnType<typeof CHAINS.get>>;
  const asset = { caip19: `${CHAIN}/token:${mint}`, symbol: 'USDC', name: 'USD Coin', decimals: 6 };
  const chains = new Map([
    [CHAIN, { ...base, caip2: CHAIN, namespace: 'solana' as const, reference: CHAIN.slice(7), assets: [asset] }],
  ]);
  const u64 = (value: bigint): number[] => [...Buffer.from(new BigUint64Array([value]).buffer)];
  const coins = (value: bigint): TestInstruction => ({
    program: SYSTEM_PROGRAM,
    accounts: [from, to],
    data: [2, 0, 0, 0, ...u64(value)],
  });
  const tokens = (token: string, value: bigint): TestInstruction => ({
    program: TOKEN_PROGRAM,
    accounts: [account, token, to, from],
    data: [12, ...u64(value), 6],
  });
  const paidBy = (instruction: TestInstruction, caip2?: string) =>
    recipientsOf(
      chains,
      {
        type: 'TRANSACTION_TYPE_SOLANA',
        signer: from,
        transaction: parseSolana(wireOf({ signers: [from], instructions: [instruction] })),
      },
      caip2,
    );

  test('a send names the chain, a signature the family alone', () => {
    expect(paidBy(coins(1n), CHAIN)).toEqual([{ chain: CHAIN, address: to }]);
    expect(paidBy(coins(1n))).toEqual([{ chain: 'solana', address: to }]);
    expect(paidBy(coins(0n), CHAIN)).toEqual([]);
  });

  test('tokens count where the operator has configured them', () => {
    expect(paidBy(tokens(mint, 1n), CHAIN)).toEqual([{ chain: CHAIN, address: to }]);
    expect(paidBy(tokens(mint, 0n), CHAIN)).toEqual([]);
    expect(paidBy(tokens(other, 1n), CHAIN)).toEqual([]);
  });
});
