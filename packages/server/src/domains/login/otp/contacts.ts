import type { OtpType } from '../../../core/contact.ts';
import type { AuthenticationMethod, User } from '../../../core/model.ts';
import type { DescribeContext } from '../../../engine/define.ts';
import { ApiError, invalidField } from '../../../lib/errors.ts';
import { requireEmailAddress, requirePhoneNumber } from '../../../lib/mail-address.ts';
import { UserReader } from '../../users/store/users.ts';

/** How a user's record names the contact of a code. */
export const contactOfType = (type: OtpType): 'email' | 'phone' => (type === 'OTP_TYPE_EMAIL' ? 'email' : 'phone');

/** What somebody who knows such a code has proven. */
export const methodOfType = (type: OtpType): AuthenticationMethod => ({
  type: type === 'OTP_TYPE_EMAIL' ? 'AUTHENTICATION_TYPE_EMAIL_OTP' : 'AUTHENTICATION_TYPE_SMS_OTP',
});

export function checkContact(type: OtpType, contact: string): void {
  if (type === 'OTP_TYPE_SMS') {
    requirePhoneNumber(contact);
    return;
  }
  requireEmailAddress(contact, 'parameters.contact');
  // Users are found without regard to case, and the lower case of some characters is an ordinary letter: the Kelvin
  // sign is a k. Whoever owns such a mailbox must not be taken for the owner of the other one.
  if (contact.normalize('NFKC') !== contact) {
    throw invalidField('parameters.contact', 'must be an email address in its usual characters', 'INVALID_EMAIL');
  }
}

/** The user of the organization acted on who has the contact. */
export async function userOfContact(
  { read, actor }: DescribeContext,
  contact: 'email' | 'phone',
  value: string,
): Promise<User> {
  const user = await read(UserReader).byContact(actor.organizationId, contact, value);
  if (user !== undefined) return user;
  const name = contact === 'email' ? 'email' : 'phone number';
  throw new ApiError('RESOURCE_NOT_FOUND', `no user with this ${name} in this organization`);
}
