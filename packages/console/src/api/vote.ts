import { type CustosClient, type CustosError, fingerprintOf, type Vote, verifyVote } from '@custos/sdk';

/** What this browser found out about a vote's signature. */
export type VoteCheck = 'verified' | 'not-verified' | 'secret-left-out' | 'unknown-scheme';

export type StampedVote = Vote & { readonly redacted?: boolean };
export interface CheckedVote {
  readonly vote: StampedVote;
  readonly check: VoteCheck;
}

/**
 * What this browser knows of the request behind a fingerprint. `known`: here are bytes that hash to it. `not-checkable`:
 * a secret was left out, or no such bytes were sent. `contradicted`: bytes were sent as the request, and are another one.
 */
export interface RequestCheck {
  readonly state: 'known' | 'not-checkable' | 'contradicted';
  /** The request as it is stored, where it is; exact only if the state is `known`. */
  readonly body: string | undefined;
}

/** Votes of an activity with what was found about each, and about the request that they are votes on. */
export interface VoteFindings {
  readonly votes: readonly CheckedVote[];
  readonly request: RequestCheck;
}

/** Checks a vote here, with what the service says that its voter signed. */
export async function checkVote(vote: StampedVote, fingerprint: string): Promise<VoteCheck> {
  if (vote.redacted === true) return 'secret-left-out';
  try {
    return (await verifyVote(vote, { fingerprint })) ? 'verified' : 'not-verified';
  } catch (error) {
    const { code } = error as CustosError;
    if (code === 'VOTE_BODY_OMITTED') return 'secret-left-out';
    return code === 'UNSUPPORTED_SCHEME' ? 'unknown-scheme' : 'not-verified';
  }
}

/** A vote on a request names it by its fingerprint; every other message is the request itself. */
const VOTES: ReadonlySet<unknown> = new Set(['ACTIVITY_TYPE_APPROVE_ACTIVITY', 'ACTIVITY_TYPE_REJECT_ACTIVITY']);

function typeOf(message: string): unknown {
  try {
    return (JSON.parse(message) as { readonly type?: unknown } | null)?.type;
  } catch {
    return undefined;
  }
}

/** Whether one of the votes brought the very bytes that an approval of this fingerprint covers. */
export async function checkRequest(
  votes: readonly Pick<StampedVote, 'message' | 'redacted'>[],
  fingerprint: string,
): Promise<RequestCheck> {
  let left: RequestCheck = { state: 'not-checkable', body: undefined };
  for (const { message, redacted } of votes) {
    if ((await fingerprintOf(message)) === fingerprint) return { state: 'known', body: message };
    if (left.body !== undefined || VOTES.has(typeOf(message))) continue;
    left = { state: redacted === true ? 'not-checkable' : 'contradicted', body: message };
  }
  return left;
}

/** More votes than anybody reads: what lies beyond is shown as not checked. */
const PAGES_MAX = 10;

/** All votes of an activity with what was found about each. */
export async function checkVotes(
  client: Pick<CustosClient, 'getActivityVotes'>,
  activityId: string,
  fingerprint: string,
  signal?: AbortSignal,
): Promise<VoteFindings> {
  const votes: StampedVote[] = [];
  let after: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const paginationOptions = after === undefined ? {} : { paginationOptions: { after } };
    const answer = await client.getActivityVotes({ activityId, ...paginationOptions }, signal ? { signal } : {});
    votes.push(...answer.votes);
    if (!answer.pageInfo.hasNextPage) break;
    after = answer.pageInfo.endCursor;
  }
  const checked = await Promise.all(votes.map(async (vote) => ({ vote, check: await checkVote(vote, fingerprint) })));
  return { votes: checked, request: await checkRequest(votes, fingerprint) };
}
