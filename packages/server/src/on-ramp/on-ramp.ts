import type { Keyring } from '@custos/keyring';
import type { Config } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import { ApiError } from '../lib/errors.ts';
import type { Organization } from '../lib/model.ts';
import type { OnRampStatus, OnRampTransaction } from '../lib/on-ramp.ts';
import type { Storage } from '../storage/storage.ts';
import { coinbaseStatuses, partnerUserRef } from './coinbase.ts';
import { servingCredential } from './credential.ts';
import { moonpayStatuses } from './moonpay.ts';

/** A link that nobody used for so long is given up. */
const CANCELLED_AFTER_MS = 24 * 60 * 60 * 1000;
/** Providers are slow at times, and clients ask every few seconds. */
const QUESTIONS_MAX = 64;

/** What asks the providers what became of purchases. */
export interface OnRamp {
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
    const status = overall(await statuses(organization, transaction)) ?? (isOld ? 'CANCELLED' : 'PENDING');
    if (status === transaction.status) return status;
    await storage.write((store) => store.onRamp.setStatus(organization.id, transaction.id, status, nowMs));
    return status;
  }

  return {
    refresh(organization, transaction) {
      const { id, status } = transaction;
      // Only this one is for good: whoever failed, or waited for a day, may still pay by the same link.
      if (status === 'COMPLETED') return Promise.resolve(status);
      const known = running.get(id);
      if (known !== undefined) return known;
      if (running.size >= QUESTIONS_MAX) {
        throw new ApiError('UNAVAILABLE', 'too many transactions are being refreshed', { retryAfterSeconds: 1 });
      }
      const answer = refreshNow(organization, transaction).finally(() => running.delete(id));
      running.set(id, answer);
      return answer;
    },
  };
}

/** One link may be paid by several attempts: a completed one counts before those that go on, and these before failed ones. */
function overall(statuses: readonly OnRampStatus[]): OnRampStatus | undefined {
  const order: readonly OnRampStatus[] = ['COMPLETED', 'PENDING', 'FAILED'];
  return order.find((status) => statuses.includes(status));
}
