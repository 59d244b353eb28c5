// Earn from the catalog to the last claim, as users of the server SDK have it: on a real Aave v3 market and on vaults over
// a real Morpho Blue. After each step the chain must hold, to the unit, what contracts and arithmetic say.
import type { TurnkeyApiClient } from '@turnkey/sdk-server';
import { type Address, formatUnits, getAddress, type Hex, parseEther } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../packages/server/src/config/config.ts';
import { importOperatorKey } from '../packages/server/src/keyring-admin/import-operator-key.ts';
import { newKeyPair } from '../packages/server/test/harness/client.ts';
import { TestServer } from '../packages/server/test/harness/server.ts';
import { type AaveMarket, deployAave } from './chain/aave.ts';
import { type Anvil, startAnvil } from './chain/anvil.ts';
import { artifact, testArtifact } from './chain/artifacts.ts';
import { type ChainClient, connectTo, type Deployed, fundedAccount } from './chain/deploy.ts';
import { deployMorpho, type Morpho } from './chain/morpho.ts';
import { poll } from './chain/poll.ts';
import { aavePlace, erc4626Place, modelWrapper, type Place, type WrapperModel } from './chain/wrapper-model.ts';
import { connect, credentialsOf, errorCodeOf, fresh, refusal, userOf } from './sdk.ts';

/** The SDK names the chains of the public service only. */
const CHAIN = 'eip155:31337' as never;
/** Has no batch contract. */
const BARE = 'eip155:31338' as never;
const OPERATOR = fundedAccount(3);
const OPERATOR_KEY = Buffer.from(OPERATOR.getHdKey().privateKey ?? []).toString('hex');
/** Long ago, so that the chain stays behind the service's clock however far tests travel. */
const GENESIS = 1_700_000_000;
const DAY = 86_400;
const usdc = (amount: number): bigint => BigInt(Math.round(amount * 1e6));

/** A chain with a token in six decimals, and one of the old kind that has a plain vault. */
interface Net {
  readonly caip2: never;
  readonly chain: ChainClient;
  readonly token: Deployed;
  readonly old: { readonly token: Deployed; readonly vault: Deployed };
}

let anvil: Anvil;
let chain: ChainClient;
let aave: AaveMarket;
let morpho: Morpho;
let token: Deployed;
let main: Net;
let bare: Net & { readonly vault: Deployed };
let service: TestServer;
let root: TurnkeyApiClient;
/** Around the second Morpho vault, for tests that are not about wrappers themselves. */
let shared: Wrapped;
/** What the catalog said before anybody had done anything, and what was on the chain then. */
let first: {
  readonly vaults: Vault[];
  readonly pages: Vault[][];
  readonly ofAave: Vault[];
  readonly onChain: Record<string, { tvl: bigint; liquidity: bigint }>;
};

type Vault = NonNullable<Awaited<ReturnType<TurnkeyApiClient['listEarnVaults']>>['vaults']>[number];

beforeAll(async () => {
  const [entry, bareEntry] = await Promise.all([openMain(), openBare()]);
  const env = { CUSTOS_CHAINS: JSON.stringify({ [CHAIN]: entry, [BARE]: bareEntry }), CUSTOS_LOG_LEVEL: 'warn' };
  service = await TestServer.start({ env });
  root = connect(service.baseUrl, service.credentials);
  await importKey(CHAIN);
  const imported = importKey(BARE);
  first = { ...(await readCatalog()), onChain: await valuesOnChain() };
  shared = await wrap(morpho.vaultV2.address, erc4626Place(morpho.vaultV2));
  await imported;
  // Two chains that are brought up, in an emulator where the machine is not of their kind.
}, 240_000);

afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await Promise.all([anvil?.stop(), bare?.chain.node.stop()]);
});

/** As `custos chains import-key` does it. */
const importKey = async (caip2: string): Promise<unknown> =>
  await importOperatorKey(readConfig(service.environment), { caip2, readText: async () => Buffer.from(OPERATOR_KEY) });

/** Answers with the entry of CUSTOS_CHAINS. */
async function openMain(): Promise<object> {
  anvil = await startAnvil({ args: ['--timestamp', String(GENESIS)] });
  chain = connectTo(anvil);
  aave = await deployAave(chain);
  morpho = await deployMorpho(chain, { usdc: aave.usdc.token, weth: aave.weth.token });
  token = aave.usdc.token;
  main = { caip2: CHAIN, chain, token, old: await deployOld(chain) };
  const batch = await chain.deploy(artifact('CustosBatch'));
  return {
    rpcUrls: [anvil.url],
    pollMs: 50,
    batchContract: batch.address,
    operatorAddress: OPERATOR.address,
    aavePoolAddressesProvider: aave.addressesProvider.address,
    morphoFactories: [morpho.metaMorphoFactory.address, morpho.vaultV2Factory.address],
    vaults: [main.old.vault.address],
  };
}

