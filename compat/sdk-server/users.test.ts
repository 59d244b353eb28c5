import { describe, expect, test } from 'vitest';
import { newKeyPair } from '../../packages/server/test/harness/client.ts';
import { apiKeyOf, connect, credentialsOf, fresh, refusal, userOf } from '../sdk.ts';
import { openServer } from './support.ts';

describe.each(['postgres'] as const)('the server SDK on %s', (database) => {
  const suite = openServer(database);
  const { createUser } = suite;

  describe('users, tags and keys', () => {
    test('a user from creation to deletion', async () => {
      const key = newKeyPair();
      const userName = fresh('Ada');
      const { userIds, activity } = await suite.root.createUsers({
        users: [
          {
            ...userOf(userName, key),
            userEmail: `${fresh('ada').replace(' ', '.')}@example.com`,
            userPhoneNumber: '+15555550123',
            userTags: [],
          },
        ],
      });
      const userId = userIds[0] as string;
      expect(activity.result).toEqual({ createUsersResult: { userIds } });
      const { user } = await suite.root.getUser({ userId });
      expect(user).toMatchObject({
        userId,
        userName,
        userPhoneNumber: '+15555550123',
        authenticators: [],
        userTags: [],
        oauthProviders: [],
        mfaPolicies: [],
        createdAt: { seconds: expect.stringMatching(/^[0-9]+$/), nanos: expect.stringMatching(/^[0-9]+$/) },
        apiKeys: [
          {
            apiKeyName: 'key',
            credential: { publicKey: key.publicKey, type: 'CREDENTIAL_TYPE_API_KEY_P256' },
          },
        ],
      });
      expect((await suite.root.getUsers()).users).toContainEqual(user);

      await suite.root.updateUser({ userId, userName: 'Ada L.', userTagIds: [], userPhoneNumber: '' });
      await suite.root.updateUserEmail({ userId, userEmail: 'ada.l@example.com' });
      await suite.root.updateUserPhoneNumber({ userId, userPhoneNumber: '+15555550199' });
      await suite.root.updateUserName({ userId, userName: 'Ada Lovelace' });
      expect((await suite.root.getUser({ userId })).user).toMatchObject({
        userName: 'Ada Lovelace',
        userEmail: 'ada.l@example.com',
        userPhoneNumber: '+15555550199',
      });

      const deleted = await suite.root.deleteUsers({ userIds: [userId] });
      expect(deleted.userIds).toEqual([userId]);
      expect((await refusal(suite.root.getUser({ userId }))).code).toBe(5);
      const stale = connect(suite.service.baseUrl, credentialsOf(suite.credentials.organizationId, key));
      expect((await refusal(stale.getWhoami())).code).toBe(16);
    });

    test('tags', async () => {
      const { userId } = await createUser();
      const second = await createUser();
      const { userTagId } = await suite.root.createUserTag({ userTagName: fresh('team'), userIds: [userId] });
      const renamed = fresh('crew');
      await suite.root.updateUserTag({
        userTagId,
        newUserTagName: renamed,
        addUserIds: [second.userId],
        removeUserIds: [userId],
      });
      expect((await suite.root.getUser({ userId })).user.userTags).toEqual([]);
      expect((await suite.root.getUser({ userId: second.userId })).user.userTags).toEqual([userTagId]);
      expect((await suite.root.listUserTags()).userTags).toContainEqual(
        expect.objectContaining({ tagId: userTagId, tagName: renamed, tagType: 'TAG_TYPE_USER' }),
      );
      // An empty list changes nothing, another replaces.
      await suite.root.updateUser({ userId: second.userId, userTagIds: [] });
      expect((await suite.root.getUser({ userId: second.userId })).user.userTags).toEqual([userTagId]);
      const duplicate = await refusal(suite.root.createUserTag({ userTagName: renamed, userIds: [] }));
      expect(duplicate.code).toBe(6);
      const deleted = await suite.root.deleteUserTags({ userTagIds: [userTagId] });
      expect(deleted).toMatchObject({ userTagIds: [userTagId], userIds: [second.userId] });
      expect((await suite.root.getUser({ userId: second.userId })).user.userTags).toEqual([]);
    });

    test('API keys, also by the user itself without any policy', async () => {
      const { userId, key, client } = await createUser();
      const extra = newKeyPair();
      const { apiKeyIds } = await client.createApiKeys({
        userId,
        apiKeys: [
          { ...apiKeyOf(extra, 'second'), expirationSeconds: '3600' },
          {
            apiKeyName: 'wallet',
            publicKey: '02b5413b489afcd861b00e8369bce16db37e6ba802f1a7e3eb32843fa9f304d7a9',
            curveType: 'API_KEY_CURVE_SECP256K1',
          },
          {
            apiKeyName: 'other wallet',
            publicKey: '2fe54e5a63ac71e4e30e61398ebc2704c8cd4ef2b0a23d6e043c245f561476e7',
            curveType: 'API_KEY_CURVE_ED25519',
          },
        ],
      });
      const [second = '', wallet = '', otherWallet = ''] = apiKeyIds;
      const { apiKey } = await client.getApiKey({ apiKeyId: second });
      expect(apiKey).toMatchObject({
        apiKeyId: second,
        apiKeyName: 'second',
        credential: { publicKey: extra.publicKey, type: 'CREDENTIAL_TYPE_API_KEY_P256' },
        expirationSeconds: '3600',
      });
      const { apiKeys } = await client.getApiKeys({ userId });
      expect(apiKeys.map((item) => item.credential.type)).toEqual([
        'CREDENTIAL_TYPE_API_KEY_P256',
        'CREDENTIAL_TYPE_API_KEY_P256',
        'CREDENTIAL_TYPE_API_KEY_SECP256K1',
        'CREDENTIAL_TYPE_API_KEY_ED25519',
      ]);
      expect((await suite.root.getApiKeys()).apiKeys.length).toBeGreaterThan(apiKeys.length);
      const bySecond = connect(suite.service.baseUrl, credentialsOf(suite.credentials.organizationId, extra));
      expect(await bySecond.getWhoami()).toMatchObject({ userId });

      const again = await refusal(client.createApiKeys({ userId, apiKeys: [apiKeyOf(extra, 'third')] }));
      expect(again.code).toBe(6);
      const deleted = await bySecond.deleteApiKeys({ userId, apiKeyIds: [second, wallet, otherWallet] });
      expect(deleted.apiKeyIds).toEqual([second, wallet, otherWallet]);
      expect((await refusal(bySecond.getWhoami())).code).toBe(16);
      expect((await client.getApiKeys({ userId })).apiKeys.map((item) => item.credential.publicKey)).toEqual([
        key.publicKey,
      ]);
    });

    test('a passkey registration', async () => {
      const { userId, client } = await createUser();
      // Made for https://app.example by an authenticator that has long forgotten it.
      const clientData = {
        type: 'webauthn.create',
        challenge: 'R2oC4gn_v5AJQerbALdvsr2YiA5Brefch8kVWbYkBrI',
        origin: 'https://app.example',
        crossOrigin: false,
      };
      const { authenticatorIds } = await client.createAuthenticators({
        userId,
        authenticators: [
          {
            authenticatorName: 'laptop',
            challenge: clientData.challenge,
            attestation: {
              credentialId: '6kHtPPqRTKaLms_L0xFKpw',
              clientDataJson: Buffer.from(JSON.stringify(clientData)).toString('base64url'),
              attestationObject:
                'o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YViUVtmCAS3hjt8Iz1fY2UtegalxmdPrFPI7fCt1xcdfVG1FAAAAAAAAAAAAAAAAAAAAAAAAAAAAEOpB7Tz6kUymi5rPy9MRSqelAQIDJiABIVggUq917NmrdMaUsOaCLto0pkVAXL_SB47wu4zDFdun3EoiWCDaQsZdzvRmu9j8WDaUgis2UpMnSzPrXzM4KthNh94FnA',
              transports: ['AUTHENTICATOR_TRANSPORT_INTERNAL', 'AUTHENTICATOR_TRANSPORT_HYBRID'],
            },
          },
        ],
      });
      const authenticatorId = authenticatorIds[0] as string;
      const { authenticator } = await client.getAuthenticator({ authenticatorId });
      expect(authenticator).toMatchObject({
        authenticatorName: 'laptop',
        credentialId: '6kHtPPqRTKaLms_L0xFKpw',
        transports: ['AUTHENTICATOR_TRANSPORT_INTERNAL', 'AUTHENTICATOR_TRANSPORT_HYBRID'],
        attestationType: 'none',
        credential: { type: 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR' },
      });
      expect((await client.getAuthenticators({ userId })).authenticators).toEqual([authenticator]);
      const deleted = await client.deleteAuthenticators({ userId, authenticatorIds });
      expect(deleted.authenticatorIds).toEqual([authenticatorId]);
      expect((await client.getAuthenticators({ userId })).authenticators).toEqual([]);
    });

    test('invitations', async () => {
      const { invitationIds } = await suite.root.createInvitations({
        invitations: [
          {
            receiverUserName: 'Guest',
            receiverUserEmail: 'guest@example.com',
            receiverUserTags: [],
            accessType: 'ACCESS_TYPE_WEB',
            senderUserId: suite.credentials.userId,
          },
        ],
      });
      const invitationId = invitationIds[0] as string;
      expect((await suite.root.deleteInvitation({ invitationId })).invitationId).toBe(invitationId);
      expect((await refusal(suite.root.deleteInvitation({ invitationId }))).code).toBe(9);
    });
  });
});
