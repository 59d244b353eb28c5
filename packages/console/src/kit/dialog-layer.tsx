import { Dialog as Base } from '@base-ui/react/dialog';
import { type KeyboardEvent, useRef } from 'react';
import { cx } from '../lib/cx.ts';
import styles from './dialog.module.css';
import type { DialogProps } from './dialog.tsx';
import { Icon } from './icon.tsx';

/** Holds the focus, and gives it back when it closes. */
export default function DialogLayer(props: DialogProps) {
  const { open, onClose, onCtrlEnter, title, description, children, footer, width = 'normal', initialFocus } = props;
  const { isModalOnly } = props;
  const text = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || onCtrlEnter === undefined) return;
    // React passes on the keys of dialogs that were opened from this one; a key that is held acts once.
    if (event.defaultPrevented || event.repeat || !event.currentTarget.contains(event.target as Node)) return;
    event.preventDefault();
    onCtrlEnter();
  };
  return (
    <Base.Root
      open={open}
      onOpenChange={(next) => {
        if (!next && !isModalOnly) onClose();
      }}
      disablePointerDismissal={isModalOnly ?? false}
    >
      <Base.Portal>
        <Base.Backdrop className={styles.scrim} />
        <Base.Viewport className={styles.viewport}>
          <Base.Popup
            className={cx(styles.dialog, styles[width])}
            initialFocus={initialFocus ?? text}
            onKeyDown={onKeyDown}
          >
            <header className={styles.header}>
              <Base.Title className={styles.title}>{title}</Base.Title>
              {!isModalOnly && (
                <Base.Close className={styles.close} aria-label="Close">
                  <Icon name="cross" />
                </Base.Close>
              )}
            </header>
            <div ref={text} tabIndex={-1} className={styles.body}>
              {description !== undefined && (
                <Base.Description className={styles.description}>{description}</Base.Description>
              )}
              {children}
            </div>
            {footer !== undefined && <footer className={styles.footer}>{footer}</footer>}
          </Base.Popup>
        </Base.Viewport>
      </Base.Portal>
    </Base.Root>
  );
}
