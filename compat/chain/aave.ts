// A real Aave v3 market on a local node, from the artifacts that its npm package brings.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type Abi, type Address, parseUnits, zeroAddress } from 'viem';
import { testArtifact } from './artifacts.ts';
import { type ChainClient, type Deployed, fundedAccount } from './deploy.ts';

export interface AaveReserve {
  readonly token: Deployed;
  readonly aToken: Deployed;
}

export interface AaveMarket {
  readonly addressesProvider: Deployed;
  readonly pool: Deployed;
  readonly configurator: Deployed;
  readonly dataProvider: Deployed;
  readonly oracle: Deployed;
  /** Six decimals, at one dollar. 1,000,000 are supplied and 500,000 of them borrowed. */
  readonly usdc: AaveReserve;
  /** 18 decimals, at 2,000 dollars. 1,000 are supplied as collateral. */
  readonly weth: AaveReserve;
  readonly supplier: Address;
  readonly borrower: Address;
}

interface LinkedArtifact {
  readonly abi: Abi;
  readonly bytecode: string;
  readonly linkReferences: Record<string, Record<string, readonly { start: number; length: number }[]>>;
}

const ARTIFACTS = join(
  dirname(createRequire(import.meta.url).resolve('@aave/core-v3/package.json')),
  'artifacts',
  'contracts',
);
const RAY = 27;
const DOLLAR = 10n ** 8n;
const FEE_BPS = 1_000n;

