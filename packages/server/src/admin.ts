import { createKeyring, KeyringError, type Resealed, resealRing } from '@custos/keyring';
import { normalizePublicKey } from './authn/public-key.ts';
import { describeBytes, describeRecord } from './backup/describe.ts';
import { forgetBackup as forgetRecord, readBackups } from './backup/records.ts';
import type { Backup, BackupProgress, BackupTarget } from './backup/take.ts';
import { createFirstOrganization, openRootKey } from './bootstrap.ts';
import { type Config, readConfig } from './config/config.ts';
import type { BackupRecord } from './core/store/installation.ts';
import { dataModel } from './domains.ts';
import { type Accepted, type AcceptOptions, type AcceptPlan, acceptRestore } from './fence-accept/accept.ts';
import { type ShownFence, showFence } from './fence-accept/show.ts';
import { type Enabled, type EnableOptions, enableIntegrity } from './integrity/enable.ts';
import { describeViolation, openIntegrity } from './integrity/open.ts';
import { type IntegrityRotationOptions, type RotatedIntegrity, rotateIntegrityKey } from './integrity/rotate-key.ts';
import {
  type ImportedOperatorKey,
  importOperatorKey as importKey,
  type OperatorKeyOptions,
} from './keyring-admin/import-operator-key.ts';
import { type ListedChain, listConfiguredChains } from './keyring-admin/list-chains.ts';
import { type Retired, type RetireOptions, type RetirePlan, retireKey, unretireKey } from './keyring-admin/retire.ts';
import { type Rotated, type RotationOptions, type RotationPlan, rotateKeyring } from './keyring-admin/rotate.ts';
import {
  type OrganizationRotationOptions,
  type RotatedOrganization,
  rotateOrganizationKey,
} from './keyring-admin/rotate-organization.ts';
import {
  type KeyRotationOptions,
  type RotatedServiceKey,
  rotateServiceKey as rotateKeyOfRole,
} from './keyring-admin/rotate-service-key.ts';
import { type Unopened, type Verified, verifyKeyring } from './keyring-admin/verify.ts';
import { LIMITS } from './lib/limits.ts';
import { StartError } from './lib/start-error.ts';
import { describeMoves, describeProtection, type Protection } from './protection.ts';
import type { Checked } from './restore/checks/check.ts';
import { type Finding as CheckFinding, describeFinding } from './restore/checks/finding.ts';
import type { Drilled, DrillOptions } from './restore/drill.ts';
import type { Restored, RestoreOptions, RestorePlan } from './restore/restore.ts';
import type { BackupSummary } from './restore/summary.ts';
import type { VerifiedDatabase, VerifyOptions } from './restore/verify.ts';
import type { Reviewed, ReviewFinding, ReviewOptions } from './restore-review/review.ts';
import { openStorage } from './storage/open.ts';

export { SettingError } from './config/settings.ts';
export { credentialsPath, type RootCredentials } from './credentials-file.ts';
export { ApiError } from './lib/errors.ts';
export {
  type Accepted,
  type AcceptOptions,
  type AcceptPlan,
  type Backup,
  type BackupProgress,
  type BackupRecord,
  type BackupSummary,
  type Checked,
  type CheckFinding,
  describeBytes,
  describeFinding,
  describeRecord,
  describeViolation,
  type Enabled,
  type EnableOptions,
  type Resealed,
  type RestorePlan,
  type Retired,
  type RetireOptions,
  type RetirePlan,
  type Reviewed,
  type ReviewFinding,
  type Rotated,
  type RotationOptions,
  type RotationPlan,
  readConfig,
  type ShownFence,
  StartError,
  type Unopened,
  type Verified,
};

// Backups, restores and checks bring age, its curves and pg with them. They are loaded by the commands that need them, so
// that others start without.

export interface Initialization {
  readonly organizationName: string;
  readonly userName: string;
  readonly publicKey: string;
}

export interface Initialized {
  readonly organizationId: string;
  readonly userId: string;
  readonly authProxyConfigId: string;
}

