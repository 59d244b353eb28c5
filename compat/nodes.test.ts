// The node layer against a real node: what the fake ones of the unit tests say is what this one says too.
import { type Hex, keccak256, parseGwei } from 'viem';
import { mnemonicToAccount, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { blockWith } from '../packages/server/src/chains/ethereum/node/block-with.ts';
import { createEvmNode } from '../packages/server/src/chains/ethereum/node/evm-node.ts';
import type { EvmNode, EvmReceipt } from '../packages/server/src/chains/nodes/node.ts';
import { chainSettings } from '../packages/server/test/chain/chain-settings.ts';
import { ANVIL_PHRASE, type Anvil, startAnvil } from './chain/anvil.ts';

const rich = mnemonicToAccount(ANVIL_PHRASE);
const poor = privateKeyToAccount(keccak256('0x01'));
const REVERTS: Hex = '0x00000000000000000000000000000000000000aa';
const LOGS: Hex = '0x00000000000000000000000000000000000000bb';
const TOPIC: Hex = `0x${'11'.padStart(64, '0')}`;

let anvil: Anvil;
let node: EvmNode;

beforeAll(async () => {
  anvil = await startAnvil({ automine: false });
  node = createEvmNode(chainSettings({ rpcUrls: [anvil.url] }));
  // Reverts with the byte fe.
  await anvil.request('anvil_setCode', [REVERTS, '0x60fe60005360016000fd']);
  // Logs 32 zero bytes under the topic 11.
  await anvil.request('anvil_setCode', [LOGS, '0x601160206000a100']);
});
afterAll(() => anvil.stop());

const sign = (nonce: number, gwei: string, to: Hex = poor.address, account = rich as typeof poor | typeof rich) =>
  account.signTransaction({
    chainId: 31337,
    nonce,
    to,
    value: 1n,
    gas: 100_000n,
    maxFeePerGas: parseGwei(gwei),
    maxPriorityFeePerGas: parseGwei('1'),
  });

async function receiptOf(raw: Hex): Promise<EvmReceipt> {
  const receipt = await node.receipt(keccak256(raw));
  if (receipt === undefined) throw new Error('no receipt');
  return receipt;
}

describe('a real node', () => {
  test('tells of the chain', async () => {
    const latest = await node.block('latest');
    expect(latest).toEqual(await node.block(latest?.number ?? -1n));
    expect(await node.block(10_000n)).toBeUndefined();
    const { maxFeePerGas, maxPriorityFeePerGas } = await node.fees();
    expect(maxFeePerGas).toBe(2n * (latest?.baseFeePerGas ?? 0n) + maxPriorityFeePerGas);
    expect(await node.balance(rich.address)).toBe(10_000n * 10n ** 18n);
    expect(await node.code(poor.address)).toBe('0x');
    expect(await node.code(LOGS)).toBe('0x601160206000a100');
    expect(await node.storageAt(LOGS, '0x0')).toBe(`0x${'0'.repeat(64)}`);
    expect(await node.transaction(keccak256('0x'))).toBeUndefined();
    expect(await node.receipt(keccak256('0x'))).toBeUndefined();
  });

  test('runs calls', async () => {
    const reverted = { ok: false, data: '0xfe', message: expect.stringContaining('revert') };
    expect(await node.call({ to: REVERTS, data: '0x' })).toEqual(reverted);
    expect(await node.call({ to: poor.address, data: '0x' }, 0n)).toEqual({ ok: true, data: '0x' });
    expect(
      await node.callMany([
        { to: REVERTS, data: '0x' },
        { to: poor.address, data: '0x' },
      ]),
    ).toEqual([reverted, { ok: true, data: '0x' }]);
    expect(await node.estimateGas({ from: rich.address, to: poor.address, value: 1n })).toEqual({
      ok: true,
      gas: 21_000n,
    });
    expect(await node.estimateGas({ from: rich.address, to: REVERTS })).toEqual(reverted);
    const authorization = await poor.signAuthorization({ chainId: 31337, address: LOGS, nonce: 0 });
    const { chainId, address, nonce, r, s, yParity = 0 } = authorization;
    const authorizationList = [{ chainId, address, nonce, r, s, yParity }];
    const delegated = await node.estimateGas({ from: rich.address, to: poor.address, data: '0x', authorizationList });
    expect(delegated.ok && delegated.gas > 40_000n).toBe(true);
  });

  test('takes transactions, and says what it makes of them', async () => {
    const nonce = await node.transactionCount(rich.address, 'latest');
    const raw = await sign(nonce, '20', LOGS);
    expect(await node.broadcast(raw)).toEqual({ kind: 'accepted' });
    expect(await node.broadcast(raw)).toEqual({ kind: 'known' });
    expect(await node.broadcast(await sign(nonce, '19'))).toEqual({ kind: 'underpriced' });
    expect(await node.broadcast(await sign(0, '20', rich.address, poor))).toMatchObject({ kind: 'refused' });
    expect(await node.broadcast('0x02c0')).toMatchObject({ kind: 'refused' });
    expect(await node.transactionCount(rich.address, 'pending')).toBe(nonce + 1);
    expect(await node.transaction(keccak256(raw))).toMatchObject({ nonce, blockNumber: undefined, value: 1n });
    expect(await node.receipt(keccak256(raw))).toBeUndefined();

    await anvil.mine();
    const receipt = await receiptOf(raw);
    expect(receipt).toMatchObject({ isSuccess: true, from: rich.address.toLowerCase(), to: LOGS });
    expect(receipt.logs).toMatchObject([{ address: LOGS, topics: [TOPIC], logIndex: 0 }]);
    const filter = { fromBlock: 0n, toBlock: receipt.blockNumber };
    expect(await node.logs({ ...filter, address: LOGS, topics: [TOPIC] })).toEqual(receipt.logs);
    expect(await node.logs({ ...filter, address: REVERTS })).toEqual([]);
    expect(await node.transaction(keccak256(raw))).toMatchObject({ blockNumber: receipt.blockNumber });
    expect(await node.broadcast(await sign(nonce, '30'))).toEqual({ kind: 'nonce-too-low' });
    expect(['known', 'nonce-too-low']).toContain((await node.broadcast(raw)).kind);
    expect(await node.confirmedElsewhere(receipt)).toBeUndefined();
  });

  test('may forget a block', async () => {
    const before = await anvil.snapshot();
    const raw = await sign(await node.transactionCount(rich.address, 'latest'), '20');
    await node.broadcast(raw);
    await anvil.mine();
    const receipt = await receiptOf(raw);
    expect((await blockWith(node, receipt)) !== undefined).toBe(true);
    await anvil.revert(before);
    expect((await blockWith(node, receipt)) !== undefined).toBe(false);
    await anvil.increaseTime(1000);
    expect(await node.block(receipt.blockNumber)).toBeDefined();
    expect((await blockWith(node, receipt)) !== undefined).toBe(false);
  });

  test('of another chain is not used', async () => {
    const reports: string[] = [];
    const other = createEvmNode(chainSettings({ caip2: 'eip155:1', rpcUrls: [anvil.url] }), {
      retryPauseMs: 0,
      report: (_host, reason) => reports.push(reason),
    });
    await expect(other.balance(rich.address)).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await other.broadcast('0x02c0')).toMatchObject({ kind: 'uncertain' });
    expect(reports).toEqual(['the node is of the chain eip155:31337, not of eip155:1']);
  });

  test('may go down and come back', async () => {
    const { port } = anvil;
    await anvil.stop();
    await expect(node.block('latest')).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await node.broadcast('0x02c0')).toMatchObject({ kind: 'uncertain' });
    anvil = await startAnvil({ port });
    expect(await node.block('latest')).toMatchObject({ number: 0n });
  });
});
