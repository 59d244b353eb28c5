import { parseAnyPublicKey } from '../../authn/public-key.ts';

/** The API key that a list is for, in the spelling under which keys are stored; absent or empty means the organization. */
export const allowlistKey = (publicKey: string | undefined, field = 'parameters.publicKey'): string | undefined =>
  publicKey === undefined || publicKey === '' ? undefined : parseAnyPublicKey(publicKey, field);
