import type { Config } from '../config/config.ts';
import { InstallationReader } from '../core/store/installation.ts';
import { OrganizationReader } from '../core/store/organizations.ts';
import { openKeyringBeside } from '../keyring-admin/open-keyring.ts';
import { errorText } from '../lib/error-text.ts';
import { isUuid, type OrganizationId } from '../lib/ids.ts';
import { printable } from '../lib/printable.ts';
import { StartError } from '../lib/start-error.ts';
import type { Storage } from '../storage/storage.ts';

const REASON_MAX = 400;

/** Whose backups a run may name and delete in a folder that others use too. */
export type Owner =
  | { readonly firstOrganizationId: OrganizationId; readonly doubt?: never }
  /** Why nobody can tell. */
  | { readonly doubt: string };

/**
 * The first organization of a database, by a row of it that verifies. The note that names it is not authenticated: somebody who can
 * write to the database could put the first organization of another deployment there, whose backups would be deleted. A backup is
 * made all the same where this fails, whatever the reason is.
 */
export async function findOwner(storage: Storage, config: Config): Promise<Owner> {
  try {
    return { firstOrganizationId: await verifiedId(storage, config) };
  } catch (error) {
    return { doubt: printable(errorText(error), REASON_MAX) };
  }
}

async function verifiedId(storage: Storage, config: Config): Promise<OrganizationId> {
  const facts = await storage.read(InstallationReader).facts(['bootstrap', 'root_key_id']);
  const id = facts.get('bootstrap');
  // A key ring would be made for a database that is under none.
  if (id === undefined || !facts.has('root_key_id')) throw new StartError('the database has no first organization');
  const keyring = await openKeyringBeside(storage, config);
  try {
    const organization = await storage.read(OrganizationReader).find(id as OrganizationId);
    // Anybody can have a sub-organization, and choose among many.
    // Where marks are not required yet, somebody may have written anything.
    if (organization !== undefined && organization.parentId === undefined && isUuid(organization.id))
      return organization.id;
    throw new StartError(`the database names ${printable(id)} as its first organization, and has no such one`);
  } finally {
    await keyring.close();
  }
}
