import { ApiError } from '../lib/errors.ts';
import type { AssetId, AssetReach, AssetTransfer } from './asset-types.ts';
import type { AssetRules, ChainFormat } from './chain.ts';
import { FORMATS } from './formats.ts';

// CAIP-19: chain namespace and reference, asset namespace and reference. Token ids of NFTs have no amount to add up.
const CAIP19 = /^([-a-z0-9]{3,8}):([-_a-zA-Z0-9]{1,32})\/([-a-z0-9]{3,8}):([-.%a-zA-Z0-9]{1,128})$/;

/** Reads an asset that transfers can be matched with; refuses any other, because a limit on it would never apply. */
export function parseCaip19(text: string): AssetId {
  const [, chain, chainReference, kind, reference] = CAIP19.exec(text) ?? [];
  if (chain === undefined || chainReference === undefined || kind === undefined || reference === undefined) {
    return refuse('it does not have the form of CAIP-19, such as eip155:1/slip44:60');
  }
  const families: readonly ChainFormat[] = Object.values(FORMATS);
  const family = families.find(({ namespace }) => namespace === chain);
  const problem = family?.assets.refuseReference?.(chainReference);
  if (problem !== undefined) return refuse(problem);
  const kinds: AssetRules['kinds'] = family?.assets.kinds ?? {};
  const known = (Object.keys(kinds) as AssetId['kind'][]).find((name) => name === kind);
  const assetReference = known && kinds[known]?.(reference);
  if (family === undefined || known === undefined || assetReference === undefined) {
    return refuse(`${chain} has no asset ${kind}:${reference}`);
  }
  return { chain: family.namespace, chainReference, kind: known, assetReference };
}

function refuse(reason: string): never {
  throw new ApiError('REQUEST_INVALID', `caip19 names no asset whose transfers are known: ${reason}`);
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
