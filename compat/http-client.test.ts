// The unmodified low-level client and its stampers against the running service, older request versions included.
import { createECDH, createHash, randomBytes } from 'node:crypto';
import { ApiKeyStamper } from '@turnkey/api-key-stamper';
import {
  assertActivityCompleted,
  createActivityPoller,
  init,
  sealAndStampRequestBody,
  type TSignedRequest,
  TurnkeyActivityConsensusNeededError,
  TurnkeyActivityError,
  TurnkeyApi,
  TurnkeyClient,
  TurnkeyRequestError,
  withAsyncPolling,
} from '@turnkey/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type KeyPair, newKeyPair } from '../packages/server/test/harness/client.ts';
import { databasesOf } from '../packages/server/test/harness/databases.ts';
import { TestServer } from '../packages/server/test/harness/server.ts';

const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/;

const stamperOf = ({ publicKey, privateKey }: KeyPair) =>
  new ApiKeyStamper({ apiPublicKey: publicKey, apiPrivateKey: privateKey });

const apiKeyOf = (key: KeyPair, apiKeyName = 'key') => ({
  apiKeyName,
  publicKey: key.publicKey,
  curveType: 'API_KEY_CURVE_P256' as const,
});

/** Before V2 a key had no curve. */
const oldApiKeyOf = (key: KeyPair, apiKeyName = 'key') => ({ apiKeyName, publicKey: key.publicKey });

let serial = 0;
/** A name that no other test of this file uses. */
const fresh = (word: string): string => {
  serial += 1;
  return `${word} ${serial}`;
};

let lastTimestamp = 0;
/** The caller of this client makes the timestamp; equal ones would make equal requests one activity. */
const nextTimestamp = (): string => {
  lastTimestamp = Math.max(Date.now(), lastTimestamp + 1);
  return String(lastTimestamp);
};

async function failure<E extends Error>(
  work: Promise<unknown>,
  kind: abstract new (...args: never[]) => E,
): Promise<E> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(kind);
  return error as E;
}

/** Sends a stamped request the way the manual of the client shows it. */
async function forward({ url, body, stamp }: TSignedRequest): Promise<{
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the service answers is asserted on.
  body: any;
}> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', [stamp.stampHeaderName]: stamp.stampHeaderValue },
    body,
  });
  return { status: response.status, body: await response.json() };
}

interface Registration {
  readonly credentialId: string;
  readonly challenge: string;
  readonly clientDataJson: string;
  readonly attestationObject: string;
}

/** A passkey registration for https://app.example, format none, as an authenticator would make it. */
function newRegistration(): Registration {
  const challenge = randomBytes(32).toString('base64url');
  const credentialId = randomBytes(16);
  const point = createECDH('prime256v1').generateKeys();
  const authData = Buffer.concat([
    createHash('sha256').update('app.example').digest(),
    // User present and verified, credential included; counter and model are zero.
    Buffer.from([0x45]),
    Buffer.alloc(20),
    Buffer.from([0, credentialId.length]),
    credentialId,
    Buffer.from('a5010203262001215820', 'hex'),
    point.subarray(1, 33),
    Buffer.from('225820', 'hex'),
    point.subarray(33),
  ]);
  const attestationObject = Buffer.concat([
    Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746158', 'hex'),
    Buffer.from([authData.length]),
    authData,
  ]);
  const clientData = { type: 'webauthn.create', challenge, origin: 'https://app.example', crossOrigin: false };
  return {
    credentialId: credentialId.toString('base64url'),
    challenge,
    clientDataJson: Buffer.from(JSON.stringify(clientData)).toString('base64url'),
    attestationObject: attestationObject.toString('base64url'),
  };
}

const authenticatorOf = (registration: Registration, authenticatorName = 'passkey') => ({
  authenticatorName,
  challenge: registration.challenge,
  attestation: {
    credentialId: registration.credentialId,
    clientDataJson: registration.clientDataJson,
    attestationObject: registration.attestationObject,
    transports: ['AUTHENTICATOR_TRANSPORT_HYBRID' as const],
  },
});

