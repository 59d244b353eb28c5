import { createHash, createPublicKey, generateKeyPairSync, randomBytes, randomUUID, verify } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ActivityVersion } from '../../src/engine/define.ts';
import { activities, operations, queries, votes } from '../../src/registry.ts';
import { importOperatorKeyFor } from '../chain/earn-chain.ts';
import {
  type Answer,
  createSubOrganization,
  createUser,
  currentType,
  newKeyPair,
  send,
  TestClient,
} from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { TestServer } from '../harness/server.ts';
import {
  newEmail,
  newKnownCredential,
  newPhone,
  newUnboundVerification,
  newVerification,
  Outside,
  signUpSignature,
  turnLoginsOn,
} from '../hostile/outside.ts';
import { allows, type Shape } from '../hostile/schema.ts';
import { ACCESS_CASES, ACCESS_QUERIES } from './every/access.ts';
import {
  type ActivityCase,
  type Arranged,
  anId,
  notFound,
  PAGE_INFO,
  type QueryCase,
  TIMESTAMP,
  UUID,
  type VersionCase,
  type World,
} from './every/case.ts';
import { DEPLOYMENT_CASES, DEPLOYMENT_QUERIES } from './every/deployments.ts';
import { EARN_CASES, EARN_QUERIES } from './every/earn.ts';
import { EARN_LIST_QUERIES } from './every/earn-lists.ts';
import { ETHEREUM_SEND_CASES, ETHEREUM_SEND_QUERIES } from './every/ethereum-sends.ts';
import { LOGIN_CASES, LOGIN_QUERIES } from './every/logins.ts';
import { ON_RAMP_CASES, ON_RAMP_QUERIES } from './every/on-ramp.ts';
import { SOLANA_SEND_CASES } from './every/solana-sends.ts';
import { anEthereumAddress, ETHEREUM, WALLET_CASES, WALLET_QUERIES } from './every/wallets.ts';
import { WEBHOOK_CASES, WEBHOOK_QUERIES } from './every/webhooks.ts';

// Every operation of the registry against the same questions; rules of single operations are in the files beside.

const ACTIVITY_KEYS = [
  'canApprove',
  'canReject',
  'createdAt',
  'fingerprint',
  'id',
  'intent',
  'organizationId',
  'result',
  'status',
  'type',
  'updatedAt',
  'votes',
];
const USER_KEYS = [
  'apiKeys',
  'authenticators',
  'createdAt',
  'mfaPolicies',
  'oauthProviders',
  'updatedAt',
  'userId',
  'userName',
  'userTags',
];
/** What a parent may do in its sub-organizations; it changes nothing else in them (protocol/consensus 5.2). */
const PARENT_RUN: ReadonlySet<string> = new Set([
  'email_auth',
  'init_otp',
  'init_otp_auth',
  'init_user_email_recovery',
  'oauth',
  'oauth_login',
  'otp_auth',
  'otp_login',
  'verify_otp',
]);
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const fingerprintOf = (body: string): string => `sha256:${createHash('sha256').update(body).digest('hex')}`;

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

