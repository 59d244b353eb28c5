import Type, { type Static } from 'typebox';
import { encodeFunctionData, erc20Abi } from 'viem';
import { type ChainAsset, type ChainSettings, configuredChain } from '../../../chains/settings.ts';
import { ChainShape, DisplayShape, isEthereumAddress } from '../../../chains/shapes.ts';
import { defineQuery, type QueryContext } from '../../../engine/define.ts';
import { formatUnits, usdOf } from '../../../lib/amount.ts';
import { invalidField } from '../../../lib/errors.ts';
import { pageOfList } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape, textShape } from '../../../lib/shapes.ts';
import type { EvmNode, Hex, SolanaNode } from '../../../nodes/node.ts';
import { isSolanaKey } from '../../../policy-facts/contract-interface.ts';
import { nativeAsset, tokenAssets } from '../assets.ts';

const ADDRESS_LENGTH_MAX = 64;
/** What a token answers is at least one word; some answer more. */
const WORD_LENGTH = 2 + 64;

const BalanceShape = Type.Object({
  caip19: Type.String(),
  symbol: Type.String(),
  name: Type.String(),
  balance: Type.String(),
  decimals: Type.Integer(),
  display: DisplayShape,
  tokenProgram: Type.Optional(Type.String()),
});

interface Balance {
  readonly asset: ChainAsset;
  readonly amount: bigint;
  readonly tokenProgram?: string;
}

export const getWalletAddressBalances = defineQuery({
  name: 'get_wallet_address_balances',
  summary: 'What an address holds on a chain: its native asset, and of the configured ones those that it has any of.',
  waitsOutside: true,
  parameters: Type.Object({
    organizationId: IdShape,
    address: textShape(ADDRESS_LENGTH_MAX),
    caip2: ChainShape,
    paginationOptions: Type.Optional(PaginationShape),
  }),
  response: Type.Object({ balances: Type.Array(BalanceShape), pageInfo: PageInfoShape }),
  async run(context, { address, caip2, paginationOptions }) {
    const chain = configuredChain(context.config.chains, caip2);
    const balances = await balancesOn(context, chain, address);
    const { items, pageInfo } = pageOfList(
      balances,
      paginationOptions,
      context.config.listMax,
      ({ asset }) => asset.caip19,
    );
    return { balances: await Promise.all(items.map((balance) => shown(context, chain, balance))), pageInfo };
  },
});

async function balancesOn({ nodes }: QueryContext, chain: ChainSettings, address: string): Promise<Balance[]> {
  if (chain.namespace === 'solana') {
    if (!isSolanaKey(address)) throw invalidField('address', 'must be an address of Solana, 32 bytes in base58');
    return await solanaBalances(nodes.solana(chain.caip2), address);
  }
  if (!isEthereumAddress(address)) throw invalidField('address', 'must be an address, 0x and 40 hex digits');
  return await ethereumBalances(nodes.evm(chain.caip2), address.toLowerCase() as Hex);
}

async function ethereumBalances(node: EvmNode, address: Hex): Promise<Balance[]> {
  const tokens = [...tokenAssets(node.chain)];
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [address] });
  const [native, answers] = await Promise.all([
    node.balance(address),
    node.callMany(tokens.map(([token]) => ({ to: token as Hex, data }))),
  ]);
  const held = tokens.flatMap(([, asset], index) => {
    const answer = answers[index];
    // Where there is no contract, or one that is no token, the address holds none of it.
    const word = answer?.ok === true && answer.data.length >= WORD_LENGTH ? answer.data.slice(0, WORD_LENGTH) : '0x0';
    return [{ asset, amount: BigInt(word) }];
  });
  return [{ asset: nativeAsset(node.chain), amount: native }, ...held.filter(({ amount }) => amount > 0n)];
}

async function solanaBalances(node: SolanaNode, address: string): Promise<Balance[]> {
  const tokens = tokenAssets(node.chain);
  const [native, held] = await Promise.all([node.balance(address), node.tokenBalances(address)]);
  const known = held.flatMap(({ mint, amount, tokenProgram }) => {
    const asset = tokens.get(mint);
    return asset === undefined || amount === 0n ? [] : [{ asset, amount, tokenProgram }];
  });
  return [{ asset: nativeAsset(node.chain), amount: native }, ...known];
}

async function shown(
  { earn }: QueryContext,
  chain: ChainSettings,
  { asset, amount, tokenProgram }: Balance,
): Promise<Static<typeof BalanceShape>> {
  const { caip19, symbol, name, decimals } = asset;
  const price = await earn.priceOf(chain, caip19);
  return {
    caip19,
    symbol,
    name,
    balance: String(amount),
    decimals,
    display: { usd: usdOf(amount, decimals, price), crypto: formatUnits(amount, decimals) },
    ...(tokenProgram !== undefined && { tokenProgram }),
  };
}
