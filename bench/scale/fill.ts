// Wallets with one account each, as rows that differ from those of a real wallet only where two wallets differ. Their
// seeds are noise of the right length and open with nothing, so that only the real wallets sign.
import { randomBytes } from 'node:crypto';
import { type Marker, markerOf } from '../../packages/server/test/harness/remark.ts';
import { openSqlite, pg } from '../floors/drivers.ts';
import { idAt } from '../floors/unit.ts';
import type { Service } from '../service.ts';
import { databaseOf } from '../stage.ts';

type Row = Record<string, unknown>;

/** What was filled in, and the ids from which a page in the middle is read. */
export interface Filled {
  readonly middleWalletId: string;
  readonly middleAccountId: string;
}

export const FILLED_TABLES = ['wallet', 'wallet_account', 'tree_entry'] as const;
type Table = (typeof FILLED_TABLES)[number];
type Rows = Readonly<Record<Table, Row>>;

const TEMPLATES: Readonly<Record<Table, string>> = {
  wallet: 'organization_id = :1 AND id = :2',
  wallet_account: 'organization_id = :1 AND wallet_id = :2',
  tree_entry:
    "organization_id = :1 AND kind = 'WALLET_ACCOUNT_ADDRESS' AND owner_id = (SELECT id FROM wallet_account WHERE organization_id = :1 AND wallet_id = :2)",
};
const ROWS_PER_STATEMENT = 5000;
const BIGINT = 20;
/** A wallet every two seconds: a million take 23 days. */
const STEP_MS = 2000;
/** Where in the list a page starts, so that a full page follows also among ten. */
const MIDDLE = 0.3;

/** Copies of the wallet `walletId`, older than it, until there are `count`. The service is stopped. */
export async function fill(service: Service, organizationId: string, walletId: string, count: number): Promise<Filled> {
  const database = databaseOf(service);
  const marked = await markerOf(service);
  const storage = database.kind === 'sqlite' ? sqlite(database.file) : await postgres(database.url);
  const template = await storage.read([organizationId, walletId]);
  const firstMs = Date.now() - count * STEP_MS;
  const middle = Math.floor(count * MIDDLE);
  let filled: Filled = { middleWalletId: '', middleAccountId: '' };
  for (let start = 1; start < count; start += ROWS_PER_STATEMENT) {
    const length = Math.min(ROWS_PER_STATEMENT, count - start);
    const rows = Array.from({ length }, (_, offset) => markedCopy(marked, copyOf(template, start + offset, firstMs)));
    const found = rows[middle - start];
    if (found !== undefined) {
      filled = { middleWalletId: String(found.wallet.id), middleAccountId: String(found.wallet_account.id) };
    }
    await storage.write(rows);
  }
  await storage.close();
  return filled;
}

function copyOf(template: Rows, position: number, firstMs: number): Rows {
  const ms = firstMs + position * STEP_MS;
  const [walletId, accountId] = [idAt(ms), idAt(ms)];
  const address = `0x${randomBytes(20).toString('hex')}`;
  const times = { created_at_ms: ms, updated_at_ms: ms };
  const sealed = randomBytes((template.wallet.sealed_seed as Uint8Array).length);
  return {
    wallet: { ...template.wallet, ...times, id: walletId, name: `Filled ${position}`, sealed_seed: sealed },
    wallet_account: {
      ...template.wallet_account,
      ...times,
      id: accountId,
      wallet_id: walletId,
      address,
      address_key: address,
      public_key: `02${randomBytes(32).toString('hex')}`,
    },
    tree_entry: { ...template.tree_entry, owner_id: accountId, value: address },
  };
}

const markedCopy = (marked: Marker, rows: Rows): Rows => recordOf((table) => marked(table, rows[table]));

interface Storage {
  read(keys: readonly [string, string]): Promise<Rows>;
  write(rows: readonly Rows[]): Promise<void>;
  close(): Promise<void>;
}

function sqlite(file: string): Storage {
  const db = openSqlite(file);
  // One commit of pages that stay in memory until then: indexes on noise touch the same ones again and again.
  db.exec('PRAGMA cache_size = -2000000; PRAGMA synchronous = OFF');
  db.exec('BEGIN');
  const read = (table: Table, [organizationId, walletId]: readonly [string, string]): Row =>
    db
      .prepare(`SELECT * FROM ${table} WHERE ${TEMPLATES[table].replaceAll(':', '?')}`)
      .get(organizationId, walletId) as Row;
  const write = (table: Table, rows: readonly Row[]): void => {
    const columns = Object.keys(rows[0] as Row);
    const insert = db.prepare(`INSERT INTO ${table} (${columns}) VALUES (${columns.map(() => '?')})`);
    for (const row of rows) insert.run(...columns.map((column) => row[column]));
  };
  return {
    read: async (keys) => recordOf((table) => read(table, keys)),
    write: async (rows) => {
      for (const table of FILLED_TABLES) {
        write(
          table,
          rows.map((row) => row[table]),
        );
      }
    },
    close: async () => {
      db.exec('COMMIT');
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      db.close();
    },
  };
}

async function postgres(url: string): Promise<Storage> {
  // Numbers, as the service's own driver has them.
  const types = new pg.TypeOverrides();
  types.setTypeParser(BIGINT, Number);
  const client = new pg.Client({ connectionString: url, types });
  await client.connect();
  // Only while filling: what the service commits is as durable as ever.
  await client.query('SET synchronous_commit = off');
  return {
    read: async (keys) => {
      const rows = {} as Record<Table, Row>;
      for (const table of FILLED_TABLES) {
        const where = TEMPLATES[table].replaceAll(':', '$');
        rows[table] = (await client.query<Row>(`SELECT * FROM ${table} WHERE ${where}`, [...keys])).rows[0] as Row;
      }
      return rows;
    },
    write: async (rows) => {
      for (const table of FILLED_TABLES) {
        const json = JSON.stringify(
          rows.map((row) => row[table]),
          bytesAsHex,
        );
        await client.query(`INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, $1)`, [json]);
      }
    },
    close: async () => {
      await client.query('VACUUM ANALYZE');
      await client.query('CHECKPOINT');
      await client.end();
    },
  };
}

const recordOf = (of: (table: Table) => Row): Rows =>
  Object.fromEntries(FILLED_TABLES.map((table) => [table, of(table)])) as unknown as Rows;

/** A Buffer has turned itself into this object before it gets here. */
function bytesAsHex(_name: string, value: unknown): unknown {
  const bytes = value as { readonly type?: unknown; readonly data?: readonly number[] } | null;
  if (bytes?.type !== 'Buffer' || bytes.data === undefined) return value;
  return `\\x${Buffer.from(bytes.data).toString('hex')}`;
}
