/** `confirmed`: as deep as the chain's setting wants. `finalized`: the chain does not undo it. */
export const BALANCE_LEVELS = ['confirmed', 'finalized'] as const;

export type BalanceLevel = (typeof BALANCE_LEVELS)[number];
