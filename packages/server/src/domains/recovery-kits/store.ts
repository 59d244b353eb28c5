import type { Selectable } from 'kysely';
import { ApiError } from '../../lib/errors.ts';
import type { ActivityId, OrganizationId, RecoveryKitId } from '../../lib/ids.ts';
import type { Page, PageRequest } from '../../lib/pagination.ts';
import { partial } from '../../storage/integrity/partial.ts';
import { findRow, pageOfRows } from '../../storage/organization-rows.ts';
import { insertion } from '../../storage/statement.ts';
import { Reader } from '../../storage/store.ts';
import { bury } from '../../storage/tombstones.ts';
import type { RecoveryKit } from './model.ts';
import type { RecoveryKitTable } from './tables.ts';

const toKit = (row: Selectable<RecoveryKitTable>): RecoveryKit => ({
  id: row.id as RecoveryKitId,
  activityId: row.activity_id as ActivityId,
  recipients: JSON.parse(row.recipients) as string[],
  sha256: row.sha256,
  sizeBytes: row.size_bytes,
  pieceCount: row.piece_count,
  walletCount: row.wallet_count,
  privateKeyCount: row.private_key_count,
  createdAtMs: row.created_at_ms,
});

const insertKits = insertion('recovery-kit-insert', 'recovery_kit', [
  'organization_id',
  'id',
  'activity_id',
  'recipients',
  'sha256',
  'size_bytes',
  'piece_count',
  'wallet_count',
  'private_key_count',
  'created_at_ms',
]);
const insertPieces = insertion('recovery-kit-piece-insert', 'recovery_kit_piece', [
  'organization_id',
  'kit_id',
  'position',
  'content',
]);

const kitNotFound = (): ApiError => new ApiError('RESOURCE_NOT_FOUND', 'recovery kit not found in this organization');

export class RecoveryKitReader extends Reader {
  async get(organizationId: OrganizationId, kitId: string): Promise<RecoveryKit> {
    const row = await findRow(this.db, 'recovery_kit', organizationId, kitId);
    if (row === undefined) throw kitNotFound();
    return toKit(row);
  }

  /** Newest first. */
  async page(organizationId: OrganizationId, request: PageRequest): Promise<Page<RecoveryKit>> {
    return await pageOfRows(this.db, 'recovery_kit', organizationId, request, (rows) => rows.map(toKit), {
      order: 'desc',
    });
  }

  /** A kit that is being deleted has its last pieces no more. */
  async piece(organizationId: OrganizationId, kitId: string, position: number): Promise<Uint8Array> {
    const row = await this.db
      .selectFrom('recovery_kit_piece')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('kit_id', '=', kitId)
      .where('position', '=', position)
      .executeTakeFirst();
    if (row === undefined) throw kitNotFound();
    return row.content;
  }
}

export class RecoveryKitStore extends RecoveryKitReader {
  static readonly writes = true;

  async insert(organizationId: OrganizationId, kit: RecoveryKit, pieces: readonly Uint8Array[]): Promise<void> {
    const row = {
      organization_id: organizationId,
      id: kit.id,
      activity_id: kit.activityId,
      recipients: JSON.stringify(kit.recipients),
      sha256: kit.sha256,
      size_bytes: kit.sizeBytes,
      piece_count: kit.pieceCount,
      wallet_count: kit.walletCount,
      private_key_count: kit.privateKeyCount,
      created_at_ms: kit.createdAtMs,
    };
    await insertKits(this.db, [row]);
    // One at a time, so that no statement has all of them.
    for (const [position, content] of pieces.entries()) {
      await insertPieces(this.db, [{ organization_id: organizationId, kit_id: kit.id, position, content }]);
    }
  }

  /** Those of the organization but for so many of the newest. */
  async olderThanNewest(organizationId: OrganizationId, count: number): Promise<string[]> {
    const rows = await this.db
      .selectFrom('recovery_kit')
      .modifyFront(partial('ids of kits, which are then deleted'))
      .select('id')
      .where('organization_id', '=', organizationId)
      .orderBy('id', 'desc')
      .execute();
    return rows.slice(count).map(({ id }) => id);
  }

  async delete(organizationId: OrganizationId, kitIds: readonly string[]): Promise<void> {
    if (kitIds.length === 0) return;
    const ids = [...kitIds];
    await this.db
      .deleteFrom('recovery_kit_piece')
      .where('organization_id', '=', organizationId)
      .where('kit_id', 'in', ids)
      .execute();
    await this.db
      .deleteFrom('recovery_kit')
      .where('organization_id', '=', organizationId)
      .where('id', 'in', ids)
      .execute();
    await bury(this.db, organizationId, ids);
  }
}
