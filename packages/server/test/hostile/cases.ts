import { createSubOrganization as signUp } from '../../src/domains/organizations/operations/create-sub-organization.ts';
import { newSecretTargets, Receiver } from '../harness/bundles.ts';
import { createSubOrganization, createUser } from '../harness/client.ts';
import {
  allowlistParams,
  contractParams,
  controlParams,
  mfaParams,
  newContractInterface,
  newMfaPolicy,
  newPolicy,
  newVelocityControl,
  policyParams,
  profileParams,
} from './access.ts';
import { another, type Build, byRoot, type Case, fresh } from './case.ts';
import { DEPLOYMENT_CASES } from './deployment-cases.ts';
import { EARN_CASES } from './earn-cases.ts';
import { EARN_LIST_CASES } from './earn-list-cases.ts';
import { ETHEREUM_SEND_CASES } from './ethereum-sends.ts';
import {
  ETHEREUM,
  keyParams,
  newKeyImport,
  newKeyTag,
  newPrivateKey,
  newSecret,
  newWallet,
  newWalletImport,
  PAYLOAD,
  SUITE,
  secretParams,
  TRANSACTION,
} from './keys.ts';
import { LOGIN_CASES, newProvider, proofOf, signUpProof } from './login-cases.ts';
import { ON_RAMP_CASES } from './on-ramp-cases.ts';
import { newPasskey } from './passkey.ts';
import type { Shape } from './schema.ts';
import { SOLANA_CASES } from './solana-sends.ts';
import { endpointParams, makeRoom, newEndpoint } from './webhooks.ts';
import { newApiKey, newInvitation, newPending, newPhone, type Tenant } from './world.ts';

const newUser = (tenant: Tenant, key = newApiKey('key')) => ({
  userName: fresh(tenant),
  userEmail: `user${another()}@${tenant.marker}.example`,
  userPhoneNumber: newPhone(),
  accessType: 'ACCESS_TYPE_ALL',
  apiKeys: [{ ...key, expirationSeconds: '600' }],
  authenticators: [{ ...newPasskey('passkey').registration, userId: tenant.second.userId }],
  oauthProviders: [newProvider(tenant, key.publicKey)],
  userTags: [tenant.ids.tag],
  userTagName: fresh(tenant),
});

/** A root user as the current version has it. */
const ROOT_USER = (signUp.versions[0] as { schema: Shape }).schema.properties?.rootUsers?.items as Shape;

const newTag = async (tenant: Tenant): Promise<string> =>
  (await tenant.root.run('create_user_tag', { userTagName: fresh(tenant), userIds: [tenant.second.userId] })).userTagId;

const RECEIVER = new Receiver();

/** A user for whom an MFA policy may be spoiled: it does nothing. */
const idleUser = async (tenant: Tenant): Promise<string> => (await createUser(tenant.root, fresh(tenant))).userId;

/** A key of a user who does nothing, with a list of its own. */
async function limitedKey(tenant: Tenant): Promise<string> {
  const { key } = await createUser(tenant.root, fresh(tenant));
  await tenant.root.run('set_ip_allowlist', { publicKey: key.publicKey, ...allowlistParams(fresh(tenant)) });
  return key.publicKey;
}

/** What the current version signs with, and what the older ones do. */
const signerOf = ({ ids }: Tenant) => ({ signWith: ids.address, privateKeyId: ids.privateKey });

/**
 * One entry per operation; a new operation needs one. What a request uses up is made for it, so that an entry can be
 * built and sent again and again.
 */
const PRIVATE_KEY = { curve: 'CURVE_ED25519', privateKeyTags: [], addressFormats: ['ADDRESS_FORMAT_SOLANA'] };

