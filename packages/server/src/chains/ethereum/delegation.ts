/** EIP-7702: what stands in place of code at an account that has borrowed some, before the address it is from. */
const PREFIX = '0xef0100';

export const isDelegation = (code: string): boolean => code.startsWith(PREFIX);

/** Whether an account with this code has borrowed the contract's; the address is in lower case. */
export const isDelegatedTo = (code: string, contract: string): boolean => code === `${PREFIX}${contract.slice(2)}`;

/** The contract whose code was borrowed. */
export const delegateOf = (code: string): string => `0x${code.slice(PREFIX.length)}`;
