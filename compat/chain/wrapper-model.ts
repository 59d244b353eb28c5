// What a fee wrapper must do, worked out apart from it: from what its vault says at the moment of a transaction, by whole
// numbers. Where a test finds one unit more or less on the chain, one of the two is wrong.
import { type Address, parseAbi } from 'viem';
import type { ChainClient, Deployed } from './deploy.ts';

const BPS = 10_000n;
const VIRTUAL_SHARES = 10n ** 6n;
const RAY = 10n ** 27n;

const WRAPPER_ABI = parseAbi([
  'function balanceOf(address) view returns (uint256)',
  'function totalSupply() view returns (uint256)',
  'function lastTotalAssets() view returns (uint256)',
  'function lossToRecover() view returns (uint256)',
  'function totalAssets() view returns (uint256)',
  'function totalFeeBps() view returns (uint256)',
  'function vault() view returns (address)',
  'function asset() view returns (address)',
  'function performanceFeeRecipient() view returns (address)',
]);

/** Reads at one moment. */
type Read = (target: Deployed, functionName: string, ...args: unknown[]) => Promise<bigint>;

/** A vault in what it counts in. Each function tells of one moment. */
export interface Place {
  units(read: Read, owner: Address): Promise<bigint>;
  /** What all units of an owner are worth, as the vault itself says. */
  total(read: Read, owner: Address): Promise<bigint>;
  worth(read: Read, units: bigint): Promise<bigint>;
  /** The units that so much brings, and that so much costs. */
  credited(read: Read, assets: bigint): Promise<bigint>;
  debited(read: Read, assets: bigint): Promise<bigint>;
  /** What so many units bring. */
  redeemed(read: Read, units: bigint): Promise<bigint>;
}

export const erc4626Place = (vault: Deployed): Place => ({
  units: (read, owner) => read(vault, 'balanceOf', owner),
  total: async (read, owner) => await read(vault, 'convertToAssets', await read(vault, 'balanceOf', owner)),
  worth: (read, units) => read(vault, 'convertToAssets', units),
  credited: (read, assets) => read(vault, 'previewDeposit', assets),
  debited: (read, assets) => read(vault, 'previewWithdraw', assets),
  redeemed: (read, units) => read(vault, 'previewRedeem', units),
});

/** The market rounds to the nearest scaled unit. */
export function aavePlace(pool: Deployed, aToken: Deployed, asset: Address): Place {
  const indexAt = (read: Read) => read(pool, 'getReserveNormalizedIncome', asset);
  const nearest = async (read: Read, assets: bigint): Promise<bigint> => {
    const index = await indexAt(read);
    return (assets * RAY + index / 2n) / index;
  };
  const worth = async (read: Read, units: bigint) => (units * (await indexAt(read))) / RAY;
  return {
    units: (read, owner) => read(aToken, 'scaledBalanceOf', owner),
    total: (read, owner) => read(aToken, 'balanceOf', owner),
    worth,
    credited: nearest,
    debited: nearest,
    redeemed: worth,
  };
}

interface Books {
  readonly supply: bigint;
  readonly units: bigint;
  /** Shares of the splitter. */
  readonly fees: bigint;
}

export interface WrapperModel {
  readonly wrapper: Deployed;
  /** The shares that a deposit in a block was worth, and what fees there were then. */
  deposit(blockNumber: bigint, assets: bigint): Promise<{ readonly shares: bigint; readonly fees: bigint }>;
  withdrawal(blockNumber: bigint, assets: bigint): Promise<{ readonly shares: bigint; readonly fees: bigint }>;
  redemption(blockNumber: bigint, shares: bigint): Promise<{ readonly assets: bigint; readonly fees: bigint }>;
  /** All shares of the splitter, paid in a block. */
  claim(blockNumber: bigint): Promise<bigint>;
  /** At the newest block. */
  now(owner: Address): Promise<{ readonly value: bigint; readonly total: bigint; readonly claimable: bigint }>;
  sharesOf(owner: Address): Promise<bigint>;
}

export function modelWrapper(chain: ChainClient, place: Place, address: Address, splitter: Address): WrapperModel {
  const wrapper: Deployed = { address, abi: WRAPPER_ABI };

  /** The state before a block, at the time of that block. */
  async function reading(blockNumber: bigint): Promise<Read> {
    const { timestamp } = await chain.reader.getBlock({ blockNumber });
    return async (target, functionName, ...args) =>
      (await chain.reader.readContract({
        ...target,
        functionName,
        args,
        blockNumber: blockNumber - 1n,
        blockOverrides: { time: timestamp },
      })) as bigint;
  }
  const readNow: Read = (target, functionName, ...args) => chain.read<bigint>(target, functionName, args);

  /** After the fee on what was earned was taken, as every call begins. */
  async function settled(read: Read): Promise<Books> {
    const [supply, last, bps, held, units, total, toRecover] = await Promise.all([
      read(wrapper, 'totalSupply'),
      read(wrapper, 'lastTotalAssets'),
      read(wrapper, 'totalFeeBps'),
      read(wrapper, 'balanceOf', splitter),
      place.units(read, address),
      place.total(read, address),
      read(wrapper, 'lossToRecover'),
    ]);
    if (total < last || toRecover > 0n) throw new Error(`the vault lost ${last - total + toRecover}`);
    const fee = (total - last) * bps;
    const feeShares = (fee * (supply + VIRTUAL_SHARES)) / ((total + 1n) * BPS - fee);
    return { supply: supply + feeShares, units, fees: held + feeShares };
  }

  const sharesFor = ({ supply, units }: Books, part: bigint): bigint =>
    (part * (supply + VIRTUAL_SHARES)) / (units + 1n);
  const sharesAgainst = ({ supply, units }: Books, part: bigint): bigint =>
    (part * (supply + VIRTUAL_SHARES) + units) / (units + 1n);
  const unitsFor = ({ supply, units }: Books, shares: bigint): bigint =>
    (shares * (units + 1n)) / (supply + VIRTUAL_SHARES);

  const sharesOf = (owner: Address): Promise<bigint> => readNow(wrapper, 'balanceOf', owner);

  return {
    wrapper,
    sharesOf,
    async deposit(blockNumber, assets) {
      const read = await reading(blockNumber);
      const books = await settled(read);
      return { shares: sharesFor(books, await place.credited(read, assets)), fees: books.fees };
    },
    async withdrawal(blockNumber, assets) {
      const read = await reading(blockNumber);
      const books = await settled(read);
      return { shares: sharesAgainst(books, await place.debited(read, assets)), fees: books.fees };
    },
    async redemption(blockNumber, shares) {
      const read = await reading(blockNumber);
      const books = await settled(read);
      return { assets: await place.redeemed(read, unitsFor(books, shares)), fees: books.fees };
    },
    async claim(blockNumber) {
      const read = await reading(blockNumber);
      const books = await settled(read);
      return await place.redeemed(read, unitsFor(books, books.fees));
    },
    async now(owner) {
      const books = await settled(readNow);
      const [value, total, claimable] = await Promise.all([
        place.worth(readNow, unitsFor(books, await sharesOf(owner))),
        place.total(readNow, address),
        place.worth(readNow, unitsFor(books, books.fees)),
      ]);
      return { value, total, claimable };
    },
  };
}
