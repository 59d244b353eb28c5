import type { Activity, Organization, Vote } from '../core/model.ts';
import type { SealedResult } from '../core/store/sealed-results.ts';
import type { Stores } from '../storage/stores.ts';
import { approvers } from './activities/rounds.ts';
import { type ActivityMover, moveOn } from './activities/status.ts';
import type { Outcome } from './authorize.ts';
import type { VoteOutcome } from './decide-vote.ts';
import { attempt, type Execution, type Reasons } from './execution.ts';
import { Stale } from './hold.ts';
import { afterOutcome, failedWith } from './outcome.ts';
import { shownAtOnce, withoutSecrets } from './secret-result.ts';

interface Turn {
  /** As the vote finds it; CREATED where the vote is the first. */
  readonly activity: Activity;
  readonly vote: Vote;
  readonly by: ActivityMover;
  readonly voteOutcome: Extract<VoteOutcome, { kind: 'approve' | 'reject' }>;
  readonly execution: Execution | undefined;
  /** The organization acted on, as the transaction holds it. */
  readonly target: Organization;
  /** Fields of the result that are not stored with it. */
  readonly secretResults: readonly string[];
  /** Throws Stale where the parameters are by now about something else than what was prepared. */
  readonly requireSame: () => Promise<void>;
}

interface Next {
  readonly activity: Activity;
  /** The result with its secrets. */
  readonly result: unknown;
  /** The sealed secrets, to be kept with it. */
  readonly secret: SealedResult | undefined;
}

/** What a vote makes of an activity. It runs the execution where the vote completes what it waits for. */
export async function nextState(stores: Stores, turn: Turn): Promise<Next> {
  const { activity, voteOutcome, execution, by } = turn;
  if (voteOutcome.kind === 'reject') {
    return without({ ...activity, status: moveOn(activity.status, 'rejected', by), openTo: undefined });
  }
  const { outcome } = voteOutcome;
  if (outcome.kind === 'execute') {
    // A vote that came meanwhile lets this one complete the activity, for which nothing was prepared.
    if (execution === undefined) throw new Stale();
    return await execute(stores, turn, execution, { ...voteOutcome, outcome });
  }
  const after = without(afterOutcome(activity, outcome, by));
  if (!isFirst(activity) || execution === undefined) return after;
  // What a proposal proves is used up when it is stored; approvals release only what came of it.
  await turn.requireSame();
  await execution.prove(stores);
  return { ...after, secret: execution.secret };
}

const isFirst = ({ status }: Activity): boolean => status === 'ACTIVITY_STATUS_CREATED';

const without = (activity: Activity): Next => ({ activity, result: activity.result, secret: undefined });

type Approved = Extract<VoteOutcome, { kind: 'approve' }> & { readonly outcome: Extract<Outcome, { kind: 'execute' }> };

async function execute(
  stores: Stores,
  turn: Turn,
  execution: Execution,
  { outcome, rules, live }: Approved,
): Promise<Next> {
  const { target, vote, by, secretResults } = turn;
  const activity: Activity = {
    ...turn.activity,
    openTo: undefined,
    hasMfa: turn.activity.hasMfa || outcome.requirements.length > 0,
  };
  if (execution.isDescribed) await turn.requireSame();
  const byRootQuorum = outcome.decision.reason === 'ROOT_QUORUM';
  const reasons: Reasons = { target, approvers: approvers([...live, vote]), rules, byRootQuorum };
  const done = isFirst(activity)
    ? // Its failure undoes all of the submission.
      { failed: false as const, value: await execution.run(stores, reasons) }
    : // Its failure undoes only its own writes and is stored with the activity: the vote stands (protocol/activities 3.3).
      await attempt(() => stores.savepoint(() => execution.run(stores, reasons)));
  if (done.failed) {
    return without(failedWith(activity, { errorCode: done.error.code, message: done.error.message }, by));
  }
  const { secret } = execution;
  return {
    activity: {
      ...activity,
      status: moveOn(activity.status, 'executed', by),
      result: withoutSecrets(done.value, secretResults),
    },
    result: done.value,
    // The answer to a submission shows it at once; otherwise the proposer still has to ask.
    secret: secret && isFirst(activity) ? shownAtOnce(secret, activity.updatedAtMs) : secret,
  };
}
