import { openPostgres } from '../../src/storage/postgres.ts';
import { openSqlite } from '../../src/storage/sqlite.ts';
import { createSqliteTemplate, createTemplate } from './databases.ts';

/** Runs before all tests; without a PostgreSQL server there is nothing to prepare on one. */
export default async function setup(): Promise<() => Promise<void>> {
  const common = { dataModel: { tables: [], provisions: [] }, nowMs: Date.now() };
  const sqlite = await createSqliteTemplate(async (file) => {
    const storage = await openSqlite({ ...common, file, lockFile: `${file}.lock` });
    await storage.close();
  });
  if (!process.env['TEST_POSTGRES_URL']) return async () => sqlite[Symbol.dispose]();
  const postgres = await createTemplate(async (url) => {
    const storage = await openPostgres({ ...common, url, poolSize: 1, onIdleError: () => {} });
    await storage.close();
  });
  return async () => {
    sqlite[Symbol.dispose]();
    await postgres[Symbol.asyncDispose]();
  };
}
