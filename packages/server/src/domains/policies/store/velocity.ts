import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { VelocityAggregation, VelocityControl, VelocityDataSource } from '../../../core/model.ts';
import type { VelocityGroup } from '../../../core/rules.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { ActivityId, OrganizationId, VelocityControlId } from '../../../lib/ids.ts';
import type { Page, PageRequest } from '../../../lib/pagination.ts';
import type { AuthorityVersions } from '../../../storage/authority.ts';
import { amend } from '../../../storage/integrity/amend.ts';
import { allOfOrganization } from '../../../storage/integrity/owned-rows.ts';
import type { OwnedSets } from '../../../storage/integrity/owned-sets.ts';
import { findRow, pageOfRows } from '../../../storage/organization-rows.ts';
import { insertion } from '../../../storage/statement.ts';
import { Reader, type Transaction } from '../../../storage/store.ts';
import { bury } from '../../../storage/tombstones.ts';
import type { VelocityControlTable, VelocityEntryTable } from '../tables.ts';

const toControl = (row: Selectable<VelocityControlTable>): VelocityControl => ({
  id: row.id as VelocityControlId,
  name: row.name,
  identifier: row.identifier,
  dataSource: JSON.parse(row.data_source) as VelocityDataSource,
  aggregation: JSON.parse(row.aggregation) as VelocityAggregation,
  refuseUncounted: row.refuse_uncounted === 1,
  createdAtMs: row.created_at_ms,
  updatedAtMs: row.updated_at_ms,
});

const notFound = (): ApiError => new ApiError('RESOURCE_NOT_FOUND', 'velocity control not found in this organization');

const insertControls = insertion('velocity-control-insert', 'velocity_control', [
  'organization_id',
  'id',
  'name',
  'identifier',
  'data_source',
  'aggregation',
  'refuse_uncounted',
  'created_at_ms',
  'updated_at_ms',
]);
const insertEntries = insertion('velocity-entry-insert', 'velocity_entry', [
  'organization_id',
  'control_id',
  'group_key',
  'id',
  'activity_id',
  'amount',
  'total',
  'created_at_ms',
]);

export interface ControlKey {
  readonly organizationId: OrganizationId;
  readonly controlId: VelocityControlId;
}

export class VelocityReader extends Reader {
  async get(organizationId: OrganizationId, id: string): Promise<VelocityControl> {
    const row = await findRow(this.db, 'velocity_control', organizationId, id);
    if (row === undefined) throw notFound();
    return toControl(row);
  }

  async page(organizationId: OrganizationId, request: PageRequest): Promise<Page<VelocityControl>> {
    return await pageOfRows(this.db, 'velocity_control', organizationId, request, (rows) => rows.map(toControl), {
      large: ['name', 'identifier', 'data_source', 'aggregation'],
    });
  }

  async all(organizationId: OrganizationId): Promise<VelocityControl[]> {
    return (await allOfOrganization(this.db, 'velocity_control', organizationId)).map(toControl);
  }

