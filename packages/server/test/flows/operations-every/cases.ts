import { createHash, generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importOperatorKeyFor } from '../../chain/earn-chain.ts';
import { type Answer, createSubOrganization, createUser, newKeyPair, TestClient } from '../../harness/client.ts';
import { DATABASES, type DatabaseKind } from '../../harness/databases.ts';
import { TestServer } from '../../harness/server.ts';
import {
  newEmail,
  newKnownCredential,
  newPhone,
  newUnboundVerification,
  newVerification,
  Outside,
  signUpSignature,
  turnLoginsOn,
} from '../../hostile/outside.ts';
import { ACCESS_CASES, ACCESS_QUERIES } from '../every/access.ts';
import {
  type ActivityCase,
  type Arranged,
  anId,
  notFound,
  PAGE_INFO,
  type QueryCase,
  TIMESTAMP,
  type World,
} from '../every/case.ts';
import { DEPLOYMENT_CASES, DEPLOYMENT_QUERIES } from '../every/deployments.ts';
import { EARN_CASES, EARN_QUERIES } from '../every/earn.ts';
import { EARN_LIST_QUERIES } from '../every/earn-lists.ts';
import { ETHEREUM_SEND_CASES, ETHEREUM_SEND_QUERIES } from '../every/ethereum-sends.ts';
import { LOGIN_CASES, LOGIN_QUERIES } from '../every/logins.ts';
import { ON_RAMP_CASES, ON_RAMP_QUERIES } from '../every/on-ramp.ts';
import { SOLANA_SEND_CASES } from '../every/solana-sends.ts';
import { anEthereumAddress, ETHEREUM, WALLET_CASES, WALLET_QUERIES } from '../every/wallets.ts';
import { WEBHOOK_CASES, WEBHOOK_QUERIES } from '../every/webhooks.ts';

export const fingerprintOf = (body: string): string => `sha256:${createHash('sha256').update(body).digest('hex')}`;

const KEY = 'API_KEY_CURVE_P256';

const apiKey = (extra: Record<string, unknown> = {}) => ({
  apiKeyName: `key ${randomUUID()}`,
  publicKey: newKeyPair().publicKey,
  curveType: KEY,
  ...extra,
});

const oldApiKey = () => ({ apiKeyName: `key ${randomUUID()}`, publicKey: newKeyPair().publicKey });

const someone = (extra: Record<string, unknown> = {}) => ({
  userName: 'Someone',
  apiKeys: [apiKey()],
  authenticators: [],
  oauthProviders: [],
  ...extra,
});

/** A registration by a software authenticator with attestation none. */
function newPasskey(authenticatorName: string) {
  const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest();
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const cose = Buffer.concat([
    Buffer.from('a5010203262001215820', 'hex'),
    Buffer.from(x, 'base64url'),
    Buffer.from('225820', 'hex'),
    Buffer.from(y, 'base64url'),
  ]);
  const id = randomBytes(20);
  const challenge = randomBytes(32).toString('base64url');
  const authData = Buffer.concat([
    sha256('app.example'),
    Buffer.of(0x45),
    Buffer.alloc(4 + 16),
    Buffer.of(0, id.length),
    id,
    cose,
  ]);
  const attestationObject = Buffer.concat([
    Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746159', 'hex'),
    Buffer.of(authData.length >> 8, authData.length & 0xff),
    authData,
  ]).toString('base64url');
  const clientDataJson = Buffer.from(
    JSON.stringify({ type: 'webauthn.create', challenge, origin: 'https://app.example' }),
  ).toString('base64url');
  const credentialId = id.toString('base64url');
  return {
    credentialId,
    publicKey: cose.toString('hex'),
    params: {
      authenticatorName,
      challenge,
      attestation: {
        credentialId,
        clientDataJson,
        attestationObject,
        transports: ['AUTHENTICATOR_TRANSPORT_INTERNAL', 'AUTHENTICATOR_TRANSPORT_HYBRID'],
      },
    },
    browserStyle: (userId: string) => ({
      authenticatorName,
      userId,
      challenge,
      attestation: {
        id: credentialId,
        rawId: credentialId,
        type: 'public-key',
        response: { clientDataJson, attestationObject, transports: ['AUTHENTICATOR_TRANSPORT_USB'] },
        clientExtensionResults: {},
      },
    }),
  };
}

async function userNames(reader: TestClient): Promise<string[]> {
  return (await reader.query('list_users')).body.users.map((user: { userName: string }) => user.userName);
}

