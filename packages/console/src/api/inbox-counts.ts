import { useOrganization } from '../session/organization.ts';
import { useApi } from './use-api.ts';

export interface InboxCounts {
  readonly forMe: number;
  readonly forOthers: number;
}

const NONE: InboxCounts = { forMe: 0, forOthers: 0 };

/** How many requests wait. The feed keeps it fresh. */
export function useInboxCounts(): InboxCounts {
  const { isReadOnly } = useOrganization();
  const { data } = useApi(
    'listApprovals',
    { filter: 'FOR_ME', paginationOptions: { limit: '1' } },
    { enabled: !isReadOnly },
  );
  return isReadOnly ? NONE : (data?.counts ?? NONE);
}