async function openBare(): Promise<object> {
  const client = connectTo(await startAnvil({ chainId: 31_338 }));
  const plain = await client.deploy(testArtifact('TestToken'), ['USD Coin', 'USDC', 6]);
  const vault = await client.deploy(testArtifact('TestVault'), [plain.address]);
  bare = { caip2: BARE, chain: client, token: plain, vault, old: await deployOld(client) };
  return {
    rpcUrls: [client.node.url],
    pollMs: 50,
    operatorAddress: OPERATOR.address,
    vaults: [vault.address, bare.old.vault.address],
    prices: { [caip19(bare)]: '1' },
  };
}

async function deployOld(client: ChainClient): Promise<Net['old']> {
  const dollar = await client.deploy(testArtifact('TestOldToken'));
  return { token: dollar, vault: await client.deploy(testArtifact('TestVault'), [dollar.address]) };
}

const caip19 = (net = main): string => `${net.caip2}/erc20:${net.token.address}`;

async function readCatalog(): Promise<Pick<typeof first, 'vaults' | 'pages' | 'ofAave'>> {
  const list = async (extra: Omit<Parameters<Client['listEarnVaults']>[0], 'caip19'>) => {
    const { vaults = [], pageInfo } = await root.listEarnVaults({ caip19: caip19(), ...extra });
    return { vaults, pageInfo };
  };
  const page = await list({ paginationOptions: { limit: '2' } });
  const next = await list({ paginationOptions: { limit: '2', after: page.pageInfo?.endCursor as string } });
  return {
    vaults: (await list({})).vaults,
    pages: [page.vaults, next.vaults],
    ofAave: (await list({ provider: 'EARN_PROVIDER_AAVE' })).vaults,
  };
}

async function valuesOnChain(): Promise<Record<string, { tvl: bigint; liquidity: bigint }>> {
  const [steady, second, market] = await Promise.all([
    chain.read<bigint>(morpho.metaMorpho, 'totalAssets'),
    chain.read<bigint>(morpho.vaultV2, 'totalAssets'),
    chain.read<bigint>(aave.usdc.aToken, 'totalSupply'),
  ]);
  const idle = await chain.read<bigint>(token, 'balanceOf', [aave.usdc.aToken.address]);
  return {
    // Of the market 600,000 are not borrowed, and 400,000 are where nobody borrows.
    [morpho.metaMorpho.address]: { tvl: steady, liquidity: usdc(1_000_000) },
    [morpho.vaultV2.address]: { tvl: second, liquidity: second },
    [aave.usdc.aToken.address]: { tvl: market, liquidity: idle },
  };
}

async function newWallet(client = root, { ether = '1', assets = 0n, net = main } = {}): Promise<Address> {
  const { addresses } = await client.createWallet({
    walletName: fresh('wallet'),
    accounts: [
      {
        curve: 'CURVE_SECP256K1',
        pathFormat: 'PATH_FORMAT_BIP32',
        path: "m/44'/60'/0'/0/0",
        addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
      },
    ],
  });
  const [address] = addresses as [Address];
  if (ether !== '0') await net.chain.node.setBalance(address, parseEther(ether));
  if (assets > 0n) await net.chain.write(fundedAccount(0), net.token, 'mint', [address, assets]);
  return address;
}

const tokensOf = (owner: Address, net = main): Promise<bigint> => net.chain.read(net.token, 'balanceOf', [owner]);
const countOf = (address: Address, net = main): Promise<number> => net.chain.reader.getTransactionCount({ address });
const receiptOf = (hash: Hex, net = main) => net.chain.reader.getTransactionReceipt({ hash });
const codeOf = async (work: Promise<unknown>): Promise<unknown> => errorCodeOf(await refusal(work));

const display = (amount: bigint) => ({
  // At the one dollar of the market's oracle.
  usd: formatUnits((amount + 5_000n) / 10_000n, 2)
    .replace(/^(\d+)$/, '$1.00')
    .replace(/\.(\d)$/, '.$10'),
  crypto: formatUnits(amount, 6),
});

interface Wrapped {
  readonly net: Net;
  readonly vault: Address;
  readonly feeWallet: Address;
  readonly wrapper: Address;
  readonly splitter: Address;
  readonly deployRequestId: string;
  readonly model: WrapperModel;
}

const FEE_BPS = 2_000;

async function wrap(vault: Address, place: Place, net = main): Promise<Wrapped> {
  const feeWallet = await newWallet();
  const deployed = await root.earnDeployWrapper({
    vaultAddress: vault,
    chainCaip2: net.caip2,
    clientFeeBps: String(FEE_BPS),
    clientFeeWallet: feeWallet,
  });
  const [wrapper, splitter] = [deployed.wrapperAddress as Address, deployed.splitterAddress as Address];
  const { deployRequestId } = deployed;
  const status = await poll(() => root.getEarnDeployStatus({ deployRequestId }), hasEnded);
  expect(status).toEqual({ status: 'COMPLETED', deployTxHash: expect.stringMatching(/^0x[0-9a-f]{64}$/) });
  expect(getAddress((await receiptOf(status.deployTxHash as Hex, net)).from)).toBe(OPERATOR.address);
  const model = modelWrapper(net.chain, place, wrapper, splitter);
  return { net, vault, feeWallet, wrapper, splitter, deployRequestId, model };
}

