import { sql } from 'kysely';
import type { BalanceLevel } from '../../chains/balances/level.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import type { DatabaseKind } from '../../storage/dialect.ts';
import { jsonRows } from '../../storage/json-rows.ts';
import { statement } from '../../storage/statement.ts';
import { Reader } from '../../storage/store.ts';
import type { WebhookSubscription } from '../webhooks/model.ts';
import type { BalanceCursor, BalancePlace, Holder } from './model.ts';

export interface BalanceSubscriber {
  readonly organizationId: OrganizationId;
  readonly subscriptions: readonly WebhookSubscription[];
}

/** A block that was told of. */
interface KeptBlock {
  readonly number: number;
  readonly hash: string;
  /** JSON. */
  readonly told: string;
}

interface HolderRow {
  readonly address_key: string;
  readonly address: string;
  readonly organization_id: string;
  readonly parent_id: string | null;
}

const holdersOn = (kind: DatabaseKind) =>
  statement('balance-holders', (db, { addresses, format }: { addresses: string; format: string }) => {
    const query = sql<HolderRow>`SELECT DISTINCT account.address_key, account.address, account.organization_id,
        organization.parent_id
      FROM ${jsonRows(kind, 'named', { address: 'text' }, addresses)}
      CROSS JOIN wallet_account AS account CROSS JOIN organization
      WHERE account.address_key = named.address AND account.address_format = ${format}
        AND organization.id = account.organization_id AND organization.deleted_at_ms IS NULL`;
    return { compile: () => query.compile(db) };
  });
const holdersOf = { sqlite: holdersOn('sqlite'), postgres: holdersOn('postgres') };

export class BalanceWatchReader extends Reader {
  /** Active endpoints that subscribe to balances, in the words of the index that has only these. */
  async subscribers(): Promise<BalanceSubscriber[]> {
    const { rows } = await sql<{ organization_id: string; subscriptions: string }>`
      SELECT organization_id, subscriptions FROM webhook_endpoint
      WHERE is_active = 1 AND subscriptions LIKE '%"BALANCE_%'`.execute(this.db);
    return rows.map((row) => ({
      organizationId: row.organization_id as OrganizationId,
      subscriptions: JSON.parse(row.subscriptions) as WebhookSubscription[],
    }));
  }

  /** Who has wallet accounts of these addresses. */
  async holders(addresses: readonly string[], format: string): Promise<Holder[]> {
    const named = JSON.stringify(addresses.map((address) => ({ address })));
    const rows = await holdersOf[this.kind](this.db, { addresses: named, format });
    return rows.map((row) => ({
      key: row.address_key,
      address: row.address,
      organizationId: row.organization_id as OrganizationId,
      parentId: (row.parent_id ?? undefined) as OrganizationId | undefined,
    }));
  }

  /** The addresses of accounts in trees, so many accounts at most: whoever has more of them reads no further. */
  async addresses(roots: readonly OrganizationId[], format: string, limit: number): Promise<string[]> {
    const json = JSON.stringify(roots.map((id) => ({ id })));
    const { rows } = await sql<{ address_key: string }>`SELECT account.address_key
      FROM ${jsonRows(this.kind, 'root', { id: 'text' }, json)}
      JOIN organization ON organization.id = root.id OR organization.parent_id = root.id
      JOIN wallet_account AS account ON account.organization_id = organization.id
      WHERE account.address_format = ${format} AND organization.deleted_at_ms IS NULL LIMIT ${limit}`.execute(this.db);
    return rows.map(({ address_key }) => address_key);
  }

  async cursors(): Promise<BalanceCursor[]> {
    const rows = await this.db.selectFrom('balance_cursor').selectAll().execute();
    return rows.map(({ level, claimed_until_ms, ...row }) => ({
      ...row,
      level: level as BalanceLevel,
      claimedUntilMs: claimed_until_ms,
    }));
  }

