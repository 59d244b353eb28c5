import { describe, expect, test } from 'vitest';
import { readBroadcastRefusal } from './broadcast-outcome.ts';

const HASH = `0x${'ab'.repeat(32)}`;

const read = (code: number, message: string): string => {
  const outcome = readBroadcastRefusal({ ok: false, code, message, data: undefined });
  return outcome.kind;
};

describe('what nodes say of a transaction', () => {
  test.each([
    ['geth', -32000, 'already known', 'known'],
    ['geth', -32000, 'nonce too low: next nonce 82, tx nonce 81', 'nonce-too-low'],
    ['geth', -32000, 'replacement transaction underpriced: new tx gas fee cap 5 <= 5 queued', 'underpriced'],
    ['geth', -32000, 'transaction underpriced: gas tip cap 0, minimum needed 1', 'underpriced'],
    [
      'geth',
      -32000,
      'max fee per gas less than block base fee: address 0x00, maxFeePerGas: 1, baseFee: 7',
      'underpriced',
    ],
    ['geth', -32000, 'insufficient funds for gas * price + value: balance 0, tx cost 21000', 'refused'],
    ['geth', -32000, 'intrinsic gas too low: gas 20000, minimum needed 21000', 'refused'],
    ['geth', -32000, 'exceeds block gas limit', 'refused'],
    ['geth', -32000, 'invalid sender: invalid chain id for signer: have 1 want 31337', 'refused'],
    ['geth', -32000, 'tx fee (1.20 ether) exceeds the configured cap (1.00 ether)', 'refused'],
    ['geth', -32000, 'only replay-protected (EIP-155) transactions allowed over RPC', 'refused'],
    ['geth', -32000, 'rlp: value size exceeds available input length', 'refused'],
    ['erigon', -32000, 'existing tx with same hash', 'known'],
    ['erigon', -32000, 'INTERNAL_ERROR: existing tx with same hash', 'known'],
    ['erigon', -32000, 'nonce too low', 'nonce-too-low'],
    ['erigon', -32000, 'could not replace existing tx', 'underpriced'],
    ['erigon', -32000, 'underpriced', 'underpriced'],
    ['erigon', -32000, 'fee too low', 'underpriced'],
    ['erigon', -32000, 'insufficient funds', 'refused'],
    ['nethermind', -32010, 'AlreadyKnown', 'known'],
    ['nethermind', -32010, 'OldNonce, Current nonce: 5, nonce of rejected tx: 4', 'nonce-too-low'],
    ['nethermind', -32010, 'ReplacementNotAllowed', 'underpriced'],
    ['nethermind', -32010, 'FeeTooLow, MaxFeePerGas too low. MaxFeePerGas: 1, BaseFee: 7', 'underpriced'],
    ['nethermind', -32010, 'FeeTooLowToCompete', 'underpriced'],
    ['nethermind', -32010, 'InsufficientFunds, Account balance: 0, cumulative cost: 21000', 'refused'],
    ['nethermind', -32010, 'replacement transaction underpriced', 'underpriced'],
    ['besu', -32000, 'Known transaction', 'known'],
    ['besu', -32001, 'Nonce too low', 'nonce-too-low'],
    ['besu', -32000, 'Transaction nonce below sender account nonce', 'nonce-too-low'],
    ['besu', -32000, 'Replacement transaction underpriced', 'underpriced'],
    ['besu', -32009, 'Gas price below current base fee', 'underpriced'],
    ['besu', -32009, 'Gas price below configured minimum gas price', 'underpriced'],
    ['besu', -32004, 'Upfront cost exceeds account balance', 'refused'],
    ['besu', -32005, 'Transaction gas limit exceeds block gas limit', 'refused'],
    ['besu', -32003, 'Intrinsic gas exceeds gas limit', 'refused'],
    ['besu', -32000, 'Max priority fee per gas exceeds max fee per gas', 'refused'],
    ['besu', -32000, 'Wrong chainId', 'refused'],
    ['reth', -32000, 'already known', 'known'],
    ['reth', -32000, 'nonce too low: next nonce 82, tx nonce 81', 'nonce-too-low'],
    ['reth', -32000, 'replacement transaction underpriced', 'underpriced'],
    ['reth', -32003, 'insufficient funds for gas * price + value: have 0 want 21000', 'refused'],
    ['reth', -32000, 'transaction type not supported', 'refused'],
    ['anvil', -32003, 'transaction already imported', 'known'],
    ['anvil', -32003, `Tx: [${HASH}] already Imported`, 'known'],
    ['anvil', -32003, 'nonce too low', 'nonce-too-low'],
    ['anvil', -32003, `Tx: [${HASH}] insufficient gas price to replace existing transaction`, 'underpriced'],
    ['anvil', -32003, 'max fee per gas less than block base fee', 'underpriced'],
    ['anvil', -32003, 'Insufficient funds for gas * price + value', 'refused'],
    ['anvil', -32602, 'Failed to decode transaction', 'refused'],
    ['anvil', -32003, 'max priority fee per gas higher than max fee per gas', 'refused'],
  ])('%s: %i %s', (_client, code, message, kind) => expect(read(code, message)).toBe(kind));
});

describe('what they say of themselves leaves it open', () => {
  test.each([
    [-32000, 'txpool is full'],
    [-32000, 'pending sub-pool is full'],
    [-32000, 'account limit exceeded: pooled 64 txs'],
    [-32002, 'Transaction pool not enabled. (Either txpool explicitly disabled, or node not yet in sync).'],
    [-32000, 'node is syncing'],
    [-32603, 'Internal error'],
    [-32603, 'Timeout expired'],
    [-32005, 'daily request count exceeded, request rate limited'],
    [429, 'Your app has exceeded its compute units per second capacity'],
    [-32000, 'request timed out'],
  ])('%i %s', (code, message) => {
    expect(() => read(code, message)).toThrow(expect.objectContaining({ name: 'NodeError', kind: 'unavailable' }));
  });
});

test('a refusal has the words of the node', () => {
  const refusal = { ok: false, code: -32000, message: 'insufficient funds', data: undefined } as const;
  expect(readBroadcastRefusal(refusal)).toEqual({ kind: 'refused', message: 'insufficient funds' });
});