const hasEnded = ({ status }: { status?: string }): boolean => status !== 'PENDING';

interface Deed {
  readonly hash: Hex;
  readonly blockNumber: bigint;
}

async function deedOf(
  { net }: Wrapped,
  status: { status?: string; error?: string },
  hash: string | undefined,
): Promise<Deed> {
  expect(status).toMatchObject({ status: 'COMPLETED' });
  expect(status.error).toBeUndefined();
  const { blockNumber } = await receiptOf(hash as Hex, net);
  return { hash: hash as Hex, blockNumber };
}

type Client = TurnkeyApiClient;
type Asked = { readonly sponsor?: boolean };

const usedBy = ({ wrapper, net }: Wrapped, signWith: Address, extra: Asked) => ({
  wrapperAddress: wrapper,
  chainCaip2: net.caip2,
  signWith,
  ...extra,
});

const ask = {
  deposit: (client: Client, wrapped: Wrapped, signWith: Address, assets: bigint, extra: Asked = {}) =>
    client.earnDeposit({ ...usedBy(wrapped, signWith, extra), assets: String(assets) }),
  withdraw: (client: Client, wrapped: Wrapped, signWith: Address, amount: bigint | 'MAX', extra: Asked = {}) =>
    client.earnWithdraw({ ...usedBy(wrapped, signWith, extra), amountValue: `${amount}` }),
};

async function deposit(...asked: Parameters<typeof ask.deposit>): Promise<Deed> {
  const [client, wrapped] = asked;
  const { depositRequestId } = await ask.deposit(...asked);
  const status = await poll(() => client.getEarnDepositStatus({ depositRequestId }), hasEnded);
  return await deedOf(wrapped, status, status.depositTxHash);
}

async function withdraw(...asked: Parameters<typeof ask.withdraw>): Promise<Deed> {
  const [client, wrapped] = asked;
  const { withdrawRequestId } = await ask.withdraw(...asked);
  const status = await poll(() => client.getEarnWithdrawStatus({ withdrawRequestId }), hasEnded);
  return await deedOf(wrapped, status, status.withdrawTxHash);
}

async function claim(client: Client, wrapped: Wrapped): Promise<Deed> {
  const { claimRequestId } = await client.claimEarnFees({ wrapperAddress: wrapped.wrapper });
  const status = await poll(() => client.getClaimEarnFeesStatus({ claimRequestId }), hasEnded);
  return await deedOf(wrapped, status, status.claimTxHash);
}

const catalogEntry = async ({ vault }: { vault: Address }, client = root): Promise<Vault | undefined> =>
  (await client.listEarnVaults({ caip19: caip19() })).vaults?.find(({ vaultAddress }) => vaultAddress === vault);

const positionsOf = async (walletAddress: Address, client = root) =>
  (await client.listEarnPositions({ walletAddress })).positions;

const enabledEntry = async ({ wrapper }: Wrapped, client = root) =>
  (await client.listEarnEnabledVaults({ caip19: caip19() })).enabledVaults?.find(
    ({ wrapperAddress }) => wrapperAddress === wrapper,
  );

/** All that a position tells, of what the wallet has now. */
async function expectPosition(
  wallet: Address,
  { net, vault, wrapper, model }: Wrapped,
  provider: string | undefined,
  [deposited, withdrawn]: readonly [bigint, bigint],
  depositsDisabled = false,
  client = root,
): Promise<void> {
  const { value } = await model.now(wallet);
  const [current, put, taken] = [display(value), display(deposited), display(withdrawn)];
  expect(await positionsOf(wallet, client)).toEqual([
    {
      vaultAddress: vault,
      wrapperAddress: wrapper,
      provider,
      caip19: caip19(net),
      currentValue: String(value),
      totalDeposited: String(deposited),
      totalWithdrawn: String(withdrawn),
      display: {
        currentValueUsd: current.usd,
        totalDepositedUsd: put.usd,
        totalWithdrawnUsd: taken.usd,
        currentValueCrypto: current.crypto,
        totalDepositedCrypto: put.crypto,
        totalWithdrawnCrypto: taken.crypto,
      },
      depositsDisabled,
    },
  ]);
}

