import { ApiError } from './errors.ts';
import { LIMITS } from './limits.ts';

/**
 * Narrower than what standards allow: nothing that an address list, a header or an SMTP command could read as more than
 * one address, and nothing that cannot be seen.
 */
const ADDRESS = /^[^\s@<>()[\]\\,;:"\p{C}]{1,64}@[^\s@<>()[\]\\,;:"\p{C}]+$/u;
/** Internationalized names are taken as they are written. A single label is a name in the operator's own network. */
const LABEL = /^(?!-)[\p{L}\p{N}\p{M}-]{1,63}(?<!-)$/u;
const PHONE = /^\+[1-9][0-9]{7,14}$/;
const UNPRINTABLE = /[\p{Cc}\u2028\u2029]/u;
export const SENDER = /^(?:(.*\S)\s*<([^<>]+)>|([^<>]+))$/;
const HEADER_LENGTH_MAX = 255;
export const SENDER_NAME_DEFAULT = 'Notifications';

export function requireEmailAddress(address: string, what: string): void {
  if (address.length > LIMITS.emailLength || !ADDRESS.test(address)) {
    throw new ApiError('INVALID_EMAIL', `${what} must be an email address`);
  }
  requireDomainName(domainOf(address));
}

/** Whether it exists, and takes mail, is not looked up. */
export function requireDomainName(domain: string): void {
  if (domain.split('.').every((label) => LABEL.test(label))) return;
  throw new ApiError(
    'INVALID_FQDN',
    'the domain of an email address must be a domain name: labels of letters, digits and inner hyphens',
  );
}

export function requirePhoneNumber(number: string): void {
  if (PHONE.test(number)) return;
  throw new ApiError('REQUEST_INVALID', 'the recipient must be an E.164 phone number: + and 8 to 15 digits');
}

/** Text that becomes part of a header: a line break would begin another header. */
export function requireHeaderText(text: string, what: string): void {
  if (text.length <= HEADER_LENGTH_MAX && !UNPRINTABLE.test(text)) return;
  throw new ApiError(
    'REQUEST_INVALID',
    `${what} must be at most ${HEADER_LENGTH_MAX} characters without control characters`,
  );
}

export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1).toLowerCase();
