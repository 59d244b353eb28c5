import Type, { type Static } from 'typebox';
import { ClientSignatureShape, VerificationTokenShape } from '../../../authn/shapes.ts';
import { OrganizationStore } from '../../../core/store/organizations.ts';
import { TreeStore } from '../../../core/store/tree.ts';
import { listOf, named, say, strong } from '../../../describe/text.ts';
import { defineActivity, legacy } from '../../../engine/define.ts';
import { ApiError, invalidField } from '../../../lib/errors.ts';
import type { OrganizationId, UserId, WalletId } from '../../../lib/ids.ts';
import { integerShape, listShape, NameShape } from '../../../lib/shapes.ts';
import { FIRST_RULES_VERSION } from '../../../storage/authority.ts';
import { addUsers, checkNewUsers, verifyNewUsers } from '../../users/new-users.ts';
import { claimContact } from '../../users/proven-contact.ts';
import {
  ApiKeyParamsShape,
  ApiKeyParamsV1Shape,
  AuthenticatorParamsShape,
  OauthProviderParamsV1Shape,
  withP256,
} from '../../users/shapes/credentials.ts';
import {
  EmailOrEmptyShape,
  PhoneOrEmptyShape,
  RootUserParamsShape,
  UserTagNameShape,
} from '../../users/shapes/users.ts';
import { addAccounts, checkAccounts, toSpecs } from '../../wallets/accounts.ts';
import {
  checkPrivateKeys,
  makePrivateKeys,
  type PrivateKeyParams,
  PrivateKeyParamsShape,
  toKeyResult,
} from '../../wallets/new-private-keys.ts';
import { PrivateKeyResultShape, WalletParamsShape, WalletResultShape } from '../../wallets/shapes.ts';
import { PrivateKeyStore } from '../../wallets/store/private-keys.ts';
import { WalletStore } from '../../wallets/store/wallets.ts';
import { addTags, readSignUp } from '../sign-up.ts';

const base = {
  subOrganizationName: NameShape,
  rootQuorumThreshold: integerShape(0),
};
const sinceV4 = {
  wallet: Type.Optional(WalletParamsShape),
  disableEmailRecovery: Type.Optional(Type.Boolean()),
  disableEmailAuth: Type.Optional(Type.Boolean()),
};
const sinceV7 = {
  disableSmsAuth: Type.Optional(Type.Boolean()),
  disableOtpEmailAuth: Type.Optional(Type.Boolean()),
  verificationToken: Type.Optional(VerificationTokenShape),
  clientSignature: Type.Optional(ClientSignatureShape),
};

const user = {
  userName: NameShape,
  userEmail: Type.Optional(EmailOrEmptyShape),
  authenticators: listShape(AuthenticatorParamsShape),
};
const V4UserShape = Type.Object({ ...user, apiKeys: listShape(ApiKeyParamsV1Shape) });
const V5UserShape = Type.Object({
  ...user,
  apiKeys: listShape(ApiKeyParamsV1Shape),
  oauthProviders: listShape(OauthProviderParamsV1Shape),
});
const V6UserShape = Type.Object({
  ...user,
  apiKeys: listShape(ApiKeyParamsShape),
  oauthProviders: listShape(OauthProviderParamsV1Shape),
});
const V7UserShape = Type.Object({
  ...user,
  userPhoneNumber: Type.Optional(PhoneOrEmptyShape),
  apiKeys: listShape(ApiKeyParamsShape),
  oauthProviders: listShape(OauthProviderParamsV1Shape),
  userTagName: Type.Optional(UserTagNameShape),
});

// What the client signed repeats the tokens of the request.
const SECRETS = ['verificationToken', 'clientSignature.message', 'rootUsers.*.oauthProviders.*.oidcToken'];

const ParametersShape = Type.Object({
  ...base,
  rootUsers: listShape(RootUserParamsShape, 1),
  ...sinceV4,
  ...sinceV7,
});

type Parameters = Static<typeof ParametersShape> & {
  /** The seventh version takes tokens that are bound to no key, the eighth does not (protocol/login 4.4). */
  readonly takesUnboundTokens?: true;
  /** The third version makes private keys, as there were no wallets yet. */
  readonly privateKeys?: readonly PrivateKeyParams[];
};

const ResultShape = Type.Object({
  subOrganizationId: Type.String(),
  wallet: Type.Optional(WalletResultShape),
  rootUserIds: Type.Array(Type.String()),
});
const V3ResultShape = Type.Object({
  subOrganizationId: Type.String(),
  privateKeys: Type.Array(PrivateKeyResultShape),
  rootUserIds: Type.Array(Type.String()),
});
type Result = Static<typeof ResultShape> & { privateKeys?: ReturnType<typeof toKeyResult>[] };