test('the catalog tells all of every vault, by value descending', () => {
  const { vaults, pages, ofAave, onChain } = first;
  const named = {
    [morpho.metaMorpho.address]: ['EARN_PROVIDER_MORPHO', 'Steady USDC', ''],
    [morpho.vaultV2.address]: ['EARN_PROVIDER_MORPHO', 'Second USDC', ''],
    [aave.usdc.aToken.address]: ['EARN_PROVIDER_AAVE', 'USDC', ''],
  };
  const sorted = Object.entries(onChain).sort(([, one], [, other]) => (one.tvl > other.tvl ? -1 : 1));
  expect(vaults).toEqual(
    sorted.map(([vaultAddress, { tvl, liquidity }]) => ({
      vaultAddress,
      provider: named[vaultAddress]?.[0],
      caip19: caip19(),
      tvl: String(tvl),
      apyPct: expect.stringMatching(/^0\.\d+$/),
      enabled: false,
      display: display(tvl),
      name: named[vaultAddress]?.[1],
      curator: named[vaultAddress]?.[2],
      liquidity: String(liquidity),
      liquidityDisplay: display(liquidity),
    })),
  );
  expect(pages).toEqual([vaults.slice(0, 2), vaults.slice(2)]);
  expect(ofAave).toEqual(vaults.filter(({ provider }) => provider === 'EARN_PROVIDER_AAVE'));
});

const STORIES = {
  EARN_PROVIDER_MORPHO: () => ({ vault: morpho.metaMorpho.address, place: erc4626Place(morpho.metaMorpho) }),
  EARN_PROVIDER_AAVE: () => ({
    vault: aave.usdc.aToken.address,
    place: aavePlace(aave.pool, aave.usdc.aToken, token.address),
  }),
};