/** The browser-style form of the first version. */
const oldAuthenticatorOf = (registration: Registration, userId: string, authenticatorName = 'passkey') => ({
  authenticatorName,
  userId,
  challenge: registration.challenge,
  attestation: {
    id: registration.credentialId,
    rawId: registration.credentialId,
    type: 'public-key',
    response: {
      clientDataJson: registration.clientDataJson,
      attestationObject: registration.attestationObject,
      transports: ['AUTHENTICATOR_TRANSPORT_INTERNAL'],
    },
    clientExtensionResults: {},
  },
});

describe.each(databasesOf(import.meta.url))('the HTTP client on %s', (database) => {
  let service: TestServer;
  let organizationId: string;
  let userId: string;
  let rootKey: KeyPair;
  let root: TurnkeyClient;

  const connect = (key: KeyPair) => new TurnkeyClient({ baseUrl: service.baseUrl }, stamperOf(key));

  const envelope = <const Type extends string, Parameters>(
    type: Type,
    parameters: Parameters,
    id = organizationId,
  ) => ({
    type,
    timestampMs: nextTimestamp(),
    organizationId: id,
    parameters,
  });

  /** A body that the current package has no type for, stamped by its stamper. */
  const submitRaw = async (path: string, type: string, parameters: unknown) => {
    const body = JSON.stringify(envelope(type, parameters));
    const stamp = await stamperOf(rootKey).stamp(body);
    return await forward({ url: `${service.baseUrl}/public/v1/submit/${path}`, body, stamp });
  };

  const createTag = (client = root, id = organizationId) =>
    client.createUserTag(envelope('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: fresh('tag'), userIds: [] }, id));

  /** A sub-organization with three root users of whom `threshold` must agree. */
  const openCouncil = async (threshold: number) => {
    const keys = [newKeyPair(), newKeyPair(), newKeyPair()];
    const { activity } = await root.createSubOrganization(
      envelope('ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8', {
        subOrganizationName: fresh('council'),
        rootQuorumThreshold: threshold,
        rootUsers: keys.map((key, index) => ({
          userName: `member ${index}`,
          apiKeys: [apiKeyOf(key)],
          authenticators: [],
          oauthProviders: [],
        })),
      }),
    );
    const result = activity.result.createSubOrganizationResultV8;
    if (result?.rootUserIds === undefined) throw new Error(`no result: ${JSON.stringify(activity)}`);
    return { id: result.subOrganizationId, userIds: result.rootUserIds, members: keys.map(connect), keys };
  };

  beforeAll(async () => {
    service = await TestServer.start({ database });
    const { apiPublicKey, apiPrivateKey } = service.credentials;
    ({ organizationId, userId } = service.credentials);
    rootKey = { publicKey: apiPublicKey, privateKey: apiPrivateKey };
    root = connect(rootKey);
  });

  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });

  describe('calls', () => {
    test('whoami', async () => {
      expect(await root.getWhoami({ organizationId })).toEqual({
        organizationId,
        organizationName: 'My organization',
        userId,
        username: 'Root user',
      });
    });

    test('users, tags and keys', async () => {
      const key = newKeyPair();
      const tagged = await createTag();
      const userTagId = tagged.activity.result.createUserTagResult?.userTagId as string;
      const created = await root.createUsers(
        envelope('ACTIVITY_TYPE_CREATE_USERS_V4', {
          users: [
            {
              userName: 'Grace',
              userEmail: `${fresh('grace').replace(' ', '.')}@example.com`,
              apiKeys: [apiKeyOf(key)],
              authenticators: [authenticatorOf(newRegistration())],
              oauthProviders: [],
              userTags: [userTagId],
            },
          ],
        }),
      );
      assertActivityCompleted(created.activity);
      const graceId = created.activity.result.createUsersResult?.userIds[0] as string;
      const { user } = await root.getUser({ organizationId, userId: graceId });
      expect(user).toMatchObject({ userName: 'Grace', userTags: [userTagId] });
      expect(user.authenticators).toHaveLength(1);
      expect((await root.getUsers({ organizationId })).users.map((item) => item.userId)).toContain(graceId);
      expect((await root.listUserTags({ organizationId })).userTags.map((item) => item.tagId)).toContain(userTagId);

      const grace = connect(key);
      const second = newKeyPair();
      const added = await grace.createApiKeys(
        envelope('ACTIVITY_TYPE_CREATE_API_KEYS_V2', { userId: graceId, apiKeys: [apiKeyOf(second, 'second')] }),
      );
      const apiKeyId = added.activity.result.createApiKeysResult?.apiKeyIds[0] as string;
      expect((await grace.getApiKey({ organizationId, apiKeyId })).apiKey.credential.publicKey).toBe(second.publicKey);
      expect((await grace.getApiKeys({ organizationId, userId: graceId })).apiKeys).toHaveLength(2);
      await connect(second).deleteApiKeys(
        envelope('ACTIVITY_TYPE_DELETE_API_KEYS', { userId: graceId, apiKeyIds: [apiKeyId] }),
      );
      expect((await grace.getApiKeys({ organizationId, userId: graceId })).apiKeys).toHaveLength(1);

      const renamed = await root.updateUser(
        envelope('ACTIVITY_TYPE_UPDATE_USER', { userId: graceId, userName: 'Grace H.', userTagIds: [] }),
      );
      expect(renamed.activity.result).toEqual({ updateUserResult: { userId: graceId } });
      const deleted = await root.deleteUsers(envelope('ACTIVITY_TYPE_DELETE_USERS', { userIds: [graceId] }));
      expect(deleted.activity.result).toEqual({ deleteUsersResult: { userIds: [graceId] } });
    });

    test('everything of an organization at once', async () => {
      const { id, userIds, members } = await openCouncil(1);
      const [member] = members as [TurnkeyClient];
      await createTag(member, id);
      const { organizationData } = await member.getOrganization({ organizationId: id });
      expect(organizationData).toMatchObject({
        organizationId: id,
        name: expect.stringMatching(/^council/),
        policies: [],
        privateKeys: [],
        invitations: [],
        wallets: [],
        smartContractInterfaceReferences: [],
        rootQuorum: { threshold: 1, userIds },
      });
      expect(organizationData.users?.map((user) => user.userId)).toEqual(userIds);
      expect(organizationData.tags).toHaveLength(1);
      expect(organizationData.features?.map((feature) => feature.name)).toContain('FEATURE_NAME_EMAIL_AUTH');
      // The parent sees the same.
      expect((await root.getOrganization({ organizationId: id })).organizationData).toEqual(organizationData);
    });

    test('users with API keys only', async () => {
      const key = newKeyPair();
      const { activity } = await root.createApiOnlyUsers(
        envelope('ACTIVITY_TYPE_CREATE_API_ONLY_USERS', {
          apiOnlyUsers: [{ userName: 'robot', userTags: [], apiKeys: [oldApiKeyOf(key)] }],
        }),
      );
      const robotId = activity.result.createApiOnlyUsersResult?.userIds[0] as string;
      expect(robotId).toMatch(UUID);
      expect(await connect(key).getWhoami({ organizationId })).toMatchObject({ userId: robotId, username: 'robot' });
    });

    test('sub-organizations by filter, configs and features', async () => {
      const { id, userIds, members, keys } = await openCouncil(1);
      const found = await root.getSubOrgIds({
        organizationId,
        filterType: 'PUBLIC_KEY',
        filterValue: keys[1]?.publicKey as string,
      });
      expect(found.organizationIds).toEqual([id]);
      const [member] = members as [TurnkeyClient];
      const value = 'https://app.example,http://localhost:3000';
      const { activity } = await member.setOrganizationFeature(
        envelope('ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', { name: 'FEATURE_NAME_WEBAUTHN_ORIGINS', value }, id),
      );
      expect(activity.result.setOrganizationFeatureResult?.features).toContainEqual({
        name: 'FEATURE_NAME_WEBAUTHN_ORIGINS',
        value,
      });
      expect((await root.getOrganizationConfigs({ organizationId: id })).configs.quorum).toEqual({
        threshold: 1,
        userIds,
      });
    });

    test('generateAppProofs at the top level: false is ignored, true brings proofs', async () => {
      const body = () => envelope('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: fresh('tag'), userIds: [] });
      const { activity } = await root.createUserTag({ ...body(), generateAppProofs: false });
      assertActivityCompleted(activity);
      expect(activity.appProofs ?? []).toEqual([]);
      const proven = await root.createUserTag({ ...body(), generateAppProofs: true });
      assertActivityCompleted(proven.activity);
      expect(proven.activity.appProofs).toHaveLength(1);
    });

    test('errors keep code, message and details', async () => {
      const stranger = await failure(connect(newKeyPair()).getWhoami({ organizationId }), TurnkeyRequestError);
      expect(stranger.code).toBe(16);
      expect(stranger.message).toMatch(
        /^Turnkey error 16: could not find public key in organization or its parent organization.* \(Details: \[/,
      );
      const wrongPath = await failure(
        root.createUserTag(envelope('ACTIVITY_TYPE_CREATE_USERS_V4', {}) as never),
        TurnkeyRequestError,
      );
      expect(wrongPath.code).toBe(3);
      expect(wrongPath.details).toContainEqual(
        expect.objectContaining({ fieldViolations: [expect.objectContaining({ field: 'type' })] }),
      );
      // Operations that only this package knows.
      const unserved = await failure(
        root.getSwapStatus({ organizationId, swapRequestId: organizationId }),
        TurnkeyRequestError,
      );
      expect(unserved.code).toBe(12);
    });
  });

  describe('polling', () => {
    test('createActivityPoller returns a completed activity', async () => {
      const poll = createActivityPoller({ client: root, requestFn: root.createUserTag, refreshIntervalMs: 10 });
      const activity = await poll(
        envelope('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: fresh('tag'), userIds: [] }),
      );
      expect(activity.result.createUserTagResult?.userTagId).toMatch(UUID);
    });

    test('createActivityPoller asks until an activity is completed', async () => {
      // The service completes in the request, so a slower one is played here; what is polled is real.
      const slow: typeof root.createUserTag = async (input) => {
        const { activity } = await root.createUserTag(input);
        return { activity: { ...activity, status: 'ACTIVITY_STATUS_PENDING', result: {} } };
      };
      const poll = createActivityPoller({ client: root, requestFn: slow, refreshIntervalMs: 10 });
      const activity = await poll(
        envelope('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: fresh('tag'), userIds: [] }),
      );
      expect(activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
      expect(activity.result.createUserTagResult?.userTagId).toMatch(UUID);
    });

    test('what waits, fails or is rejected is thrown with its id', async () => {
      const { id, members } = await openCouncil(2);
      const [first, second] = members as [TurnkeyClient, TurnkeyClient];
      const poll = createActivityPoller({ client: first, requestFn: first.createUserTag });
      const body = envelope('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'shared', userIds: [] }, id);
      const waiting = await failure(poll(body), TurnkeyActivityError);
      expect(waiting.activityStatus).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
      const activityId = waiting.activityId as string;
      const { activity } = await second.getActivity({ organizationId: id, activityId });
      expect(() => assertActivityCompleted(activity)).toThrow(TurnkeyActivityConsensusNeededError);
      expect(activity.canApprove).toBe(true);

      const rejection = await second.rejectActivity(
        envelope('ACTIVITY_TYPE_REJECT_ACTIVITY', { fingerprint: activity.fingerprint }, id),
      );
      expect(rejection.activity).toMatchObject({ id: activityId, status: 'ACTIVITY_STATUS_REJECTED' });
      // The same bytes again read the same activity.
      const rejected = await failure(poll(body), TurnkeyActivityError);
      expect(rejected).toMatchObject({ activityId, activityStatus: 'ACTIVITY_STATUS_REJECTED' });

      const tag = { userTagName: 'once', userIds: [] };
      const ask = () => first.createUserTag(envelope('ACTIVITY_TYPE_CREATE_USER_TAG', tag, id));
      const [taking, doomed] = [await ask(), await ask()];
      const approve = createActivityPoller({ client: second, requestFn: second.approveActivity });
      await approve(envelope('ACTIVITY_TYPE_APPROVE_ACTIVITY', { fingerprint: taking.activity.fingerprint }, id));
      const failed = await failure(
        approve(envelope('ACTIVITY_TYPE_APPROVE_ACTIVITY', { fingerprint: doomed.activity.fingerprint }, id)),
        TurnkeyActivityError,
      );
      expect(failed).toMatchObject({ activityId: doomed.activity.id, activityStatus: 'ACTIVITY_STATUS_FAILED' });
    });

    test('withAsyncPolling of the older interface', async () => {
      init({ baseUrl: service.baseUrl, apiPublicKey: rootKey.publicKey, apiPrivateKey: rootKey.privateKey });
      expect(await TurnkeyApi.getWhoami({ body: { organizationId } })).toMatchObject({ userId });
      const create = withAsyncPolling({ request: TurnkeyApi.createUserTag, refreshIntervalMs: 10 });
      const activity = await create({
        body: envelope('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: fresh('tag'), userIds: [] }),
      });
      expect(activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
      const { activities } = await TurnkeyApi.getActivities({
        body: { organizationId, filterByType: ['ACTIVITY_TYPE_CREATE_USER_TAG'], paginationOptions: { limit: '1' } },
      });
      expect(activities.map((item) => item.id)).toEqual([activity.id]);
    });
  });

  describe('stamped requests', () => {
    test('stamped now, sent later: one fingerprint, one activity', async () => {
      const request = await root.stampCreateUserTag(
        envelope('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: fresh('tag'), userIds: [] }),
      );
      expect(request.url).toBe(`${service.baseUrl}/public/v1/submit/create_user_tag`);
      expect(request.stamp.stampHeaderName).toBe('X-Stamp');
      const first = await forward(request);
      const again = await forward(request);
      expect(first.status).toBe(200);
      expect(first.body.activity.fingerprint).toBe(`sha256:${createHash('sha256').update(request.body).digest('hex')}`);
      expect(again).toEqual(first);
    });

    test('a stamp covers every byte of the body', async () => {
      const request = await root.stampCreateUserTag(
        envelope('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: fresh('tag'), userIds: [] }),
      );
      const tampered = { ...request, body: request.body.replace('"tag ', '"Tag ') };
      expect(tampered.body).not.toBe(request.body);
      expect(await forward(tampered)).toMatchObject({ status: 401, body: { errorCode: 'SIGNATURE_INVALID' } });
      expect((await forward(request)).status).toBe(200);
    });

    test('a stamped query is not a submit, nor the reverse', async () => {
      const query = await root.stampGetWhoami({ organizationId });
      expect((await forward(query)).status).toBe(200);
      const asSubmit = { ...query, url: `${service.baseUrl}/public/v1/submit/create_user_tag` };
      expect((await forward(asSubmit)).status).toBe(400);
      const submit = await root.stampUpdateUserName(
        envelope('ACTIVITY_TYPE_UPDATE_USER_NAME', { userId, userName: 'Root user' }),
      );
      const asQuery = { ...submit, url: `${service.baseUrl}/public/v1/query/get_user` };
      expect((await forward(asQuery)).status).toBe(400);
      expect((await forward(submit)).status).toBe(200);
    });

    test('the bytes of one member, stamped by another, are its approval', async () => {
      const { id, members, keys } = await openCouncil(2);
      const [first] = members as [TurnkeyClient];
      const request = await first.stampCreateUserTag(
        envelope('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'together', userIds: [] }, id),
      );
      const proposed = await forward(request);
      expect(proposed.body.activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
      const stamp = await stamperOf(keys[1] as KeyPair).stamp(request.body);
      const agreed = await forward({ ...request, stamp });
      expect(agreed.body.activity).toMatchObject({
        id: proposed.body.activity.id,
        status: 'ACTIVITY_STATUS_COMPLETED',
        votes: [{ selection: 'VOTE_SELECTION_APPROVED' }, { selection: 'VOTE_SELECTION_APPROVED' }],
      });
    });

    test('sealAndStampRequestBody', async () => {
      const { sealedBody, xStamp } = await sealAndStampRequestBody({
        body: { organizationId },
        apiPublicKey: rootKey.publicKey,
        apiPrivateKey: rootKey.privateKey,
      });
      const answer = await forward({
        url: `${service.baseUrl}/public/v1/query/whoami`,
        body: sealedBody,
        stamp: { stampHeaderName: 'X-Stamp', stampHeaderValue: xStamp },
      });
      expect(answer).toMatchObject({ status: 200, body: { userId } });
    });
  });

  describe('older versions of a request', () => {
    test.each([
      ['V4', oldApiKeyOf, false],
      ['V5', oldApiKeyOf, true],
      ['V6', apiKeyOf, true],
      ['V7', apiKeyOf, true],
    ] as const)('create_sub_organization %s', async (version, keyParams, hasProviders) => {
      const key = newKeyPair();
      const registration = newRegistration();
      const type = `ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_${version}`;
      const { status, body } = await submitRaw('create_sub_organization', type, {
        subOrganizationName: fresh(`old ${version}`),
        rootQuorumThreshold: 1,
        rootUsers: [
          {
            userName: 'pioneer',
            apiKeys: [keyParams(key)],
            authenticators: [authenticatorOf(registration)],
            ...(hasProviders && { oauthProviders: [] }),
            ...(version === 'V7' && { userPhoneNumber: '+15555550142' }),
          },
        ],
        disableEmailAuth: true,
      });
      expect(status, JSON.stringify(body)).toBe(200);
      expect(body.activity.type).toBe(type);
      expect(Object.keys(body.activity.intent)).toEqual([`createSubOrganizationIntent${version}`]);
      const { subOrganizationId, rootUserIds } = body.activity.result[`createSubOrganizationResult${version}`];
      expect(await connect(key).getWhoami({ organizationId: subOrganizationId })).toMatchObject({
        userId: rootUserIds[0],
        username: 'pioneer',
      });
      const found = await root.getSubOrgIds({
        organizationId,
        filterType: 'CREDENTIAL_ID',
        filterValue: registration.credentialId,
      });
      expect(found.organizationIds).toEqual([subOrganizationId]);
      const { configs } = await root.getOrganizationConfigs({ organizationId: subOrganizationId });
      expect(configs.features?.map((feature) => feature.name)).not.toContain('FEATURE_NAME_EMAIL_AUTH');
      // Read again later, the activity has kept its version.
      const { activity } = await root.getActivity({ organizationId, activityId: body.activity.id });
      expect(activity).toEqual(body.activity);
    });

    test.each(['V1', 'V2', 'V3'] as const)('create_sub_organization %s', async (version) => {
      const key = newKeyPair();
      const passkey = authenticatorOf(newRegistration());
      const named = {
        subOrganizationName: fresh('old'),
        rootQuorumThreshold: 1,
        rootUsers: [{ userName: 'pioneer', apiKeys: [oldApiKeyOf(key)], authenticators: [passkey] }],
      };
      const addressFormats = ['ADDRESS_FORMAT_ETHEREUM'];
      const privateKey = { privateKeyName: 'first', curve: 'CURVE_SECP256K1', privateKeyTags: [], addressFormats };
      const [suffix, resultKey, parameters] = {
        V1: ['', 'createSubOrganizationResult', { name: fresh('old'), rootAuthenticator: passkey }] as const,
        V2: ['_V2', 'createSubOrganizationResult', named] as const,
        V3: ['_V3', 'createSubOrganizationResultV3', { ...named, privateKeys: [privateKey] }] as const,
      }[version];
      const type = `ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION${suffix}`;
      const { status, body } = await submitRaw('create_sub_organization', type, parameters);
      expect(status, JSON.stringify(body)).toBe(200);
      const { subOrganizationId } = body.activity.result[resultKey];
      const { configs } = await root.getOrganizationConfigs({ organizationId: subOrganizationId });
      expect(configs.quorum?.threshold).toBe(1);
      if (version !== 'V3') return;
      const kept = await connect(key).getPrivateKeys({ organizationId: subOrganizationId });
      expect(kept.privateKeys.map(({ privateKeyName }) => privateKeyName)).toEqual(['first']);
    });

    test.each(['V1', 'V2', 'V3'] as const)('create_users %s', async (version) => {
      const key = newKeyPair();
      const registration = newRegistration();
      const shapes = {
        V1: {
          type: 'ACTIVITY_TYPE_CREATE_USERS',
          user: {
            accessType: 'ACCESS_TYPE_ALL',
            apiKeys: [oldApiKeyOf(key)],
            authenticators: [oldAuthenticatorOf(registration, userId)],
          },
        },
        V2: {
          type: 'ACTIVITY_TYPE_CREATE_USERS_V2',
          user: { apiKeys: [oldApiKeyOf(key)], authenticators: [authenticatorOf(registration)] },
        },
        V3: {
          type: 'ACTIVITY_TYPE_CREATE_USERS_V3',
          user: {
            apiKeys: [apiKeyOf(key)],
            authenticators: [authenticatorOf(registration)],
            oauthProviders: [],
            userPhoneNumber: '',
          },
        },
      };
      const { type, user } = shapes[version];
      const { status, body } = await submitRaw('create_users', type, {
        users: [{ userName: `settler ${version}`, userTags: [], ...user }],
      });
      expect(status, JSON.stringify(body)).toBe(200);
      expect(body.activity.type).toBe(type);
      const [createdId] = body.activity.result.createUsersResult.userIds;
      const created = await root.getUser({ organizationId, userId: createdId });
      expect(created.user.apiKeys[0]?.credential).toEqual({
        publicKey: key.publicKey,
        type: 'CREDENTIAL_TYPE_API_KEY_P256',
      });
      expect(created.user.authenticators[0]?.credentialId).toBe(registration.credentialId);
      expect(await connect(key).getWhoami({ organizationId })).toMatchObject({ userId: createdId });
    });

    test('create_users V1 with a passkey of a user that has no id yet', async () => {
      const registration = newRegistration();
      const { status, body } = await submitRaw('create_users', 'ACTIVITY_TYPE_CREATE_USERS', {
        users: [
          {
            userName: 'nameless',
            userTags: [],
            accessType: 'ACCESS_TYPE_WEB',
            apiKeys: [],
            authenticators: [oldAuthenticatorOf(registration, '')],
          },
        ],
      });
      expect(status, JSON.stringify(body)).toBe(200);
    });

    test('create_api_keys V1', async () => {
      const key = newKeyPair();
      const { status, body } = await submitRaw('create_api_keys', 'ACTIVITY_TYPE_CREATE_API_KEYS', {
        userId,
        apiKeys: [{ ...oldApiKeyOf(key, fresh('old key')), expirationSeconds: '600' }],
      });
      expect(status, JSON.stringify(body)).toBe(200);
      expect(body.activity.result.createApiKeysResult.apiKeyIds).toHaveLength(1);
      expect(Object.keys(body.activity.intent)).toEqual(['createApiKeysIntent']);
      expect(await connect(key).getWhoami({ organizationId })).toMatchObject({ userId });
    });

    test('create_authenticators V1', async () => {
      const registration = newRegistration();
      const { status, body } = await submitRaw('create_authenticators', 'ACTIVITY_TYPE_CREATE_AUTHENTICATORS', {
        userId,
        authenticators: [oldAuthenticatorOf(registration, userId, fresh('old passkey'))],
      });
      expect(status, JSON.stringify(body)).toBe(200);
      const [authenticatorId] = body.activity.result.createAuthenticatorsResult.authenticatorIds;
      const { authenticator } = await root.getAuthenticator({ organizationId, authenticatorId });
      expect(authenticator).toMatchObject({
        credentialId: registration.credentialId,
        attestationType: 'none',
        transports: ['AUTHENTICATOR_TRANSPORT_INTERNAL'],
      });
    });
  });
});
