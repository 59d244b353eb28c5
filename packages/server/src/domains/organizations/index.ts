import type { Domain } from '../../engine/domain.ts';
import { names } from './names.ts';
import { createInvitations } from './operations/create-invitations.ts';
import { createSubOrganization } from './operations/create-sub-organization.ts';
import { deleteInvitation } from './operations/delete-invitation.ts';
import { deleteSubOrganization } from './operations/delete-sub-organization.ts';
import { getOrganization } from './operations/get-organization.ts';
import { getOrganizationConfigs } from './operations/get-organization-configs.ts';
import { listInvitations } from './operations/list-invitations.ts';
import { listSuborgs } from './operations/list-suborgs.ts';
import { listVerifiedSuborgs } from './operations/list-verified-suborgs.ts';
import { searchSubOrganizations } from './operations/search-sub-organizations.ts';
import { updateOrganizationName } from './operations/update-organization-name.ts';
import { updateRootQuorum } from './operations/update-root-quorum.ts';
import { whoami } from './operations/whoami.ts';
import { tables } from './tables.ts';

export const organizations: Domain = {
  name: 'organizations',
  operations: [
    createInvitations,
    createSubOrganization,
    deleteInvitation,
    deleteSubOrganization,
    getOrganizationConfigs,
    getOrganization,
    listInvitations,
    listSuborgs,
    listVerifiedSuborgs,
    searchSubOrganizations,
    updateOrganizationName,
    updateRootQuorum,
    whoami,
  ],
  tables,
  names,
};
