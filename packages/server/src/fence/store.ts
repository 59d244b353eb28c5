import { type Selectable, sql } from 'kysely';
import { amendOne } from '../storage/integrity/amend.ts';
import { oneByOne, readEach } from '../storage/integrity/one-by-one.ts';
import type { OrganizationTable, RestorationTable } from '../storage/schema.ts';
import { insertion } from '../storage/statement.ts';
import { Reader } from '../storage/store.ts';

/** One restore of this database from a backup. */
export interface Restoration {
  readonly id: string;
  readonly backupId: string;
  /** What happened between the snapshot and the restore is not in the database. */
  readonly snapshotAtMs: number;
  readonly restoredAtMs: number;
  readonly exhaustsWindows: boolean;
  /** Undefined while the fence is up. */
  readonly acceptedAtMs: number | undefined;
  readonly acceptedBy: string | undefined;
}

/** Who lifted the fence, and for whom. */
export interface Acceptance {
  readonly restorationId: string;
  /** Undefined for all organizations. */
  readonly organizationId: string | undefined;
  readonly acceptedBy: string;
  readonly acceptedAtMs: number;
}

/** What brings the table: a program that does not know it knows no fence. */
const MIGRATION = '0029-restorations';

const toRestoration = (row: Selectable<RestorationTable>): Restoration => ({
  id: row.id,
  backupId: row.backup_id,
  snapshotAtMs: row.snapshot_at_ms,
  restoredAtMs: row.restored_at_ms,
  exhaustsWindows: row.exhausts_windows === 1,
  acceptedAtMs: row.accepted_at_ms ?? undefined,
  acceptedBy: row.accepted_by ?? undefined,
});

const insertRestorations = insertion('restoration-insert', 'restoration', [
  'id',
  'backup_id',
  'snapshot_at_ms',
  'restored_at_ms',
  'exhausts_windows',
  'accepted_at_ms',
  'accepted_by',
]);

export class RestorationReader extends Reader {
  /** All of them, the newest last: there are few, and what was issued before any of them is refused for ever. */
  async all(): Promise<Restoration[]> {
    const rows = await this.db.selectFrom('restoration').selectAll().orderBy('restored_at_ms').orderBy('id').execute();
    return rows.map(toRestoration);
  }

  /** Whether `refuseOlderPrograms` was called once. */
  async wasRestored(): Promise<boolean> {
    const { rows } = await sql<{ compatibility: string | null }>`
      SELECT compatibility FROM schema_migration WHERE name = ${MIGRATION}`.execute(this.db);
    return rows[0]?.compatibility === 'contract';
  }

  /** As they stand in the database, for the operator: nobody has verified them. */
  async shown(): Promise<Restoration[]> {
    const { rows } = await sql<Selectable<RestorationTable>>`
      SELECT /* partial: shown to the operator */ id, backup_id, snapshot_at_ms, restored_at_ms, exhausts_windows,
        accepted_at_ms, accepted_by
      FROM restoration ORDER BY restored_at_ms, id`.execute(this.db);
    return rows.map(toRestoration);
  }

  async countChildren(organizationId: string): Promise<number> {
    const { rows } = await sql<{ count: number | string }>`
      SELECT /* partial: a number to be shown */ count(*) AS count FROM organization
      WHERE parent_id = ${organizationId} AND deleted_at_ms IS NULL`.execute(this.db);
    return Number(rows[0]?.count ?? 0);
  }

  /** Ids of organizations whose rows say that a restoration was accepted for them; nobody has verified them. */
  async candidatesFor(restorationId: string): Promise<string[]> {
    const { rows } = await sql<{ id: string }>`
      SELECT /* partial: which rows are read whole when these change */ id FROM organization
      WHERE accepted_restoration = ${restorationId} ORDER BY id`.execute(this.db);
    return rows.map(({ id }) => id);
  }

  /** For whom a restoration was accepted. A row that no service wrote accepts nothing. */
  async acceptedFor(restorationId: string): Promise<string[]> {
    const { rows } = await sql<Selectable<OrganizationTable>>`
      SELECT ${oneByOne('an organization that is not genuine keeps no other behind the fence')} * FROM organization
      WHERE accepted_restoration = ${restorationId}`.execute(this.db);
    const genuine = readEach(this.db, { table: 'organization' }, rows, (row) => row).items;
    return genuine.filter((row) => row.accepted_restoration === restorationId).map(({ id }) => id);
  }
}

export class RestorationStore extends RestorationReader {
  static readonly writes = true;

  async insert(restoration: Restoration): Promise<void> {
    await insertRestorations(this.db, [
      {
        id: restoration.id,
        backup_id: restoration.backupId,
        snapshot_at_ms: restoration.snapshotAtMs,
        restored_at_ms: restoration.restoredAtMs,
        exhausts_windows: restoration.exhaustsWindows ? 1 : 0,
        accepted_at_ms: restoration.acceptedAtMs ?? null,
        accepted_by: restoration.acceptedBy ?? null,
      },
    ]);
  }

  /** False where it was accepted before. */
  async accept(id: string, acceptedBy: string, nowMs: number): Promise<boolean> {
    let isNew = false;
    await amendOne(this.db, 'restoration', { id }, (row) => {
      isNew = row.accepted_at_ms === null;
      return isNew ? { accepted_at_ms: nowMs, accepted_by: acceptedBy } : undefined;
    });
    return isNew;
  }

  /** For one organization, and with it for its sub-organizations. */
  async acceptFor(organizationId: string, restorationId: string): Promise<void> {
    await amendOne(this.db, 'organization', { id: organizationId }, () => ({ accepted_restoration: restorationId }));
  }

  /** For people: who accepted a restore for whom. What is accepted the rows of restorations and organizations say. */
  async recordAcceptance({ restorationId, organizationId, ...record }: Acceptance): Promise<void> {
    const name = `restore-accepted:${restorationId}:${organizationId ?? 'all'}`;
    const value = JSON.stringify(record);
    await this.db
      .insertInto('deployment')
      .values({ name, value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
      .execute();
  }

  /** Programs that know no fence would open the database, and pay again what was paid after the snapshot. */
  async refuseOlderPrograms(): Promise<void> {
    await sql`UPDATE schema_migration SET compatibility = 'contract' WHERE name = ${MIGRATION}`.execute(this.db);
  }
}
