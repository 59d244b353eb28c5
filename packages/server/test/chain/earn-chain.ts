import { privateKeyToAccount } from 'viem/accounts';
import { readConfig } from '../../src/config/config.ts';
import { CREATE2_PROXY } from '../../src/domains/earn/contract-addresses.ts';
import { importOperatorKey } from '../../src/keyring-admin/import-operator-key.ts';
import type { TestServer } from '../harness/server.ts';
import { createdBy } from './create2.ts';
import { stubContract, stubToken } from './stub-contracts.ts';
import { StubNode } from './stub-node.ts';

// A chain with a token, a vault for it, and an operator who pays: all that the operations of Earn and of sends ask for.

const OPERATOR_SECRET = `0x${'5e'.repeat(32)}` as const;
const OPERATOR = privateKeyToAccount(OPERATOR_SECRET).address;
const BATCH_CONTRACT = `0x${'ba'.repeat(20)}`;

export const TOKEN = `0x${'70'.repeat(20)}`;
export const VAULT = `0x${'a0'.repeat(20)}`;

export async function startEarnChain(): Promise<StubNode> {
  const node = await StubNode.start();
  for (const address of [CREATE2_PROXY.toLowerCase(), BATCH_CONTRACT]) node.codes.set(address, '0x60');
  const isDeployed = (address: string): boolean =>
    node
      .sentFrom(OPERATOR)
      .some(({ to, input }) => to === CREATE2_PROXY.toLowerCase() && createdBy(input) === address.toLowerCase());
  node.methods.set(
    'eth_getCode',
    ((address: string) => node.codes.get(address.toLowerCase()) ?? (isDeployed(address) ? '0x60' : '0x')) as never,
  );
  node.contracts.set(TOKEN, stubToken('USDC', 6, { [VAULT]: 1_000_000_000n }));
  node.contracts.set(
    VAULT,
    stubContract({
      'asset() returns (address)': TOKEN,
      'name() returns (string)': 'A vault',
      // As a vault of Morpho has them, which says nothing of its markets.
      'MORPHO() returns (address)': TOKEN,
      'withdrawQueueLength() returns (uint256)': 0n,
      'decimals() returns (uint8)': 18,
      'totalAssets() returns (uint256)': 1_000_000_000n,
      'convertToAssets(uint256) returns (uint256)': (shares: bigint) => shares / 10n ** 12n,
    }),
  );
  return node;
}

/** The entry of CUSTOS_CHAINS. */
export const earnChainSettings = (node: StubNode): Record<string, object> =>
  node.settings({
    operatorAddress: OPERATOR,
    batchContract: BATCH_CONTRACT,
    vaults: [VAULT],
    assets: [{ caip19: `${node.caip2}/erc20:${TOKEN}`, symbol: 'USDC', name: 'A token', decimals: 6 }],
    prices: { [`${node.caip2}/erc20:${TOKEN}`]: '1.00', [`${node.caip2}/slip44:60`]: '2000' },
  });

/** As an operator does it, beside the service that runs. */
export async function importOperatorKeyFor(server: TestServer, { caip2 }: StubNode): Promise<void> {
  await importOperatorKey(readConfig(server.environment), {
    caip2,
    readText: async () => Buffer.from(OPERATOR_SECRET),
  });
}
