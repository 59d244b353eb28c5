import type { Keyring } from '@custos/keyring';
import { InstallationStore } from '../core/store/installation.ts';
import { errorText } from '../lib/error-text.ts';
import { ApiError } from '../lib/errors.ts';
import { randomId } from '../lib/ids.ts';
import { Probe } from '../lib/probe.ts';
import { type AppliedMigration, compareSchema } from '../storage/migrate.ts';
import type { Storage } from '../storage/storage.ts';

/** A load balancer asks every few seconds; strangers may ask as often as they like. */
const WRITE_EVERY_MS = 1000;
const DEADLINE_MS = 2000;
const REASON_LENGTH_MAX = 300;

export const CHECKS = ['database', 'migrations', 'keyring'] as const;
/** The checks that failed, and why, in words for the operator. */
export type Problems = Partial<Record<(typeof CHECKS)[number], string>>;

export interface Readiness {
  check(): Promise<Problems>;
}

/**
 * The database takes writes, its schema is one this program can use, and the keyring answers and holds the key its
 * secrets are under.
 */
export function createReadiness({ storage, keyring }: { storage: Storage; keyring: Keyring }): Readiness {
  // A row of its own for each process: one that all wrote could be held by a process that hangs.
  const id = randomId();
  const database = new Probe(
    () =>
      storage.write(async (store) => {
        const deployment = store(InstallationStore);
        await deployment.probe(id);
        return { applied: await deployment.appliedMigrations(), rootKeyId: await deployment.get('root_key_id') };
      }),
    { everyMs: WRITE_EVERY_MS, deadlineMs: DEADLINE_MS },
  );
  const ping = new Probe(() => keyring.ping(), { everyMs: 0, deadlineMs: DEADLINE_MS });
  return {
    async check() {
      const [stored, pinged] = await Promise.all([database.outcome(), ping.outcome()]);
      const problems: Problems = {};
      const note = (check: keyof Problems, problem: string | undefined): void => {
        if (problem !== undefined) problems[check] = problem;
      };
      if ('value' in stored) note('migrations', migrationsProblem(stored.value.applied));
      else {
        note('database', `a write failed: ${reasonOf(stored.error)}`);
        note('migrations', 'not known while the database is not available');
      }
      if ('error' in pinged) note('keyring', reasonOf(pinged.error));
      else note('keyring', rootKeyProblem(keyring, 'value' in stored ? stored.value.rootKeyId : keyring.rootKeyId));
      return problems;
    },
  };
}

function migrationsProblem(applied: readonly AppliedMigration[]): string | undefined {
  const { missing, incompatible } = compareSchema(applied);
  if (missing.length > 0) return `the database lacks ${missing.join(', ')}`;
  if (incompatible.length > 0) return `the database is newer than this program: it has ${incompatible.join(', ')}`;
  return undefined;
}

function rootKeyProblem(keyring: Keyring, rootKeyId: string | undefined): string | undefined {
  if (rootKeyId === undefined) return 'the database names no root key';
  return keyring.hasRootKey(rootKeyId) ? undefined : `the key ring does not hold root key ${rootKeyId} of the database`;
}

/** A cause says more than the answer that callers get. */
function reasonOf(error: unknown): string {
  const cause = error instanceof ApiError ? (error.cause ?? error) : error;
  return errorText(cause).replace(/\s+/g, ' ').slice(0, REASON_LENGTH_MAX);
}
