import { Menu as Base } from '@base-ui/react/menu';
import { cx } from '../lib/cx.ts';
import { Icon } from './icon.tsx';
import type { MenuProps } from './menu.tsx';
import styles from './popup.module.css';

/** Opens as soon as it is there: a click asked for it. */
export default function MenuLayer({ trigger, items, align = 'end' }: MenuProps) {
  return (
    <Base.Root modal={false} defaultOpen>
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
