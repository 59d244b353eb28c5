import { randomBytes } from 'node:crypto';
import { createKeyring } from '@custos/keyring';
import { vi } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { OrganizationStore } from '../../src/core/store/organizations.ts';
import { DEFAULT_PROXY_SETTINGS, SignUpProxyStore } from '../../src/domains/sign-up-proxy/store.ts';
import { CredentialStore } from '../../src/domains/users/store/credentials.ts';
import { UserStore } from '../../src/domains/users/store/users.ts';
import { dataModel } from '../../src/domains.ts';
import { loadIntegrity } from '../../src/integrity/load.ts';
import { type OrganizationId, randomId, type UserId } from '../../src/lib/ids.ts';
import { openStorage } from '../../src/storage/open.ts';
import { importOperatorKeyFor } from '../chain/earn-chain.ts';
import { newDeploymentWorld } from '../fixtures/deployments.ts';
import { newEarnWorld } from '../fixtures/earn-wrappers.ts';
import { newTestedEndpoint } from '../fixtures/endpoints.ts';
import { newEthereumSend } from '../fixtures/ethereum-sends.ts';
import { newKeyTag, newPrivateKey, newRecoveryKit, newSecret, newWallet } from '../fixtures/keys.ts';
import { newOnRampCredential, newPurchase } from '../fixtures/on-ramp-purchases.ts';
import { newEmail, newKnownCredential, newPhone, Outside, turnLoginsOn, waiting } from '../fixtures/outside.ts';
import { newPasskey, passkeyStamp } from '../fixtures/passkey.ts';
import {
  allowlistParams,
  newContractInterface,
  newIdleMfaPolicy,
  newIdlePolicy,
  newSessionProfile,
  newVelocityControl,
} from '../fixtures/rules.ts';
import { newApiKey, newInvitation, newPending } from '../fixtures/users.ts';
import { newSecretTargets } from '../harness/bundles.ts';
import { type Answer, createSubOrganization, createUser, newKeyPair, send, TestClient } from '../harness/client.ts';
import type { DatabaseKind } from '../harness/databases.ts';
import { TestServer } from '../harness/server.ts';
import type { Tenant } from '../operations/tenant.ts';
import { RawDatabase, type Watch } from './database.ts';

// A busy machine is no reason to be refused.
const ENVIRONMENT = { CUSTOS_LOG_LEVEL: 'error', CUSTOS_DATABASE_TIMEOUT_SECONDS: '60' };

export class World implements AsyncDisposable {
  readonly server: TestServer;
  readonly database: RawDatabase;
  readonly outside: Outside;
  /** The parent that the first start made. */
  readonly parent: Tenant;

  private constructor(server: TestServer, database: RawDatabase, parent: Tenant) {
    this.server = server;
    this.database = database;
    this.parent = parent;
    this.outside = parent.outside;
  }

  static async open(kind: DatabaseKind): Promise<World> {
    const outside = await Outside.start();
    const server = await TestServer.start({ database: kind, env: { ...outside.env, ...ENVIRONMENT } });
    await importOperatorKeyFor(server, outside.ethereum);
    const database = await RawDatabase.open(server);
    const root = TestClient.root(server.credentials, server.baseUrl);
    return new World(server, database, await furnish(outside, root, root));
  }

  async addSubOrganization(parent: Tenant, name: string): Promise<Tenant> {
    return await furnish(this.outside, await createSubOrganization(parent.root, name), parent.root);
  }

  /** From a moment at which nothing is under way any more. */
  async watch(): Promise<Watch> {
    await this.settle();
    const watch = await this.database.watch();
    return {
      changes: async () => {
        await this.settle();
        return await watch.changes();
      },
    };
  }

  /** Until all messages and webhooks have left: what sends them goes on after the answer. */
  async settle(): Promise<void> {
    await vi.waitFor(async () => {
      if (!(await this.database.isEmpty('outbox_message'))) throw new Error('messages still wait');
      if (!(await this.database.isEmpty("webhook_delivery WHERE state = 'pending'")))
        throw new Error('webhooks still wait');
      if (!(await this.database.isEmpty('chain_lane WHERE is_active = 1')))
        throw new Error('transactions are still on their way');
    }, waiting);
  }