/** At half use borrowers pay 2.5 % and suppliers, less the market's tenth, earn 1.125 %. */
export async function deployAave(chain: ChainClient): Promise<AaveMarket> {
  const [owner, supplier, borrower] = [fundedAccount(0), fundedAccount(8), fundedAccount(9)];
  const deploy = linkingDeployer(chain);
  const write = (target: Deployed, name: string, ...args: unknown[]) => chain.write(owner, target, name, args);

  const addressesProvider = await deploy('protocol/configuration/PoolAddressesProvider', [
    'Test market',
    owner.address,
  ]);
  const provider = addressesProvider.address;
  await write(addressesProvider, 'setACLAdmin', owner.address);
  const acl = await deploy('protocol/configuration/ACLManager', [provider]);
  await write(addressesProvider, 'setACLManager', acl.address);
  await write(acl, 'addPoolAdmin', owner.address);
  const dataProvider = await deploy('misc/AaveProtocolDataProvider', [provider]);
  await write(addressesProvider, 'setPoolDataProvider', dataProvider.address);
  const poolCode = await deploy('protocol/pool/Pool', [provider]);
  await write(addressesProvider, 'setPoolImpl', poolCode.address);
  const configuratorCode = await deploy('protocol/pool/PoolConfigurator', []);
  await write(addressesProvider, 'setPoolConfiguratorImpl', configuratorCode.address);
  const pool = { address: await chain.read<Address>(addressesProvider, 'getPool'), abi: poolCode.abi };
  const configurator = {
    address: await chain.read<Address>(addressesProvider, 'getPoolConfigurator'),
    abi: configuratorCode.abi,
  };

  const usdc = await chain.deploy(testArtifact('TestToken'), ['USD Coin', 'USDC', 6]);
  const weth = await chain.deploy(testArtifact('TestToken'), ['Wrapped Ether', 'WETH', 18]);
  const sources = [
    (await deploy('mocks/oracle/CLAggregators/MockAggregator', [DOLLAR])).address,
    (await deploy('mocks/oracle/CLAggregators/MockAggregator', [2_000n * DOLLAR])).address,
  ];
  const tokens = [usdc.address, weth.address];
  const oracle = await deploy('misc/AaveOracle', [provider, tokens, sources, zeroAddress, zeroAddress, DOLLAR]);
  await write(addressesProvider, 'setPriceOracle', oracle.address);

  const strategy = await deploy('protocol/pool/DefaultReserveInterestRateStrategy', [
    provider,
    ...['0.8', '0', '0.04', '0.6', '0.005', '0.6', '0.01', '0.08', '0.2'].map((rate) => parseUnits(rate, RAY)),
  ]);
  const aTokenCode = await deploy('protocol/tokenization/AToken', [pool.address]);
  const stableCode = await deploy('protocol/tokenization/StableDebtToken', [pool.address]);
  const variableCode = await deploy('protocol/tokenization/VariableDebtToken', [pool.address]);
  const reserveOf = (underlyingAsset: Address, symbol: string, underlyingAssetDecimals: number) => ({
    aTokenImpl: aTokenCode.address,
    stableDebtTokenImpl: stableCode.address,
    variableDebtTokenImpl: variableCode.address,
    underlyingAssetDecimals,
    interestRateStrategyAddress: strategy.address,
    underlyingAsset,
    treasury: owner.address,
    incentivesController: zeroAddress,
    aTokenName: `Test market ${symbol}`,
    aTokenSymbol: `a${symbol}`,
    variableDebtTokenName: `Test market variable debt ${symbol}`,
    variableDebtTokenSymbol: `variableDebt${symbol}`,
    stableDebtTokenName: `Test market stable debt ${symbol}`,
    stableDebtTokenSymbol: `stableDebt${symbol}`,
    params: '0x10',
  });
  await write(configurator, 'initReserves', [reserveOf(usdc.address, 'USDC', 6), reserveOf(weth.address, 'WETH', 18)]);
  for (const token of tokens) {
    await write(configurator, 'configureReserveAsCollateral', token, 7_500n, 8_000n, 10_500n);
    await write(configurator, 'setReserveBorrowing', token, true);
    await write(configurator, 'setReserveFactor', token, FEE_BPS);
  }

  const supply = async (token: Deployed, amount: bigint, from: typeof owner) => {
    await chain.write(from, token, 'mint', [from.address, amount]);
    await chain.write(from, token, 'approve', [pool.address, amount]);
    await chain.write(from, pool, 'supply', [token.address, amount, from.address, 0]);
  };
  await supply(usdc, parseUnits('1000000', 6), supplier);
  await supply(weth, parseUnits('1000', 18), borrower);
  const variableRate = 2n;
  const borrowed = parseUnits('500000', 6);
  await chain.write(borrower, pool, 'borrow', [usdc.address, borrowed, variableRate, 0, borrower.address]);

  const reserve = async (token: Deployed): Promise<AaveReserve> => {
    const [aToken] = await chain.read<readonly Address[]>(dataProvider, 'getReserveTokensAddresses', [token.address]);
    return { token, aToken: { address: aToken as Address, abi: aTokenCode.abi } };
  };
  return {
    addressesProvider,
    pool,
    configurator,
    dataProvider,
    oracle,
    usdc: await reserve(usdc),
    weth: await reserve(weth),
    supplier: supplier.address,
    borrower: borrower.address,
  };
}

/** Deploys a contract after the libraries that it is linked to, each of them once. */
function linkingDeployer(chain: ChainClient): (name: string, args: readonly unknown[]) => Promise<Deployed> {
  const libraries = new Map<string, Address>();

  async function deploy(file: string, args: readonly unknown[]): Promise<Deployed> {
    const { abi, bytecode, linkReferences } = readArtifact(file);
    let code = bytecode;
    for (const [source, places] of Object.entries(linkReferences)) {
      for (const [name, positions] of Object.entries(places)) {
        const address = libraries.get(name) ?? (await deploy(libraryFile(source), [])).address;
        libraries.set(name, address);
        for (const { start, length } of positions) {
          const at = 2 + start * 2;
          code = code.slice(0, at) + address.slice(2).toLowerCase() + code.slice(at + length * 2);
        }
      }
    }
    return await chain.deploy({ abi, bytecode: code }, args);
  }

  return deploy;
}

const libraryFile = (source: string): string => source.replace(/^contracts\//, '').replace(/\.sol$/, '');

function readArtifact(file: string): LinkedArtifact {
  const name = file.slice(file.lastIndexOf('/') + 1);
  return JSON.parse(readFileSync(join(ARTIFACTS, `${file}.sol`, `${name}.json`), 'utf8'));
}
