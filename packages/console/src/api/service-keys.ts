import { CustosError, fetchServiceKeys } from '@custos/sdk';
import { watchedFetch } from './connection.ts';

/** A key that was replaced because somebody else has it is not trusted for longer. */
const KEPT_MS = 5 * 60_000;

let signers: { readonly keys: Promise<string[]>; readonly atMs: number } | undefined;

/**
 * The keys that sign bundles of imports and exports, of which there are several while one is being replaced. This page
 * comes from the same service, so it trusts that connection already.
 */
export function bundleSigner(): Promise<string[]> {
  if (signers !== undefined && Date.now() - signers.atMs < KEPT_MS) return signers.keys;
  const keys = fetchServiceKeys(location.origin, { fetch: watchedFetch })
    .then((all) => {
      const found = all.filter(({ role }) => role === 'bundle-signer').map(({ publicKey }) => publicKey);
      if (found.length > 0) return found;
      throw new CustosError('UNEXPECTED_ANSWER', 'the service names no key for its bundles');
    })
    .catch((error: unknown) => {
      signers = undefined;
      throw error;
    });
  signers = { keys, atMs: Date.now() };
  return keys;
}
