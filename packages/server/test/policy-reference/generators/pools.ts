// Small vocabularies that expressions and contexts share, so that comparisons come out true often enough to matter.
import fc from 'fast-check';

export const ADDRESSES = [
  '0xab00000000000000000000000000000000000001',
  '0xcd00000000000000000000000000000000000002',
  '0x08d2b0a37f869ff76bacb5bab3278e26ab7067b7',
];

/** Hex text as a context carries it: empty for an absent recipient, `0x` for no data. */
export const HEX_TEXTS = [
  ...ADDRESSES,
  '',
  '0x',
  '0xa9059cbb',
  '0xA9059CBB00ff',
  `0xa9059cbb${'0'.repeat(24)}ab${'0'.repeat(37)}1${'0'.repeat(62)}64`,
];

/** The same, and other spellings of it, as authors write them. */
export const HEX_LITERALS = [
  ...HEX_TEXTS,
  '0xAb00000000000000000000000000000000000001',
  '0xCD00000000000000000000000000000000000002',
  '0xa9059cBB',
  '0XA9059CBB',
];

/** Hex without a prefix, as Tron and Bitcoin show it. Starts with a letter, so that it never is a decimal number. */
export const BARE_HEX_TEXTS = ['a9059cbb00', 'a9059cbb', 'ff', ''];

export const TEXTS = [
  '',
  'a',
  'A',
  'w1',
  'w2',
  'alice',
  'bob',
  'ops',
  'sec',
  'SIGN',
  'EXPORT',
  'TYPE_2',
  'Permit2',
  'héllo',
  'he\u0301llo',
  'a😀b',
  "it's",
  'back\\slash',
  '7',
  '-5',
  '1e3',
  'constructor',
  'ADDRESS_TABLE_LOOKUP',
  '金庫',
];

/** Two keys that differ in the parity of one coordinate, in every spelling, and texts that are no keys. */
const X = 'ab'.repeat(32);
const [EVEN, ODD] = [`${'c0'.repeat(31)}c4`, `${'c0'.repeat(31)}cf`];
export const KEY_TEXTS = [
  `02${X}`,
  `02${X}`.toUpperCase(),
  `04${X}${EVEN}`,
  `04${X}${EVEN}`.toUpperCase(),
  `03${X}`,
  `04${X}${ODD}`,
  `05${X}${ODD}`,
  X,
  '',
  '04',
];

/** For fields that may be read as strings although they hold hex text: no letters, so that case cannot matter. */
export const CASELESS_TEXTS = ['', '00', '12', '1234567890'];

export const SMALL_NUMBERS = [0n, 1n, 2n, 3n, 5n, 7n, 44n, 60n, 100n];

export const NUMBERS = [
  ...SMALL_NUMBERS,
  -1n,
  -5n,
  2n ** 53n,
  10n ** 18n,
  2n ** 127n - 1n,
  2n ** 127n,
  2n ** 256n - 1n,
  -(2n ** 127n),
];

/** Numbers and strings that share or do not share a value; `-0` is left out because the protocol does not place it. */
export const DECIMAL_TEXTS = ['0', '1', '5', '7', '-5', '00', '05', '+5', '5 ', '0x5', 'five', ''];

export const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

export const oneOf = <T>(values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);

/** Builds the arbitrary only when it is drawn from; recursive generators would otherwise build all branches. */
export const lazily = <T>(build: () => fc.Arbitrary<T>): fc.Arbitrary<T> => fc.constant(undefined).chain(build);

/** An alternative that is `weight` times as likely as one of weight 1, and built only when chosen. */
export const weighted = <T>(weight: number, build: () => fc.Arbitrary<T>): fc.WeightedArbitrary<T> => ({
  weight,
  arbitrary: lazily(build),
});
