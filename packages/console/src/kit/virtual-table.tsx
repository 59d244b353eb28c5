// biome-ignore-all lint/a11y/useSemanticElements: a real table cannot be positioned row by row, so roles say what it is
// biome-ignore-all lint/a11y/useFocusableInteractive: the rows of the body are the one tab stop
import { useVirtualizer } from '@tanstack/react-virtual';
import {
  type CSSProperties,
  type KeyboardEvent,
  type MouseEvent,
  memo,
  type ReactNode,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { cx } from '../lib/cx.ts';
import { useNarrow } from '../lib/use-media.ts';
import { placeOf, rangeWith, rove, rowAfter } from './roving.ts';
import { type Column, isOwnClick, SecondLine, splitColumns } from './table.tsx';
import { useKeys, useMoreAhead } from './virtual-list.tsx';
import styles from './virtual-table.module.css';

export interface VirtualTableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  readonly selectedKey?: string | undefined;
  readonly onOpen?: (row: Row) => void;
  /** The accessible name of a row, such as its sentence. */
  readonly rowLabel?: (row: Row) => string;
  readonly estimate?: number;
  readonly total?: number;
  readonly hasMore?: boolean;
  readonly isLoadingMore?: boolean;
  readonly onMore?: () => void;
  readonly empty?: ReactNode;
}

const OVERSCAN = 5;
const NARROW_EXTRA = 22;

/**
 * A table of any length. It fills the height that its parent gives it. One tab stop, which stays where it is however far
 * the table is scrolled: arrows, J and K move between rows, the page keys by what is in view, Enter opens.
 */
export function VirtualTable<Row>(props: VirtualTableProps<Row>) {
  const { label, columns, rows, rowKey, selectedKey, onOpen, rowLabel, estimate = 53, total, hasMore, empty } = props;
  const isNarrow = useNarrow();
  const { shown, second, tracks } = useMemo(() => layoutOf(columns, isNarrow), [columns, isNarrow]);
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<{ readonly index: number; readonly key: string | undefined }>({
    index: 0,
    key: undefined,
  });
  const current = placeOf(rows, rowKey, active);
  // A key moved the focus: the row gets it once it exists.
  const wantsFocus = useRef(false);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => estimate + (isNarrow && second.length > 0 ? NARROW_EXTRA : 0),
    getItemKey: useKeys(rows, rowKey),
    overscan: OVERSCAN,
    rangeExtractor: (range) => rangeWith(range, current),
  });
  const items = virtualizer.getVirtualItems();
  useMoreAhead(virtualizer.range?.endIndex ?? 0, rows.length, props as Required<typeof props>);

  useLayoutEffect(() => {
    if (!wantsFocus.current) return;
    wantsFocus.current = false;
    scroller.current?.querySelector<HTMLElement>(`[data-index="${current}"]`)?.focus({ preventScroll: true });
  }, [current]);
  // After every render, as rows come with the scroll: only the active row's links and buttons are reached by Tab.
  useLayoutEffect(() => {
    for (const row of scroller.current?.querySelectorAll<HTMLElement>('[data-index]') ?? []) {
      rove(row, Number(row.dataset.index) === current);
    }
  });
  const activate = (index: number): void => {
    const row = rows[index];
    if (row !== undefined && index !== current) setActive({ index, key: rowKey(row) });
  };
  const move = (next: number): void => {
    wantsFocus.current = next !== current;
    activate(next);
    virtualizer.scrollToIndex(next, { align: 'auto' });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const index = ownIndexOf(event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || index === undefined) return;
    const row = rows[index];
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / estimate) - 1);
    const next = rowAfter(event.key, index, { count: rows.length, page });
    if (next !== undefined) {
      event.preventDefault();
      event.stopPropagation();
      move(next);
    } else if (event.key === 'Enter' && row !== undefined) onOpen?.(row);
  };
  const onClick = (event: MouseEvent): void => {
    const index = indexOf(event.target);
    const row = index === undefined ? undefined : rows[index];
    if (row === undefined) return;
    if (isPlainClickOnRowLink(event)) event.preventDefault();
    else if (!isOwnClick(event)) return;
    onOpen?.(row);
  };

  if (rows.length === 0 && empty !== undefined) return <div className={styles.empty}>{empty}</div>;
  return (
    <div
      ref={scroller}
      className={styles.scroller}
      role="table"
      aria-label={label}
      aria-rowcount={(total ?? (hasMore ? -2 : rows.length)) + 1}
    >
      <div role="rowgroup" className={styles.head}>
        <div role="row" className={styles.row} style={tracks} aria-rowindex={1}>
          {shown.map(({ id, header, align, hideHeader }) => (
            <div key={id} role="columnheader" className={cx(align === 'right' && styles.right)}>
              {hideHeader ? <span className={styles.hidden}>{header}</span> : header}
            </div>
          ))}
        </div>
      </div>
      <div
        role="rowgroup"
        className={styles.body}
        style={{ height: virtualizer.getTotalSize() }}
        onFocus={({ target }) => activate(indexOf(target) ?? current)}
        onKeyDown={onKeyDown}
        onClick={onClick}
      >
        {items.map(({ key, index, start }) => {
          const row = rows[index];
          return row === undefined ? null : (
            <RowView
              key={key}
              measure={virtualizer.measureElement}
              row={row}
              index={index}
              start={start}
              label={rowLabel?.(row)}
              isCurrent={index === current}
              isSelected={rowKey(row) === selectedKey}
              opens={onOpen !== undefined}
              shown={shown}
              second={second}
              tracks={tracks}
            />
          );
        })}
      </div>
      {props.isLoadingMore && <p className={styles.more}>Loading more…</p>}
    </div>
  );
}

