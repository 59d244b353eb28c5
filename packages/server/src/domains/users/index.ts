import { Credentials, CredentialUses, Identities, Members, Principals, Users } from '../../core/directory.ts';
import { MfaPolicies, MfaRequirements } from '../../core/rules.ts';
import type { Domain } from '../../engine/domain.ts';
import { provide } from '../../storage/stores.ts';
import { names } from './names.ts';
import { createApiKeys } from './operations/create-api-keys.ts';
import { createApiOnlyUsers } from './operations/create-api-only-users.ts';
import { createAuthenticators } from './operations/create-authenticators.ts';
import { createMfaPolicy } from './operations/create-mfa-policy.ts';
import { createOauthProviders } from './operations/create-oauth-providers.ts';
import { createUserTag } from './operations/create-user-tag.ts';
import { createUsers } from './operations/create-users.ts';
import { deleteApiKeys } from './operations/delete-api-keys.ts';
import { deleteAuthenticators } from './operations/delete-authenticators.ts';
import { deleteMfaPolicy } from './operations/delete-mfa-policy.ts';
import { deleteOauthProviders } from './operations/delete-oauth-providers.ts';
import { deleteUserTags } from './operations/delete-user-tags.ts';
import { deleteUsers } from './operations/delete-users.ts';
import { getApiKey } from './operations/get-api-key.ts';
import { getApiKeys } from './operations/get-api-keys.ts';
import { getAuthenticator } from './operations/get-authenticator.ts';
import { getAuthenticators } from './operations/get-authenticators.ts';
import { getMfaPolicies } from './operations/get-mfa-policies.ts';
import { getMfaPolicy } from './operations/get-mfa-policy.ts';
import { getMfaStatus } from './operations/get-mfa-status.ts';
import { getOauthProviders } from './operations/get-oauth-providers.ts';
import { getUser } from './operations/get-user.ts';
import { listCredentials } from './operations/list-credentials.ts';
import { listUserSummaries } from './operations/list-user-summaries.ts';
import { listUserTags } from './operations/list-user-tags.ts';
import { listUsers } from './operations/list-users.ts';
import { updateMfaPolicy } from './operations/update-mfa-policy.ts';
import { updateUser } from './operations/update-user.ts';
import { updateUserEmail } from './operations/update-user-email.ts';
import { updateUserName } from './operations/update-user-name.ts';
import { updateUserPhoneNumber } from './operations/update-user-phone-number.ts';
import { updateUserTag } from './operations/update-user-tag.ts';
import { CredentialReader, CredentialStore } from './store/credentials.ts';
import { MemberReader } from './store/members.ts';
import { MfaReader, MfaStore } from './store/mfa.ts';
import { OauthReader } from './store/oauth.ts';
import { PrincipalReader } from './store/principals.ts';
import { UserReader } from './store/users.ts';
import { tables } from './tables.ts';

export const users: Domain = {
  name: 'users',
  operations: [
    createApiKeys,
    createApiOnlyUsers,
    createAuthenticators,
    createMfaPolicy,
    createOauthProviders,
    createUserTag,
    createUsers,
    deleteApiKeys,
    deleteAuthenticators,
    deleteMfaPolicy,
    deleteOauthProviders,
    deleteUserTags,
    deleteUsers,
    getApiKey,
    getApiKeys,
    getAuthenticator,
    getAuthenticators,
    getMfaPolicies,
    getMfaPolicy,
    getMfaStatus,
    getOauthProviders,
    getUser,
    listCredentials,
    listUserSummaries,
    listUserTags,
    listUsers,
    updateMfaPolicy,
    updateUserEmail,
    updateUserName,
    updateUserPhoneNumber,
    updateUserTag,
    updateUser,
  ],
  tables,
  names,
  provides: [
    provide(Users, UserReader),
    provide(Members, MemberReader),
    provide(Identities, OauthReader),
    provide(Credentials, CredentialReader),
    provide(CredentialUses, CredentialStore),
    provide(Principals, PrincipalReader),
    provide(MfaPolicies, MfaReader),
    provide(MfaRequirements, MfaStore),
  ],
};