/** create_users in any of its versions: the effect is the same. */
function newUser(make: (tagId: string, name: string, world: World) => Record<string, unknown>, list = 'users') {
  return async (world: World): Promise<Arranged> => {
    const { root } = world;
    const name = `User ${randomUUID()}`;
    const { userTagId } = await root.run('create_user_tag', { userTagName: name, userIds: [] });
    const made = make(userTagId, name, world);
    const providers = ((made.oauthProviders ?? []) as object[]).map(() => ({ issuer: world.outside.issuer }));
    return {
      parameters: { [list]: [made] },
      result: { userIds: [anId] },
      holds: async (reader) => {
        const { users } = (await reader.query('list_users')).body;
        const user = users.find((candidate: { userName: string }) => candidate.userName === name);
        expect(user).toMatchObject({
          userTags: [userTagId],
          apiKeys: [{ credential: { type: expect.any(String) } }],
          oauthProviders: providers,
        });
        expect(user.userEmail).toBe(`${name.slice(5)}@example.com`);
      },
      absent: async (reader) => expect(await userNames(reader)).not.toContain(name),
    };
  };
}

interface SignUp {
  readonly rootUser: Record<string, unknown>;
  readonly extra?: Record<string, unknown>;
}

/** Somebody with an OAuth identity, by a token that is bound to the first key. */
const known = ({ outside }: World, extra: Record<string, unknown> = {}) => {
  const user = someone(extra);
  const oidcToken = outside.idToken(randomUUID(), user.apiKeys[0]?.publicKey);
  return { ...user, oauthProviders: [{ providerName: 'Issuer', oidcToken }] };
};

/** Somebody who has proven an email address, signed with the key that the proof is bound to. */
async function provenByKey(world: World): Promise<SignUp> {
  const [key, email] = [newKeyPair(), newEmail()];
  const verificationToken = await newVerification(world.root, key, email);
  const rootUser = known(world, { userEmail: email });
  const { apiKeys, authenticators, oauthProviders } = rootUser;
  const clientSignature = signUpSignature(key, verificationToken, { email, apiKeys, authenticators, oauthProviders });
  return { rootUser, extra: { verificationToken, clientSignature } };
}

/** Somebody who has proven a phone number, with a token that is bound to no key. */
async function provenByPhone(world: World): Promise<SignUp> {
  const phone = newPhone();
  const verificationToken = await newUnboundVerification(world.root, phone);
  return { rootUser: known(world, { userPhoneNumber: phone }), extra: { verificationToken } };
}

/** create_sub_organization in any of its versions. */
function newSubOrganization(signUp: (world: World) => Promise<SignUp> | SignUp, common: Record<string, unknown> = {}) {
  return async (world: World): Promise<Arranged> => {
    const { rootUser, extra: proof } = await signUp(world);
    const extra: Record<string, unknown> = { ...common, ...proof };
    const subOrganizationName = `Sub ${randomUUID()}`;
    const verified = async (reader: TestClient) => {
      const [filterType, filterValue] =
        rootUser.userPhoneNumber === undefined
          ? ['EMAIL', rootUser.userEmail]
          : ['PHONE_NUMBER', rootUser.userPhoneNumber];
      return (await reader.query('list_verified_suborgs', { filterType, filterValue })).body.organizationIds;
    };
    const providers = ((rootUser.oauthProviders ?? []) as object[]).map(() => ({ issuer: world.outside.issuer }));
    const byName = async (reader: TestClient) =>
      (await reader.query('list_suborgs', { filterType: 'NAME', filterValue: subOrganizationName })).body;
    const wallet = extra.wallet === undefined ? undefined : { walletId: anId, addresses: [anEthereumAddress] };
    return {
      parameters: { subOrganizationName, rootQuorumThreshold: 1, rootUsers: [rootUser], ...extra },
      result: { subOrganizationId: anId, rootUserIds: [anId], ...(wallet && { wallet }) },
      holds: async (reader) => {
        const { organizationIds } = await byName(reader);
        expect(organizationIds).toHaveLength(1);
        const child = await reader.query('get_organization', { organizationId: organizationIds[0] });
        expect(child.body.organizationData).toMatchObject({
          name: subOrganizationName,
          users: [
            {
              userName: 'Someone',
              apiKeys: [{ credential: { type: 'CREDENTIAL_TYPE_API_KEY_P256' } }],
              oauthProviders: providers,
            },
          ],
          rootQuorum: { threshold: 1, userIds: [anId] },
          wallets: wallet ? [{ walletName: 'First', exported: false, imported: false }] : [],
        });
        if (proof?.verificationToken !== undefined) expect(await verified(reader)).toEqual(organizationIds);
        const { accounts } = (await reader.query('list_wallet_accounts', { organizationId: organizationIds[0] })).body;
        expect(accounts).toMatchObject(wallet ? [{ ...ETHEREUM, organizationId: organizationIds[0] }] : []);
        for (const { address } of accounts) {
          const found = await reader.query('list_suborgs', {
            filterType: 'WALLET_ACCOUNT_ADDRESS',
            filterValue: address,
          });
          expect(found.body.organizationIds).toEqual(organizationIds);
        }
      },
      absent: async (reader) => expect((await byName(reader)).organizationIds).toEqual([]),
    };
  };
}

/** Before OAuth and before curves could be chosen. */
const oldRootUser = () => ({
  userName: 'Someone',
  userEmail: 's@example.com',
  apiKeys: [oldApiKey()],
  authenticators: [],
});