describe.each(['EARN_PROVIDER_MORPHO', 'EARN_PROVIDER_AAVE'] as const)('%s', (provider) => {
  test('from the catalog to the last claim', async () => {
    const { vault, place } = STORIES[provider]();
    const [one, two, three] = [usdc(4_000.000001), usdc(1_500.000007), usdc(250.5)];
    const saver = await newWallet(root, { assets: usdc(10_000) });

    // The wrapper: where it was said to be, on the terms that were asked for, and once.
    expect(await catalogEntry({ vault })).toMatchObject({ enabled: false });
    const wrapped = await wrap(vault, place);
    const { wrapper, splitter, feeWallet, model } = wrapped;
    const read = <Value>(name: string) => chain.read<Value>(model.wrapper, name);
    expect(await read('vault')).toBe(vault);
    expect(await read('asset')).toBe(token.address);
    expect(await read('totalFeeBps')).toBe(BigInt(FEE_BPS));
    expect(await read('performanceFeeRecipient')).toBe(splitter);
    expect(await chain.read({ address: splitter, abi: artifact('EarnSplitter').abi as never }, 'payees')).toEqual([
      getAddress(feeWallet),
    ]);
    const sent = await countOf(OPERATOR.address);
    const terms = { vaultAddress: vault, chainCaip2: CHAIN, clientFeeBps: `${FEE_BPS}`, clientFeeWallet: feeWallet };
    const again = await root.earnDeployWrapper(terms);
    expect(again).toMatchObject({ wrapperAddress: wrapper, splitterAddress: splitter });
    const { deployRequestId } = again;
    expect(await root.getEarnDeployStatus({ deployRequestId })).toMatchObject({ status: 'COMPLETED' });
    expect(await countOf(OPERATOR.address)).toBe(sent);
    expect(await catalogEntry({ vault })).toMatchObject({ enabled: true });
    expect(await enabledEntry(wrapped)).toMatchObject({ totalDeposited: '0', claimableClientFee: '0' });
    expect(await positionsOf(saver)).toEqual([]);

    // Deposits: one transaction with both calls, and no allowance left over.
    const entered = await deposit(root, wrapped, saver, one);
    const { type, from, to } = await chain.reader.getTransaction({ hash: entered.hash });
    expect([type, getAddress(from), getAddress(to as Address)]).toEqual(['eip7702', saver, saver]);
    expect(await tokensOf(saver)).toBe(usdc(10_000) - one);
    expect(await chain.read(token, 'allowance', [saver, wrapper])).toBe(0n);
    expect(await model.sharesOf(saver)).toBe((await model.deposit(entered.blockNumber, one)).shares);
    await expectPosition(saver, wrapped, provider, [one, 0n]);

    // The wallet that gets the fees saves too; that is its own and nothing of the fees.
    await chain.write(fundedAccount(0), token, 'mint', [feeWallet, usdc(100)]);
    const own = await deposit(root, wrapped, feeWallet, usdc(100));
    const ownShares = await model.sharesOf(feeWallet);
    expect(ownShares).toBe((await model.deposit(own.blockNumber, usdc(100))).shares);

    // A quarter of a year later: what was earned, net of the fee, and the fee.
    await anvil.increaseTime(90 * DAY);
    const grown = await model.now(saver);
    expect(grown.value).toBeGreaterThan(one);
    expect(grown.claimable).toBeGreaterThan(0n);
    await expectPosition(saver, wrapped, provider, [one, 0n]);
    const entry = await enabledEntry(wrapped);
    expect(entry).toMatchObject({
      vaultAddress: vault,
      provider,
      caip19: caip19(),
      totalDeposited: String(grown.total),
      display: display(grown.total),
      clientFeeBps: String(FEE_BPS),
      depositsDisabled: false,
      claimableClientFee: String(grown.claimable),
      claimableClientFeeDisplay: display(grown.claimable),
      clientFeeWallet: getAddress(feeWallet),
    });
    expect(Number(entry?.netApyPct)).toBeCloseTo(Number(entry?.apyPct) * (1 - FEE_BPS / 10_000), 12);

    // A part is taken out.
    const before = await model.sharesOf(saver);
    const taken = await withdraw(root, wrapped, saver, two);
    const part = await model.withdrawal(taken.blockNumber, two);
    expect(await tokensOf(saver)).toBe(usdc(10_000) - one + two);
    expect(await model.sharesOf(saver)).toBe(before - part.shares);
    expect(await model.sharesOf(splitter)).toBe(part.fees);
    await expectPosition(saver, wrapped, provider, [one, two]);

    // The switch: no deposit any more and no transaction for one, but what is inside comes out.
    const off = await root.earnSetWrapperState({ wrapperAddress: wrapper, depositsDisabled: true });
    expect(off).toMatchObject({ wrapperAddress: wrapper, depositsDisabled: true });
    const count = await countOf(saver);
    expect(await codeOf(ask.deposit(root, wrapped, saver, three))).toBe('EARN_DEPOSITS_DISABLED');
    await withdraw(root, wrapped, saver, three);
    expect(await countOf(saver)).toBe(count + 1);
    expect(await tokensOf(saver)).toBe(usdc(10_000) - one + two + three);
    await expectPosition(saver, wrapped, provider, [one, two + three], true);
    expect(await enabledEntry(wrapped)).toMatchObject({ depositsDisabled: true });

    // Everything is taken out, still while deposits are disabled.
    await anvil.increaseTime(30 * DAY);
    const all = await model.sharesOf(saver);
    const exit = await withdraw(root, wrapped, saver, 'MAX');
    const paid = await model.redemption(exit.blockNumber, all);
    expect(await tokensOf(saver)).toBe(usdc(10_000) - one + two + three + paid.assets);
    expect(paid.assets + two + three).toBeGreaterThan(one);
    expect(await model.sharesOf(saver)).toBe(0n);
    expect(await model.sharesOf(splitter)).toBe(paid.fees);
    expect(await positionsOf(saver)).toEqual([]);

    // Nothing is left that MAX could take out. Who comes back finds the totals of a lifetime.
    expect(await codeOf(ask.withdraw(root, wrapped, saver, 'MAX'))).toBe('EARN_NOTHING_TO_WITHDRAW');
    await root.earnSetWrapperState({ wrapperAddress: wrapper, depositsDisabled: false });
    await deposit(root, wrapped, saver, three);
    await expectPosition(saver, wrapped, provider, [one + three, two + three + paid.assets]);

    // The fees go to their wallet, and what it has saved itself stays.
    const due = await claim(root, wrapped);
    const fees = await model.claim(due.blockNumber);
    expect(fees).toBeGreaterThan(0n);
    expect(await tokensOf(feeWallet)).toBe(fees);
    expect(await model.sharesOf(splitter)).toBe(0n);
    expect(await model.sharesOf(feeWallet)).toBe(ownShares);
    expect((await receiptOf(due.hash)).from).toBe(feeWallet.toLowerCase());
    expect(await enabledEntry(wrapped)).toMatchObject({ claimableClientFee: '0' });
    expect(await codeOf(root.claimEarnFees({ wrapperAddress: wrapper }))).toBe('EARN_NOTHING_TO_CLAIM');
    await expectPosition(feeWallet, wrapped, provider, [usdc(100), 0n]);
  });
});

