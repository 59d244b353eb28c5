import { MIGRATION_NAMES } from '../storage/migrate.ts';
import type { App } from './app.ts';

/** The database answers, its schema is the one this program knows, and the keyring holds the key its secrets are under. */
export async function readiness({
  storage,
  keyring,
}: App): Promise<{ database: boolean; migrations: boolean; keyring: boolean }> {
  try {
    const [schema, rootKeyId] = await Promise.all([
      storage.read.deployment.appliedMigrations(),
      storage.read.deployment.get('root_key_id'),
    ]);
    const migrations =
      schema.length === MIGRATION_NAMES.length && schema.every((name) => MIGRATION_NAMES.includes(name));
    return { database: true, migrations, keyring: rootKeyId !== undefined && keyring.hasRootKey(rootKeyId) };
  } catch {
    return { database: false, migrations: false, keyring: keyring.hasRootKey(keyring.rootKeyId) };
  }
}
