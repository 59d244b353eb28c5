import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { verifyAppProofSignature } from '@turnkey/crypto';
import { ApiKeyStamper, Turnkey } from '@turnkey/sdk-server';
import { describe, expect, test, vi } from 'vitest';
import { newKeyPair } from '../../packages/server/test/harness/client.ts';
import { createPostgresDatabase, databasesOf } from '../../packages/server/test/harness/databases.ts';
import {
  apiKeyOf,
  type Credentials,
  connect,
  credentialsOf,
  detailOf,
  fresh,
  refusal,
  UNKNOWN_ID,
  userOf,
} from '../sdk.ts';
import { openServer, record, UUID } from './support.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

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
describe.each(['postgres'] as const)('the server SDK on %s', (database) => {
  const suite = openServer(database);
  const { createUser } = suite;

  describe('requests', () => {
    test('whoami, and the bytes that ask for it', async () => {
      const { value, sent } = await record(() => suite.root.getWhoami());
      expect(value).toEqual({
        organizationId: suite.credentials.organizationId,
        organizationName: 'My organization',
        userId: suite.credentials.userId,
        username: 'Root user',
      });
      expect(sent).toHaveLength(1);
      expect(sent[0]?.path).toBe('/public/v1/query/whoami');
      expect(sent[0]?.body).toBe(`{"organizationId":"${suite.credentials.organizationId}"}`);
      expect(Object.keys(sent[0]?.headers ?? {}).sort()).toEqual(['Content-Type', 'X-Client-Version', 'X-Stamp']);
      expect(sent[0]?.headers['X-Client-Version']).toMatch(/^@turnkey\/sdk-server@/);
    });

    test('a submit puts parameters first and the version type last', async () => {
      const name = fresh('tag');
      const { value, sent } = await record(() => suite.root.createUserTag({ userTagName: name, userIds: [] }));
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
      const request = await suite.root.stampCreateUserTag({ userTagName: fresh('tag'), userIds: [] });
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
      const { userTags } = await suite.root.listUserTags();
      const { userTagName } = JSON.parse(request.body).parameters;
      expect(userTags.filter((tag) => tag.tagName === userTagName)).toHaveLength(1);
    });

    test('a stamped request that is forwarded needs its content type, and the answer says so', async () => {
      // Without a type of its own fetch sends text/plain and axios application/x-www-form-urlencoded.
      for (const type of ['text/plain;charset=UTF-8', 'application/x-www-form-urlencoded']) {
        const request = await suite.root.stampGetWhoami({});
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
        expect(await forwarded.json()).toMatchObject({ userId: suite.credentials.userId });
      }
    });

    test('equal calls with one timestamp are one activity, with two they are two', async () => {
      const { userId } = await createUser();
      const rename = (timestampMs: string) => suite.root.updateUserName({ userId, userName: 'same', timestampMs });
      const now = Date.now();
      const [one, two] = await Promise.all([rename(String(now)), rename(String(now))]);
      const three = await rename(String(now + 1));
      expect(two.activity.id).toBe(one.activity.id);
      expect(three.activity.id).not.toBe(one.activity.id);
    });

    test('generateAppProofs travels inside the parameters: false is ignored, true brings proofs', async () => {
      const { userId } = await createUser();
      const { sent, value } = await record(() =>
        suite.root.updateUserName({ userId, userName: 'proofless', generateAppProofs: false }),
      );
      expect(JSON.parse(sent[0]?.body as string)).toMatchObject({ parameters: { generateAppProofs: false } });
      expect(value.userId).toBe(userId);
      expect(value.activity.appProofs ?? []).toEqual([]);
      const proven = await suite.root.updateUserName({ userId, userName: 'proven', generateAppProofs: true });
      expect(proven.activity.appProofs).toHaveLength(1);
      const { appProofs } = await suite.root.getAppProofs({ activityId: proven.activity.id });
      expect(appProofs).toEqual(proven.activity.appProofs);
      for (const proof of appProofs) {
        verifyAppProofSignature(proof);
        expect(() => verifyAppProofSignature({ ...proof, proofPayload: `${proof.proofPayload} ` })).toThrow();
      }
    });

    test('the proxy methods of the SDK reach the service', async () => {
      const turnkey = new Turnkey({
        apiBaseUrl: suite.service.baseUrl,
        defaultOrganizationId: suite.credentials.organizationId,
        apiPublicKey: suite.credentials.apiPublicKey,
        apiPrivateKey: suite.credentials.apiPrivateKey,
      });
      expect(await turnkey.apiProxy('getWhoami', [{}])).toMatchObject({ userId: suite.credentials.userId });
    });

    test('stamps of both JavaScript runtimes are accepted', async () => {
      for (const runtimeOverride of ['node', 'purejs', 'browser'] as const) {
        const turnkey = new Turnkey({
          apiBaseUrl: suite.service.baseUrl,
          defaultOrganizationId: suite.credentials.organizationId,
          apiPublicKey: suite.credentials.apiPublicKey,
          apiPrivateKey: suite.credentials.apiPrivateKey,
          runtimeOverride,
        });
        expect(await turnkey.apiClient().getWhoami()).toMatchObject({ userId: suite.credentials.userId });
      }
    });
  });

  describe('errors as the SDK hands them on', () => {
    test('a field that is wrong', async () => {
      const error = await refusal(suite.root.updateUserName({ userId: 'me', userName: '' }));
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
        connect(suite.service.baseUrl, credentialsOf(suite.credentials.organizationId, newKeyPair())).getWhoami(),
      );
      expect(error.code).toBe(16);
      expect(error.message).toContain('could not find public key in organization or its parent organization');
      expect(detailOf(error, 'TurnkeyErrorDetail')).toMatchObject({ turnkeyErrorCode: 'PUBLIC_KEY_NOT_FOUND' });
    });

    test('an expired key, in the words that end a session', async () => {
      const { userId, client } = await createUser();
      const short = newKeyPair();
      await client.createApiKeys({ userId, apiKeys: [{ ...apiKeyOf(short, 'short'), expirationSeconds: '2' }] });
      const brief = connect(suite.service.baseUrl, credentialsOf(suite.credentials.organizationId, short));
      expect(await brief.getWhoami()).toMatchObject({ userId });
      const error = await vi.waitFor(() => refusal(brief.getWhoami()), { timeout: 10_000, interval: 200 });
      expect(error.code).toBe(16);
      expect(error.message).toContain(`Unauthenticated desc = expired api key publicKey=${short.publicKey}`);
      expect(detailOf(error, 'TurnkeyErrorDetail')).toMatchObject({ turnkeyErrorCode: 'API_KEY_EXPIRED' });
    });

    test('a stamp that does not fit the body', async () => {
      const body = JSON.stringify({ organizationId: suite.credentials.organizationId });
      const stamper = new ApiKeyStamper(suite.credentials);
      const post = async (stamped: string) => {
        const { stampHeaderName, stampHeaderValue } = await stamper.stamp(stamped);
        const headers = { 'content-type': 'application/json', [stampHeaderName]: stampHeaderValue };
        const response = await fetch(`${suite.service.baseUrl}/public/v1/query/whoami`, {
          method: 'POST',
          headers,
          body,
        });
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
      const missing = await refusal(suite.root.getWhoami({ organizationId: UNKNOWN_ID }));
      expect(missing.code).toBe(5);
      expect(detailOf(missing, 'TurnkeyErrorDetail')).toMatchObject({ turnkeyErrorCode: 'ORGANIZATION_NOT_FOUND' });
      const malformed = await refusal(suite.root.getWhoami({ organizationId: 'mine' }));
      expect(malformed.code).toBe(3);
      expect(detailOf(malformed, 'TurnkeyErrorDetail')).toMatchObject({
        turnkeyErrorCode: 'INVALID_ORGANIZATION_ID',
      });
    });

    test('what this version does not serve says so by name', async () => {
      const query = await refusal(suite.root.getSwapStatus({ swapRequestId: UNKNOWN_ID }));
      expect(query.code).toBe(12);
      expect(query.message).toContain('get_swap_status is not available in this version');
      const submit = await refusal(suite.root.claimSwapFees({}));
      expect(submit.code).toBe(12);
      expect(submit.message).toContain('claim_swap_fees is not available in this version');
    });

    test('a stale request', async () => {
      const { userId } = await createUser();
      const hour = 60 * 60 * 1000;
      for (const offset of [-hour - 1000, 6 * 60 * 1000]) {
        const error = await refusal(
          suite.root.updateUserName({ userId, userName: 'late', timestampMs: String(Date.now() + offset) }),
        );
        expect(error.code).toBe(3);
        expect(error.message).toContain('timestampMs');
      }
    });

    test('a path that does not exist still answers JSON', async () => {
      const error = await refusal(suite.root.request('/public/v1/query/no_such_thing', { organizationId: UNKNOWN_ID }));
      expect(error.code).toBe(5);
    });
  });
});

describe.each(databasesOf(import.meta.url))('the server SDK and npm start on %s', (database) => {
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
