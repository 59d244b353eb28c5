import type { Send, SendLane, SendProgress } from '../../chains/send/model.ts';
import { LaneLost, SendChanged, SendGone, type SendParts } from '../../chains/send/parts.ts';
import { Events } from '../../core/events.ts';
import { OrganizationStore } from '../../core/store/organizations.ts';
import type { WebhookEndpointId } from '../../lib/ids.ts';
import type { Stores } from '../../storage/stores.ts';
import { charge, isCharged } from './budget.ts';
import type { SendStatusPayload } from './status-payload.ts';
import { SendStore } from './store/sends.ts';

/**
 * Writes down how far a send is, if it is stored as `send` has it; what follows builds on the answer, never on `send`
 * again. In the same transaction a new state, or a new block, is told to webhooks, and what the
 * operator pays is counted; throws OverBudget where that is too much.
 */
export async function saveProgress(
  parts: SendParts,
  lane: SendLane,
  send: Send,
  progress: SendProgress,
): Promise<Send> {
  const { storage, clock, webhooks, observe } = parts;
  const nowMs = clock();
  const after: Send = { ...send, ...progress, updatedAtMs: nowMs };
  const told = await storage.write(async (store) => {
    const outcome = await store(SendStore).progress(lane, send, progress, nowMs);
    if (outcome === 'lane-lost') throw new LaneLost(`lane ${lane.lane}`);
    if (outcome === 'send-gone') throw new SendGone(`send ${send.id}`);
    if (outcome === 'send-changed') throw new SendChanged(`send ${send.id} is not as it was read`);
    return await recordProgress(store, parts, send, after);
  });
  if (told.length > 0) webhooks.wake(told);
  if (after.state !== send.state) observe.send(after, after.state);
  return after;
}

/**
 * What goes with how far a send is, in the same transaction: events, and what the operator pays. It answers with the endpoints
 * that hear of it. `isPaid`: it was sent already, so that no limit keeps it from being counted.
 */
export async function recordProgress(
  store: Stores,
  { chains, newId }: Pick<SendParts, 'chains' | 'newId'>,
  before: Send,
  after: Send,
  isPaid = false,
): Promise<readonly WebhookEndpointId[]> {
  const nowMs = after.updatedAtMs;
  const chain = chains.find(({ caip2 }) => caip2 === after.caip2);
  const isChanged = after.state !== before.state || after.block?.hash !== before.block?.hash;
  const isNews = isChanged && after.state !== 'INITIALIZED';
  if (!isNews && after.isOpen && !isCharged(after)) return [];
  const organization = await store(OrganizationStore).find(after.organizationId);
  if (organization === undefined) return [];
  if (chain !== undefined && isCharged(after)) {
    await charge(store, { chain, payee: organization, isPaid }, before, after, nowMs);
  }
  if (organization.deletedAtMs !== undefined) {
    // It was kept for those who share its lane, and nobody hears of it.
    if (!after.isOpen) await store(SendStore).delete(after);
    return [];
  }
  if (!isNews) return [];
  const { id, parentId } = organization;
  const payload = statusPayload(after, parentId ?? id, nowMs);
  const { status, caip2 } = payload.msg;
  const body = JSON.stringify(payload);
  const happened = {
    type: 'SEND_TRANSACTION_STATUS_UPDATES',
    facts: { statuses: status, caip2 },
    activityId: after.activityId,
    bodyFor: () => body,
  } as const;
  return await store(Events).announce(happened, { id, parentId }, newId, nowMs);
}

function statusPayload(send: Send, parentOrganizationId: string, nowMs: number): SendStatusPayload {
  const { id, state, caip2, txHash, block, error } = send;
  return {
    type: 'transaction:status',
    organizationId: send.organizationId,
    parentOrganizationId,
    msg: {
      sendTransactionStatusId: id,
      activityId: send.activityId,
      status: state as SendStatusPayload['msg']['status'],
      caip2,
      // Another one for each change: it is part of what is stored, so that repeated deliveries have the same.
      idempotencyKey: `${id}:${state}:${nowMs}`,
      timestamp: Math.floor(nowMs / 1000),
      ...(txHash !== undefined && block !== undefined && { txHash }),
      ...(error !== undefined && { error }),
    },
  };
}
