import { randomInt } from 'node:crypto';

const DIGITS = '0123456789';
/** Crockford's base 32: no letter that is easily taken for a digit, and no U (protocol/login 3.2). */
const LETTERS_AND_DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** A code for people to type, every one of its length as likely as any other. */
export function randomCode(length: number, alphanumeric: boolean): string {
  const alphabet = alphanumeric ? LETTERS_AND_DIGITS : DIGITS;
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
}