describe('a wrapper', () => {
  test('serves the wallets of sub-organizations, and its owner alone manages it', async () => {
    const key = newKeyPair();
    const { subOrganizationId } = await root.createSubOrganization({
      subOrganizationName: fresh('customer'),
      rootQuorumThreshold: 1,
      rootUsers: [userOf('customer', key)],
    });
    const customer = connect(service.baseUrl, credentialsOf(subOrganizationId, key));
    const wallet = await newWallet(customer, { assets: usdc(2_000) });
    const { wrapper: wrapperAddress, vault, feeWallet, model, splitter } = shared;
    const entered = await deposit(customer, shared, wallet, usdc(2_000));
    expect(await tokensOf(wallet)).toBe(0n);
    expect(await model.sharesOf(wallet)).toBe((await model.deposit(entered.blockNumber, usdc(2_000))).shares);
    await anvil.increaseTime(30 * DAY);
    await expectPosition(wallet, shared, 'EARN_PROVIDER_MORPHO', [usdc(2_000), 0n], false, customer);
    expect(await catalogEntry(shared, customer)).toMatchObject({ enabled: true });

    const seen = await enabledEntry(shared);
    expect(seen).toMatchObject({
      claimableClientFee: String((await model.now(wallet)).claimable),
      clientFeeWallet: feeWallet,
    });
    const { claimableClientFee, claimableClientFeeDisplay, clientFeeWallet, ...visible } = seen ?? {};
    expect([claimableClientFee, claimableClientFeeDisplay?.crypto, clientFeeWallet]).not.toContain(undefined);
    expect(await enabledEntry(shared, customer)).toEqual(visible);

    const before = await tokensOf(feeWallet);
    const due = await claim(root, shared);
    expect(await tokensOf(feeWallet)).toBe(before + (await model.claim(due.blockNumber)));
    await root.earnSetWrapperState({ wrapperAddress, depositsDisabled: false });
    const terms = { vaultAddress: vault, chainCaip2: CHAIN, clientFeeBps: `${FEE_BPS}`, clientFeeWallet: feeWallet };
    expect(await root.earnDeployWrapper(terms)).toMatchObject({ wrapperAddress, splitterAddress: splitter });
    for (const attempt of [
      () => customer.claimEarnFees({ wrapperAddress }),
      () => customer.earnSetWrapperState({ wrapperAddress, depositsDisabled: false }),
      () => customer.earnDeployWrapper({ ...terms, clientFeeWallet: wallet }),
    ]) {
      expect(await codeOf(attempt())).toBe('INVALID_ACTIVITY_CALLER');
    }
    // Nor does it act for their wallets.
    await withdraw(customer, shared, wallet, usdc(1));
    expect(await codeOf(ask.withdraw(root, shared, wallet, usdc(1)))).toBe('RESOURCE_NOT_FOUND');
    // It may look at them.
    expect(await positionsOf(wallet, root)).toEqual(await positionsOf(wallet, customer));

    const shares = await model.sharesOf(wallet);
    const exit = await withdraw(customer, shared, wallet, 'MAX');
    expect(await tokensOf(wallet)).toBe(usdc(1) + (await model.redemption(exit.blockNumber, shares)).assets);
    expect(await tokensOf(wallet)).toBeGreaterThan(usdc(2_000));
    expect(await positionsOf(wallet, customer)).toEqual([]);
  });

  test('counts everything, in whatever order the chain takes it', async () => {
    const wallet = await newWallet(root, { assets: usdc(150) });
    await deposit(root, shared, wallet, usdc(100));
    const shares = await shared.model.sharesOf(wallet);
    let paid = 0n;
    await anvil.request('evm_setAutomine', [false]);
    try {
      // The operator's transaction is held up, and the wallet's own one overtakes it.
      const { depositRequestId } = await ask.deposit(root, shared, wallet, usdc(50), { sponsor: true });
      const statusOf = () => root.getEarnDepositStatus({ depositRequestId });
      const { depositTxHash } = await poll(statusOf, (status) => status.depositTxHash !== undefined);
      const raw = await poll(
        () => anvil.request('eth_getRawTransactionByHash', [depositTxHash]),
        (found) => found !== null,
      );
      await anvil.request('anvil_dropTransaction', [depositTxHash]);
      const { withdrawRequestId } = await ask.withdraw(root, shared, wallet, 'MAX');
      const exit = await poll(async () => {
        await anvil.mine();
        return await root.getEarnWithdrawStatus({ withdrawRequestId });
      }, hasEnded);
      expect(exit).toMatchObject({ status: 'COMPLETED' });
      await anvil.request('eth_sendRawTransaction', [raw]).catch(() => undefined);
      await anvil.mine();
      expect(await poll(statusOf, hasEnded)).toMatchObject({ status: 'COMPLETED' });
      const blockOf = async (hash: string | undefined) => (await receiptOf(hash as Hex)).blockNumber;
      expect(await blockOf(depositTxHash)).toBeGreaterThan(await blockOf(exit.withdrawTxHash));
      paid = (await shared.model.redemption(await blockOf(exit.withdrawTxHash), shares)).assets;
    } finally {
      await anvil.request('evm_setAutomine', [true]);
    }
    await expectPosition(wallet, shared, 'EARN_PROVIDER_MORPHO', [usdc(150), paid]);
  });

  test('is needed for a deposit', async () => {
    const wallet = await newWallet(root, { assets: 1n });
    const nowhere = { ...shared, wrapper: shared.vault };
    expect(await codeOf(ask.deposit(root, nowhere, wallet, 1n))).toBe('EARN_SETUP_REQUIRED');
    expect(await countOf(wallet)).toBe(0);
  });
});

