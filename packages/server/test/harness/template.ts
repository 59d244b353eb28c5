import { openPostgres } from '../../src/storage/postgres.ts';
import { createTemplate } from './databases.ts';

/** Runs before all tests: without a PostgreSQL server there is nothing to prepare. */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (!process.env['TEST_POSTGRES_URL']) return undefined;
  const template = await createTemplate(async (url) => {
    const options = {
      url,
      poolSize: 1,
      dataModel: { tables: [], provisions: [] },
      nowMs: Date.now(),
      onIdleError: () => {},
    };
    const storage = await openPostgres(options);
    await storage.close();
  });
  return async () => await template[Symbol.asyncDispose]();
}
