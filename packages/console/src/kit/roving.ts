import { defaultRangeExtractor, type Range } from '@tanstack/react-virtual';

/** The rows in view, and always the one that has the focus or would get it: a row that is gone loses the focus. */
export function rangeWith(range: Range, index: number): number[] {
  const shown = defaultRangeExtractor(range);
  const [first] = shown;
  const last = shown.at(-1);
  if (first === undefined || last === undefined || index < 0 || index >= range.count) return shown;
  if (index < first) return [index, ...shown];
  return index > last ? [...shown, index] : shown;
}

/** Where a key leads to from a row; undefined for a key that does not move. */
export function rowAfter(key: string, index: number, { count, page }: { count: number; page: number }) {
  const steps: Record<string, number> = {
    ArrowDown: index + 1,
    j: index + 1,
    ArrowUp: index - 1,
    k: index - 1,
    PageDown: index + page,
    PageUp: index - page,
    Home: 0,
    End: count - 1,
  };
  const next = steps[key];
  return next === undefined ? undefined : Math.max(0, Math.min(count - 1, next));
}

/** The row that was active, wherever it is now: rows that came before it must not take its place. */
export function placeOf<Row>(
  rows: readonly Row[],
  rowKey: (row: Row) => string,
  active: { readonly index: number; readonly key: string | undefined },
): number {
  const { index, key } = active;
  const there = rows[index];
  if (key === undefined || (there !== undefined && rowKey(there) === key)) return Math.min(index, rows.length - 1);
  const found = rows.findIndex((row) => rowKey(row) === key);
  return found >= 0 ? found : Math.min(index, rows.length - 1);
}

/** Lets Tab reach what is in a row, or lets it pass by. What is never reached by Tab stays so. */
export function rove(row: HTMLElement, isReached: boolean): void {
  for (const control of row.querySelectorAll<HTMLElement>('a[href], button, input')) {
    if (isReached && control.dataset.passedBy !== undefined) {
      control.removeAttribute('tabindex');
      delete control.dataset.passedBy;
    } else if (!isReached && control.tabIndex >= 0) {
      control.tabIndex = -1;
      control.dataset.passedBy = '';
    }
  }
}