  async newestKept({ caip2, level }: BalancePlace, below: number): Promise<KeptBlock | undefined> {
    return await this.db
      .selectFrom('balance_block')
      .select(['number', 'hash', 'told'])
      .where('caip2', '=', caip2)
      .where('level', '=', level)
      .where('number', '<', below)
      .orderBy('number', 'desc')
      .limit(1)
      .executeTakeFirst();
  }
}

export class BalanceWatchStore extends BalanceWatchReader {
  static readonly writes = true;

  /** Begins a watch at a block, unless somebody has begun it. */
  async begin(cursor: BalanceCursor): Promise<void> {
    const { claimedUntilMs, ...row } = cursor;
    await this.db
      .insertInto('balance_cursor')
      .values({ ...row, claimed_until_ms: claimedUntilMs })
      .onConflict((conflict) => conflict.columns(['caip2', 'level']).doNothing())
      .execute();
  }

  /** Takes a watch that nobody has, or prolongs the claim on it; false when it is another's. */
  async claim({ caip2, level }: BalancePlace, owner: string, nowMs: number, untilMs: number): Promise<boolean> {
    const { numUpdatedRows } = await this.db
      .updateTable('balance_cursor')
      .set({ owner, claimed_until_ms: untilMs })
      .where('caip2', '=', caip2)
      .where('level', '=', level)
      .where((eb) => eb.or([eb('owner', '=', owner), eb('claimed_until_ms', '<=', nowMs)]))
      .executeTakeFirstOrThrow();
    return numUpdatedRows === 1n;
  }

  /**
   * Moves on; false when somebody else has. Whose the claim is by now does not matter: where a block takes longer than a
   * claim, processes would take it from each other for ever.
   */
  async advance(before: BalanceCursor, after: Pick<BalanceCursor, 'number' | 'hash' | 'turn'>): Promise<boolean> {
    const { numUpdatedRows } = await this.db
      .updateTable('balance_cursor')
      .set({ number: after.number, hash: after.hash, turn: after.turn })
      .where('caip2', '=', before.caip2)
      .where('level', '=', before.level)
      .where('number', '=', before.number)
      .where('hash', '=', before.hash)
      .where('turn', '=', before.turn)
      .executeTakeFirstOrThrow();
    return numUpdatedRows === 1n;
  }

  async keep({ caip2, level }: BalancePlace, block: KeptBlock): Promise<void> {
    await this.db
      .insertInto('balance_block')
      .values({ caip2, level, ...block })
      .execute();
  }

  /** Forgets blocks below a number and from another one on. */
  async forget({ caip2, level }: BalancePlace, below: number, from: number): Promise<void> {
    await this.db
      .deleteFrom('balance_block')
      .where('caip2', '=', caip2)
      .where('level', '=', level)
      .where((eb) => eb.or([eb('number', '<', below), eb('number', '>=', from)]))
      .execute();
  }

  /** Nobody wants it any more; nothing happens if it has moved on since it was read. */
  async end({ caip2, level, number, hash, turn }: BalanceCursor): Promise<void> {
    const { numDeletedRows } = await this.db
      .deleteFrom('balance_cursor')
      .where('caip2', '=', caip2)
      .where('level', '=', level)
      .where('number', '=', number)
      .where('hash', '=', hash)
      .where('turn', '=', turn)
      .executeTakeFirstOrThrow();
    if (numDeletedRows === 0n) return;
    await this.db.deleteFrom('balance_block').where('caip2', '=', caip2).where('level', '=', level).execute();
  }

  /** Gives back whatever one process has claimed. */
  async release(owner: string): Promise<void> {
    await this.db
      .updateTable('balance_cursor')
      .set({ owner: '', claimed_until_ms: 0 })
      .where('owner', '=', owner)
      .execute();
  }

  /** The embedded database has one process: who else has claimed something was killed. */
  async releaseAll(): Promise<void> {
    await this.db.updateTable('balance_cursor').set({ owner: '', claimed_until_ms: 0 }).execute();
  }
}