const WALLET = { wallet: { walletName: 'First', accounts: [ETHEREUM], mnemonicLength: 12 } };

export async function readUser(reader: TestClient, userId: string) {
  return (await reader.query('get_user', { userId })).body.user;
}

/** An update of one field of a user. */
function changedUser(field: string, before: unknown, after: unknown, parameter = field) {
  return async ({ root }: World): Promise<Arranged> => {
    const { userId } = await createUser(root, 'Before', { userEmail: `${randomUUID()}@example.com` });
    return {
      parameters: { userId, [parameter]: after },
      result: { userId },
      holds: async (reader) => expect(await readUser(reader, userId)).toMatchObject({ [field]: after }),
      absent: async (reader) => {
        const value = (await readUser(reader, userId))[field];
        if (before !== undefined) expect(value).toBe(before);
        expect(value).not.toBe(after);
      },
    };
  };
}

/** A contact of a user that a token proves. */
function provenContact(field: 'userEmail' | 'userPhoneNumber', filterType: string, newContact: () => string) {
  return async (world: World): Promise<Arranged> => {
    const { root, parent } = world;
    const contact = newContact();
    const verificationToken = await newVerification(root, newKeyPair(), contact);
    const { parameters, holds, ...rest } = await changedUser(field, undefined, contact)(world);
    return {
      ...rest,
      parameters: { ...parameters, verificationToken },
      holds: async (reader) => {
        await holds(reader);
        const { body } = await parent.query('list_verified_suborgs', { filterType, filterValue: contact });
        expect(body.organizationIds).toEqual([root.organizationId]);
      },
    };
  };
}

function addedApiKey(make: () => ReturnType<typeof oldApiKey>) {
  return async ({ root }: World): Promise<Arranged> => {
    const owner = await createUser(root, 'Owner');
    const key = make();
    const keys = async (reader: TestClient) =>
      (await reader.query('get_api_keys', { userId: owner.userId })).body.apiKeys;
    return {
      parameters: { userId: owner.userId, apiKeys: [key] },
      result: { apiKeyIds: [anId] },
      holds: async (reader) =>
        expect(await keys(reader)).toMatchObject([
          {},
          {
            apiKeyName: key.apiKeyName,
            credential: { publicKey: key.publicKey, type: 'CREDENTIAL_TYPE_API_KEY_P256' },
          },
        ]),
      absent: async (reader) => expect(await keys(reader)).toHaveLength(1),
    };
  };
}

