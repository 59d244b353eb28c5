import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { createSubOrganization, createUser, newKeyPair, type TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import { policyFor, Rows } from '../fixtures/access.ts';

describe.each(databasesOf(import.meta.url))('the authority version on %s', (database) => {
  let service: TestApp;
  let parent: TestClient;
  let rows: Rows;

  beforeAll(async () => {
    service = await openTestApp(database);
    parent = service.root;
    rows = await Rows.open(service.app.config);
  });
  afterAll(async () => {
    await rows?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
  });
  const newOrg = () => createSubOrganization(parent, `Org ${randomUUID()}`);

  async function versionsOf({ organizationId }: TestClient): Promise<[number, number]> {
    const text = 'SELECT authority_version, rules_version FROM organization WHERE id = ?';
    const [row] = await rows.run(text, [organizationId]);
    return [Number(row?.['authority_version']), Number(row?.['rules_version'])];
  }
  /** By how much one activity raises both. */
  async function raisedBy(root: TestClient, operation: string, parameters: Record<string, unknown>) {
    const [authority, rules] = await versionsOf(root);
    await root.run(operation, parameters);
    const after = await versionsOf(root);
    return [after[0] - authority, after[1] - rules];
  }
  const apiKey = () => ({
    apiKeyName: randomUUID(),
    publicKey: newKeyPair().publicKey,
    curveType: 'API_KEY_CURVE_P256',
  });

  test('goes up by one with each change of what decisions read', async () => {
    const root = await newOrg();
    const user = await createUser(root, 'user');
    const { userId } = user;
    const email = `${randomUUID()}@example.com`;
    expect(await raisedBy(root, 'update_user_email', { userId, userEmail: email })).toEqual([1, 0]);
    expect(await raisedBy(root, 'create_user_tag', { userTagName: 't', userIds: [userId] })).toEqual([1, 0]);
    const { apiKeyIds } = await root.run('create_api_keys', { userId, apiKeys: [apiKey()] });
    expect(await raisedBy(root, 'delete_api_keys', { userId, apiKeyIds })).toEqual([1, 0]);
    const quorum = { threshold: 1, userIds: [root.userId, userId] };
    expect(await raisedBy(root, 'update_root_quorum', quorum)).toEqual([1, 0]);
    const policy = { policyName: 'p', effect: 'EFFECT_ALLOW', condition: 'true', consensus: 'true', notes: '' };
    expect(await raisedBy(root, 'create_policy', policy)).toEqual([1, 1]);
    // A user who has MFA policies takes them along, which are rules.
    const mfa = {
      userId,
      mfaPolicyName: 'm',
      condition: 'false',
      requiredAuthenticationMethods: [{ any: [{ type: 'AUTHENTICATION_TYPE_API_KEY' }] }],
      order: 0,
    };
    expect(await raisedBy(root, 'create_mfa_policy', mfa)).toEqual([1, 1]);
    await root.run('update_root_quorum', { threshold: 1, userIds: [root.userId] });
    expect(await raisedBy(root, 'delete_users', { userIds: [userId] })).toEqual([1, 1]);
  });

  test('stays for what alters no decision', async () => {
    const root = await newOrg();
    const { publicKey } = newKeyPair();
    expect(await raisedBy(root, 'create_wallet', { walletName: 'w', accounts: [] })).toEqual([0, 0]);
    expect(await raisedBy(root, 'create_api_keys', { userId: root.userId, apiKeys: [apiKey()] })).toEqual([0, 0]);
    expect(await raisedBy(root, 'stamp_login', { publicKey })).toEqual([0, 0]);
    // The same key again replaces the first, and so does a login that ends the others.
    expect(await raisedBy(root, 'stamp_login', { publicKey })).toEqual([0, 0]);
    const fresh = { publicKey: newKeyPair().publicKey, invalidateExisting: true };
    expect(await raisedBy(root, 'stamp_login', fresh)).toEqual([0, 0]);
  });

  test('goes up with a name only where there are rules that could read it', async () => {
    const root = await newOrg();
    const name = () => ({ userId: root.userId, userName: randomUUID() });
    expect(await raisedBy(root, 'update_user_name', name())).toEqual([0, 0]);
    // Without rules of its own, a user who goes leaves an organization without rules.
    const { userId } = await createUser(root, 'gone');
    expect(await raisedBy(root, 'delete_users', { userIds: [userId] })).toEqual([1, 0]);
    expect(await raisedBy(root, 'update_user_name', name())).toEqual([0, 0]);
    await policyFor(root, root);
    expect(await raisedBy(root, 'update_user_name', name())).toEqual([1, 0]);
  });
});
