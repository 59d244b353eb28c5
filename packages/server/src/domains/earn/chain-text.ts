const LENGTH_MAX = 100;
const UNTRUSTED_MAX = 10_000;
// They would let a contract write lines of its own into a page, a log or a terminal, or turn the text around.
const UNFIT = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]+/gu;

/** A name that a contract gave itself, fit to be shown. */
export function chainText(text: string | undefined): string {
  if (text === undefined) return '';
  const clean = text.slice(0, UNTRUSTED_MAX).replace(UNFIT, '').trim();
  return [...clean].slice(0, LENGTH_MAX).join('').trim();
}

const DECIMALS_MAX = 36;

/** How many decimals a token says it has; undefined where that cannot be. */
export const tokenDecimals = (decimals: number | undefined): number | undefined =>
  decimals === undefined || decimals > DECIMALS_MAX ? undefined : decimals;

const NOBODY = `0x${'0'.repeat(40)}`;

/** An address in lower case; undefined for the address that stands for none. */
export const someAddress = (address: string | undefined): string | undefined =>
  address === undefined || address.toLowerCase() === NOBODY ? undefined : address.toLowerCase();
