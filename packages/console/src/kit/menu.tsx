import { cloneElement, type ReactElement, type ReactNode, Suspense, useState } from 'react';
import type { IconName } from './icon.tsx';
import { lazyLayer } from './lazy-layer.ts';

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

const [MenuLayer, loadMenus] = lazyLayer(() => import('./menu-layer.tsx'));

/** A button that opens a menu. The menu is loaded when the pointer or the focus comes near it. */
export function Menu(props: MenuProps) {
  const [isWanted, setIsWanted] = useState(false);
  const waiting = cloneElement(props.trigger, {
    'aria-haspopup': 'menu',
    'aria-expanded': false,
    onPointerEnter: loadMenus,
    onFocus: loadMenus,
    onClick: () => setIsWanted(true),
  });
  if (!isWanted) return waiting;
  return (
    <Suspense fallback={waiting}>
      <MenuLayer {...props} />
    </Suspense>
  );
}