/**
 * For whoever opens a row in another tab; the row itself is the tab stop, and a plain click does what a click on the row
 * does. The router's own link costs more than the rest of a row, too much where rows fly by.
 */
export function RowLink(props: {
  readonly href: string;
  readonly className?: string | undefined;
  children: ReactNode;
}) {
  return (
    <a href={props.href} className={props.className} tabIndex={-1} data-row-link="">
      {props.children}
    </a>
  );
}

const isPlainClickOnRowLink = ({ target, ctrlKey, metaKey, shiftKey, altKey }: MouseEvent): boolean =>
  (target as Element).closest('[data-row-link]') !== null && !(ctrlKey || metaKey || shiftKey || altKey);

function layoutOf<Row>(columns: readonly Column<Row>[], isNarrow: boolean) {
  const { shown, second } = splitColumns(columns, isNarrow);
  const tracks: CSSProperties = { gridTemplateColumns: shown.map(({ width }) => width ?? 'minmax(0, 1fr)').join(' ') };
  return { shown, second, tracks };
}

/** The row that something is in. */
function indexOf(target: EventTarget): number | undefined {
  const text = (target as Element).closest<HTMLElement>('[data-index]')?.dataset.index;
  return text === undefined ? undefined : Number(text);
}

/** The row that itself is the target, not something in it. */
const ownIndexOf = (target: EventTarget): number | undefined =>
  (target as HTMLElement).dataset.index === undefined ? undefined : indexOf(target);

interface RowViewProps<Row> {
  readonly measure: (element: HTMLElement | null) => void;
  readonly row: Row;
  readonly index: number;
  readonly start: number;
  readonly label: string | undefined;
  readonly isCurrent: boolean;
  readonly isSelected: boolean;
  readonly opens: boolean;
  readonly shown: readonly Column<Row>[];
  readonly second: readonly Column<Row>[];
  readonly tracks: CSSProperties;
}

/** Drawn once: a scroll draws only the rows that come into view. */
const RowView = memo(function RowView<Row>(props: RowViewProps<Row>) {
  const { measure, row, index, start, label, isCurrent, isSelected, opens, shown, second, tracks } = props;
  return (
    <div
      ref={measure}
      data-index={index}
      role="row"
      aria-rowindex={index + 2}
      aria-label={label}
      aria-current={isSelected ? 'true' : undefined}
      tabIndex={isCurrent ? 0 : -1}
      className={cx(styles.row, styles.item, opens && styles.opens, isSelected && styles.selected)}
      style={{ ...tracks, transform: `translateY(${start}px)` }}
    >
      {shown.map(({ id, cell, align }, column) => (
        <div key={id} role="cell" className={cx(styles.cell, align === 'right' && styles.right)}>
          {cell(row)}
          {column === 0 && <SecondLine columns={second} row={row} />}
        </div>
      ))}
    </div>
  );
}) as <Row>(props: RowViewProps<Row>) => ReactNode;
