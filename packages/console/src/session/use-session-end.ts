import { useEffect, useRef } from 'react';
import { useSession } from './session.ts';

/**
 * Calls `forget` when the session ends or another takes its place, here or in another tab: whoever is at the page then
 * may be somebody else, and must not find a secret there.
 */
export function useSessionEnd(forget: () => void): void {
  const publicKey = useSession()?.publicKey;
  const before = useRef(publicKey);
  const latest = useRef(forget);
  latest.current = forget;
  useEffect(() => {
    if (publicKey !== undefined && publicKey === before.current) return;
    before.current = publicKey;
    latest.current();
  }, [publicKey]);
}
