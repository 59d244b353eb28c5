import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import type { TestClient } from '../../harness/client.ts';
import type { DatabaseKind } from '../../harness/databases.ts';
import { allow, hasTag, newOrganization, newTag } from '../fixtures/policy-flows.ts';
import { ethereum } from '../fixtures/wallets.ts';

/** A wallet is made with the keyring, so that a test can stop a request between its decision and its commit. */
export const makeWallet = (client: TestClient) =>
  client.submit('create_wallet', { walletName: `Wallet ${randomUUID()}`, accounts: [ethereum()] });

export const walletCount = async (client: TestClient): Promise<number> =>
  (await client.query('list_wallets')).body.wallets.length;

export const nameOf = async (client: TestClient, userId = client.userId): Promise<string> =>
  (await client.query('get_user', { userId })).body.user.userName;

export const untag = (root: TestClient, userTagId: string, { userId }: TestClient) =>
  root.run('update_user_tag', { userTagId, addUserIds: [], removeUserIds: [userId] });

/** Opened before the tests of a file, closed after them. */
export function openVotes(database: DatabaseKind) {
  let service: TestApp;
  let parent: TestClient;

  beforeAll(async () => {
    service = await openTestApp(database);
    parent = service.root;
  });

  afterAll(() => service[Symbol.asyncDispose]());

  /** Two of `ops` together may rename; alice, bob and carol are of it, dave is not. */
  async function opsOrganization(needed = 2) {
    const organization = await newOrganization(parent, 'alice', 'bob', 'carol', 'dave');
    const { root, alice, bob, carol } = organization;
    const tagId = await newTag(root, alice, bob, carol);
    const condition = "activity.kind == 'UPDATE_USER_NAME'";
    const policyId = await allow(root, { condition, consensus: hasTag(tagId, needed) });
    return { ...organization, tagId, policyId, condition };
  }

  return {
    opsOrganization,
    get parent() {
      return parent;
    },
  };
}
