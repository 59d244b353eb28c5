import { connection } from '../api/connection.ts';
import { useStore } from '../lib/store.ts';
import { useOrganization } from '../session/organization.ts';

/** Why nothing can be changed now, for buttons; undefined where it can. */
export function useOffReason(): string | undefined {
  const { isReadOnly, name } = useOrganization();
  const { lostSinceMs } = useStore(connection);
  if (isReadOnly) return `You only read ${name}.`;
  return lostSinceMs === undefined ? undefined : 'No connection to the service.';
}
