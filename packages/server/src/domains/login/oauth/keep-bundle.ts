import { AcceptedBundleStore } from '../../../core/store/accepted-bundles.ts';
import type { ExecuteContext } from '../../../engine/define.ts';

/** In the transaction: nothing that another organization has sent may be used by this one. */
export async function keepBundle(
  { store, actor, nowMs }: ExecuteContext,
  { encryptedClientSecret }: { readonly encryptedClientSecret: string },
): Promise<void> {
  // It is hexadecimal, in which letters may be of either case.
  await store(AcceptedBundleStore).keep(actor.organizationId, [encryptedClientSecret.toLowerCase()], nowMs);
}
