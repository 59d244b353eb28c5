import Type from 'typebox';
import { DisplayShape } from '../../chains/shapes.ts';
import { EARN_PROVIDERS, type EarnProvider } from './model.ts';

/** Absent for a vault of neither provider. */
const OptionalProviderShape = Type.Optional(Type.Enum([...EARN_PROVIDERS]));

const ANY_PROVIDER = 'EARN_PROVIDER_UNSPECIFIED';

/** What a list is narrowed to; clients of generated code name the one that stands for all (protocol/earn 1.1). */
export const EarnProviderFilterShape = Type.Enum([...EARN_PROVIDERS, ANY_PROVIDER]);

export const isAsked = (provider: EarnProvider | undefined, filter: string | undefined): boolean =>
  filter === undefined || filter === ANY_PROVIDER || filter === provider;

/** Vaults hold tokens: the native asset of a chain has none (protocol/earn 1.2). */
export const TokenCaip19Shape = Type.String({
  pattern: '^eip155:[1-9][0-9]{0,19}/erc20:0x[0-9a-fA-F]{40}$',
  'x-message': 'must be a token of the form eip155:<chain id>/erc20:<address>; a native asset has no vaults',
});

/** The parts of a token's name; the address in lower case, however it was written (protocol/earn 1.2). */
export function tokenOf(caip19: string): { readonly caip2: string; readonly assetAddress: string } {
  const [caip2 = '', assetAddress = ''] = caip19.split('/erc20:');
  return { caip2, assetAddress: assetAddress.toLowerCase() };
}

export const EarnVaultShape = Type.Object({
  vaultAddress: Type.String(),
  provider: OptionalProviderShape,
  caip19: Type.String(),
  tvl: Type.String(),
  apyPct: Type.String(),
  enabled: Type.Boolean(),
  display: DisplayShape,
  name: Type.String(),
  curator: Type.String(),
  liquidity: Type.String(),
  liquidityDisplay: DisplayShape,
});

export const EarnPositionShape = Type.Object({
  vaultAddress: Type.String(),
  wrapperAddress: Type.String(),
  provider: OptionalProviderShape,
  caip19: Type.String(),
  currentValue: Type.String(),
  totalDeposited: Type.String(),
  totalWithdrawn: Type.String(),
  display: Type.Object({
    currentValueUsd: Type.String(),
    totalDepositedUsd: Type.String(),
    totalWithdrawnUsd: Type.String(),
    currentValueCrypto: Type.String(),
    totalDepositedCrypto: Type.String(),
    totalWithdrawnCrypto: Type.String(),
  }),
  depositsDisabled: Type.Boolean(),
});

const ExposureShape = Type.Object({
  marketId: Type.String(),
  collateralSymbol: Type.String(),
  /** Absent for a market without collateral. */
  collateralCaip19: Type.Optional(Type.String()),
  lltvPct: Type.String(),
  supplied: Type.String(),
  display: DisplayShape,
  sharePct: Type.String(),
});

export const EarnEnabledVaultShape = Type.Object({
  vaultAddress: Type.String(),
  wrapperAddress: Type.String(),
  provider: OptionalProviderShape,
  caip19: Type.String(),
  apyPct: Type.String(),
  netApyPct: Type.String(),
  totalDeposited: Type.String(),
  display: DisplayShape,
  clientFeeBps: Type.String(),
  depositsDisabled: Type.Boolean(),
  name: Type.String(),
  curator: Type.String(),
  claimableClientFee: Type.Optional(Type.String()),
  claimableClientFeeDisplay: Type.Optional(DisplayShape),
  clientFeeWallet: Type.Optional(Type.String()),
  liquidity: Type.String(),
  liquidityDisplay: DisplayShape,
  exposures: Type.Optional(Type.Array(ExposureShape)),
  deployStatus: Type.String(),
  deployRequestId: Type.String(),
  deployError: Type.Optional(Type.String()),
});
