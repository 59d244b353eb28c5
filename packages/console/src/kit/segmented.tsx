import { type KeyboardEvent, type ReactNode, useRef } from 'react';
import { cx } from '../lib/cx.ts';
import styles from './segmented.module.css';
import { nextIndex } from './tabs.tsx';

export interface SegmentedProps<Id extends string> {
  readonly label: string;
  readonly items: readonly { readonly id: Id; readonly label: ReactNode }[];
  readonly value: Id;
  readonly onChange: (id: Id) => void;
  readonly wide?: boolean;
}

/** One of few: a filter, a range, an effect. A group of radio buttons to screen readers. */
export function Segmented<Id extends string>({ label, items, value, onChange, wide = false }: SegmentedProps<Id>) {
  const group = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = nextIndex(
      event.key,
      items.findIndex(({ id }) => id === value),
      items.length,
    );
    const item = next === undefined ? undefined : items[next];
    if (item === undefined || next === undefined) return;
    event.preventDefault();
    onChange(item.id);
    group.current?.querySelectorAll<HTMLElement>('[role=radio]')[next]?.focus();
  };
  return (
    <div
      ref={group}
      role="radiogroup"
      aria-label={label}
      className={cx(styles.group, wide && styles.wide)}
      onKeyDown={onKeyDown}
    >
      {items.map((item) => (
        // biome-ignore lint/a11y/useSemanticElements: native radio buttons cannot be drawn as segments without hiding them
        <button
          key={item.id}
          type="button"
          role="radio"
          aria-checked={item.id === value}
          tabIndex={item.id === value ? 0 : -1}
          className={cx(styles.item, item.id === value && styles.chosen)}
          onClick={() => onChange(item.id)}
        >
          {item.label}
        </button>
      ))}
    </div>
  );
}
