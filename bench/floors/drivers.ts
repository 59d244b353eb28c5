import { createRequire } from 'node:module';
import type PostgresDriver from 'pg';
import { SqliteFile } from '../../packages/server/src/storage/sqlite-driver.ts';

// The service's own copies, so that a floor and the service differ in what they do and not in what they do it with.
const requireOfServer = createRequire(new URL('../../packages/server/package.json', import.meta.url));

export const pg = requireOfServer('pg') as typeof PostgresDriver;

/** Connections per process: the default of CUSTOS_DATABASE_POOL. */
export const POOL_SIZE = 16;

/** Opens a file with the durability settings of the service. */
export function openSqlite(file: string): SqliteFile {
  const db = new SqliteFile(file);
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON');
  return db;
}

/** Where a floor writes. */
export type FloorDatabase =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: string };
