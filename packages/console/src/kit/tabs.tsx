import { type KeyboardEvent, type ReactNode, useId, useRef } from 'react';
import { cx } from '../lib/cx.ts';
import styles from './tabs.module.css';

export interface TabItem<Id extends string> {
  readonly id: Id;
  readonly label: ReactNode;
}

export interface TabsProps<Id extends string> {
  /** The accessible name of the row of tabs. */
  readonly label: string;
  readonly items: readonly TabItem<Id>[];
  readonly value: Id;
  readonly onChange: (id: Id) => void;
  /** The panel of the chosen tab. */
  readonly children: ReactNode;
}

/** Layers of one thing: Fields, Bytes, Raw body. Arrows move between tabs. */
export function Tabs<Id extends string>({ label, items, value, onChange, children }: TabsProps<Id>) {
  const base = useId();
  const row = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent): void => {
    const index = items.findIndex(({ id }) => id === value);
    const next = nextIndex(event.key, index, items.length);
    const item = next === undefined ? undefined : items[next];
    if (item === undefined || next === undefined) return;
    event.preventDefault();
    onChange(item.id);
    row.current?.querySelectorAll<HTMLElement>('[role=tab]')[next]?.focus();
  };
  return (
    <div>
      <div ref={row} role="tablist" aria-label={label} className={styles.row} onKeyDown={onKeyDown}>
        {items.map((item) => (
          <button
            key={item.id}
            type="button"
            role="tab"
            id={`${base}-${item.id}`}
            aria-selected={item.id === value}
            aria-controls={`${base}-panel`}
            tabIndex={item.id === value ? 0 : -1}
            className={cx(styles.tab, item.id === value && styles.chosen)}
            onClick={() => onChange(item.id)}
          >
            {item.label}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${base}-panel`} aria-labelledby={`${base}-${value}`} className={styles.panel}>
        {children}
      </div>
    </div>
  );
}

export function nextIndex(key: string, index: number, length: number): number | undefined {
  if (key === 'ArrowRight' || key === 'ArrowDown') return (index + 1) % length;
  if (key === 'ArrowLeft' || key === 'ArrowUp') return (index - 1 + length) % length;
  if (key === 'Home') return 0;
  if (key === 'End') return length - 1;
  return undefined;
}
