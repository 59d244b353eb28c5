import { createRequire } from 'node:module';
import type DatabaseConstructor from 'better-sqlite3';
import type PostgresDriver from 'pg';

// The service's own copies, so that a floor and the service differ in what they do and not in what they do it with.
const requireOfServer = createRequire(new URL('../../packages/server/package.json', import.meta.url));

const Database = requireOfServer('better-sqlite3') as typeof DatabaseConstructor;
export const pg = requireOfServer('pg') as typeof PostgresDriver;

/** Connections per process: the default of CUSTOS_DATABASE_POOL. */
export const POOL_SIZE = 16;

/** Opens a file with the durability settings of the service. */
export function openSqlite(file: string): DatabaseConstructor.Database {
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.pragma('secure_delete = ON');
  return db;
}

/** Where a floor writes. */
export type FloorDatabase =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: string };
