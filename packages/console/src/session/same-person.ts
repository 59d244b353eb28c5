import { useEffect, useRef } from 'react';
import { useSession } from './session.ts';

/** Calls `onOther` once somebody else signs in over a page: what it holds of a person is not for the next. */
export function useSamePerson(onOther: () => void): void {
  const userId = useSession()?.userId;
  const first = useRef(userId);
  useEffect(() => {
    first.current ??= userId;
    if (userId !== undefined && userId !== first.current) onOther();
  }, [userId, onOther]);
}