const CASES: Readonly<Record<string, Build>> = {
  ...LOGIN_CASES,
  ...ON_RAMP_CASES,
  ...SOLANA_CASES,
  ...ETHEREUM_SEND_CASES,
  ...DEPLOYMENT_CASES,
  ...EARN_CASES,
  ...EARN_LIST_CASES,
  create_api_keys: byRoot((tenant) => ({ userId: tenant.second.userId, apiKeys: [newApiKey(fresh(tenant))] })),
  create_authenticators: byRoot((tenant) => ({
    userId: tenant.second.userId,
    authenticators: [{ ...newPasskey(fresh(tenant)).registration, userId: tenant.second.userId }],
  })),
  delete_api_keys: byRoot(async (tenant) => {
    const userId = tenant.second.userId;
    const { apiKeyIds } = await tenant.root.run('create_api_keys', { userId, apiKeys: [newApiKey(fresh(tenant))] });
    return { userId, apiKeyIds };
  }),
  delete_authenticators: byRoot(async (tenant) => {
    const userId = tenant.second.userId;
    const authenticators = [newPasskey(fresh(tenant)).registration];
    const { authenticatorIds } = await tenant.root.run('create_authenticators', { userId, authenticators });
    return { userId, authenticatorIds };
  }),
  create_invitations: byRoot((tenant) => ({
    invitations: [newInvitation(tenant.root, tenant.marker, [tenant.ids.tag])],
  })),
  create_sub_organization: byRoot(async (tenant, type) => {
    const rootUser = newUser(tenant);
    // Older versions know no proofs.
    const isProvable = type === undefined || /_V[78]$/.test(type);
    return {
      subOrganizationName: fresh(tenant),
      rootQuorumThreshold: 1,
      rootUsers: [rootUser],
      // Of the third version, and of the first.
      privateKeys: [{ ...PRIVATE_KEY, privateKeyName: fresh(tenant) }],
      name: fresh(tenant),
      rootAuthenticator: newPasskey(fresh(tenant)).registration,
      wallet: { walletName: fresh(tenant), accounts: [{ ...ETHEREUM, name: fresh(tenant) }], mnemonicLength: 12 },
      disableEmailRecovery: false,
      disableEmailAuth: false,
      disableSmsAuth: false,
      disableOtpEmailAuth: true,
      ...(isProvable && (await signUpProof(tenant, rootUser, ROOT_USER))),
    };
  }),
  delete_invitation: byRoot(async (tenant) => {
    const invitations = [newInvitation(tenant.root, tenant.marker, [])];
    const { invitationIds } = await tenant.root.run('create_invitations', { invitations });
    return { invitationId: invitationIds[0] };
  }),
  // Its sender is gone afterwards, so it is a sub-organization made for the purpose.
  delete_sub_organization: async (tenant) => {
    const client = await createSubOrganization(tenant.treeRoot, fresh(tenant));
    await client.query('whoami');
    return { client, parameters: { deleteWithoutExport: true } };
  },
  remove_organization_feature: byRoot(async (tenant) => {
    const name = 'FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY';
    await tenant.root.run('set_organization_feature', { name, value: 'true' });
    return { name };
  }),
  set_organization_feature: byRoot(() => ({ name: 'FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY', value: 'true' })),
  update_organization_name: byRoot((tenant) => ({ organizationName: fresh(tenant) })),
  update_root_quorum: byRoot((tenant) => ({ threshold: 1, userIds: [tenant.root.userId] })),
  create_api_only_users: byRoot((tenant) => ({ apiOnlyUsers: [newUser(tenant)] })),
  create_user_tag: byRoot((tenant) => ({ userTagName: fresh(tenant), userIds: [tenant.second.userId] })),
  create_users: byRoot((tenant) => ({ users: [newUser(tenant)] })),
  delete_user_tags: byRoot(async (tenant) => ({ userTagIds: [await newTag(tenant)] })),
  delete_users: byRoot(async (tenant) => ({ userIds: [(await createUser(tenant.root, fresh(tenant))).userId] })),
  update_user_email: byRoot(async (tenant) => {
    const userEmail = `new${another()}@${tenant.marker}.example`;
    return { userId: tenant.second.userId, userEmail, ...(await proofOf(tenant, userEmail)) };
  }),
  update_user_name: byRoot((tenant) => ({ userId: tenant.second.userId, userName: fresh(tenant) })),
  update_user_phone_number: byRoot(async (tenant) => {
    const userPhoneNumber = newPhone();
    return { userId: tenant.second.userId, userPhoneNumber, ...(await proofOf(tenant, userPhoneNumber)) };
  }),
  update_user_tag: byRoot((tenant) => ({
    userTagId: tenant.ids.tag,
    newUserTagName: fresh(tenant),
    addUserIds: [tenant.member.userId],
    removeUserIds: [tenant.root.userId],
  })),
  update_user: byRoot((tenant) => ({
    userId: tenant.second.userId,
    userName: fresh(tenant),
    userEmail: `new${another()}@${tenant.marker}.example`,
    userTagIds: [tenant.ids.tag],
    userPhoneNumber: newPhone(),
  })),
  create_wallet: byRoot((tenant) => ({
    walletName: fresh(tenant),
    accounts: [{ ...ETHEREUM, name: fresh(tenant) }],
    mnemonicLength: 12,
  })),
  update_wallet: byRoot((tenant) => ({ walletId: tenant.ids.wallet, walletName: fresh(tenant) })),
  delete_wallets: byRoot(async (tenant) => ({
    walletIds: [(await newWallet(tenant.root, fresh(tenant))).walletId],
    deleteWithoutExport: true,
  })),
  create_wallet_accounts: byRoot((tenant) => ({
    walletId: tenant.ids.wallet,
    accounts: [{ ...ETHEREUM, path: `m/44'/60'/${another()}'/0/0`, name: fresh(tenant) }],
    persist: true,
  })),
  delete_wallet_accounts: byRoot(async (tenant) => ({
    walletAccountIds: [(await newWallet(tenant.root, fresh(tenant))).walletAccountId],
    deleteWithoutExport: true,
  })),
  export_wallet: byRoot((tenant) => ({
    walletId: tenant.ids.wallet,
    targetPublicKey: RECEIVER.publicKey,
    language: 'MNEMONIC_LANGUAGE_ENGLISH',
  })),
  export_wallet_account: byRoot((tenant) => ({
    address: tenant.ids.address,
    targetPublicKey: RECEIVER.publicKey,
  })),
  init_import_wallet: byRoot((tenant) => ({ userId: tenant.root.userId })),
  import_wallet: byRoot((tenant) => newWalletImport(tenant.root, fresh(tenant))),
  create_private_keys: byRoot((tenant) => ({ privateKeys: [keyParams(fresh(tenant), [tenant.ids.keyTag])] })),
  delete_private_keys: byRoot(async (tenant) => ({
    privateKeyIds: [(await newPrivateKey(tenant.root, fresh(tenant))).privateKeyId],
    deleteWithoutExport: true,
  })),
  export_private_key: byRoot((tenant) => ({
    privateKeyId: tenant.ids.privateKey,
    targetPublicKey: RECEIVER.publicKey,
  })),
  init_import_private_key: byRoot((tenant) => ({ userId: tenant.root.userId })),
  import_private_key: byRoot((tenant) => newKeyImport(tenant.root, fresh(tenant))),
  create_private_key_tag: byRoot((tenant) => ({
    privateKeyTagName: fresh(tenant),
    privateKeyIds: [tenant.ids.privateKey],
  })),
  update_private_key_tag: byRoot(async (tenant) => ({
    privateKeyTagId: await newKeyTag(tenant.root, fresh(tenant)),
    newPrivateKeyTagName: fresh(tenant),
    addPrivateKeyIds: [tenant.ids.privateKey],
    removePrivateKeyIds: [tenant.ids.privateKey],
  })),
  delete_private_key_tags: byRoot(async (tenant) => ({
    privateKeyTagIds: [await newKeyTag(tenant.root, fresh(tenant))],
  })),
  init_import_secrets: byRoot(() => ({ encryptionSuite: SUITE, numSecrets: 1 })),
  import_secrets: byRoot(async (tenant) => {
    const [target = ''] = await newSecretTargets(tenant.root);
    return { secrets: [secretParams(fresh(tenant), target)] };
  }),
  export_secrets: byRoot((tenant) => ({
    secrets: [
      {
        secretId: tenant.ids.secret,
        targetPublicKey: RECEIVER.publicKey,
        encryptionSuite: SUITE,
        requestContext: [{ key: 'reason', value: 'test' }],
      },
    ],
  })),
  delete_secrets: byRoot(async (tenant) => ({ secretIds: [await newSecret(tenant.root, fresh(tenant))] })),
  sign_raw_payload: byRoot((tenant) => ({ ...signerOf(tenant), ...PAYLOAD })),
  sign_raw_payloads: byRoot((tenant) => {
    const { payload, ...rest } = PAYLOAD;
    return { ...signerOf(tenant), payloads: [payload, 'ff'], ...rest };
  }),
  sign_transaction: byRoot((tenant) => ({ ...signerOf(tenant), ...TRANSACTION })),
  create_policy: byRoot((tenant) => policyParams(fresh(tenant))),
  create_policies: byRoot((tenant) => ({ policies: [policyParams(fresh(tenant))] })),
  update_policy: byRoot(async (tenant) => {
    const { effect, condition, consensus, notes, time } = policyParams(fresh(tenant));
    return {
      policyId: await newPolicy(tenant.root, fresh(tenant)),
      policyName: fresh(tenant),
      policyEffect: effect,
      policyCondition: condition,
      policyConsensus: consensus,
      policyNotes: notes,
      time,
    };
  }),
  delete_policy: byRoot(async (tenant) => ({ policyId: await newPolicy(tenant.root, fresh(tenant)) })),
  delete_policies: byRoot(async (tenant) => ({ policyIds: [await newPolicy(tenant.root, fresh(tenant))] })),
  create_mfa_policy: byRoot(async (tenant) => ({ userId: await idleUser(tenant), ...mfaParams(fresh(tenant)) })),
  update_mfa_policy: byRoot(async (tenant) => {
    const userId = await idleUser(tenant);
    const mfaPolicyId = await newMfaPolicy(tenant.root, userId, fresh(tenant));
    return { userId, mfaPolicyId, ...mfaParams(fresh(tenant)) };
  }),
  delete_mfa_policy: byRoot(async (tenant) => {
    const userId = await idleUser(tenant);
    return { userId, mfaPolicyId: await newMfaPolicy(tenant.root, userId, fresh(tenant)) };
  }),
  create_session_profile: byRoot((tenant) => profileParams(fresh(tenant))),
  set_ip_allowlist: byRoot(async (tenant) => ({
    publicKey: await limitedKey(tenant),
    ...allowlistParams(fresh(tenant)),
  })),
  remove_ip_allowlist: byRoot(async (tenant) => ({ publicKey: await limitedKey(tenant), allowLockout: false })),
  create_smart_contract_interface: byRoot((tenant) => contractParams(fresh(tenant))),
  delete_smart_contract_interface: byRoot(async (tenant) => ({
    smartContractInterfaceId: await newContractInterface(tenant.root, fresh(tenant)),
  })),
  create_velocity_control: byRoot((tenant) => controlParams(fresh(tenant))),
  delete_velocity_control: byRoot(async (tenant) => ({
    velocityControlId: await newVelocityControl(tenant.root, fresh(tenant)),
  })),
  create_webhook_endpoint: byRoot(async (tenant) => {
    await makeRoom(tenant.root);
    return endpointParams(tenant, fresh(tenant));
  }),
  update_webhook_endpoint: byRoot(async (tenant) => ({
    endpointId: await newEndpoint(tenant, fresh(tenant)),
    url: tenant.outside.hook(fresh(tenant)),
    name: fresh(tenant),
    isActive: false,
  })),
  delete_webhook_endpoint: byRoot(async (tenant) => ({ endpointId: await newEndpoint(tenant, fresh(tenant)) })),
  // Either the one delivery or those since a time.
  replay_webhook_delivery: byRoot(({ ids }) => ({ endpointId: ids.webhookEndpoint, deliveryId: ids.webhookDelivery })),
  test_webhook_endpoint: byRoot(({ ids }) => ({ endpointId: ids.webhookEndpoint })),
  approve_activity: byRoot(async (tenant) => ({
    fingerprint: (await newPending(tenant.root, tenant.second, fresh(tenant))).fingerprint,
  })),
  reject_activity: byRoot(async (tenant) => ({
    fingerprint: (await newPending(tenant.root, tenant.second, fresh(tenant))).fingerprint,
  })),
  get_activity: byRoot((tenant) => ({ activityId: tenant.ids.activity })),
  list_activities: byRoot(() => ({
    filterByStatus: ['ACTIVITY_STATUS_COMPLETED', 'ACTIVITY_STATUS_REJECTED'],
    filterByType: ['ACTIVITY_TYPE_UPDATE_USER_NAME'],
  })),
  get_api_key: byRoot((tenant) => ({ apiKeyId: tenant.ids.apiKey })),
  get_api_keys: byRoot((tenant) => ({ userId: tenant.second.userId })),
  get_authenticator: byRoot((tenant) => ({ authenticatorId: tenant.ids.authenticator })),
  get_authenticators: byRoot((tenant) => ({ userId: tenant.second.userId })),
  get_organization_configs: byRoot(() => ({})),
  get_organization: byRoot(() => ({})),
  list_suborgs: byRoot((tenant) => ({ filterType: 'NAME', filterValue: tenant.marker })),
  list_verified_suborgs: byRoot((tenant) => ({ filterType: 'EMAIL', filterValue: `second@${tenant.marker}.example` })),
  whoami: byRoot(() => ({})),
  list_app_proofs: byRoot((tenant) => ({ activityId: tenant.ids.activity })),
  get_activity_votes: byRoot((tenant) => ({ activityId: tenant.ids.activity })),
  get_wallet: byRoot((tenant) => ({ walletId: tenant.ids.wallet })),
  list_wallets: byRoot(() => ({})),
  get_wallet_account: byRoot((tenant) => ({
    walletId: tenant.ids.wallet,
    address: tenant.ids.address,
    path: ETHEREUM.path,
  })),
  list_wallet_accounts: byRoot((tenant) => ({ walletId: tenant.ids.wallet, includeWalletDetails: true })),
  get_private_key: byRoot((tenant) => ({ privateKeyId: tenant.ids.privateKey })),
  list_private_keys: byRoot(() => ({})),
  list_private_key_tags: byRoot(() => ({})),
  list_secrets: byRoot(() => ({})),
  get_user: byRoot((tenant) => ({ userId: tenant.second.userId })),
  list_user_tags: byRoot(() => ({})),
  list_users: byRoot(() => ({})),
  get_policy: byRoot((tenant) => ({ policyId: tenant.ids.policy })),
  list_policies: byRoot(() => ({})),
  get_policy_evaluations: byRoot((tenant) => ({ activityId: tenant.ids.activity })),
  get_active_policies: byRoot(() => ({})),
  simulate_activity: byRoot((tenant) => {
    const userId = tenant.second.userId;
    const { policyName, effect, condition, consensus, notes, time } = policyParams(fresh(tenant));
    return {
      request: {
        type: 'ACTIVITY_TYPE_UPDATE_USER_NAME',
        organizationId: tenant.ids.organization,
        parameters: { userId, userName: fresh(tenant) },
      },
      submitterUserId: userId,
      approverUserIds: [tenant.root.userId],
      atMs: '1767225600000',
      sourceAddress: '192.0.2.1',
      draftPolicies: [{ policyId: tenant.ids.policy, policyName, effect, condition, consensus, notes, time }],
    };
  }),
  get_mfa_policy: byRoot((tenant) => ({ userId: tenant.second.userId, mfaPolicyId: tenant.ids.mfaPolicy })),
  get_mfa_policies: byRoot((tenant) => ({ userId: tenant.second.userId })),
  get_mfa_status: byRoot((tenant) => ({ activityId: tenant.ids.activity, userId: tenant.second.userId })),
  get_session_profile: byRoot((tenant) => ({ sessionProfileId: tenant.ids.sessionProfile })),
  get_session_profiles: byRoot(() => ({})),
  get_ip_allowlist: byRoot((tenant) => ({ publicKey: tenant.ids.publicKey })),
  get_smart_contract_interface: byRoot((tenant) => ({ smartContractInterfaceId: tenant.ids.contractInterface })),
  list_smart_contract_interfaces: byRoot(() => ({})),
  get_velocity_control: byRoot((tenant) => ({ velocityControlId: tenant.ids.velocityControl })),
  list_velocity_controls: byRoot(() => ({})),
  list_webhook_endpoints: byRoot(() => ({})),
  list_webhook_deliveries: byRoot(({ ids }) => ({
    endpointId: ids.webhookEndpoint,
    eventId: ids.webhookEvent,
    state: 'WEBHOOK_DELIVERY_STATE_DELIVERED',
  })),
};

/** The table's request of an operation, built for one tenant and one version, the current one unless told. */
export async function caseFor(operation: string, tenant: Tenant, type?: string): Promise<Case> {
  const build = Object.hasOwn(CASES, operation) ? CASES[operation] : undefined;
  if (build === undefined) throw new Error(`operation ${operation} has no isolation case`);
  return await build(tenant, type);
}

export const casedOperations = (): readonly string[] => Object.keys(CASES);