  /** What the group has used since a moment, that moment excluded; undefined for the whole past. */
  async used(organizationId: OrganizationId, group: VelocityGroup, sinceMs: number | undefined): Promise<bigint> {
    const latest = await this.#total(organizationId, group, undefined);
    return sinceMs === undefined ? latest : latest - (await this.#total(organizationId, group, sinceMs));
  }

  /**
   * What each group of a control has used since a moment, that moment excluded, or ever; in the order of their keys. The
   * totals are those that `used` reads.
   */
  async usage(
    organizationId: OrganizationId,
    controlId: VelocityControlId,
    sinceMs: number | undefined,
    limit: number,
  ): Promise<{ readonly groupKey: string; readonly used: bigint }[]> {
    const ofControl = sql`organization_id = ${organizationId} AND control_id = ${controlId}`;
    const next = (after: RawBuilder<unknown>) =>
      sql`(SELECT min(group_key) FROM velocity_entry WHERE ${ofControl} AND group_key > ${after})`;
    const total = (until: RawBuilder<unknown>) => sql`(SELECT total FROM velocity_entry AS entry WHERE ${ofControl}
      AND entry.group_key = found.group_key ${until} ORDER BY entry.created_at_ms DESC, entry.id DESC LIMIT 1)`;
    const before = sinceMs === undefined ? sql`NULL` : total(sql`AND entry.created_at_ms <= ${sinceMs}`);
    const { rows } = await sql<{ group_key: string; latest: string; earlier: string | null }>`
      /* partial: usage to be shown; limits read whole entries */ WITH RECURSIVE found (group_key) AS (
        SELECT ${next(sql`''`)}
        UNION ALL SELECT ${next(sql`found.group_key`)} FROM found WHERE found.group_key IS NOT NULL)
      SELECT group_key, ${total(sql``)} AS latest, ${before} AS earlier
      FROM found WHERE group_key IS NOT NULL LIMIT ${limit}`.execute(this.db);
    return rows.map((row) => ({ groupKey: row.group_key, used: BigInt(row.latest) - BigInt(row.earlier ?? 0) }));
  }

  /** Controls of any organization, in the order of their keys, behind one of them. */
  async controlsBehind(last: ControlKey | undefined, limit: number): Promise<ControlKey[]> {
    const behind = last && sql`WHERE (organization_id, id) > (${last.organizationId}, ${last.controlId})`;
    const { rows } =
      await sql<ControlKey>`SELECT /* partial: ids */ organization_id AS "organizationId", id AS "controlId"
      FROM velocity_control ${behind ?? sql``} ORDER BY organization_id, id LIMIT ${limit}`.execute(this.db);
    return rows;
  }

  /**
   * Groups of a control behind one of them, and whether they have entries after a moment. Each is found with one step in
   * the index, however many entries there are.
   */
  async groupsBehind(
    { organizationId, controlId }: ControlKey,
    last: string,
    afterMs: number,
    limit: number,
  ): Promise<{ readonly groupKey: string; readonly hasLater: boolean }[]> {
    const ofControl = sql`organization_id = ${organizationId} AND control_id = ${controlId}`;
    const next = (after: RawBuilder<unknown>) =>
      sql`(SELECT min(group_key) FROM velocity_entry WHERE ${ofControl} AND group_key > ${after})`;
    const { rows } = await sql<{ group_key: string; has_later: number }>`/* partial: which groups to read */
      WITH RECURSIVE found (group_key) AS (
        SELECT ${next(sql`${last}`)}
        UNION ALL SELECT ${next(sql`found.group_key`)} FROM found WHERE found.group_key IS NOT NULL)
      SELECT group_key, CASE WHEN EXISTS (SELECT 1 FROM velocity_entry AS entry WHERE ${ofControl}
        AND entry.group_key = found.group_key AND entry.created_at_ms > ${afterMs}) THEN 1 ELSE 0 END AS has_later
      FROM found WHERE group_key IS NOT NULL LIMIT ${limit}`.execute(this.db);
    return rows.map((row) => ({ groupKey: row.group_key, hasLater: row.has_later === 1 }));
  }

  /** The running total after the last entry that is not newer than a moment. */
  async #total(organizationId: OrganizationId, group: VelocityGroup, untilMs: number | undefined): Promise<bigint> {
    return BigInt((await this.lastEntry(organizationId, group, untilMs))?.total ?? 0);
  }

  /** The newest one that counts until a moment. */
  protected async lastEntry(
    organizationId: OrganizationId,
    group: VelocityGroup,
    untilMs?: number,
  ): Promise<Selectable<VelocityEntryTable> | undefined> {
    const { rows } = await sql<Selectable<VelocityEntryTable>>`SELECT * FROM velocity_entry
      WHERE organization_id = ${organizationId} AND control_id = ${group.controlId} AND group_key = ${group.groupKey}
      ${untilMs === undefined ? sql`` : sql`AND created_at_ms <= ${untilMs}`}
      ORDER BY created_at_ms DESC, id DESC LIMIT 1`.execute(this.db);
    return rows[0];
  }
}

