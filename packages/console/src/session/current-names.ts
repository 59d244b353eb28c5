import { useEffect } from 'react';
import { useApi } from '../api/use-api.ts';
import { renameSession, useSessionOrThrow } from './session.ts';

/** Keeps the names of the user and its organization as they are now, and not as they were at the sign-in. */
export function useCurrentNames(): void {
  const { organizationId, userName, organizationName } = useSessionOrThrow();
  const who = useApi('whoami', {}, { organizationId }).data;
  useEffect(() => {
    if (who === undefined || (who.username === userName && who.organizationName === organizationName)) return;
    renameSession({ userName: who.username, organizationName: who.organizationName });
  }, [who, userName, organizationName]);
}
