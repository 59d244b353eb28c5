import { useOrganization } from '../session/organization.ts';
import { useApi } from './use-api.ts';

export interface InboxCounts {
  /** False until the first answer. */
  readonly isKnown: boolean;
  readonly forMe: number;
  readonly forOthers: number;
}

const NONE: InboxCounts = { isKnown: false, forMe: 0, forOthers: 0 };

/** How many requests wait. The feed keeps it fresh. */
export function useInboxCounts(): InboxCounts {
  const { isReadOnly } = useOrganization();
  const { data } = useApi(
    'listApprovals',
    { filter: 'FOR_ME', paginationOptions: { limit: '1' } },
    { enabled: !isReadOnly },
  );
  return isReadOnly || data === undefined ? NONE : { isKnown: true, ...data.counts };
}