  /** Stops the service, puts a second parent organization beside the first, and starts again. */
  static async openWithTwoParents(kind: DatabaseKind): Promise<{ world: World; other: Tenant }> {
    const outside = await Outside.start();
    const server = await TestServer.start({ database: kind, env: { ...outside.env, ...ENVIRONMENT } });
    await server.stop();
    const stranger = await insertParent(server);
    await server.start();
    await importOperatorKeyFor(server, outside.ethereum);
    const database = await RawDatabase.open(server);
    const root = TestClient.root(server.credentials, server.baseUrl);
    const second = stranger(server.baseUrl);
    const world = new World(server, database, await furnish(outside, root, root));
    return { world, other: await furnish(outside, second, second) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.database[Symbol.asyncDispose]();
    await this.server[Symbol.asyncDispose]();
    await this.outside[Symbol.asyncDispose]();
  }
}

/** No operation makes a parent, so it is written through the stores, as the first start writes its own. */
async function insertParent(server: TestServer): Promise<(baseUrl: string) => TestClient> {
  const config = readConfig(server.environment);
  const nowMs = Date.now();
  const storage = await openStorage({ dataModel, ...config, nowMs, onIdleError: () => {} });
  const keyring = await createKeyring({ rootKey: config.rootKey });
  const organizationId: OrganizationId = randomId();
  const userId: UserId = randomId();
  const key = newKeyPair();
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
  try {
    await loadIntegrity(storage, keyring);
    const wrappedKey = await keyring.createOrganizationKey(organizationId);
    await storage.write(async (store) => {
      await store(OrganizationStore).insert({
        ...times,
        id: organizationId,
        parentId: undefined,
        name: 'Another parent',
        rootThreshold: 1,
        rootUserIds: [userId],
        authorityVersion: 1,
        rulesVersion: 1,
        wrappedKey,
        deletedAtMs: undefined,
      });
      await store(UserStore).insert(
        organizationId,
        [{ id: userId, name: 'Root', email: undefined, phone: undefined }],
        nowMs,
      );
      await store(CredentialStore).insertApiKeys(organizationId, [
        {
          ...times,
          id: randomId(),
          userId,
          name: 'root',
          type: 'CREDENTIAL_TYPE_API_KEY_P256',
          publicKey: key.publicKey,
          sessionProfileId: undefined,
          expirationSeconds: undefined,
          expiresAtMs: undefined,
          firstUsedAtMs: undefined,
        },
      ]);
      await store(SignUpProxyStore).insert({
        id: randomId(),
        organizationId,
        enabled: true,
        identity: undefined,
        settings: DEFAULT_PROXY_SETTINGS,
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      });
    });
  } finally {
    await keyring.close();
    await storage.close();
  }
  return (baseUrl) => new TestClient(baseUrl, organizationId, key, userId);
}

/** Fills an organization with every kind of thing that there is; every credential has been used afterwards. */
async function furnish(outside: Outside, root: TestClient, treeRoot: TestClient): Promise<Tenant> {
  const marker = `mark${randomBytes(6).toString('hex')}`;
  await root.run('update_organization_name', { organizationName: `${marker} organization` });
  await root.run('update_user_name', { userId: root.userId, userName: `${marker} root` });
  if (root === treeRoot) await turnLoginsOn(root, outside);
  const second = await createUser(root, `${marker} second`, {
    userEmail: `second@${marker}.example`,
    userPhoneNumber: newPhone(),
  });
  await second.run('create_oauth_providers', {
    userId: second.userId,
    oauthProviders: [{ providerName: `${marker} issuer`, oidcToken: outside.idToken(marker) }],
  });
  const email = `member@${marker}.example`;
  const member = await createUser(root, `${marker} member`, { userEmail: email });
  const { userTagId } = await root.run('create_user_tag', {
    userTagName: `${marker} tag`,
    userIds: [root.userId, second.userId],
  });
  const gone = await root.run('create_user_tag', { userTagName: `${marker} gone`, userIds: [] });
  await root.run('delete_user_tags', { userTagIds: [gone.userTagId] });
  const shortKey = { ...newApiKey(`${marker} short`), expirationSeconds: '3600' };
  const { apiKeyIds } = await root.run('create_api_keys', { userId: second.userId, apiKeys: [shortKey] });
  const { passkey, registration } = newPasskey(`${marker} passkey`);
  const { authenticatorIds } = await root.run('create_authenticators', {
    userId: second.userId,
    authenticators: [registration],
  });
  const { invitationIds } = await root.run('create_invitations', {
    invitations: [newInvitation(root, marker, [userTagId])],
  });
  await root.run('set_organization_feature', { name: 'FEATURE_NAME_SWAP_CONFIG', value: JSON.stringify({ marker }) });
  const wallet = await newWallet(root, `${marker} wallet`);
  const keyTag = await newKeyTag(root, `${marker} key tag`);
  const privateKey = await newPrivateKey(root, `${marker} private key`, [keyTag]);
  const secret = await newSecret(root, `${marker} secret`);
  const [secretTarget = ''] = await newSecretTargets(root);
  const recoveryKit = await newRecoveryKit(root);
  const policy = await newIdlePolicy(root, `${marker} policy`);
  const mfaPolicy = await newIdleMfaPolicy(root, second.userId, `${marker} MFA`);
  const contractInterface = await newContractInterface(root, `${marker} contract`);
  const velocityControl = await newVelocityControl(root, `${marker} control`);
  await root.run('set_ip_allowlist', { publicKey: shortKey.publicKey, ...allowlistParams(`${marker} network`) });
  const sessionProfile = await sessionProfileOf(treeRoot, `${marker} profile`);
  const [provider] = (await root.query('get_oauth_providers', { userId: second.userId })).body.oauthProviders;
  // A code that lives as long as the tests, to an address that nobody else writes to.
  const mailbox = newEmail();
  const code = { otpType: 'OTP_TYPE_EMAIL', contact: mailbox, appName: 'App', expirationSeconds: '86400' };
  const { otpId } = await root.run('init_otp', code);
  // Only parents have such credentials.
  const oauth2Credential = root === treeRoot ? await newKnownCredential(root) : randomId<'oauth2-credential'>();
  const onRampCredential =
    root === treeRoot ? await newOnRampCredential(root, marker) : randomId<'fiat-on-ramp-credential'>();
  const onRampTransaction = await newPurchase(root);
  const send = await newEthereumSend(root, wallet.address);
  const pending = await newPending(root, second, `${marker} second`);
  const scope = root === treeRoot ? 'parent' : 'sub-organization';
  const webhook = await newTestedEndpoint({ root, scope, outside }, `${marker} hook`);
  const deployment = await newDeploymentWorld(root, root === treeRoot, marker);
  const earn = await newEarnWorld(outside, root, treeRoot, wallet.address);
  const denied = await member.submit('update_user_name', { userId: member.userId, userName: `${marker} denied` });
  if (denied.status !== 403) throw new Error(`expected a denial, not ${denied.status}`);
  const { session } = await second.run('create_read_only_session', {});
  const tenant: Tenant = {
    scope,
    marker,
    root,
    second,
    member,
    passkey,
    mailbox,
    session,
    ids: {
      user: second.userId,
      tag: userTagId,
      apiKey: apiKeyIds[0],
      authenticator: authenticatorIds[0],
      credential: passkey.credentialId,
      invitation: invitationIds[0],
      activity: pending.id,
      fingerprint: pending.fingerprint,
      organization: root.organizationId,
      wallet: wallet.walletId,
      account: wallet.walletAccountId,
      address: wallet.address,
      privateKey: privateKey.privateKeyId,
      keyAddress: privateKey.address,
      keyTag,
      secret,
      secretTarget,
      recoveryKit,
      publicKey: shortKey.publicKey,
      policy,
      mfaPolicy,
      sessionProfile,
      contractInterface,
      velocityControl,
      email,
      otp: otpId,
      oauthProvider: provider.providerId,
      oauth2Credential,
      onRampCredential,
      onRampTransaction,
      send,
      webhookEndpoint: webhook.endpointId,
      webhookDelivery: webhook.deliveryId,
      webhookEvent: webhook.eventId,
      ...deployment,
      ...earn,
    },
    treeRoot,
    outside,
  };
  const whoami = JSON.stringify({ organizationId: root.organizationId });
  for (const answer of [
    await withPasskey(tenant, '/public/v1/query/whoami', whoami),
    await withSession(tenant, '/public/v1/query/whoami', whoami),
  ]) {
    if (answer.status !== 200) throw new Error(`whoami: ${answer.status} ${JSON.stringify(answer.body)}`);
  }
  return tenant;
}

/** A parent's profiles are those of its whole tree; its first one, made if there is none. */
async function sessionProfileOf(parent: TestClient, name: string): Promise<string> {
  const [first] = (await parent.query('get_session_profiles')).body.sessionProfiles;
  return first?.sessionProfileId ?? (await newSessionProfile(parent, name));
}

export async function withSession(tenant: Tenant, path: string, body: string): Promise<Answer> {
  return await send(tenant.root.baseUrl, path, body, { 'x-session': tenant.session });
}

export async function withPasskey(tenant: Tenant, path: string, body: string): Promise<Answer> {
  const stamp = passkeyStamp(Buffer.from(body), tenant.passkey);
  return await send(tenant.root.baseUrl, path, body, { 'x-stamp-webauthn': stamp });
}
