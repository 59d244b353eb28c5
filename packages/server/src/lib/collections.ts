/** Items by key, in their order; the runtime floor has no Map.groupBy yet. */
export function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** The first value that stands twice, if any. */
export function firstDuplicate<Item>(items: readonly Item[]): Item | undefined {
  const seen = new Set<Item>();
  for (const item of items) {
    if (seen.has(item)) return item;
    seen.add(item);
  }
  return undefined;
}

/** Pieces; by default such as fit into one statement, as a database takes a bounded number of parameters. */
export function* chunks<Item>(items: readonly Item[], size = 1000): Generator<Item[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
