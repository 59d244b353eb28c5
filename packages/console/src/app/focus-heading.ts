/** Loading takes a while at most; whoever acts before takes the focus along. */
const WATCHED_MS = 5000;

/**
 * A new page starts at its heading, for screen readers too. While it loads, headings come and go: the focus goes to each,
 * until somebody presses a key or points at something.
 */
export function focusHeading(main: HTMLElement): () => void {
  const isOurs = (element: Element | null): boolean =>
    element === null || element === document.body || element === main || element.tagName === 'H1';
  const move = (): void => {
    const heading = main.querySelector('h1');
    if (!isOurs(document.activeElement) || (heading !== null && heading === document.activeElement)) return;
    heading?.setAttribute('tabindex', '-1');
    (heading ?? main).focus({ preventScroll: true });
  };
  const observer = new MutationObserver(move);
  const stop = (): void => {
    observer.disconnect();
    clearTimeout(timer);
    removeEventListener('keydown', stop, true);
    removeEventListener('pointerdown', stop, true);
  };
  const timer = setTimeout(stop, WATCHED_MS);
  observer.observe(main, { childList: true, subtree: true });
  addEventListener('keydown', stop, true);
  addEventListener('pointerdown', stop, true);
  // What was clicked to come here keeps the focus only while it is there.
  (document.activeElement as HTMLElement | null)?.blur();
  move();
  return stop;
}
