/** The API key that a list is for, in the spelling under which keys are stored; absent or empty means the organization. */
export const allowlistKey = (publicKey: string | undefined): string | undefined =>
  publicKey === undefined || publicKey === '' ? undefined : publicKey.toLowerCase();
