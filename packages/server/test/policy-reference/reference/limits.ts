// protocol/policies 12, and the ranges of numbers.

export const EXPRESSION_CODE_POINTS_MAX = 16_384;
export const NESTING_DEPTH_MAX = 64;
export const LIST_LITERAL_ELEMENTS_MAX = 1_000;
export const EVALUATION_STEPS_MAX = 100_000;

export const INT_MIN = -(2n ** 127n);
export const INT_MAX = 2n ** 127n - 1n;
export const UINT_MAX = 2n ** 256n - 1n;
