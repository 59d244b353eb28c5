/** A chain that the operator has configured (protocol/sends 1). */
export interface ChainSettings {
  /** `eip155:<number>` or `solana:<first 32 characters of the genesis hash>`. */
  readonly caip2: string;
  readonly namespace: 'eip155' | 'solana';
  readonly reference: string;
  /** Tried in their order; the first that answers serves. */
  readonly rpcUrls: readonly string[];
  /** Blocks, the one with the transaction among them, after which a transaction counts as included. */
  readonly confirmations: number;
  /** How often a node is asked while something is under way. */
  readonly pollMs: number;
  /** When a transaction that no block took is replaced by one with a higher fee. */
  readonly replaceAfterSeconds: number;
  /** A send that could not be handed to a node for so long fails, without having been sent. */
  readonly sendWithinSeconds: number;
  /** The most that is paid for a unit of gas where the caller does not say; in wei. */
  readonly maxFeePerGas: bigint;
  /** The most gas that the operator pays for in a sponsored send. */
  readonly sponsoredGasMax: bigint;
  /** What the operator pays for in any 24 hours; undefined: as much as is asked for. */
  readonly sponsoredPerDay: SponsoredPerDay | undefined;
  readonly assets: readonly ChainAsset[];
  /** US dollars for one whole unit, by CAIP-19 in lower case. */
  readonly prices: ReadonlyMap<string, string>;
  /** Where CustosBatch is deployed: several calls in one transaction, and sponsored sends. */
  readonly batchContract: string | undefined;
  /** Of the key that was imported with `custos chains import-key`. */
  readonly operatorAddress: string | undefined;
  readonly aavePoolAddressesProvider: string | undefined;
  readonly morphoFactories: readonly string[];
  readonly vaults: readonly string[];
  /** By vault: who chooses where it lends, as far as the operator has said so. */
  readonly curators: ReadonlyMap<string, string>;
}

export interface SponsoredPerDay {
  /** In billionths of the native asset. */
  readonly most: bigint;
  /**
   * Whose sends count: a `tree` is an organization with its sub-organizations. `sub-organizations` leaves out what the
   * parent asks for itself: strangers can become sub-organizations, and never a parent.
   */
  readonly of: 'tree' | 'sub-organizations';
}

export interface ChainAsset {
  readonly caip19: string;
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  readonly logoUrl?: string;
  readonly stable?: boolean;
}

/** By CAIP-2. */
export type ConfiguredChains = ReadonlyMap<string, ChainSettings>;

/**
 * `INITIALIZED`: accepted, no node has been given it. `BROADCASTING`: signed, and a node was or will be given it.
 * `INCLUDED`: in a block, as deep as the chain's setting wants. `FAILED`: it did nothing and will not.
 */
export const SEND_STATES = ['INITIALIZED', 'BROADCASTING', 'INCLUDED', 'FAILED'] as const;
export type SendState = (typeof SEND_STATES)[number];

export const NATIVE_DIGITS = 9;
