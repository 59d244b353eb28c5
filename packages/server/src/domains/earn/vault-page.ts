import { isEthereumAddress } from '../../chains/ethereum/address.ts';
import { invalidField } from '../../lib/errors.ts';
import { type PageInfo, type PaginationOptions, toPageRequest } from '../../lib/pagination.ts';
import { byValue } from './catalog.ts';
import type { CatalogVault } from './earn.ts';

/** Where a vault stood when its page was made, so that paging goes on although values move. */
type Position = Pick<CatalogVault, 'tvl' | 'vaultAddress'>;

const CURSOR_LENGTH_MAX = 512;

const cursorOf = ({ tvl, vaultAddress }: Position): string =>
  Buffer.from(JSON.stringify({ v: 1, tvl: String(tvl), addr: vaultAddress })).toString('base64url');

/** A cursor of ours, or the address of a vault in the list. */
function positionOf(field: string, cursor: string, vaults: readonly CatalogVault[]): Position {
  if (isEthereumAddress(cursor)) {
    const vault = vaults.find(({ vaultAddress }) => vaultAddress === cursor.toLowerCase());
    if (vault !== undefined) return vault;
  } else {
    const position = decodeCursor(cursor);
    if (position !== undefined) return position;
  }
  throw invalidField(field, 'must be a cursor of this list, or the address of a vault in it');
}

function decodeCursor(cursor: string): Position | undefined {
  if (cursor.length > CURSOR_LENGTH_MAX || !/^[\w-]+$/.test(cursor)) return undefined;
  try {
    const { v, tvl, addr } = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as Record<string, unknown>;
    if (v !== 1 || typeof tvl !== 'string' || typeof addr !== 'string') return undefined;
    if (!/^[0-9]{1,78}$/.test(tvl) || !isEthereumAddress(addr)) return undefined;
    return { tvl: BigInt(tvl), vaultAddress: addr.toLowerCase() };
  } catch {
    return undefined;
  }
}

export interface VaultPage {
  readonly items: readonly CatalogVault[];
  readonly pageInfo: PageInfo;
}

/** A page of a list that is sorted by value; all of it where no page is asked for (protocol/earn 3.1). */
export function pageOf(vaults: readonly CatalogVault[], options: PaginationOptions | undefined): VaultPage {
  const [start, end] = boundsOf(vaults, options);
  const items = vaults.slice(start, end);
  const [first, last] = [items[0], items.at(-1)];
  return {
    items,
    pageInfo: {
      hasNextPage: end < vaults.length,
      hasPreviousPage: start > 0,
      startCursor: first === undefined ? '' : cursorOf(first),
      endCursor: last === undefined ? '' : cursorOf(last),
    },
  };
}

function boundsOf(vaults: readonly CatalogVault[], options: PaginationOptions | undefined): readonly [number, number] {
  // Its cursors are ids, and those of this list are not.
  const request = toPageRequest(options && { limit: options.limit }, vaults.length);
  if (request.kind === 'all') return [0, vaults.length];
  const { limit } = request;
  const [before, after] = [options?.before || undefined, options?.after || undefined];
  if (before !== undefined && after !== undefined) {
    throw invalidField('paginationOptions', 'give either before or after, not both');
  }
  if (before !== undefined) {
    const position = positionOf('paginationOptions.before', before, vaults);
    const end = vaults.filter((vault) => byValue(vault, position) < 0).length;
    return [Math.max(0, end - limit), end];
  }
  const position = after === undefined ? undefined : positionOf('paginationOptions.after', after, vaults);
  const start = position === undefined ? 0 : vaults.filter((vault) => byValue(vault, position) <= 0).length;
  return [start, Math.min(vaults.length, start + limit)];
}
