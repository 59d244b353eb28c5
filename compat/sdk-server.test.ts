// The unmodified server SDK against the running service: only the base URL and the first credentials are ours.
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, createPublicKey, verify } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { verifyAppProofSignature } from '@turnkey/crypto';
import { ApiKeyStamper, Turnkey, type TurnkeyApiClient } from '@turnkey/sdk-server';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { newKeyPair } from '../packages/server/test/harness/client.ts';
import { createPostgresDatabase, DATABASES } from '../packages/server/test/harness/databases.ts';
import { TestServer } from '../packages/server/test/harness/server.ts';
import {
  apiKeyOf,
  type Credentials,
  connect,
  credentialsOf,
  detailOf,
  fresh,
  openCouncil,
  refusal,
  UNKNOWN_ID,
  userOf,
} from './sdk.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/;
/** What precedes a compressed P-256 point in a SubjectPublicKeyInfo. */
const P256_PREFIX = Buffer.from('3039301306072a8648ce3d020106082a8648ce3d030107032200', 'hex');

interface Sent {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** What the SDK puts on the wire while `work` runs. */
async function record<T>(work: () => Promise<T>): Promise<{ readonly value: T; readonly sent: readonly Sent[] }> {
  const spy = vi.spyOn(globalThis, 'fetch');
  try {
    const value = await work();
    const sent = spy.mock.calls.map(([url, init]) => ({
      path: new URL(String(url)).pathname,
      headers: init?.headers as Record<string, string>,
      body: String(init?.body),
    }));
    return { value, sent };
  } finally {
    spy.mockRestore();
  }
}

/** `npm start` in the repository, as the README tells a newcomer. */
class NpmStart implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown[]>;
  stdout = '';
  stderr = '';

  constructor(env: Record<string, string>) {
    this.#child = spawn('npm', ['start'], {
      cwd: ROOT,
      // A group of its own: whatever a failing test leaves behind ends with it.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', CUSTOS_PORT: '0', ...env },
    });
    this.#exited = once(this.#child, 'exit');
  }

  async baseUrl(): Promise<string> {
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    return await new Promise((resolve, reject) => {
      this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
        this.stdout += text;
        const listening = /listening on (http\S+)\n/.exec(this.stdout);
        if (listening?.[1] !== undefined) resolve(listening[1]);
      });
      this.#exited.then(() => reject(new Error(`npm start ended: ${this.stdout}${this.stderr}`)), reject);
    });
  }

  /** What a terminal does on Ctrl-C: the signal reaches npm and the service. */
  interrupt(): void {
    if (this.#child.pid !== undefined) process.kill(-this.#child.pid, 'SIGINT');
  }

  /** What a supervisor does: the signal reaches npm alone, which has to hand it on. */
  terminate(): void {
    this.#child.kill('SIGTERM');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
    await this.#exited;
  }
}

/** Resolves when nothing listens there any more. */
async function silence(baseUrl: string): Promise<void> {
  const answers = () =>
    fetch(`${baseUrl}/healthz`).then(
      (response) => response.ok,
      () => false,
    );
  await vi.waitFor(async () => expect(await answers(), 'the service still answers').toBe(false), {
    timeout: 10_000,
    interval: 100,
  });
}

describe.each(DATABASES)('the server SDK and npm start on %s', (database) => {
  const inEnvironment = async (work: (dataDir: string, env: Record<string, string>) => Promise<void>) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'custos-npm-start-'));
    const postgres = database === 'postgres' ? await createPostgresDatabase({ isEmpty: true }) : undefined;
    try {
      await work(dataDir, { CUSTOS_DATA_DIR: dataDir, ...(postgres && { CUSTOS_DATABASE_URL: postgres.url }) });
    } finally {
      await postgres?.[Symbol.asyncDispose]();
      rmSync(dataDir, { recursive: true, force: true });
    }
  };
  const readCredentials = (dataDir: string) =>
    JSON.parse(readFileSync(join(dataDir, 'root-credentials.json'), 'utf8')) as Credentials;

  test('works from the first start, and again after an interruption', async () => {
    await inEnvironment(async (dataDir, env) => {
      let userId = '';
      {
        await using service = new NpmStart(env);
        const baseUrl = await service.baseUrl();
        const credentials = readCredentials(dataDir);
        const client = connect(baseUrl, credentials);
        expect((await client.getWhoami()).organizationId).toBe(credentials.organizationId);
        const created = await client.createUsers({ users: [{ ...userOf('kept', newKeyPair()), userTags: [] }] });
        userId = created.userIds[0] as string;
        expect(service.stdout).toContain(credentials.organizationId);
        expect(service.stdout + service.stderr).not.toContain(credentials.apiPrivateKey);
        expect(readFileSync(join(dataDir, 'address'), 'utf8').trim()).toBe(baseUrl);
        service.interrupt();
        await silence(baseUrl);
      }
      await using service = new NpmStart(env);
      const { user } = await connect(await service.baseUrl(), readCredentials(dataDir)).getUser({ userId });
      expect(user.userName).toBe('kept');
    });
  });

  test('ends when npm is told to end', async () => {
    await inEnvironment(async (dataDir, env) => {
      await using service = new NpmStart(env);
      const baseUrl = await service.baseUrl();
      expect(await connect(baseUrl, readCredentials(dataDir)).getWhoami()).toMatchObject({ username: 'Root user' });
      service.terminate();
      await silence(baseUrl);
    });
  });
});