/** Creates the first organization for production: the private key stays with whoever made it (`custos init`). */
export async function initialize(environment: NodeJS.ProcessEnv, wanted: Initialization): Promise<Initialized> {
  const config = readConfig(environment);
  const publicKey = normalizePublicKey('P256', wanted.publicKey);
  for (const [what, name] of [
    ['organization', wanted.organizationName],
    ['user', wanted.userName],
  ] as const) {
    if (name.trim() === '' || name.length > LIMITS.nameLength)
      throw new StartError(`the ${what} name must have 1 to ${LIMITS.nameLength} characters`);
  }
  const nowMs = Date.now();
  const storage = await openStorage({ dataModel, ...config, databaseWaitSeconds: 0, nowMs, onIdleError: () => {} });
  try {
    const keyring = await openRootKey(
      storage,
      config.rootKey,
      typeof config.keyring === 'object' ? config.keyring : 'inline',
    );
    await openIntegrity(storage, keyring, nowMs);
    const { organizationName, userName } = wanted;
    const created = await createFirstOrganization(
      storage,
      keyring,
      { organizationName, userName, apiKeyName: 'Root API key', publicKey },
      nowMs,
    );
    await keyring.close();
    if (created === undefined) throw new StartError('the database already holds an organization; nothing was changed');
    return created;
  } finally {
    await storage.close();
  }
}

/** Re-wraps everything under a new root key, beside a running service (`custos keyring rotate`). */
export async function rotate(environment: NodeJS.ProcessEnv, options: RotationOptions): Promise<Rotated | undefined> {
  return await rotateKeyring(readRingConfig(environment), options);
}

/** How the keys of a service with these settings are kept (`custos status`). */
export async function readProtection(
  environment: NodeJS.ProcessEnv,
): Promise<Protection & { readonly rootKey: string; readonly moves: readonly string[] }> {
  const config = readConfig(environment);
  return { ...(await describeProtection(config)), rootKey: config.rootKey, moves: describeMoves(config) };
}

/** Takes an earlier root key out of use, beside a running service (`custos keyring retire`). */
export async function retire(environment: NodeJS.ProcessEnv, options: RetireOptions): Promise<Retired | undefined> {
  return await retireKey(readRingConfig(environment), options);
}

/** Brings a retired root key back (`custos keyring unretire`). */
export async function unretire(
  environment: NodeJS.ProcessEnv,
  keyId: string,
  say: (line: string) => void,
): Promise<void> {
  await unretireKey(readRingConfig(environment), keyId, say);
}

/** Writes the keys of the ring into a new ring under another setting (`custos keyring reseal`). */
export async function reseal(environment: NodeJS.ProcessEnv, to: string): Promise<Resealed> {
  return await resealRing(readRingConfig(environment).rootKey, to);
}

/** Gives an organization a new key, beside a running service (`custos keyring rotate-organization`). */
export async function rotateOrganization(
  environment: NodeJS.ProcessEnv,
  options: OrganizationRotationOptions,
): Promise<RotatedOrganization> {
  return await rotateOrganizationKey(readConfig(environment), options);
}

/** Checks everything in the database of the service (`custos verify`). */
export async function verifyAll(environment: NodeJS.ProcessEnv, options: VerifyOptions): Promise<VerifiedDatabase> {
  const { verifyDatabase } = await import('./restore/verify.ts');
  return await verifyDatabase(readConfig(environment), options);
}

/** Puts a backup in the place of the database (`custos restore`). */
export async function restore(environment: NodeJS.ProcessEnv, options: RestoreOptions): Promise<Restored | undefined> {
  const { restoreDatabase } = await import('./restore/restore.ts');
  return await restoreDatabase(readConfig(environment), options);
}

/** Restores a backup where nobody uses it, and checks everything there (`custos drill`). */
export async function drill(environment: NodeJS.ProcessEnv, options: DrillOptions): Promise<Drilled> {
  const { drillBackup } = await import('./restore/drill.ts');
  return await drillBackup(readConfig(environment), options);
}

/** Marks every row beside running services, and requires marks from then on (`custos integrity enable`). */
export async function enableRowIntegrity(
  environment: NodeJS.ProcessEnv,
  options: EnableOptions,
): Promise<Enabled | undefined> {
  return await enableIntegrity(readConfig(environment), options);
}

/** Puts another integrity key in the place of the one in use, beside running services (`custos integrity rotate-key`). */
export async function rotateIntegrity(
  environment: NodeJS.ProcessEnv,
  options: IntegrityRotationOptions,
): Promise<RotatedIntegrity | undefined> {
  return await rotateIntegrityKey(readConfig(environment), options);
}

/** Whether the key ring of this machine says that rows are authenticated (`custos status`); undefined without a ring. */
export async function readIntegrity(environment: NodeJS.ProcessEnv): Promise<readonly string[] | undefined> {
  const { rootKey, keyring: place } = readConfig(environment);
  try {
    const keyring = await createKeyring({
      rootKey,
      ...(typeof place === 'object' ? { served: place } : { mode: 'inline' }),
    });
    try {
      return await keyring.integrityRequired();
    } finally {
      await keyring.close();
    }
  } catch (error) {
    if (error instanceof KeyringError) return undefined;
    throw error;
  }
}

