import { CustosError, NetworkError } from '@custos/sdk';
import { describe, expect, test } from 'vitest';
import type { Approval } from '../../api/approvals.ts';
import { itemOf } from './batch.ts';
import { type Result, runBatch } from './run-batch.ts';

const approvalOf = (id: string): Approval =>
  ({
    activity: { id, type: 'SIGN', status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED', fingerprint: `print-${id}` },
    progress: { waitsForMe: true },
    description: { text: id, risk: 'ROUTINE', marks: [], steps: [], fields: [], recipients: [] },
  }) as unknown as Approval;

/** A service that takes each rejection, unless told what happens at one of the requests. */
function attempt(at: { readonly read?: () => unknown; readonly vote?: () => unknown } = {}) {
  const voted: string[] = [];
  const errors: unknown[] = [];
  const results: Record<string, Result> = {};
  let isStopped = false;
  const client = {
    getApproval: async ({ activityId }: { activityId: string }) => {
      if (activityId === '2') await at.read?.();
      return { approval: approvalOf(activityId) };
    },
    rejectActivity: async ({ fingerprint }: { fingerprint: string }) => {
      voted.push(fingerprint);
      if (fingerprint === 'print-2') await at.vote?.();
      return { activity: { status: 'ACTIVITY_STATUS_REJECTED' } };
    },
  };
  const done = runBatch({
    client: client as never,
    verb: 'Reject',
    items: ['1', '2', '3'].map((id) => itemOf(approvalOf(id))),
    isStopped: () => isStopped,
    onResult: (id, result) => {
      results[id] = result;
    },
    onError: (error) => errors.push(error),
  });
  const stop = (): void => {
    isStopped = true;
  };
  return { done, voted, errors, results, stop };
}

const REJECTED = { status: 'ACTIVITY_STATUS_REJECTED' };
const lost = (): never => {
  throw new NetworkError('no answer', undefined);
};
const refusedBy = (httpStatus: number) => (): never => {
  throw new CustosError('REQUEST_NOT_AUTHORIZED', 'no', { httpStatus });
};

describe('several votes', () => {
  test('go out one after the other', async () => {
    const { done, voted, results } = attempt();
    await done;
    expect(voted).toEqual(['print-1', 'print-2', 'print-3']);
    expect(results).toEqual({ 1: REJECTED, 2: REJECTED, 3: REJECTED });
  });

  test('end where the person stops, also while a request is being read', async () => {
    const run = attempt({ read: () => run.stop() });
    await run.done;
    expect(run.voted).toEqual(['print-1']);
    expect(run.results).toEqual({ 1: REJECTED, 2: { notSent: 'you stopped' }, 3: { notSent: 'you stopped' } });
  });

  test('keep the answer to the vote that was on its way when the person stopped', async () => {
    const run = attempt({ vote: () => run.stop() });
    await run.done;
    expect(run.voted).toEqual(['print-1', 'print-2']);
    expect(run.results).toEqual({ 1: REJECTED, 2: REJECTED, 3: { notSent: 'you stopped' } });
  });

  test.each([
    ['no answer to a question', { read: lost }, /^Not sent\. No answer/, 'the service did not answer'],
    ['no answer to a vote', { vote: lost }, /may or may not have arrived/, 'the service did not answer'],
    ['a session that ended', { vote: refusedBy(401) }, /^Not sent\. Your session ended/, 'your session ended'],
    ['a refusal', { vote: refusedBy(403) }, /^This is not allowed\./, 'one before it was refused'],
  ] as const)('say what stopped them: %s', async (_, at, words, rest) => {
    const { done, errors, results } = attempt(at);
    await done;
    expect(results[1]).toEqual(REJECTED);
    expect(results[2]).toEqual({ problem: expect.stringMatching(words) });
    expect(results[3]).toEqual({ notSent: rest });
    expect(errors).toHaveLength(1);
  });
});
