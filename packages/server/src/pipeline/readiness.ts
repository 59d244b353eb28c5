import { compareSchema } from '../storage/migrate.ts';
import type { App } from './app.ts';

/** The database answers, its schema is one this program can use, and the keyring holds the key its secrets are under. */
export async function readiness({
  storage,
  keyring,
}: App): Promise<{ database: boolean; migrations: boolean; keyring: boolean }> {
  try {
    const [schema, rootKeyId] = await Promise.all([
      storage.read.deployment.appliedMigrations(),
      storage.read.deployment.get('root_key_id'),
    ]);
    const { missing, incompatible } = compareSchema(schema);
    const migrations = missing.length === 0 && incompatible.length === 0;
    return { database: true, migrations, keyring: rootKeyId !== undefined && keyring.hasRootKey(rootKeyId) };
  } catch {
    return { database: false, migrations: false, keyring: keyring.hasRootKey(keyring.rootKeyId) };
  }
}