/** Lifts the fence of a restored database, beside running services or without any (`custos restore accept`). */
export async function acceptRestored(
  environment: NodeJS.ProcessEnv,
  options: AcceptOptions,
): Promise<Accepted | undefined> {
  return await acceptRestore(readConfig(environment), options);
}

/** Whether the database waits to be accepted after a restore (`custos status`). */
export async function readFence(environment: NodeJS.ProcessEnv): Promise<ShownFence | string> {
  return await showFence(readConfig(environment));
}

/** Opens every stored secret and reports what does not open (`custos keyring verify`). */
export async function verify(environment: NodeJS.ProcessEnv, report: (unopened: Unopened) => void): Promise<Verified> {
  return await verifyKeyring(readConfig(environment), report);
}

/**
 * Publishes the next service key of a role, beside a running service (`custos keyring rotate-service-key` and `custos
 * webhooks rotate-key`).
 */
export async function rotateServiceKey(
  environment: NodeJS.ProcessEnv,
  options: KeyRotationOptions,
): Promise<RotatedServiceKey | undefined> {
  return await rotateKeyOfRole(readConfig(environment), options);
}

/**
 * Takes the key that pays for the operator on a chain into the keyring, beside a running service (`custos chains
 * import-key`).
 */
export async function importOperatorKey(
  environment: NodeJS.ProcessEnv,
  options: OperatorKeyOptions,
): Promise<ImportedOperatorKey> {
  return await importKey(readConfig(environment), options);
}

/** The configured chains, and where the operator's key is missing (`custos chains list`). */
export async function listChains(environment: NodeJS.ProcessEnv): Promise<ListedChain[]> {
  return await listConfiguredChains(readConfig(environment));
}

/** Says what is to be known of a restored database before its fence is lifted (`custos restore review`). */
export async function reviewRestored(environment: NodeJS.ProcessEnv, options: ReviewOptions): Promise<Reviewed> {
  const { reviewRestore } = await import('./restore-review/review.ts');
  return await reviewRestore(readConfig(environment), options);
}

export interface BackupWishes {
  /** A file, or a folder with how many of the newest to keep; of neither, standard output. */
  readonly file?: string | undefined;
  readonly overwrites?: boolean;
  readonly folder?: string | undefined;
  readonly keep?: number | undefined;
  /** What the record of a backup to standard output says of where it is. */
  readonly place?: string | undefined;
  readonly recipients: readonly string[];
  readonly recipientsFile?: string | undefined;
  readonly withKeys: boolean;
  readonly onProgress?: (progress: BackupProgress) => void;
  readonly signal?: AbortSignal;
}

/** Backs up the database, beside a running service or without one (`custos backup`). */
export async function backup(environment: NodeJS.ProcessEnv, wishes: BackupWishes): Promise<Backup> {
  const config = readConfig(environment);
  const { recipients, recipientsFile, withKeys, onProgress, signal } = wishes;
  const target = await targetOf(wishes);
  const { recipientsOf } = await import('./backup/recipients.ts');
  const { takeBackup } = await import('./backup/take.ts');
  return await takeBackup(config, {
    target,
    recipients: await recipientsOf(recipients, recipientsFile, config.backupRecipients),
    withKeys,
    ...(onProgress && { onProgress }),
    ...(signal && { signal }),
  });
}

async function targetOf({
  file,
  overwrites = false,
  folder,
  keep,
  place = 'standard output',
}: BackupWishes): Promise<BackupTarget> {
  if (folder !== undefined) return { folder, keep };
  if (file !== undefined) return { file, overwrites };
  const { standardOutput } = await import('./backup/standard-output.ts');
  return { stream: standardOutput(), place };
}

/** The backups that the database has records of, newest first (`custos backup list`, `custos status`). */
export async function listBackups(environment: NodeJS.ProcessEnv): Promise<BackupRecord[]> {
  return await readBackups(readConfig(environment));
}

/** Ends the record of a backup (`custos backup forget`). */
export async function forgetBackup(environment: NodeJS.ProcessEnv, id: string): Promise<BackupRecord> {
  return await forgetRecord(readConfig(environment), id);
}

/** The settings for what changes the ring itself, which a keyring on a socket does for nobody (decision 0059). */
function readRingConfig(environment: NodeJS.ProcessEnv): Config {
  const config = readConfig(environment);
  if (typeof config.keyring !== 'object') return config;
  throw new StartError(
    'a keyring on a socket takes no administration: run this as root or as its user, with CUSTOS_ROOT_KEY as it has it and without CUSTOS_KEYRING and CUSTOS_KEYRING_KEY_FILE',
  );
}
