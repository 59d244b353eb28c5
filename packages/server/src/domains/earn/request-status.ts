import Type from 'typebox';
import type { Hex } from '../../chains/nodes/node.ts';
import type { Send } from '../../chains/send/model.ts';
import type { QueryContext } from '../../engine/define.ts';
import type { OrganizationId, SendId } from '../../lib/ids.ts';
import { IdShape } from '../../lib/shapes.ts';
import type { ReadStores } from '../../storage/stores.ts';
import { SendReader } from '../sends/store/sends.ts';
import type { EarnRequest, EarnRequestKind, EarnWrapper } from './model.ts';
import { EarnReader } from './store.ts';
import { deploymentOf, GONE } from './wrappers.ts';

const StatusShape = Type.Enum(['PENDING', 'COMPLETED', 'FAILED']);

interface RequestStatus {
  readonly status: 'PENDING' | 'COMPLETED' | 'FAILED';
  readonly txHash?: string | undefined;
  readonly error?: string;
}

/** What a query for the status of a request asks and answers; its fields are named after the kind. */
export function statusOf(kind: EarnRequestKind) {
  const [idField, hashField] = [`${kind}RequestId`, `${kind}TxHash`];
  return {
    waitsOutside: true,
    parameters: Type.Object({ organizationId: IdShape, [idField]: IdShape }),
    response: Type.Object({
      status: StatusShape,
      [hashField]: Type.Optional(Type.String()),
      error: Type.Optional(Type.String()),
    }),
    async run(context: QueryContext, parameters: Readonly<Record<string, string>>) {
      const { read, actor } = context;
      const request = await read(EarnReader).getRequest(actor.organizationId, kind, parameters[idField] ?? '');
      const { status, txHash, error } = await requestStatus(context, request);
      return { status, ...(txHash !== undefined && { [hashField]: txHash }), ...(error !== undefined && { error }) };
    },
  };
}

/** What became of a request, by the transaction that it made. */
async function requestStatus(context: QueryContext, request: EarnRequest): Promise<RequestStatus> {
  const { read } = context;
  const { organizationId, sendId, caip2, wrapperAddress } = request;
  if (sendId !== undefined) return await sendStatus(read, organizationId, sendId);
  const wrapper = await read(EarnReader).findWrapper(organizationId, caip2, wrapperAddress);
  return wrapper === undefined ? { status: 'COMPLETED' } : await deploymentStatus(context, wrapper);
}

/**
 * Whether a wrapper is on its chain, by the transaction that put it there last. One that was there before anybody asked
 * has none, and a chain can lose it all the same: then the chain is asked, while it is configured.
 */
export async function deploymentStatus(context: QueryContext, wrapper: EarnWrapper): Promise<RequestStatus> {
  const { read, nodes, config } = context;
  const { organizationId, caip2, wrapperAddress } = wrapper;
  const { sendId } = await deploymentOf(read, wrapper);
  if (sendId !== undefined) return await sendStatus(read, organizationId, sendId);
  if (!config.chains.has(caip2)) return { status: 'COMPLETED' };
  const code = await nodes.evm(caip2).code(wrapperAddress as Hex);
  return code === '0x' ? { status: 'FAILED', error: GONE } : { status: 'COMPLETED' };
}

async function sendStatus(read: ReadStores, organizationId: OrganizationId, id: SendId): Promise<RequestStatus> {
  const send = await read(SendReader).get(organizationId, id);
  const { txHash } = send;
  const ended = await endedBy(read, send);
  if (ended === undefined) return { status: 'PENDING', txHash };
  if (ended.state === 'INCLUDED') return { status: 'COMPLETED', txHash };
  return { status: 'FAILED', txHash, error: ended.error?.message ?? 'the transaction failed' };
}

/** The send that decides it: the first of those it waits for that failed, or else its own once that has ended. */
async function endedBy(read: ReadStores, send: Send): Promise<Send | undefined> {
  if (send.state === 'INCLUDED') return send;
  const before =
    send.afterId === undefined ? undefined : await read(SendReader).find(send.organizationId, send.afterId);
  const failed = before && (await endedBy(read, before));
  if (failed?.state === 'FAILED') return failed;
  return send.state === 'FAILED' ? send : undefined;
}
