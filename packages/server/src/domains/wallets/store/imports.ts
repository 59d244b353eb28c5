import type { Selectable } from 'kysely';
import type { OrganizationId, SecretId, UserId } from '../../../lib/ids.ts';
import type { Page, PageRequest } from '../../../lib/pagination.ts';
import { pageOfRows } from '../../../storage/organization-rows.ts';
import type { ImportTargetTable, SecretTable } from '../../../storage/schema.ts';
import { Reader } from '../../../storage/store.ts';
import { bury } from '../../../storage/tombstones.ts';
import type { KeyValue, Secret } from '../../secrets/model.ts';
import type { ImportKind, ImportTarget } from '../model.ts';

const toTarget = (row: Selectable<ImportTargetTable>): ImportTarget => ({
  id: row.id,
  userId: row.user_id as UserId,
  kind: row.kind as ImportKind,
  targetPublicKey: row.target_public_key,
  sealedTarget: row.sealed_target,
  expiresAtMs: row.expires_at_ms,
});

const toSecret = (row: Selectable<SecretTable>): Secret => ({
  id: row.id as SecretId,
  name: row.name ?? undefined,
  sealedSecret: row.sealed_secret,
  staticProperties: JSON.parse(row.static_properties) as KeyValue[],
  createdAtMs: row.created_at_ms,
});

/** One-time import keys, and the secrets that were imported as such. */
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

  async secrets(organizationId: OrganizationId, secretIds: readonly string[]): Promise<Secret[]> {
    if (secretIds.length === 0) return [];
    const rows = await this.db
      .selectFrom('secret')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('id', 'in', [...secretIds])
      .execute();
    return rows.map(toSecret);
  }

  /** Newest first. */
  async secretPage(organizationId: OrganizationId, request: PageRequest): Promise<Page<Secret>> {
    const toItems = (rows: Selectable<SecretTable>[]): Secret[] => rows.map(toSecret);
    return await pageOfRows(this.db, 'secret', organizationId, request, toItems, { order: 'desc' });
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
    await this.db
      .insertInto('import_target')
      .values(
        targets.map((target) => ({
          organization_id: organizationId,
          id: target.id,
          user_id: target.userId,
          kind: target.kind,
          target_public_key: target.targetPublicKey,
          sealed_target: target.sealedTarget,
          expires_at_ms: target.expiresAtMs,
        })),
      )
      .execute();
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

  async insertSecret(organizationId: OrganizationId, secret: Secret): Promise<void> {
    await this.db
      .insertInto('secret')
      .values({
        organization_id: organizationId,
        id: secret.id,
        name: secret.name ?? null,
        sealed_secret: secret.sealedSecret,
        static_properties: JSON.stringify(secret.staticProperties),
        created_at_ms: secret.createdAtMs,
      })
      .execute();
  }

  async deleteSecrets(organizationId: OrganizationId, secretIds: readonly string[]): Promise<void> {
    const ids = [...secretIds];
    await this.db.deleteFrom('secret').where('organization_id', '=', organizationId).where('id', 'in', ids).execute();
    await bury(this.db, organizationId, ids);
  }
}
