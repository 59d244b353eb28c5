import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { SponsoredCost } from '../../../chains/send/cost.ts';
import type { SponsoredPerDay } from '../../../chains/settings.ts';
import type { GasUsageConfigId, OrganizationId } from '../../../lib/ids.ts';
import type { DatabaseKind } from '../../../storage/dialect.ts';
import { amendOne } from '../../../storage/integrity/amend.ts';
import { allOfOrganization } from '../../../storage/integrity/owned-rows.ts';
import type { OwnedSets } from '../../../storage/integrity/owned-sets.ts';
import { insertion } from '../../../storage/statement.ts';
import { Reader, type Transaction } from '../../../storage/store.ts';
import { DAY_MINUTES, firstMinute, type GasUsageConfig } from '../sponsorship-model.ts';
import type { GasUsageConfigTable } from '../tables.ts';

/** A day more than the longest window. */
const KEPT_MINUTES = 31 * DAY_MINUTES;
/** So many that are too old go with every new send, so that the table stays small without a sweeper. */
const SWEPT = 100;

/** Somebody else may have written something that is no whole number. */
const costIn = (value: unknown): bigint => BigInt(Math.trunc(Math.max(0, Math.min(Number(value) || 0, COST_MAX))));

const toConfig = (row: Selectable<GasUsageConfigTable>): GasUsageConfig => ({
  organizationId: row.organization_id as OrganizationId,
  id: row.id as GasUsageConfigId,
  treeLimitUsd: row.tree_limit_usd,
  subOrganizationLimitUsd: row.sub_organization_limit_usd,
  windowMinutes: row.window_minutes,
  isEnabled: row.is_enabled === 1,
  createdAtMs: row.created_at_ms,
  updatedAtMs: row.updated_at_ms,
});

const insertConfigs = insertion('gas-usage-config-insert', 'gas_usage_config', [
  'organization_id',
  'id',
  'tree_limit_usd',
  'sub_organization_limit_usd',
  'window_minutes',
  'is_enabled',
  'created_at_ms',
  'updated_at_ms',
]);

/**
 * What sponsored sends cost the operator, by minute. Under the id of a sub-organization are its own, under that of a
 * parent those of its whole tree.
 */
export class SponsorshipReader extends Reader {
  async config(organizationId: OrganizationId): Promise<GasUsageConfig | undefined> {
    const [row] = await allOfOrganization(this.db, 'gas_usage_config', organizationId);
    return row && toConfig(row);
  }

  /** On one chain since a minute, that minute included, in billionths of its native asset. */
  async nativeUsage(
    organizationId: OrganizationId,
    caip2: string,
    sinceMinute: number,
    of: SponsoredPerDay['of'] = 'tree',
  ): Promise<bigint> {
    const column = sql.ref(of === 'tree' ? 'native_cost' : 'sub_organizations_cost');
    const { rows } = await sql<{ total: string }>`
      SELECT ${this.#sum(column)} AS total FROM sponsored_cost
      WHERE organization_id = ${organizationId} AND caip2 = ${caip2} AND minute >= ${sinceMinute}`.execute(this.db);
    return BigInt(rows[0]?.total ?? 0);
  }

  /** On all chains since a minute, that minute included, in millionths of a US dollar. */
  async usdUsage(organizationId: OrganizationId, sinceMinute: number): Promise<bigint> {
    const { rows } = await sql<{ total: string }>`
      SELECT ${this.#sum(sql.ref('usd_micros'))} AS total FROM sponsored_cost
      WHERE organization_id = ${organizationId} AND minute >= ${sinceMinute}`.execute(this.db);
    return BigInt(rows[0]?.total ?? 0);
  }

  /**
   * A minute costs neither less than nothing nor more than `COST_MAX`: whatever somebody else wrote, it makes no room for others
   * and does not end in an overflow, which would keep the sends of everybody in the lane.
   */
  #sum(column: RawBuilder<unknown>): RawBuilder<string> {
    const bounded = bounds(this.kind, column);
    if (this.kind === 'postgres') return sql`CAST(COALESCE(SUM(${bounded}), 0) AS text)`;
    // Of so many that they are more than an integer holds, the sum is the largest integer.
    return sql`CAST(CAST(total(${bounded}) AS integer) AS text)`;
  }
}

/** More than all native assets of any chain cost in a minute, in billionths. */
const COST_MAX = 10 ** 15;

const bounds = (kind: DatabaseKind, value: RawBuilder<unknown>): RawBuilder<number> => {
  const [largest, smallest] = kind === 'postgres' ? ['greatest', 'least'] : ['max', 'min'];
  return sql`${sql.raw(largest as string)}(0, ${sql.raw(smallest as string)}(${value}, ${sql.lit(COST_MAX)}))`;
};

