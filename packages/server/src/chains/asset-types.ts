/** An asset of a chain in the parts of CAIP-19. */
export interface AssetId {
  readonly chain: 'eip155' | 'solana' | 'tron' | 'bip122';
  readonly chainReference: string;
  readonly kind: 'slip44' | 'erc20' | 'token' | 'trc20' | 'trc10';
  /** Ethereum addresses in lower case, Tron's in base58. */
  readonly assetReference: string;
}

/** Some of an asset that leaves the signer. */
export interface AssetTransfer {
  readonly chain: AssetId['chain'];
  /** Undefined when a signature is good on any chain of the kind, or the transaction does not say which it is for. */
  readonly chainReference: string | undefined;
  readonly kind: AssetId['kind'];
  /** Undefined when the transaction does not name the token. */
  readonly assetReference: string | undefined;
  /** In the smallest unit; above zero. */
  readonly amount: bigint;
}

/** What the signer may be charged for a transaction, at most; undefined where the request leaves that open. */
export interface AssetFee extends Omit<AssetTransfer, 'amount'> {
  readonly amount: bigint | undefined;
}

/** Assets of a chain; what is undefined stands for every one. */
export interface AssetReach {
  readonly chain: AssetId['chain'];
  readonly chainReference: string | undefined;
  readonly kind?: AssetId['kind'];
  readonly assetReference?: string | undefined;
}

/** Part of a request that may move assets of the signer without an amount that could be counted. */
export interface UncountedPart {
  /** What a refusal calls it. */
  readonly name: string;
  /**
   * `known`: it moves the assets in `reach`, or hands over authority over what holds them. `unknown`: nobody can say
   * before it runs, but where `reach` names an asset, it is a call of that asset's contract.
   */
  readonly certainty: 'known' | 'unknown';
  readonly reach: readonly AssetReach[];
}

/** What a request takes from its signer, as far as it says so, and the rest. */
export interface AssetMovements {
  readonly transfers: readonly AssetTransfer[];
  readonly uncounted: readonly UncountedPart[];
  /** Fees that the signer pays, for controls that count them. */
  readonly fees?: readonly AssetFee[];
}
