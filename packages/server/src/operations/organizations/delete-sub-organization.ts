import Type from 'typebox';
import { ApiError } from '../../lib/errors.ts';
import { defineActivity } from '../define.ts';

export const deleteSubOrganization = defineActivity({
  name: 'delete_sub_organization',
  type: 'ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION',
  summary:
    'Delete this sub-organization; its own users decide, its parent cannot. Activities stay readable to the parent.',
  policy: { governedBy: 'policy', resource: 'ORGANIZATION', action: 'DELETE' },
  // The credentials of its users go with it.
  credentials: 'removes',
  scope: 'sub-organization',
  parameters: Type.Object({ deleteWithoutExport: Type.Optional(Type.Boolean()) }),
  result: Type.Object({ subOrganizationUuid: Type.String() }),
  async execute({ store, actor, nowMs }, { deleteWithoutExport }) {
    const { organizationId } = actor;
    const unexported =
      (await store.wallets.hasUnexported(organizationId)) || (await store.privateKeys.hasUnexported(organizationId));
    if (unexported && deleteWithoutExport !== true) {
      throw new ApiError(
        'WALLET_ACCOUNT_NOT_EXPORTED',
        'a wallet or private key was never exported; deleteWithoutExport deletes it all the same',
      );
    }
    await store.organizations.erase(organizationId, nowMs);
    return { subOrganizationUuid: organizationId };
  },
});
