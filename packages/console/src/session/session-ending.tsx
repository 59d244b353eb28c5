import { useEffect, useState } from 'react';
import { type Problem, problemOf } from '../api/problem.ts';
import { useNow } from '../app/now.ts';
import { Button } from '../kit/button.tsx';
import { loadDialogs } from '../kit/dialog.tsx';
import { Note } from '../kit/note.tsx';
import { duration } from '../lib/time.ts';
import { extendSession } from './login.ts';
import { endSession, useSession } from './session.ts';

const WARN_MS = 5 * 60_000;

/** Seconds until the session ends. */
export function useSecondsLeft(): number {
  const session = useSession();
  const nowMs = useNow();
  return session === undefined ? 0 : Math.max(0, Math.ceil((session.expiresAtMs - nowMs) / 1000));
}

/** Five minutes before the end: one touch goes on. */
export function SessionEnding() {
  const session = useSession();
  const secondsLeft = useSecondsLeft();
  const [isBusy, setIsBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();

  useEffect(() => {
    if (session === undefined) return;
    const timer = setTimeout(() => endSession('expired'), Math.min(session.expiresAtMs - Date.now(), 2 ** 31 - 1));
    return () => clearTimeout(timer);
  }, [session]);

  const isNear = session !== undefined && secondsLeft * 1000 <= WARN_MS;
  useEffect(() => {
    // The sign-in that comes over the page is a dialog, and must come without a connection too.
    if (isNear) loadDialogs();
  }, [isNear]);

  if (!isNear) return null;
  const extend = async (): Promise<void> => {
    setIsBusy(true);
    setProblem(undefined);
    try {
      await extendSession();
    } catch (error) {
      setProblem(problemOf(error));
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <Note
      tone="wait"
      inline
      icon="clock"
      role="status"
      title={`Your session ends in ${duration(secondsLeft * 1000)}.`}
      actions={
        <Button size="small" busy={isBusy && 'Extending…'} onClick={() => void extend()}>
          Stay signed in
        </Button>
      }
    >
      {problem === undefined ? 'What you are doing is kept either way.' : `${problem.title} ${problem.text}`}
    </Note>
  );
}