// The packages talk to the same API on either database; both are tested beneath it.
describe.each(['postgres'] as const)('the server SDK on %s', (database) => {
  let service: TestServer;
  let root: TurnkeyApiClient;
  let credentials: TestServer['credentials'];

  const openChild = async (extra: { userEmail?: string; userPhoneNumber?: string } = {}) => {
    const key = newKeyPair();
    const name = fresh('child');
    const userName = `root of ${name}`;
    const { subOrganizationId, rootUserIds, activity } = await root.createSubOrganization({
      subOrganizationName: name,
      rootQuorumThreshold: 1,
      rootUsers: [{ ...userOf(userName, key), ...extra }],
    });
    const userId = rootUserIds?.[0] as string;
    const client = connect(service.baseUrl, credentialsOf(subOrganizationId, key));
    return { id: subOrganizationId, name, userName, userId, key, client, activity };
  };

  const createUser = async (extra: Record<string, unknown> = {}) => {
    const key = newKeyPair();
    const { userIds } = await root.createUsers({
      users: [{ ...userOf(fresh('user'), key), userTags: [], ...extra }],
    });
    const client = connect(service.baseUrl, credentialsOf(credentials.organizationId, key));
    return { userId: userIds[0] as string, key, client };
  };

  beforeAll(async () => {
    service = await TestServer.start({ database, env: { CUSTOS_DEV_INBOX: 'on' } });
    ({ credentials } = service);
    root = connect(service.baseUrl, credentials);
  });

  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });

  describe('requests', () => {
    test('whoami, and the bytes that ask for it', async () => {
      const { value, sent } = await record(() => root.getWhoami());
      expect(value).toEqual({
        organizationId: credentials.organizationId,
        organizationName: 'My organization',
        userId: credentials.userId,
        username: 'Root user',
      });
      expect(sent).toHaveLength(1);
      expect(sent[0]?.path).toBe('/public/v1/query/whoami');
      expect(sent[0]?.body).toBe(`{"organizationId":"${credentials.organizationId}"}`);
      expect(Object.keys(sent[0]?.headers ?? {}).sort()).toEqual(['Content-Type', 'X-Client-Version', 'X-Stamp']);
      expect(sent[0]?.headers['X-Client-Version']).toMatch(/^@turnkey\/sdk-server@/);
    });

    test('a submit puts parameters first and the version type last', async () => {
      const name = fresh('tag');
      const { value, sent } = await record(() => root.createUserTag({ userTagName: name, userIds: [] }));
      expect(sent.map((request) => request.path)).toEqual(['/public/v1/submit/create_user_tag']);
      expect(Object.keys(JSON.parse(sent[0]?.body as string))).toEqual([
        'parameters',
        'organizationId',
        'timestampMs',
        'type',
      ]);
      expect(value.activity.fingerprint).toBe(
        `sha256:${createHash('sha256')
          .update(sent[0]?.body as string)
          .digest('hex')}`,
      );
      expect(value.activity.intent).toEqual({ createUserTagIntent: { userTagName: name, userIds: [] } });
    });

    test('a stamped request can be sent later, and twice, as one activity', async () => {
      const request = await root.stampCreateUserTag({ userTagName: fresh('tag'), userIds: [] });
      if (request === undefined) throw new Error('the SDK has no stamper');
      const post = async () => {
        const response = await fetch(request.url, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            [request.stamp.stampHeaderName]: request.stamp.stampHeaderValue,
          },
          body: request.body,
        });
        return { status: response.status, body: await response.json() };
      };
      const first = await post();
      const second = await post();
      expect(first.status).toBe(200);
      expect(second).toEqual(first);
      const { userTags } = await root.listUserTags();
      const { userTagName } = JSON.parse(request.body).parameters;
      expect(userTags.filter((tag) => tag.tagName === userTagName)).toHaveLength(1);
    });

    test('a stamped request that is forwarded needs its content type, and the answer says so', async () => {
      // Without a type of its own fetch sends text/plain and axios application/x-www-form-urlencoded.
      for (const type of ['text/plain;charset=UTF-8', 'application/x-www-form-urlencoded']) {
        const request = await root.stampGetWhoami({});
        if (request === undefined) throw new Error('the SDK has no stamper');
        const headers = { [request.stamp.stampHeaderName]: request.stamp.stampHeaderValue, 'content-type': type };
        const response = await fetch(request.url, { method: 'POST', headers, body: request.body });
        expect([type, response.status]).toEqual([type, 415]);
        expect(await response.json()).toMatchObject({ message: 'the body must be application/json' });
        const forwarded = await fetch(request.url, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: request.body,
        });
        expect(await forwarded.json()).toMatchObject({ userId: credentials.userId });
      }
    });

    test('equal calls with one timestamp are one activity, with two they are two', async () => {
      const { userId } = await createUser();
      const rename = (timestampMs: string) => root.updateUserName({ userId, userName: 'same', timestampMs });
      const now = Date.now();
      const [one, two] = await Promise.all([rename(String(now)), rename(String(now))]);
      const three = await rename(String(now + 1));
      expect(two.activity.id).toBe(one.activity.id);
      expect(three.activity.id).not.toBe(one.activity.id);
    });

    test('generateAppProofs travels inside the parameters: false is ignored, true brings proofs', async () => {
      const { userId } = await createUser();
      const { sent, value } = await record(() =>
        root.updateUserName({ userId, userName: 'proofless', generateAppProofs: false }),
      );
      expect(JSON.parse(sent[0]?.body as string)).toMatchObject({ parameters: { generateAppProofs: false } });
      expect(value.userId).toBe(userId);
      expect(value.activity.appProofs ?? []).toEqual([]);
      const proven = await root.updateUserName({ userId, userName: 'proven', generateAppProofs: true });
      expect(proven.activity.appProofs).toHaveLength(1);
      const { appProofs } = await root.getAppProofs({ activityId: proven.activity.id });
      expect(appProofs).toEqual(proven.activity.appProofs);
      for (const proof of appProofs) {
        verifyAppProofSignature(proof);
        expect(() => verifyAppProofSignature({ ...proof, proofPayload: `${proof.proofPayload} ` })).toThrow();
      }
    });

    test('the proxy methods of the SDK reach the service', async () => {
      const turnkey = new Turnkey({
        apiBaseUrl: service.baseUrl,
        defaultOrganizationId: credentials.organizationId,
        apiPublicKey: credentials.apiPublicKey,
        apiPrivateKey: credentials.apiPrivateKey,
      });
      expect(await turnkey.apiProxy('getWhoami', [{}])).toMatchObject({ userId: credentials.userId });
    });

    test('stamps of both JavaScript runtimes are accepted', async () => {
      for (const runtimeOverride of ['node', 'purejs', 'browser'] as const) {
        const turnkey = new Turnkey({
          apiBaseUrl: service.baseUrl,
          defaultOrganizationId: credentials.organizationId,
          apiPublicKey: credentials.apiPublicKey,
          apiPrivateKey: credentials.apiPrivateKey,
          runtimeOverride,
        });
        expect(await turnkey.apiClient().getWhoami()).toMatchObject({ userId: credentials.userId });
      }
    });
  });

  describe('sub-organizations', () => {
    test('a child is created, and its key is known by its own id and by the id of its parent', async () => {
      const child = await openChild();
      expect(child.id).toMatch(UUID);
      expect(child.activity).toMatchObject({
        organizationId: credentials.organizationId,
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
      expect(await child.client.getWhoami({ organizationId: credentials.organizationId })).toEqual(own);
    });

    test('ids by filter', async () => {
      const contact = { userEmail: `${fresh('who').replace(' ', '.')}@Example.com`, userPhoneNumber: '+15555550100' };
      const child = await openChild(contact);
      const other = await openChild();
      const find = async (filterType: string, filterValue: string) =>
        (await root.getSubOrgIds({ filterType, filterValue })).organizationIds;
      expect(await find('NAME', child.name)).toEqual([child.id]);
      expect(await find('USERNAME', child.userName)).toEqual([child.id]);
      expect(await find('EMAIL', contact.userEmail.toLowerCase())).toEqual([child.id]);
      expect(await find('PHONE_NUMBER', contact.userPhoneNumber)).toEqual([child.id]);
      expect(await find('PUBLIC_KEY', child.key.publicKey)).toEqual([child.id]);
      expect(await find('CREDENTIAL_ID', 'AAAA')).toEqual([]);
      expect(await find('NAME', 'nobody')).toEqual([]);
      const { organizationIds } = await root.getSubOrgIds();
      expect(organizationIds).toEqual(expect.arrayContaining([child.id, other.id]));
      // Nobody has proven it.
      const verified = await root.getVerifiedSubOrgIds({ filterType: 'EMAIL', filterValue: contact.userEmail });
      expect(verified.organizationIds).toEqual([]);

      expect((await refusal(find('SHOE_SIZE', '43'))).code).toBe(3);
      expect((await refusal(find('OIDC_TOKEN', 'e30.e30.e30'))).code).toBe(3);
      expect((await refusal(root.getSubOrgIds({ filterType: 'NAME' }))).code).toBe(3);
    });

    test('pages of ids, forwards and back', async () => {
      for (let count = 0; count < 3; count += 1) await openChild();
      const all = (await root.getSubOrgIds()).organizationIds;
      const pages: string[][] = [];
      let after: string | undefined;
      for (;;) {
        const page = await root.getSubOrgIds({ paginationOptions: { limit: '2', ...(after && { after }) } });
        if (page.organizationIds.length === 0) break;
        pages.push(page.organizationIds);
        after = page.organizationIds.at(-1);
      }
      expect(pages.flat()).toEqual(all);
      expect(pages.slice(0, -1).every((page) => page.length === 2)).toBe(true);
      const before = await root.getSubOrgIds({ paginationOptions: { limit: '2', before: all.at(-1) as string } });
      expect(before.organizationIds).toEqual(all.slice(-3, -1));
      for (const limit of ['0', '101', 'many']) {
        expect((await refusal(root.getSubOrgIds({ paginationOptions: { limit } }))).code).toBe(3);
      }
    });

    test('a parent reads its child and writes nothing there', async () => {
      const child = await openChild();
      const organizationId = child.id;
      const tag = await child.client.createUserTag({ userTagName: 'inside', userIds: [child.userId] });
      expect((await root.getUsers({ organizationId })).users.map((user) => user.userId)).toEqual([child.userId]);
      expect((await root.getUser({ organizationId, userId: child.userId })).user.userTags).toEqual([tag.userTagId]);
      expect((await root.listUserTags({ organizationId })).userTags).toHaveLength(1);
      expect((await root.getApiKeys({ organizationId })).apiKeys).toHaveLength(1);
      expect((await root.getOrganizationConfigs({ organizationId })).configs.quorum?.userIds).toEqual([child.userId]);
      const { activities } = await root.getActivities({ organizationId });
      expect(activities.map((activity) => activity.id)).toContain(tag.activity.id);
      // Also by the parent's id, which some clients poll with.
      const { activity } = await root.getActivity({ activityId: tag.activity.id });
      expect(activity).toMatchObject({ organizationId, canApprove: false, canReject: false });
      // The parent's user stays who it is.
      expect(await root.getWhoami({ organizationId })).toMatchObject({ userId: credentials.userId });

      const error = await refusal(root.createUserTag({ organizationId, userTagName: 'outside', userIds: [] }));
      expect(error.code).toBe(3);
      expect(detailOf(error, 'TurnkeyErrorDetail')).toMatchObject({ turnkeyErrorCode: 'ORGANIZATION_MISMATCH' });
    });

    test('a child reads neither its parent nor a sibling', async () => {
      const child = await openChild();
      const sibling = await openChild();
      for (const organizationId of [credentials.organizationId, sibling.id]) {
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
      expect((await root.getSubOrgIds()).organizationIds).not.toContain(child.id);
      const { activities } = await root.getActivities({ organizationId: child.id });
      expect(activities.map((activity) => activity.type)).toContain('ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION');
    });
  });

  describe('users, tags and keys', () => {
    test('a user from creation to deletion', async () => {
      const key = newKeyPair();
      const userName = fresh('Ada');
      const { userIds, activity } = await root.createUsers({
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
      const { user } = await root.getUser({ userId });
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
      expect((await root.getUsers()).users).toContainEqual(user);

      await root.updateUser({ userId, userName: 'Ada L.', userTagIds: [], userPhoneNumber: '' });
      await root.updateUserEmail({ userId, userEmail: 'ada.l@example.com' });
      await root.updateUserPhoneNumber({ userId, userPhoneNumber: '+15555550199' });
      await root.updateUserName({ userId, userName: 'Ada Lovelace' });
      expect((await root.getUser({ userId })).user).toMatchObject({
        userName: 'Ada Lovelace',
        userEmail: 'ada.l@example.com',
        userPhoneNumber: '+15555550199',
      });

      const deleted = await root.deleteUsers({ userIds: [userId] });
      expect(deleted.userIds).toEqual([userId]);
      expect((await refusal(root.getUser({ userId }))).code).toBe(5);
      const stale = connect(service.baseUrl, credentialsOf(credentials.organizationId, key));
      expect((await refusal(stale.getWhoami())).code).toBe(16);
    });

    test('tags', async () => {
      const { userId } = await createUser();
      const second = await createUser();
      const { userTagId } = await root.createUserTag({ userTagName: fresh('team'), userIds: [userId] });
      const renamed = fresh('crew');
      await root.updateUserTag({
        userTagId,
        newUserTagName: renamed,
        addUserIds: [second.userId],
        removeUserIds: [userId],
      });
      expect((await root.getUser({ userId })).user.userTags).toEqual([]);
      expect((await root.getUser({ userId: second.userId })).user.userTags).toEqual([userTagId]);
      expect((await root.listUserTags()).userTags).toContainEqual(
        expect.objectContaining({ tagId: userTagId, tagName: renamed, tagType: 'TAG_TYPE_USER' }),
      );
      // An empty list changes nothing, another replaces.
      await root.updateUser({ userId: second.userId, userTagIds: [] });
      expect((await root.getUser({ userId: second.userId })).user.userTags).toEqual([userTagId]);
      const duplicate = await refusal(root.createUserTag({ userTagName: renamed, userIds: [] }));
      expect(duplicate.code).toBe(6);
      const deleted = await root.deleteUserTags({ userTagIds: [userTagId] });
      expect(deleted).toMatchObject({ userTagIds: [userTagId], userIds: [second.userId] });
      expect((await root.getUser({ userId: second.userId })).user.userTags).toEqual([]);
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
      expect((await root.getApiKeys()).apiKeys.length).toBeGreaterThan(apiKeys.length);
      const bySecond = connect(service.baseUrl, credentialsOf(credentials.organizationId, extra));
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
      const { invitationIds } = await root.createInvitations({
        invitations: [
          {
            receiverUserName: 'Guest',
            receiverUserEmail: 'guest@example.com',
            receiverUserTags: [],
            accessType: 'ACCESS_TYPE_WEB',
            senderUserId: credentials.userId,
          },
        ],
      });
      const invitationId = invitationIds[0] as string;
      expect((await root.deleteInvitation({ invitationId })).invitationId).toBe(invitationId);
      expect((await refusal(root.deleteInvitation({ invitationId }))).code).toBe(9);
    });
  });

  describe('quorum', () => {
    test('two of three change the quorum; one of three prevents it', async () => {
      const { id, userIds, members } = await openCouncil(service.baseUrl, root, 2);
      const [first, second, third] = members as [TurnkeyApiClient, TurnkeyApiClient, TurnkeyApiClient];

      const proposed = await first.updateRootQuorum({ threshold: 3, userIds });
      expect(proposed.activity).toMatchObject({
        status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED',
        result: {},
        canApprove: false,
        canReject: true,
      });
      expect((await first.getOrganizationConfigs({})).configs.quorum).toEqual({ threshold: 2, userIds });
      const seen = await second.getActivity({ activityId: proposed.activity.id });
      expect(seen.activity).toMatchObject({ canApprove: true, canReject: true });
      expect(seen.activity.votes).toHaveLength(1);

      // The answer to a vote is the target, result included; the SDK spreads that result.
      const approved = await second.approveActivity({ fingerprint: proposed.activity.fingerprint });
      expect(approved).toMatchObject({
        updateRootQuorumResult: {},
        activity: { id: proposed.activity.id, status: 'ACTIVITY_STATUS_COMPLETED', canApprove: false },
      });
      expect(approved.activity.votes.map((vote) => [vote.userId, vote.selection])).toEqual([
        [userIds[0], 'VOTE_SELECTION_APPROVED'],
        [userIds[1], 'VOTE_SELECTION_APPROVED'],
      ]);
      expect((await third.getOrganizationConfigs({})).configs.quorum).toEqual({ threshold: 3, userIds });

      // Now three must agree, and one refuses.
      const next = await third.updateRootQuorum({ threshold: 1, userIds });
      const half = await first.approveActivity({ fingerprint: next.activity.fingerprint });
      expect(half.activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
      const rejected = await second.rejectActivity({ fingerprint: next.activity.fingerprint });
      expect(rejected.activity).toMatchObject({ id: next.activity.id, status: 'ACTIVITY_STATUS_REJECTED', result: {} });
      const late = await refusal(third.rejectActivity({ fingerprint: next.activity.fingerprint }));
      expect(late.code).toBe(9);
      expect(detailOf(late, 'TurnkeyErrorDetail')).toMatchObject({ turnkeyErrorCode: 'ACTIVITY_ALREADY_DECIDED' });
      expect((await third.getOrganizationConfigs({})).configs.quorum).toEqual({ threshold: 3, userIds });

      // A parent may look on, and has no say.
      const outside = await refusal(
        root.approveActivity({ organizationId: id, fingerprint: next.activity.fingerprint }),
      );
      expect(detailOf(outside, 'TurnkeyErrorDetail')).toMatchObject({ turnkeyErrorCode: 'ORGANIZATION_MISMATCH' });
    });

    test('every vote can be verified from what it carries', async () => {
      const { members } = await openCouncil(service.baseUrl, root, 2);
      const [first, second] = members as [TurnkeyApiClient, TurnkeyApiClient];
      const { activity } = await first.createUserTag({ userTagName: 'voted', userIds: [] });
      const done = await second.approveActivity({ fingerprint: activity.fingerprint });
      expect(done.activity.votes).toHaveLength(2);
      for (const vote of done.activity.votes) {
        expect(vote.scheme).toBe('SIGNATURE_SCHEME_TK_API_P256');
        const key = createPublicKey({
          key: Buffer.concat([P256_PREFIX, Buffer.from(vote.publicKey, 'hex')]),
          format: 'der',
          type: 'spki',
        });
        expect(verify('sha256', Buffer.from(vote.message), key, Buffer.from(vote.signature, 'hex'))).toBe(true);
      }
      expect(JSON.parse(done.activity.votes[0]?.message as string).type).toBe('ACTIVITY_TYPE_CREATE_USER_TAG');
      expect(JSON.parse(done.activity.votes[1]?.message as string).type).toBe('ACTIVITY_TYPE_APPROVE_ACTIVITY');
    });

    test('an unknown fingerprint', async () => {
      const error = await refusal(root.approveActivity({ fingerprint: `sha256:${'0'.repeat(64)}` }));
      expect(error.code).toBe(5);
      expect(error.message).toContain('No activity found with fingerprint');
    });

    test('an activity that fails when its last vote arrives is answered, not thrown', async () => {
      const { members } = await openCouncil(service.baseUrl, root, 2);
      const [first, second] = members as [TurnkeyApiClient, TurnkeyApiClient];
      const propose = async () => (await first.createUserTag({ userTagName: 'once', userIds: [] })).activity;
      const [one, two] = [await propose(), await propose()];
      await second.approveActivity({ fingerprint: one.fingerprint });
      const done = await second.approveActivity({ fingerprint: two.fingerprint });
      expect(done.activity).toMatchObject({ status: 'ACTIVITY_STATUS_FAILED', result: {}, failure: { code: 6 } });
    });
  });

  describe('polling', () => {
    test('asks for an unfinished activity as often as it is told, then answers it without throwing', async () => {
      const poller = { intervalMs: 10, numRetries: 2 };
      const { id, members, userIds } = await openCouncil(service.baseUrl, root, 2, poller);
      const [first] = members as [TurnkeyApiClient];
      const { value, sent } = await record(() =>
        first.updateUserName({ userId: userIds[0] as string, userName: 'waiting' }),
      );
      expect(value.activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
      expect(value.userId).toBeUndefined();
      expect(sent.map((request) => request.path)).toEqual([
        '/public/v1/submit/update_user_name',
        ...Array<string>(poller.numRetries + 2).fill('/public/v1/query/get_activity'),
      ]);
      expect(JSON.parse(sent[1]?.body as string)).toEqual({ activityId: value.activity.id, organizationId: id });
    });

    test('sees the completion by another user', async () => {
      const { members, userIds } = await openCouncil(service.baseUrl, root, 2, { intervalMs: 50, numRetries: 400 });
      const [first, second] = members as [TurnkeyApiClient, TurnkeyApiClient];
      const renamed = first.updateUserName({ userId: userIds[0] as string, userName: 'in time' });
      const pending = await vi.waitFor(async () => {
        const { activities } = await second.getActivities({ filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'] });
        expect(activities).toHaveLength(1);
        return activities[0];
      });
      await second.approveActivity({ fingerprint: pending?.fingerprint as string });
      expect(await renamed).toMatchObject({ userId: userIds[0], activity: { status: 'ACTIVITY_STATUS_COMPLETED' } });
    });

    test('a finished activity costs no further request', async () => {
      const { userId } = await createUser();
      const { sent } = await record(() => root.updateUserName({ userId, userName: 'at once' }));
      expect(sent).toHaveLength(1);
    });
  });

  describe('activities', () => {
    test('one by id, and lists by type, status and page', async () => {
      const child = await openChild();
      const made: string[] = [];
      for (let count = 0; count < 5; count += 1) {
        const { activity } = await child.client.createUserTag({ userTagName: `tag ${count}`, userIds: [] });
        made.unshift(activity.id);
      }
      await child.client.updateUserName({ userId: child.userId, userName: 'later' });
      const { activity } = await child.client.getActivity({ activityId: made[0] as string });
      expect(activity).toMatchObject({
        id: made[0],
        organizationId: child.id,
        status: 'ACTIVITY_STATUS_COMPLETED',
        intent: { createUserTagIntent: { userTagName: 'tag 4' } },
        result: { createUserTagResult: { userTagId: expect.stringMatching(UUID) } },
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      });
      expect(activity).not.toHaveProperty('failure');

      const ofType = await child.client.getActivities({ filterByType: ['ACTIVITY_TYPE_CREATE_USER_TAG'] });
      expect(ofType.activities.map((item) => item.id)).toEqual(made);
      expect(ofType.activities[0]).toEqual(activity);
      const waiting = await child.client.getActivities({ filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'] });
      expect(waiting.activities).toEqual([]);

      const filterByType = ['ACTIVITY_TYPE_CREATE_USER_TAG' as const];
      const page = async (paginationOptions: Record<string, string>) =>
        (await child.client.getActivities({ filterByType, paginationOptions })).activities.map((item) => item.id);
      expect(await page({ limit: '2' })).toEqual(made.slice(0, 2));
      expect(await page({ limit: '2', after: made[1] as string })).toEqual(made.slice(2, 4));
      expect(await page({ limit: '2', after: made[3] as string })).toEqual(made.slice(4));
      expect(await page({ limit: '2', before: made[4] as string })).toEqual(made.slice(2, 4));
      expect((await refusal(page({ after: 'here' }))).code).toBe(3);

      const missing = await refusal(child.client.getActivity({ activityId: UNKNOWN_ID }));
      expect(missing.code).toBe(5);
      const stranger = await openChild();
      expect((await refusal(stranger.client.getActivity({ activityId: made[0] as string }))).code).toBe(5);
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

  describe('errors as the SDK hands them on', () => {
    test('a field that is wrong', async () => {
      const error = await refusal(root.updateUserName({ userId: 'me', userName: '' }));
      expect(error.name).toBe('TurnkeyRequestError');
      expect(error.code).toBe(3);
      expect(detailOf(error, 'google.rpc.BadRequest')).toMatchObject({
        fieldViolations: expect.arrayContaining([
          { field: 'parameters.userId', description: 'must be an id (UUID)' },
          expect.objectContaining({ field: 'parameters.userName' }),
        ]),
      });
      expect(detailOf(error, 'ServiceErrorDetail')).toMatchObject({ errorCode: 'REQUEST_INVALID' });
      expect(detailOf(error, 'TurnkeyErrorDetail')).toMatchObject({ turnkeyErrorCode: 'REQUEST_INVALID' });
      expect(error.message).toBe(
        `Turnkey error 3: parameters.userId: must be an id (UUID) (Details: ${JSON.stringify(error.details)})`,
      );
    });

    test('an unknown key, in the words that end a session', async () => {
      const error = await refusal(
        connect(service.baseUrl, credentialsOf(credentials.organizationId, newKeyPair())).getWhoami(),
      );
      expect(error.code).toBe(16);
      expect(error.message).toContain('could not find public key in organization or its parent organization');
      expect(detailOf(error, 'TurnkeyErrorDetail')).toMatchObject({ turnkeyErrorCode: 'PUBLIC_KEY_NOT_FOUND' });
    });

    test('an expired key, in the words that end a session', async () => {
      const { userId, client } = await createUser();
      const short = newKeyPair();
      await client.createApiKeys({ userId, apiKeys: [{ ...apiKeyOf(short, 'short'), expirationSeconds: '2' }] });
      const brief = connect(service.baseUrl, credentialsOf(credentials.organizationId, short));
      expect(await brief.getWhoami()).toMatchObject({ userId });
      const error = await vi.waitFor(() => refusal(brief.getWhoami()), { timeout: 10_000, interval: 200 });
      expect(error.code).toBe(16);
      expect(error.message).toContain(`Unauthenticated desc = expired api key publicKey=${short.publicKey}`);
      expect(detailOf(error, 'TurnkeyErrorDetail')).toMatchObject({ turnkeyErrorCode: 'API_KEY_EXPIRED' });
    });

    test('a stamp that does not fit the body', async () => {
      const body = JSON.stringify({ organizationId: credentials.organizationId });
      const stamper = new ApiKeyStamper(credentials);
      const post = async (stamped: string) => {
        const { stampHeaderName, stampHeaderValue } = await stamper.stamp(stamped);
        const headers = { 'content-type': 'application/json', [stampHeaderName]: stampHeaderValue };
        const response = await fetch(`${service.baseUrl}/public/v1/query/whoami`, { method: 'POST', headers, body });
        return { status: response.status, answer: await response.json() };
      };
      expect((await post(body)).status).toBe(200);
      expect(await post(`${body} `)).toMatchObject({
        status: 401,
        answer: { code: 16, turnkeyErrorCode: 'SIGNATURE_INVALID', message: 'could not verify api key signature' },
      });
    });

    test('a denial names its reason and leaves a rejected activity', async () => {
      const { client } = await createUser();
      const timestampMs = String(Date.now());
      const attempt = () => client.createUserTag({ userTagName: 'not mine to make', userIds: [], timestampMs });
      const error = await refusal(attempt());
      expect(error.code).toBe(7);
      expect(error.message).toContain("You don't have sufficient permissions to take this action");
      const denial = detailOf(error, 'PolicyEnginePermissionError');
      expect(denial).toMatchObject({ policyEvaluations: [], activityId: expect.stringMatching(UUID) });
      const { activity } = await client.getActivity({ activityId: denial?.activityId as string });
      expect(activity).toMatchObject({ status: 'ACTIVITY_STATUS_REJECTED', result: {} });
      // A repetition is the same refusal of the same activity.
      expect(detailOf(await refusal(attempt()), 'PolicyEnginePermissionError')).toEqual(denial);

      const quorumOnly = await refusal(client.setOrganizationFeature({ name: 'FEATURE_NAME_SMS_AUTH', value: 'true' }));
      expect(quorumOnly.code).toBe(7);
    });

    test('organizations that are not there', async () => {
      const missing = await refusal(root.getWhoami({ organizationId: UNKNOWN_ID }));
      expect(missing.code).toBe(5);
      expect(detailOf(missing, 'TurnkeyErrorDetail')).toMatchObject({ turnkeyErrorCode: 'ORGANIZATION_NOT_FOUND' });
      const malformed = await refusal(root.getWhoami({ organizationId: 'mine' }));
      expect(malformed.code).toBe(3);
      expect(detailOf(malformed, 'TurnkeyErrorDetail')).toMatchObject({
        turnkeyErrorCode: 'INVALID_ORGANIZATION_ID',
      });
    });

    test('what this version does not serve says so by name', async () => {
      const query = await refusal(root.getSwapStatus({ swapRequestId: UNKNOWN_ID }));
      expect(query.code).toBe(12);
      expect(query.message).toContain('get_swap_status is not available in this version');
      const submit = await refusal(root.claimSwapFees({}));
      expect(submit.code).toBe(12);
      expect(submit.message).toContain('claim_swap_fees is not available in this version');
    });

    test('a stale request', async () => {
      const { userId } = await createUser();
      const hour = 60 * 60 * 1000;
      for (const offset of [-hour - 1000, 6 * 60 * 1000]) {
        const error = await refusal(
          root.updateUserName({ userId, userName: 'late', timestampMs: String(Date.now() + offset) }),
        );
        expect(error.code).toBe(3);
        expect(error.message).toContain('timestampMs');
      }
    });

    test('a path that does not exist still answers JSON', async () => {
      const error = await refusal(root.request('/public/v1/query/no_such_thing', { organizationId: UNKNOWN_ID }));
      expect(error.code).toBe(5);
    });
  });
});
