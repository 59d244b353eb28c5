import { type BackupRecord, InstallationReader } from '../core/store/installation.ts';
import { SealedReader, WRAPPED_KEY_BYTES } from '../core/store/sealed.ts';
import { printable } from '../lib/printable.ts';
import type { Storage } from '../storage/storage.ts';

/** What needs a root key, as far as this database knows. */
export interface KeyUses {
  readonly organizations: number;
  /** One of them. */
  readonly organizationId: string | undefined;
  readonly isServiceKeysUnderIt: boolean;
  readonly backups: readonly BackupRecord[];
}

export async function usesOf(storage: Storage, keyId: string): Promise<KeyUses> {
  const { count, first } = await storage.read(SealedReader).organizationsUnder(keyId);
  const wrapped = await storage.read(InstallationReader).get('deployment_key');
  const backups = await storage.read(InstallationReader).backups();
  return {
    organizations: count,
    organizationId: first,
    isServiceKeysUnderIt: rootKeyIdsOf(wrapped).includes(keyId),
    backups: backups.filter(({ rootKeyIds }) => rootKeyIds.includes(keyId)),
  };
}

/** The root keys that the key of the service keys is under: bytes 2 to 17 of a wrapped key, as in SealedReader. */
export function rootKeyIdsOf(wrapped: string | undefined): string[] {
  if (wrapped === undefined) return [];
  const bytes = Buffer.from(wrapped, 'hex');
  const starts = bytes.length > WRAPPED_KEY_BYTES ? [0, WRAPPED_KEY_BYTES] : [0];
  return starts.map((start) => bytes.subarray(start + 2, start + 18).toString('hex'));
}

/** A line for each; none when nothing is known to need the key. */
export function describeUses({ organizations, organizationId, isServiceKeysUnderIt, backups }: KeyUses): string[] {
  return [
    ...(organizations > 0 ? [`${organizations} organization keys, as that of ${printable(organizationId)}`] : []),
    ...(isServiceKeysUnderIt ? ['the service keys'] : []),
    ...backups.map(
      ({ id, takenAtMs, place }) => `backup ${printable(id)} of ${dateOf(takenAtMs)} (${printable(place)})`,
    ),
  ];
}

const dateOf = (timeMs: unknown): string => {
  const date = new Date(timeMs as number);
  return Number.isNaN(date.getTime()) ? printable(timeMs) : date.toISOString();
};
