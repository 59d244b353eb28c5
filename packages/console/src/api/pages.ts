/** Pages of a list, as the query cache holds them. */
export interface Pages {
  readonly pages: readonly unknown[];
  readonly pageParams: readonly unknown[];
}

export const isPages = (data: unknown): data is Pages =>
  typeof data === 'object' && data !== null && Array.isArray((data as { pages?: unknown }).pages);

export type Pick = (page: unknown) => readonly unknown[];
export type KeyOf = (item: unknown) => string | undefined;

/** The id of an item of any list: its own, that of its activity, or the first field that is called one. */
export function idOf(item: unknown): string | undefined {
  if (typeof item !== 'object' || item === null) return undefined;
  const { id, activity } = item as { readonly id?: unknown; readonly activity?: { readonly id?: unknown } };
  if (typeof id === 'string') return id;
  if (typeof activity?.id === 'string') return activity.id;
  const found = Object.entries(item).find(([name, value]) => name.endsWith('Id') && typeof value === 'string');
  return found?.[1] as string | undefined;
}

/**
 * A list of many pages after news: its first page is new, and what stood behind that page's last item follows it. Where
 * that item is not among the known ones, more than a page is new, and the list begins again.
 */
export function withFirstPage<Data extends Pages>(before: Data, fresh: unknown, pick: Pick, keyOf: KeyOf = idOf): Data {
  const restart = { ...before, pages: [fresh], pageParams: before.pageParams.slice(0, 1) };
  const end = pick(fresh).at(-1);
  const last = end === undefined ? undefined : keyOf(end);
  if (last === undefined) return restart;
  const index = before.pages.findIndex((page) => pick(page).some((item) => keyOf(item) === last));
  const page = before.pages[index];
  if (page === undefined) return restart;
  const items = pick(page);
  const left = items.slice(items.findIndex((item) => keyOf(item) === last) + 1);
  const shortened = withItems(page, items, left);
  if (shortened === undefined) return restart;
  const isEmpty = left.length === 0 && index < before.pages.length - 1;
  const follow = [...(isEmpty ? [] : [shortened]), ...before.pages.slice(index + 1)];
  // Each page keeps what it was asked with; a shortened one is read again from where the first page ends.
  const params = before.pageParams.slice(before.pages.length - follow.length);
  return { ...before, pages: [fresh, ...follow], pageParams: [before.pageParams[0], ...params] };
}

/** The page with other items in the field that its items are in. */
function withItems(page: unknown, items: readonly unknown[], others: readonly unknown[]): unknown {
  const field = Object.entries(page as object).find(([, value]) => value === items)?.[0];
  return field === undefined ? undefined : { ...(page as object), [field]: others };
}
