import type { KeyboardEvent, MouseEvent, ReactNode } from 'react';
import { cx } from '../lib/cx.ts';
import { useNarrow } from '../lib/use-media.ts';
import styles from './table.module.css';

export interface Column<Row> {
  readonly id: string;
  readonly header: ReactNode;
  readonly cell: (row: Row) => ReactNode;
  readonly align?: 'left' | 'right';
  /** A CSS width such as `120px` or `20%`; for `VirtualTable` a grid track such as `2fr`. */
  readonly width?: string;
  /** Under 720 px: `keep` its column, drop into the `second` line of the first cell (unless told), or `hide`. */
  readonly narrow?: 'keep' | 'second' | 'hide';
  /** The header is for screen readers only. */
  readonly hideHeader?: boolean;
}

export interface TableProps<Row> {
  /** Its accessible name. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  readonly selectedKey?: string | undefined;
  /** Makes rows respond to click and Enter. Put a link or button into the first cell too where the row opens a page. */
  readonly onOpen?: (row: Row) => void;
  /** Instead of rows when there are none. */
  readonly empty?: ReactNode;
}

/** First, then the columns that stay and those for the second line. */
export function splitColumns<Row>(columns: readonly Column<Row>[], isNarrow: boolean) {
  if (!isNarrow) return { shown: columns, second: [] };
  const [first, ...others] = columns;
  return {
    shown: [...(first ? [first] : []), ...others.filter(({ narrow }) => narrow === 'keep')],
    second: others.filter(({ narrow = 'second' }) => narrow === 'second'),
  };
}

/** The dropped columns of a row, with dots between them. */
export function SecondLine<Row>({ columns, row }: { readonly columns: readonly Column<Row>[]; readonly row: Row }) {
  if (columns.length === 0) return null;
  return (
    <div className={styles.second}>
      {columns.map(({ id, header, hideHeader, cell }) => (
        <span key={id} title={!hideHeader && typeof header === 'string' ? header : undefined}>
          {cell(row)}
        </span>
      ))}
    </div>
  );
}

/** A click on a link, button or field within a row is theirs. */
export const isOwnClick = ({ target, currentTarget }: MouseEvent | KeyboardEvent): boolean =>
  target === currentTarget || !(target as Element).closest('a, button, input, select, label, summary');

/** For lists of up to some hundreds; longer ones take `VirtualTable`. */
export function Table<Row>({ label, columns, rows, rowKey, selectedKey, onOpen, empty }: TableProps<Row>) {
  const { shown, second } = splitColumns(columns, useNarrow());
  if (rows.length === 0 && empty !== undefined) return <div className={styles.empty}>{empty}</div>;
  return (
    <table className={styles.table} aria-label={label}>
      <thead>
        <tr>
          {shown.map(({ id, header, align, width, hideHeader }) => (
            <th
              key={id}
              scope="col"
              className={cx(align === 'right' && styles.right)}
              style={width ? { width } : undefined}
            >
              {hideHeader ? <span className={styles.hidden}>{header}</span> : header}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => {
          const key = rowKey(row);
          return (
            <tr
              key={key}
              className={cx(onOpen && styles.opens, key === selectedKey && styles.selected)}
              aria-current={key === selectedKey ? 'true' : undefined}
              {...(onOpen && {
                onClick: (event: MouseEvent) => {
                  if (isOwnClick(event)) onOpen(row);
                },
              })}
            >
              {shown.map(({ id, cell, align }, index) => (
                <td key={id} className={cx(align === 'right' && styles.right)}>
                  {cell(row)}
                  {index === 0 && <SecondLine columns={second} row={row} />}
                </td>
              ))}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