async function readUser(reader: TestClient, userId: string) {
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

const CASES: Readonly<Record<string, ActivityCase>> = {
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

const QUERIES: Readonly<Record<string, QueryCase>> = {
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

test('every operation of the registry has a case here', () => {
  expect(Object.keys(CASES).sort()).toEqual(activities.map((operation) => operation.name).sort());
  expect(Object.keys(QUERIES).sort()).toEqual(queries.map((operation) => operation.name).sort());
  expect(votes.map((operation) => operation.name).sort()).toEqual(['approve_activity', 'reject_activity']);
  for (const { name, versions } of activities) {
    const older = versions.slice(1).map((version) => version.type);
    expect(Object.keys(CASES[name]?.legacy ?? {}), name).toEqual(older);
  }
});

function expectError(answer: Answer, status: number, errorCode: string, code?: number): void {
  expect({ status: answer.status, errorCode: answer.body.errorCode }, JSON.stringify(answer.body)).toEqual({
    status,
    errorCode,
  });
  if (code !== undefined) expect(answer.body.code).toBe(code);
}

/** All fields of the activity object with their types, and nothing else. */
function expectActivity(activity: Answer['body'], body: string, status: string, client: TestClient): void {
  const sent = JSON.parse(body);
  expect(Object.keys(activity).sort()).toEqual(ACTIVITY_KEYS);
  expect(activity.id).toMatch(UUID);
  expect(activity.organizationId).toBe(client.organizationId);
  expect(activity.status).toBe(status);
  expect(activity.type).toBe(sent.type);
  expect(activity.fingerprint).toBe(fingerprintOf(body));
  expect(activity.createdAt).toMatch(RFC_3339);
  expect(activity.updatedAt).toMatch(RFC_3339);
  expect(typeof activity.canApprove).toBe('boolean');
  expect(typeof activity.canReject).toBe('boolean');
  expect(activity.votes).toHaveLength(1);
  const [vote] = activity.votes;
  expect(vote).toEqual({
    id: anId,
    userId: client.userId,
    user: expect.objectContaining({ userId: client.userId }),
    activityId: activity.id,
    selection: 'VOTE_SELECTION_APPROVED',
    message: shownMessage(body, versionOf(activity.type).secrets),
    publicKey: client.key.publicKey,
    signature: expect.stringMatching(/^30[0-9a-f]+$/),
    scheme: 'SIGNATURE_SCHEME_TK_API_P256',
    createdAt: TIMESTAMP,
  });
  expect(
    Object.keys(vote.user)
      .filter((key) => !/^user(Email|PhoneNumber)$/.test(key))
      .sort(),
  ).toEqual(USER_KEYS);
  expect(verifies({ ...vote, message: body })).toBe(true);
}

const versionOf = (type: string): ActivityVersion =>
  activities.flatMap(({ versions }) => versions).find((version) => version.type === type)!;

const digest = (value: unknown): string =>
  `sha256:${createHash('sha256')
    .update(typeof value === 'string' ? value : JSON.stringify(value))
    .digest('hex')}`;

/** Puts digests where a dotted path leads, with `*` for every element of a list. */
function digestAt(holder: unknown, [step = '', ...rest]: readonly string[]): void {
  if (typeof holder !== 'object' || holder === null) return;
  const object = holder as Record<string, unknown>;
  for (const key of step === '*' ? Object.keys(object) : [step]) {
    if (rest.length > 0) digestAt(object[key], rest);
    else if (object[key] !== undefined && object[key] !== null) object[key] = digest(object[key]);
  }
}

/** The signed bytes as votes show them: with digests in place of secrets (protocol/activities 5.2). */
function shownMessage(message: string, secrets: readonly string[]): string {
  if (secrets.length === 0) return message;
  const body = JSON.parse(message);
  for (const path of secrets) digestAt(body.parameters, path.split('.'));
  return JSON.stringify(body);
}

/** What is shown of an activity when the credential that proposed it reads it again. */
function later(activity: Answer['body'], version: ActivityVersion): Answer['body'] {
  const { intentKey, secrets } = version;
  const copy = structuredClone(activity);
  for (const path of secrets) digestAt(copy.intent[intentKey], path.split('.'));
  return copy;
}

/** Whether a P-256 vote can be verified by anyone who has only the vote. */
function verifies(vote: { publicKey: string; signature: string; message: string }): boolean {
  const spki = Buffer.concat([
    Buffer.from('3039301306072a8648ce3d020106082a8648ce3d030107032200', 'hex'),
    Buffer.from(vote.publicKey, 'hex'),
  ]);
  const key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
  return verify('sha256', Buffer.from(vote.message), key, Buffer.from(vote.signature, 'hex'));
}

/** The payload of an app proof; its signature is by the second of its keys (protocol/bundles 6.2). */
function readProof({ scheme, publicKey, proofPayload, signature }: Record<string, string>) {
  expect(scheme).toBe('SIGNATURE_SCHEME_EPHEMERAL_KEY_P256');
  const point = Buffer.from(publicKey ?? '', 'hex').subarray(65);
  const [x, y] = [point.toString('base64url', 1, 33), point.toString('base64url', 33)];
  const key = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
  const signed = { key, dsaEncoding: 'ieee-p1363' } as const;
  expect(verify('sha256', Buffer.from(proofPayload ?? ''), signed, Buffer.from(signature ?? '', 'hex'))).toBe(true);
  return JSON.parse(proofPayload ?? '');
}

/** The addresses that a result tells of, those of wallets only: private keys are not derived. */
function newAddresses({ addresses, wallet, encryptPublicKey, signPublicKey }: Result): unknown[] {
  const told = wallet?.addresses ?? addresses ?? [encryptPublicKey, signPublicKey];
  return told.filter((address) => typeof address === 'string');
}

interface Result {
  readonly addresses?: unknown[];
  readonly wallet?: { readonly addresses: string[] };
  /** Of an operator: keys that are addresses at the same time. */
  readonly encryptPublicKey?: string;
  readonly signPublicKey?: string;
}

describe.each(DATABASES)('every operation on %s', (database) => {
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
  const readerOf = ({ endsOrganization }: ActivityCase, { root }: World): TestClient =>
    endsOrganization ? new TestClient(parent.baseUrl, root.organizationId, parent.key, parent.userId) : root;

  async function expectCompleted(
    spec: ActivityCase,
    world: World,
    type: string,
    keys: Pick<VersionCase, 'intentKey' | 'resultKey'>,
    { parameters, result, holds, absent }: Arranged,
    name: string,
  ): Promise<void> {
    const { root } = world;
    await absent(root);
    const body = root.submitBody(name, parameters, { type });
    const answer = await root.sendStamped(path(name), body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(Object.keys(answer.body)).toEqual(['activity']);
    const { activity } = answer.body;
    expectActivity(activity, body, 'ACTIVITY_STATUS_COMPLETED', root);
    expect(activity.intent).toEqual({ [keys.intentKey]: parameters });
    expect(activity.result).toEqual({ [keys.resultKey]: result });
    const shown = later(activity, versionOf(type));
    expect([activity.canApprove, activity.canReject]).toEqual([false, false]);
    const reader = readerOf(spec, world);
    await holds(reader);
    const stored = await reader.query('get_activity', { activityId: activity.id });
    expect(stored.body.activity).toEqual(shown);

    // The same bytes again: the same activity, no second effect.
    const again = await root.sendStamped(path(name), body);
    if (spec.endsOrganization) {
      expectError(again, 404, 'ORGANIZATION_NOT_FOUND', 5);
    } else {
      expect(again.status).toBe(200);
      expect(again.body.activity).toEqual(shown);
    }
    await holds(reader);
  }

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

  describe.each(activities.map(({ name }) => name))('%s', (name) => {
    const spec = CASES[name] as ActivityCase;
    const operation = activities.find((candidate) => candidate.name === name)!;

    test('does what it says, and only once', async () => {
      const world = await newWorld(spec.place);
      await expectCompleted(spec, world, currentType(name), spec, await spec.arrange(world), name);
    });

    testIf(isFirst)('takes each older version of its type', async () => {
      for (const [type, older] of Object.entries(spec.legacy ?? {})) {
        const world = await newWorld(spec.place);
        await expectCompleted(spec, world, type, older, await older.arrange(world), name);
      }
    });

    testIf(isFirst && spec.isOwnBusiness)('needs nobody else, unless a policy denies it', async () => {
      const world = await newWorld(spec.place);
      const { root, plain } = world;
      const second = await createUser(root, 'second');
      const { parameters, result } = await spec.arrange(world);
      await root.run('create_policy', {
        policyName: 'Not for the plain',
        effect: 'EFFECT_DENY',
        condition: `activity.type == '${currentType(name)}'`,
        consensus: `approvers.any(user, user.id == '${plain.userId}')`,
        notes: '',
      });
      await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, second.userId] });
      const done = await root.submit(name, parameters);
      expect(done.body.activity).toMatchObject({ status: 'ACTIVITY_STATUS_COMPLETED' });
      expect(done.body.activity.result).toEqual({ [spec.resultKey]: result });
      const others = async () => (await spec.arrange(world)).parameters;
      expect((await second.submit(name, await others())).body.activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
      expectError(await plain.submit(name, await others()), 403, 'REQUEST_NOT_AUTHORIZED', 7);
    });

    testIf(isFirst && !spec.isOwnBusiness)('waits for the rest of the quorum', async () => {
      const world = await newWorld(spec.place);
      const { root } = world;
      const second = await createUser(root, 'second');
      const { parameters, result, holds, absent } = await spec.arrange(world);
      await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, second.userId] });
      try {
        const body = root.submitBody(name, parameters);
        const { status, body: answer } = await root.sendStamped(path(name), body);
        expect(status).toBe(200);
        expectActivity(answer.activity, body, 'ACTIVITY_STATUS_CONSENSUS_NEEDED', root);
        expect(answer.activity.result).toEqual({});
        expect(answer.activity.intent).toEqual({ [spec.intentKey]: parameters });
        // What a request proves is used up when it is proposed.
        const isProven = activities.find((operation) => operation.name === name)?.useProof !== undefined;
        if (!isProven) await absent(root);
        const approved = await second.submit('approve_activity', { fingerprint: answer.activity.fingerprint });
        expect(approved.status, JSON.stringify(approved.body)).toBe(200);
        const { activity } = approved.body;
        expect(activity).toMatchObject({ id: answer.activity.id, status: 'ACTIVITY_STATUS_COMPLETED' });
        // Secrets of the result are for the credential that proposed; it sends the same bytes again.
        const { secretResults } = versionOf(currentType(name));
        for (const secret of secretResults) expect(activity.result[spec.resultKey]).not.toHaveProperty(secret);
        const shown = secretResults.length === 0 ? approved : await root.sendStamped(path(name), body);
        expect(shown.body.activity.result).toEqual({ [spec.resultKey]: result });
        expect(activity.votes.map((vote: { userId: string }) => vote.userId)).toEqual([root.userId, second.userId]);
        await holds(readerOf(spec, world));
      } finally {
        if (spec.place === 'parent') {
          const back = await root.submit('update_root_quorum', { threshold: 1, userIds: [root.userId] });
          await second.submit('approve_activity', { fingerprint: back.body.activity.fingerprint });
        }
      }
    });

    testIf(isFirst && !spec.isOwnBusiness)('is denied to a user without rights, and the denial is kept', async () => {
      const world = await newWorld(spec.place);
      const { root, plain } = world;
      const { parameters, absent } = await spec.arrange(world);
      const own = spec.isForProposer ? { ...parameters, userId: plain.userId } : parameters;
      const body = plain.submitBody(name, own);
      const denied = await plain.sendStamped(path(name), body);
      expectError(denied, 403, 'REQUEST_NOT_AUTHORIZED', 7);
      expect(denied.body.message).toMatch(/^You don't have sufficient permissions to take this action\./);
      const detail = denied.body.details.find(
        (entry: { '@type': string }) => entry['@type'] === 'type.googleapis.com/errors.v1.PolicyEnginePermissionError',
      );
      const message =
        operation.policy.governedBy === 'policy'
          ? 'No policies evaluated to outcome: Allow'
          : 'Only the root quorum can take this action';
      // No policy reaches what is the root quorum's; otherwise every one of the organization has its say.
      const { policies } = (await root.query('list_policies')).body;
      const policyEvaluations = policies.map(({ policyId }: { policyId: string }) => ({
        policyId,
        outcome: 'OUTCOME_DENY_IMPLICIT',
        reason: 'CONDITION_FALSE',
      }));
      expect(detail).toEqual({ '@type': detail['@type'], message, policyEvaluations, activityId: anId });
      await absent(root);

      const stored = await root.query('get_activity', { activityId: detail.activityId });
      expectActivity(stored.body.activity, body, 'ACTIVITY_STATUS_REJECTED', plain);
      expect(stored.body.activity.result).toEqual({});
      const rejected = await root.query('list_activities', { filterByStatus: ['ACTIVITY_STATUS_REJECTED'] });
      expect(rejected.body.activities.map((activity: { id: string }) => activity.id)).toContain(detail.activityId);

      const again = await plain.sendStamped(path(name), body);
      expect(again.status).toBe(403);
      expect(again.body).toEqual(denied.body);
    });

    testIf(isFirst)('is not for another organization', async () => {
      const world = await newWorld(spec.place);
      const other = await newWorld();
      const { parameters, absent, holds } = await spec.arrange(world);
      const { organizationId } = world.root;
      const stranger = new TestClient(parent.baseUrl, organizationId, other.root.key, other.root.userId);
      expectError(await stranger.submit(name, parameters), 401, 'PUBLIC_KEY_NOT_FOUND', 16);
      const above = new TestClient(parent.baseUrl, organizationId, parent.key, parent.userId);
      if (spec.place !== 'parent' && !PARENT_RUN.has(name)) {
        expectError(await above.submit(name, parameters), 400, 'ORGANIZATION_MISMATCH', 3);
      }
      await absent(world.root);
      expectError(
        await world.root.submit(name, parameters, { organizationId: randomUUID() }),
        404,
        'ORGANIZATION_NOT_FOUND',
        5,
      );
      if (spec.foreign !== undefined) {
        const { parameters: foreign, status, code } = await spec.foreign(world, other);
        expectError(await world.root.submit(name, foreign), status, code);
      }
      if (PARENT_RUN.has(name)) {
        const powerless = await createUser(parent, 'powerless');
        const without = new TestClient(parent.baseUrl, organizationId, powerless.key);
        expectError(await without.submit(name, parameters), 403, 'REQUEST_NOT_AUTHORIZED', 7);
        await absent(world.root);
        const { body } = await above.submit(name, parameters);
        expect(body.activity, JSON.stringify(body)).toMatchObject({
          organizationId,
          status: 'ACTIVITY_STATUS_COMPLETED',
          votes: [{ userId: parent.userId }],
        });
        await holds(world.root);
      }
    });

    testIf(isFirst)('proves what it did where it is asked to', async () => {
      const world = await newWorld(spec.place);
      const { parameters, result } = await spec.arrange(world);
      const { status, body } = await world.root.submit(name, parameters, { generateAppProofs: true });
      expect(status, JSON.stringify(body)).toBe(200);
      const { activity } = body;
      expect(activity.result).toEqual({ [spec.resultKey]: result });
      const [outcome, ...derivations] = activity.appProofs.map(readProof);
      expect(outcome).toMatchObject({
        type: 'APP_PROOF_TYPE_POLICY_OUTCOME',
        policyOutcomeProof: {
          organizationId: world.root.organizationId,
          outcome: 'OUTCOME_ALLOW',
          userRequestApprovals: [
            { userId: world.root.userId, signature: activity.votes[0].signature, messageDigest: activity.fingerprint },
          ],
        },
      });
      const proven = derivations.map(({ type, addressDerivationProof }: ReturnType<typeof readProof>) => {
        expect(type).toBe('APP_PROOF_TYPE_ADDRESS_DERIVATION');
        return addressDerivationProof.address;
      });
      expect(proven).toEqual(newAddresses(activity.result[spec.resultKey]));
      const stored = await readerOf(spec, world).query('list_app_proofs', { activityId: activity.id });
      expect(stored.body).toEqual({ appProofs: activity.appProofs, pageInfo: PAGE_INFO });
    });

    testIf(isFirst)('ignores unknown fields and null in optional ones, and keeps what was signed', async () => {
      const world = await newWorld(spec.place);
      const { parameters, holds } = await spec.arrange(world);
      const { properties = {}, required = [] } = operation.versions[0]!.schema as unknown as {
        properties?: object;
        required?: string[];
      };
      const nulls = Object.fromEntries(
        Object.keys(properties)
          .filter((key) => !required.includes(key) && !(key in parameters))
          .map((key) => [key, null]),
      );
      const odd = { ...parameters, ...nulls, unknown: { deep: [1] } };
      const body = world.root.submitBody(name, odd, { generateAppProofs: false, extra: 'kept' });
      const { status, body: answer } = await world.root.sendStamped(path(name), body);
      expect(status, JSON.stringify(answer)).toBe(200);
      expect(answer.activity.intent).toEqual({ [spec.intentKey]: odd });
      expect(answer.activity.votes[0].message).toBe(shownMessage(body, operation.versions[0]!.secrets));
      await holds(readerOf(spec, world));
    });
  });

  describe.each(queries.map(({ name }) => name))('%s', (name) => {
    const spec = QUERIES[name] as QueryCase;
    const operation = queries.find((candidate) => candidate.name === name)!;
    let world: World;
    let parameters: Record<string, unknown>;

    beforeAll(async () => {
      world = await newWorld(spec.place);
      parameters = (await spec.parameters?.(world)) ?? {};
    });

    test('answers the whole organization to each of its users and to its parent', async () => {
      for (const client of [world.root, world.plain]) {
        const { status, body } = await client.query(name, parameters);
        expect(status, JSON.stringify(body)).toBe(200);
        if (name === 'whoami' && client === world.plain) expect(body.userId).toBe(world.plain.userId);
        else expect(body).toEqual(spec.answer(world));
      }
      const above = await parent.query(name, { ...parameters, organizationId: world.root.organizationId });
      expect(above.status).toBe(200);
      if (name === 'whoami') expect(above.body.organizationId).toBe(parent.organizationId);
      else expect(above.body).toEqual(spec.answer(world));
    });

    testIf(isFirst)('is not for strangers', async () => {
      const other = await newWorld();
      const stranger = await other.root.query(name, { ...parameters, organizationId: world.root.organizationId });
      expectError(stranger, 401, 'PUBLIC_KEY_NOT_FOUND', 16);
      const child = await other.root.query(name, { ...parameters, organizationId: parent.organizationId });
      if (name === 'whoami') expect(child.body.organizationId).toBe(other.root.organizationId);
      else expectError(child, 401, 'PUBLIC_KEY_NOT_FOUND', 16);
      expectError(
        await world.root.query(name, { ...parameters, organizationId: randomUUID() }),
        404,
        'ORGANIZATION_NOT_FOUND',
        5,
      );
      if (spec.isOfChain) {
        expect((await other.root.query(name, parameters)).body).toEqual(spec.answer(world));
        return;
      }
      // Ids of another organization look like unknown ones.
      const [idName] = Object.keys(parameters);
      if (idName === undefined) return;
      const unknown = await other.root.query(name, { ...parameters, [idName]: randomUUID() });
      const foreign = await other.root.query(name, parameters);
      const { foreignAnswer, foreignStatus = foreignAnswer === undefined ? 404 : 200 } = spec;
      expect(foreign.status).toBe(foreignStatus);
      if (foreignAnswer !== undefined) expect(foreign.body).toEqual(foreignAnswer);
      if (foreignStatus === 200 && foreignAnswer === undefined) expectError(unknown, 404, 'RESOURCE_NOT_FOUND', 5);
      else expect(foreign.body).toEqual(unknown.body);
    });

    testIf(isFirst)('refuses malformed requests', async () => {
      const { required = [], properties = {} } = operation.schema as Shape;
      for (const field of required) {
        expectError(await world.root.query(name, { ...parameters, [field]: undefined }), 400, 'REQUEST_INVALID', 3);
        expectError(await world.root.query(name, { ...parameters, [field]: null }), 400, 'REQUEST_INVALID', 3);
        expectError(await world.root.query(name, { ...parameters, [field]: 5 }), 400, 'REQUEST_INVALID', 3);
        if (field !== 'organizationId' && !allows(properties[field] ?? {}, 'x')) {
          expectError(await world.root.query(name, { ...parameters, [field]: 'x' }), 400, 'REQUEST_INVALID', 3);
        }
      }
      expectError(await world.root.query(name, { ...parameters, type: 'anything' }), 400, 'REQUEST_INVALID', 3);
      expectError(await world.root.query(name, { ...parameters, type: null }), 400, 'REQUEST_INVALID', 3);
      expectError(await world.root.query(name, { organizationId: 'x' }), 400, 'INVALID_ORGANIZATION_ID', 3);
      expectError(await world.root.sendStamped(`/public/v1/query/${name}`, '[]'), 400, 'REQUEST_INVALID', 3);
      expectError(await world.root.sendStamped(`/public/v1/query/${name}`, ''), 400, 'REQUEST_INVALID', 3);
    });
  });

  // What is wrong inside the parameters is tried for every field of every operation in hostile/bad-input.test.ts.
  testIf(isFirst)('what is around the parameters is judged alike for all', async () => {
    const { root } = await newWorld();
    const parameters = { userId: root.userId, userName: 'Renamed' };
    const submit = (overrides: Record<string, unknown>) => root.submit('update_user_name', parameters, overrides);
    for (const overrides of [
      { type: 'ACTIVITY_TYPE_NOTHING' },
      { type: null },
      { type: 7 },
      { timestampMs: undefined },
      { timestampMs: 'now' },
      { timestampMs: '-1' },
      { timestampMs: String(Date.now() - 2 * 60 * 60 * 1000) },
      { parameters: undefined },
      { parameters: [] },
      { organizationId: 12 },
      { organizationId: undefined },
      { generateAppProofs: 'yes' },
    ]) {
      expectError(await submit(overrides), 400, 'REQUEST_INVALID', 3);
    }
    expectError(await submit({ organizationId: 'mine' }), 400, 'INVALID_ORGANIZATION_ID', 3);
    expect((await readUser(root, root.userId)).userName).not.toBe('Renamed');
    expect((await submit({})).status).toBe(200);
  });

  test.each(votes.map(({ name }) => name))('%s needs a fingerprint of this organization', async (name) => {
    const { root } = await newWorld();
    const done = await root.submit('update_user_name', { userId: root.userId, userName: 'n' });
    const { fingerprint } = done.body.activity;
    const type = currentType(name);
    for (const parameters of [
      {},
      { fingerprint: null },
      { fingerprint: 5 },
      { fingerprint: 'sha256:' },
      { fingerprint: fingerprint.toUpperCase() },
    ]) {
      expectError(await root.submit(name, parameters), 400, 'REQUEST_INVALID', 3);
    }
    expectError(
      await root.submit(name, { fingerprint }, { type: 'ACTIVITY_TYPE_DELETE_USERS' }),
      400,
      'REQUEST_INVALID',
    );
    const unknown = await root.submit(name, { fingerprint: fingerprintOf('nothing') });
    expectError(unknown, 404, 'ACTIVITY_NOT_FOUND', 5);
    expect(unknown.body.message).toBe(
      'No activity found with fingerprint. Consensus activities must target an existing activity by fingerprint',
    );
    const other = await newWorld();
    expect((await other.root.submit(name, { fingerprint })).body).toEqual(unknown.body);
    expectError(await parent.submit(name, { fingerprint }), 404, 'ACTIVITY_NOT_FOUND', 5);
    expectError(
      await parent.submit(name, { fingerprint }, { organizationId: root.organizationId }),
      400,
      'ORGANIZATION_MISMATCH',
      3,
    );
    expectError(
      await other.root.submit(name, { fingerprint }, { organizationId: root.organizationId }),
      401,
      'PUBLIC_KEY_NOT_FOUND',
    );
    expect(type).toBe(`ACTIVITY_TYPE_${name.toUpperCase()}`);
  });

  test('get_organization shows policies and contract interfaces too', async () => {
    const { root } = await newWorld();
    const policy = { policyName: 'p', effect: 'EFFECT_ALLOW', condition: '', consensus: 'false', notes: '' };
    await root.run('create_policy', policy);
    const smartContractAddress = `0x${'aB'.repeat(20)}`;
    const { smartContractInterfaceId } = await root.run('create_smart_contract_interface', {
      smartContractAddress,
      smartContractInterface: '[]',
      type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
      label: 'l',
    });
    const { organizationData } = (await root.query('get_organization')).body;
    expect(organizationData.policies).toEqual((await root.query('list_policies')).body.policies);
    expect(organizationData.policies).toHaveLength(1);
    expect(organizationData.smartContractInterfaceReferences).toEqual([
      expect.objectContaining({ smartContractInterfaceId, smartContractAddress }),
    ]);
  });

  test('types that share the path but are not served are 501', async () => {
    const { root } = await newWorld();
    const unserved = activities.flatMap(({ name, unserved: types }) => types.map((type) => [name, type] as const));
    expect(unserved.map(([, type]) => type)).toEqual(
      expect.arrayContaining(['ACTIVITY_TYPE_CREATE_POLICY', 'ACTIVITY_TYPE_CREATE_POLICY_V2']),
    );
    for (const [name, type] of unserved) expectError(await root.submit(name, {}, { type }), 501, 'UNIMPLEMENTED', 12);
  });

  test('a body for one operation is refused on the path of another', async () => {
    const { root } = await newWorld();
    const body = root.submitBody('update_user_name', { userId: root.userId, userName: 'n' });
    for (const { name, kind } of operations) {
      if (kind === 'query' || name === 'update_user_name') continue;
      expectError(await root.sendStamped(path(name), body), 400, 'REQUEST_INVALID', 3);
    }
  });

  test('a stamp must be there', async () => {
    const { root } = await newWorld();
    for (const operation of operations) {
      const isQuery = operation.kind === 'query';
      const body = isQuery
        ? JSON.stringify({ organizationId: root.organizationId })
        : root.submitBody(operation.name, {});
      const answer = await send(root.baseUrl, `/public/v1/${isQuery ? 'query' : 'submit'}/${operation.name}`, body);
      expectError(answer, 401, 'SIGNATURE_MISSING', 16);
      expect(answer.body.message).toBe('no valid authentication signature found for request');
    }
  });
});
