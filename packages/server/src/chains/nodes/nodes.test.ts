import { expect, test } from 'vitest';
import { chainSettings } from '../../../test/chain/chain-settings.ts';
import { startFakeNode } from '../../../test/harness/json-rpc-node.ts';
import { ApiError } from '../../lib/errors.ts';
import { asApiError, NodeError } from './node-error.ts';
import { createNodes } from './nodes.ts';

const GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';

const EVM = 'eip155:31337';
const SOLANA = `solana:${GENESIS.slice(0, 32)}`;

async function start(options: Parameters<typeof createNodes>[1] = {}) {
  const evm = await startFakeNode({ eth_chainId: '0x7a69', eth_getBalance: '0x5' });
  const solana = await startFakeNode({ getGenesisHash: GENESIS, getBalance: { value: 7 } });
  const chains = [
    chainSettings({ caip2: EVM, rpcUrls: [evm.url] }),
    chainSettings({ caip2: SOLANA, rpcUrls: [solana.url] }),
  ];
  const nodes = createNodes(new Map(chains.map((chain) => [chain.caip2, chain])), { retryPauseMs: 0, ...options });
  return { evm, solana, nodes };
}

test('each chain has its own nodes, always the same ones', async () => {
  const { nodes } = await start();
  expect(await nodes.evm(EVM).balance(`0x${'1'.repeat(40)}`)).toBe(5n);
  expect(await nodes.solana(SOLANA).balance('11111111111111111111111111111111')).toBe(7n);
  expect(nodes.evm(EVM)).toBe(nodes.evm(EVM));
  expect(nodes.solana(SOLANA).chain.caip2).toBe(SOLANA);
});

test('a chain that is not configured, or is of another kind, is refused with the reason', async () => {
  const { nodes } = await start();
  const refusal = (problem: string) =>
    expect.objectContaining({ code: 'CHAIN_NOT_CONFIGURED', httpStatus: 400, message: problem });
  const unknown = (caip2: string) =>
    refusal(`the chain ${caip2} is not configured; CUSTOS_CHAINS sets the chains of this service`);
  expect(() => nodes.evm('eip155:1')).toThrow(unknown('eip155:1'));
  expect(() => nodes.solana('solana:x')).toThrow(unknown('solana:x'));
  expect(() => nodes.evm('__proto__')).toThrow(unknown('__proto__'));
  expect(() => nodes.evm(SOLANA)).toThrow(refusal(`the chain ${SOLANA} is not an EVM chain, which this needs`));
  expect(() => nodes.solana(EVM)).toThrow(refusal(`the chain ${EVM} is not a Solana chain, which this needs`));
});

test('reports name the chain', async () => {
  const reports: string[][] = [];
  const { nodes, evm } = await start({ report: (...report) => reports.push(report) });
  evm.misbehave = (response) => response.writeHead(502).end();
  await expect(nodes.evm(EVM).balance(`0x${'1'.repeat(40)}`)).rejects.toThrow(NodeError);
  expect(reports).toEqual([[EVM, evm.host, 'the answer has the HTTP status 502']]);
});

test('after the end nothing is asked', async () => {
  const { nodes, evm, solana } = await start();
  nodes.close();
  await expect(nodes.evm(EVM).balance(`0x${'1'.repeat(40)}`)).rejects.toMatchObject({ kind: 'unavailable' });
  await expect(nodes.solana(SOLANA).blockHeight()).rejects.toMatchObject({ kind: 'unavailable' });
  expect([evm.requests, solana.requests]).toEqual([[], []]);
});

test('a caller is told that the chain is not available, and not why', () => {
  const cause = new NodeError('ill-shaped', 'node.internal: the balance is not what it should be');
  const error = asApiError(cause);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ code: 'RPC_CALL_ERROR', httpStatus: 503, retryAfterSeconds: 1, cause });
  expect((error as ApiError).message).not.toContain('internal');
  const other = new TypeError('a defect');
  expect(asApiError(other)).toBe(other);
});
