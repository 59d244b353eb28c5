import type { Approval } from '../../api/approvals.ts';
import { useChains } from '../../api/chains.ts';
import { useApi } from '../../api/use-api.ts';
import { type LimitUse, limitsFor, type Moved, movedBy } from './moved.ts';
import { isOpen } from './words.ts';

/** What a request would do to a balance and to limits, where both are known. */
export interface Effects {
  readonly moved: Moved | undefined;
  readonly limits: readonly LimitUse[];
}

export function useEffects({ activity, progress, description }: Approval): Effects {
  const { sender } = description;
  const chains = useChains();
  const isKnown = chains.data?.chains.some(({ caip2 }) => caip2 === sender?.caip2) ?? false;
  // What is decided already has had its effect.
  const isAsked = isOpen(activity.status) && isKnown && description.recipients.length === 1;
  const balances = useApi(
    'getWalletAddressBalances',
    { address: sender?.address ?? '', caip2: sender?.caip2 ?? '' },
    { enabled: isAsked },
  );
  const moved = isAsked && balances.data !== undefined ? movedBy(description, balances.data.balances) : undefined;
  const controls = useApi('listVelocityControls', {}, { enabled: moved !== undefined });
  const usage = useApi('listVelocityUsage', {}, { enabled: moved !== undefined });
  const request = { type: activity.type, walletId: sender?.walletId, userId: progress.submitter?.userId };
  const limits =
    moved === undefined
      ? []
      : limitsFor(moved, request, controls.data?.velocityControls ?? [], usage.data?.usage ?? []);
  return { moved, limits };
}
