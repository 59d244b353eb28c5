import { networkOf } from '../../chains/networks.ts';
import type { Send, SendPurpose, SendRequest } from '../../chains/send/model.ts';
import type { ChainSettings } from '../../chains/settings.ts';
import type { DescribeContext, ExecuteContext } from '../../engine/define.ts';
import { ApiError } from '../../lib/errors.ts';
import type { SendId } from '../../lib/ids.ts';
import { OperatorKeyReader } from './store/operator-keys.ts';
import { SendStore } from './store/sends.ts';

interface NewSend {
  readonly id: SendId;
  readonly chain: ChainSettings;
  /** As it is written on the chain: hex in any case, or base58. */
  readonly sender: string;
  /** Who pays, where that is not the sender. */
  readonly payer?: string;
  readonly purpose: SendPurpose;
  readonly request: SendRequest;
  readonly afterId?: SendId;
}

/** Makes a send part of the activity's transaction; it leaves after the commit. */
export async function insertSend(context: ExecuteContext, fresh: NewSend): Promise<Send> {
  const { store, actor, activityId, nowMs, enters } = context;
  const { id, chain, sender, payer = sender, purpose, request, afterId } = fresh;
  const { canonical } = networkOf(chain.caip2).address;
  const send: Send = {
    organizationId: actor.organizationId,
    id,
    activityId,
    caip2: chain.caip2,
    sender: canonical(sender),
    lane: canonical(payer),
    purpose,
    request,
    afterId,
    state: 'INITIALIZED',
    nonce: undefined,
    attempts: [],
    txHash: undefined,
    block: undefined,
    error: undefined,
    isOpen: true,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
  await store(SendStore).insert(send);
  enters(send);
  return send;
}

/** The address that pays for sponsored sends; refuses where the operator has set none. */
export function sponsorOf(chain: ChainSettings): string {
  const { caip2, operatorAddress } = chain;
  if (operatorAddress === undefined) {
    throw new ApiError(
      'SPONSORSHIP_NOT_CONFIGURED',
      `sponsored sends on ${caip2} need an operator key: operatorAddress in CUSTOS_CHAINS, and \`custos chains import-key\``,
    );
  }
  const missing = networkOf(caip2).sponsorSettings.find((setting) => chain[setting] === undefined);
  if (missing !== undefined) {
    throw new ApiError('SPONSORSHIP_NOT_CONFIGURED', `sponsored sends on ${caip2} need ${missing} in CUSTOS_CHAINS`);
  }
  return operatorAddress;
}

/** The same, and that its key is there: what nobody could pay for is not accepted. */
export async function requireSponsor({ read }: DescribeContext, chain: ChainSettings): Promise<string> {
  const { caip2 } = chain;
  const operator = sponsorOf(chain);
  if ((await read(OperatorKeyReader).operatorKey(caip2, operator)) === undefined) {
    throw new ApiError(
      'SPONSORSHIP_NOT_CONFIGURED',
      `the key of the operator ${operator} is not there: \`custos chains import-key --chain ${caip2}\``,
    );
  }
  return operator;
}
