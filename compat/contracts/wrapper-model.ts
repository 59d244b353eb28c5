// The fee wrapper over a plain vault, once more in plain arithmetic: what contracts/README.md says, to the base unit.

const VIRTUAL_SHARES = 10n ** 6n;
const BPS = 10_000n;
const BEST_TOTAL_MIN = 10_000n;
const NO_LOSS = { assets: 0n, shares: 1n };

export class WrapperModel {
  /** Of the vault: what it holds, and its shares in all hands. */
  vaultAssets = 0n;
  vaultShares = 0n;
  units = 0n;
  supply = 0n;
  last = 0n;
  /** What so many shares together had lost when it was last settled. */
  loss = NO_LOSS;
  /** Everything above the best time so far, and what of it the fee shares were worth when they were minted, times BPS. */
  interest = 0n;
  feeWorth = 0n;
  readonly shares = new Map<string, bigint>();
  readonly feeBps: bigint;

  constructor(feeBps: bigint) {
    this.feeBps = feeBps;
  }

  /** Of somebody who uses the vault without the wrapper. */
  vaultDeposit(assets: bigint): void {
    const minted = this.vaultUnits(assets);
    this.vaultAssets += assets;
    this.vaultShares += minted;
  }

  earn(assets: bigint): void {
    this.vaultAssets += assets;
  }

  lose(assets: bigint): void {
    this.vaultAssets -= assets;
  }

  get totalAssets(): bigint {
    return this.worth(this.units);
  }

  /** The same per share, for all shares of now. */
  get lossToRecover(): bigint {
    return divideUp(this.loss.assets * this.supply, this.loss.shares);
  }

  sharesOf(owner: string): bigint {
    return this.shares.get(owner) ?? 0n;
  }

  pendingFeeShares(): bigint {
    return this.settle().feeShares;
  }

  accrue(): void {
    const { total, interest, feeShares, toRecover } = this.settle();
    if (total === this.last) return;
    this.last = total;
    this.loss = toRecover === 0n ? NO_LOSS : { assets: toRecover, shares: this.supply };
    this.supply += feeShares;
    this.shares.set('splitter', this.sharesOf('splitter') + feeShares);
    this.interest += interest;
    this.feeWorth += (feeShares * (total + 1n) * BPS) / (this.supply + VIRTUAL_SHARES);
  }

  deposit(owner: string, assets: bigint): bigint {
    this.accrue();
    const held = this.units;
    const credited = this.vaultUnits(assets);
    this.vaultDeposit(assets);
    this.units += credited;
    const minted = (credited * (this.supply + VIRTUAL_SHARES)) / (held + 1n);
    this.mint(owner, minted);
    return minted;
  }

  mintShares(owner: string, minted: bigint): bigint {
    this.accrue();
    const wanted = divideUp(minted * (this.units + 1n), this.supply + VIRTUAL_SHARES);
    const assets = divideUp(wanted * (this.vaultAssets + 1n), this.vaultShares + 1n);
    const credited = this.vaultUnits(assets);
    this.vaultDeposit(assets);
    this.units += credited;
    this.mint(owner, minted);
    return assets;
  }

  withdraw(owner: string, assets: bigint): bigint {
    this.accrue();
    const taken = divideUp(assets * (this.vaultShares + 1n), this.vaultAssets + 1n);
    const burned = divideUp(taken * (this.supply + VIRTUAL_SHARES), this.units + 1n);
    this.leave(owner, taken, assets, burned);
    return burned;
  }

  redeem(owner: string, burned: bigint): bigint {
    this.accrue();
    const taken = (burned * (this.units + 1n)) / (this.supply + VIRTUAL_SHARES);
    const assets = this.worth(taken);
    this.leave(owner, taken, assets, burned);
    return assets;
  }

  /** What shares are worth once the fee is taken. */
  convertToAssets(shares: bigint): bigint {
    const supply = this.supply + this.pendingFeeShares();
    return this.worth((shares * (this.units + 1n)) / (supply + VIRTUAL_SHARES));
  }

  private settle(): { total: bigint; interest: bigint; feeShares: bigint; toRecover: bigint } {
    const total = this.totalAssets;
    const best = this.last + this.lossToRecover;
    const isRemembered = this.supply > 0n && best >= BEST_TOTAL_MIN;
    const lost = isRemembered ? this.lossToRecover : 0n;
    if (total < this.last) {
      return { total, interest: 0n, feeShares: 0n, toRecover: isRemembered ? best - total : 0n };
    }
    const gain = total - this.last;
    const interest = gain > lost ? gain - lost : 0n;
    const fee = interest * this.feeBps;
    const feeShares = (fee * (this.supply + VIRTUAL_SHARES)) / ((total + 1n) * BPS - fee);
    return { total, interest, feeShares, toRecover: lost - (gain - interest) };
  }

  private mint(owner: string, minted: bigint): void {
    this.supply += minted;
    this.shares.set(owner, this.sharesOf(owner) + minted);
    this.last = this.totalAssets;
  }

  private leave(owner: string, taken: bigint, assets: bigint, burned: bigint): void {
    this.units -= taken;
    this.vaultShares -= taken;
    this.vaultAssets -= assets;
    this.supply -= burned;
    if (this.supply === 0n) this.loss = NO_LOSS;
    this.shares.set(owner, this.sharesOf(owner) - burned);
    this.last = this.totalAssets;
  }

  private vaultUnits(assets: bigint): bigint {
    return (assets * (this.vaultShares + 1n)) / (this.vaultAssets + 1n);
  }

  private worth(units: bigint): bigint {
    return (units * (this.vaultAssets + 1n)) / (this.vaultShares + 1n);
  }
}

const divideUp = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor;
