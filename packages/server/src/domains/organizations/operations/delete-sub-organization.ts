import Type from 'typebox';
import { OrganizationStore } from '../../../core/store/organizations.ts';
import { danger } from '../../../describe/sentence.ts';
import { named, say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { OrganizationId } from '../../../lib/ids.ts';
import type { ReadStores } from '../../../storage/stores.ts';
import { PrivateKeyReader } from '../../wallets/store/private-keys.ts';
import { WalletReader } from '../../wallets/store/wallets.ts';

export const deleteSubOrganization = defineActivity({
  name: 'delete_sub_organization',
  type: 'ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION',
  summary:
    'Delete this sub-organization; its own users decide, its parent cannot. Activities stay readable to the parent.',
  policy: { governedBy: 'policy', resource: 'ORGANIZATION', action: 'DELETE' },
  // The credentials of its users go with it.
  credentials: 'removes',
  scope: 'sub-organization',
  isLong: true,
  parameters: Type.Object({ deleteWithoutExport: Type.Optional(Type.Boolean()) }),
  sentence: ({ deleteWithoutExport }, { organization }) =>
    danger(
      say`Delete sub-organization ${named(organization.name)} for ever, with all its users, wallets and keys${deleteWithoutExport === true ? ', exported or not' : ''}.`,
      'deletes everything in it',
      'All wallets and keys in it are gone for ever, and what was not exported is lost. I want that.',
    ),
  result: Type.Object({ subOrganizationUuid: Type.String() }),
  describe: ({ read, actor }, parameters) => requireExported(read, actor.organizationId, parameters),
  async execute({ store, actor, nowMs }, parameters) {
    const { organizationId } = actor;
    await requireExported(store, organizationId, parameters);
    await store(OrganizationStore).erase(organizationId, nowMs);
    return { subOrganizationUuid: organizationId };
  },
});

async function requireExported(
  read: ReadStores,
  organizationId: OrganizationId,
  { deleteWithoutExport }: { readonly deleteWithoutExport?: boolean },
): Promise<void> {
  if (deleteWithoutExport === true) return;
  const isUnexported =
    (await read(WalletReader).hasUnexported(organizationId)) ||
    (await read(PrivateKeyReader).hasUnexported(organizationId));
  if (!isUnexported) return;
  throw new ApiError(
    'WALLET_ACCOUNT_NOT_EXPORTED',
    'a wallet or private key was never exported; deleteWithoutExport deletes it all the same',
  );
}
