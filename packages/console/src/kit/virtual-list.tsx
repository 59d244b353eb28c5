import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, type Ref, useCallback, useEffect, useImperativeHandle, useRef } from 'react';
import { cx } from '../lib/cx.ts';
import styles from './virtual-list.module.css';

export interface VirtualListHandle {
  scrollToIndex(index: number): void;
}

export interface VirtualListProps<Item> {
  /** Its accessible name. */
  readonly label: string;
  readonly items: readonly Item[];
  readonly itemKey: (item: Item) => string;
  /** What a row shows. Name the item by `aria-labelledby` of an element within, through `itemProps`. */
  readonly renderItem: (item: Item, index: number) => ReactNode;
  /** Attributes of the list item, such as its accessible name and description. */
  readonly itemProps?: (item: Item, index: number) => { readonly [attribute: `aria-${string}`]: string | undefined };
  /** Height of a row before it is measured. */
  readonly estimate?: number;
  /** All there are, if it is known that more will be loaded. */
  readonly total?: number;
  readonly hasMore?: boolean;
  readonly isLoadingMore?: boolean;
  readonly onMore?: () => void;
  /** After the last row. */
  readonly footer?: ReactNode;
  readonly className?: string | undefined;
  readonly ref?: Ref<VirtualListHandle>;
}

const OVERSCAN = 8;
const AHEAD = 20;

/** A list of any length: rows are measured, only those in view exist, and none moves under the pointer. */
export function VirtualList<Item>(props: VirtualListProps<Item>) {
  const { label, items, itemKey, renderItem, itemProps, estimate = 96, total, hasMore, isLoadingMore, onMore } = props;
  const scroller = useRef<HTMLDivElement>(null);
  // Another function would have the virtualizer lay out every item anew, however many there are.
  const getItemKey = useCallback(
    (index: number) => {
      const item = items[index];
      return item === undefined ? index : itemKey(item);
    },
    [items, itemKey],
  );
  const virtualizer = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => estimate,
    getItemKey,
    overscan: OVERSCAN,
  });
  const shown = virtualizer.getVirtualItems();
  useMoreAhead(shown.at(-1)?.index ?? 0, items.length, { hasMore, isLoadingMore, onMore });
  useImperativeHandle(props.ref, () => ({
    scrollToIndex: (index) => virtualizer.scrollToIndex(index, { align: 'auto' }),
  }));
  return (
    <div ref={scroller} className={cx(styles.scroller, props.className)}>
      <ul aria-label={label} className={styles.content} style={{ height: virtualizer.getTotalSize() }}>
        {shown.map(({ key, index, start }) => {
          const item = items[index];
          if (item === undefined) return null;
          return (
            <li
              key={key}
              ref={virtualizer.measureElement}
              data-index={index}
              className={styles.item}
              style={{ transform: `translateY(${start}px)` }}
              aria-setsize={total ?? (hasMore ? -1 : items.length)}
              aria-posinset={index + 1}
              {...itemProps?.(item, index)}
            >
              {renderItem(item, index)}
            </li>
          );
        })}
      </ul>
      {isLoadingMore && <p className={styles.more}>Loading more…</p>}
      {props.footer}
    </div>
  );
}

interface More {
  readonly hasMore: boolean | undefined;
  readonly isLoadingMore: boolean | undefined;
  readonly onMore: (() => void) | undefined;
}

/** Asks for the next page before the last row is in view. */
export function useMoreAhead(lastShown: number, loaded: number, { hasMore, isLoadingMore, onMore }: More): void {
  useEffect(() => {
    if (hasMore && !isLoadingMore && lastShown >= loaded - AHEAD) onMore?.();
  }, [lastShown, loaded, hasMore, isLoadingMore, onMore]);
}
