import type { Keyring } from '@custos/keyring';
import type { Config } from '../../config/config.ts';
import type { Organization } from '../../core/model.ts';
import { boundedMap } from '../../lib/bounded-map.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Storage } from '../../storage/storage.ts';
import { coinbaseStatuses, partnerUserRef } from './coinbase.ts';
import { servingCredential } from './credential.ts';
import type { OnRampStatus, OnRampTransaction } from './model.ts';
import { moonpayStatuses } from './moonpay.ts';
import { OnRampStore } from './store.ts';
import { type InTurn, takeTurns } from './turns.ts';

/** A link that nobody used for so long is given up. */
const CANCELLED_AFTER_MS = 24 * 60 * 60 * 1000;
/** For so long an answer serves whoever asks again; several devices may follow the same purchase. */
const FRESH_MS = 2000;
const ANSWERS_MAX = 4096;

/** What asks the providers what became of purchases. */
export interface OnRamp {
  /** For every question to a provider, so that there are not too many at the same time. */
  readonly inTurn: InTurn;
  /** The status that the provider tells now. It is kept, also for a query: nothing changes that anybody decided. */
  refresh(organization: Organization, transaction: OnRampTransaction): Promise<OnRampStatus>;
}

export interface OnRampParts {
  readonly config: Config;
  readonly storage: Storage;
  readonly keyring: Keyring;
  readonly clock: Clock;
}

export function createOnRamp({ config, storage, keyring, clock }: OnRampParts): OnRamp {
  const running = new Map<string, Promise<OnRampStatus>>();
  const answers = boundedMap<{ readonly status: OnRampStatus; readonly atMs: number }>(ANSWERS_MAX);
  const inTurn = takeTurns();

  async function statuses(organization: Organization, transaction: OnRampTransaction): Promise<OnRampStatus[]> {
    const { id, provider, isSandbox } = transaction;
    const { credential, holder } = await servingCredential(storage.read, organization, transaction);
    if (provider === 'FIAT_ON_RAMP_PROVIDER_MOONPAY') {
      return await moonpayStatuses(config, credential.publishableApiKey, id);
    }
    const access = { config, keyring, credential, holder, nowMs: clock() };
    return await coinbaseStatuses(access, partnerUserRef(id, isSandbox));
  }

  async function refreshNow(organization: Organization, transaction: OnRampTransaction): Promise<OnRampStatus> {
    const nowMs = clock();
    const isOld = nowMs - transaction.createdAtMs >= CANCELLED_AFTER_MS;
    const told = await inTurn(organization.id, () => statuses(organization, transaction));
    const now = overall(told) ?? (isOld ? 'CANCELLED' : 'PENDING');
    // Whoever was told of a failure has stopped asking: only a purchase that succeeded after all undoes it.
    const status = transaction.status === 'FAILED' && now !== 'COMPLETED' ? 'FAILED' : now;
    if (status !== transaction.status) {
      await storage.write((store) => store(OnRampStore).setStatus(organization.id, transaction.id, status, nowMs));
    }
    answers.set(transaction.id, { status, atMs: clock() });
    return status;
  }

  return {
    inTurn,
    refresh(organization, transaction) {
      const { id, status } = transaction;
      // Only this one is for good: whoever failed, or waited for a day, may still pay by the same link.
      if (status === 'COMPLETED') return Promise.resolve(status);
      // Nobody outside is asked for an organization that is held after a restore.
      if (storage.fence.holds(organization)) return Promise.resolve(status);
      const known = running.get(id);
      if (known !== undefined) return known;
      const last = answers.get(id);
      if (last !== undefined && Math.abs(clock() - last.atMs) < FRESH_MS) return Promise.resolve(last.status);
      const answer = refreshNow(organization, transaction).finally(() => running.delete(id));
      running.set(id, answer);
      return answer;
    },
  };
}

/**
 * One link may be paid by several attempts: a completed one counts before those that go on, and these before failed
 * ones.
 */
function overall(statuses: readonly OnRampStatus[]): OnRampStatus | undefined {
  const order: readonly OnRampStatus[] = ['COMPLETED', 'PENDING', 'FAILED'];
  return order.find((status) => statuses.includes(status));
}

declare module '../../engine/services.ts' {
  interface QueryServices {
    readonly onRamp: OnRamp;
  }
  interface PrepareServices {
    readonly onRamp: Pick<OnRamp, 'inTurn'>;
  }
}