/** The first version has no name for its one root user. */
const ROOT_USER_NAME = 'Root user';

/** Root users as they were before OAuth and before curves could be chosen. */
const upgradeUsers = (rootUsers: readonly Static<typeof V4UserShape>[]): Parameters['rootUsers'] =>
  rootUsers.map((root) => ({ ...root, apiKeys: withP256(root.apiKeys), oauthProviders: [] }));

/**
 * Features that a sub-organization has from its first moment unless its creator turns them off
 * (protocol/organizations 1.2).
 */
const FEATURES = [
  ['FEATURE_NAME_EMAIL_AUTH', 'disableEmailAuth'],
  ['FEATURE_NAME_EMAIL_RECOVERY', 'disableEmailRecovery'],
  ['FEATURE_NAME_OTP_EMAIL_AUTH', 'disableOtpEmailAuth'],
  ['FEATURE_NAME_SMS_AUTH', 'disableSmsAuth'],
] as const;

export const createSubOrganization = defineActivity({
  name: 'create_sub_organization',
  type: 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8',
  resultKey: 'createSubOrganizationResultV8',
  summary: 'Create an isolated sub-organization with its own root users.',
  bodyLimit: 1024 * 1024,
  policy: { governedBy: 'policy', resource: 'ORGANIZATION', action: 'CREATE' },
  // Its first users come with credentials, and a contact that they claim is claimed in the whole tree.
  credentials: 'mints',
  proxyRuns: true,
  scope: 'parent',
  // It touches only rows of its own; what must be unique in the tree is unique by index.
  lock: 'shared',
  parameters: Type.Unsafe<Parameters>(ParametersShape),
  secrets: SECRETS,
  older: [
    legacy(
      'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7',
      Type.Object({ ...base, rootUsers: listShape(V7UserShape, 1), ...sinceV4, ...sinceV7 }),
      (parameters): Parameters => ({ ...parameters, takesUnboundTokens: true }),
      { resultKey: 'createSubOrganizationResultV7', secrets: SECRETS },
    ),
    legacy(
      'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V6',
      Type.Object({ ...base, rootUsers: listShape(V6UserShape, 1), ...sinceV4 }),
      (parameters) => parameters,
      { resultKey: 'createSubOrganizationResultV6', secrets: SECRETS },
    ),
    legacy(
      'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V5',
      Type.Object({ ...base, rootUsers: listShape(V5UserShape, 1), ...sinceV4 }),
      ({ rootUsers, ...rest }) => ({
        ...rest,
        rootUsers: rootUsers.map((root) => ({ ...root, apiKeys: withP256(root.apiKeys) })),
      }),
      { resultKey: 'createSubOrganizationResultV5', secrets: SECRETS },
    ),
    legacy(
      'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V4',
      Type.Object({ ...base, rootUsers: listShape(V4UserShape, 1), ...sinceV4 }),
      ({ rootUsers, ...rest }) => ({ ...rest, rootUsers: upgradeUsers(rootUsers) }),
      { resultKey: 'createSubOrganizationResultV4' },
    ),
    legacy(
      'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V3',
      Type.Object({ ...base, rootUsers: listShape(V4UserShape, 1), privateKeys: listShape(PrivateKeyParamsShape) }),
      ({ rootUsers, ...rest }): Parameters => ({ ...rest, rootUsers: upgradeUsers(rootUsers) }),
      { resultKey: 'createSubOrganizationResultV3', result: V3ResultShape },
    ),
    legacy(
      'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V2',
      Type.Object({ ...base, rootUsers: listShape(V4UserShape, 1) }),
      ({ rootUsers, ...rest }) => ({ ...rest, rootUsers: upgradeUsers(rootUsers) }),
    ),
    legacy(
      'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION',
      Type.Object({ name: NameShape, rootAuthenticator: AuthenticatorParamsShape }),
      ({ name, rootAuthenticator }) => ({
        subOrganizationName: name,
        rootQuorumThreshold: 1,
        rootUsers: [{ userName: ROOT_USER_NAME, apiKeys: [], authenticators: [rootAuthenticator], oauthProviders: [] }],
      }),
    ),
  ],
  sentence: ({ subOrganizationName, rootUsers, rootQuorumThreshold, wallet }) =>
    say`Create sub-organization ${named(subOrganizationName)} with ${listOf(rootUsers.map(({ userName }) => named(userName)))} as root, ${strong(`${rootQuorumThreshold} of ${rootUsers.length}`)}${wallet === undefined ? '' : say`, and wallet ${named(wallet.walletName)}`}.`,
  result: Type.Unsafe<Result>(ResultShape),
  check({ rootUsers, rootQuorumThreshold, wallet, privateKeys = [] }) {
    checkPrivateKeys(privateKeys, 'parameters.privateKeys');
    const tagged = privateKeys.findIndex(({ privateKeyTags }) => privateKeyTags.length > 0);
    if (tagged >= 0) {
      const field = `parameters.privateKeys.${tagged}.privateKeyTags`;
      throw invalidField(field, 'must be empty: the new sub-organization has no tags yet');
    }
    if (wallet !== undefined) checkAccounts(wallet.accounts, 'parameters.wallet.accounts');
    if (rootQuorumThreshold < 1 || rootQuorumThreshold > rootUsers.length) {
      throw new ApiError('INVALID_QUORUM', 'rootQuorumThreshold must be from 1 to the number of rootUsers');
    }
    checkNewUsers(rootUsers, 'parameters.rootUsers');
  },
  describe: (context, parameters) => readSignUp(context, parameters),
  async prepare(context, { rootUsers, wallet, privateKeys }, signUp) {
    const organizationId: OrganizationId = context.newId();
    const walletId: WalletId = context.newId();
    const wrappedKey = await context.keyring.createOrganizationKey(organizationId);
    const holder = { organizationKey: wrappedKey, organizationId: organizationId as string };
    return {
      organizationId,
      wrappedKey,
      signUp,
      verified: await verifyNewUsers(context, rootUsers, 'parameters.rootUsers', (index) => ({
        email: signUp?.index === index && signUp.proven.kind === 'email',
        phone: signUp?.index === index && signUp.proven.kind === 'phone',
      })),
      wallet: wallet && {
        id: walletId,
        ...(await context.keyring.createWallet(
          { ...holder, ownerId: walletId as string },
          wallet.mnemonicLength ?? 12,
          toSpecs(wallet.accounts),
        )),
      },
      privateKeys: privateKeys && (await makePrivateKeys(context, holder, privateKeys)),
    };
  },
  async execute(context, parameters, { organizationId, wrappedKey, signUp, verified, wallet, privateKeys }) {
    const { store, actor, nowMs } = context;
    const rootId = actor.organizationId;
    await store(OrganizationStore).insert({
      id: organizationId,
      parentId: rootId,
      name: parameters.subOrganizationName,
      rootThreshold: parameters.rootQuorumThreshold,
      rootUserIds: [],
      authorityVersion: 1,
      rulesVersion: FIRST_RULES_VERSION,
      wrappedKey,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
      deletedAtMs: undefined,
    });
    const place = { organizationId, rootId };
    const rootUserIds = await addUsers(context, place, parameters.rootUsers, verified);
    await addTags(context, organizationId, parameters.rootUsers, rootUserIds);
    if (signUp !== undefined) {
      // Of several who sign up with one contact, one can have it.
      await claimContact(context, place, rootUserIds[signUp.index] as UserId, signUp.proven, 'signup');
    }
    await store(OrganizationStore).setRootQuorum(organizationId, parameters.rootQuorumThreshold, rootUserIds, nowMs);
    await store(TreeStore).add(rootId, organizationId, [
      { kind: 'NAME', value: parameters.subOrganizationName, ownerId: organizationId },
    ]);
    for (const [name, flag] of FEATURES) {
      if (parameters[flag] !== true) await store(OrganizationStore).setFeature(organizationId, name, 'true');
    }
    if (privateKeys !== undefined) {
      await store(PrivateKeyStore).insert(organizationId, privateKeys);
      return { subOrganizationId: organizationId, privateKeys: privateKeys.map(toKeyResult), rootUserIds };
    }
    if (wallet === undefined || parameters.wallet === undefined)
      return { subOrganizationId: organizationId, rootUserIds };
    const { walletName, accounts } = parameters.wallet;
    const row = {
      id: wallet.id,
      name: walletName,
      sealedSeed: wallet.sealedSeed,
      exported: false,
      imported: false,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    await store(WalletStore).insert(organizationId, row);
    const added = await addAccounts(context, row, accounts, wallet.accounts, organizationId);
    return {
      subOrganizationId: organizationId,
      wallet: { walletId: wallet.id, addresses: added.map((account) => account.address) },
      rootUserIds,
    };
  },
  newAddresses: (_parameters, { organizationId, wallet }) =>
    (wallet?.accounts ?? []).map(({ path, address }) => ({
      organizationId,
      walletId: wallet?.id as string,
      derivationPath: path,
      address,
    })),
});