describe('policies', () => {
  test('judge every call of every transaction', async () => {
    const wallet = await newWallet(root, { assets: usdc(1_000) });
    const { wrapper, splitter, vault, feeWallet } = shared;
    const key = newKeyPair();
    const { userIds } = await root.createUsers({ users: [{ ...userOf(fresh('saver'), key), userTags: [] }] });
    const person = connect(service.baseUrl, credentialsOf(service.credentials.organizationId, key));
    const allow = async (kind: string, condition: string): Promise<void> => {
      await root.createPolicy({
        policyName: fresh('earn'),
        effect: 'EFFECT_ALLOW',
        consensus: `approvers.any(user, user.id == '${userIds[0]}')`,
        condition: `activity.kind == '${kind}' && (${condition})`,
        notes: '',
      });
    };
    const to = (...targets: Address[]): string =>
      targets.map((target) => `eth.tx.to == '${target.toLowerCase()}'`).join(' || ');
    const DENIED = 'REQUEST_NOT_AUTHORIZED';

    const deploy = (clientFeeBps: string) =>
      person.earnDeployWrapper({ vaultAddress: vault, chainCaip2: CHAIN, clientFeeBps, clientFeeWallet: feeWallet });
    expect(await codeOf(deploy('100'))).toBe(DENIED);
    const ofVault = `activity.params.vault_address == '${vault.toLowerCase()}'`;
    await allow('EARN_DEPLOY_WRAPPER', `${ofVault} && activity.params.client_fee_bps <= 100`);
    const { wrapperAddress, deployRequestId } = await deploy('100');
    expect(await codeOf(deploy('101'))).toBe(DENIED);
    await poll(() => root.getEarnDeployStatus({ deployRequestId }), hasEnded);
    const other = { ...shared, wrapper: wrapperAddress as Address };

    const put = (into = shared) => ask.deposit(person, into, wallet, usdc(400));
    expect(await codeOf(put())).toBe(DENIED);
    // The approval before the deposit is a call to the token, and no policy speaks of that.
    await allow('EARN_DEPOSIT', to(wrapper));
    expect(await codeOf(put())).toBe(DENIED);
    await allow('EARN_DEPOSIT', to(wrapper, token.address));
    await deposit(person, shared, wallet, usdc(400));
    expect(await tokensOf(wallet)).toBe(usdc(600));
    expect(await codeOf(put(other))).toBe(DENIED);

    expect(await codeOf(ask.withdraw(person, shared, wallet, usdc(100)))).toBe(DENIED);
    await allow('EARN_WITHDRAW', to(wrapper));
    await withdraw(person, shared, wallet, usdc(100));
    expect(await tokensOf(wallet)).toBe(usdc(700));

    await anvil.increaseTime(30 * DAY);
    expect(await codeOf(person.claimEarnFees({ wrapperAddress: wrapper }))).toBe(DENIED);
    await allow('CLAIM_EARN_FEES', to(splitter));
    await claim(person, shared);

    const set = (depositsDisabled: boolean) =>
      person.earnSetWrapperState({ wrapperAddress: wrapper, depositsDisabled });
    expect(await codeOf(set(false))).toBe(DENIED);
    await allow('EARN_SET_WRAPPER_STATE', 'activity.params.deposits_disabled == false');
    expect(await set(false)).toMatchObject({ wrapperAddress: wrapper, depositsDisabled: false });
    expect(await codeOf(set(true))).toBe(DENIED);
  });
});