export class SponsorshipStore extends SponsorshipReader {
  static readonly writes = true;
  readonly #owned: OwnedSets;

  constructor(transaction: Transaction) {
    super(transaction);
    this.#owned = transaction.owned;
  }

  async putConfig(config: GasUsageConfig): Promise<void> {
    const { organizationId } = config;
    // The organization's row is held from here on, so that nobody else puts another.
    await this.#owned.open('gas_usage_config', organizationId);
    const values = {
      tree_limit_usd: config.treeLimitUsd,
      sub_organization_limit_usd: config.subOrganizationLimitUsd,
      window_minutes: config.windowMinutes,
      is_enabled: config.isEnabled ? 1 : 0,
      updated_at_ms: config.updatedAtMs,
    };
    const key = { organization_id: organizationId };
    if ((await amendOne(this.db, 'gas_usage_config', key, () => values)) !== undefined) return;
    await insertConfigs(this.db, [{ ...key, id: config.id, created_at_ms: config.createdAtMs, ...values }]);
  }

  /**
   * Makes everyone else who is about to add to the costs of a tree wait until this transaction ends. It is not the lock
   * of the organization, which activities hold while they wait for lanes.
   */
  async lock(treeId: OrganizationId): Promise<void> {
    if (this.kind === 'sqlite') return;
    await sql`SELECT pg_advisory_xact_lock(hashtextextended(${treeId}, 1))`.execute(this.db);
  }

  /**
   * Adds to the costs of a minute; less than nothing where a send became cheaper. A minute never falls below nothing,
   * which would be there for others to spend: a process of an older version may have counted otherwise.
   * `bySubOrganizations`: the row is a parent's, and what it counts was asked for by a sub-organization.
   */
  async add(
    organizationId: OrganizationId,
    caip2: string,
    minute: number,
    { native, usdMicros }: SponsoredCost,
    bySubOrganizations = false,
  ): Promise<void> {
    const ofSubOrganizations = bySubOrganizations ? native : 0n;
    await this.db
      .insertInto('sponsored_cost')
      .values({
        organization_id: organizationId,
        caip2,
        minute,
        native_cost: Math.max(0, Number(native)),
        usd_micros: Math.max(0, Number(usdMicros)),
        sub_organizations_cost: Math.max(0, Number(ofSubOrganizations)),
      })
      .onConflict((conflict) =>
        conflict.columns(['organization_id', 'caip2', 'minute']).doUpdateSet({
          native_cost: this.#raised('native_cost', native),
          usd_micros: this.#raised('usd_micros', usdMicros),
          sub_organizations_cost: this.#raised('sub_organizations_cost', ofSubOrganizations),
        }),
      )
      .execute();
  }

  #raised(column: 'native_cost' | 'usd_micros' | 'sub_organizations_cost', change: bigint): RawBuilder<number> {
    const before = bounds(this.kind, sql.ref(`sponsored_cost.${column}`));
    return bounds(this.kind, sql`${before} + CAST(${Number(change)} AS bigint)`);
  }

  /** Forgets some of what no window reaches any more, of whichever organization. */
  async sweep(nowMs: number): Promise<void> {
    const unlocked = this.kind === 'postgres' ? sql`FOR UPDATE SKIP LOCKED` : sql``;
    await sql`DELETE FROM sponsored_cost WHERE (organization_id, caip2, minute) IN (
      SELECT organization_id, caip2, minute FROM sponsored_cost WHERE minute < ${firstMinute(nowMs, KEPT_MINUTES)}
      ORDER BY minute LIMIT ${SWEPT} ${unlocked})`.execute(this.db);
  }

  /** Moves costs of minutes after one of the future to the current minute, where windows can leave them behind. */
  async moveBack(afterMinute: number, minute: number): Promise<void> {
    const rows = await this.db.deleteFrom('sponsored_cost').where('minute', '>', afterMinute).returningAll().execute();
    for (const row of rows) {
      await this.db
        .insertInto('sponsored_cost')
        .values({ ...row, minute })
        .onConflict((conflict) =>
          conflict.columns(['organization_id', 'caip2', 'minute']).doUpdateSet({
            native_cost: this.#raised('native_cost', costIn(row.native_cost)),
            usd_micros: this.#raised('usd_micros', costIn(row.usd_micros)),
            sub_organizations_cost: this.#raised('sub_organizations_cost', costIn(row.sub_organizations_cost)),
          }),
        )
        .execute();
    }
  }
}
