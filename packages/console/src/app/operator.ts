import { useQuery } from '@tanstack/react-query';
import { useClient } from '../api/client.ts';
import { useApi } from '../api/use-api.ts';
import { useOrganization } from '../session/organization.ts';
import { useSession, useSessionOrThrow } from '../session/session.ts';

/** Whether the person may see Operations: a root user of the organization that runs the service, which the service knows. */
export function useIsOperator(): boolean {
  const { isReadOnly } = useOrganization();
  const { userId } = useSessionOrThrow();
  const isSignedIn = useSession() !== undefined;
  const client = useClient();
  const configs = useApi('getOrganizationConfigs', {}, { enabled: !isReadOnly });
  // Nobody else may see it, so nobody else needs to ask.
  const isRoot = configs.data?.configs.quorum.userIds.includes(userId) ?? false;
  const { data } = useQuery({
    // Asked once: news of the organization do not change it.
    queryKey: ['operator', userId],
    queryFn: ({ signal }) =>
      client.getOperations({}, { signal }).then(
        () => true,
        () => false,
      ),
    enabled: isRoot && !isReadOnly && isSignedIn,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data === true && isRoot && !isReadOnly;
}
