import type { ChainSettings } from '../../chains/settings.ts';
import type { EarnProvider } from './model.ts';

/** A vault as the chain tells of it. Addresses are lower-case hex, amounts in the smallest unit of the asset. */
export interface CatalogVault {
  readonly caip2: string;
  readonly vaultAddress: string;
  /** Undefined for a vault that the operator lists and that is of no provider we know. */
  readonly provider: EarnProvider | undefined;
  readonly assetAddress: string;
  readonly assetSymbol: string;
  readonly assetDecimals: number;
  readonly tvl: bigint;
  /** Undefined where the vault does not tell. */
  readonly liquidity: bigint | undefined;
  /** A decimal fraction of a year, as 0.0812; empty where it is not known yet. */
  readonly apy: string;
  readonly name: string;
  readonly curator: string;
}

/** A market in which a vault has lent, of vaults that tell. */
export interface VaultExposure {
  readonly marketId: string;
  /** Undefined for a market without collateral. */
  readonly collateralAddress: string | undefined;
  readonly collateralSymbol: string;
  /** Decimal fractions. */
  readonly lltv: string;
  readonly share: string;
  readonly supplied: bigint;
}

/** What Earn reads from chains; nothing here is decided. */
export interface Earn {
  /** The vaults of an asset that take deposits, of all sources that are configured, by value descending. */
  vaults(chain: ChainSettings, assetAddress: string): Promise<readonly CatalogVault[]>;
  /**
   * A vault of one of the configured sources, also one that takes no deposits any more; undefined for any other
   * contract. Read now, not remembered.
   */
  vault(chain: ChainSettings, vaultAddress: string): Promise<CatalogVault | undefined>;
  /** As `vault`, but as old as the lists are. */
  knownVault(chain: ChainSettings, vaultAddress: string): Promise<CatalogVault | undefined>;
  /** Where a vault has lent, the largest first; empty for vaults that do not tell. As old as the lists are. */
  exposures(chain: ChainSettings, vaultAddress: string): Promise<readonly VaultExposure[]>;
  /** Which providers have vaults for an asset, by what is known without asking. */
  providersOf(chain: ChainSettings, assetAddress: string): readonly EarnProvider[];
  /** US dollars for one whole unit, decimal; undefined where no source tells. */
  priceOf(chain: ChainSettings, caip19: string): Promise<string | undefined>;
}

declare module '../../engine/services.ts' {
  interface QueryServices {
    readonly earn: Earn;
  }
  interface PrepareServices {
    readonly earn: Earn;
  }
}
