import { type Selectable, sql } from 'kysely';
import type { BalanceLevel } from '../../chains/balances/level.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import type { DatabaseKind } from '../../storage/dialect.ts';
import { everyColumn } from '../../storage/every-column.ts';
import { amendOne, release } from '../../storage/integrity/amend.ts';
import { oneByOne, readEach, requireCount } from '../../storage/integrity/one-by-one.ts';
import { partial } from '../../storage/integrity/partial.ts';
import { jsonRows } from '../../storage/json-rows.ts';
import type { Schema } from '../../storage/schema.ts';
import { insertion, replacement, statement } from '../../storage/statement.ts';
import { Reader } from '../../storage/store.ts';
import { chainsOf } from '../webhooks/filters.ts';
import type { WebhookEventType } from '../webhooks/model.ts';
import { toEndpoint } from '../webhooks/store/webhook-reader.ts';
import type { WebhookEndpointTable } from '../webhooks/tables.ts';
import type { BalanceCursor, BalancePlace, Holder } from './model.ts';
import type { BalanceBlockTable, BalanceCursorTable } from './tables.ts';
import type { News } from './tell.ts';

export interface BalanceSubscriber {
  readonly organizationId: OrganizationId;
  readonly asks: readonly {
    readonly eventType: WebhookEventType;
    /** Without any it asks for all that there are. */
    readonly chains: readonly string[] | undefined;
  }[];
}

/** Also the filters are read here, where one that cannot be read is refused alone. */
function toSubscriber(row: Selectable<WebhookEndpointTable>): BalanceSubscriber {
  const { organizationId, subscriptions } = toEndpoint(row);
  const active = subscriptions.filter(({ isActive }) => isActive);
  return {
    organizationId,
    asks: active.map(({ eventType, filtersJson }) => ({ eventType, chains: chainsOf(filtersJson) })),
  };
}

/** A block that was told of. */
interface KeptBlock {
  readonly number: number;
  readonly hash: string;
  readonly told: readonly News[];
}

/** More are never kept of one chain and level. */
const KEPT_MAX = 1000;

const toCursor = (row: Selectable<BalanceCursorTable>): BalanceCursor => ({
  caip2: row.caip2,
  level: row.level as BalanceLevel,
  number: requireCount(row.number),
  hash: row.hash,
  turn: requireCount(row.turn),
  owner: row.owner,
  claimedUntilMs: Number(row.claimed_until_ms),
});

const toKept = ({ number, hash, told }: Selectable<BalanceBlockTable>): KeptBlock => ({
  number: requireCount(number),
  hash,
  told: JSON.parse(told) as News[],
});

const insertCursors = insertion(
  'balance-cursor-insert',
  'balance_cursor',
  ['caip2', 'level', 'number', 'hash', 'turn', 'owner', 'claimed_until_ms'],
  (query) => query.onConflict((conflict) => conflict.columns(['caip2', 'level']).doNothing()),
);
/** In the place of one that somebody may have put there. */
const putBlocks = replacement(
  'balance-block-put',
  'balance_block',
  ['caip2', 'level', 'number'],
  ['caip2', 'level', 'number', 'hash', 'told'],
);
const LEASE = sql`/* unmarked: a lease */`;

interface HolderRow {
  readonly address_key: string;
  readonly address: string;
  readonly organization_id: string;
  readonly o_parent_id: string | null;
}

/** Whoever is told of a balance may credit it to somebody, so that the rows that say whom are read whole. */
const ORGANIZATION_COLUMNS = everyColumn<Schema['organization'] & { organization_mac: unknown }>({
  id: true,
  parent_id: true,
  name: true,
  root_threshold: true,
  root_user_ids: true,
  authority_version: true,
  rules_version: true,
  rules_digest: true,
  wrapped_key: true,
  created_at_ms: true,
  updated_at_ms: true,
  deleted_at_ms: true,
  accepted_restoration: true,
  organization_mac: true,
});
const ALL_OF_ORGANIZATION = sql.join(
  ORGANIZATION_COLUMNS.map((column) => sql`organization.${sql.ref(column)} AS ${sql.ref(`o_${column}`)}`),
);

const holdersOn = (kind: DatabaseKind) =>
  statement(undefined, (db, { addresses, format }: { addresses: string; format: string }) => {
    const query = sql<HolderRow>`SELECT account.*, ${ALL_OF_ORGANIZATION}
      FROM ${jsonRows(kind, 'named', { address: 'text' }, addresses)}
      CROSS JOIN wallet_account AS account CROSS JOIN organization
      WHERE account.address_key = named.address AND account.address_format = ${format}
        AND organization.id = account.organization_id AND organization.deleted_at_ms IS NULL`;
    return { compile: () => query.compile(db) };
  });
const holdersOf = { sqlite: holdersOn('sqlite'), postgres: holdersOn('postgres') };

export class BalanceWatchReader extends Reader {
  /** Active endpoints that subscribe to balances, in the words of the index that has only these. */
  async subscribers(): Promise<readonly BalanceSubscriber[]> {
    const { rows } = await sql<Selectable<WebhookEndpointTable>>`
      SELECT ${oneByOne('an endpoint that is not genuine keeps no other from hearing of balances')} *
      FROM webhook_endpoint WHERE is_active = 1 AND subscriptions LIKE '%"BALANCE_%'`.execute(this.db);
    return readEach(this.db, { table: 'webhook_endpoint' }, rows, toSubscriber).items;
  }

