import type { App } from './app.ts';
import type { VoteOutcome } from './decide-vote.ts';
import { attempt, callerOf, failingExecution, prepareExecution } from './execution.ts';
import { type AttemptNote, hasBegun } from './hold.ts';
import { orRefusal, shortenRejected } from './rejection.ts';
import type { Draft, Prepared, VoteRequest } from './vote-request.ts';

interface Decided {
  readonly draft: Draft;
  readonly decided: VoteOutcome;
  readonly note: AttemptNote;
}

/** What the vote is to commit: its draft, and what it makes happen, ready but for the transaction. */
export async function prepareVote(app: App, request: VoteRequest, decided: Decided): Promise<Prepared> {
  const prepared = await prepareApproval(app, request, decided);
  const { draft, expected } = prepared;
  if (request.found !== undefined || expected.kind !== 'approve') return prepared;
  return { ...prepared, draft: shortenRejected(draft, expected.outcome, request.submission) };
}

/**
 * A submission that cannot be prepared is refused and stores nothing; only a right that the operation itself refuses is kept,
 * as a denial. What others have approved is not the last voter's to send again: it becomes FAILED in the transaction.
 */
async function prepareApproval(
  app: App,
  { actor, submission, target, found, nowMs }: VoteRequest,
  { draft, decided, note }: Decided,
): Promise<Prepared> {
  const unprepared: Prepared = { draft, expected: decided, execution: undefined };
  if (decided.kind !== 'approve' || target === undefined) return unprepared;
  const { outcome, rules, live, counts } = decided;
  const { intent, version } = target;
  const executes = outcome.kind === 'execute';
  // What a proposal proves is checked and used up now, also where its result has to wait.
  const proves = found === undefined && intent.operation.useProof !== undefined && outcome.kind !== 'deny';
  if (!executes && !proves) return unprepared;
  // Nobody waits for the answer any more, and nothing that stands was done yet.
  if (!hasBegun(note)) submission.request.passage?.requireClient();
  const prepare = () =>
    prepareExecution(app, {
      intent,
      version,
      activity: draft.activity,
      votes: [...live, { ...draft.vote, counts }],
      caller: callerOf(actor, submission.request.clientAddress),
      hasControls: rules.controls.length > 0,
      executes,
      attempt: note,
      nowMs,
    });
  if (found === undefined) {
    const prepared = await orRefusal(prepare);
    if ('kind' in prepared) return { ...unprepared, expected: { ...decided, outcome: prepared } };
    return { ...unprepared, execution: prepared };
  }
  const prepared = await attempt(prepare);
  return {
    ...unprepared,
    execution: prepared.failed
      ? failingExecution(intent.operation, actor.organization, prepared.error)
      : prepared.value,
  };
}
