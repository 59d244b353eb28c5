/**
 * So many pages of a long list are asked for anew when something happened. A person who scrolled through a thousand
 * would have the service asked a thousand times for each event; those further back stay as they were read.
 */
const REFRESHED = 5;

/**
 * What stands at a position while a list is refreshed, if it is not asked for. The pages before it may have moved by what
 * is new, so that the one before is taken: rows can come twice then, and none is left out.
 */
export const keptPage = <Page>(known: readonly Page[], position: number): Page | undefined =>
  position > REFRESHED ? known[position - 1] : undefined;

/** The rows of all pages; of those that come twice the first, which is the newer. */
export function joinPages<Item>(
  pages: readonly (readonly Item[])[],
  keyOf: ((item: Item) => string) | undefined,
): readonly Item[] {
  const items = pages.flat();
  if (keyOf === undefined || pages.length <= REFRESHED) return items;
  const seen = new Set<string>();
  return items.filter((item) => {
    const key = keyOf(item);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
