import { type CustosClient, type CustosError, type Vote, verifyVote } from '@custos/sdk';

/** What this browser found out about a vote's signature. */
export type VoteCheck = 'verified' | 'not-verified' | 'not-checkable';

type CheckedVote = Vote & { readonly redacted?: boolean };

/** Checks a vote here, with what the service says that its voter signed. */
export async function checkVote(vote: CheckedVote, fingerprint: string): Promise<VoteCheck> {
  if (vote.redacted === true) return 'not-checkable';
  try {
    return (await verifyVote(vote, { fingerprint })) ? 'verified' : 'not-verified';
  } catch (error) {
    const { code } = error as CustosError;
    return code === 'UNSUPPORTED_SCHEME' || code === 'VOTE_BODY_OMITTED' ? 'not-checkable' : 'not-verified';
  }
}

/** All votes of an activity with what was found about each. */
export async function checkVotes(
  client: CustosClient,
  activityId: string,
  fingerprint: string,
  signal?: AbortSignal,
): Promise<readonly { readonly vote: CheckedVote; readonly check: VoteCheck }[]> {
  const { votes } = await client.getActivityVotes({ activityId }, signal ? { signal } : {});
  return await Promise.all(votes.map(async (vote) => ({ vote, check: await checkVote(vote, fingerprint) })));
}
