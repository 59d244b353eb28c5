import { invalidField } from '../../../lib/errors.ts';

/** How long something lives: what was asked for, or else what the operator set. */
export function lifeOf(
  asked: string | undefined,
  { usual, max }: { readonly usual: number; readonly max: number },
): number {
  if (asked === undefined) return Math.min(usual, max);
  const seconds = /^[0-9]{1,12}$/.test(asked) ? Number(asked) : 0;
  if (seconds < 1 || seconds > max) {
    throw invalidField('parameters.expirationSeconds', `must be a whole number of seconds from 1 to ${max}`);
  }
  return seconds;
}