describe('who pays', () => {
  test('sponsored, a wallet without ether saves and takes out again', async () => {
    const wallet = await newWallet(root, { ether: '0', assets: usdc(300) });
    const { model } = shared;
    const entered = await deposit(root, shared, wallet, usdc(300), { sponsor: true });
    expect(getAddress((await receiptOf(entered.hash)).from)).toBe(OPERATOR.address);
    expect(await tokensOf(wallet)).toBe(0n);
    const shares = await model.sharesOf(wallet);
    expect(shares).toBe((await model.deposit(entered.blockNumber, usdc(300))).shares);
    await expectPosition(wallet, shared, 'EARN_PROVIDER_MORPHO', [usdc(300), 0n]);
    const exit = await withdraw(root, shared, wallet, 'MAX', { sponsor: true });
    const paid = (await model.redemption(exit.blockNumber, shares)).assets;
    expect(await tokensOf(wallet)).toBe(paid);
    await deposit(root, shared, wallet, usdc(1), { sponsor: true });
    await expectPosition(wallet, shared, 'EARN_PROVIDER_MORPHO', [usdc(301), paid]);
    expect(await chain.reader.getBalance({ address: wallet })).toBe(0n);
    // Without a sponsor it cannot.
    const { depositRequestId } = await ask.deposit(root, shared, wallet, 1n);
    const status = await poll(() => root.getEarnDepositStatus({ depositRequestId }), hasEnded);
    expect(status).toMatchObject({ status: 'FAILED', error: expect.any(String) });
  });

  test('without a batch contract a deposit is an approval and then a deposit', async () => {
    const wallet = await newWallet(root, { net: bare, assets: usdc(500) });
    const wrapped = await wrap(bare.vault.address, erc4626Place(bare.vault), bare);
    const { wrapper, model } = wrapped;
    expect(await codeOf(ask.deposit(root, wrapped, wallet, usdc(200), { sponsor: true }))).toBe(
      'SPONSORSHIP_NOT_CONFIGURED',
    );
    const entered = await deposit(root, wrapped, wallet, usdc(200));
    const { type, nonce, to } = await bare.chain.reader.getTransaction({ hash: entered.hash });
    expect([type, nonce, getAddress(to as Address)]).toEqual(['eip1559', 1, getAddress(wrapper)]);
    expect(await countOf(wallet, bare)).toBe(2);
    expect(await tokensOf(wallet, bare)).toBe(usdc(300));
    expect(await bare.chain.read(bare.token, 'allowance', [wallet, wrapper])).toBe(0n);
    expect(await model.sharesOf(wallet)).toBe((await model.deposit(entered.blockNumber, usdc(200))).shares);
    await expectPosition(wallet, wrapped, undefined, [usdc(200), 0n]);
    // Of two at once neither takes the other's approval.
    const twice = await Promise.all([20, 30].map((amount) => deposit(root, wrapped, wallet, usdc(amount))));
    expect(new Set(twice.map(({ hash }) => hash)).size).toBe(2);
    expect(await tokensOf(wallet, bare)).toBe(usdc(250));
    await expectPosition(wallet, wrapped, undefined, [usdc(250), 0n]);
    // More than there is: the approval goes out, the deposit does not, and the status tells why.
    const { depositRequestId } = await ask.deposit(root, wrapped, wallet, usdc(251));
    const failed = await poll(() => root.getEarnDepositStatus({ depositRequestId }), hasEnded);
    expect(failed).toMatchObject({ status: 'FAILED', error: expect.stringContaining('ERC20InsufficientBalance') });
    await expectPosition(wallet, wrapped, undefined, [usdc(250), 0n]);
    expect(await tokensOf(wallet, bare)).toBe(usdc(250));
    // The approval that is left over is replaced by the next one.
    await deposit(root, wrapped, wallet, usdc(250));
    expect(await countOf(wallet, bare)).toBe(2 + 4 + 1 + 2);
    expect(await bare.chain.read(bare.token, 'allowance', [wallet, wrapper])).toBe(0n);
  });
});

describe('a token that replaces no allowance by another one', () => {
  const ofOld = ({ chain: client, old }: Net, wallet: Address, wrapper: Address) => ({
    left: () => client.read<bigint>(old.token, 'allowance', [wallet, wrapper]),
    held: () => client.read<bigint>(old.token, 'balanceOf', [wallet]),
    /** What every wallet would run into. */
    tryApproval: () =>
      client.reader.simulateContract({
        account: wallet,
        ...old.token,
        functionName: 'approve',
        args: [wrapper, 1n],
      }),
  });

  async function open(net: Net) {
    const wallet = await newWallet(root, { net });
    const wrapped = await wrap(net.old.vault.address, erc4626Place(net.old.vault), net);
    await net.chain.write(fundedAccount(0), net.old.token, 'mint', [wallet, usdc(100)]);
    return { wallet, wrapped, ...ofOld(net, wallet, wrapped.wrapper) };
  }

  test('takes deposits after one that has left its approval over', async () => {
    const { wallet, wrapped, left, held, tryApproval } = await open(bare);
    await deposit(root, wrapped, wallet, usdc(10));
    expect(await countOf(wallet, bare)).toBe(2);
    await tryApproval();
    const { depositRequestId } = await ask.deposit(root, wrapped, wallet, usdc(91));
    const statusNow = () => root.getEarnDepositStatus({ depositRequestId });
    expect(await poll(statusNow, hasEnded)).toMatchObject({ status: 'FAILED' });
    expect([await left(), await countOf(wallet, bare)]).toEqual([usdc(91), 3]);
    await expect(tryApproval()).rejects.toThrow('reverted');
    // It is taken back, and nothing else of it is used.
    await deposit(root, wrapped, wallet, usdc(20));
    expect([await left(), await held(), await countOf(wallet, bare)]).toEqual([0n, usdc(70), 6]);
    await Promise.all([30, 15].map((amount) => deposit(root, wrapped, wallet, usdc(amount))));
    expect([await left(), await held()]).toEqual([0n, usdc(25)]);
    await withdraw(root, wrapped, wallet, 'MAX');
    expect(await held()).toBe(usdc(100));
  });

  test('takes deposits in one transaction over an approval that the wallet gave otherwise', async () => {
    const { wallet, wrapped, left, held, tryApproval } = await open(main);
    await anvil.impersonate(wallet);
    await chain.write(wallet, main.old.token, 'approve', [wrapped.wrapper, 5n]);
    await expect(tryApproval()).rejects.toThrow('reverted');
    const { hash } = await deposit(root, wrapped, wallet, usdc(40));
    expect((await chain.reader.getTransaction({ hash })).to).toBe(wallet.toLowerCase());
    expect([await left(), await held()]).toEqual([0n, usdc(60)]);
  });
});
