import { sha256Hex } from '../../lib/encoding.ts';
import { ApiError } from '../../lib/errors.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import { Reader } from '../../storage/store.ts';

/**
 * Who has sent which bundle that is encrypted to the service. Nothing inside such a bundle says whose it is, and lists
 * show it: whoever has seen one could otherwise make the service use its secret for another organization.
 */
export class AcceptedBundleStore extends Reader {
  static readonly writes = true;

  /** Refuses one that another organization has sent before. Its own ones an organization may send again. */
  async keep(organizationId: OrganizationId, bundles: readonly string[], nowMs: number): Promise<void> {
    // In one order, so that two requests with the same bundles do not wait for each other.
    for (const digest of bundles.map((bundle) => sha256Hex(bundle)).sort()) {
      await this.db
        .insertInto('accepted_bundle')
        .values({ digest, organization_id: organizationId, created_at_ms: nowMs })
        .onConflict((conflict) => conflict.column('digest').doNothing())
        .execute();
      const { organization_id: owner } = await this.db
        .selectFrom('accepted_bundle')
        .select('organization_id')
        .where('digest', '=', digest)
        .executeTakeFirstOrThrow();
      if (owner !== organizationId) {
        throw new ApiError('INVALID_BUNDLE', 'another organization has sent this encrypted secret: encrypt it anew');
      }
    }
  }
}