function addedPasskey(shape: (passkey: ReturnType<typeof newPasskey>, userId: string) => unknown) {
  return async ({ root }: World): Promise<Arranged> => {
    const owner = await createUser(root, 'Owner');
    const passkey = newPasskey('Laptop');
    const read = async (reader: TestClient) =>
      (await reader.query('get_authenticators', { userId: owner.userId })).body.authenticators;
    return {
      parameters: { userId: owner.userId, authenticators: [shape(passkey, owner.userId)] },
      result: { authenticatorIds: [anId] },
      holds: async (reader) =>
        expect(await read(reader)).toEqual([
          {
            authenticatorId: anId,
            authenticatorName: 'Laptop',
            transports: expect.any(Array),
            attestationType: 'none',
            aaguid: '00000000-0000-0000-0000-000000000000',
            credentialId: passkey.credentialId,
            model: '',
            credential: { publicKey: passkey.publicKey, type: 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR' },
            createdAt: TIMESTAMP,
            updatedAt: TIMESTAMP,
          },
        ]),
      absent: async (reader) => expect(await read(reader)).toEqual([]),
    };
  };
}

const features = async (reader: TestClient): Promise<{ name: string; value: string }[]> =>
  (await reader.query('get_organization_configs')).body.configs.features;

const NEW_FEATURES = [
  'FEATURE_NAME_EMAIL_AUTH',
  'FEATURE_NAME_EMAIL_RECOVERY',
  'FEATURE_NAME_OTP_EMAIL_AUTH',
  'FEATURE_NAME_SMS_AUTH',
].map((name) => ({ name, value: 'true' }));

const invitation = (senderUserId: string) => ({
  receiverUserName: 'Guest',
  receiverUserEmail: 'guest@example.com',
  receiverUserTags: [],
  accessType: 'ACCESS_TYPE_ALL',
  senderUserId,
});

const invitations = async (reader: TestClient) =>
  (await reader.query('get_organization')).body.organizationData.invitations;

const tags = async (reader: TestClient) => (await reader.query('list_user_tags')).body.userTags;

const userWithOldKeys = (tagId: string, userName: string, extra: Record<string, unknown> = {}) => ({
  userName,
  userEmail: `${userName.slice(5)}@example.com`,
  userTags: [tagId],
  apiKeys: [oldApiKey()],
  ...extra,
});

export const CASES: Readonly<Record<string, ActivityCase>> = {
  ...ACCESS_CASES,
  ...DEPLOYMENT_CASES,
  ...ETHEREUM_SEND_CASES,
  ...EARN_CASES,
  ...LOGIN_CASES,
  ...ON_RAMP_CASES,
  ...SOLANA_SEND_CASES,
  ...WALLET_CASES,
  ...WEBHOOK_CASES,
  create_api_keys: {
    intentKey: 'createApiKeysIntentV2',
    resultKey: 'createApiKeysResult',
    arrange: addedApiKey(apiKey),
    legacy: {
      ACTIVITY_TYPE_CREATE_API_KEYS: {
        intentKey: 'createApiKeysIntent',
        resultKey: 'createApiKeysResult',
        arrange: addedApiKey(oldApiKey),
      },
    },
    foreign: async (_world, other) => notFound({ userId: other.root.userId, apiKeys: [apiKey()] }),
  },
  create_authenticators: {
    intentKey: 'createAuthenticatorsIntentV2',
    resultKey: 'createAuthenticatorsResult',
    arrange: addedPasskey((passkey) => passkey.params),
    legacy: {
      ACTIVITY_TYPE_CREATE_AUTHENTICATORS: {
        intentKey: 'createAuthenticatorsIntent',
        resultKey: 'createAuthenticatorsResult',
        arrange: addedPasskey((passkey, userId) => passkey.browserStyle(userId)),
      },
    },
    foreign: async (_world, other) =>
      notFound({ userId: other.root.userId, authenticators: [newPasskey('Laptop').params] }),
  },
  delete_api_keys: {
    intentKey: 'deleteApiKeysIntent',
    resultKey: 'deleteApiKeysResult',
    arrange: async ({ root }) => {
      const { userId } = await createUser(root, 'Owner');
      const [{ apiKeyId }] = (await root.query('get_api_keys', { userId })).body.apiKeys;
      return {
        parameters: { userId, apiKeyIds: [apiKeyId] },
        result: { apiKeyIds: [apiKeyId] },
        holds: async (reader) => expect((await reader.query('get_api_key', { apiKeyId })).status).toBe(404),
        absent: async (reader) => expect((await reader.query('get_api_key', { apiKeyId })).status).toBe(200),
      };
    },
    foreign: async ({ root, plain }, other) => {
      const { apiKeys } = (await other.root.query('get_api_keys', { userId: other.plain.userId })).body;
      const foreign = { userId: plain.userId, apiKeyIds: [apiKeys[0].apiKeyId] };
      // A key of another user of the same organization is no better.
      const own = (await root.query('get_api_keys', { userId: root.userId })).body.apiKeys[0].apiKeyId;
      expect((await root.submit('delete_api_keys', { userId: plain.userId, apiKeyIds: [own] })).status).toBe(404);
      return notFound(foreign);
    },
  },
  delete_authenticators: {
    intentKey: 'deleteAuthenticatorsIntent',
    resultKey: 'deleteAuthenticatorsResult',
    arrange: async ({ root }) => {
      const { userId } = await createUser(root, 'Owner');
      const authenticators = [newPasskey('Laptop').params];
      const { authenticatorIds } = await root.run('create_authenticators', { userId, authenticators });
      const [authenticatorId] = authenticatorIds;
      const status = async (reader: TestClient) =>
        (await reader.query('get_authenticator', { authenticatorId })).status;
      return {
        parameters: { userId, authenticatorIds },
        result: { authenticatorIds },
        holds: async (reader) => expect(await status(reader)).toBe(404),
        absent: async (reader) => expect(await status(reader)).toBe(200),
      };
    },
    foreign: async ({ plain }) => notFound({ userId: plain.userId, authenticatorIds: [randomUUID()] }),
  },
  create_invitations: {
    intentKey: 'createInvitationsIntent',
    resultKey: 'createInvitationsResult',
    arrange: async ({ root }) => ({
      parameters: { invitations: [invitation(root.userId)] },
      result: { invitationIds: [anId] },
      holds: async (reader) =>
        expect(await invitations(reader)).toEqual([
          {
            invitationId: anId,
            receiverUserName: 'Guest',
            receiverEmail: 'guest@example.com',
            receiverUserTags: [],
            accessType: 'ACCESS_TYPE_ALL',
            status: 'INVITATION_STATUS_CREATED',
            senderUserId: root.userId,
            createdAt: TIMESTAMP,
            updatedAt: TIMESTAMP,
          },
        ]),
      absent: async (reader) => expect(await invitations(reader)).toEqual([]),
    }),
    foreign: async ({ root }, other) => {
      const { userTagId } = await other.root.run('create_user_tag', { userTagName: 'theirs', userIds: [] });
      return notFound({ invitations: [{ ...invitation(root.userId), receiverUserTags: [userTagId] }] });
    },
  },
  create_sub_organization: {
    place: 'parent',
    intentKey: 'createSubOrganizationIntentV8',
    resultKey: 'createSubOrganizationResultV8',
    arrange: newSubOrganization(provenByKey, WALLET),
    legacy: {
      ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7: {
        intentKey: 'createSubOrganizationIntentV7',
        resultKey: 'createSubOrganizationResultV7',
        arrange: newSubOrganization(provenByPhone, { ...WALLET, disableSmsAuth: true }),
      },
      ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V6: {
        intentKey: 'createSubOrganizationIntentV6',
        resultKey: 'createSubOrganizationResultV6',
        arrange: newSubOrganization((world) => ({ rootUser: known(world) }), { ...WALLET, disableEmailAuth: true }),
      },
      ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V5: {
        intentKey: 'createSubOrganizationIntentV5',
        resultKey: 'createSubOrganizationResultV5',
        arrange: newSubOrganization((world) => ({ rootUser: known(world, { apiKeys: [oldApiKey()] }) }), WALLET),
      },
      ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V4: {
        intentKey: 'createSubOrganizationIntentV4',
        resultKey: 'createSubOrganizationResultV4',
        arrange: newSubOrganization(() => ({ rootUser: oldRootUser() }), { ...WALLET, disableEmailRecovery: true }),
      },
      ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V3: {
        intentKey: 'createSubOrganizationIntentV3',
        resultKey: 'createSubOrganizationResultV3',
        arrange: async (world) => {
          const arranged = await newSubOrganization(() => ({ rootUser: oldRootUser() }), {
            privateKeys: [
              {
                privateKeyName: 'k',
                curve: 'CURVE_SECP256K1',
                privateKeyTags: [],
                addressFormats: ['ADDRESS_FORMAT_ETHEREUM'],
              },
            ],
          })(world);
          const addresses = [{ format: 'ADDRESS_FORMAT_ETHEREUM', address: anEthereumAddress }];
          return {
            ...arranged,
            result: { ...(arranged.result as object), privateKeys: [{ privateKeyId: anId, addresses }] },
          };
        },
      },
      ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V2: {
        intentKey: 'createSubOrganizationIntentV2',
        resultKey: 'createSubOrganizationResult',
        arrange: newSubOrganization(() => ({ rootUser: oldRootUser() })),
      },
      ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION: {
        intentKey: 'createSubOrganizationIntent',
        resultKey: 'createSubOrganizationResult',
        arrange: async () => {
          const name = `Sub ${randomUUID()}`;
          const children = async (reader: TestClient) =>
            (await reader.query('list_suborgs', { filterType: 'NAME', filterValue: name })).body.organizationIds;
          return {
            parameters: { name, rootAuthenticator: newPasskey('Laptop').params },
            result: { subOrganizationId: anId, rootUserIds: [anId] },
            holds: async (reader) => expect(await children(reader)).toEqual([anId]),
            absent: async (reader) => expect(await children(reader)).toEqual([]),
          };
        },
      },
    },
  },
  delete_invitation: {
    intentKey: 'deleteInvitationIntent',
    resultKey: 'deleteInvitationResult',
    arrange: async ({ root }) => {
      const { invitationIds } = await root.run('create_invitations', { invitations: [invitation(root.userId)] });
      const status = async (reader: TestClient) => (await invitations(reader))[0].status;
      return {
        parameters: { invitationId: invitationIds[0] },
        result: { invitationId: invitationIds[0] },
        holds: async (reader) => expect(await status(reader)).toBe('INVITATION_STATUS_REVOKED'),
        absent: async (reader) => expect(await status(reader)).toBe('INVITATION_STATUS_CREATED'),
      };
    },
    foreign: async (_world, { root }) => {
      const { invitationIds } = await root.run('create_invitations', { invitations: [invitation(root.userId)] });
      return notFound({ invitationId: invitationIds[0] });
    },
  },
  delete_sub_organization: {
    endsOrganization: true,
    intentKey: 'deleteSubOrganizationIntent',
    resultKey: 'deleteSubOrganizationResult',
    arrange: async ({ root, parent }) => {
      const { organizationId } = root;
      const listed = async () => (await parent.query('list_suborgs')).body.organizationIds;
      return {
        parameters: { deleteWithoutExport: true },
        result: { subOrganizationUuid: organizationId },
        holds: async () => expect(await listed()).not.toContain(organizationId),
        absent: async () => expect(await listed()).toContain(organizationId),
      };
    },
  },
  remove_organization_feature: {
    intentKey: 'removeOrganizationFeatureIntent',
    resultKey: 'removeOrganizationFeatureResult',
    arrange: async () => ({
      parameters: { name: 'FEATURE_NAME_EMAIL_AUTH' },
      result: { features: NEW_FEATURES.slice(1) },
      holds: async (reader) => expect(await features(reader)).toEqual(NEW_FEATURES.slice(1)),
      absent: async (reader) => expect(await features(reader)).toEqual(NEW_FEATURES),
    }),
  },
  set_organization_feature: {
    intentKey: 'setOrganizationFeatureIntent',
    resultKey: 'setOrganizationFeatureResult',
    arrange: async () => {
      const feature = { name: 'FEATURE_NAME_WEBAUTHN_ORIGINS', value: 'https://app.example' };
      return {
        parameters: feature,
        result: { features: [...NEW_FEATURES, feature] },
        holds: async (reader) => expect(await features(reader)).toEqual([...NEW_FEATURES, feature]),
        absent: async (reader) => expect(await features(reader)).toEqual(NEW_FEATURES),
      };
    },
  },
  update_organization_name: {
    intentKey: 'updateOrganizationNameIntent',
    resultKey: 'updateOrganizationNameResult',
    arrange: async ({ root: { organizationId } }) => {
      const name = async (reader: TestClient) => (await reader.query('whoami')).body.organizationName;
      return {
        parameters: { organizationName: 'Renamed' },
        result: { organizationId, organizationName: 'Renamed' },
        holds: async (reader) => expect(await name(reader)).toBe('Renamed'),
        absent: async (reader) => expect(await name(reader)).not.toBe('Renamed'),
      };
    },
  },
  update_root_quorum: {
    intentKey: 'updateRootQuorumIntent',
    resultKey: 'updateRootQuorumResult',
    arrange: async ({ root, plain }) => {
      const quorum = { threshold: 1, userIds: [plain.userId, root.userId] };
      const read = async (reader: TestClient) => (await reader.query('get_organization_configs')).body.configs.quorum;
      return {
        parameters: quorum,
        result: {},
        holds: async (reader) => expect(await read(reader)).toEqual(quorum),
        absent: async (reader) => expect(await read(reader)).not.toEqual(quorum),
      };
    },
    foreign: async ({ root }, other) => ({
      parameters: { threshold: 1, userIds: [root.userId, other.root.userId] },
      status: 400,
      code: 'INVALID_QUORUM',
    }),
  },
  create_api_only_users: {
    intentKey: 'createApiOnlyUsersIntent',
    resultKey: 'createApiOnlyUsersResult',
    arrange: newUser((tagId, name) => userWithOldKeys(tagId, name), 'apiOnlyUsers'),
    foreign: async (_world, other) => {
      const { userTagId } = await other.root.run('create_user_tag', { userTagName: randomUUID(), userIds: [] });
      return notFound({ apiOnlyUsers: [userWithOldKeys(userTagId, 'User x')] });
    },
  },
  create_user_tag: {
    intentKey: 'createUserTagIntent',
    resultKey: 'createUserTagResult',
    arrange: async ({ plain }) => {
      const userTagName = `Tag ${randomUUID()}`;
      return {
        parameters: { userTagName, userIds: [plain.userId] },
        result: { userTagId: anId, userIds: [plain.userId] },
        holds: async (reader) => {
          const [tag] = await tags(reader);
          const shape = { tagId: anId, tagName: userTagName, tagType: 'TAG_TYPE_USER' };
          expect(tag).toEqual({ ...shape, createdAt: TIMESTAMP, updatedAt: TIMESTAMP });
          expect((await readUser(reader, plain.userId)).userTags).toEqual([tag.tagId]);
        },
        absent: async (reader) => expect(await tags(reader)).toEqual([]),
      };
    },
    foreign: async (_world, other) => notFound({ userTagName: 'x', userIds: [other.plain.userId] }),
  },
  create_users: {
    intentKey: 'createUsersIntentV4',
    resultKey: 'createUsersResult',
    arrange: newUser((tagId, name, world) =>
      known(world, userWithOldKeys(tagId, name, { apiKeys: [apiKey()], userPhoneNumber: '+15550100300' })),
    ),
    legacy: {
      ACTIVITY_TYPE_CREATE_USERS_V3: {
        intentKey: 'createUsersIntentV3',
        resultKey: 'createUsersResult',
        arrange: newUser((tagId, name, world) =>
          known(world, userWithOldKeys(tagId, name, { apiKeys: [apiKey()], userPhoneNumber: '+15550100400' })),
        ),
      },
      ACTIVITY_TYPE_CREATE_USERS_V2: {
        intentKey: 'createUsersIntentV2',
        resultKey: 'createUsersResult',
        arrange: newUser((tagId, name) => userWithOldKeys(tagId, name, { authenticators: [newPasskey('p').params] })),
      },
      ACTIVITY_TYPE_CREATE_USERS: {
        intentKey: 'createUsersIntent',
        resultKey: 'createUsersResult',
        arrange: newUser((tagId, name) =>
          userWithOldKeys(tagId, name, {
            accessType: 'ACCESS_TYPE_ALL',
            authenticators: [newPasskey('p').browserStyle(randomUUID())],
          }),
        ),
      },
    },
    foreign: async (_world, other) => {
      const { userTagId } = await other.root.run('create_user_tag', { userTagName: randomUUID(), userIds: [] });
      return notFound({ users: [someone({ userTags: [userTagId] })] });
    },
  },
  delete_user_tags: {
    intentKey: 'deleteUserTagsIntent',
    resultKey: 'deleteUserTagsResult',
    arrange: async ({ root, plain }) => {
      const { userTagId } = await root.run('create_user_tag', { userTagName: 'Tag', userIds: [plain.userId] });
      return {
        parameters: { userTagIds: [userTagId] },
        result: { userTagIds: [userTagId], userIds: [plain.userId] },
        holds: async (reader) => {
          expect(await tags(reader)).toEqual([]);
          expect((await readUser(reader, plain.userId)).userTags).toEqual([]);
        },
        absent: async (reader) => expect(await tags(reader)).toHaveLength(1),
      };
    },
    foreign: async (_world, other) => {
      const { userTagId } = await other.root.run('create_user_tag', { userTagName: 'x', userIds: [] });
      return notFound({ userTagIds: [userTagId] });
    },
  },
  delete_users: {
    intentKey: 'deleteUsersIntent',
    resultKey: 'deleteUsersResult',
    arrange: async ({ root }) => {
      const gone = await createUser(root, 'Gone');
      return {
        parameters: { userIds: [gone.userId] },
        result: { userIds: [gone.userId] },
        holds: async (reader) => {
          expect((await reader.query('get_user', { userId: gone.userId })).status).toBe(404);
          expect((await gone.query('whoami')).body.errorCode).toBe('PUBLIC_KEY_NOT_FOUND');
        },
        absent: async (reader) => expect((await reader.query('get_user', { userId: gone.userId })).status).toBe(200),
      };
    },
    foreign: async ({ plain }, other) => notFound({ userIds: [plain.userId, other.plain.userId] }),
  },
  update_user_email: {
    intentKey: 'updateUserEmailIntent',
    resultKey: 'updateUserEmailResult',
    arrange: provenContact('userEmail', 'EMAIL', newEmail),
    foreign: async (_world, { plain }) => notFound({ userId: plain.userId, userEmail: 'x@example.com' }),
  },
  update_user_name: {
    intentKey: 'updateUserNameIntent',
    resultKey: 'updateUserNameResult',
    arrange: changedUser('userName', 'Before', 'After'),
    foreign: async (_world, { plain }) => notFound({ userId: plain.userId, userName: 'x' }),
  },
  update_user_phone_number: {
    intentKey: 'updateUserPhoneNumberIntent',
    resultKey: 'updateUserPhoneNumberResult',
    arrange: provenContact('userPhoneNumber', 'PHONE_NUMBER', newPhone),
    foreign: async (_world, { plain }) => notFound({ userId: plain.userId, userPhoneNumber: '+15550100501' }),
  },
  update_user_tag: {
    intentKey: 'updateUserTagIntent',
    resultKey: 'updateUserTagResult',
    arrange: async ({ root, plain }) => {
      const { userTagId } = await root.run('create_user_tag', { userTagName: 'Old', userIds: [root.userId] });
      return {
        parameters: { userTagId, newUserTagName: 'New', addUserIds: [plain.userId], removeUserIds: [root.userId] },
        result: { userTagId },
        holds: async (reader) => {
          expect((await tags(reader))[0].tagName).toBe('New');
          expect((await readUser(reader, plain.userId)).userTags).toEqual([userTagId]);
          expect((await readUser(reader, root.userId)).userTags).toEqual([]);
        },
        absent: async (reader) => expect((await tags(reader))[0].tagName).toBe('Old'),
      };
    },
    foreign: async ({ root }, { plain }) => {
      const { userTagId } = await root.run('create_user_tag', { userTagName: randomUUID(), userIds: [] });
      return notFound({ userTagId, addUserIds: [plain.userId], removeUserIds: [] });
    },
  },
  update_user: {
    intentKey: 'updateUserIntent',
    resultKey: 'updateUserResult',
    arrange: changedUser('userName', 'Before', 'After'),
    foreign: async (_world, { plain }) => notFound({ userId: plain.userId, userName: 'x' }),
  },
};

const withId =
  (name: string, id: (world: World) => Promise<string> | string) =>
  async (world: World): Promise<Record<string, unknown>> => ({ [name]: await id(world) });

const lastActivity = async ({ root }: World): Promise<string> =>
  (await root.submit('update_user_name', { userId: root.userId, userName: 'n' })).body.activity.id;

const newAuthenticator = async ({ root }: World): Promise<string> => {
  const authenticators = [newPasskey(randomUUID()).params];
  return (await root.run('create_authenticators', { userId: root.userId, authenticators })).authenticatorIds[0];
};

export const QUERIES: Readonly<Record<string, QueryCase>> = {
  ...ACCESS_QUERIES,
  ...DEPLOYMENT_QUERIES,
  ...ETHEREUM_SEND_QUERIES,
  ...EARN_QUERIES,
  ...EARN_LIST_QUERIES,
  ...LOGIN_QUERIES,
  ...ON_RAMP_QUERIES,
  ...WALLET_QUERIES,
  ...WEBHOOK_QUERIES,
  get_activity: {
    parameters: withId('activityId', lastActivity),
    answer: ({ root }) => ({ activity: expect.objectContaining({ organizationId: root.organizationId }) }),
  },
  list_activities: { answer: () => ({ activities: expect.any(Array), pageInfo: PAGE_INFO }) },
  get_api_key: {
    parameters: withId(
      'apiKeyId',
      async ({ root }) => (await root.query('get_api_keys')).body.apiKeys[0].apiKeyId as string,
    ),
    answer: ({ root }) => ({
      apiKey: {
        apiKeyId: anId,
        apiKeyName: 'key',
        credential: { publicKey: root.key.publicKey, type: 'CREDENTIAL_TYPE_API_KEY_P256' },
        createdAt: TIMESTAMP,
        updatedAt: TIMESTAMP,
      },
    }),
  },
  get_api_keys: {
    parameters: withId('userId', ({ root }) => root.userId),
    answer: () => ({ apiKeys: [expect.objectContaining({ apiKeyName: 'key' })], pageInfo: PAGE_INFO }),
  },
  get_authenticator: {
    parameters: withId('authenticatorId', newAuthenticator),
    answer: () => ({ authenticator: expect.objectContaining({ attestationType: 'none' }) }),
  },
  get_authenticators: {
    parameters: withId('userId', ({ plain }) => plain.userId),
    answer: () => ({ authenticators: [], pageInfo: { ...PAGE_INFO, startCursor: '', endCursor: '' } }),
  },
  get_organization_configs: {
    answer: ({ root }) => ({ configs: { features: NEW_FEATURES, quorum: { threshold: 1, userIds: [root.userId] } } }),
  },
  get_organization: {
    answer: ({ root }) => ({
      organizationData: {
        organizationId: root.organizationId,
        name: expect.any(String),
        users: expect.any(Array),
        policies: [],
        privateKeys: [],
        invitations: [],
        tags: [],
        rootQuorum: { threshold: 1, userIds: [root.userId] },
        features: NEW_FEATURES,
        wallets: [],
        smartContractInterfaceReferences: [],
      },
    }),
  },
  list_suborgs: { answer: () => ({ organizationIds: [], pageInfo: PAGE_INFO }) },
  list_verified_suborgs: { answer: () => ({ organizationIds: [], pageInfo: PAGE_INFO }) },
  whoami: {
    answer: ({ root }) => ({
      organizationId: root.organizationId,
      organizationName: expect.any(String),
      userId: root.userId,
      username: expect.stringMatching(/ root$|^n$/),
    }),
  },
  get_user: {
    parameters: withId('userId', ({ plain }) => plain.userId),
    answer: ({ plain }) => ({
      user: {
        userId: plain.userId,
        userName: 'plain',
        authenticators: [],
        apiKeys: [expect.objectContaining({ apiKeyId: anId })],
        userTags: [],
        oauthProviders: [],
        createdAt: TIMESTAMP,
        updatedAt: TIMESTAMP,
        mfaPolicies: [],
      },
    }),
  },
  list_user_tags: { answer: () => ({ userTags: [], pageInfo: PAGE_INFO }) },
  list_users: { answer: () => ({ users: [expect.anything(), expect.anything()], pageInfo: PAGE_INFO }) },
};

export function expectError(answer: Answer, status: number, errorCode: string, code?: number): void {
  expect({ status: answer.status, errorCode: answer.body.errorCode }, JSON.stringify(answer.body)).toEqual({
    status,
    errorCode,
  });
  if (code !== undefined) expect(answer.body.code).toBe(code);
}

/** Opened before the tests of a file, closed after them. */
export function openEvery(database: DatabaseKind) {
  let server: TestServer;
  let outside: Outside;
  let parent: TestClient;

  beforeAll(async () => {
    outside = await Outside.start();
    server = await TestServer.start({ database, env: outside.env });
    await importOperatorKeyFor(server, outside.ethereum);
    parent = TestClient.root(server.credentials, server.baseUrl);
    await turnLoginsOn(parent, outside);
    await newKnownCredential(parent);
  });

  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await outside[Symbol.asyncDispose]();
  });

  async function newWorld(place?: 'parent'): Promise<World> {
    const root = place === 'parent' ? parent : await createSubOrganization(parent, `World ${randomUUID()}`);
    return { parent, root, plain: await createUser(root, 'plain'), outside };
  }

  const path = (name: string) => `/public/v1/submit/${name}`;

  /**
   * What a request says, and who may send it, is judged alike whatever the database; what it does there is done on each.
   * How the databases keep votes and denials apart is for consensus.test.ts and policies.test.ts.
   */
  const isFirst = database === DATABASES[0];

  /** A test that there is for some operations only; the others do not have it rather than skip it. */
  const testIf =
    (isThere: boolean | undefined) =>
    (title: string, body: () => Promise<void>): void => {
      if (isThere) test(title, body);
    };

  return {
    get parent() {
      return parent;
    },
    path,
    newWorld,
    testIf,
    isFirst,
  };
}
