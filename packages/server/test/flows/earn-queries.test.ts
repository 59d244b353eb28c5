import { getAddress, type Hex } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createNodes } from '../../src/chains/nodes/nodes.ts';
import type { Send } from '../../src/chains/send/model.ts';
import { chains as readChains } from '../../src/config/chains.ts';
import { createEarn } from '../../src/domains/earn/create-earn.ts';
import type { EarnRequest, EarnWrapper } from '../../src/domains/earn/model.ts';
import { EarnStore } from '../../src/domains/earn/store.ts';
import { SendStore } from '../../src/domains/sends/store/sends.ts';
import { type OrganizationId, randomId, type SendId } from '../../src/lib/ids.ts';
import { stubContract, stubToken } from '../chain/stub-contracts.ts';
import { StubError, StubNode } from '../chain/stub-node.ts';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { createSubOrganization, type TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';

// What Earn tells: the catalog, the wrappers of an organization, and what a wallet has in them.

const address = (digits: string): Hex => `0x${digits.padStart(40, '0')}`;
const USDC = address('abcdef01');
const [LARGE, MIDDLE, SMALL] = [address('d1'), address('d2'), address('d3')];
/** Configured, and there in one test only. */
const OWN = [address('d4'), address('d5'), address('d6')] as const;
const A_TOKEN = address('e1');
const [PROVIDER, MARKET] = [address('e2'), address('e3')];
const SPLITTER = address('f2');
const FEE_WALLET = address('f3');
const CAIP19 = `eip155:31337/erc20:${getAddress(USDC)}`;
const ETHEREUM = {
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/44'/60'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
};
const RAY = 10n ** 27n;
const CURATOR = 'Steakhouse, Gauntlet';

const vault = (totalAssets: bigint, name: string, others: Parameters<typeof stubContract>[0] = {}) =>
  stubContract({
    ...others,
    'asset() returns (address)': USDC,
    'totalAssets() returns (uint256)': totalAssets,
    'name() returns (string)': name,
    'decimals() returns (uint8)': 18,
    'curator() returns (address)': FEE_WALLET,
  });

let made = 0xf0_00_00;
const newAddress = (): Hex => {
  made += 1;
  return address(made.toString(16));
};

/** By which a vault is known to be Morpho's. */
const MORPHO = { 'MORPHO() returns (address)': USDC, 'withdrawQueueLength() returns (uint256)': 0n };

/** Three vaults and a reserve. */
function furnish(stub: StubNode): void {
  stub.contracts.set(USDC, stubToken('USDC', 6, { [LARGE]: 10n ** 12n, [A_TOKEN]: 40_000n * 10n ** 6n }));
  stub.contracts.set(LARGE, vault(10n ** 12n, 'Large'));
  stub.contracts.set(MIDDLE, vault(5n * 10n ** 10n, 'Middle'));
  stub.contracts.set(SMALL, vault(1_500_000n, 'Small', MORPHO));
  stub.contracts.set(PROVIDER, stubContract({ 'getPoolDataProvider() returns (address)': MARKET }));
  const data = Array.from({ length: 12 }, (_, index) => (index === 2 ? 10n ** 11n : index === 5 ? RAY / 20n : 0n));
  stub.contracts.set(
    MARKET,
    stubContract({
      'getReserveTokensAddresses(address) returns (address, address, address)': [A_TOKEN, A_TOKEN, A_TOKEN],
      'getReserveData(address) returns (uint256, uint256, uint256, uint256, uint256, uint256, uint256, uint256, uint256, uint256, uint256, uint40)':
        [...data.slice(0, 11), 0],
      'getReserveConfigurationData(address) returns (uint256, uint256, uint256, uint256, uint256, bool, bool, bool, bool, bool)':
        [6n, 0n, 0n, 0n, 0n, true, true, false, true, false],
      'getPaused(address) returns (bool)': false,
    }),
  );
  stub.contracts.set(SPLITTER, stubContract({ 'releasable(address,address) returns (uint256)': 1_250n }));
}

/** One share is worth two units. */
const wrapperContract = (shares: ReadonlyMap<string, bigint>) =>
  stubContract({
    'totalAssets() returns (uint256)': 7_000_000n,
    'balanceOf(address) returns (uint256)': (holder: string) => shares.get(holder.toLowerCase()) ?? 0n,
    'convertToAssets(uint256) returns (uint256)': (amount: bigint) => amount * 2n,
  });

describe.each(databasesOf(import.meta.url))('Earn on %s', (database) => {
  let stub: StubNode;
  let opened: TestApp;
  let root: TestClient;
  let sub: TestClient;
  /** Of what is remembered of chains. */
  let nowMs = 0;
  /** Of every wrapper, by holder. */
  const shares = new Map<string, bigint>();

  beforeAll(async () => {
    stub = await StubNode.start();
    const chains = {
      'eip155:31337': {
        rpcUrls: [stub.url],
        aavePoolAddressesProvider: PROVIDER,
        vaults: [{ address: LARGE, curator: CURATOR }, MIDDLE, SMALL, ...OWN],
        prices: { [CAIP19]: '1.5' },
      },
      // Nobody listens there.
      'eip155:1': { rpcUrls: ['http://127.0.0.1:9'], vaults: [LARGE] },
    };
    const settings = JSON.stringify(chains);
    const nodes = createNodes(readChains(settings));
    const earn = createEarn({ nodes, clock: () => nowMs });
    opened = await openTestApp(database, { CUSTOS_CHAINS: settings }, { nodes, earn });
    root = opened.root;
    sub = await createSubOrganization(root, 'Sub');
  });
  beforeEach(() => {
    stub.contracts.clear();
    stub.methods.clear();
    shares.clear();
    furnish(stub);
    // What was read before is too old.
    nowMs += 11 * 60_000;
  });
  afterAll(async () => {
    await opened[Symbol.asyncDispose]();
    await stub[Symbol.asyncDispose]();
  });

  const walletOf = async (client: TestClient): Promise<string> =>
    (await client.run('create_wallet', { walletName: `Wallet ${randomId()}`, accounts: [ETHEREUM] })).addresses[0];

  /** What became of a transaction, as the dispatcher would have left it. */
  async function insertSend(
    organizationId: OrganizationId,
    state: Send['state'],
    block?: Send['block'],
  ): Promise<SendId> {
    const id = randomId<'send'>();
    const send: Send = {
      organizationId,
      id,
      activityId: randomId(),
      caip2: 'eip155:31337',
      sender: FEE_WALLET,
      lane: address(randomId().replaceAll('-', '').slice(0, 8)),
      purpose: 'earn-deploy',
      request: { kind: 'ethereum', calls: [] },
      afterId: undefined,
      state,
      nonce: undefined,
      attempts: [],
      txHash: undefined,
      block,
      error: state === 'FAILED' ? { message: 'out of gas' } : undefined,
      isOpen: false,
      createdAtMs: 1,
      updatedAtMs: 1,
    };
    await opened.app.storage.write((store) => store(SendStore).insert(send));
    return id;
  }

  async function insertRequest(
    organizationId: OrganizationId,
    state: Send['state'] | undefined,
    request: Partial<EarnRequest>,
    block?: Send['block'],
  ): Promise<EarnRequest['id']> {
    const id = randomId<'earn-request'>();
    const sendId = state === undefined ? undefined : await insertSend(organizationId, state, block);
    await opened.app.storage.write((store) =>
      store(EarnStore).insertRequest({
        organizationId,
        id,
        kind: 'deploy',
        caip2: 'eip155:31337',
        wrapperAddress: newAddress(),
        walletAddress: '',
        amount: '',
        sendId,
        createdAtMs: 1,
        ...request,
      }),
    );
    return id;
  }

  /** A wrapper of the parent, where nobody else has one. */
  async function insertWrapper({
    state,
    ...changes
  }: Partial<EarnWrapper> & { readonly state?: Send['state'] } = {}): Promise<EarnWrapper> {
    const organizationId = root.organizationId as OrganizationId;
    const wrapperAddress = newAddress();
    if (state === undefined) {
      stub.contracts.set(wrapperAddress, wrapperContract(shares));
      stub.codes.set(wrapperAddress, '0x60');
    }
    const wrapper: EarnWrapper = {
      organizationId,
      caip2: 'eip155:31337',
      wrapperAddress,
      splitterAddress: SPLITTER,
      vaultAddress: LARGE,
      provider: 'EARN_PROVIDER_MORPHO',
      assetAddress: USDC,
      assetSymbol: 'USDC',
      assetDecimals: 6,
      clientFeeBps: 1_500,
      clientFeeWallet: FEE_WALLET,
      serviceFeeBps: 500,
      serviceFeeWallet: FEE_WALLET,
      depositsDisabled: false,
      deployRequestId: await insertRequest(organizationId, state, {}),
      createdAtMs: 1,
      updatedAtMs: 1,
      ...changes,
    };
    await opened.app.storage.write((store) => store(EarnStore).insertWrapper(wrapper));
    return wrapper;
  }

  describe('list_earn_vaults', () => {
    const list = (parameters: Record<string, unknown> = {}, client = root) =>
      client.query('list_earn_vaults', { caip19: CAIP19, ...parameters });

    test('has every field, by value descending', async () => {
      const { status, body } = await list();
      expect(status, JSON.stringify(body)).toBe(200);
      expect(body.vaults).toEqual([
        {
          vaultAddress: getAddress(LARGE),
          caip19: CAIP19,
          tvl: '1000000000000',
          apyPct: '',
          enabled: expect.any(Boolean),
          display: { usd: '1500000.00', crypto: '1000000' },
          name: 'Large',
          curator: CURATOR,
          liquidity: '1000000000000',
          liquidityDisplay: { usd: '1500000.00', crypto: '1000000' },
        },
        {
          vaultAddress: getAddress(A_TOKEN),
          provider: 'EARN_PROVIDER_AAVE',
          caip19: CAIP19,
          tvl: '100000000000',
          apyPct: expect.stringMatching(/^0\.0512710/),
          enabled: expect.any(Boolean),
          display: { usd: '150000.00', crypto: '100000' },
          name: 'USDC',
          curator: '',
          liquidity: '40000000000',
          liquidityDisplay: { usd: '60000.00', crypto: '40000' },
        },
        expect.objectContaining({ name: 'Middle', liquidity: '', liquidityDisplay: { usd: '', crypto: '' } }),
        expect.objectContaining({
          name: 'Small',
          provider: 'EARN_PROVIDER_MORPHO',
          display: { usd: '2.25', crypto: '1.5' },
        }),
      ]);
      expect(body.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: false });
    });

    test('takes any spelling of the asset and narrows to a provider', async () => {
      const names = async (parameters: Record<string, unknown>) =>
        (await list(parameters)).body.vaults.map(({ name }: { name: string }) => name);
      const all = ['Large', 'USDC', 'Middle', 'Small'];
      expect(await names({ caip19: CAIP19.toLowerCase(), provider: 'EARN_PROVIDER_UNSPECIFIED' })).toEqual(all);
      expect(await names({ provider: 'EARN_PROVIDER_AAVE' })).toEqual(['USDC']);
      expect(await names({ provider: 'EARN_PROVIDER_MORPHO' })).toEqual(['Small']);
      expect(await names({ caip19: `eip155:31337/erc20:${address('99')}` })).toEqual([]);
    });

    test('is read in pages', async () => {
      const first = (await list({ paginationOptions: { limit: '3' } })).body;
      expect(first.vaults).toHaveLength(3);
      expect(first.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
      const { body } = await list({ paginationOptions: { limit: '3', after: first.pageInfo.endCursor } });
      expect(body.vaults).toMatchObject([{ name: 'Small' }]);
      expect(body.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
    });

    test('marks what the parent has a wrapper for, also to its sub-organizations', async () => {
      for (const one of OWN) stub.contracts.set(one, vault(1n, one));
      const enabled = async (client: TestClient) =>
        (await list({}, client)).body.vaults
          .filter(({ name }: { name: Hex }) => OWN.includes(name))
          .map((one: { enabled: boolean }) => one.enabled);
      expect(await enabled(root)).toEqual([false, false, false]);
      await insertWrapper({ vaultAddress: OWN[0], state: 'INITIALIZED' });
      await insertWrapper({ vaultAddress: OWN[1], state: 'FAILED' });
      await insertWrapper({ vaultAddress: OWN[2], caip2: 'eip155:77' });
      expect([await enabled(root), await enabled(sub)]).toEqual([
        [true, false, false],
        [true, false, false],
      ]);
    });

    test('leaves out what is worth less than the parent wants to show', async () => {
      const names = async (client: TestClient) =>
        (await list({}, client)).body.vaults.map(({ name }: { name: string }) => name);
      const set = (value: string) => root.run('set_organization_feature', { name: 'FEATURE_NAME_EARN_CONFIG', value });
      await set('{"minTvlUsd":"75000"}');
      expect(await names(sub)).toEqual(['Large', 'USDC', 'Middle']);
      await set('{"minTvlUsd":"75000.01"}');
      expect([await names(root), await names(sub)]).toEqual([
        ['Large', 'USDC'],
        ['Large', 'USDC'],
      ]);
      await set('');
      expect(await names(sub)).toHaveLength(4);
    });

    test.each([
      ['the native asset', { caip19: 'eip155:31337/slip44:60' }, 'REQUEST_INVALID'],
      ['no chain', { caip19: USDC }, 'REQUEST_INVALID'],
      ['an unknown chain', { caip19: `eip155:5/erc20:${USDC}` }, 'CHAIN_NOT_CONFIGURED'],
      ['an unknown provider', { provider: 'EARN_PROVIDER_OTHER' }, 'REQUEST_INVALID'],
      ['an unknown cursor', { paginationOptions: { after: address('1') } }, 'REQUEST_INVALID'],
    ])('refuses %s', async (_what, parameters, errorCode) => {
      const { status, body } = await list(parameters);
      expect([status, body.errorCode]).toEqual([400, errorCode]);
      if (errorCode === 'CHAIN_NOT_CONFIGURED') expect(body.message).toContain('CUSTOS_CHAINS');
    });

    test('says so when no node answers', async () => {
      const { status, body } = await list({ caip19: `eip155:1/erc20:${USDC}` });
      expect([status, body.errorCode]).toEqual([503, 'RPC_CALL_ERROR']);
    });
  });

  describe('list_earn_positions', () => {
    const list = (client: TestClient, walletAddress: string) => client.query('list_earn_positions', { walletAddress });

    test('tells value and totals, by what is in blocks', async () => {
      const wallet = await walletOf(sub);
      const { wrapperAddress } = await insertWrapper({ depositsDisabled: true });
      shares.set(wallet.toLowerCase(), 2_750_000n);
      const organizationId = sub.organizationId as OrganizationId;
      const note = (kind: 'deposit' | 'withdraw', amount: string, state: Send['state']) =>
        insertRequest(organizationId, state, { kind, amount, wrapperAddress, walletAddress: wallet.toLowerCase() });
      await note('deposit', '1000', 'INCLUDED');
      await note('deposit', '5000000', 'INCLUDED');
      await note('deposit', '77', 'BROADCASTING');
      await note('withdraw', '250000', 'INCLUDED');
      const { status, body } = await list(sub, wallet);
      expect(status, JSON.stringify(body)).toBe(200);
      expect(body.positions).toEqual([
        {
          vaultAddress: getAddress(LARGE),
          wrapperAddress: getAddress(wrapperAddress),
          provider: 'EARN_PROVIDER_MORPHO',
          caip19: CAIP19,
          currentValue: '5500000',
          totalDeposited: '5001000',
          totalWithdrawn: '250000',
          display: {
            currentValueUsd: '8.25',
            totalDepositedUsd: '7.50',
            totalWithdrawnUsd: '0.38',
            currentValueCrypto: '5.5',
            totalDepositedCrypto: '5.001',
            totalWithdrawnCrypto: '0.25',
          },
          depositsDisabled: true,
        },
      ]);
      expect((await list(sub, wallet.toLowerCase())).body).toEqual(body);
    });

    test('is empty without shares, and leaves out a chain that is gone', async () => {
      const wallet = await walletOf(root);
      await insertWrapper();
      await insertWrapper({ caip2: 'eip155:77' });
      expect((await list(root, wallet)).body.positions).toEqual([]);
      shares.set(wallet.toLowerCase(), 1n);
      expect((await list(root, wallet)).body.positions).toHaveLength(1);
    });

    test('tells of what is in a wrapper although its worth is not known', async () => {
      const wallet = await walletOf(sub);
      shares.set(wallet.toLowerCase(), 5n);
      const mute = await insertWrapper();
      const broken = await insertWrapper({ createdAtMs: 2 });
      await insertWrapper({ createdAtMs: 3, state: 'BROADCASTING' });
      const shown = async () =>
        (await list(sub, wallet)).body.positions.map((position: Record<string, unknown>) => [
          String(position.wrapperAddress).toLowerCase(),
          position.currentValue,
          position.totalDeposited,
        ]);
      expect(await shown()).toEqual([
        [mute.wrapperAddress, '10', '0'],
        [broken.wrapperAddress, '10', '0'],
      ]);
      stub.contracts.set(mute.wrapperAddress, stubContract({ 'balanceOf(address) returns (uint256)': 5n }));
      stub.contracts.set(broken.wrapperAddress, () => undefined);
      expect(await shown()).toEqual([[mute.wrapperAddress, '', '0']]);
      await insertRequest(sub.organizationId as OrganizationId, 'INCLUDED', {
        kind: 'deposit',
        amount: '7',
        wrapperAddress: broken.wrapperAddress,
        walletAddress: wallet.toLowerCase(),
      });
      expect(await shown()).toEqual([
        [mute.wrapperAddress, '', '0'],
        [broken.wrapperAddress, '', '7'],
      ]);
      const { body } = await list(sub, wallet);
      expect(body.positions[1].display).toMatchObject({ currentValueUsd: '', totalDepositedUsd: '0.00' });
    });

    test('is about a wallet of the organization, and of its sub-organizations for a parent', async () => {
      const [ours, theirs] = [await walletOf(root), await walletOf(sub)];
      for (const wallet of [ours, theirs]) shares.set(wallet.toLowerCase(), 5n);
      await insertWrapper();
      expect((await list(root, ours)).body.positions).toHaveLength(1);
      expect((await list(sub, theirs)).body.positions).toHaveLength(1);
      expect((await list(root, theirs)).body.positions).toHaveLength(1);
      expect((await list(sub, ours)).body.positions).toEqual([]);
      expect((await list(root, 'not an address')).body.errorCode).toBe('REQUEST_INVALID');
    });

    test('says so when no node answers', async () => {
      const wallet = await walletOf(root);
      await insertWrapper();
      expect((await list(root, wallet)).status).toBe(200);
      stub.methods.set('eth_call', () => {
        throw new StubError('request rate limit exceeded', -32005);
      });
      const { status, body } = await list(root, wallet);
      expect([status, body.errorCode]).toEqual([503, 'RPC_CALL_ERROR']);
    });
  });

  describe('list_earn_position_history', () => {
    const history = (client: TestClient, walletAddress: string, extra: object = {}) =>
      client.query('list_earn_position_history', { walletAddress, ...extra });

    test('has a step for each deposit and withdrawal in a block, and the worth of now', async () => {
      const wallet = await walletOf(sub);
      const { wrapperAddress } = await insertWrapper();
      const other = await insertWrapper({ createdAtMs: 2 });
      shares.set(wallet.toLowerCase(), 600n);
      const organizationId = sub.organizationId as OrganizationId;
      const note = (
        kind: 'deposit' | 'withdraw',
        amount: string,
        timestamp: number,
        extra: Partial<NonNullable<Send['block']>> & { state?: Send['state']; at?: string } = {},
      ) => {
        const { state = 'INCLUDED', at = wrapperAddress, ...more } = extra;
        const request = { kind, amount, wrapperAddress: at, walletAddress: wallet.toLowerCase() };
        const block = { number: timestamp, hash: `0x${timestamp}`, timestamp, fee: '1', ...more };
        return insertRequest(organizationId, state, request, state === 'INCLUDED' ? block : undefined);
      };
      await note('deposit', '1000', 100);
      // Asked for before, and in a block after the next.
      await note('withdraw', 'MAX', 300, { withdrawn: '1600' });
      await note('deposit', '500', 200);
      await note('deposit', '77', 250, { state: 'BROADCASTING' });
      await note('deposit', '9', 400, { at: other.wrapperAddress });
      const { status, body } = await history(sub, wallet, { wrapperAddress });
      expect(status, JSON.stringify(body)).toBe(200);
      const steps = (points: Record<string, string>[]) =>
        points.map((point) => [point.kind, point.amount, point.principal, point.assets]);
      expect(steps(body.points)).toEqual([
        ['DEPOSIT', '1000', '1000', undefined],
        ['DEPOSIT', '500', '1500', undefined],
        ['WITHDRAWAL', '1600', '-100', undefined],
        ['NOW', undefined, '-100', '1200'],
      ]);
      expect(body.points[0]).toEqual({
        caip2: 'eip155:31337',
        vaultAddress: getAddress(LARGE),
        wrapperAddress: getAddress(wrapperAddress),
        address: getAddress(wallet),
        caip19: CAIP19,
        at: '1970-01-01T00:01:40.000Z',
        kind: 'DEPOSIT',
        amount: '1000',
        principal: '1000',
      });
      expect(body).not.toHaveProperty('isPartial');
      expect((await history(sub, wallet)).body.points).toHaveLength(6);
      // The parent sees it, and so does nobody else.
      expect((await history(root, wallet)).body.points).toHaveLength(6);
      const stranger = await createSubOrganization(root, `Stranger ${randomId()}`);
      expect((await history(stranger, wallet)).body).toEqual({ points: [] });
      // What took out everything before anybody noted how much: nobody knows what is left.
      await note('withdraw', 'MAX', 500);
      const after = steps((await history(sub, wallet, { wrapperAddress })).body.points);
      expect(after.slice(3)).toEqual([
        ['WITHDRAWAL', undefined, undefined, undefined],
        ['NOW', undefined, undefined, '1200'],
      ]);
    });

    test('is told without the worth of now while no node answers', async () => {
      const wallet = await walletOf(sub);
      const { wrapperAddress } = await insertWrapper();
      const request = { kind: 'deposit', amount: '5', wrapperAddress, walletAddress: wallet.toLowerCase() } as const;
      const block = { number: 1, hash: '0x1', timestamp: 1, fee: '1' };
      await insertRequest(sub.organizationId as OrganizationId, 'INCLUDED', request, block);
      expect((await history(sub, wallet)).body.points[1]).toMatchObject({ kind: 'NOW', principal: '5', assets: '0' });
      stub.methods.set('eth_call', () => {
        throw new StubError('request rate limit exceeded', -32005);
      });
      const { status, body } = await history(sub, wallet);
      expect(status, JSON.stringify(body)).toBe(200);
      expect(body.points[1]).toMatchObject({ kind: 'NOW', principal: '5' });
      expect(body.points[1]).not.toHaveProperty('assets');
      expect((await history(sub, 'not an address')).body.errorCode).toBe('REQUEST_INVALID');
      expect((await history(sub, wallet, { wrapperAddress: '0x12' })).body.errorCode).toBe('REQUEST_INVALID');
    });
  });

  describe('list_earn_enabled_vaults', () => {
    const list = (client: TestClient, parameters: Record<string, unknown> = {}) =>
      client.query('list_earn_enabled_vaults', parameters);
    /** Those of a test. */
    const listed = async (client: TestClient, wrappers: readonly EarnWrapper[], parameters = {}) => {
      const { status, body } = await list(client, parameters);
      expect(status, JSON.stringify(body)).toBe(200);
      return body.enabledVaults.filter(({ wrapperAddress }: EarnWrapper) =>
        wrappers.some((wrapper) => wrapper.wrapperAddress === wrapperAddress.toLowerCase()),
      );
    };

    test('has what chain and wrapper tell, and fees for the parent alone', async () => {
      const wrapper = await insertWrapper({ vaultAddress: A_TOKEN, provider: 'EARN_PROVIDER_AAVE' });
      const seen = {
        vaultAddress: getAddress(A_TOKEN),
        wrapperAddress: getAddress(wrapper.wrapperAddress),
        provider: 'EARN_PROVIDER_AAVE',
        caip19: CAIP19,
        apyPct: expect.stringMatching(/^0\.0512710/),
        // A fifth less.
        netApyPct: expect.stringMatching(/^0\.0410168/),
        totalDeposited: '7000000',
        display: { usd: '10.50', crypto: '7' },
        clientFeeBps: '1500',
        depositsDisabled: false,
        name: 'USDC',
        curator: '',
        liquidity: '40000000000',
        liquidityDisplay: { usd: '60000.00', crypto: '40000' },
        deployStatus: 'COMPLETED',
        deployRequestId: wrapper.deployRequestId,
      };
      expect(await listed(sub, [wrapper])).toEqual([seen]);
      expect(await listed(root, [wrapper])).toEqual([
        {
          ...seen,
          claimableClientFee: '2500',
          claimableClientFeeDisplay: { usd: '0.00', crypto: '0.0025' },
          clientFeeWallet: getAddress(FEE_WALLET),
        },
      ]);
      expect(await listed(sub, [wrapper], { includeExposure: true })).toEqual([{ ...seen, exposures: [] }]);
    });

    test('leaves out the provider of a vault that is neither of them', async () => {
      const wrapper = await insertWrapper({ provider: undefined });
      const [seen] = await listed(root, [wrapper]);
      expect(seen).not.toHaveProperty('provider');
      expect(await listed(root, [wrapper], { provider: 'EARN_PROVIDER_MORPHO' })).toEqual([]);
      const wallet = await walletOf(root);
      shares.set(wallet.toLowerCase(), 5n);
      const { positions } = (await root.query('list_earn_positions', { walletAddress: wallet })).body;
      const own = positions.find((one: EarnWrapper) => one.wrapperAddress.toLowerCase() === wrapper.wrapperAddress);
      expect(own).toMatchObject({ currentValue: '10' });
      expect(own).not.toHaveProperty('provider');
    });

    test('tells what became of a deployment, and of a chain that is gone what is known', async () => {
      const wrappers = [
        await insertWrapper({ state: 'BROADCASTING' }),
        await insertWrapper({ state: 'FAILED', createdAtMs: 2 }),
        await insertWrapper({ caip2: 'eip155:77', createdAtMs: 3 }),
      ];
      expect(await listed(root, wrappers)).toMatchObject([
        { deployStatus: 'PENDING', totalDeposited: '', name: 'Large' },
        { deployStatus: 'FAILED', deployError: 'out of gas' },
        { deployStatus: 'COMPLETED', totalDeposited: '', apyPct: '', netApyPct: '', name: '', claimableClientFee: '' },
      ]);
      const found = await insertWrapper({ createdAtMs: 4 });
      expect(await listed(root, [found])).toMatchObject([{ deployStatus: 'COMPLETED' }]);
      stub.codes.delete(found.wrapperAddress);
      const deployError = expect.stringContaining('earn_deploy_wrapper again');
      expect(await listed(root, [found])).toMatchObject([{ deployStatus: 'FAILED', deployError }]);
    });

    test('reads a vault once, however many wrappers it has, and not again while that is fresh', async () => {
      const gone = newAddress();
      const wrappers = [];
      for (let index = 0; index < 3; index += 1) wrappers.push(await insertWrapper({ vaultAddress: gone }));
      const asked: string[] = [];
      stub.contracts.set(gone, ({ data }) => {
        asked.push(data);
        return undefined;
      });
      const seen = await listed(root, wrappers, { includeExposure: true });
      expect(seen).toMatchObject(wrappers.map(() => ({ name: '', apyPct: '', exposures: [] })));
      expect(asked.length).toBeGreaterThan(0);
      // What is asked of it for the vault, and for its exposures.
      expect(Math.max(...asked.map((data) => asked.filter((other) => other === data).length))).toBeLessThanOrEqual(2);
      const before = asked.length;
      expect(await listed(sub, wrappers, { includeExposure: true })).toHaveLength(3);
      expect(asked).toHaveLength(before);
    });

    test('is narrowed to a provider and an asset', async () => {
      const wrapper = await insertWrapper();
      const count = async (parameters: Record<string, unknown>) => (await listed(root, [wrapper], parameters)).length;
      expect(await count({})).toBe(1);
      expect(await count({ provider: 'EARN_PROVIDER_UNSPECIFIED' })).toBe(1);
      expect(await count({ provider: 'EARN_PROVIDER_MORPHO', caip19: CAIP19 })).toBe(1);
      expect(await count({ provider: 'EARN_PROVIDER_AAVE' })).toBe(0);
      expect(await count({ caip19: `eip155:1/erc20:${USDC}` })).toBe(0);
      expect((await list(root, { caip19: 'eip155:31337/slip44:60' })).status).toBe(400);
    });
  });
});
