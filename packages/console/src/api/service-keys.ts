import { CustosError, fetchServiceKeys } from '@custos/sdk';
import { watchedFetch } from './connection.ts';

let signer: Promise<string> | undefined;

/**
 * The key that signs bundles of imports and exports. Asked once for each visit: this page comes from the same service, so
 * it trusts that connection already.
 */
export function bundleSigner(): Promise<string> {
  signer ??= fetchServiceKeys(location.origin, { fetch: watchedFetch })
    .then((keys) => {
      const key = keys.find(({ role }) => role === 'bundle-signer')?.publicKey;
      if (key === undefined) throw new CustosError('UNEXPECTED_ANSWER', 'the service names no key for its bundles');
      return key;
    })
    .catch((error: unknown) => {
      signer = undefined;
      throw error;
    });
  return signer;
}
