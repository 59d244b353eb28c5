import type { MfaStep } from '../../core/model.ts';
import type { ExecuteContext } from '../../engine/define.ts';
import { ApiError, invalidField } from '../../lib/errors.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import { LIMITS } from '../../lib/limits.ts';
import type { Stores } from '../../storage/stores.ts';
import { MfaStore } from './store/mfa.ts';
import { UserStore } from './store/users.ts';

/** Codes prove a contact, of which a user has one; the others may name the very credential (protocol/policies 9.1). */
const WITHOUT_ID = new Set(['AUTHENTICATION_TYPE_EMAIL_OTP', 'AUTHENTICATION_TYPE_SMS_OTP']);

export function checkSteps(
  steps: readonly { readonly any: readonly { type: string; id?: string }[] }[],
  field: string,
) {
  for (const [step, { any }] of steps.entries()) {
    for (const [index, { type, id }] of any.entries()) {
      if (id !== undefined && WITHOUT_ID.has(type)) {
        throw invalidField(`${field}.${step}.any.${index}.id`, `is not allowed for ${type}`);
      }
    }
  }
}

/** An MFA policy belongs to a user of the organization that is acted on. */
export async function requireUser({ store, actor }: ExecuteContext, userId: string): Promise<void> {
  if ((await store(UserStore).find(actor.organizationId, userId)) === undefined) {
    throw new ApiError('RESOURCE_NOT_FOUND', 'user not found in this organization');
  }
}

/** Every vote of a user reads all of them, so that they have a bound together. */
export async function requireRoom(store: Stores, organizationId: OrganizationId, userId: string): Promise<void> {
  if ((await store(MfaStore).weight(organizationId, userId)) <= LIMITS.mfaPoliciesLength) return;
  throw new ApiError(
    'RESOURCE_LIMIT_EXCEEDED',
    `the MFA policies of a user can have at most ${LIMITS.mfaPoliciesLength} bytes, each counted with 100 more`,
  );
}

export const toSteps = (steps: readonly { readonly any: readonly object[] }[]): MfaStep[] => steps as MfaStep[];
