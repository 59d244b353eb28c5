import { treeRoot } from '../../../core/model.ts';
import type { AttemptContext, ExecuteContext } from '../../../engine/define.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import { sha256Hex } from '../../../lib/encoding.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { OrganizationId } from '../../../lib/ids.ts';
import { RateWindowStore } from '../../../storage/rate-windows.ts';

/**
 * Counts a message with a code or a bundle, or refuses it (protocol/login 3.3). A contact counts in its whole tree, so
 * that it cannot be flooded from many sub-organizations.
 */
export async function countMessage(
  { store, actor, config, nowMs }: ExecuteContext,
  contactKey: string,
  userIdentifier?: string,
): Promise<void> {
  const rootId = treeRoot(actor.organization);
  const count = async (organizationId: OrganizationId, name: string, limit: number): Promise<void> => {
    // Without a limit it is still held until the transaction ends: codes of one contact are stored one after the other.
    const [max, windowMs] = limit === 0 ? [Number.POSITIVE_INFINITY, 1] : [limit, config.otpWindowSeconds * 1000];
    if (await store(RateWindowStore).countUp(organizationId, name, { max, windowMs, nowMs })) return;
    throw new ApiError('MAX_OTP_INITIATED', 'Max number of OTPs have been initiated', {
      retryAfterSeconds: config.otpWindowSeconds,
    });
  };
  // The same order always, so that no two wait for each other; the organization's last, which all of them share.
  await count(rootId, `message:${contactKey}`, config.otpRequests);
  if (userIdentifier) await count(rootId, `message-for:${sha256Hex(userIdentifier)}`, config.otpRequests);
  const ofOrganization = config.otpOrganizationRequests;
  if (ofOrganization > 0) {
    await count(actor.organizationId, 'messages', ofOrganization);
    // Anybody can sign up: what users of sub-organizations send on their own counts together, beside the parent's own.
    if (actor.homeId !== rootId) await count(rootId, 'messages-of-children', ofOrganization);
  }
  await store(RateWindowStore).sweepCounts(rootId, nowMs);
}

const failuresOf = (contactKey: string): string => `wrong-code:${contactKey}`;

/** Counts an attempt as wrong until it proves right; false where the contact has had too many (protocol/login 3.3). */
export async function supposeWrong(
  { store, actor, config, nowMs }: AttemptContext,
  contactKey: string,
): Promise<boolean> {
  const max = config.otpFailuresPerDay;
  if (max === 0) return true;
  return await store(RateWindowStore).countUp(treeRoot(actor.organization), failuresOf(contactKey), {
    max,
    windowMs: DAY_MS,
    nowMs,
  });
}

/** Takes back what was supposed. */
export async function provedRight({ store, actor, config }: ExecuteContext, contactKey: string): Promise<void> {
  if (config.otpFailuresPerDay === 0) return;
  await store(RateWindowStore).countDown(treeRoot(actor.organization), failuresOf(contactKey));
}
