import type { Holder } from '@custos/keyring';
import type { Organization } from '../../core/model.ts';
import { OrganizationReader } from '../../core/store/organizations.ts';
import { ApiError } from '../../lib/errors.ts';
import type { ReadStores } from '../../storage/stores.ts';
import { PROVIDER_LABELS } from './ask.ts';
import type { OnRampCredential, OnRampProvider } from './model.ts';
import { OnRampReader } from './store.ts';

/** A credential that serves an organization, and as whose its secrets open. */
export interface ServingCredential {
  readonly credential: OnRampCredential;
  readonly holder: Holder;
}

interface Wanted {
  readonly provider: OnRampProvider;
  readonly isSandbox: boolean;
  /** The one that was used before, if it still serves. */
  readonly credentialId?: string;
}

/** The newest of the organization or else of its parent, with the same provider and mode (protocol/on-ramp 1.3). */
export async function servingCredential(
  read: ReadStores,
  organization: Organization,
  wanted: Wanted,
): Promise<ServingCredential> {
  const { provider, isSandbox } = wanted;
  const { id, parentId } = organization;
  for (const ownerId of parentId === undefined ? [id] : [id, parentId]) {
    const credential = await find(read, ownerId, wanted);
    if (credential === undefined) continue;
    const owner = ownerId === id ? organization : await read(OrganizationReader).get(ownerId);
    const holder = { organizationKey: owner.wrappedKey, organizationId: owner.id as string, ownerId: credential.id };
    return { credential, holder };
  }
  const mode = isSandbox ? 'sandbox' : 'production';
  throw new ApiError(
    'ON_RAMP_NOT_CONFIGURED',
    `neither the organization nor its parent has a ${mode} credential for ${PROVIDER_LABELS[provider]}`,
  );
}

async function find(
  read: ReadStores,
  ownerId: Organization['id'],
  { provider, isSandbox, credentialId }: Wanted,
): Promise<OnRampCredential | undefined> {
  const known = credentialId === undefined ? undefined : await read(OnRampReader).findCredential(ownerId, credentialId);
  // An update may have made it one of the other provider.
  if (known?.provider === provider) return known;
  return await read(OnRampReader).newestCredential(ownerId, provider, isSandbox);
}