  /** Who has wallet accounts of these addresses. */
  async holders(addresses: readonly string[], format: string): Promise<Holder[]> {
    const named = JSON.stringify(addresses.map((address) => ({ address })));
    const rows = await holdersOf[this.kind](this.db, { addresses: named, format });
    // Several wallets of one organization may have the same account.
    const holders = new Map<string, Holder>();
    for (const row of rows) {
      holders.set(`${row.organization_id} ${row.address}`, {
        key: row.address_key,
        address: row.address,
        organizationId: row.organization_id as OrganizationId,
        parentId: (row.o_parent_id ?? undefined) as OrganizationId | undefined,
      });
    }
    return [...holders.values()];
  }

  /** The addresses of accounts in trees, so many accounts at most: whoever has more of them reads no further. */
  async addresses(roots: readonly OrganizationId[], format: string, limit: number): Promise<string[]> {
    const json = JSON.stringify(roots.map((id) => ({ id })));
    const { rows } = await sql<{
      address_key: string;
    }>`SELECT /* partial: where to look; whose they are is read whole */ account.address_key
      FROM ${jsonRows(this.kind, 'root', { id: 'text' }, json)}
      JOIN organization ON organization.id = root.id OR organization.parent_id = root.id
      JOIN wallet_account AS account ON account.organization_id = organization.id
      WHERE account.address_format = ${format} AND organization.deleted_at_ms IS NULL LIMIT ${limit}`.execute(this.db);
    return rows.map(({ address_key }) => address_key);
  }

  /** How far each chain is watched; one that is not genuine is left out. */
  async cursors(): Promise<readonly BalanceCursor[]> {
    const rows = await this.db
      .selectFrom('balance_cursor')
      .modifyFront(oneByOne('one keeps no other chain from being watched'))
      .selectAll()
      .execute();
    return readEach(this.db, { table: 'balance_cursor' }, rows, toCursor).items;
  }

  async cursor({ caip2, level }: BalancePlace): Promise<BalanceCursor | undefined> {
    const row = await this.db
      .selectFrom('balance_cursor')
      .selectAll()
      .where('caip2', '=', caip2)
      .where('level', '=', level)
      .executeTakeFirst();
    return row && toCursor(row);
  }

  /** What was told of the newest block below a number; one that is not genuine is passed over. */
  async newestKept({ caip2, level }: BalancePlace, below: number): Promise<KeptBlock | undefined> {
    const numbers = await this.db
      .selectFrom('balance_block')
      .modifyFront(partial('each is then read whole'))
      .select('number')
      .where('caip2', '=', caip2)
      .where('level', '=', level)
      .where('number', '<', below)
      .orderBy('number', 'desc')
      .limit(KEPT_MAX)
      .execute();
    for (const { number } of numbers) {
      const rows = await this.db
        .selectFrom('balance_block')
        .modifyFront(oneByOne('another one may be genuine'))
        .selectAll()
        .where('caip2', '=', caip2)
        .where('level', '=', level)
        .where('number', '=', number)
        .execute();
      const [kept] = readEach(this.db, { table: 'balance_block' }, rows, toKept).items;
      if (kept !== undefined) return kept;
    }
    return undefined;
  }
}

export class BalanceWatchStore extends BalanceWatchReader {
  static readonly writes = true;

  /** Begins a watch at a block, unless somebody has begun it. */
  async begin(cursor: BalanceCursor): Promise<void> {
    const { claimedUntilMs, ...row } = cursor;
    await insertCursors(this.db, [{ ...row, claimed_until_ms: claimedUntilMs }]);
  }

  /** Takes a watch that nobody has, or prolongs the claim on it; false when it is another's. */
  async claim({ caip2, level }: BalancePlace, owner: string, nowMs: number, untilMs: number): Promise<boolean> {
    const { numUpdatedRows } = await this.db
      .updateTable('balance_cursor')
      .modifyEnd(LEASE)
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
    let isMoved = false;
    await amendOne(this.db, 'balance_cursor', { caip2: before.caip2, level: before.level }, (row) => {
      isMoved = row.number === before.number && row.hash === before.hash && row.turn === before.turn;
      return isMoved ? { number: after.number, hash: after.hash, turn: after.turn } : undefined;
    });
    return isMoved;
  }

  async keep({ caip2, level }: BalancePlace, { number, hash, told }: KeptBlock): Promise<void> {
    await putBlocks(this.db, [{ caip2, level, number, hash, told: JSON.stringify(told) }]);
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
    release(this.db, 'balance_cursor');
    await this.db.deleteFrom('balance_block').where('caip2', '=', caip2).where('level', '=', level).execute();
  }

  /** Gives back whatever one process has claimed. */
  async release(owner: string): Promise<void> {
    await this.db
      .updateTable('balance_cursor')
      .modifyEnd(LEASE)
      .set({ owner: '', claimed_until_ms: 0 })
      .where('owner', '=', owner)
      .execute();
  }

  /** The embedded database has one process: who else has claimed something was killed. */
  async releaseAll(): Promise<void> {
    await this.db.updateTable('balance_cursor').modifyEnd(LEASE).set({ owner: '', claimed_until_ms: 0 }).execute();
  }
}
