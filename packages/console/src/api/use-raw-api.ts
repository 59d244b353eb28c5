import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useOrganization } from '../session/organization.ts';
import { useSessionState } from '../session/session.ts';
import { useClient } from './client.ts';
import { type UseApiOptions, useShownKey } from './use-api.ts';

/** A query by its name on the wire, for those that the SDK's types do not have. */
export function useRawApi<Answer>(
  operation: string,
  parameters: object,
  { enabled = true, everyMs, keepsPrevious = false, organizationId }: UseApiOptions = {},
): UseQueryResult<Answer, Error> {
  const client = useClient();
  const shown = useOrganization();
  const key = useShownKey(organizationId);
  const { session } = useSessionState();
  return useQuery({
    queryKey: ['api', key, operation, parameters],
    queryFn: async ({ signal }) => {
      const body = JSON.stringify({ ...parameters, organizationId: organizationId ?? shown.organizationId });
      return (await client.queryRaw(operation, body, { signal })) as Answer;
    },
    enabled: enabled && session !== undefined,
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
    ...(keepsPrevious && { placeholderData: keepPreviousData }),
  });
}
