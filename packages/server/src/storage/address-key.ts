/** EVM addresses are the same in any case; every other text is compared as it is. */
export const addressKey = (address: string): string =>
  /^0x[0-9a-fA-F]{40}$/.test(address) ? address.toLowerCase() : address;
