import { type ReactNode, type RefObject, Suspense } from 'react';
import { lazyLayer } from './lazy-layer.ts';

export interface DialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: ReactNode;
  /** One or two sentences under the title: its description. */
  readonly description?: ReactNode;
  readonly children?: ReactNode;
  /** The last row: the way out first, the act last. */
  readonly footer?: ReactNode;
  readonly width?: 'small' | 'normal' | 'wide';
  /** Gets the focus; without it the text of the dialog, never the button that acts. */
  readonly initialFocus?: RefObject<HTMLElement | null>;
  /** Ctrl Enter in the dialog itself, never in one above it. */
  readonly onCtrlEnter?: () => void;
  /** Not by Escape or a click beside it: something would be lost. */
  readonly isModalOnly?: boolean;
}

const [DialogLayer, loadDialogs] = lazyLayer(() => import('./dialog-layer.tsx'));

/** For what may have to open when nothing can be loaded any more. */
export { loadDialogs };

/** What floats is loaded when the first of it opens: pages show without. */
export function Dialog(props: DialogProps) {
  if (!props.open) return null;
  return (
    <Suspense fallback={null}>
      <DialogLayer {...props} />
    </Suspense>
  );
}
