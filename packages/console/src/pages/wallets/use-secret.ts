import { useCallback, useEffect, useRef, useState } from 'react';
import { announce } from '../../app/announcer.tsx';
import { currentSession } from '../../session/session.ts';
import { useSessionEnd } from '../../session/use-session-end.ts';

const SHOWN_MS = 60_000;
/** How long it still shows, in words that change twice instead of ticking. */
const WORDS: readonly (readonly [number, string])[] = [
  [0, 'It hides itself after a minute.'],
  [30_000, 'It hides itself in less than half a minute.'],
  [50_000, 'It hides itself in a few seconds.'],
];

export interface Secret<Value> {
  /** Undefined while it is hidden. */
  readonly value: Value | undefined;
  readonly timeLeft: string;
  readonly wasShown: boolean;
  reveal(open: () => Promise<Value>): Promise<void>;
  hide(): void;
}

/**
 * Something that shows for a minute. It lives in this component's state alone, and goes when the minute is over, when the
 * session ends, when the page is hidden, and with the component.
 */
export function useSecret<Value>(): Secret<Value> {
  const [value, setValue] = useState<Value>();
  const [timeLeft, setTimeLeft] = useState('');
  const [wasShown, setWasShown] = useState(false);
  const isMounted = useRef(true);
  const hide = useCallback(() => {
    setValue(undefined);
    setTimeLeft('');
  }, []);
  const isShown = value !== undefined;
  useSessionEnd(hide);
  useEffect(() => {
    if (!isShown) return;
    const timers = WORDS.map(([after, words]) => setTimeout(() => setTimeLeft(words), after));
    timers.push(
      setTimeout(() => {
        hide();
        announce('The secret is hidden again.');
      }, SHOWN_MS),
    );
    const onChange = (): void => {
      if (document.visibilityState !== 'visible') hide();
    };
    document.addEventListener('visibilitychange', onChange);
    addEventListener('pagehide', hide);
    return () => {
      for (const timer of timers) clearTimeout(timer);
      document.removeEventListener('visibilitychange', onChange);
      removeEventListener('pagehide', hide);
    };
  }, [isShown, hide]);
  useEffect(() => {
    isMounted.current = true;
    return () => {
      isMounted.current = false;
    };
  }, []);
  const reveal = useCallback(async (open: () => Promise<Value>): Promise<void> => {
    const asker = currentSession()?.publicKey;
    const opened = await open();
    // A dialog that was closed meanwhile, a page that is hidden and one whose session ended show nothing.
    if (!isMounted.current || document.visibilityState !== 'visible') return;
    if (asker === undefined || currentSession()?.publicKey !== asker) return;
    setValue(opened);
    setWasShown(true);
  }, []);
  return { value, timeLeft, wasShown, reveal, hide };
}
