import { ApiError, type ErrorCode } from '../lib/errors.ts';

interface UniqueRule {
  readonly table: string;
  readonly columns: readonly string[];
  readonly code: ErrorCode;
  readonly message: string;
}

/**
 * Every uniqueness rule of the schema with the answer a caller gets when it is broken. Migrations create the indexes
 * under these names; PostgreSQL reports the name, SQLite the columns.
 */
export const UNIQUE_RULES = {
  ux_organization_feature: rule('organization_feature', ['organization_id', 'name'], 'this feature is already set'),
  ux_tree_value: rule(
    'tree_entry',
    ['root_id', 'kind', 'unique_value'],
    'a credential or verified contact with this value already exists',
  ),
  ux_user_email: rule('app_user', ['organization_id', 'email_key'], 'a user with this email already exists'),
  ux_user_phone: rule('app_user', ['organization_id', 'phone'], 'a user with this phone number already exists'),
  ux_api_key_public_key: rule(
    'api_key',
    ['organization_id', 'public_key'],
    'an API key with this public key already exists',
  ),
  ux_api_key_name: rule(
    'api_key',
    ['organization_id', 'user_id', 'name'],
    'this user already has an API key with this name: it already exists',
  ),
  ux_authenticator_credential: rule(
    'authenticator',
    ['organization_id', 'credential_id'],
    'an authenticator with this credential id already exists',
  ),
  ux_authenticator_name: rule(
    'authenticator',
    ['organization_id', 'user_id', 'name'],
    'this user already has an authenticator with this name: it already exists',
  ),
  ux_tag_name: rule('tag', ['organization_id', 'type', 'name'], 'a tag with this name already exists'),
  ux_activity_fingerprint: rule(
    'activity',
    ['organization_id', 'fingerprint'],
    'an activity with the same fingerprint already exists',
  ),
  ux_vote_message: rule(
    'vote',
    ['organization_id', 'activity_id', 'user_id', 'message_digest'],
    'this signed body already exists as a vote',
  ),
  ux_wallet_name: rule('wallet', ['organization_id', 'name'], 'a wallet with this name already exists'),
  ux_wallet_account_path: rule(
    'wallet_account',
    ['organization_id', 'wallet_id', 'curve', 'path_key', 'address_format'],
    'an account with this path and address format already exists in the wallet',
  ),
  ux_wallet_account_name: rule(
    'wallet_account',
    ['organization_id', 'name'],
    'a wallet account with this name already exists',
  ),
  ux_private_key_name: rule('private_key', ['organization_id', 'name'], 'a private key with this name already exists'),
  ux_policy_name: rule('policy', ['organization_id', 'name'], 'policy label must be unique', 'POLICY_LABEL_NOT_UNIQUE'),
  ux_session_profile_name: rule(
    'session_profile',
    ['organization_id', 'name'],
    'a session profile with this name already exists',
  ),
  ux_contract_interface: rule(
    'contract_interface',
    ['organization_id', 'type', 'address_key'],
    'an interface for this contract address already exists',
    'REQUEST_INVALID',
  ),
  ux_velocity_identifier: rule(
    'velocity_control',
    ['organization_id', 'identifier'],
    'a velocity control with this identifier already exists',
  ),
  ux_oauth_provider: rule(
    'oauth_provider',
    ['organization_id', 'issuer', 'subject', 'audience'],
    'an OAuth provider with this issuer, subject and audience already exists',
    'OAUTH_PROVIDER_ALREADY_EXISTS',
  ),
  ux_oauth2_credential: rule(
    'oauth2_credential',
    ['organization_id', 'provider', 'client_id'],
    'an OAuth 2.0 credential for this provider and client id already exists',
  ),
  ux_auth_proxy_config: rule('auth_proxy_config', ['id'], 'a sign-up proxy configuration with this id already exists'),
  ux_webhook_endpoint_name: rule(
    'webhook_endpoint',
    ['organization_id', 'name'],
    'a webhook endpoint with this name already exists',
  ),
  ux_tvc_operator_key: rule(
    'tvc_operator',
    ['organization_id', 'sign_public_key'],
    'an operator with this public key already exists',
  ),
  ux_tvc_operator_set: rule(
    'tvc_operator_set',
    ['organization_id', 'name', 'threshold', 'members_digest'],
    'this operator set already exists',
  ),
  ux_tvc_manifest: rule('tvc_deployment', ['organization_id', 'manifest_id'], 'this manifest already exists'),
  ux_tvc_approval: rule(
    'tvc_approval',
    ['organization_id', 'deployment_id', 'operator_id'],
    'an approval of this manifest by this operator already exists',
  ),
  ux_secret_name: rule('secret', ['organization_id', 'name'], 'a secret with this name already exists'),
} as const satisfies Record<string, UniqueRule>;

function rule(
  table: string,
  columns: readonly string[],
  message: string,
  code: ErrorCode = 'ALREADY_EXISTS',
): UniqueRule {
  return { table, columns, message, code };
}

/**
 * The answer for a broken rule, found by its index name or by `table.column, table.column`; undefined if it is no rule
 * of ours.
 */
export function uniqueViolation(
  name: string | undefined,
  columns: string | undefined,
  cause: unknown,
): ApiError | undefined {
  for (const [key, unique] of Object.entries(UNIQUE_RULES)) {
    const spelled = unique.columns.map((column) => `${unique.table}.${column}`).join(', ');
    if (key === name || spelled === columns) return new ApiError(unique.code, unique.message, { cause });
  }
  return undefined;
}
