import type { CustosClient } from '@custos/sdk';
import { type Problem, problemOf } from '../../api/problem.ts';
import { checkVotes } from '../../api/vote.ts';
import type { Verb } from '../request/confirm-dialog.tsx';
import { type BatchItem, itemOf, whyChanged } from './batch.ts';

/** What became of one request of a batch: its status after the vote, what went wrong, or why no vote was sent. */
export type Result = { readonly status: string } | { readonly problem: string } | { readonly notSent: string };

export interface BatchRun {
  readonly client: Pick<CustosClient, 'getApproval' | 'getActivityVotes' | 'approveActivity' | 'rejectActivity'>;
  readonly verb: Verb;
  readonly items: readonly BatchItem[];
  /** Read before every vote: whoever stops or leaves wants no further one. */
  readonly isStopped: () => boolean;
  readonly onResult: (activityId: string, result: Result) => void;
  readonly onError: (error: unknown) => void;
}

interface Step {
  readonly result: Result;
  /** Why the requests behind it are not sent; undefined where they are. */
  readonly rest?: string;
}

const STOPPED: Step = { result: { notSent: 'you stopped' }, rest: 'you stopped' };

/** Votes on one after the other, and on none behind the first that did not go as the person expected. */
export async function runBatch(run: BatchRun): Promise<void> {
  let rest: string | undefined;
  for (const item of run.items) {
    const step: Step = rest === undefined ? await decide(run, item) : { result: { notSent: rest }, rest };
    rest = step.rest;
    run.onResult(item.approval.activity.id, step.result);
  }
}

/** Asks once more right before the vote: what was chosen may be another thing by now. */
async function decide({ client, verb, isStopped, onError }: BatchRun, item: BatchItem): Promise<Step> {
  const { id } = item.approval.activity;
  let isSent = false;
  try {
    if (isStopped()) return STOPPED;
    const { approval } = await client.getApproval({ activityId: id });
    const { fingerprint } = approval.activity;
    const findings = verb === 'Approve' ? await checkVotes(client, id, fingerprint) : undefined;
    const why = whyChanged(item, itemOf(approval), findings);
    if (why !== undefined) return { result: { problem: `Not sent: ${why}.` }, rest: 'one before it had changed' };
    if (isStopped()) return STOPPED;
    isSent = true;
    const { activity } = await (verb === 'Approve'
      ? client.approveActivity({ fingerprint })
      : client.rejectActivity({ fingerprint }));
    return { result: { status: activity.status } };
  } catch (error) {
    onError(error);
    const problem = problemOf(error);
    return { result: { problem: wordsOf(problem, isSent) }, rest: REST[problem.kind] ?? 'one before it was refused' };
  }
}

const REST: Readonly<Partial<Record<Problem['kind'], string>>> = {
  offline: 'the service did not answer',
  unavailable: 'the service did not answer',
  'too-often': 'the service takes no more requests for now',
  session: 'your session ended',
};

function wordsOf({ kind, title, text }: Problem, isSent: boolean): string {
  if (kind === 'session') return `Not sent. ${title}`;
  if (kind !== 'offline' && kind !== 'unavailable') return `${isSent ? '' : 'Not sent. '}${title} ${text}`;
  return isSent ? `${title} Your vote may or may not have arrived: open the request to see.` : `Not sent. ${title}`;
}
