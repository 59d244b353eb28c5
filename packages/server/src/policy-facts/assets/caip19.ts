import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check } from '@scure/base';
import { tronAddress } from '../../chains/tron/contract.ts';
import { ApiError } from '../../lib/errors.ts';
import { isSolanaKey } from '../contract-interface.ts';

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

// CAIP-19: chain namespace and reference, asset namespace and reference. Token ids of NFTs have no amount to add up.
const CAIP19 = /^([-a-z0-9]{3,8}):([-_a-zA-Z0-9]{1,32})\/([-a-z0-9]{3,8}):([-.%a-zA-Z0-9]{1,128})$/;

const base58check = createBase58check(sha256);

/** Reads an asset that transfers can be matched with; refuses any other, because a limit on it would never apply. */
export function parseCaip19(text: string): AssetId {
  const [, chain, chainReference, kind, reference] = CAIP19.exec(text) ?? [];
  if (chain === undefined || chainReference === undefined || kind === undefined || reference === undefined) {
    return refuse('it does not have the form of CAIP-19, such as eip155:1/slip44:60');
  }
  if (chain === 'eip155' && !/^[1-9][0-9]*$/.test(chainReference))
    return refuse('the chain id is not a decimal number');
  const assetReference = readReference(`${chain}/${kind}`, reference);
  if (assetReference === undefined) return refuse(`${chain} has no asset ${kind}:${reference}`);
  return { chain: chain as AssetId['chain'], chainReference, kind: kind as AssetId['kind'], assetReference };
}

function refuse(reason: string): never {
  throw new ApiError('REQUEST_INVALID', `caip19 names no asset whose transfers are known: ${reason}`);
}

function readReference(asset: string, reference: string): string | undefined {
  const onlyIf = (valid: boolean) => (valid ? reference : undefined);
  switch (asset) {
    case 'eip155/slip44':
    case 'tron/trc10':
      return onlyIf(/^(0|[1-9][0-9]*)$/.test(reference));
    case 'eip155/erc20':
      return onlyIf(/^0x[0-9a-fA-F]{40}$/.test(reference))?.toLowerCase();
    case 'solana/slip44':
      return onlyIf(reference === '501');
    case 'solana/token':
      return onlyIf(isSolanaKey(reference));
    case 'tron/slip44':
      return onlyIf(reference === '195');
    case 'tron/trc20':
      return readTronAddress(reference);
    case 'bip122/slip44':
      // 1 stands for the coin of every test network.
      return onlyIf(reference === '0' || reference === '1');
    default:
      return undefined;
  }
}

/** Base58check, or the same bytes in hex. */
function readTronAddress(text: string): string | undefined {
  const [, digits] = /^(?:0x|(?:0x)?41)([0-9a-fA-F]{40})$/.exec(text) ?? [];
  if (digits !== undefined) return tronAddress(Buffer.from(`41${digits}`, 'hex'));
  return tronAccountHex(text) === undefined ? undefined : text;
}

/** The 20 bytes of a Tron address, in hex. */
export function tronAccountHex(address: string): string | undefined {
  if (!/^T[1-9A-HJ-NP-Za-km-z]{33}$/.test(address)) return undefined;
  try {
    return Buffer.from(base58check.decode(address)).subarray(1).toString('hex');
  } catch {
    return undefined;
  }
}

/**
 * Whether what moves may be the asset. What a transaction leaves open counts as a match: a limit must not be passed by not
 * naming the token.
 */
export function mayBe(moved: AssetReach, asset: AssetId): boolean {
  if (moved.chain !== asset.chain || (moved.kind ?? asset.kind) !== asset.kind) return false;
  if ((moved.chainReference ?? asset.chainReference) !== asset.chainReference) return false;
  // A chain has one native coin, whatever number it goes by: several are in use for some.
  return asset.kind === 'slip44' || (moved.assetReference ?? asset.assetReference) === asset.assetReference;
}

/** For messages: CAIP-19 as far as it is known. */
export const assetName = ({ chain, chainReference, kind, assetReference }: AssetTransfer): string =>
  [chainReference === undefined ? chain : `${chain}:${chainReference}`, `${kind}:${assetReference ?? 'unknown'}`].join(
    '/',
  );
