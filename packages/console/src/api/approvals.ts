import type { Activity } from '@custos/sdk';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useOrganization } from '../session/organization.ts';
import { useSessionOrThrow, useSessionState } from '../session/session.ts';
import { useClient } from './client.ts';
import { connection } from './connection.ts';
import { type AnswerOf, type Paged, useApi, useApiPages } from './use-api.ts';
import { checkVotes, type VoteFindings } from './vote.ts';

export type Approval = AnswerOf<'getApproval'>['approval'];
export type Progress = Approval['progress'];
export type CastVote = Progress['votes'][number];
export type ApprovalFilter = 'FOR_ME' | 'FOR_OTHERS' | 'DECIDED';

const PAGE = 50;
/** Clocks agree to some seconds at best. */
const LATER_MS = 1000;

export interface Approvals extends Paged<Approval> {
  readonly counts: { readonly forMe: number; readonly forOthers: number } | undefined;
}

/** What waits, or what was decided by votes. */
export function useApprovals(filter: ApprovalFilter): Approvals {
  const paged = useApiPages('listApprovals', { filter }, ({ approvals }) => approvals, { pageSize: PAGE });
  const data = paged.query.data as { pages: readonly AnswerOf<'listApprovals'>[] } | undefined;
  return { ...paged, counts: data?.pages[0]?.counts };
}

/** Timers of browsers take no more. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** One request, whatever its state. When its approvals lapse, which no event tells, it is asked for again. */
export function useApproval(activityId: string): UseQueryResult<AnswerOf<'getApproval'>, Error> {
  const query = useApi('getApproval', { activityId });
  const { lapsesAt } = query.data?.approval.progress ?? {};
  const { refetch } = query;
  useEffect(() => {
    if (lapsesAt === undefined) return;
    const leftMs = Date.parse(lapsesAt) - Date.now() - connection.get().clockOffsetMs;
    if (leftMs < 0 || leftMs > TIMER_MAX_MS) return;
    const timer = setTimeout(() => void refetch(), leftMs + LATER_MS);
    return () => clearTimeout(timer);
  }, [lapsesAt, refetch]);
  return query;
}

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
