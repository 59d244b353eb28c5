import { describe, expect, test } from 'vitest';
import { newKeyPair } from '../../packages/server/test/harness/client.ts';
import { detailOf, fresh, refusal, userOf } from '../sdk.ts';
import { openServer, UUID } from './support.ts';

describe.each(['postgres'] as const)('the server SDK on %s', (database) => {
  const suite = openServer(database);
  const { openChild } = suite;

  describe('sub-organizations', () => {
    test('a child is created, and its key is known by its own id and by the id of its parent', async () => {
      const child = await openChild();
      expect(child.id).toMatch(UUID);
      expect(child.activity).toMatchObject({
        organizationId: suite.credentials.organizationId,
        status: 'ACTIVITY_STATUS_COMPLETED',
        type: 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8',
        result: { createSubOrganizationResultV8: { subOrganizationId: child.id, rootUserIds: [child.userId] } },
      });
      const own = {
        organizationId: child.id,
        organizationName: child.name,
        userId: child.userId,
        username: child.userName,
      };
      expect(await child.client.getWhoami()).toEqual(own);
      expect(await child.client.getWhoami({ organizationId: suite.credentials.organizationId })).toEqual(own);
    });

    test('ids by filter', async () => {
      const contact = { userEmail: `${fresh('who').replace(' ', '.')}@Example.com`, userPhoneNumber: '+15555550100' };
      const child = await openChild(contact);
      const other = await openChild();
      const find = async (filterType: string, filterValue: string) =>
        (await suite.root.getSubOrgIds({ filterType, filterValue })).organizationIds;
      expect(await find('NAME', child.name)).toEqual([child.id]);
      expect(await find('USERNAME', child.userName)).toEqual([child.id]);
      expect(await find('EMAIL', contact.userEmail.toLowerCase())).toEqual([child.id]);
      expect(await find('PHONE_NUMBER', contact.userPhoneNumber)).toEqual([child.id]);
      expect(await find('PUBLIC_KEY', child.key.publicKey)).toEqual([child.id]);
      expect(await find('CREDENTIAL_ID', 'AAAA')).toEqual([]);
      expect(await find('NAME', 'nobody')).toEqual([]);
      const { organizationIds } = await suite.root.getSubOrgIds();
      expect(organizationIds).toEqual(expect.arrayContaining([child.id, other.id]));
      // Nobody has proven it.
      const verified = await suite.root.getVerifiedSubOrgIds({ filterType: 'EMAIL', filterValue: contact.userEmail });
      expect(verified.organizationIds).toEqual([]);

      expect((await refusal(find('SHOE_SIZE', '43'))).code).toBe(3);
      expect((await refusal(find('OIDC_TOKEN', 'e30.e30.e30'))).code).toBe(3);
      expect((await refusal(suite.root.getSubOrgIds({ filterType: 'NAME' }))).code).toBe(3);
    });

    test('pages of ids, forwards and back', async () => {
      for (let count = 0; count < 3; count += 1) await openChild();
      const all = (await suite.root.getSubOrgIds()).organizationIds;
      const pages: string[][] = [];
      let after: string | undefined;
      for (;;) {
        const page = await suite.root.getSubOrgIds({ paginationOptions: { limit: '2', ...(after && { after }) } });
        if (page.organizationIds.length === 0) break;
        pages.push(page.organizationIds);
        after = page.organizationIds.at(-1);
      }
      expect(pages.flat()).toEqual(all);
      expect(pages.slice(0, -1).every((page) => page.length === 2)).toBe(true);
      const before = await suite.root.getSubOrgIds({ paginationOptions: { limit: '2', before: all.at(-1) as string } });
      expect(before.organizationIds).toEqual(all.slice(-3, -1));
      for (const limit of ['0', '101', 'many']) {
        expect((await refusal(suite.root.getSubOrgIds({ paginationOptions: { limit } }))).code).toBe(3);
      }
    });

    test('a parent reads its child and writes nothing there', async () => {
      const child = await openChild();
      const organizationId = child.id;
      const tag = await child.client.createUserTag({ userTagName: 'inside', userIds: [child.userId] });
      expect((await suite.root.getUsers({ organizationId })).users.map((user) => user.userId)).toEqual([child.userId]);
      expect((await suite.root.getUser({ organizationId, userId: child.userId })).user.userTags).toEqual([
        tag.userTagId,
      ]);
      expect((await suite.root.listUserTags({ organizationId })).userTags).toHaveLength(1);
      expect((await suite.root.getApiKeys({ organizationId })).apiKeys).toHaveLength(1);
      expect((await suite.root.getOrganizationConfigs({ organizationId })).configs.quorum?.userIds).toEqual([
        child.userId,
      ]);
      const { activities } = await suite.root.getActivities({ organizationId });
      expect(activities.map((activity) => activity.id)).toContain(tag.activity.id);
      // Also by the parent's id, which some clients poll with.
      const { activity } = await suite.root.getActivity({ activityId: tag.activity.id });
      expect(activity).toMatchObject({ organizationId, canApprove: false, canReject: false });
      // The parent's user stays who it is.
      expect(await suite.root.getWhoami({ organizationId })).toMatchObject({ userId: suite.credentials.userId });

      const error = await refusal(suite.root.createUserTag({ organizationId, userTagName: 'outside', userIds: [] }));
      expect(error.code).toBe(3);
      expect(detailOf(error, 'TurnkeyErrorDetail')).toMatchObject({ turnkeyErrorCode: 'ORGANIZATION_MISMATCH' });
    });

    test('a child reads neither its parent nor a sibling', async () => {
      const child = await openChild();
      const sibling = await openChild();
      for (const organizationId of [suite.credentials.organizationId, sibling.id]) {
        const error = await refusal(child.client.getUsers({ organizationId }));
        expect(error.code).toBe(16);
        expect(error.message).toContain('could not find public key in organization or its parent organization');
      }
      const error = await refusal(
        child.client.createSubOrganization({
          subOrganizationName: 'grandchild',
          rootQuorumThreshold: 1,
          rootUsers: [userOf('nobody', newKeyPair())],
        }),
      );
      expect(detailOf(error, 'TurnkeyErrorDetail')).toMatchObject({ turnkeyErrorCode: 'INVALID_ACTIVITY_CALLER' });
    });

    test('a child deletes itself; its history stays readable to the parent', async () => {
      const child = await openChild();
      const deleted = await child.client.deleteSubOrganization({ deleteWithoutExport: true });
      expect(deleted.subOrganizationUuid).toBe(child.id);
      expect((await refusal(child.client.getWhoami())).code).toBe(5);
      expect((await suite.root.getSubOrgIds()).organizationIds).not.toContain(child.id);
      const { activities } = await suite.root.getActivities({ organizationId: child.id });
      expect(activities.map((activity) => activity.type)).toContain('ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION');
    });
  });

  describe('organization settings', () => {
    test('configs, features and name', async () => {
      const { id, client, userId, name } = await openChild();
      const { configs } = await client.getOrganizationConfigs({});
      expect(configs.quorum).toEqual({ threshold: 1, userIds: [userId] });
      const defaults = (configs.features ?? []).map((feature) => feature.name);
      expect(defaults).toContain('FEATURE_NAME_EMAIL_AUTH');

      const value = 'https://app.example';
      const set = await client.setOrganizationFeature({ name: 'FEATURE_NAME_WEBAUTHN_ORIGINS', value });
      expect(set.features).toContainEqual({ name: 'FEATURE_NAME_WEBAUTHN_ORIGINS', value });
      const after = await client.getOrganizationConfigs({});
      expect(after.configs.features).toContainEqual({ name: 'FEATURE_NAME_WEBAUTHN_ORIGINS', value });
      const removed = await client.removeOrganizationFeature({ name: 'FEATURE_NAME_WEBAUTHN_ORIGINS' });
      expect(removed.features.map((feature) => feature.name)).toEqual(defaults);
      const wrong = await refusal(
        client.setOrganizationFeature({ name: 'FEATURE_NAME_WEBAUTHN_ORIGINS', value: 'app.example' }),
      );
      expect(wrong.code).toBe(3);

      const renamed = await client.updateOrganizationName({ organizationName: `${name}, renamed` });
      expect(renamed).toMatchObject({ organizationId: id, organizationName: `${name}, renamed` });
      expect(await client.getWhoami()).toMatchObject({ organizationName: `${name}, renamed` });
    });
  });
});
