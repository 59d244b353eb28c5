import type { Selectable } from 'kysely';
import type { OrganizationId, UserId } from '../../../lib/ids.ts';
import { insertion } from '../../../storage/statement.ts';
import { Reader } from '../../../storage/store.ts';
import type { ImportKind, ImportTarget } from '../model.ts';
import type { ImportTargetTable } from '../tables.ts';

const toTarget = (row: Selectable<ImportTargetTable>): ImportTarget => ({
  id: row.id,
  userId: row.user_id as UserId,
  kind: row.kind as ImportKind,
  targetPublicKey: row.target_public_key,
  sealedTarget: row.sealed_target,
  expiresAtMs: row.expires_at_ms,
});

const insertTargets = insertion('import-target-insert', 'import_target', [
  'organization_id',
  'id',
  'user_id',
  'kind',
  'target_public_key',
  'sealed_target',
  'expires_at_ms',
]);

/** One-time import keys. */
export class ImportReader extends Reader {
  /** A user's live targets, newest first. */
  async targets(
    organizationId: OrganizationId,
    userId: string,
    kind: ImportKind,
    nowMs: number,
  ): Promise<ImportTarget[]> {
    const rows = await this.db
      .selectFrom('import_target')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('user_id', '=', userId)
      .where('kind', '=', kind)
      .where('expires_at_ms', '>', nowMs)
      .orderBy('id', 'desc')
      .execute();
    return rows.map(toTarget);
  }
}

export class ImportStore extends ImportReader {
  static readonly writes = true;

  /** Adds targets of one user and kind, keeps the newest few of them and drops the expired ones. */
  async insertTargets(
    organizationId: OrganizationId,
    targets: readonly ImportTarget[],
    keep: number,
    nowMs: number,
  ): Promise<void> {
    const [first] = targets;
    if (first === undefined) return;
    await this.db
      .deleteFrom('import_target')
      .where('organization_id', '=', organizationId)
      .where('user_id', '=', first.userId)
      .where('kind', '=', first.kind)
      .where('expires_at_ms', '<=', nowMs)
      .execute();
    const live = await this.targets(organizationId, first.userId, first.kind, nowMs);
    const surplus = live.slice(Math.max(0, keep - targets.length)).map((old) => old.id);
    if (surplus.length > 0) {
      await this.db
        .deleteFrom('import_target')
        .where('organization_id', '=', organizationId)
        .where('id', 'in', surplus)
        .execute();
    }
    await insertTargets(
      this.db,
      targets.map((target) => ({
        organization_id: organizationId,
        id: target.id,
        user_id: target.userId,
        kind: target.kind,
        target_public_key: target.targetPublicKey,
        sealed_target: target.sealedTarget,
        expires_at_ms: target.expiresAtMs,
      })),
    );
  }

  /** True if the target was still there: it is used once. */
  async takeTarget(organizationId: OrganizationId, targetId: string): Promise<boolean> {
    const taken = await this.db
      .deleteFrom('import_target')
      .where('organization_id', '=', organizationId)
      .where('id', '=', targetId)
      .executeTakeFirst();
    return taken.numDeletedRows === 1n;
  }
}
