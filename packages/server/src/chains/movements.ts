import type { AssetMovements } from './asset-types.ts';

export const together = (parts: readonly AssetMovements[]): AssetMovements => ({
  transfers: parts.flatMap(({ transfers }) => transfers),
  uncounted: parts.flatMap(({ uncounted }) => uncounted),
  fees: parts.flatMap(({ fees = [] }) => fees),
});
