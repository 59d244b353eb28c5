import type { VerificationToken } from '@custos/keyring';
import { contactKindOf, requireIssuedFor, useOf } from '../../authn/identity/tokens.ts';
import type { Place } from '../../core/place.ts';
import { UsedTokenStore } from '../../core/store/used-tokens.ts';
import type { DescribeContext, ExecuteContext } from '../../engine/define.ts';
import { ApiError } from '../../lib/errors.ts';
import { markVerified } from './contacts.ts';

/** A verification token with what it proves. */
export interface ProvenContact {
  readonly token: VerificationToken;
  readonly kind: 'email' | 'phone';
}

/** Reads a token that may be used in this organization. */
export function readProvenContact({ tokens, actor, nowMs }: DescribeContext, text: string): ProvenContact {
  const token = tokens.verification(text, nowMs);
  requireIssuedFor(token, actor.organization);
  return { token, kind: contactKindOf(token) };
}

/** Whether the token proves this contact, which is normal already. */
export const proves = (
  { token, kind }: ProvenContact,
  contact: { readonly email: string | undefined; readonly phone: string | undefined },
): boolean => contact[kind]?.toLowerCase() === token.contact.toLowerCase();

/**
 * Uses the token up for one purpose (protocol/login 4.3), and marks the contact, unless another organization of the
 * tree has it.
 */
export async function claimContact(
  { store, activityId, nowMs }: ExecuteContext,
  place: Place,
  userId: string,
  { token, kind }: ProvenContact,
  purpose: 'signup' | 'contact',
): Promise<void> {
  const { issuerId, tokenId, expiresAtMs } = useOf(token);
  if (!(await store(UsedTokenStore).useToken(issuerId, { tokenId, purpose, activityId, expiresAtMs }, nowMs))) {
    throw new ApiError('INVALID_VERIFICATION_TOKEN', 'this verification token has already been used for this');
  }
  await markVerified(store, place, userId, kind, 'refuse', nowMs);
}
