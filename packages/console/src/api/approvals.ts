import type { Activity } from '@custos/sdk';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useOrganization } from '../session/organization.ts';
import { useSessionOrThrow, useSessionState } from '../session/session.ts';
import { useClient } from './client.ts';
import { type AnswerOf, type Paged, useApi, useApiPages } from './use-api.ts';
import { checkVotes, type VoteFindings } from './vote.ts';

export type Approval = AnswerOf<'getApproval'>['approval'];
export type Progress = Approval['progress'];
export type CastVote = Progress['votes'][number];
export type ApprovalFilter = 'FOR_ME' | 'FOR_OTHERS' | 'DECIDED';

const PAGE = 50;

export interface Approvals extends Paged<Approval> {
  readonly counts: { readonly forMe: number; readonly forOthers: number } | undefined;
}

/** What waits, or what was decided by votes. */
export function useApprovals(filter: ApprovalFilter): Approvals {
  const paged = useApiPages('listApprovals', { filter }, ({ approvals }) => approvals, { pageSize: PAGE });
  const data = paged.query.data as { pages: readonly AnswerOf<'listApprovals'>[] } | undefined;
  return { ...paged, counts: data?.pages[0]?.counts };
}

/** One request, whatever its state. */
export const useApproval = (activityId: string | undefined): UseQueryResult<AnswerOf<'getApproval'>, Error> =>
  useApi('getApproval', { activityId: activityId ?? '' }, { enabled: activityId !== undefined });

/** Each vote with what this browser found about its signature. Votes never change, so a number of them is a version. */
export function useVoteChecks(activity: Activity | undefined, voteCount = 0): UseQueryResult<VoteFindings, Error> {
  const client = useClient();
  const { userId } = useSessionOrThrow();
  const { organizationId } = useOrganization();
  const { session } = useSessionState();
  return useQuery({
    queryKey: ['votes', userId, organizationId, activity?.id, voteCount, activity?.status],
    queryFn: ({ signal }) => checkVotes(client, activity?.id ?? '', activity?.fingerprint ?? '', signal),
    enabled: activity !== undefined && session !== undefined,
    staleTime: 60_000,
  });
}
