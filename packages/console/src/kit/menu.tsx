import { Menu as Base } from '@base-ui/react/menu';
import type { ReactElement, ReactNode } from 'react';
import { cx } from '../lib/cx.ts';
import { Icon, type IconName } from './icon.tsx';
import styles from './popup.module.css';

export interface MenuItem {
  readonly id: string;
  readonly label: ReactNode;
  readonly detail?: ReactNode;
  readonly icon?: IconName;
  readonly onSelect: () => void;
  /** Why it is off. */
  readonly off?: string | false | undefined;
  readonly danger?: boolean;
  readonly isChosen?: boolean;
  /** A line above it. */
  readonly separated?: boolean;
}

export interface MenuProps {
  /** The element that opens it, such as `<IconButton icon="more" label="More" />`. */
  readonly trigger: ReactElement<Record<string, unknown>>;
  readonly items: readonly MenuItem[];
  readonly align?: 'start' | 'end';
}

export function Menu({ trigger, items, align = 'end' }: MenuProps) {
  return (
    <Base.Root modal={false}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner className={styles.positioner} sideOffset={4} align={align}>
          <Base.Popup className={styles.popup}>
            {items.map(({ id, label, detail, icon, onSelect, off, danger, isChosen, separated }) => (
              <Base.Group key={id}>
                {separated && <Base.Separator className={styles.separator} />}
                <Base.Item
                  className={cx(styles.item, danger && styles.danger)}
                  disabled={Boolean(off)}
                  onClick={onSelect}
                  {...(isChosen && { 'aria-current': 'true' })}
                >
                  {icon && <Icon name={icon} />}
                  <span className={styles.grow}>
                    {label}
                    {(off || detail !== undefined) && <span className={styles.detail}>{off || detail}</span>}
                  </span>
                  {isChosen && <Icon name="check" className={styles.check} />}
                </Base.Item>
              </Base.Group>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
