import { type ComponentType, type LazyExoticComponent, lazy } from 'react';

const RETRY_MS = 4_000;

/**
 * A component that is loaded when it is first shown, and a function that loads it before. Where nothing can be loaded it
 * is tried again: a page that has something typed into it must not fail over a dialog.
 */
export function lazyLayer<Props>(
  load: () => Promise<{ default: ComponentType<Props> }>,
): readonly [LazyExoticComponent<ComponentType<Props>>, () => void] {
  let loading: Promise<{ default: ComponentType<Props> }> | undefined;
  const insist = async (): Promise<{ default: ComponentType<Props> }> => {
    for (;;) {
      try {
        return await load();
      } catch {
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  };
  const once = () => {
    loading ??= insist();
    return loading;
  };
  return [lazy(once), () => void once()];
}
