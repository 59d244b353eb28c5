import { view } from './contract-reader.ts';

// The functions that are read, as the contracts declare them (protocol/earn 3.3).

type Address = string;
type Bytes = `0x${string}`;

export const token = {
  name: view<[], string>('function name() view returns (string)'),
  symbol: view<[], string>('function symbol() view returns (string)'),
  decimals: view<[], number>('function decimals() view returns (uint8)'),
  balanceOf: view<[Address], bigint>('function balanceOf(address) view returns (uint256)'),
  allowance: view<[Address, Address], bigint>('function allowance(address, address) view returns (uint256)'),
};

export const vault = {
  asset: view<[], Address>('function asset() view returns (address)'),
  totalAssets: view<[], bigint>('function totalAssets() view returns (uint256)'),
  convertToAssets: view<[bigint], bigint>('function convertToAssets(uint256) view returns (uint256)'),
};

export interface MarketParams {
  readonly loanToken: Address;
  readonly collateralToken: Address;
  readonly oracle: Address;
  readonly irm: Address;
  readonly lltv: bigint;
}

export interface Market {
  readonly totalSupplyAssets: bigint;
  readonly totalSupplyShares: bigint;
  readonly totalBorrowAssets: bigint;
  readonly totalBorrowShares: bigint;
  readonly lastUpdate: bigint;
  readonly fee: bigint;
}

const MARKET_PARAMS = '(address loanToken, address collateralToken, address oracle, address irm, uint256 lltv)';
const MARKET =
  '(uint128 totalSupplyAssets, uint128 totalSupplyShares, uint128 totalBorrowAssets, uint128 totalBorrowShares, uint128 lastUpdate, uint128 fee)';

export const morpho = {
  market: view<[Bytes], Market>(`function market(bytes32) view returns (${MARKET})`),
  idToMarketParams: view<[Bytes], MarketParams>(`function idToMarketParams(bytes32) view returns (${MARKET_PARAMS})`),
  position: view<[Bytes, Address], readonly [bigint, bigint, bigint]>(
    'function position(bytes32, address) view returns (uint256 supplyShares, uint128 borrowShares, uint128 collateral)',
  ),
  borrowRateView: view<[MarketParams, Market], bigint>(
    `function borrowRateView(${MARKET_PARAMS}, ${MARKET}) view returns (uint256)`,
  ),
};

export const morphoV1 = {
  isMetaMorpho: view<[Address], boolean>('function isMetaMorpho(address) view returns (bool)'),
  MORPHO: view<[], Address>('function MORPHO() view returns (address)'),
  fee: view<[], bigint>('function fee() view returns (uint96)'),
  withdrawQueueLength: view<[], bigint>('function withdrawQueueLength() view returns (uint256)'),
  withdrawQueue: view<[bigint], Bytes>('function withdrawQueue(uint256) view returns (bytes32)'),
};

export const morphoV2 = {
  isVaultV2: view<[Address], boolean>('function isVaultV2(address) view returns (bool)'),
  adaptersLength: view<[], bigint>('function adaptersLength() view returns (uint256)'),
  adapters: view<[bigint], Address>('function adapters(uint256) view returns (address)'),
  liquidityAdapter: view<[], Address>('function liquidityAdapter() view returns (address)'),
  liquidityData: view<[], Bytes>('function liquidityData() view returns (bytes)'),
  performanceFee: view<[], bigint>('function performanceFee() view returns (uint96)'),
  managementFee: view<[], bigint>('function managementFee() view returns (uint96)'),
  maxRate: view<[], bigint>('function maxRate() view returns (uint64)'),
  // Of adapters.
  realAssets: view<[], bigint>('function realAssets() view returns (uint256)'),
  morphoVaultV1: view<[], Address>('function morphoVaultV1() view returns (address)'),
  morpho: view<[], Address>('function morpho() view returns (address)'),
  marketIdsLength: view<[], bigint>('function marketIdsLength() view returns (uint256)'),
  marketIds: view<[bigint], Bytes>('function marketIds(uint256) view returns (bytes32)'),
  supplyShares: view<[Bytes], bigint>('function supplyShares(bytes32) view returns (uint256)'),
};

/** Twelve values; the third is what all aTokens are worth, the sixth the yearly rate. */
type ReserveData = readonly [bigint, bigint, bigint, bigint, bigint, bigint, ...unknown[]];
/** Ten values; the last two tell whether the reserve is active and whether it is frozen. */
type ReserveConfiguration = readonly [
  bigint,
  bigint,
  bigint,
  bigint,
  bigint,
  boolean,
  boolean,
  boolean,
  boolean,
  boolean,
];

export const aave = {
  getPoolDataProvider: view<[], Address>('function getPoolDataProvider() view returns (address)'),
  getPriceOracle: view<[], Address>('function getPriceOracle() view returns (address)'),
  // Of the data provider.
  getReserveTokensAddresses: view<[Address], readonly [Address, Address, Address]>(
    'function getReserveTokensAddresses(address) view returns (address aToken, address stableDebt, address variableDebt)',
  ),
  getReserveData: view<[Address], ReserveData>(
    'function getReserveData(address) view returns (uint256, uint256, uint256, uint256, uint256, uint256, uint256, uint256, uint256, uint256, uint256, uint40)',
  ),
  getReserveConfigurationData: view<[Address], ReserveConfiguration>(
    'function getReserveConfigurationData(address) view returns (uint256, uint256, uint256, uint256, uint256, bool, bool, bool, bool, bool)',
  ),
  getPaused: view<[Address], boolean>('function getPaused(address) view returns (bool)'),
  getVirtualUnderlyingBalance: view<[Address], bigint>(
    'function getVirtualUnderlyingBalance(address) view returns (uint128)',
  ),
  // Of an aToken.
  UNDERLYING_ASSET_ADDRESS: view<[], Address>('function UNDERLYING_ASSET_ADDRESS() view returns (address)'),
  // Of the oracle.
  getAssetPrice: view<[Address], bigint>('function getAssetPrice(address) view returns (uint256)'),
  BASE_CURRENCY: view<[], Address>('function BASE_CURRENCY() view returns (address)'),
  BASE_CURRENCY_UNIT: view<[], bigint>('function BASE_CURRENCY_UNIT() view returns (uint256)'),
};

/** Of our own splitters. */
export const splitter = {
  releasable: view<[Address, Address], bigint>('function releasable(address, address) view returns (uint256)'),
};
