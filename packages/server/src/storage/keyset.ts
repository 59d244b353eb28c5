import { ApiError } from '../lib/errors.ts';
import { type Page, type PageRequest, toPage } from '../lib/pagination.ts';

/** A range of ids in list order, as the stores' queries take it. */
export interface Range {
  readonly greaterThan?: string;
  readonly lessThan?: string;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
}

/**
 * Fetches one page of rows that are listed by id. `before` pages are read backwards from the cursor and turned round.
 * `owns` tells whether a cursor names an object of this list, deleted ones included.
 */
export async function fetchPage<Item extends { readonly id: string }>(
  request: PageRequest,
  listOrder: 'asc' | 'desc',
  owns: (cursor: string) => Promise<boolean>,
  fetch: (range: Range) => Promise<Item[]>,
): Promise<Page<Item>> {
  if (request.kind === 'all') {
    const rows = await fetch({ order: listOrder, limit: request.max + 1 });
    if (rows.length > request.max) {
      throw new ApiError('RESULT_TOO_LARGE', `more than ${request.max} objects match: page with paginationOptions`);
    }
    return toPage(rows, request, false);
  }
  const cursor = request.after ?? request.before;
  if (cursor !== undefined && !(await owns(cursor))) {
    const field = request.after === undefined ? 'before' : 'after';
    const description = 'must be the id of an object in this list';
    throw new ApiError('REQUEST_INVALID', `paginationOptions.${field}: ${description}`, {
      violations: [{ field: `paginationOptions.${field}`, description }],
    });
  }
  const backwards = request.before !== undefined;
  const order = backwards ? reverse(listOrder) : listOrder;
  const bound = cursor === undefined ? {} : order === 'asc' ? { greaterThan: cursor } : { lessThan: cursor };
  const rows = await fetch({ ...bound, order, limit: request.limit + 1 });
  const behind = cursor !== undefined && (await fetch({ ...beyond(rows[0]?.id, order), limit: 1 })).length > 0;
  return toPage(backwards ? rows.reverse() : rows, request, behind);
}

/** The rows that come before the first one of a page that was read in this order; all rows, if the page is empty. */
function beyond(firstId: string | undefined, order: 'asc' | 'desc'): Omit<Range, 'limit'> {
  if (firstId === undefined) return { order };
  return order === 'asc' ? { lessThan: firstId, order: 'desc' } : { greaterThan: firstId, order: 'asc' };
}

const reverse = (order: 'asc' | 'desc') => (order === 'asc' ? 'desc' : 'asc');
