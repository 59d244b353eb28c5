import Type from 'typebox';
import type { EarnRequestKind } from '../../lib/earn.ts';
import type { Send } from '../../lib/send.ts';
import type { ReadStores } from '../../storage/stores.ts';
import type { QueryContext } from '../define.ts';

export const StatusShape = Type.Enum(['PENDING', 'COMPLETED', 'FAILED']);

interface RequestStatus {
  readonly status: 'PENDING' | 'COMPLETED' | 'FAILED';
  readonly txHash: string | undefined;
  readonly error: string | undefined;
}

/** What became of a request, by the transaction that it made. */
export async function requestStatus(
  { read, actor }: QueryContext,
  kind: EarnRequestKind,
  id: string,
): Promise<RequestStatus> {
  const { sendId } = await read.earn.getRequest(actor.organizationId, kind, id);
  // It was on the chain before anybody asked.
  if (sendId === undefined) return { status: 'COMPLETED', txHash: undefined, error: undefined };
  const send = await read.sends.get(actor.organizationId, sendId);
  const ended = await endedBy(read, send);
  if (ended === undefined) return { status: 'PENDING', txHash: send.txHash, error: undefined };
  const { state, error } = ended;
  if (state === 'INCLUDED') return { status: 'COMPLETED', txHash: send.txHash, error: undefined };
  return { status: 'FAILED', txHash: send.txHash, error: error?.message ?? 'the transaction failed' };
}

/** The send that decides it: its own once that has ended, or the one that it waits for and that failed. */
async function endedBy(read: ReadStores, send: Send): Promise<Send | undefined> {
  if (send.state === 'INCLUDED' || send.state === 'FAILED') return send;
  const before = send.afterId === undefined ? undefined : await read.sends.find(send.organizationId, send.afterId);
  return before?.state === 'FAILED' ? before : undefined;
}