export class VelocityStore extends VelocityReader {
  static readonly writes = true;
  readonly #authority: AuthorityVersions;
  readonly #owned: OwnedSets;

  constructor(transaction: Transaction) {
    super(transaction);
    this.#authority = transaction.authority;
    this.#owned = transaction.owned;
  }

  async insert(organizationId: OrganizationId, control: VelocityControl): Promise<void> {
    await this.#authority.alters(organizationId, 'rules');
    await this.#owned.open('velocity_control', organizationId);
    const row = {
      organization_id: organizationId,
      id: control.id,
      name: control.name,
      identifier: control.identifier,
      data_source: JSON.stringify(control.dataSource),
      aggregation: JSON.stringify(control.aggregation),
      refuse_uncounted: control.refuseUncounted ? 1 : 0,
      created_at_ms: control.createdAtMs,
      updated_at_ms: control.updatedAtMs,
    };
    await insertControls(this.db, [row]);
  }

  async delete(organizationId: OrganizationId, id: string): Promise<void> {
    await this.#authority.alters(organizationId, 'rules');
    await this.#owned.open('velocity_control', organizationId);
    this.#owned.remove('velocity_control', [organizationId], [id]);
    const deleted = await this.db
      .deleteFrom('velocity_control')
      .where('organization_id', '=', organizationId)
      .where('id', '=', id)
      .executeTakeFirst();
    if (deleted.numDeletedRows === 0n) throw notFound();
    await this.db
      .deleteFrom('velocity_entry')
      .where('organization_id', '=', organizationId)
      .where('control_id', '=', id)
      .execute();
    await bury(this.db, organizationId, [id]);
  }

  /** Makes everyone else who counts against the control wait until this transaction ends. */
  async lock(organizationId: OrganizationId, controlId: VelocityControlId): Promise<boolean> {
    const row = await findRow(
      this.db,
      'velocity_control',
      organizationId,
      controlId,
      this.kind === 'postgres' ? sql`FOR UPDATE` : sql``,
    );
    return row !== undefined;
  }

  /**
   * Counts an amount; the caller holds the lock. No two entries of a group share a moment: ids of several processes do
   * not tell which came later, and the newest one holds the total.
   */
  async add(
    organizationId: OrganizationId,
    group: VelocityGroup,
    entry: { readonly id: string; readonly activityId: ActivityId; readonly amount: bigint; readonly atMs: number },
  ): Promise<void> {
    const last = await this.lastEntry(organizationId, group);
    const row = {
      organization_id: organizationId,
      control_id: group.controlId,
      group_key: group.groupKey,
      id: entry.id,
      activity_id: entry.activityId,
      amount: entry.amount.toString(),
      total: (BigInt(last?.total ?? 0) + entry.amount).toString(),
      created_at_ms: Math.max(entry.atMs, (last?.created_at_ms ?? -1) + 1),
    };
    await insertEntries(this.db, [row]);
  }

  /**
   * Moves the entries of a group that lie after `afterMs` back to now, in their order and behind all others: what they
   * count goes on counting, for as long as if it were counted now.
   */
  async moveBack({ organizationId, controlId }: ControlKey, groupKey: string, afterMs: number, nowMs: number) {
    if (!(await this.lock(organizationId, controlId))) return;
    const ofGroup = sql`organization_id = ${organizationId} AND control_id = ${controlId} AND group_key = ${groupKey}`;
    const { rows } = await sql<{ last: number | null }>`SELECT /* partial: a moment */ max(created_at_ms) AS last
      FROM velocity_entry
      WHERE ${ofGroup} AND created_at_ms <= ${afterMs}`.execute(this.db);
    const baseMs = Math.max(nowMs, rows[0]?.last ?? 0);
    const later = sql`${ofGroup} AND created_at_ms > ${afterMs} ORDER BY created_at_ms, id`;
    let place = 0;
    await amend(this.db, 'velocity_entry', later, () => {
      place += 1;
      return { created_at_ms: baseMs + place };
    });
  }
}
